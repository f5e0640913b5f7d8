package etl

import (
	"cmp"
	"slices"
)

// Streams groups the buffers so that time never runs backwards along a group:
// by processor, each in the order of the sequence numbers. That also unrolls
// circular files, whose oldest buffer lies somewhere in the middle. A session
// that used one set of buffers for all processors has a single stream. The
// numbers are indexes into Buffers; the streams are in the order of their
// processors.
func (f *File) Streams() [][]int {
	order := make([]int, len(f.buffers))
	for i := range order {
		order[i] = i
	}
	oneSet := f.Header.Mode&ModeOneSet != 0
	processor := func(i int) uint16 {
		if oneSet {
			return 0
		}
		return f.buffers[i].Processor
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(processor(a), processor(b)),
			cmp.Compare(f.buffers[a].Sequence, f.buffers[b].Sequence), cmp.Compare(a, b))
	})
	var streams [][]int
	for start, i := 0, 0; i < len(order); i++ {
		if i+1 == len(order) || processor(order[i+1]) != processor(order[i]) {
			streams = append(streams, order[start:i+1:i+1])
			start = i + 1
		}
	}
	return streams
}
