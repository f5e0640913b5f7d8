package profile

import (
	"math"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// Unwhole returns the first function with new counts whose counts in f are no
// flow, or nil. After Add there is none, unless Add is at fault. The functions
// are those that were added.
func Unwhole(f *spd.File, functions []correlate.Function) *spd.Function {
	next := 0
	for m := range f.Modules {
		for i := range f.Modules[m].Functions {
			if fn := &f.Modules[m].Functions[i]; functions[next].Touched && !whole(fn) {
				return fn
			}
			next++
		}
	}
	return nil
}

// whole says whether the counts of a function are a flow: it enters at the
// first block and leaves at the last, as often, and nowhere else. Sums stay at
// the maximum, as counts do.
func whole(f *spd.Function) bool {
	n := len(f.Blocks)
	if n == 0 {
		return true
	}
	in, out := make([]uint64, n), make([]uint64, n)
	for k := range f.Blocks {
		for _, e := range f.Blocks[k].Edges {
			out[k] = binfmt.SatAdd(out[k], e.Count)
			in[e.To-1] = binfmt.SatAdd(in[e.To-1], e.Count)
		}
	}
	for k := range f.Blocks {
		if count := f.Blocks[k].Count; k > 0 && in[k] != count || k < n-1 && out[k] != count {
			return false
		}
	}
	first, last := f.Blocks[0].Count, f.Blocks[n-1].Count
	if in[0] > first || out[n-1] > last {
		return false
	}
	// How often the function was entered is not kept where edges lead back to
	// the first block or on from the last; a block at the maximum hides it.
	if first < math.MaxUint64 {
		return binfmt.SatAdd(first-in[0], out[n-1]) == last
	}
	return last == math.MaxUint64 || binfmt.SatAdd(last-out[n-1], in[0]) == first
}
