package funcs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// site is a piece of code whose exceptions are handled at a landing pad.
type site struct {
	start, end, pad uint32
}

// addSites takes pieces of code at link-time addresses.
func (f *finder) addSites(list []callSite) {
	for _, s := range list {
		start, end, pad := s.start-f.img.Base, s.end-f.img.Base, s.pad-f.img.Base
		if max(start, end, pad) > math.MaxUint32 || start >= end {
			f.report.Exceptions.Outside++
			continue
		}
		f.sites = append(f.sites, site{uint32(start), uint32(end), uint32(pad)})
	}
}

// spend notes that n bytes of tables of exceptions are read. Each belongs to
// one function, so that all together are no more than the file.
func (f *finder) spend(n uint64) error {
	size := uint64(f.img.Reader().Size())
	if f.tables += n; f.tables > size {
		return &binfmt.Error{Part: "tables of exceptions", Offset: -1, Want: fmt.Sprintf("at most %d bytes, as the file has", size),
			Got: "more: functions share tables", Err: binfmt.ErrLimit}
	}
	return nil
}

// maxPads bounds the handlers around one piece of code.
const maxPads = 16

// guard gives the functions the sites in their code.
func (f *finder) guard(list []program.Function) {
	type owner struct {
		program.Range
		function int
	}
	var owners []owner
	for k := range list {
		for _, r := range list[k].Ranges {
			owners = append(owners, owner{r, k})
		}
	}
	slices.SortFunc(owners, func(a, b owner) int { return cmp.Compare(a.Start, b.Start) })
	find := func(rva uint32) *owner {
		i, found := slices.BinarySearchFunc(owners, rva, func(o owner, rva uint32) int { return cmp.Compare(o.Start, rva) })
		if !found {
			i--
		}
		if i < 0 || !owners[i].Contains(rva) {
			return nil
		}
		return &owners[i]
	}
	sites := f.sites[:0]
	for _, s := range f.sites {
		from, to := find(s.start), find(s.pad)
		if from == nil || to == nil || from.function != to.function {
			f.report.Exceptions.Outside++
			continue
		}
		s.end = min(s.end, from.End)
		f.report.Exceptions.Sites++
		sites = append(sites, s)
	}
	guards, lost := flatten(sites)
	f.report.Exceptions.Nested = lost
	for _, g := range guards {
		fn := &list[find(g.Start).function]
		fn.Guards = append(fn.Guards, g)
	}
}

// flatten makes sites disjoint, each with the pads of all sites around it. Lost
// are sites in more than maxPads others.
func flatten(sites []site) (guards []program.Guard, lost int) {
	slices.SortFunc(sites, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.pad, b.pad))
	})
	var open []site // around pos, the innermost last
	pos := uint32(0)
	// upTo makes the guards that end at limit or before.
	upTo := func(limit uint32) {
		for len(open) > 0 && pos < limit {
			end := limit
			var pads []uint32
			for _, s := range slices.Backward(open) {
				end = min(end, s.end)
				if !slices.Contains(pads, s.pad) {
					pads = append(pads, s.pad)
				}
			}
			guards = append(guards, program.Guard{Range: program.Range{Start: pos, End: end}, Pads: pads})
			pos = end
			open = slices.DeleteFunc(open, func(s site) bool { return s.end <= pos })
		}
		pos = max(pos, limit)
	}
	for _, s := range sites {
		upTo(s.start)
		if len(open) == maxPads {
			lost++
			continue
		}
		open = append(open, s)
	}
	upTo(math.MaxUint32)
	return guards, lost
}
