package aggregate

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Total is the sum of one binary.
type Total struct {
	Binary    sample.Binary
	IP        map[byte]uint64 // hits by opcode
	Branches  uint64          // branches of stacks
	Pairs     uint64          // pairs of neighbouring branches
	StackArcs uint64          // pairs of neighbouring frames

	counts *counts
}

// weight orders binaries: all hits and branches.
func (t *Total) weight() uint64 {
	w := binfmt.SatAdd(t.Branches, t.StackArcs)
	for _, n := range t.IP {
		w = binfmt.SatAdd(w, n)
	}
	return w
}

// Totals returns the binaries that have hits, most first; ties are ordered by
// name, GUID and age. This is also their order in an SPT.
func (p *Profile) Totals() []Total {
	p.mu.Lock()
	defer p.mu.Unlock()
	var totals []Total
	for i, c := range p.sum.binaries {
		if c == nil {
			continue
		}
		t := Total{Binary: p.binaries[i], IP: map[byte]uint64{}, counts: c}
		t.Branches, t.Pairs = c.branches.totals()
		t.StackArcs, _ = c.calls.totals()
		c.hits.each(func(key, n uint64) {
			op := byte(key >> 32)
			t.IP[op] = binfmt.SatAdd(t.IP[op], n)
		})
		if t.weight() > 0 {
			totals = append(totals, t)
		}
	}
	slices.SortFunc(totals, func(a, b Total) int {
		return cmp.Or(
			-cmp.Compare(a.weight(), b.weight()),
			cmp.Compare(a.Binary.ProgramName(), b.Binary.ProgramName()),
			bytes.Compare(a.Binary.GUID[:], b.Binary.GUID[:]),
			cmp.Compare(a.Binary.Age, b.Binary.Age))
	})
	return totals
}
