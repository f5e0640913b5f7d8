package build

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// code is what an image holds in memory, as graphs need it.
type code struct {
	img      *image.File
	arch     disasm.Arch
	pieces   []piece           // by address
	pointers map[uint32]uint32 // what relocations put where
	imports  map[uint32]string // names by the slot that will point to the function
	problems []error
}

// piece is a part of the image that has bytes in the file.
type piece struct {
	rva  uint32
	data []byte
}

// maxImage bounds what is loaded of an image.
const maxImage = 4 << 30

// load reads the image. A piece that cannot be read is left out and noted.
func load(img *image.File) (*code, error) {
	c := &code{img: img, pointers: make(map[uint32]uint32), imports: make(map[uint32]string)}
	switch img.Arch {
	case image.ArchAMD64:
		c.arch = disasm.AMD64
	case image.ArchARM64:
		c.arch = disasm.ARM64
	default:
		return nil, &binfmt.Error{Part: "machine", Want: "x86-64 or arm64", Got: string(img.Arch), Err: binfmt.ErrUnsupported}
	}
	if img.ELF != nil {
		if img.ELF.Relocatable() {
			return nil, &binfmt.Error{Part: "ELF header", Want: "a linked image", Got: "a relocatable object", Err: binfmt.ErrUnsupported}
		}
		for _, s := range img.ELF.Segments {
			if s.Type == elf.PT_LOAD && s.VAddr >= img.Base {
				c.piece(s.VAddr-img.Base, s.FileSize)
			}
		}
		c.elfLinks()
	} else {
		for _, s := range img.Sections {
			c.piece(s.RVA, min(s.FileSize, s.Size))
		}
		c.peLinks()
	}
	return c, nil
}

// piece reads a part of the image.
func (c *code) piece(rva, size uint64) {
	if size == 0 || rva >= maxImage || size > maxImage-rva {
		return
	}
	_, held, ok := c.img.FileOffset(rva)
	if !ok {
		return
	}
	data := make([]byte, min(size, held))
	n, err := c.img.ReadAtRVA(data, rva)
	if n < len(data) {
		c.problems = append(c.problems, fmt.Errorf("image at RVA %#x: %w", rva, err))
	}
	c.pieces = append(c.pieces, piece{uint32(rva), data[:n]})
	slices.SortStableFunc(c.pieces, func(a, b piece) int { return cmp.Compare(a.rva, b.rva) })
}

// maxZeros is the most bytes of a piece of a function that are taken for zero
// because the file does not hold them.
const maxZeros = 1 << 12

// inFile returns the functions without the greater part of what the file does
// not hold: a section without data may claim gigabytes of code. They are counted
// as a problem.
func (c *code) inFile(functions []program.Function) []program.Function {
	out := slices.Clone(functions)
	cut, first := 0, uint32(0)
	for i := range out {
		f := &out[i]
		for k, r := range f.Ranges {
			size := r.End - r.Start
			if size <= maxZeros {
				continue
			}
			most := len(c.Bytes(r.Start, int(size))) + maxZeros
			if uint64(size) <= uint64(most) {
				continue
			}
			if cut++; cut == 1 {
				first = r.Start
			}
			f.Ranges = slices.Clone(f.Ranges)
			f.Ranges[k].End = r.Start + uint32(most)
		}
	}
	if cut > 0 {
		c.problems = append(c.problems, fmt.Errorf("the file does not hold the code of %d pieces of functions, the first at RVA %#x", cut, first))
	}
	return out
}

func (c *code) Arch() disasm.Arch { return c.arch }

func (c *code) Base() uint64 { return c.img.Base }

// Bytes returns up to n bytes at rva.
func (c *code) Bytes(rva uint32, n int) []byte {
	k, found := slices.BinarySearchFunc(c.pieces, rva, func(p piece, r uint32) int { return cmp.Compare(p.rva, r) })
	if !found {
		k--
	}
	if k < 0 || uint64(rva-c.pieces[k].rva) >= uint64(len(c.pieces[k].data)) {
		return nil
	}
	b := c.pieces[k].data[rva-c.pieces[k].rva:]
	return b[:min(n, len(b))]
}

// Pointer returns what the 8 bytes at rva point to once the image is loaded.
func (c *code) Pointer(rva uint32) (uint32, bool) {
	if to, ok := c.pointers[rva]; ok {
		return to, true
	}
	b := c.Bytes(rva, 8)
	if len(b) < 8 {
		return 0, false
	}
	return c.relative(binary.LittleEndian.Uint64(b))
}

// relative makes a link-time address an RVA.
func (c *code) relative(va uint64) (uint32, bool) {
	if va < c.img.Base || va-c.img.Base >= maxImage {
		return 0, false
	}
	return uint32(va - c.img.Base), true
}

// text returns the string that ends with a NUL at rva, "" if there is none of
// at most limit bytes.
func (c *code) text(rva uint32, limit int) string {
	b := c.Bytes(rva, limit)
	for k, x := range b {
		if x == 0 {
			return string(b[:k])
		}
	}
	return ""
}
