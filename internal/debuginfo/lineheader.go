package debuginfo

import (
	"encoding/binary"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// checkLineTable checks the header of the line table at an offset of the line
// section. The package debug/dwarf believes the numbers of folders and files in
// it, and makes room for as many before it reads them. Only DWARF 5 has such
// numbers (section 6.2.4).
func checkLineTable(section []byte, offset int64, order binary.ByteOrder) error {
	if offset < 0 || offset >= int64(len(section)) {
		return nil // refused where it is read
	}
	c := binfmt.NewCursor(section[offset:], "line table", offset).BigEndian(order == binary.BigEndian)
	length, address := uint64(c.U32()), 4
	if length == 0xffffffff {
		length, address = c.U64(), 8
	}
	if length > uint64(c.Len()) {
		c.Fail(binfmt.ErrTruncated, fmt.Sprintf("%d bytes", length), fmt.Sprint(c.Len()))
		return c.Err()
	}
	if c.U16() < 5 {
		return c.Err()
	}
	c.Skip(2)               // sizes of addresses and segments
	c.Skip(uint64(address)) // length of the header
	c.Skip(5)               // of instructions and lines
	if opcodes := c.U8(); opcodes > 0 {
		c.Skip(uint64(opcodes) - 1)
	}
	for _, what := range []string{"folders", "files"} {
		forms := make([]uint64, c.U8())
		for i := range forms {
			c.ULEB() // what it is
			forms[i] = c.ULEB()
		}
		at := c.Offset()
		n := c.ULEB()
		if n > 0 && len(forms) == 0 {
			c.FailAt(at, binfmt.ErrCorrupt, "no "+what+", since nothing is said of them", fmt.Sprint(n))
		}
		for range c.Count(n, len(forms), what) {
			for _, form := range forms {
				skipForm(c, form, address)
			}
		}
	}
	return c.Err()
}

// skipForm steps over a value of a line table's header.
func skipForm(c *binfmt.Cursor, form uint64, address int) {
	switch form {
	case 0x08: // string
		c.CString()
	case 0x0e, 0x1f: // strp, line_strp
		c.Skip(uint64(address))
	case 0x09: // block
		c.Skip(c.ULEB())
	case 0x0f: // udata
		c.ULEB()
	case 0x0b: // data1
		c.Skip(1)
	case 0x05: // data2
		c.Skip(2)
	case 0x06: // data4
		c.Skip(4)
	case 0x07: // data8
		c.Skip(8)
	case 0x1e: // data16
		c.Skip(16)
	default:
		c.Fail(binfmt.ErrUnsupported, "a form that line tables have", fmt.Sprintf("%#x", form))
	}
}
