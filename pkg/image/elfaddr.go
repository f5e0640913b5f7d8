package image

import "debug/elf"

const (
	// basePage is the granularity of the load base.
	basePage = 0x1000
	// maxPage is the largest page size of a system that profiles come from
	// (64 KiB, arm64 and ppc64). p_align can be more without the loader
	// mapping any more of the file.
	maxPage = 0x10000
)

// mapStart is the first file offset that the loader maps for the segment: it
// rounds p_offset down to a page. Which page size the machine had is not in
// the file; p_align within its plausible range bounds it.
func (s *Segment) mapStart() uint64 {
	page := uint64(basePage)
	if s.Align > page && s.Align&(s.Align-1) == 0 {
		page = min(s.Align, maxPage)
	}
	return s.Offset &^ (page - 1)
}

// FileOffsetToVA converts a file offset to a link-time address. The mappings
// of neighbouring segments overlap in the file where they share a page. Code
// is what profiles sample, so an executable segment that maps the offset wins
// over others, and within both kinds one that has the offset in its own bytes
// wins over one that maps it by rounding.
func (e *ELF) FileOffsetToVA(offset uint64) (uint64, bool) {
	const none = 4
	best, rank := 0, none
	for i := range e.Segments {
		s := &e.Segments[i]
		if s.Type != elf.PT_LOAD || offset < s.mapStart() || offset >= s.Offset && offset-s.Offset >= s.FileSize {
			continue
		}
		r := 0
		if s.Flags&elf.PF_X == 0 {
			r = 2
		}
		if offset < s.Offset {
			r++
		}
		if r < rank {
			best, rank = i, r
		}
	}
	if rank == none {
		return 0, false
	}
	s := &e.Segments[best]
	// Unsigned arithmetic wraps as intended where offset < s.Offset; an address
	// that would leave the address space is none.
	va := offset - s.Offset + s.VAddr
	if (offset >= s.Offset) != (va >= s.VAddr) {
		return 0, false
	}
	return va, true
}

// vaToFileOffset finds the bytes of a link-time address in the file.
func (e *ELF) vaToFileOffset(va uint64) (offset, n uint64, ok bool) {
	for i := range e.Segments {
		s := &e.Segments[i]
		if s.Type != elf.PT_LOAD || va < s.VAddr || va-s.VAddr >= s.FileSize {
			continue
		}
		d := va - s.VAddr
		if off := s.Offset + d; off >= s.Offset {
			return off, s.FileSize - d, true
		}
	}
	return 0, 0, false
}

// lowestLoad is the smallest p_vaddr of all PT_LOAD segments, rounded down to
// a page; 0 without such segments.
func (e *ELF) lowestLoad() uint64 {
	low, found := uint64(0), false
	for i := range e.Segments {
		if s := &e.Segments[i]; s.Type == elf.PT_LOAD && (!found || s.VAddr < low) {
			low, found = s.VAddr, true
		}
	}
	return low &^ (basePage - 1)
}

// loadBase returns the link-time address of RVA 0. A Linux kernel is told by
// the section .init.text, which the kernel's linker scripts alone make, and
// the symbol _text.
func (f *File) loadBase() uint64 {
	e := f.ELF
	if e.Relocatable() {
		return 0
	}
	for i := range e.sections {
		if e.sections[i].name != ".init.text" {
			continue
		}
		text, ok, err := e.Symbol("_text")
		if err != nil {
			f.warn(err)
		}
		if ok {
			e.Kernel = true
			return text.Value
		}
		break
	}
	return e.lowestLoad()
}
