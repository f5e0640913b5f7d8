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

	number int32 // of the binary
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
// name, GUID and age. This is also their order in an SPT. The list must not be
// changed.
func (p *Profile) Totals() []Total {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.totals != nil {
		return p.totals
	}
	p.settle()
	var totals []Total
	if len(p.runs) > 0 {
		totals = p.spilledTotals()
	} else if len(p.idle) > 0 {
		for i, c := range p.idle[0].binaries {
			if c != nil {
				totals = append(totals, c.total(p.binaries[i], int32(i)))
			}
		}
	}
	totals = slices.DeleteFunc(totals, func(t Total) bool { return t.weight() == 0 })
	slices.SortFunc(totals, func(a, b Total) int {
		return cmp.Or(
			-cmp.Compare(a.weight(), b.weight()),
			cmp.Compare(a.Binary.ProgramName(), b.Binary.ProgramName()),
			bytes.Compare(a.Binary.GUID[:], b.Binary.GUID[:]),
			cmp.Compare(a.Binary.Age, b.Binary.Age))
	})
	p.totals = totals
	return totals
}

func (c *counts) total(b sample.Binary, number int32) Total {
	t := Total{Binary: b, IP: map[byte]uint64{}, number: number}
	t.Branches, t.Pairs = c.branchSums.totals()
	t.StackArcs, _ = c.callSums.totals()
	c.hits.each(t.hit)
	return t
}

func (t *Total) hit(key, n uint64) {
	op := byte(key >> 32)
	t.IP[op] = binfmt.SatAdd(t.IP[op], n)
}

// spilledTotals reads all runs once.
func (p *Profile) spilledTotals() (totals []Total) {
	m, err := mergeItems(p.sources(-1))
	for err == nil {
		var i *item
		if i, err = m.next(); i == nil {
			break
		}
		if n := len(totals); n == 0 || totals[n-1].number != i.binary {
			totals = append(totals, Total{Binary: p.binaries[i.binary], IP: map[byte]uint64{}, number: i.binary})
		}
		switch t := &totals[len(totals)-1]; i.kind {
		case kindHits:
			t.hit(i.a, i.n)
		case kindBranchLinks:
			t.Pairs = binfmt.SatAdd(t.Pairs, i.n)
			t.Branches = binfmt.SatAdd(t.Branches, i.n)
		case kindBranchHeads:
			t.Branches = binfmt.SatAdd(t.Branches, i.n)
		case kindCallHeads, kindCallLinks:
			t.StackArcs = binfmt.SatAdd(t.StackArcs, i.n)
		}
	}
	if err != nil {
		p.fail(err)
	}
	return totals
}

// sumsOf returns the sum of a binary of the totals.
func (p *Profile) sumsOf(t *Total) (binarySums, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runs) == 0 {
		return p.idle[0].binaries[t.number], nil
	}
	m, err := mergeItems(p.sources(t.number))
	return &spilled{from: m}, err
}

// pairsCut is how many pairs the depth separated.
func (p *Profile) pairsCut() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.cut
	for _, s := range p.idle {
		n = binfmt.SatAdd(n, s.cut)
	}
	return n
}
