package spd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// ReadFile reads the whole SPD at a path.
func ReadFile(name string) (*File, error) {
	r, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Read()
}

// Read reads everything. It takes about three times the size of the file in
// memory. What Write would not reproduce is refused as corrupt, except for
// the header statistics, which [File.Violations] compares.
func (r *Reader) Read() (*File, error) {
	f := &File{Header: r.header, Modules: make([]Module, len(r.modules))}
	var d decoder
	for k := range r.modules {
		if err := r.readModule(&d, &r.modules[k], &f.Modules[k]); err != nil {
			return nil, r.inFile(err)
		}
	}
	return f, nil
}

func (r *Reader) readModule(d *decoder, l *moduleLayout, m *Module) error {
	*m = Module{Name: l.Name, Flags: l.Flags, Generation: l.Generation, HashBuckets: l.HashBuckets,
		DataRecords: l.DataRecords, Reserved08: l.reserved08}
	if l.DataBytes > 0 {
		var err error
		if m.DataProfile, err = r.bytes(nil, "data profile", l.dataAt(), uint64(l.DataBytes)); err != nil {
			return err
		}
	}
	entries, err := r.readSymbols(l)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		if l.FunctionBytes != 0 {
			return &binfmt.Error{Part: "module header: size of function records", Offset: int64(l.base) + 0x10,
				Want: "0, as there are no symbols", Got: fmt.Sprintf("%d", l.FunctionBytes), Err: binfmt.ErrCorrupt}
		}
		return nil
	}
	m.Functions = make([]Function, len(entries))
	var buf []byte
	var start uint32
	for k := range entries {
		e := &entries[k]
		end := l.FunctionBytes
		if k+1 < len(entries) {
			end = entries[k+1].record
		}
		if e.record != start || end < start || end-start < functionHeaderSize {
			return &binfmt.Error{Part: fmt.Sprintf("hash table: record offset of %q", e.Name), Offset: l.entryAt(e.slot) + 0x1c,
				Want: fmt.Sprintf("%#x, and %d bytes at least", start, functionHeaderSize),
				Got:  fmt.Sprintf("%#x, and the next at %#x", e.record, end), Err: binfmt.ErrCorrupt}
		}
		at := l.recordsAt() + uint64(start)
		if buf, err = r.bytes(buf, "function record", at, uint64(end-start)); err != nil {
			return err
		}
		f := &m.Functions[k]
		f.Symbol = e.Symbol
		if err := d.decode(buf, int64(at), f); err != nil {
			var be *binfmt.Error
			if errors.As(err, &be) {
				be.Part = fmt.Sprintf("function %d %q: %s", k, e.Name, be.Part)
			}
			return err
		}
		start = end
	}
	return nil
}

// decoder decodes function records. Its arenas serve all functions of a file.
type decoder struct {
	checker
	blocks    arena[Block]
	edges     arena[Edge]
	ranges    arena[Range]
	callees   arena[Callee]
	machine   arena[MachineCallee]
	siteIDs   arena[uint32]
	indirect  arena[IndirectSite]
	calls     arena[CallSite]
	inlinees  arena[Inlinee]
	inlined   arena[InlinedBlock]
	starts    []uint32 // offsets of the blocks in the flow graph, and its end
	edgeCount uint64
}

// decode reads the record of f, whose symbol is known.
func (d *decoder) decode(record []byte, at int64, f *Function) error {
	d.checker = checker{binfmt.NewCursor(record, "record", at)}
	if id := ID(d.U64()); id != f.ID {
		d.FailAt(at, binfmt.ErrCorrupt, "id "+f.ID.String(), id.String())
	}
	f.Reserved08, f.Reserved0C = d.U32(), d.U32()
	d.equal("record size", uint64(len(record)))
	f.Flags = d.U32()
	f.Checksum = Checksum(d.U32())
	graph := d.U32()
	f.RVA, f.Length = d.U32(), d.U32()
	f.ColdRVA, f.ColdLength = d.U32(), d.U32()
	graphSize, blocks, edges := d.U32(), d.U32(), d.U32()
	d.equal("offset of the callees", functionHeaderSize)
	calleeSize, machine, machineSize := d.U32(), d.U32(), d.U32()
	f.Reserved4C, f.Reserved50 = d.U32(), d.U32()

	graphAt := functionHeaderSize + uint64(calleeSize)
	machineAt := graphAt + uint64(graphSize)
	d.check("offset of the flow graph", at+0x1c, graph, graphAt)
	d.check("offset of the machine callees", at+0x44, machine, machineAt)
	if parts := machineAt + uint64(machineSize); d.Err() == nil && parts != uint64(len(record)) {
		d.Part("size of the machine callees").FailAt(at+0x48, binfmt.ErrCorrupt,
			fmt.Sprintf("parts of %d bytes in all", len(record)), fmt.Sprintf("%d", parts))
	}
	if d.Err() != nil {
		return d.Err()
	}

	d.readCallees(f, graphAt)
	d.readGraph(f, blocks, machineAt)
	d.check("number of edges", at+0x38, edges, d.edgeCount)
	d.readMachineCallees(f)
	return d.Err()
}

// Each area of a record has a size but no count. The readers walk an area
// once to count its elements and once to decode them into slices of the right
// length.

// elements counts what skip steps over before the position end.
func (d *decoder) elements(end uint64, skip func()) int {
	start, n := d.Pos(), 0
	for uint64(d.Pos()) < end && d.Err() == nil {
		skip()
		n++
	}
	d.Seek(uint64(start))
	return n
}

// ended checks that an area of stated size ends where its elements do.
func (d *decoder) ended(part string, end uint64) {
	if d.Err() == nil && uint64(d.Pos()) != end {
		base := d.Offset() - int64(d.Pos())
		d.Part(part).Fail(binfmt.ErrCorrupt, fmt.Sprintf("an end at %#x", base+int64(end)), fmt.Sprintf("%#x", d.Offset()))
	}
}

func (d *decoder) readCallees(f *Function, end uint64) {
	d.Part("callees")
	f.Callees = d.callees.take(d.elements(end, func() {
		d.Skip(20)
		d.Skip(4 * uint64(d.U32()))
	}))
	for k := range f.Callees {
		c := &f.Callees[k]
		c.ID, c.Kind, c.Count = ID(d.U64()), d.U32(), d.U64()
		c.Sites = d.siteIDs.take(d.Count(uint64(d.U32()), 4, "call sites"))
		for i := range c.Sites {
			c.Sites[i] = d.U32()
		}
	}
	d.ended("callees", end)
}

func (d *decoder) readMachineCallees(f *Function) {
	d.Part("machine callees")
	f.MachineCallees = d.machine.take(d.Len() / calleeHeaderSize)
	for k := range f.MachineCallees {
		c := &f.MachineCallees[k]
		c.ID, c.Kind, c.Count = ID(d.U64()), d.U32(), d.U64()
		d.equal("call sites of a machine callee", 0)
	}
	d.ended("machine callees", uint64(d.Pos()+d.Len()))
}

func (d *decoder) readGraph(f *Function, blocks uint32, end uint64) {
	d.Part("flow graph")
	graph := d.Pos()
	d.starts, d.edgeCount = d.starts[:0], 0
	f.Blocks = d.blocks.take(d.Count(uint64(blocks), blockHeaderSize, "blocks"))
	for k := range f.Blocks {
		d.starts = append(d.starts, uint32(d.Pos()-graph))
		d.readBlock(&f.Blocks[k], uint64(k+1))
		if d.Err() != nil {
			d.inBlock(k)
			return
		}
	}
	d.ended("flow graph", end)
	d.starts = append(d.starts, uint32(d.Pos()-graph))
	for k := range f.Blocks {
		edges := f.Blocks[k].Edges
		at := graph + int(d.starts[k+1]) - len(edges)*edgeSize
		for i := range edges {
			block, ok := slices.BinarySearch(d.starts[:len(f.Blocks)], edges[i].To)
			if !ok && d.Err() == nil {
				off := d.Offset() - int64(d.Pos()) + int64(at+i*edgeSize)
				d.Part("edge target").FailAt(off, binfmt.ErrCorrupt, "the offset of a block", fmt.Sprintf("%#x", edges[i].To))
				d.inBlock(k)
			}
			edges[i].To = uint32(block + 1)
		}
	}
}

// inBlock names the block in the error.
func (d *decoder) inBlock(k int) {
	var e *binfmt.Error
	if errors.As(d.Err(), &e) {
		e.Part = fmt.Sprintf("block %d: %s", k+1, e.Part)
	}
}

func (d *decoder) readBlock(b *Block, id uint64) {
	d.equal("block id", id)
	d.Part("block")
	b.Flags, b.Aux = d.U16(), d.U16()
	b.Count, b.Instructions = d.U64(), d.U32()
	edges, ranges, sites, inlinees := d.U32(), d.U32(), d.U32(), d.U32()
	b.Ranges = d.readRanges(ranges)
	b.Indirect = d.indirect.take(d.Count(uint64(sites), indirectSiteSize, "indirect call sites"))
	for i := range b.Indirect {
		s := &b.Indirect[i]
		s.CallSite = d.readCallSite()
		s.Hits = d.U64()
		for t := range s.Targets {
			s.Targets[t] = Target{ID: ID(d.U64()), Hits: d.U64()}
		}
	}
	b.Inlinees = d.readInlinees(uint64(inlinees), 1)
	d.Part("edges")
	b.Edges = d.edges.take(d.Count(uint64(edges), edgeSize, "edges"))
	for i := range b.Edges {
		b.Edges[i] = Edge{To: d.U32(), Count: d.U64(), Flags: d.U32()} // To becomes a block id later
	}
	d.edgeCount += uint64(len(b.Edges))
}

func (d *decoder) readRanges(n uint32) []Range {
	ranges := d.ranges.take(d.Count(uint64(n), rangeSize, "ranges"))
	for i := range ranges {
		start, length := d.U32(), d.U32()
		ranges[i] = Range{Start: start, Length: length >> 1, Cold: length&1 != 0}
	}
	return ranges
}

func (d *decoder) readCallSite() CallSite {
	place := d.U32()
	return CallSite{Offset: place & maxCallSiteOffset, Length: uint8(place >> 28), Ordinal: d.U16(), Kind: d.U16()}
}

// readInlinees reads an area of inlinees, which nest.
func (d *decoder) readInlinees(size uint64, depth int) []Inlinee {
	if size == 0 || d.Err() != nil {
		return nil
	}
	d.Part("inlinees")
	if size > uint64(d.Len()) {
		d.Fail(binfmt.ErrTruncated, fmt.Sprintf("%d bytes", size), fmt.Sprintf("%d", d.Len()))
		return nil
	}
	if depth > maxInlineDepth {
		d.Fail(binfmt.ErrLimit, fmt.Sprintf("at most %d levels of inlining", maxInlineDepth), "more")
		return nil
	}
	end := uint64(d.Pos()) + size
	inlinees := d.inlinees.take(d.elements(end, func() {
		d.Skip(12)
		d.Skip(uint64(d.U32()))
	}))
	for i := range inlinees {
		f := &inlinees[i]
		f.ID, f.Reserved08 = ID(d.U64()), d.U32()
		size := uint64(d.U32())
		f.Blocks = d.readInlinedBlocks(uint64(d.Pos())+size, depth)
	}
	d.ended("inlinees", end)
	return inlinees
}

func (d *decoder) readInlinedBlocks(end uint64, depth int) []InlinedBlock {
	blocks := d.inlined.take(d.elements(end, func() {
		d.Skip(12)
		ranges, sites, inlinees := uint64(d.U32()), uint64(d.U32()), uint64(d.U32())
		d.Skip(ranges*rangeSize + sites*callSiteSize + inlinees)
	}))
	for i := range blocks {
		b := &blocks[i]
		b.ID = d.U32()
		b.Flags, b.Aux = d.U16(), d.U16()
		b.Instructions = d.U32()
		ranges, sites, inlinees := d.U32(), d.U32(), d.U32()
		b.Ranges = d.readRanges(ranges)
		b.Indirect = d.calls.take(d.Count(uint64(sites), callSiteSize, "indirect call sites"))
		for j := range b.Indirect {
			b.Indirect[j] = d.readCallSite()
		}
		b.Inlinees = d.readInlinees(uint64(inlinees), depth+1)
		d.Part("inlinees")
	}
	d.ended("inlined blocks", end)
	return blocks
}
