package image

import (
	"cmp"
	"debug/elf"
	"debug/pe"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Kind is the format of an image.
type Kind uint8

// Formats of images.
const (
	KindELF Kind = iota + 1
	KindPE
)

// String returns "ELF" or "PE".
func (k Kind) String() string {
	switch k {
	case KindELF:
		return "ELF"
	case KindPE:
		return "PE"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Arch names an instruction set.
type Arch string

// Instruction sets with a name. Others show as "machine 0x1234", with the
// number of the format at hand.
const (
	ArchX86     Arch = "x86"
	ArchAMD64   Arch = "x86-64"
	ArchARM     Arch = "arm"
	ArchARM64   Arch = "arm64"
	ArchARM64EC Arch = "arm64ec"
	ArchRISCV   Arch = "riscv"
	ArchPPC64   Arch = "ppc64"
	ArchS390    Arch = "s390"
	ArchLoong   Arch = "loongarch"
	ArchIA64    Arch = "ia64"
)

var elfArch = map[elf.Machine]Arch{
	elf.EM_386: ArchX86, elf.EM_X86_64: ArchAMD64, elf.EM_ARM: ArchARM, elf.EM_AARCH64: ArchARM64,
	elf.EM_RISCV: ArchRISCV, elf.EM_PPC64: ArchPPC64, elf.EM_S390: ArchS390, elf.EM_LOONGARCH: ArchLoong,
	elf.EM_IA_64: ArchIA64,
}

// machineARM64EC is IMAGE_FILE_MACHINE_ARM64EC, which debug/pe does not name.
const machineARM64EC = 0xa641

var peArch = map[uint16]Arch{
	pe.IMAGE_FILE_MACHINE_I386: ArchX86, pe.IMAGE_FILE_MACHINE_AMD64: ArchAMD64,
	pe.IMAGE_FILE_MACHINE_ARMNT: ArchARM, pe.IMAGE_FILE_MACHINE_ARM64: ArchARM64, machineARM64EC: ArchARM64EC,
	pe.IMAGE_FILE_MACHINE_RISCV64: ArchRISCV, pe.IMAGE_FILE_MACHINE_LOONGARCH64: ArchLoong,
	pe.IMAGE_FILE_MACHINE_IA64: ArchIA64,
}

func archName[M ~uint16](names map[M]Arch, machine M) Arch {
	if a, ok := names[machine]; ok {
		return a
	}
	return Arch(fmt.Sprintf("machine %#x", uint16(machine)))
}

// Section is a part of an image that is in memory at run time.
type Section struct {
	Name     string
	RVA      uint64 // address of its first byte, relative to File.Base
	Size     uint64 // bytes in memory
	Offset   uint64 // file offset of its first byte
	FileSize uint64 // bytes in the file; what is beyond is zero in memory
	Exec     bool   // holds code
}

// maxWarnings bounds File.Warnings; the count goes on.
const maxWarnings = 32

// File is an open image. It is safe for concurrent use.
type File struct {
	Kind Kind
	Arch Arch
	// Base is the link-time address of RVA 0.
	Base uint64
	// Sections in the order of the section table: all of a PE (a PDB's
	// segment n is entry n-1), those of an ELF that are in memory.
	Sections []Section
	// ELF or PE holds what only that format has; the other one is nil.
	ELF *ELF
	PE  *PE
	// Warnings are the defects of parts that were skipped, at most 32;
	// WarningCount counts all of them.
	Warnings     []error
	WarningCount int

	src    source
	closer io.Closer
}

// Open opens the image at path. Errors and warnings carry the path.
func Open(path string) (*File, error) {
	r, size, err := OS.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := openReader(r, size)
	if err != nil {
		return nil, binfmt.InFile(err, path)
	}
	f.nameWarnings(path)
	return f, nil
}

// openReader reads an image from r, which the File then owns; r is closed if
// there is none.
func openReader(r io.ReaderAt, size int64) (*File, error) {
	f, err := NewFile(r, size)
	if err != nil {
		closeReader(r)
		return nil, err
	}
	f.closer, _ = r.(io.Closer)
	return f, nil
}

func closeReader(r io.ReaderAt) {
	if c, ok := r.(io.Closer); ok {
		c.Close()
	}
}

func (f *File) nameWarnings(path string) {
	for i := range f.Warnings {
		f.Warnings[i] = binfmt.InFile(f.Warnings[i], path)
	}
}

// NewFile reads the headers of the image in r, which has the given size in
// bytes. It does not close r. An input that is neither PE nor ELF is
// binfmt.ErrMagic.
func NewFile(r io.ReaderAt, size int64) (*File, error) {
	f := &File{src: source{r, uint64(max(size, 0))}}
	magic, err := f.src.bytes("signature", 0, min(4, f.src.size), math.MaxUint64)
	if err != nil {
		return nil, err
	}
	switch {
	case string(magic) == elf.ELFMAG:
		f.Kind = KindELF
		err = f.readELF()
	case string(magic[:min(2, len(magic))]) == "MZ":
		f.Kind = KindPE
		err = f.readPE()
	default:
		err = &binfmt.Error{Part: "signature", Want: `"\x7fELF" or "MZ"`, Got: fmt.Sprintf("%q", magic), Err: binfmt.ErrMagic}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the file that Open or a [Finder] opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Extent is a half-open interval of RVAs.
type Extent struct {
	Start, End uint64
}

// Code returns where the image holds code: its executable sections, or the
// executable segments of an ELF without a section table, sorted, with those
// that touch or overlap joined. What they claim beyond their bytes in the file
// is left out, but for sections that have none, such as those of a file that
// holds debug information alone.
func (f *File) Code() []Extent {
	present := func(size, offset, inFile uint64) uint64 {
		if inFile == 0 {
			return size
		}
		return min(size, inFile, f.src.size-min(offset, f.src.size))
	}
	var list []Extent
	for _, s := range f.Sections {
		if size := present(s.Size, s.Offset, s.FileSize); s.Exec && size > 0 && s.RVA <= math.MaxUint64-size {
			list = append(list, Extent{s.RVA, s.RVA + size})
		}
	}
	if len(list) == 0 && f.ELF != nil && !f.ELF.Relocatable() {
		for _, s := range f.ELF.Segments {
			size := present(s.MemSize, s.Offset, s.FileSize)
			if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 && s.VAddr >= f.Base && size > 0 && s.VAddr <= math.MaxUint64-size {
				list = append(list, Extent{s.VAddr - f.Base, s.VAddr - f.Base + size})
			}
		}
	}
	slices.SortFunc(list, func(a, b Extent) int { return cmp.Compare(a.Start, b.Start) })
	var out []Extent
	for _, e := range list {
		if n := len(out); n > 0 && e.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, e.End)
		} else {
			out = append(out, e)
		}
	}
	return out
}

// Reader reads the whole file, for packages that know more of its format.
func (f *File) Reader() *io.SectionReader {
	return io.NewSectionReader(f.src.r, 0, int64(f.src.size))
}

// warn keeps a defect that does not prevent the use of the image.
func (f *File) warn(err error) {
	f.WarningCount++
	if len(f.Warnings) < maxWarnings {
		f.Warnings = append(f.Warnings, err)
	}
}

// ID returns the identity of the image and where it was found. Without one it
// is zero and IDNone.
func (f *File) ID() (ID, IDSource) {
	switch {
	case f.PE != nil && f.PE.CodeView != nil:
		return f.PE.CodeView.ID, IDRSDS
	case f.ELF != nil && len(trimBuildID(f.ELF.BuildID)) > 0:
		return ID{GUID: GUIDFromBuildID(f.ELF.BuildID)}, IDBuildID
	}
	return ID{}, IDNone
}

// RVA converts a file offset to an RVA. It is false for an offset that no
// part of the image in memory comes from, and for one below Base.
func (f *File) RVA(offset uint64) (uint64, bool) {
	if f.PE != nil {
		return f.PE.rva(offset)
	}
	va, ok := f.ELF.FileOffsetToVA(offset)
	if !ok || va < f.Base {
		return 0, false
	}
	return va - f.Base, true
}

// FileOffset converts an RVA to a file offset and tells how many bytes the
// file holds contiguously from there, whatever its headers claim; false where
// it holds none.
func (f *File) FileOffset(rva uint64) (offset, n uint64, ok bool) {
	switch {
	case f.PE != nil:
		offset, n, ok = f.PE.fileOffset(rva)
	case rva <= math.MaxUint64-f.Base:
		offset, n, ok = f.ELF.vaToFileOffset(f.Base + rva)
	}
	if !ok || offset >= f.src.size {
		return 0, 0, false
	}
	return offset, min(n, f.src.size-offset), true
}

// ReadAtRVA reads bytes of the image as they are in the file, before
// relocation. It returns fewer than len(p) bytes, and io.EOF, where the file
// holds no more at that place.
func (f *File) ReadAtRVA(p []byte, rva uint64) (int, error) {
	off, n, ok := f.FileOffset(rva)
	if !ok {
		return 0, io.EOF
	}
	n = min(n, uint64(len(p)))
	k, err := f.src.r.ReadAt(p[:n], int64(off))
	if k < len(p) && err == nil {
		err = io.EOF
	}
	if k == len(p) {
		err = nil
	}
	return k, err
}
