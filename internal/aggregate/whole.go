package aggregate

import (
	"encoding/binary"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// whole counts stacks as they are. It serves a depth below the greatest: which
// stacks of bounded length have given branches and pairs cannot be found from
// these alone, so the stacks themselves are the keys.
type whole map[string]uint64

// wholeOverhead is about what an entry takes beside its key.
const wholeOverhead = 64

// add adds n occurrences of a stack.
func (w whole) add(stack []uint64, scratch []byte, n uint64) []byte {
	scratch = scratch[:0]
	for _, a := range stack {
		scratch = binary.BigEndian.AppendUint64(scratch, a)
	}
	w[string(scratch)] = binfmt.SatAdd(w[string(scratch)], n)
	return scratch
}

// sorted returns the stacks in the order of their values.
func (w whole) sorted() []string {
	keys := make([]string, 0, len(w))
	for k := range w {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// appendStack appends the arcs of a key.
func appendStack(stack []uint64, key string) []uint64 {
	for i := 0; i < len(key); i += 8 {
		stack = append(stack, binary.BigEndian.Uint64([]byte(key[i:i+8])))
	}
	return stack
}
