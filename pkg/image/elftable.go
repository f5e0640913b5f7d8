package image

import (
	"bytes"
	"debug/elf"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Limits on ELF tables. Real files stay far below: the largest relocatable
// objects have some hundred thousand sections.
const (
	maxSegments   = 1 << 16
	maxSections   = 1 << 20
	maxNamesTable = 16 << 20 // bytes of section names
)

// pnXNum in e_phnum says that section 0 holds the count in sh_info.
const pnXNum = 0xffff

// elfLayout is how a file spells its structures.
type elfLayout struct {
	is64, big bool
}

// word reads an address, offset or size.
func (l elfLayout) word(c *binfmt.Cursor) uint64 {
	if l.is64 {
		return c.U64()
	}
	return uint64(c.U32())
}

// size picks the size of a structure by the class of the file.
func (l elfLayout) size(size32, size64 uint64) uint64 {
	if l.is64 {
		return size64
	}
	return size32
}

// elfTables is what the ELF header says about the two tables.
type elfTables struct {
	phoff, shoff         uint64
	phentsize, shentsize uint16
	phnum, shnum         uint64
	shstrndx             uint64
	phentAt, shentAt     int64 // offsets of e_phentsize and e_shentsize
}

type elfSection struct {
	name    string
	nameOff uint32
	typ     elf.SectionType
	flags   uint64
	addr    uint64
	offset  uint64
	size    uint64
	link    uint32
	info    uint32
	align   uint64
	entsize uint64
}

// readSections reads the section table. On a defect the image goes without.
func (e *ELF) readSections(t elfTables) error {
	if t.shoff == 0 {
		return nil
	}
	size := e.layout.size(40, 64)
	if uint64(t.shentsize) != size {
		return &binfmt.Error{Part: "ELF header: section header size", Offset: t.shentAt,
			Want: fmt.Sprint(size), Got: fmt.Sprint(t.shentsize), Err: binfmt.ErrCorrupt}
	}
	first, err := e.sectionTable(t.shoff, 1, size)
	if err != nil {
		return err
	}
	// Counts that do not fit into 16 bits are in section 0.
	if t.shnum == 0 {
		t.shnum = first[0].size
	}
	if t.shstrndx == uint64(elf.SHN_XINDEX) {
		t.shstrndx = uint64(first[0].link)
	}
	sections, err := e.sectionTable(t.shoff, t.shnum, size)
	if err != nil {
		return err
	}
	e.sections = sections
	if t.shstrndx == 0 {
		return nil
	}
	if t.shstrndx >= uint64(len(sections)) {
		return &binfmt.Error{Part: "ELF header: section name table", Offset: t.shentAt + 4,
			Want: fmt.Sprintf("less than %d", len(sections)), Got: fmt.Sprint(t.shstrndx), Err: binfmt.ErrCorrupt}
	}
	names := sections[t.shstrndx]
	b, err := e.src.bytes("section names", names.offset, names.size, maxNamesTable)
	if err != nil {
		return err
	}
	// A name that is no string stays empty: sections are told apart by their
	// index and type, names serve people and the search for a kernel.
	const longest = 256
	for i := range sections {
		if off := uint64(sections[i].nameOff); off < uint64(len(b)) {
			s := b[off:min(off+longest, uint64(len(b)))]
			if n := bytes.IndexByte(s, 0); n >= 0 {
				sections[i].name = string(s[:n])
			}
		}
	}
	return nil
}

func (e *ELF) sectionTable(off, n, size uint64) ([]elfSection, error) {
	if n > maxSections {
		return nil, &binfmt.Error{Part: "section table", Offset: int64(off), Want: fmt.Sprintf("at most %d sections", maxSections),
			Got: fmt.Sprint(n), Err: binfmt.ErrLimit}
	}
	c, err := e.src.cursor("section table", off, n*size, maxSections*64)
	if err != nil {
		return nil, err
	}
	c.BigEndian(e.layout.big)
	out := make([]elfSection, n)
	for i := range out {
		s := &out[i]
		s.nameOff, s.typ = c.U32(), elf.SectionType(c.U32())
		s.flags, s.addr = e.layout.word(c), e.layout.word(c)
		s.offset, s.size = e.layout.word(c), e.layout.word(c)
		s.link, s.info = c.U32(), c.U32()
		s.align, s.entsize = e.layout.word(c), e.layout.word(c)
	}
	return out, c.Err()
}

// readSegments reads the program headers.
func (e *ELF) readSegments(t elfTables) error {
	if t.phnum == pnXNum {
		if len(e.sections) == 0 {
			return &binfmt.Error{Part: "ELF header: program header count", Offset: t.phentAt + 2,
				Want: "a section 0 that holds the count", Got: "no section table", Err: binfmt.ErrCorrupt}
		}
		t.phnum = uint64(e.sections[0].info)
	}
	if t.phnum == 0 {
		return nil
	}
	size := e.layout.size(32, 56)
	if uint64(t.phentsize) != size {
		return &binfmt.Error{Part: "ELF header: program header size", Offset: t.phentAt,
			Want: fmt.Sprint(size), Got: fmt.Sprint(t.phentsize), Err: binfmt.ErrCorrupt}
	}
	c, err := e.src.cursor("program headers", t.phoff, t.phnum*size, maxSegments*56)
	if err != nil {
		return err
	}
	c.BigEndian(e.layout.big)
	e.Segments = make([]Segment, t.phnum)
	for i := range e.Segments {
		s := &e.Segments[i]
		s.Type = elf.ProgType(c.U32())
		if e.layout.is64 {
			s.Flags = elf.ProgFlag(c.U32())
		}
		s.Offset, s.VAddr = e.layout.word(c), e.layout.word(c)
		e.layout.word(c) // physical address
		s.FileSize, s.MemSize = e.layout.word(c), e.layout.word(c)
		if !e.layout.is64 {
			s.Flags = elf.ProgFlag(c.U32())
		}
		s.Align = e.layout.word(c)
	}
	return c.Err()
}

// memorySections returns the sections that have an address at run time.
func (e *ELF) memorySections(base uint64) []Section {
	if e.Relocatable() {
		return nil
	}
	var out []Section
	for _, s := range e.sections {
		if s.flags&uint64(elf.SHF_ALLOC) == 0 || s.addr < base {
			continue
		}
		sec := Section{Name: s.name, RVA: s.addr - base, Size: s.size, Offset: s.offset, FileSize: s.size,
			Exec: s.flags&uint64(elf.SHF_EXECINSTR) != 0}
		if s.typ == elf.SHT_NOBITS {
			sec.FileSize = 0
		}
		out = append(out, sec)
	}
	return out
}
