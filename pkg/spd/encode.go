package spd

import (
	"fmt"
	"slices"
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

// Blocks and lists are appended in one piece and their fields stored there,
// as the reader loads them.

// grow appends n bytes of any value and returns them.
func (e *encoder) grow(n int) []byte {
	at := len(e.b)
	e.b = slices.Grow(e.b, n)[:at+n]
	return e.b[at:]
}

func (e *encoder) graphBlock(b *Block, id uint32) {
	h := e.grow(blockHeaderSize)
	le.PutUint32(h, id)
	le.PutUint16(h[4:], b.Flags)
	le.PutUint16(h[6:], b.Aux)
	le.PutUint64(h[8:], b.Count)
	le.PutUint32(h[16:], b.Instructions)
	le.PutUint32(h[20:], uint32(len(b.Edges)))
	le.PutUint32(h[24:], uint32(len(b.Ranges)))
	le.PutUint32(h[28:], uint32(len(b.Indirect)))
	size := len(e.b) - 4
	e.ranges(b.Ranges)
	for i := range b.Indirect {
		s := &b.Indirect[i]
		x := e.grow(indirectSiteSize)
		e.callSite(x, s.CallSite)
		le.PutUint64(x[8:], s.Hits)
		for t := range s.Targets {
			le.PutUint64(x[16+16*t:], uint64(s.Targets[t].ID))
			le.PutUint64(x[24+16*t:], s.Targets[t].Hits)
		}
	}
	e.inlinees(b.Inlinees, size, 1)
	x := e.grow(len(b.Edges) * edgeSize)
	for i, edge := range b.Edges {
		le.PutUint64(x[i*edgeSize+4:], edge.Count) // the target follows
		le.PutUint32(x[i*edgeSize+12:], edge.Flags)
	}
}

func (e *encoder) ranges(ranges []Range) {
	x := e.grow(len(ranges) * rangeSize)
	for i, r := range ranges {
		e.limit("range length", uint64(r.Length), maxRangeLength)
		length := r.Length << 1
		if r.Cold {
			length |= 1
		}
		le.PutUint32(x[i*rangeSize:], r.Start)
		le.PutUint32(x[i*rangeSize+4:], length)
	}
}

// callSite stores the fields that all indirect call sites have.
func (e *encoder) callSite(x []byte, s CallSite) {
	e.limit("offset of an indirect call", uint64(s.Offset), maxCallSiteOffset)
	e.limit("length of an indirect call", uint64(s.Length), maxCallSiteLength)
	le.PutUint32(x, uint32(s.Length)<<28|s.Offset)
	le.PutUint16(x[4:], s.Ordinal)
	le.PutUint16(x[6:], s.Kind)
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
		h := e.grow(inlineeHeaderSize)
		le.PutUint64(h, uint64(f.ID))
		le.PutUint32(h[8:], f.Reserved08)
		blocks := len(e.b)
		for k := range f.Blocks {
			e.inlinedBlock(&f.Blocks[k], depth)
		}
		e.put32(blocks-4, len(e.b)-blocks)
	}
	e.put32(sizeAt, len(e.b)-area)
}

func (e *encoder) inlinedBlock(b *InlinedBlock, depth int) {
	h := e.grow(inlinedBlockHeaderSize)
	le.PutUint32(h, b.ID)
	le.PutUint16(h[4:], b.Flags)
	le.PutUint16(h[6:], b.Aux)
	le.PutUint32(h[8:], b.Instructions)
	le.PutUint32(h[12:], uint32(len(b.Ranges)))
	le.PutUint32(h[16:], uint32(len(b.Indirect)))
	size := len(e.b) - 4
	e.ranges(b.Ranges)
	x := e.grow(len(b.Indirect) * callSiteSize)
	for i, s := range b.Indirect {
		e.callSite(x[i*callSiteSize:], s)
	}
	e.inlinees(b.Inlinees, size, depth+1)
}
