package spd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
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

// Read reads everything. The model takes about two and a half times the size of
// the file in memory. What Write would not reproduce is refused as corrupt, except for
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
	var err error
	if *m, err = r.module(l); err != nil {
		return err
	}
	entries, err := r.readSymbols(l)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		m.Functions = make([]Function, len(entries))
	}
	return r.readRecords(d, l, entries, func(k int) *Function { return &m.Functions[k] }, func(int) bool { return true })
}

// Module reads what a module has besides its functions; module is an index into
// Modules.
func (r *Reader) Module(module int) (Module, error) {
	m, err := r.module(&r.modules[module])
	return m, r.inFile(err)
}

func (r *Reader) module(l *moduleLayout) (Module, error) {
	m := Module{Name: l.Name, Flags: l.Flags, Generation: l.Generation, HashBuckets: l.HashBuckets,
		DataRecords: l.DataRecords, Reserved08: l.reserved08}
	var err error
	if l.DataBytes > 0 {
		m.DataProfile, err = r.bytes(nil, "data profile", l.dataAt(), uint64(l.DataBytes))
	}
	return m, err
}

// Functions reads the functions of a module one after the other, in the order
// of Symbols: in memory are the symbols and what the caller keeps. After an
// error, which is one that Read would return, the sequence ends.
func (r *Reader) Functions(module int) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		l := &r.modules[module]
		entries, err := r.readSymbols(l)
		if err == nil {
			var d decoder
			var f *Function
			err = r.readRecords(&d, l, entries, func(int) *Function {
				f = new(Function)
				return f
			}, func(int) bool { return yield(f, nil) })
		}
		if err != nil {
			yield(nil, r.inFile(err))
		}
	}
}

// readRecords decodes the function record of each symbol into what at returns
// for it, until then returns false.
func (r *Reader) readRecords(d *decoder, l *moduleLayout, entries []symbolEntry, at func(int) *Function, then func(int) bool) error {
	if len(entries) == 0 && l.FunctionBytes != 0 {
		return &binfmt.Error{Part: "module header: size of function records", Offset: int64(l.base) + 0x10,
			Want: "0, as there are no symbols", Got: fmt.Sprintf("%d", l.FunctionBytes), Err: binfmt.ErrCorrupt}
	}
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
		var err error
		place := l.recordsAt() + uint64(start)
		if buf, err = r.bytes(buf, "function record", place, uint64(end-start)); err != nil {
			return err
		}
		f := at(k)
		f.Symbol = e.Symbol
		if err := d.decode(buf, int64(place), f); err != nil {
			var be *binfmt.Error
			if errors.As(err, &be) {
				be.Part = fmt.Sprintf("function %d %q: %s", k, e.Name, be.Part)
			}
			return err
		}
		if !then(k) {
			return nil
		}
		start = end
	}
	return nil
}

var le = binary.LittleEndian

// decoder decodes function records. Its arenas serve all functions of a file.
type decoder struct {
	checker
	record    []byte // of the function
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

	d.record = record
	d.readCallees(f, graphAt)
	d.readGraph(f, blocks, machineAt)
	d.check("number of edges", at+0x38, edges, d.edgeCount)
	d.readMachineCallees(f)
	return d.Err()
}

// Most areas of a record have a size but no count. Their elements are counted
// first, by functions that stop where a size cannot be right, and decoded into
// slices of that length; the decoder reports what is wrong. It takes headers
// and lists in one piece and loads their fields from there, as this is where
// the time goes.

// ended checks that an area ends where its elements do.
func (d *decoder) ended(part string, end uint64) {
	if d.Err() == nil && uint64(d.Pos()) != end {
		base := d.Offset() - int64(d.Pos())
		d.Part(part).Fail(binfmt.ErrCorrupt, fmt.Sprintf("an end at %#x", base+int64(end)), fmt.Sprintf("%#x", d.Offset()))
	}
}

func countCallees(area []byte) (n int) {
	for ; len(area) >= calleeHeaderSize; n++ {
		size := calleeHeaderSize + 4*uint64(le.Uint32(area[20:]))
		area = area[min(size, uint64(len(area))):]
	}
	return n
}

func (d *decoder) readCallees(f *Function, end uint64) {
	f.Callees = d.callees.take(countCallees(d.record[d.Pos():end]))
	for k := range f.Callees {
		c := &f.Callees[k]
		d.Part("callee")
		c.ID, c.Kind, c.Count = ID(d.U64()), d.U32(), d.U64()
		n := d.U32()
		raw := d.Part("call sites").Bytes(4 * uint64(n))
		c.Sites = d.siteIDs.take(len(raw) / 4)
		for i := range c.Sites {
			c.Sites[i] = le.Uint32(raw[4*i:])
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
	at := d.Offset()
	h := d.Part("block").Bytes(blockHeaderSize)
	if h == nil {
		return
	}
	d.check("block id", at, le.Uint32(h), id)
	b.Flags, b.Aux = le.Uint16(h[4:]), le.Uint16(h[6:])
	b.Count = le.Uint64(h[8:])
	b.Instructions = le.Uint32(h[16:])
	edges, ranges, sites, inlinees := le.Uint32(h[20:]), le.Uint32(h[24:]), le.Uint32(h[28:]), le.Uint32(h[32:])
	b.Ranges = d.readRanges(ranges)
	raw := d.Part("indirect call sites").Bytes(uint64(sites) * indirectSiteSize)
	b.Indirect = d.indirect.take(len(raw) / indirectSiteSize)
	for i := range b.Indirect {
		s, x := &b.Indirect[i], raw[i*indirectSiteSize:]
		s.CallSite = callSite(x)
		s.Hits = le.Uint64(x[8:])
		for t := range s.Targets {
			s.Targets[t] = Target{ID: ID(le.Uint64(x[16+16*t:])), Hits: le.Uint64(x[24+16*t:])}
		}
	}
	b.Inlinees = d.readInlinees(uint64(inlinees), uint64(len(d.record)), 1)
	raw = d.Part("edges").Bytes(uint64(edges) * edgeSize)
	b.Edges = d.edges.take(len(raw) / edgeSize)
	for i := range b.Edges {
		x := raw[i*edgeSize:]
		b.Edges[i] = Edge{To: le.Uint32(x), Count: le.Uint64(x[4:]), Flags: le.Uint32(x[12:])} // To becomes a block id later
	}
	d.edgeCount += uint64(len(b.Edges))
}

func (d *decoder) readRanges(n uint32) []Range {
	raw := d.Part("ranges").Bytes(uint64(n) * rangeSize)
	ranges := d.ranges.take(len(raw) / rangeSize)
	for i := range ranges {
		start, length := le.Uint32(raw[i*rangeSize:]), le.Uint32(raw[i*rangeSize+4:])
		ranges[i] = Range{Start: start, Length: length >> 1, Cold: length&1 != 0}
	}
	return ranges
}

// callSite decodes the fields that all indirect call sites have.
func callSite(b []byte) CallSite {
	place := le.Uint32(b)
	return CallSite{Offset: place & maxCallSiteOffset, Length: uint8(place >> 28), Ordinal: le.Uint16(b[4:]), Kind: le.Uint16(b[6:])}
}

// area checks that an area of inlinees or inlined blocks is inside the one
// around it, which ends at the position end, and returns its own end.
func (d *decoder) area(size, end uint64) (uint64, bool) {
	if left := end - uint64(d.Pos()); d.Err() == nil && size > left {
		d.Part("inlinees").Fail(binfmt.ErrCorrupt, fmt.Sprintf("at most %d bytes", left), fmt.Sprintf("%d", size))
	}
	return uint64(d.Pos()) + size, d.Err() == nil
}

func countInlinees(area []byte) (n int) {
	for ; len(area) >= inlineeHeaderSize; n++ {
		size := inlineeHeaderSize + uint64(le.Uint32(area[12:]))
		area = area[min(size, uint64(len(area))):]
	}
	return n
}

// readInlinees reads an area of inlinees, which nest. Outer is the end of the
// area around it.
func (d *decoder) readInlinees(size, outer uint64, depth int) []Inlinee {
	end, ok := d.area(size, outer)
	if !ok || size == 0 {
		return nil
	}
	if depth > maxInlineDepth {
		d.Part("inlinees").Fail(binfmt.ErrLimit, fmt.Sprintf("at most %d levels of inlining", maxInlineDepth), "more")
		return nil
	}
	inlinees := d.inlinees.take(countInlinees(d.record[d.Pos():end]))
	for i := range inlinees {
		h := d.Part("inlinee").Bytes(inlineeHeaderSize)
		if h == nil {
			return nil
		}
		inlinees[i].ID = ID(le.Uint64(h))
		inlinees[i].Reserved08 = le.Uint32(h[8:])
		inlinees[i].Blocks = d.readInlinedBlocks(uint64(le.Uint32(h[12:])), end, depth)
	}
	d.ended("inlinees", end)
	return inlinees
}

func countInlinedBlocks(area []byte) (n int) {
	for ; len(area) >= inlinedBlockHeaderSize; n++ {
		ranges, sites, inlinees := uint64(le.Uint32(area[12:])), uint64(le.Uint32(area[16:])), uint64(le.Uint32(area[20:]))
		size := inlinedBlockHeaderSize + ranges*rangeSize + sites*callSiteSize + inlinees
		area = area[min(size, uint64(len(area))):]
	}
	return n
}

func (d *decoder) readInlinedBlocks(size, outer uint64, depth int) []InlinedBlock {
	end, ok := d.area(size, outer)
	if !ok {
		return nil
	}
	blocks := d.inlined.take(countInlinedBlocks(d.record[d.Pos():end]))
	for i := range blocks {
		b := &blocks[i]
		h := d.Part("inlined block").Bytes(inlinedBlockHeaderSize)
		if h == nil {
			return nil
		}
		b.ID = le.Uint32(h)
		b.Flags, b.Aux = le.Uint16(h[4:]), le.Uint16(h[6:])
		b.Instructions = le.Uint32(h[8:])
		ranges, sites, inlinees := le.Uint32(h[12:]), le.Uint32(h[16:]), le.Uint32(h[20:])
		b.Ranges = d.readRanges(ranges)
		raw := d.Part("indirect call sites").Bytes(uint64(sites) * callSiteSize)
		b.Indirect = d.calls.take(len(raw) / callSiteSize)
		for j := range b.Indirect {
			b.Indirect[j] = callSite(raw[j*callSiteSize:])
		}
		b.Inlinees = d.readInlinees(uint64(inlinees), end, depth+1)
	}
	d.ended("inlined blocks", end)
	return blocks
}
