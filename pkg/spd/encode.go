package spd

import (
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// record appends a function record. Sizes and offsets inside it are filled in
// behind, when they are known.
func (e *encoder) record(f *Function) {
	e.function, e.block = f, 0
	if f.ID == 0 {
		e.fail(binfmt.ErrCorrupt, "id", "not 0, which marks an empty bucket", "0")
	}
	if strings.IndexByte(f.Name, 0) >= 0 {
		e.fail(binfmt.ErrCorrupt, "name", "no NUL", fmt.Sprintf("%q", f.Name))
	}
	start := len(e.b)
	e.u64(uint64(f.ID))
	e.u32(f.Reserved08, f.Reserved0C, 0, f.Flags, uint32(f.Checksum), 0, f.RVA, f.Length, f.ColdRVA, f.ColdLength,
		0, uint32(len(f.Blocks)), 0, functionHeaderSize, 0, 0, 0, f.Reserved4C, f.Reserved50)

	callees := len(e.b)
	for k := range f.Callees {
		c := &f.Callees[k]
		e.callee(c.ID, c.Kind, c.Count, c.Sites)
	}
	graph := len(e.b)
	edges := e.graph(f)
	machine := len(e.b)
	for _, c := range f.MachineCallees {
		e.callee(c.ID, c.Kind, c.Count, nil)
	}

	e.put32(start+0x10, len(e.b)-start)
	e.put32(start+0x1c, graph-start)
	e.put32(start+0x30, machine-graph)
	e.put32(start+0x38, edges)
	e.put32(start+0x40, graph-callees)
	e.put32(start+0x44, machine-start)
	e.put32(start+0x48, len(e.b)-machine)
}

func (e *encoder) callee(id ID, kind uint32, count uint64, sites []uint32) {
	e.u64(uint64(id))
	e.u32(kind)
	e.u64(count)
	e.u32(uint32(len(sites)))
	e.u32(sites...)
}

// graph appends the flow graph and returns the number of its edges.
func (e *encoder) graph(f *Function) (edges int) {
	start := len(e.b)
	e.blockEnds = append(e.blockEnds[:0], start)
	for k := range f.Blocks {
		e.block = k + 1
		e.graphBlock(&f.Blocks[k], uint32(k+1))
		e.blockEnds = append(e.blockEnds, len(e.b))
	}
	// Edges lead to offsets of blocks, now known.
	for k := range f.Blocks {
		b := &f.Blocks[k]
		e.block = k + 1
		at := e.blockEnds[k+1] - len(b.Edges)*edgeSize
		for i, edge := range b.Edges {
			if edge.To == 0 || uint64(edge.To) > uint64(len(f.Blocks)) {
				e.fail(binfmt.ErrCorrupt, "edge", fmt.Sprintf("a block from 1 to %d", len(f.Blocks)), fmt.Sprintf("%d", edge.To))
				return
			}
			e.put32(at+i*edgeSize, e.blockEnds[edge.To-1]-start)
		}
		edges += len(b.Edges)
	}
	e.block = 0
	return edges
}

func (e *encoder) graphBlock(b *Block, id uint32) {
	e.u32(id)
	e.u16(b.Flags, b.Aux)
	e.u64(b.Count)
	e.u32(b.Instructions, uint32(len(b.Edges)), uint32(len(b.Ranges)), uint32(len(b.Indirect)), 0)
	size := len(e.b) - 4
	e.ranges(b.Ranges)
	for i := range b.Indirect {
		s := &b.Indirect[i]
		e.callSite(s.CallSite)
		e.u64(s.Hits)
		for _, t := range s.Targets {
			e.u64(uint64(t.ID), t.Hits)
		}
	}
	e.inlinees(b.Inlinees, size, 1)
	for _, edge := range b.Edges {
		e.u32(0)
		e.u64(edge.Count)
		e.u32(edge.Flags)
	}
}

func (e *encoder) ranges(ranges []Range) {
	for _, r := range ranges {
		e.limit("range length", uint64(r.Length), maxRangeLength)
		length := r.Length << 1
		if r.Cold {
			length |= 1
		}
		e.u32(r.Start, length)
	}
}

func (e *encoder) callSite(s CallSite) {
	e.limit("offset of an indirect call", uint64(s.Offset), maxCallSiteOffset)
	e.limit("length of an indirect call", uint64(s.Length), maxCallSiteLength)
	e.u32(uint32(s.Length)<<28 | s.Offset)
	e.u16(s.Ordinal, s.Kind)
}

// inlinees appends an area of inlinees and puts its size into the field at
// the position sizeAt.
func (e *encoder) inlinees(inlinees []Inlinee, sizeAt, depth int) {
	if len(inlinees) > 0 {
		e.limit("levels of inlining", uint64(depth), maxInlineDepth)
	}
	if e.err != nil {
		return
	}
	area := len(e.b)
	for i := range inlinees {
		f := &inlinees[i]
		e.u64(uint64(f.ID))
		e.u32(f.Reserved08, 0)
		blocks := len(e.b)
		for k := range f.Blocks {
			b := &f.Blocks[k]
			e.u32(b.ID)
			e.u16(b.Flags, b.Aux)
			e.u32(b.Instructions, uint32(len(b.Ranges)), uint32(len(b.Indirect)), 0)
			size := len(e.b) - 4
			e.ranges(b.Ranges)
			for _, s := range b.Indirect {
				e.callSite(s)
			}
			e.inlinees(b.Inlinees, size, depth+1)
		}
		e.put32(blocks-4, len(e.b)-blocks)
	}
	e.put32(sizeAt, len(e.b)-area)
}
