package binfmt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

// Cursor reads fields from a byte slice. The first defect sticks: from then
// on all reads return zero values and Err returns it. The zero Cursor is an
// empty little-endian input.
type Cursor struct {
	data []byte
	off  int
	base int64 // absolute offset of data[0]
	part string
	big  bool
	err  error
}

// NewCursor returns a little-endian cursor over data. Part names the
// structure in errors and base is the absolute offset of data[0] in its file.
func NewCursor(data []byte, part string, base int64) *Cursor {
	return &Cursor{data: data, part: part, base: base}
}

// BigEndian makes the cursor read integers in big-endian order if big is set.
func (c *Cursor) BigEndian(big bool) *Cursor {
	c.big = big
	return c
}

// Part names the structure that the next reads belong to, for errors.
func (c *Cursor) Part(name string) *Cursor {
	c.part = name
	return c
}

// Err returns the first defect, or nil. It is an *[Error].
func (c *Cursor) Err() error { return c.err }

// Len is the number of bytes left.
func (c *Cursor) Len() int { return len(c.data) - c.off }

// Pos is the position in the slice, in bytes from its start.
func (c *Cursor) Pos() int { return c.off }

// Offset is the absolute offset of the next byte.
func (c *Cursor) Offset() int64 { return c.base + int64(c.off) }

// Fail records a defect at the current position unless there is one already.
func (c *Cursor) Fail(kind error, want, got string) {
	c.FailAt(c.Offset(), kind, want, got)
}

// FailAt is Fail with the absolute offset of the field that is wrong.
func (c *Cursor) FailAt(off int64, kind error, want, got string) {
	if c.err == nil {
		c.err = &Error{Part: c.part, Offset: off, Want: want, Got: got, Err: kind}
	}
}

// Bytes returns the next n bytes, which alias the input; nil after a defect.
func (c *Cursor) Bytes(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(c.Len()) {
		c.Fail(ErrTruncated, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d", c.Len()))
		return nil
	}
	b := c.data[c.off : c.off+int(n) : c.off+int(n)]
	c.off += int(n)
	return b
}

// Skip steps over n bytes.
func (c *Cursor) Skip(n uint64) { c.Bytes(n) }

// Seek moves to a position in the slice; a position outside is a defect.
func (c *Cursor) Seek(pos uint64) {
	if c.err != nil {
		return
	}
	if pos > uint64(len(c.data)) {
		c.Fail(ErrTruncated, fmt.Sprintf("position %#x", pos), fmt.Sprintf("%#x bytes", len(c.data)))
		return
	}
	c.off = int(pos)
}

// U8 reads one byte.
func (c *Cursor) U8() uint8 {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads a 16-bit unsigned integer.
func (c *Cursor) U16() uint16 {
	if b := c.Bytes(2); b != nil {
		if c.big {
			return binary.BigEndian.Uint16(b)
		}
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 reads a 32-bit unsigned integer.
func (c *Cursor) U32() uint32 {
	if b := c.Bytes(4); b != nil {
		if c.big {
			return binary.BigEndian.Uint32(b)
		}
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// U64 reads a 64-bit unsigned integer.
func (c *Cursor) U64() uint64 {
	if b := c.Bytes(8); b != nil {
		if c.big {
			return binary.BigEndian.Uint64(b)
		}
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// ULEB reads an unsigned LEB128 number; what is beyond 64 bits is lost.
func (c *Cursor) ULEB() (v uint64) {
	for shift := uint(0); ; shift += 7 {
		b := c.U8()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
}

// SLEB reads a signed LEB128 number, in two's complement; what is beyond 64
// bits is lost.
func (c *Cursor) SLEB() (v uint64) {
	for shift := uint(0); ; {
		b := c.U8()
		v |= uint64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift < 64 {
				v |= math.MaxUint64 << shift
			}
			return v
		}
	}
}

// CString reads bytes up to a NUL, which it consumes; a missing NUL is a
// defect.
func (c *Cursor) CString() string {
	if c.err != nil {
		return ""
	}
	n := bytes.IndexByte(c.data[c.off:], 0)
	if n < 0 {
		c.Fail(ErrTruncated, "a NUL-terminated string", fmt.Sprintf("%d bytes without NUL", c.Len()))
		return ""
	}
	s := string(c.data[c.off : c.off+n])
	c.off += n + 1
	return s
}

// WString reads UTF-16 units up to a NUL unit, which it consumes, and returns
// them as UTF-8; a missing NUL is a defect.
func (c *Cursor) WString() string {
	if c.err != nil {
		return ""
	}
	for i := c.off; i+1 < len(c.data); i += 2 {
		if c.data[i] == 0 && c.data[i+1] == 0 {
			s := c.utf16(c.data[c.off:i])
			c.off = i + 2
			return s
		}
	}
	c.Fail(ErrTruncated, "a NUL-terminated UTF-16 string", fmt.Sprintf("%d bytes without NUL", c.Len()))
	return ""
}

func (c *Cursor) utf16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		if c.big {
			units[i] = binary.BigEndian.Uint16(b[2*i:])
		} else {
			units[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
	}
	return string(utf16.Decode(units))
}

// Count reads nothing: it checks that n elements of size bytes each still fit
// into what is left and returns n as an int, or 0 and a defect. Use it before
// a loop or an allocation that a count of the input governs.
func (c *Cursor) Count(n uint64, size int, what string) int {
	if c.err != nil {
		return 0
	}
	if size > 0 && n > uint64(c.Len()/size) {
		c.Fail(ErrTruncated, fmt.Sprintf("%d %s of %d bytes", n, what, size), fmt.Sprintf("%d bytes", c.Len()))
		return 0
	}
	return int(n)
}
