// Package funcs finds the functions of a native binary: where the code of
// each one lies and what it is called.
//
// The sources, in the order in which they are believed:
//
//	pdb       procedures, separated code and public symbols of a PDB
//	symtab    ELF .symtab, of the image and of a separate debug file
//	coff      COFF symbol table of a PE (MinGW)
//	pclntab   function table of the Go runtime, Go 1.18 and later
//	dynsym    ELF .dynsym; export table of a PE
//	plt       ELF procedure linkage stubs, named "NAME@plt" by relocations
//	pdata     exception directory of a PE, x64 and arm64
//	eh-frame  ELF .eh_frame
//
// Each source gives pieces of code: a start, often an end, often a name. All
// sources are read and their pieces put together, see merge.go.
//
// Unwind tables also lead to the tables of exceptions, which say where control
// goes on in a function after an exception in it, see guards.go.
package funcs

import (
	"debug/elf"
	"fmt"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// Options says what is known beside the image.
type Options struct {
	// Debug is the path of the image's PDB or separate debug file (the one
	// that .gnu_debuglink or the build id leads to), "" for none. A file of
	// another build is a debuginfo.MismatchError.
	Debug string
}

// Find returns the functions of an image by address. It fails if the image is
// of a kind that is not handled, or if the PDB or debug file cannot be used.
// A defect in one source leaves the others in use; the report has it.
func Find(img *image.File, opts Options) ([]program.Function, Report, error) {
	f := &finder{img: img}
	if err := f.check(); err != nil {
		return nil, f.report, err
	}
	if opts.Debug != "" {
		read := f.readPDB
		if img.Kind == image.KindELF {
			read = f.readDebugFile
		}
		if err := read(opts.Debug); err != nil {
			return nil, f.report, err
		}
	}
	if img.Kind == image.KindELF {
		f.readELF()
	} else {
		f.readPE()
	}
	list := f.merge()
	f.guard(list)
	return list, f.report, nil
}

// finder collects the pieces of code of all sources.
type finder struct {
	img    *image.File
	code   []program.Range // executable sections, ascending, disjoint
	pieces []piece
	limits []uint32 // addresses that no function without size crosses
	sites  []site
	tables uint64 // bytes read of tables of exceptions
	report Report
}

// piece is what one source says of one piece of code.
type piece struct {
	start, end uint32 // end is 0 where the source does not say
	name       string // "" if the source has none
	weight     uint8  // which of several names at one start is best: the lowest
	local      bool
	label      bool   // may be a mark inside of a function
	hint       bool   // name is not a linkage name: used where there is no other
	unit       string // source or object file
	source     program.Source
	part       bool   // belongs to the function that starts at parent
	parent     uint32 // of a part
}

// check says whether the image is of a kind that is handled, and finds its
// code.
func (f *finder) check() error {
	unsupported := func(want, got string) error {
		return &binfmt.Error{Part: "image", Offset: -1, Want: want, Got: got, Err: binfmt.ErrUnsupported}
	}
	if a := f.img.Arch; a != image.ArchAMD64 && a != image.ArchARM64 && a != image.ArchARM64EC {
		return unsupported("code of x86-64 or arm64", string(a))
	}
	if e := f.img.ELF; e != nil {
		if e.Relocatable() {
			return unsupported("a linked image", "an object file")
		}
		if e.BigEndian || e.Bits != 64 {
			return unsupported("a little-endian image of 64 bits", fmt.Sprintf("%d bits, big-endian: %v", e.Bits, e.BigEndian))
		}
	}
	for _, e := range f.img.Code() {
		if e.Start < math.MaxUint32 {
			f.code = append(f.code, program.Range{Start: uint32(e.Start), End: uint32(min(e.End, math.MaxUint32))})
		}
	}
	if len(f.code) == 0 {
		if f.claimsCode() {
			return &binfmt.Error{Part: "image", Offset: -1, Want: "the code that its header names", Got: "a file that ends before it", Err: binfmt.ErrTruncated}
		}
		return unsupported("executable sections", "none")
	}
	// Sections may touch, but functions do not go on in the next one.
	for _, s := range f.img.Sections {
		if end := s.RVA + s.Size; s.Exec && end < math.MaxUint32 {
			f.limits = append(f.limits, uint32(end))
		}
	}
	return nil
}

// claimsCode says whether headers speak of code, be it in the file or not.
func (f *finder) claimsCode() bool {
	executable := func(s image.Section) bool { return s.Exec && s.Size > 0 }
	loaded := func(s image.Segment) bool { return s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 }
	return slices.ContainsFunc(f.img.Sections, executable) || f.img.ELF != nil && slices.ContainsFunc(f.img.ELF.Segments, loaded)
}

// add takes a piece at addresses as far as they are code. Size 0 stands for an
// unknown one.
func (f *finder) add(p piece, start, size uint64) {
	f.report.Pieces[p.source]++
	if start >= math.MaxUint32 {
		f.report.skip(p.source, BeyondRange)
		return
	}
	if start == 0 {
		f.report.skip(p.source, AtHeaders)
		return
	}
	i := program.Containing(f.code, uint32(start))
	if i < 0 {
		f.report.skip(p.source, OutsideCode)
		return
	}
	p.start = uint32(start)
	if size != 0 {
		end := min(start+min(size, math.MaxUint32), uint64(f.code[i].End))
		if end < start+size {
			f.report.cut(p.source)
		}
		p.end = uint32(end)
	}
	f.pieces = append(f.pieces, p)
}

// fail keeps the defect of a source.
func (f *finder) fail(err error) {
	if err != nil {
		f.report.Problems = append(f.report.Problems, err)
	}
}

// sectionData returns the bytes of an image section in the file, nil if there
// is none of the name.
func (f *finder) sectionData(name string) (data []byte, rva uint64) {
	for _, s := range f.img.Sections {
		if s.Name == name && s.FileSize > 0 {
			return f.bytesAt(name, s.RVA, min(s.Size, s.FileSize)), s.RVA
		}
	}
	return nil, 0
}

// maxLoad bounds what is read of an image at once. Unwind tables of the
// largest browsers have about 20 MB.
const maxLoad = 1 << 30

// bytesAt reads n bytes at an address, or as many as the file has. A claimed
// size beyond the file is not allocated.
func (f *finder) bytesAt(what string, rva, n uint64) []byte {
	off, have, ok := f.img.FileOffset(rva)
	if !ok {
		f.fail(&binfmt.Error{Part: what, Offset: -1, Want: "an address in the file", Got: fmt.Sprintf("%#x", rva), Err: binfmt.ErrCorrupt})
		return nil
	}
	if n > have {
		f.fail(&binfmt.Error{Part: what, Offset: int64(off), Want: fmt.Sprintf("%d bytes", n), Got: fmt.Sprint(have), Err: binfmt.ErrTruncated})
		n = have
	}
	if n > maxLoad {
		f.fail(&binfmt.Error{Part: what, Offset: int64(off), Want: fmt.Sprintf("at most %d bytes", maxLoad), Got: fmt.Sprint(n), Err: binfmt.ErrLimit})
		n = maxLoad
	}
	b := make([]byte, n)
	k, err := f.img.Reader().ReadAt(b, int64(off))
	if k < len(b) {
		f.fail(&binfmt.Error{Part: what, Offset: int64(off) + int64(k), Want: fmt.Sprintf("%d bytes", n), Got: fmt.Sprint(k), Err: err})
	}
	return b[:k]
}
