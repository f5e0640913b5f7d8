package spd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Reader reads an SPD from a file, or from a part of one such as a PDB stream
// or an object file's section. Opening reads the headers alone; the cost does
// not depend on the size of the file.
type Reader struct {
	r       io.ReaderAt
	size    uint64
	file    *os.File // if Open opened it
	header  Header
	modules []moduleLayout
}

// ModuleInfo is what a module's header says of it.
type ModuleInfo struct {
	Name          string
	Flags         uint32
	Generation    uint32
	HashBuckets   uint32
	Functions     uint32
	FunctionBytes uint32 // size of the function records
	DataRecords   uint32
	DataBytes     uint32 // size of the data profile
}

// moduleLayout is a module header with its place in the file.
type moduleLayout struct {
	ModuleInfo
	reserved08 uint32
	base       uint64 // offset of the module header
	table      uint32 // size of the hash table
	names      uint32 // size of the symbol names
}

// Offsets of the parts of a module in the file.
func (m *moduleLayout) tableAt() uint64   { return m.base + moduleHeaderSize }
func (m *moduleLayout) recordsAt() uint64 { return m.tableAt() + uint64(m.table) }
func (m *moduleLayout) dataAt() uint64    { return m.recordsAt() + uint64(m.FunctionBytes) }
func (m *moduleLayout) namesAt() uint64   { return m.dataAt() + uint64(m.DataBytes) }
func (m *moduleLayout) end() uint64 {
	return m.base + align4(m.namesAt()+uint64(m.names)-m.base)
}

// Open opens the SPD at a path. Close the Reader after use.
func Open(name string) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	r, err := NewReader(f, fi.Size())
	if err != nil {
		f.Close()
		return nil, binfmt.InFile(err, name)
	}
	r.file = f
	return r, nil
}

// NewReader reads the headers of the SPD that fills the first size bytes of r,
// which it never closes. Errors are [binfmt.Error] values: binfmt.ErrMagic if
// it is no SPD, binfmt.ErrVersion for another version, binfmt.ErrTruncated
// and binfmt.ErrCorrupt for damage.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	rd := &Reader{r: r, size: uint64(max(size, 0))}
	if err := rd.readHeaders(); err != nil {
		return nil, err
	}
	return rd, nil
}

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// inFile names the file in errors if it is known.
func (r *Reader) inFile(err error) error {
	if r.file == nil {
		return err
	}
	return binfmt.InFile(err, r.file.Name())
}

// Header returns the file header.
func (r *Reader) Header() Header { return r.header }

// Modules returns what the module headers say.
func (r *Reader) Modules() []ModuleInfo {
	infos := make([]ModuleInfo, len(r.modules))
	for k := range infos {
		infos[k] = r.modules[k].ModuleInfo
	}
	return infos
}

// Symbols reads the symbol table of a module, an index into Modules. Symbols
// are in the order of the function records, which are not read.
func (r *Reader) Symbols(module int) ([]Symbol, error) {
	entries, err := r.readSymbols(&r.modules[module])
	if err != nil {
		return nil, r.inFile(err)
	}
	symbols := make([]Symbol, len(entries))
	for k := range symbols {
		symbols[k] = entries[k].Symbol
	}
	return symbols, nil
}

// bytes reads n bytes at an offset, into buf if they fit. The size is checked
// against the file before anything is allocated.
func (r *Reader) bytes(buf []byte, part string, off, n uint64) ([]byte, error) {
	if off > r.size || n > r.size-off {
		return nil, &binfmt.Error{Part: part, Offset: int64(min(off, r.size)), Want: fmt.Sprintf("%d bytes", n),
			Got: fmt.Sprintf("%d", r.size-min(off, r.size)), Err: binfmt.ErrTruncated}
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	if got, err := r.r.ReadAt(buf, int64(off)); uint64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = binfmt.ErrTruncated
		}
		return nil, &binfmt.Error{Part: part, Offset: int64(off), Want: fmt.Sprintf("%d bytes", n), Got: fmt.Sprintf("%d", got), Err: err}
	}
	return buf, nil
}

// checker is a cursor that compares fields with what the layout demands.
type checker struct{ *binfmt.Cursor }

// equal reads a 32-bit field that must have a value.
func (c checker) equal(part string, want uint64) {
	c.check(part, c.Offset(), c.U32(), want)
}

// check compares the 32-bit field at off with the value it must have.
func (c checker) check(part string, off int64, got uint32, want uint64) {
	if c.Err() == nil && uint64(got) != want {
		c.Part(part).FailAt(off, binfmt.ErrCorrupt, fmt.Sprintf("%#x", want), fmt.Sprintf("%#x", got))
	}
}

// zero reads padding.
func (c checker) zero(part string, n uint64) {
	off := c.Offset()
	for i, b := range c.Bytes(n) {
		if b != 0 {
			c.Part(part).FailAt(off+int64(i), binfmt.ErrCorrupt, "0", fmt.Sprintf("%#x", b))
		}
	}
}

// wstring reads a name of the string pool, which must survive the way to
// UTF-8 and back.
func (c checker) wstring(part string) string {
	off, pos := c.Offset(), c.Pos()
	c.Part(part)
	s := c.WString()
	n := c.Pos() - pos
	c.Seek(uint64(pos))
	if !bytes.Equal(c.Bytes(uint64(n)), binfmt.AppendWString(nil, s)) {
		c.FailAt(off, binfmt.ErrCorrupt, "UTF-16", "an unpaired surrogate")
	}
	return s
}

// headerLayout is where the header says that things are.
type headerLayout struct {
	modules  uint64 // number of modules
	pool     uint64 // offset and size of the string pool
	poolSize uint64
	data     uint64 // offset of the first module
	nameHash uint32
}

func (r *Reader) readHeaders() error {
	l, err := r.readHeader()
	if err != nil {
		return err
	}
	return r.readModules(l)
}

func (r *Reader) readHeader() (headerLayout, error) {
	var l headerLayout
	b, err := r.bytes(nil, "header", 0, min(headerSize, r.size))
	if err != nil {
		return l, err
	}
	c := checker{binfmt.NewCursor(b, "header: signature", 0)}
	if got := c.U32(); c.Err() == nil && got != magic {
		c.FailAt(0, binfmt.ErrMagic, `"H_Q_"`, fmt.Sprintf("%q", b[:4]))
	}
	c.Part("header: version")
	if got := c.U32(); c.Err() == nil && got != Version {
		c.FailAt(4, binfmt.ErrVersion, fmt.Sprintf("%#x", Version), fmt.Sprintf("%#x", got))
	}
	c.Part("header")
	h := &r.header
	h.Reserved08, h.Reserved0C, h.Reserved10 = c.U32(), c.U32(), c.U32()
	h.Flags = c.U32()
	l.nameHash = c.U32()
	h.Reserved1C = c.U32()
	c.equal("header: size", headerSize)
	h.Reserved24 = c.U32()
	c.equal("header: module table offset", headerSize)
	l.modules = uint64(c.U32())
	l.pool = headerSize + moduleEntrySize*l.modules
	c.equal("header: string pool offset", l.pool)
	l.poolSize = uint64(c.U32())
	l.data = align4(l.pool + l.poolSize)
	c.equal("header: module data offset", l.data)
	c.Part("header")
	h.Reserved3C, h.Reserved40, h.Reserved44 = c.U32(), c.U32(), c.U32()
	h.Age = c.U32()
	copy(h.GUID[:], c.Bytes(16))
	h.HotThreshold, h.DynamicInstructions, h.StaticInstructions = c.U64(), c.U64(), c.U32()
	h.Reserved70 = c.U32()
	return l, c.Err()
}

// readModules reads the module table, the names and the module headers, which
// must fill the file.
func (r *Reader) readModules(l headerLayout) error {
	b, err := r.bytes(nil, "module table and string pool", headerSize, l.data-headerSize)
	if err != nil {
		return err
	}
	tableSize := moduleEntrySize * l.modules
	table := checker{binfmt.NewCursor(b[:tableSize], "module table", headerSize)}
	names := checker{binfmt.NewCursor(b[tableSize:tableSize+l.poolSize], "", int64(l.pool))}
	h := &r.header
	h.Binary = names.wstring("string pool: binary name")
	if isASCII(h.Binary) {
		names.check("header: hash of the binary name", 0x18, l.nameHash, uint64(binaryHash(h.Binary)))
	} else if l.nameHash != binaryHash(h.Binary) {
		h.BinaryHash = l.nameHash
	}
	if names.Err() != nil {
		return names.Err()
	}
	base := l.data
	for range l.modules {
		table.equal("module table: name offset", uint64(names.Pos()))
		table.equal("module table: data offset", base-l.data)
		m := moduleLayout{base: base, reserved08: table.U32()}
		m.Name = names.wstring("string pool: module name")
		if err := cmp.Or(table.Err(), names.Err()); err != nil {
			return err
		}
		if err := r.readModuleHeader(&m); err != nil {
			return err
		}
		r.modules = append(r.modules, m)
		base = m.end()
	}
	names.check("header: string pool size", 0x34, uint32(l.poolSize), uint64(names.Pos()))
	padding := checker{binfmt.NewCursor(b[tableSize+l.poolSize:], "", int64(l.pool+l.poolSize))}
	padding.zero("padding after the string pool", uint64(padding.Len()))
	if err := cmp.Or(names.Err(), padding.Err()); err != nil {
		return err
	}
	if base != r.size {
		return &binfmt.Error{Part: "end of file", Offset: int64(min(base, r.size)), Want: fmt.Sprintf("%d bytes", base),
			Got: fmt.Sprintf("%d", r.size), Err: binfmt.ErrCorrupt}
	}
	return nil
}

func (r *Reader) readModuleHeader(m *moduleLayout) error {
	b, err := r.bytes(nil, "module header", m.base, moduleHeaderSize)
	if err != nil {
		return err
	}
	c := checker{binfmt.NewCursor(b, "module header", int64(m.base))}
	size := c.U32()
	m.Flags, m.Generation = c.U32(), c.U32()
	records := c.U32()
	m.FunctionBytes = c.U32()
	data := c.U32()
	m.DataBytes = c.U32()
	m.Functions = c.U32()
	m.DataRecords = c.U32()
	c.equal("module header: hash table offset", moduleHeaderSize)
	m.table = c.U32()
	m.HashBuckets = c.U32()
	names := c.U32()
	m.names = c.U32()

	at := func(field int64) int64 { return int64(m.base) + field }
	rel := func(off uint64) uint64 { return off - m.base }
	c.check("module header: function record offset", at(0x0c), records, rel(m.recordsAt()))
	c.check("module header: data profile offset", at(0x14), data, rel(m.dataAt()))
	c.check("module header: symbol name offset", at(0x30), names, rel(m.namesAt()))
	c.check("module header: size", at(0), size, rel(m.end()))
	slots := m.table / symbolEntrySize
	c.check("module header: hash table size", at(0x28), m.table, uint64(slots)*symbolEntrySize)
	c.Part("module header: bucket count")
	if m.HashBuckets == 0 || m.HashBuckets > min(slots, maxBuckets) {
		c.FailAt(at(0x2c), binfmt.ErrCorrupt, fmt.Sprintf("1 to %d", min(slots, maxBuckets)), fmt.Sprintf("%d", m.HashBuckets))
	}
	c.Part("module header: symbol name size")
	if m.names == 0 {
		c.FailAt(at(0x34), binfmt.ErrCorrupt, "at least 1", "0")
	}
	c.Part("module header: function count")
	if limit := min(slots, m.FunctionBytes/functionHeaderSize); m.Functions > limit {
		c.FailAt(at(0x1c), binfmt.ErrCorrupt, fmt.Sprintf("at most %d", limit), fmt.Sprintf("%d", m.Functions))
	}
	c.Part("module header: size")
	if m.end() > r.size {
		c.FailAt(at(0), binfmt.ErrTruncated, fmt.Sprintf("%d bytes", rel(m.end())), fmt.Sprintf("%d", r.size-m.base))
	}
	return c.Err()
}

// symbolEntry is a symbol with what the hash table says of its place.
type symbolEntry struct {
	Symbol
	tablePlace
	record uint32 // offset of the function record from the first one
	name   uint32 // offset of the name
	link   uint32 // next as stated, in bytes
}

// readSymbols reads hash table and names and checks that each entry stands
// where the writer would put it. Entries come back in record order.
func (r *Reader) readSymbols(m *moduleLayout) ([]symbolEntry, error) {
	b, err := r.bytes(nil, "hash table", m.tableAt(), uint64(m.table))
	if err != nil {
		return nil, err
	}
	c := checker{binfmt.NewCursor(b, "hash table", int64(m.tableAt()))}
	entries := make([]symbolEntry, 0, m.Functions)
	for slot := range m.table / symbolEntrySize {
		if slot < m.HashBuckets && le.Uint64(b[slot*symbolEntrySize:]) == 0 {
			c.zero("hash table: empty bucket", symbolEntrySize)
			continue
		}
		if len(entries) == int(m.Functions) {
			c.Part("hash table: symbol").Fail(binfmt.ErrCorrupt, fmt.Sprintf("%d symbols", m.Functions), "one more")
			break
		}
		var e symbolEntry
		e.slot = slot
		e.ID = ID(c.U64())
		e.name = c.U32()
		e.SymbolFlags = c.U32()
		e.Ordinal = c.U32()
		e.Reserved14 = c.U32()
		e.FoldedInto = c.U32()
		e.record = c.U32()
		e.link = c.U32()
		entries = append(entries, e)
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	if len(entries) < int(m.Functions) {
		return nil, &binfmt.Error{Part: "module header: function count", Offset: int64(m.base) + 0x1c,
			Want: fmt.Sprintf("%d, the number of symbols", len(entries)), Got: fmt.Sprintf("%d", m.Functions), Err: binfmt.ErrCorrupt}
	}
	slices.SortFunc(entries, func(x, y symbolEntry) int {
		return cmp.Or(cmp.Compare(x.record, y.record), cmp.Compare(x.slot, y.slot))
	})
	if err := r.readNames(m, entries); err != nil {
		return nil, err
	}
	return entries, checkPlaces(c, m, entries)
}

func (r *Reader) readNames(m *moduleLayout, entries []symbolEntry) error {
	b, err := r.bytes(nil, "symbol names", m.namesAt(), m.end()-m.namesAt())
	if err != nil {
		return err
	}
	c := checker{binfmt.NewCursor(b, "", int64(m.namesAt()))}
	c.zero("symbol names: first byte", 1)
	names := string(b[:m.names]) // all names share this string
	pos := 1
	for k := range entries {
		e := &entries[k]
		c.check("hash table: name offset", m.entryAt(e.slot)+8, e.name, uint64(pos))
		n := strings.IndexByte(names[pos:], 0)
		if n < 0 {
			c.Part("symbol names").FailAt(int64(m.namesAt())+int64(pos), binfmt.ErrTruncated, "a NUL-terminated name",
				fmt.Sprintf("%d bytes without NUL", len(names)-pos))
			break
		}
		e.Name = names[pos : pos+n]
		pos += n + 1
	}
	c.check("module header: symbol name size", int64(m.base)+0x34, m.names, uint64(pos))
	c.Seek(uint64(m.names))
	c.zero("padding after the symbol names", uint64(c.Len()))
	return c.Err()
}

func (m *moduleLayout) entryAt(slot uint32) int64 {
	return int64(m.tableAt()) + int64(slot)*symbolEntrySize
}

func checkPlaces(c checker, m *moduleLayout, entries []symbolEntry) error {
	places, slots := placeSymbols(len(entries), m.HashBuckets, func(k int) ID { return entries[k].ID })
	c.check("module header: hash table size", int64(m.base)+0x28, m.table, slots*symbolEntrySize)
	for k, e := range entries {
		at := m.entryAt(e.slot)
		if c.Err() == nil && e.slot != places[k].slot {
			c.Part("hash table: symbol").FailAt(at, binfmt.ErrCorrupt, fmt.Sprintf("%v in entry %d", e.ID, places[k].slot),
				fmt.Sprintf("entry %d", e.slot))
		}
		c.check("hash table: next entry", at+0x20, e.link, uint64(places[k].next)*symbolEntrySize)
	}
	return c.Err()
}
