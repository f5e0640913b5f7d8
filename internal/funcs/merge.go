package funcs

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/program"
)

// How pieces become functions:
//
//  1. Pieces with the same start are one group. The best source decides what
//     it is and where it ends; a worse one decides the end if the better ones
//     do not say. If none does, it ends at the next start.
//  2. A group without an end of its own that starts inside of another one is
//     a label: a symbol without type always, a function symbol if the other is
//     of the same or a better source.
//  3. Source by source, the best one first, groups take the bytes that no
//     better one has. Within a source, a byte in two groups belongs to the one
//     that starts later. A group whose start is taken goes; what is left of
//     one that lost bytes in the middle are parts of it.
//  4. The parts join the function of their parent.

// group holds the pieces with one start.
type group struct {
	start, end uint32
	pieces     []piece // the best source first
	ranges     []program.Range
	parts      []program.Range
	gone       bool
}

func (g *group) source() program.Source { return g.pieces[0].source }
func (g *group) part() bool             { return g.pieces[0].part }

// merge turns the pieces into functions.
func (f *finder) merge() []program.Function {
	groups := f.groups()
	f.findEnds(groups)
	owner := f.paint(groups)
	f.joinParts(groups, owner)
	var out []program.Function
	for _, g := range groups {
		if g.gone || g.part() {
			continue
		}
		out = append(out, g.function())
		f.report.Functions[g.source()]++
		for _, p := range g.pieces[1:] {
			f.report.Joined[p.source]++
		}
	}
	for _, r := range f.code {
		f.report.Code += uint64(r.Len())
	}
	for i := range out {
		for _, r := range out[i].Ranges {
			f.report.Covered += uint64(r.Len())
		}
	}
	return out
}

// groups sorts the pieces and puts those with one start together.
func (f *finder) groups() []*group {
	slices.SortFunc(f.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.source, b.source), cmp.Compare(a.weight, b.weight),
			cmp.Compare(a.name, b.name), cmp.Compare(b.end, a.end), cmp.Compare(a.unit, b.unit), cmp.Compare(a.parent, b.parent))
	})
	var out []*group
	for i := 0; i < len(f.pieces); {
		j := i + 1
		for j < len(f.pieces) && f.pieces[j].start == f.pieces[i].start {
			j++
		}
		out = append(out, &group{start: f.pieces[i].start, pieces: f.pieces[i:j]})
		i = j
	}
	return out
}

// findEnds gives every group its end, and drops labels.
func (f *finder) findEnds(groups []*group) {
	for _, g := range groups {
		for _, p := range g.pieces {
			if g.end != 0 && p.source != g.endSource() {
				break
			}
			g.end = max(g.end, p.end)
		}
	}
	slices.Sort(f.limits)
	// The furthest end so far, of all sources up to one.
	var reach [numSources]uint32
	for i, g := range groups {
		if g.end != 0 {
			for s := int(g.source()); s < numSources; s++ {
				reach[s] = max(reach[s], g.end)
			}
			continue
		}
		limit := g.source()
		if g.onlyLabels() {
			limit = program.Source(numSources - 1)
		}
		if reach[limit] > g.start {
			f.drop(g, LabelInside)
			continue
		}
		g.end = f.code[program.Containing(f.code, g.start)].End
		if i+1 < len(groups) {
			g.end = min(g.end, groups[i+1].start)
		}
		if k, _ := slices.BinarySearch(f.limits, g.start+1); k < len(f.limits) {
			g.end = min(g.end, f.limits[k])
		}
	}
}

// endSource is the best source that gives the group an end.
func (g *group) endSource() program.Source {
	for _, p := range g.pieces {
		if p.end != 0 {
			return p.source
		}
	}
	return 0
}

func (g *group) onlyLabels() bool {
	return !slices.ContainsFunc(g.pieces, func(p piece) bool { return !p.label })
}

// drop counts the pieces of a group that is no function.
func (f *finder) drop(g *group, why Reason) {
	g.gone = true
	for _, p := range g.pieces {
		f.report.skip(p.source, why)
	}
}

// owned is a piece of code with its group.
type owned struct {
	program.Range
	g *group
}

// paint gives the bytes to the groups and returns who has what, by address.
func (f *finder) paint(groups []*group) []owned {
	var bySource [numSources][]*group
	for _, g := range groups {
		if !g.gone {
			bySource[g.source()] = append(bySource[g.source()], g)
		}
	}
	var painted []owned
	for _, list := range bySource {
		fresh := subtract(carve(list), painted)
		for _, o := range fresh {
			o.g.ranges = append(o.g.ranges, o.Range)
		}
		for _, g := range list {
			if len(g.ranges) > 0 && g.ranges[0].Start == g.start {
				if n := len(g.ranges); n > 1 || g.ranges[0].End != g.end {
					f.report.cut(g.source())
				}
				continue
			}
			why := InsideFunction
			if len(g.ranges) == 0 {
				why = Covered
			}
			f.drop(g, why)
		}
		fresh = slices.DeleteFunc(fresh, func(o owned) bool { return o.g.gone })
		painted = append(painted, fresh...)
		slices.SortFunc(painted, func(a, b owned) int { return cmp.Compare(a.Start, b.Start) })
	}
	return painted
}

// carve makes the groups of one source disjoint: a byte belongs to the one
// that starts last before it and reaches it. The groups are in order.
func carve(groups []*group) []owned {
	var out []owned
	var open []*group
	pos := uint32(0)
	// upTo gives the bytes up to limit to the open groups.
	upTo := func(limit uint32) {
		for len(open) > 0 && pos < limit {
			top := open[len(open)-1]
			if end := min(top.end, limit); end > pos {
				out = append(out, owned{program.Range{Start: pos, End: end}, top})
				pos = end
			}
			if top.end <= pos {
				open = open[:len(open)-1]
			}
		}
		pos = limit
	}
	for _, g := range groups {
		upTo(g.start)
		open = append(open, g)
	}
	for len(open) > 0 {
		if top := open[len(open)-1]; top.end > pos {
			upTo(top.end)
		} else {
			open = open[:len(open)-1]
		}
	}
	return out
}

// subtract removes from list what is in taken. Both are sorted and disjoint.
func subtract(list, taken []owned) []owned {
	var out []owned
	i := 0
	for _, o := range list {
		for i > 0 && taken[i-1].End > o.Start {
			i--
		}
		for i < len(taken) && taken[i].End <= o.Start {
			i++
		}
		for i < len(taken) && taken[i].Start < o.End {
			if t := taken[i]; t.Start > o.Start {
				out = append(out, owned{program.Range{Start: o.Start, End: t.Start}, o.g})
			}
			o.Start = min(taken[i].End, o.End)
			i++
		}
		if o.Start < o.End {
			out = append(out, o)
		}
	}
	return out
}

// joinParts gives the separated parts to their functions. The parent of a part
// may be a part itself, or lie inside of a better known function.
func (f *finder) joinParts(groups []*group, owner []owned) {
	for _, g := range groups {
		if g.gone || !g.part() {
			continue
		}
		parent := g
		for range maxChain {
			if parent = ownerOf(owner, parent.pieces[0].parent); parent == nil || !parent.part() {
				break
			}
		}
		if parent == nil || parent.part() {
			f.drop(g, PartOfNothing)
			continue
		}
		parent.parts = append(parent.parts, g.ranges...)
		for _, p := range g.pieces {
			f.report.Joined[p.source]++
		}
	}
}

// maxChain bounds how far a chain of parts is followed.
const maxChain = 64

func ownerOf(list []owned, rva uint32) *group {
	i, found := slices.BinarySearchFunc(list, rva, func(o owned, rva uint32) int { return cmp.Compare(o.Start, rva) })
	if !found {
		i--
	}
	if i < 0 || !list[i].Contains(rva) {
		return nil
	}
	return list[i].g
}

// function makes the function of a group.
func (g *group) function() program.Function {
	first := g.ranges[0]
	rest := append(slices.Clone(g.ranges[1:]), g.parts...)
	// What touches the first range is no separate part.
	rest = program.Union(rest)
	for i, r := range rest {
		if r.Start == first.End {
			first.End = r.End
			rest = slices.Delete(rest, i, i+1)
			break
		}
	}
	fn := program.Function{Source: g.source(), Ranges: append([]program.Range{first}, rest...)}
	named := -1
	for i, p := range g.pieces {
		if p.name != "" && (named < 0 || g.pieces[named].hint && !p.hint) {
			named = i
		}
	}
	if named < 0 {
		return fn
	}
	p := g.pieces[named]
	fn.Name, fn.Local = p.name, p.local
	if p.local {
		fn.Unit = p.unit
	}
	fn.NoReturn = p.source == program.PLT && program.NeverReturns(p.name)
	for _, p := range g.pieces {
		if p.name != "" && p.name != fn.Name && !p.hint {
			fn.Aliases = append(fn.Aliases, p.name)
		}
	}
	slices.Sort(fn.Aliases)
	fn.Aliases = slices.Compact(fn.Aliases)
	return fn
}
