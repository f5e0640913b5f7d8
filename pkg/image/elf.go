package image

import (
	"debug/elf"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// ELF is what only an ELF image has.
type ELF struct {
	Type      elf.Type
	Machine   elf.Machine
	Bits      int // 32 or 64
	BigEndian bool
	// Segments are the program headers in file order.
	Segments []Segment
	// BuildID is the descriptor of the NT_GNU_BUILD_ID note, nil without one:
	// usually 20 bytes (SHA-1), but also 8 or 16.
	BuildID []byte
	// GoBuildID is the text that the Go linker leaves in its own note.
	GoBuildID string
	// Kernel says that this is a Linux kernel (vmlinux), so that the symbol
	// _text is RVA 0.
	Kernel bool

	layout   elfLayout
	sections []elfSection
	src      source
}

// Segment is a program header.
type Segment struct {
	Type     elf.ProgType
	Flags    elf.ProgFlag
	Offset   uint64 // in the file
	VAddr    uint64 // link-time address
	FileSize uint64
	MemSize  uint64
	Align    uint64
}

// Relocatable says that the image is an object file (such as a kernel module,
// .ko) and has no addresses yet.
func (e *ELF) Relocatable() bool { return e.Type == elf.ET_REL }

func (f *File) readELF() error {
	ident, err := f.src.cursor("ELF identification", 0, elf.EI_NIDENT, elf.EI_NIDENT)
	if err != nil {
		return err
	}
	id := ident.Bytes(elf.EI_NIDENT)
	var l elfLayout
	switch elf.Class(id[elf.EI_CLASS]) {
	case elf.ELFCLASS32:
	case elf.ELFCLASS64:
		l.is64 = true
	default:
		ident.FailAt(elf.EI_CLASS, binfmt.ErrCorrupt, "class 1 or 2", fmt.Sprint(id[elf.EI_CLASS]))
	}
	switch elf.Data(id[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
	case elf.ELFDATA2MSB:
		l.big = true
	default:
		ident.FailAt(elf.EI_DATA, binfmt.ErrCorrupt, "byte order 1 or 2", fmt.Sprint(id[elf.EI_DATA]))
	}
	if v := id[elf.EI_VERSION]; elf.Version(v) != elf.EV_CURRENT {
		ident.FailAt(elf.EI_VERSION, binfmt.ErrVersion, "1", fmt.Sprint(v))
	}
	if ident.Err() != nil {
		return ident.Err()
	}

	hdrSize := l.size(52, 64)
	c, err := f.src.cursor("ELF header", 0, hdrSize, hdrSize)
	if err != nil {
		return err
	}
	c.BigEndian(l.big).Skip(elf.EI_NIDENT)
	e := &ELF{Bits: 32, BigEndian: l.big, layout: l, src: f.src}
	if l.is64 {
		e.Bits = 64
	}
	e.Type = elf.Type(c.U16())
	e.Machine = elf.Machine(c.U16())
	c.U32() // e_version
	l.word(c)
	phoff, shoff := l.word(c), l.word(c)
	c.U32() // e_flags
	c.U16() // e_ehsize
	t := elfTables{phoff: phoff, shoff: shoff}
	t.phentAt, t.phentsize, t.phnum = c.Offset(), c.U16(), uint64(c.U16())
	t.shentAt, t.shentsize, t.shnum, t.shstrndx = c.Offset(), c.U16(), uint64(c.U16()), uint64(c.U16())
	if c.Err() != nil {
		return c.Err()
	}

	f.ELF = e
	f.Arch = archName(elfArch, e.Machine)
	// The program headers alone make an image usable; the section table is
	// often missing or cut off in files that were dumped or stripped.
	if err := e.readSections(t); err != nil {
		f.warn(err)
	}
	if err := e.readSegments(t); err != nil {
		return err
	}
	f.readNotes()
	f.Base = f.loadBase()
	f.Sections = e.memorySections(f.Base)
	return nil
}
