package spd

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Write writes f. Every offset, size, count, hash, bucket, chain link and
// header statistic is computed; writing what was read gives the same bytes.
// A model that the format cannot hold (an edge to a block that is not there,
// a name with a NUL, a field beyond its bits, more than 4 GB) is refused
// before anything is written, with an error that wraps binfmt.ErrCorrupt or
// binfmt.ErrLimit and names the function and block.
func Write(w io.Writer, f *File) error {
	layouts := make([]moduleLayout, len(f.Modules))
	records := make([][]uint32, len(f.Modules)) // sizes of the function records
	e := encoder{}
	pool, data := uint64(0), uint64(0)
	for k := range f.Modules {
		m := &f.Modules[k]
		pool += uint64(len(e.name("module name", m.Name)))
		layouts[k], records[k] = e.layout(m)
		data += layouts[k].end()
	}
	pool += uint64(len(e.name("binary name", f.Header.Binary)))
	start := align4(headerSize + moduleEntrySize*uint64(len(f.Modules)) + pool)
	if start+data > math.MaxUint32 {
		e.fail(binfmt.ErrLimit, "file", "at most 4 GB", fmt.Sprintf("%d bytes", start+data))
	}
	if e.err != nil {
		return e.err
	}
	e.sink = w
	e.header(f, uint32(pool), layouts)
	for k := range f.Modules {
		e.module(&f.Modules[k], &layouts[k], records[k])
	}
	return e.flush(0)
}

// encoder collects bytes for a sink. The first defect sticks.
type encoder struct {
	sink io.Writer
	b    []byte
	err  error

	// Where the encoder is, for errors.
	function *Function
	block    int

	blockEnds []int // scratch of graph
}

// flushSize is how much is collected before it is handed on.
const flushSize = 1 << 16

// flush hands on what was collected if it is more than limit bytes.
func (e *encoder) flush(limit int) error {
	if e.err == nil && len(e.b) > limit {
		_, e.err = e.sink.Write(e.b)
		e.b = e.b[:0]
	}
	return e.err
}

func (e *encoder) fail(kind error, part, want, got string) {
	if e.err != nil {
		return
	}
	if e.block > 0 {
		part = fmt.Sprintf("block %d: %s", e.block, part)
	}
	if e.function != nil {
		part = fmt.Sprintf("function %q: %s", e.function.Name, part)
	}
	e.err = &binfmt.Error{Part: part, Offset: -1, Want: want, Got: got, Err: kind}
}

// limit refuses a value beyond the width of its field.
func (e *encoder) limit(part string, v, most uint64) {
	if v > most {
		e.fail(binfmt.ErrLimit, part, fmt.Sprintf("at most %#x", most), fmt.Sprintf("%#x", v))
	}
}

func (e *encoder) u32(vs ...uint32) {
	for _, v := range vs {
		e.b = binfmt.AppendU32(e.b, v)
	}
}

func (e *encoder) u64(vs ...uint64) {
	for _, v := range vs {
		e.b = binfmt.AppendU64(e.b, v)
	}
}

// put32 sets a field that was appended before its value was known.
func (e *encoder) put32(at int, v int) {
	le.PutUint32(e.b[at:], uint32(v))
}

// name returns the bytes of a name in the string pool.
func (e *encoder) name(part, s string) []byte {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		e.fail(binfmt.ErrCorrupt, part, "UTF-8 without NUL", fmt.Sprintf("%q", s))
	}
	return binfmt.AppendWString(nil, s)
}

// layout encodes the functions of a module to learn the sizes of their
// records, which the tables in front of them need.
func (e *encoder) layout(m *Module) (moduleLayout, []uint32) {
	l := moduleLayout{reserved08: m.Reserved08}
	l.Functions = uint32(len(m.Functions))
	l.HashBuckets = m.HashBuckets
	if l.HashBuckets == 0 {
		l.HashBuckets = bucketCount(len(m.Functions))
	}
	e.limit("hash buckets", uint64(l.HashBuckets), maxBuckets)
	e.limit("data profile", uint64(len(m.DataProfile)), math.MaxUint32/4)
	e.limit("functions", uint64(len(m.Functions)), math.MaxUint32/symbolEntrySize/2)
	if e.err != nil {
		return l, nil
	}
	sizes := make([]uint32, len(m.Functions))
	var records, names uint64 = 0, 1
	for k := range m.Functions {
		f := &m.Functions[k]
		e.b = e.b[:0]
		e.record(f)
		e.limit("record size", uint64(len(e.b)), math.MaxUint32)
		sizes[k] = uint32(len(e.b))
		records += uint64(len(e.b))
		names += uint64(len(f.Name)) + 1
	}
	e.b, e.function = e.b[:0], nil
	e.limit("function records", records, math.MaxUint32)
	e.limit("symbol names", names, math.MaxUint32)
	_, slots := placeSymbols(len(m.Functions), l.HashBuckets, func(k int) ID { return m.Functions[k].ID })
	l.table = uint32(slots * symbolEntrySize)
	l.FunctionBytes, l.names, l.DataBytes = uint32(records), uint32(names), uint32(len(m.DataProfile))
	return l, sizes
}

// header writes what stands before the first module, and gives the modules
// their places.
func (e *encoder) header(f *File, pool uint32, layouts []moduleLayout) {
	h := &f.Header
	modules := uint32(len(layouts))
	poolAt := headerSize + moduleEntrySize*modules
	dataAt := uint32(align4(uint64(poolAt + pool)))
	hash := binaryHash(h.Binary)
	if !isASCII(h.Binary) && h.BinaryHash != 0 {
		hash = h.BinaryHash
	}
	s := f.ComputeStatistics()
	e.u32(magic, Version, h.Reserved08, h.Reserved0C, h.Reserved10, h.Flags, hash, h.Reserved1C)
	e.u32(headerSize, h.Reserved24, headerSize, modules, poolAt, pool, dataAt)
	e.u32(h.Reserved3C, h.Reserved40, h.Reserved44, h.Age)
	e.b = append(e.b, h.GUID[:]...)
	e.u64(s.HotThreshold, s.DynamicInstructions)
	e.u32(s.StaticInstructions, h.Reserved70)

	names := e.name("binary name", h.Binary)
	base := uint64(dataAt)
	for k := range layouts {
		e.u32(uint32(len(names)), uint32(base)-dataAt, layouts[k].reserved08)
		names = append(names, e.name("module name", f.Modules[k].Name)...)
		layouts[k].base = base
		base = layouts[k].end()
	}
	e.b = append(e.b, names...)
	e.b = binfmt.AppendPad(e.b, 4, 0) // the file starts with e.b
	e.flush(0)
}

func (e *encoder) module(m *Module, l *moduleLayout, records []uint32) {
	rel := func(off uint64) uint32 { return uint32(off - l.base) }
	e.u32(rel(l.end()), m.Flags, m.Generation, rel(l.recordsAt()), l.FunctionBytes, rel(l.dataAt()), l.DataBytes,
		l.Functions, m.DataRecords, moduleHeaderSize, l.table, l.HashBuckets, rel(l.namesAt()), l.names)
	e.symbols(m, l, records)
	e.flush(0)
	for k := range m.Functions {
		e.record(&m.Functions[k])
		e.flush(flushSize)
	}
	e.b = append(e.b, m.DataProfile...)
	e.b = append(e.b, 0)
	for k := range m.Functions {
		e.b = binfmt.AppendCString(e.b, m.Functions[k].Name)
		e.flush(flushSize)
	}
	for range l.end() - l.namesAt() - uint64(l.names) {
		e.b = append(e.b, 0)
	}
}

// symbols writes the hash table.
func (e *encoder) symbols(m *Module, l *moduleLayout, records []uint32) {
	places, _ := placeSymbols(len(m.Functions), l.HashBuckets, func(k int) ID { return m.Functions[k].ID })
	start := len(e.b)
	e.b = append(e.b, make([]byte, l.table)...)
	end := e.b
	name, record := uint32(1), uint32(0)
	for k := range m.Functions {
		f := &m.Functions[k]
		e.b = end[:start+int(places[k].slot)*symbolEntrySize]
		e.u64(uint64(f.ID))
		e.u32(name, f.SymbolFlags, f.Ordinal, f.Reserved14, f.FoldedInto, record, places[k].next*symbolEntrySize)
		name += uint32(len(f.Name)) + 1
		record += records[k]
	}
	e.b = end
}
