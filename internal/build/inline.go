package build

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/cfg"
	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// An inlined call is noted in the block in which its code begins, as a copy of
// the first block of the inlined function: that is executed as often as the
// call. Code of the call in other blocks counts as code of the function around
// it, since it is not known which block of the inlined function it is from.

// inlined is an inlined call in a block of a part.
type inlined struct {
	block   int
	inlinee spd.Inlinee
}

// inlinedName names an inlined function.
type inlinedName struct {
	name, unit string
	local      bool
}

// id is the id of the function of that name.
func (n inlinedName) id() spd.ID {
	if n.local {
		return spd.StaticID(n.unit, n.name)
	}
	return spd.FunctionID(n.name)
}

// inlinedIn returns the inlined calls of a part by block, and the names of all
// functions in them.
func (b *builder) inlinedIn(p *part) (list []inlined, used []inlinedName) {
	in := inliner{builder: b, part: p}
	for k := range p.graph.Blocks {
		if p.graph.Blocks[k].Instructions > 0 {
			in.order = append(in.order, k)
		}
	}
	slices.SortFunc(in.order, func(x, y int) int {
		return cmp.Compare(p.graph.Blocks[x].Range.Start, p.graph.Blocks[y].Range.Start)
	})
	for _, node := range b.opts.Inlines(*p.Function) {
		in.place(&node)
	}
	slices.SortStableFunc(in.list, func(x, y inlined) int { return cmp.Compare(x.block, y.block) })
	return in.list, in.used
}

type inliner struct {
	*builder
	part  *part
	order []int // blocks with code, by address
	list  []inlined
	used  []inlinedName
}

// place notes a call and those inside of it.
func (in *inliner) place(node *program.Inline) {
	if k := in.blockOf(node.Ranges); k >= 0 && node.Name != "" {
		block := &in.part.graph.Blocks[k]
		x, rest := in.inlinee(node, block)
		in.list = append(in.list, inlined{k, x})
		for _, child := range rest {
			in.place(child)
		}
		return
	}
	for k := range node.Children {
		in.place(&node.Children[k])
	}
}

// blockOf returns the block in which ranges begin, or -1 if that is in another
// part, or in the middle of an instruction.
func (in *inliner) blockOf(ranges []program.Range) int {
	if len(ranges) == 0 || !in.part.code.Contains(ranges[0].Start) {
		return -1
	}
	start := ranges[0].Start
	i, found := slices.BinarySearchFunc(in.order, start, func(k int, rva uint32) int {
		return cmp.Compare(in.part.graph.Blocks[k].Range.Start, rva)
	})
	if !found {
		i--
	}
	if i < 0 {
		return -1
	}
	block := &in.part.graph.Blocks[in.order[i]]
	if in.count(block, clip(ranges, block.Range)) == 0 {
		return -1
	}
	return in.order[i]
}

// inlinee makes the record of a call in a block. It returns the calls inside of
// it that begin in other blocks.
func (in *inliner) inlinee(node *program.Inline, block *cfg.Block) (x spd.Inlinee, rest []*program.Inline) {
	name := inlinedName{node.Name, node.Unit, node.Local}
	in.used = append(in.used, name)
	ranges := clip(node.Ranges, block.Range)
	copied := spd.InlinedBlock{ID: 1, Instructions: in.count(block, ranges)}
	for _, r := range ranges {
		copied.Ranges = append(copied.Ranges, spd.Range{Start: r.Start - in.part.code.Start, Length: r.Len()})
	}
	room := copied.Instructions
	for k := range node.Children {
		child := &node.Children[k]
		inner := clip(child.Ranges, block.Range)
		if child.Name == "" || len(inner) == 0 || inner[0].Start != child.Ranges[0].Start || in.count(block, inner) == 0 || in.count(block, inner) > room || !within(inner, ranges) {
			rest = append(rest, child)
			continue
		}
		room -= in.count(block, inner)
		y, more := in.inlinee(child, block)
		copied.Inlinees = append(copied.Inlinees, y)
		rest = append(rest, more...)
	}
	return spd.Inlinee{ID: name.id(), Blocks: []spd.InlinedBlock{copied}}, rest
}

// count returns the number of instructions of a block that start in ranges.
func (in *inliner) count(block *cfg.Block, ranges []program.Range) (n uint32) {
	if len(ranges) == 0 {
		return 0
	}
	code := in.Bytes(block.Range.Start, int(block.Range.Len()))
	for at := 0; at < len(code); {
		rva := block.Range.Start + uint32(at)
		for len(ranges) > 0 && ranges[0].End <= rva {
			ranges = ranges[1:]
		}
		if len(ranges) == 0 {
			break
		}
		i, ok := in.arch.Decode(code[at:min(len(code), at+disasm.MaxLen)], uint64(rva))
		if !ok {
			break
		}
		if ranges[0].Contains(rva) {
			n++
		}
		at += int(i.Len)
	}
	return n
}

// clip returns the parts of ranges that lie in an interval.
func clip(ranges []program.Range, in program.Range) []program.Range {
	var list []program.Range
	for _, r := range ranges {
		r.Start, r.End = max(r.Start, in.Start), min(r.End, in.End)
		if r.Start < r.End {
			list = append(list, r)
		}
	}
	return list
}

// within says whether each of some ranges lies in one of others.
func within(inner, outer []program.Range) bool {
	for _, r := range inner {
		if !slices.ContainsFunc(outer, func(o program.Range) bool { return o.Start <= r.Start && r.End <= o.End }) {
			return false
		}
	}
	return true
}
