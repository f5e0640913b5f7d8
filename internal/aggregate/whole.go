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

// add adds n occurrences of a stack.
func (w whole) add(stack []uint64, scratch []byte, n uint64) []byte {
	scratch = scratch[:0]
	for _, a := range stack {
		scratch = binary.BigEndian.AppendUint64(scratch, a)
	}
	w[string(scratch)] = binfmt.SatAdd(w[string(scratch)], n)
	return scratch
}

// each calls f for every stack in the order of their values.
func (w whole) each(f func(stack []uint64, times uint64) error) error {
	keys := make([]string, 0, len(w))
	for k := range w {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var stack []uint64
	for _, k := range keys {
		stack = stack[:0]
		for i := 0; i < len(k); i += 8 {
			stack = append(stack, binary.BigEndian.Uint64([]byte(k[i:i+8])))
		}
		if err := f(stack, w[k]); err != nil {
			return err
		}
	}
	return nil
}
