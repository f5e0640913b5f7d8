// Package msftest makes small PDBs for tests, byte by byte: with a given
// identity, modules, sections and further streams. The blocks of different
// streams are interleaved, so that readers meet streams in pieces.
//
// What it makes is complete enough for llvm-pdbutil to read.
package msftest

import (
	"encoding/binary"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	magic     = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"
	noStream  = 0xffff
	infoFixed = 5 // streams with a fixed number: old directory, info, TPI, DBI, IPI
)

// PDB describes a PDB. The zero value is an empty one with a DBI stream.
type PDB struct {
	BlockSize int // 0 stands for 4096
	GUID      binfmt.GUID
	Age       uint32 // of the info stream
	DBIAge    uint32
	NoDBI     bool // leaves the DBI stream empty
	Machine   uint16
	Sections  []Section
	Modules   []Module
	Globals   []byte // symbol records, see Public
	// Contributions of modules to sections.
	Contributions []Contribution
	Names         []byte // content of "/names", see NewNames
	Named         []Stream
	// OmapFromSrc, if set, maps RVAs of Sections to RVAs of the image.
	OmapFromSrc []byte
}

// Section is a section header.
type Section struct {
	Name                        string
	VirtualSize, VirtualAddress uint32
	Characteristics             uint32
}

// Module is a compiland.
type Module struct {
	Name, Object string
	Symbols      []byte // records, see Proc
	C13          []byte // line information, see Checksums and Lines
}

// Contribution is what a module brought to a section.
type Contribution struct {
	Section      uint16
	Offset, Size uint32
	Module       uint16
}

// Stream is a stream with a name.
type Stream struct {
	Name string
	Data []byte
}

var le = binary.LittleEndian

// Bytes makes the file.
func (p PDB) Bytes() []byte { return Build(p.BlockSize, p.Streams()) }

// Streams makes the streams. The named ones follow the five with a fixed
// number, "/names" first, in order; then those of the DBI stream.
func (p PDB) Streams() [][]byte {
	streams := make([][]byte, infoFixed)
	add := func(b []byte) uint16 {
		streams = append(streams, b)
		return uint16(len(streams) - 1)
	}
	named := p.Named
	if p.Names != nil {
		named = append([]Stream{{"/names", p.Names}}, named...)
	}
	index := map[string]uint32{}
	for _, s := range named {
		index[s.Name] = uint32(add(s.Data))
	}
	streams[0] = []byte{}
	streams[1] = p.info(named, index)
	streams[2], streams[4] = noTypes(), noTypes()
	if !p.NoDBI {
		streams[3] = p.dbi(add)
	}
	return streams
}

// noTypes is a type or id stream without records.
func noTypes() []byte {
	const firstIndex = 0x1000
	var b []byte
	for _, v := range []uint32{20040203, 56, firstIndex, firstIndex, 0} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint16(le.AppendUint16(b, noStream), noStream) // no hashes
	b = le.AppendUint32(le.AppendUint32(b, 4), 0x3ffff)         // their size and number of buckets
	return append(b, make([]byte, 24)...)
}

func (p PDB) info(named []Stream, index map[string]uint32) []byte {
	b := le.AppendUint32(nil, 20000404)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint32(b, p.Age)
	b = append(b, p.GUID[:]...)
	// Names in a hash table with open addressing, half full at most.
	var names []byte
	capacity := 2*len(named) + 2
	type bucket struct{ off, stream uint32 }
	table := make([]*bucket, capacity)
	for _, s := range named {
		i := int(uint16(hashV1(s.Name))) % capacity
		for table[i] != nil {
			i = (i + 1) % capacity
		}
		table[i] = &bucket{uint32(len(names)), index[s.Name]}
		names = binfmt.AppendCString(names, s.Name)
	}
	b = append(le.AppendUint32(b, uint32(len(names))), names...)
	b = le.AppendUint32(b, uint32(len(named)))
	b = le.AppendUint32(b, uint32(capacity))
	words := make([]uint32, (capacity+31)/32)
	var entries []byte
	for i, e := range table {
		if e != nil {
			words[i/32] |= 1 << (i % 32)
			entries = le.AppendUint32(le.AppendUint32(entries, e.off), e.stream)
		}
	}
	b = le.AppendUint32(b, uint32(len(words)))
	for _, w := range words {
		b = le.AppendUint32(b, w)
	}
	b = append(le.AppendUint32(b, 0), entries...)
	return le.AppendUint32(le.AppendUint32(b, 0), 20140508)
}

// hashV1 is the hash of the PDB's string tables.
func hashV1(s string) uint32 {
	var h uint32
	b := []byte(s)
	for ; len(b) >= 4; b = b[4:] {
		h ^= le.Uint32(b)
	}
	if len(b) >= 2 {
		h ^= uint32(le.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		h ^= uint32(b[0])
	}
	h |= 0x20202020
	h ^= h >> 11
	return h ^ h>>16
}

func (p PDB) dbi(add func([]byte) uint16) []byte {
	var modules []byte
	for _, m := range p.Modules {
		stream, symbols := uint16(noStream), 0
		if m.Symbols != nil || m.C13 != nil {
			b := append(le.AppendUint32(nil, 4), m.Symbols...)
			symbols = len(b)
			b = le.AppendUint32(append(b, m.C13...), 0) // no global references
			stream = add(b)
		}
		modules = append(modules, make([]byte, 4+28+2)...)
		modules = le.AppendUint16(modules, stream)
		modules = le.AppendUint32(modules, uint32(symbols))
		modules = le.AppendUint32(modules, 0)
		modules = le.AppendUint32(modules, uint32(len(m.C13)))
		modules = append(modules, make([]byte, 16)...)
		modules = binfmt.AppendCString(binfmt.AppendCString(modules, m.Name), m.Object)
		modules = binfmt.AppendPad(modules, 4, 0)
	}
	contributions := le.AppendUint32(nil, 0xeffe0000+19970605)
	for _, s := range p.Contributions {
		contributions = le.AppendUint32(contributions, uint32(s.Section))
		contributions = le.AppendUint32(contributions, s.Offset)
		contributions = le.AppendUint32(contributions, s.Size)
		contributions = le.AppendUint32(contributions, 0x60000020)
		contributions = le.AppendUint32(contributions, uint32(s.Module))
		contributions = append(contributions, make([]byte, 8)...)
	}
	// The source files by module: none, but the modules are counted.
	files := le.AppendUint16(nil, uint16(len(p.Modules)))
	files = binfmt.AppendPad(append(files, make([]byte, 2+4*len(p.Modules))...), 4, 0)
	editNames, _ := NewNames() // for edit and continue
	var headers []byte
	for _, s := range p.Sections {
		headers = append(headers, append([]byte(s.Name), make([]byte, 8-len(s.Name))...)...)
		headers = le.AppendUint32(headers, s.VirtualSize)
		headers = le.AppendUint32(headers, s.VirtualAddress)
		headers = append(headers, make([]byte, 20)...)
		headers = le.AppendUint32(headers, s.Characteristics)
	}
	debug := make([]uint16, 11)
	for i := range debug {
		debug[i] = noStream
	}
	if headers != nil {
		debug[5] = add(headers)
	}
	if p.OmapFromSrc != nil {
		debug[4], debug[10] = add(p.OmapFromSrc), add(headers)
	}
	globals := uint16(noStream)
	if p.Globals != nil {
		globals = add(p.Globals)
	}

	b := le.AppendUint32(nil, 0xffffffff)
	b = le.AppendUint32(b, 19990903)
	b = le.AppendUint32(b, p.DBIAge)
	for _, v := range []uint16{noStream, 0x8e00, noStream, 0, globals, 0} {
		b = le.AppendUint16(b, v)
	}
	for _, size := range []int{len(modules), len(contributions), 0, len(files), 0, 0, 2 * len(debug), len(editNames)} {
		b = le.AppendUint32(b, uint32(size))
	}
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, p.Machine)
	b = le.AppendUint32(b, 0)
	b = slices.Concat(b, modules, contributions, files, editNames)
	for _, v := range debug {
		b = le.AppendUint16(b, v)
	}
	return b
}

// Build makes an MSF 7.00 file of streams; a nil stream is a deleted one. Each
// stream gets a block in turn until all have enough.
func Build(blockSize int, streams [][]byte) []byte {
	if blockSize == 0 {
		blockSize = 4096
	}
	file := make([]byte, 3*blockSize)
	// Blocks 1 and 2 of every blockSize blocks are free block maps.
	newBlock := func() (uint32, []byte) {
		for n := len(file) / blockSize; n%blockSize == 1 || n%blockSize == 2; n++ {
			file = append(file, make([]byte, blockSize)...)
		}
		n := len(file) / blockSize
		file = append(file, make([]byte, blockSize)...)
		return uint32(n), file[n*blockSize:]
	}
	write := func(data []byte) []uint32 {
		var blocks []uint32
		for len(data) > 0 {
			n, b := newBlock()
			data = data[copy(b, data):]
			blocks = append(blocks, n)
		}
		return blocks
	}
	blocks := make([][]uint32, len(streams))
	for piece := 0; ; piece++ {
		wrote := false
		for i, s := range streams {
			if at := piece * blockSize; at < len(s) {
				blocks[i] = append(blocks[i], write(s[at:min(at+blockSize, len(s))])...)
				wrote = true
			}
		}
		if !wrote {
			break
		}
	}
	dir := le.AppendUint32(nil, uint32(len(streams)))
	for _, s := range streams {
		size := uint32(len(s))
		if s == nil {
			size = 0xffffffff
		}
		dir = le.AppendUint32(dir, size)
	}
	appendAll := func(b []byte, list []uint32) []byte {
		for _, n := range list {
			b = le.AppendUint32(b, n)
		}
		return b
	}
	for _, list := range blocks {
		dir = appendAll(dir, list)
	}
	list := write(appendAll(nil, write(dir)))
	head := append([]byte(magic), make([]byte, 20)...)
	le.PutUint32(head[32:], uint32(blockSize))
	le.PutUint32(head[36:], 1)
	le.PutUint32(head[40:], uint32(len(file)/blockSize))
	le.PutUint32(head[44:], uint32(len(dir)))
	copy(file, appendAll(head, list))
	return file
}
