package funcs

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// span is a piece of code by address and size.
type span struct {
	start, size uint64
	lsda        uint64 // address of its table of exceptions, 0 if there is none
}

// readEHFrame takes the functions of the unwind table. It says where they lie
// even where all symbols are gone.
func (f *finder) readEHFrame() {
	data, rva := f.sectionData(".eh_frame")
	if data == nil {
		data, rva = f.ehFrameOfSegment()
	}
	spans, defects := ehFrame(data, f.img.Base+rva)
	f.report.Problems = append(f.report.Problems, defects...)
	for _, s := range spans {
		// The linker leaves entries of removed functions at address 0.
		if s.start < f.img.Base {
			f.report.Pieces[program.EHFrame]++
			f.report.skip(program.EHFrame, OutsideCode)
			continue
		}
		f.add(piece{source: program.EHFrame}, s.start-f.img.Base, s.size)
		f.addLSDA(s.lsda, s.start, s.size)
	}
}

// ehFrameOfSegment finds the table by the PT_GNU_EH_FRAME segment, in which
// .eh_frame_hdr says where it begins. An entry of size 0 ends it; what follows
// in the segment is something else.
func (f *finder) ehFrameOfSegment() (data []byte, rva uint64) {
	for _, s := range f.img.ELF.Segments {
		if s.Type != elf.PT_GNU_EH_FRAME || s.VAddr < f.img.Base {
			continue
		}
		hdr := f.bytesAt(".eh_frame_hdr", s.VAddr-f.img.Base, min(s.FileSize, 16))
		c := binfmt.NewCursor(hdr, ".eh_frame_hdr", int64(s.Offset))
		c.U8() // version
		enc := c.U8()
		c.Skip(2) // encodings of the search table
		at := pointer(c, enc, s.VAddr, int64(s.Offset))
		if c.Err() != nil || at < f.img.Base {
			f.fail(c.Err())
			continue
		}
		_, n, _ := f.img.FileOffset(at - f.img.Base)
		return untilEnd(f.bytesAt(".eh_frame", at-f.img.Base, min(n, maxLoad))), at - f.img.Base
	}
	return nil, 0
}

// untilEnd cuts a table at its first entry of size 0.
func untilEnd(data []byte) []byte {
	for at := uint64(0); at+4 <= uint64(len(data)); {
		size := uint64(binary.LittleEndian.Uint32(data[at:]))
		if size == 0 {
			return data[:at]
		}
		if size == math.MaxUint32 && at+12 <= uint64(len(data)) {
			size = 8 + min(binary.LittleEndian.Uint64(data[at+4:]), uint64(len(data)))
		}
		at += 4 + size
	}
	return data
}

// Pointer encodings (DW_EH_PE) of the Linux Standard Base: the format in the
// low half, what it counts from in the next three bits.
const (
	peFormat   = 0x0f
	peULEB     = 0x01
	peU2       = 0x02
	peU4       = 0x03
	peU8       = 0x04
	peSLEB     = 0x09
	peS2       = 0x0a
	peS4       = 0x0b
	peS8       = 0x0c
	peRelative = 0x70
	pePCRel    = 0x10
	peIndirect = 0x80
	peOmit     = 0xff
)

// pointer reads an encoded pointer. Offsets of the cursor count from base, where
// the byte at va is.
func pointer(c *binfmt.Cursor, enc uint8, va uint64, base int64) uint64 {
	at := c.Offset()
	var v uint64
	switch enc & peFormat {
	case 0, peU8, peS8:
		v = c.U64()
	case peU4:
		v = uint64(c.U32())
	case peS4:
		v = uint64(int64(int32(c.U32())))
	case peU2:
		v = uint64(c.U16())
	case peS2:
		v = uint64(int64(int16(c.U16())))
	case peULEB:
		v = c.ULEB()
	case peSLEB:
		v = c.SLEB()
	default:
		c.FailAt(at, binfmt.ErrUnsupported, "a known pointer encoding", fmt.Sprintf("%#x", enc))
	}
	switch enc & peRelative {
	case 0:
	case pePCRel:
		v += va + uint64(at-base)
	default:
		c.FailAt(at, binfmt.ErrUnsupported, "an absolute or pc-relative pointer", fmt.Sprintf("encoding %#x", enc))
	}
	return v
}

// ehFrame returns the code of all frame description entries of a table at a
// link-time address, in their order, without those of size 0. An entry with a
// defect is left out; defects are kept up to a limit.
func ehFrame(data []byte, va uint64) (out []span, defects []error) {
	known := map[int]encodings{} // by position of the CIE
	fail := func(err error) { defects = keep(defects, err) }
	c := binfmt.NewCursor(data, ".eh_frame", 0)
	for c.Len() >= 4 {
		start := c.Pos()
		size := uint64(c.U32())
		if size == 0 {
			continue // the end of what one linker input brought
		}
		if size == math.MaxUint32 {
			size = c.U64()
		}
		bodyAt := c.Pos()
		body := c.Bytes(size)
		if c.Err() != nil {
			fail(c.Err())
			break
		}
		e := binfmt.NewCursor(body, fmt.Sprintf(".eh_frame entry at %#x", start), int64(bodyAt))
		back := int64(e.U32())
		if e.Err() == nil && back == 0 {
			enc := readCIE(e, va)
			if e.Err() != nil {
				fail(e.Err())
			} else {
				known[start] = enc
			}
			continue
		}
		enc, ok := known[bodyAt-int(back)]
		if !ok {
			e.FailAt(int64(bodyAt), binfmt.ErrCorrupt, "the distance to a CIE", fmt.Sprintf("%#x", back))
		}
		s := span{start: pointer(e, enc.code, va, 0)}
		s.size = pointer(e, enc.code&peFormat, 0, 0)
		if e.Err() != nil {
			fail(e.Err())
			continue
		}
		if enc.sized && enc.lsda != peOmit {
			e.ULEB() // size of what follows
			s.lsda = optional(e, enc.lsda, va)
			if e.Err() != nil {
				fail(e.Err())
			}
		}
		if s.size != 0 {
			out = append(out, s)
		}
	}
	return out, defects
}

// optional reads an encoded pointer in .eh_frame, at va, of which 0 says that
// there is none.
func optional(c *binfmt.Cursor, enc uint8, va uint64) uint64 {
	raw := *c
	if pointer(&raw, enc&peFormat, 0, 0) == 0 && raw.Err() == nil {
		return 0
	}
	return pointer(c, enc&^peIndirect, va, 0)
}

// encodings are what a common information entry says of its descriptions.
type encodings struct {
	code  uint8 // of code addresses
	lsda  uint8 // of the address of the language specific data
	sized bool  // there are augmentation data, with their size
}

// readCIE reads a common information entry as far as encodings go, which its
// augmentation may give.
func readCIE(c *binfmt.Cursor, va uint64) encodings {
	enc := encodings{lsda: peOmit}
	at := c.Offset()
	version := c.U8()
	if c.Err() == nil && version != 1 && version != 3 && version != 4 {
		c.FailAt(at, binfmt.ErrVersion, "1, 3 or 4", fmt.Sprint(version))
	}
	augmentation := c.CString()
	if version == 4 {
		c.Skip(2) // sizes of addresses and segment selectors
	}
	c.ULEB() // code alignment
	c.SLEB() // data alignment
	if version == 1 {
		c.U8() // column of the return address
	} else {
		c.ULEB()
	}
	if augmentation == "" {
		return enc
	}
	if augmentation[0] != 'z' {
		c.FailAt(at+1, binfmt.ErrUnsupported, `an augmentation that starts with "z"`, fmt.Sprintf("%q", augmentation))
		return enc
	}
	enc.sized = true
	c.ULEB() // size of what follows
	located := false
	for _, a := range augmentation[1:] {
		switch a {
		case 'R':
			enc.code, located = c.U8(), true
		case 'L':
			enc.lsda = c.U8()
		case 'P':
			if enc := c.U8(); enc != peOmit {
				pointer(c, enc&^peIndirect&^peRelative, va, 0) // personality routine
			}
		case 'S', 'B', 'G': // signal frame; keys of return addresses; tagged memory
		default:
			if !located {
				c.FailAt(at+1, binfmt.ErrUnsupported, "a known augmentation", fmt.Sprintf("%q", augmentation))
			}
			return enc
		}
	}
	return enc
}
