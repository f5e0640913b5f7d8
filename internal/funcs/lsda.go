package funcs

import (
	"errors"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// The language specific data area of a function, as GCC and LLVM make it for
// C++, Rust and others (the "LSDA" of the Itanium C++ ABI's exception handling):
//
//	encoding of the base of landing pads, base (absent: the function's start)
//	encoding of types, distance of the type table (absent: no types)
//	encoding of call sites, bytes of the call site table
//	call sites: start, length, landing pad (0: none), action (ULEB128)
//
// Starts count from the function's, landing pads from their base. Call sites
// ascend. Where LLVM makes a function of many parts, the table claims to go on up
// to that of the last part: what does not fit the part's code is not its own.
// Source:
// "Itanium C++ ABI: Exception Handling Tables" and the reader in libgcc.

// callSite is a piece of code with its landing pad, by link-time address.
type callSite struct {
	start, end, pad uint64
}

// lsdaHead is more than the header of an area has, and enough for most areas.
const lsdaHead = 4096

// maxLSDA bounds one area. The largest functions have a few 10 KB.
const maxLSDA = 1 << 26

// addLSDA reads the area at a link-time address, if there is one, of code at
// start.
func (f *finder) addLSDA(lsda, start, size uint64) {
	if lsda == 0 {
		return
	}
	sites, err := f.readLSDA(lsda-f.img.Base, start, size)
	if err != nil {
		f.report.Problems = keep(f.report.Problems, err)
		return
	}
	f.report.Exceptions.Tables++
	f.addSites(sites)
}

// readLSDA reads the area at an RVA.
func (f *finder) readLSDA(rva, start, size uint64) ([]callSite, error) {
	off, have, ok := f.img.FileOffset(rva)
	if !ok {
		return nil, noBytes("table of exceptions", uint32(rva))
	}
	data := make([]byte, min(have, lsdaHead))
	n, _ := f.img.Reader().ReadAt(data, int64(off))
	sites, need, err := decodeLSDA(data[:n], f.img.Base+rva, start, size, int64(off))
	var defect *binfmt.Error
	if errors.As(err, &defect) && defect.Err == binfmt.ErrTruncated && need > uint64(n) && need <= min(have, maxLSDA) {
		data = make([]byte, need)
		n, _ = f.img.Reader().ReadAt(data, int64(off))
		sites, need, err = decodeLSDA(data[:n], f.img.Base+rva, start, size, int64(off))
	}
	if err != nil {
		return nil, err
	}
	return sites, f.spend(need)
}

// decodeLSDA returns the call sites with landing pads of an area at va and at
// an offset of the file, of size bytes of code at start. Need is how much of the
// area is needed, or was used.
func decodeLSDA(data []byte, va, start, size uint64, offset int64) (sites []callSite, need uint64, err error) {
	c := binfmt.NewCursor(data, "table of exceptions", offset)
	base := start
	if enc := c.U8(); enc != peOmit {
		base = pointer(c, enc, va, offset)
	}
	if enc := c.U8(); enc != peOmit {
		c.ULEB()
	}
	enc := c.U8()
	if at := c.Offset() - 1; c.Err() == nil && enc&^peFormat != 0 {
		c.FailAt(at, binfmt.ErrUnsupported, "a plain encoding of call sites", fmt.Sprintf("%#x", enc))
	}
	n := c.ULEB()
	need = uint64(c.Pos())
	body := c.Bytes(n)
	if c.Err() != nil {
		return nil, need + min(n, maxLSDA), c.Err()
	}
	t := binfmt.NewCursor(body, "call sites of exceptions", offset+int64(need))
	last := uint64(0)
	for t.Len() > 0 {
		from, length := pointer(t, enc, 0, 0), pointer(t, enc, 0, 0)
		if t.Err() == nil && (from < last || from > size || length > size-from) {
			break
		}
		pad := pointer(t, enc, 0, 0)
		t.ULEB() // action
		if t.Err() != nil {
			return nil, need, t.Err()
		}
		last = from + length
		if pad != 0 {
			sites = append(sites, callSite{start + from, start + last, base + pad})
		}
	}
	return sites, need + uint64(t.Pos()), nil
}
