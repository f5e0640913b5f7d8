package image

import (
	"debug/pe"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	peSignature  = "PE\x00\x00"
	peHeaderSize = 24 // signature and COFF file header
	optMagic32   = 0x10b
	optMagic64   = 0x20b

	peSectionSize  = 40
	peMaxSections  = 0xffff // the count has 16 bits
	peLfanewAt     = 0x3c
	peSectorSize   = 0x200 // the loader rounds PointerToRawData down to it
	pePageSize     = 0x1000
	maxDirectories = 16
)

// Indices of PE.Directories.
const (
	DirectoryExport    = 0
	DirectoryException = 3
	debugDirectory     = 6
)

// PE is what only a PE image has.
type PE struct {
	Bits            int // 32 (PE32) or 64 (PE32+)
	Machine         uint16
	Characteristics uint16
	TimeDateStamp   uint32 // of the COFF header; a hash in a reproducible build
	SizeOfImage     uint32
	SizeOfHeaders   uint32
	CheckSum        uint32
	ImageBase       uint64
	SectionAlign    uint32
	// SymbolOffset is where in the file the COFF symbol table is, which has
	// SymbolCount entries of 18 bytes and the string table behind it; 0 if
	// there is none.
	SymbolOffset uint32
	SymbolCount  uint32
	// Directories are the data directories, at most 16.
	Directories []Directory
	// Sections in the order of the section table; a PDB's segment n is entry
	// n-1.
	Sections []PESection
	// Debug holds all entries of the debug directory.
	Debug []DebugEntry
	// CodeView is the RSDS record that names the PDB of the native code, nil
	// without one. CodeViews holds all RSDS records, of which an image with
	// managed code can have several.
	CodeView  *CodeView
	CodeViews []CodeView
}

// Directory is a data directory: a part of the image that the loader knows.
type Directory struct {
	RVA, Size uint32
}

// PESection is an entry of the section table.
type PESection struct {
	Name             string // long names resolved through the COFF string table
	VirtualSize      uint32
	VirtualAddress   uint32 // RVA
	SizeOfRawData    uint32
	PointerToRawData uint32
	Characteristics  uint32
}

// IsPE says whether r starts as a PE image does: "MZ", and "PE\0\0" where the
// DOS header points to.
func IsPE(r io.ReaderAt) bool {
	var dos [peLfanewAt + 4]byte
	if n, _ := r.ReadAt(dos[:], 0); n < len(dos) || string(dos[:2]) != "MZ" {
		return false
	}
	c := binfmt.NewCursor(dos[peLfanewAt:], "DOS header", peLfanewAt)
	var sig [4]byte
	n, _ := r.ReadAt(sig[:], int64(c.U32()))
	return n == len(sig) && string(sig[:]) == peSignature
}

func (f *File) readPE() error {
	dos, err := f.src.cursor("DOS header", 0, peLfanewAt+4, peLfanewAt+4)
	if err != nil {
		return err
	}
	dos.Seek(peLfanewAt)
	lfanew := uint64(dos.U32())
	c, err := f.src.cursor("PE header", lfanew, peHeaderSize, peHeaderSize)
	if err != nil {
		return err
	}
	if sig := c.Bytes(4); string(sig) != peSignature {
		c.FailAt(int64(lfanew), binfmt.ErrMagic, fmt.Sprintf("%q (another kind of MZ file)", peSignature), fmt.Sprintf("%q", sig))
		return c.Err()
	}
	p := &PE{Machine: c.U16()}
	nsections := uint64(c.U16())
	p.TimeDateStamp = c.U32()
	p.SymbolOffset, p.SymbolCount = c.U32(), c.U32()
	optSize := uint64(c.U16())
	p.Characteristics = c.U16()
	if c.Err() != nil {
		return c.Err()
	}

	opt, err := f.src.cursor("optional header", lfanew+peHeaderSize, optSize, 0xffff)
	if err != nil {
		return err
	}
	if err := p.readOptional(opt); err != nil {
		return err
	}
	tab, err := f.src.cursor("section table", lfanew+peHeaderSize+optSize, nsections*peSectionSize, peMaxSections*peSectionSize)
	if err != nil {
		return err
	}
	p.Sections = make([]PESection, nsections)
	for i := range p.Sections {
		s := &p.Sections[i]
		s.Name = strings.TrimRight(string(tab.Bytes(8)), "\x00")
		s.VirtualSize, s.VirtualAddress = tab.U32(), tab.U32()
		s.SizeOfRawData, s.PointerToRawData = tab.U32(), tab.U32()
		tab.Skip(12) // relocations and line numbers, which images do not have
		s.Characteristics = tab.U32()
		// Names of more than 8 bytes are "/OFFSET" into the string table behind
		// the symbol table.
		if digits, ok := strings.CutPrefix(s.Name, "/"); ok && p.SymbolOffset != 0 {
			if off, err := strconv.ParseUint(digits, 10, 32); err == nil {
				s.Name = f.longSectionName(p.stringTable()+off, s.Name)
			}
		}
	}
	if tab.Err() != nil {
		return tab.Err()
	}

	f.PE = p
	f.Arch = archName(peArch, p.Machine)
	f.Base = p.ImageBase
	for i := range p.Sections {
		s := &p.Sections[i]
		f.Sections = append(f.Sections, Section{Name: s.Name, RVA: uint64(s.VirtualAddress), Size: uint64(s.memorySize()),
			Offset: p.fileStart(s), FileSize: s.fileSize(),
			Exec: s.Characteristics&pe.IMAGE_SCN_MEM_EXECUTE != 0})
	}
	debug := p.Directory(debugDirectory)
	f.readDebugDirectory(debug.RVA, debug.Size)
	return nil
}

// stringTable is the file offset of the names behind the symbol table.
func (p *PE) stringTable() uint64 {
	return uint64(p.SymbolOffset) + uint64(p.SymbolCount)*pe.COFFSymbolSize
}

// Directory returns the data directory with an index, zero if there is none.
func (p *PE) Directory(index int) Directory {
	if index >= len(p.Directories) {
		return Directory{}
	}
	return p.Directories[index]
}

func (p *PE) readOptional(c *binfmt.Cursor) error {
	at := c.Offset()
	magic := c.U16()
	switch magic {
	case optMagic32:
		p.Bits = 32
	case optMagic64:
		p.Bits = 64
	default:
		c.FailAt(at, binfmt.ErrUnsupported, "magic 0x10b or 0x20b", fmt.Sprintf("%#x", magic))
		return c.Err()
	}
	c.Skip(22) // linker version to BaseOfCode
	if p.Bits == 32 {
		c.Skip(4) // BaseOfData
		p.ImageBase = uint64(c.U32())
	} else {
		p.ImageBase = c.U64()
	}
	p.SectionAlign = c.U32()
	c.Skip(20) // FileAlignment to Win32VersionValue
	p.SizeOfImage, p.SizeOfHeaders, p.CheckSum = c.U32(), c.U32(), c.U32()
	c.Skip(4) // Subsystem, DllCharacteristics
	if p.Bits == 32 {
		c.Skip(4*4 + 4) // stack and heap sizes, LoaderFlags
	} else {
		c.Skip(4*8 + 4)
	}
	// Some images claim more directories than they have room for.
	for n := min(c.U32(), maxDirectories); c.Err() == nil && n > 0 && c.Len() >= 8; n-- {
		p.Directories = append(p.Directories, Directory{c.U32(), c.U32()})
	}
	return c.Err()
}

// longSectionName reads the string at a file offset, or returns the short form
// where there is none: a name is not worth failing for.
func (f *File) longSectionName(off uint64, short string) string {
	const longest = 256
	if off >= f.src.size {
		return short
	}
	c, err := f.src.cursor("section name", off, min(longest, f.src.size-off), longest)
	if err != nil {
		return short
	}
	if name := c.CString(); c.Err() == nil {
		return name
	}
	return short
}

// memorySize is the size of the section in memory. Old linkers leave
// VirtualSize at 0.
func (s *PESection) memorySize() uint32 {
	if s.VirtualSize == 0 {
		return s.SizeOfRawData
	}
	return s.VirtualSize
}

// fileStart is where the loader starts to read a section. It rounds down to a
// sector, except in an image whose sections share pages (some drivers), which
// it maps as a whole.
func (p *PE) fileStart(s *PESection) uint64 {
	if p.SectionAlign < pePageSize {
		return uint64(s.PointerToRawData)
	}
	return uint64(s.PointerToRawData &^ (peSectorSize - 1))
}

// fileSize is how many bytes of the file the loader maps: raw data beyond the
// last page of the section in memory stays out.
func (s *PESection) fileSize() uint64 {
	if s.PointerToRawData == 0 {
		return 0
	}
	pages := (uint64(s.memorySize()) + pePageSize - 1) &^ (pePageSize - 1)
	return min(uint64(s.SizeOfRawData), pages)
}

// rva converts a file offset to an RVA.
func (p *PE) rva(off uint64) (uint64, bool) {
	for i := range p.Sections {
		s := &p.Sections[i]
		if start := p.fileStart(s); off >= start && off-start < s.fileSize() {
			return uint64(s.VirtualAddress) + (off - start), true
		}
	}
	if off < uint64(p.SizeOfHeaders) {
		return off, true
	}
	return 0, false
}

// fileOffset finds the bytes of an RVA in the file.
func (p *PE) fileOffset(rva uint64) (off, n uint64, ok bool) {
	for i := range p.Sections {
		s := &p.Sections[i]
		if va := uint64(s.VirtualAddress); rva >= va && rva-va < s.fileSize() {
			return p.fileStart(s) + (rva - va), s.fileSize() - (rva - va), true
		}
	}
	if h := uint64(p.SizeOfHeaders); rva < h {
		return rva, h - rva, true
	}
	return 0, 0, false
}
