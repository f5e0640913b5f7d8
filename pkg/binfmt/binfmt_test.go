package binfmt

import (
	"encoding/hex"
	"errors"
	"io"
	"math"
	"testing"
)

func TestCursorSticksToFirstDefect(t *testing.T) {
	c := NewCursor([]byte{1, 0, 2, 0, 0, 0, 9}, "header", 0x100)
	if got := c.U16(); got != 1 {
		t.Errorf("U16 = %d, want 1", got)
	}
	if got := c.U32(); got != 2 {
		t.Errorf("U32 = %d, want 2", got)
	}
	if got := c.U64(); got != 0 {
		t.Errorf("U64 past the end = %d, want 0", got)
	}
	if got := c.U8(); got != 0 {
		t.Errorf("U8 after a defect = %d, want 0", got)
	}
	var e *Error
	if err := c.Err(); !errors.As(err, &e) || !errors.Is(err, ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("Err = %v, want a truncation", err)
	}
	if e.Offset != 0x106 || e.Part != "header" {
		t.Errorf("defect in %q at %#x, want header at 0x106", e.Part, e.Offset)
	}
}

func TestCursorStringsAndOrder(t *testing.T) {
	b := AppendWString(AppendCString(nil, "abc"), "Zoë𝄞")
	c := NewCursor(append(b, 0x12, 0x34), "s", 0)
	if got := c.CString(); got != "abc" {
		t.Errorf("CString = %q", got)
	}
	if got := c.WString(); got != "Zoë𝄞" {
		t.Errorf("WString = %q", got)
	}
	if got := c.BigEndian(true).U16(); got != 0x1234 {
		t.Errorf("big-endian U16 = %#x", got)
	}
	if c.CString(); !errors.Is(c.Err(), ErrTruncated) {
		t.Errorf("string without NUL: %v", c.Err())
	}
}

func TestCursorCountRefusesHostileCounts(t *testing.T) {
	for _, n := range []uint64{3, 1 << 31, math.MaxUint64} {
		c := NewCursor(make([]byte, 16), "table", 0)
		if got := c.Count(n, 8, "entries"); got != 0 || !errors.Is(c.Err(), ErrTruncated) {
			t.Errorf("Count(%d) = %d, %v; want a truncation", n, got, c.Err())
		}
	}
	c := NewCursor(make([]byte, 16), "table", 0)
	if got := c.Count(2, 8, "entries"); got != 2 || c.Err() != nil {
		t.Errorf("Count(2) = %d, %v", got, c.Err())
	}
}

func TestErrorText(t *testing.T) {
	err := InFile(&Error{Part: "buffer 17: event size", Offset: 0x1a40, Want: "at least 80", Got: "12", Err: ErrCorrupt}, "cpu.etl")
	const want = "cpu.etl: buffer 17: event size: offset 0x1a40: want at least 80, got 12: corrupt"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestGUID(t *testing.T) {
	const text = "{884C945B-FE84-B717-4C4C-44205044422E}"
	g, err := ParseGUID(text)
	if err != nil || g.String() != text {
		t.Fatalf("ParseGUID = %v, %v", g, err)
	}
	if g[0] != 0x5b || g[8] != 0x4c || g[15] != 0x2e {
		t.Errorf("binary layout %x", g[:])
	}
	for _, bad := range []string{"", "{}", "884C945B-FE84-B717-4C4C-44205044422", "884C945B-FE84-B717-4C4C-44205044422G"} {
		if _, err := ParseGUID(bad); err == nil {
			t.Errorf("ParseGUID(%q) succeeded", bad)
		}
	}
}

func TestSaturation(t *testing.T) {
	const max = math.MaxUint64
	if SatAdd(max, 1) != max || SatAdd(2, 3) != 5 || SatMul(1<<40, 1<<40) != max || SatMul(6, 7) != 42 {
		t.Error("saturating arithmetic is wrong")
	}
}

// The examples of DWARF 5, section 7.6, and what is longer than 64 bits or cut.
func TestLEB128(t *testing.T) {
	for _, tc := range []struct {
		hex      string
		unsigned uint64
		signed   int64
		left     int
	}{
		{"02", 2, 2, 0},
		{"7f", 127, -1, 0},
		{"7e", 126, -2, 0},
		{"ff00", 127, 127, 0},
		{"8001", 128, 128, 0},
		{"807f", 0x3f80, -128, 0},
		{"817f", 0x3f81, -127, 0},
		{"ff7e", 0x3f7f, -129, 0},
		{"b96499", 12857, 12857 - 1<<14, 1},
		{"ffffffffffffffffff01", 1<<64 - 1, -1, 0},
		{"80808080808080808080808001", 0, 0, 0},
	} {
		b, err := hex.DecodeString(tc.hex)
		if err != nil {
			t.Fatal(err)
		}
		c := NewCursor(b, "number", 0)
		if got := c.ULEB(); got != tc.unsigned || c.Len() != tc.left || c.Err() != nil {
			t.Errorf("%s: got %d, %d bytes left, %v", tc.hex, got, c.Len(), c.Err())
		}
		c = NewCursor(b, "number", 0)
		if got := int64(c.SLEB()); got != tc.signed || c.Len() != tc.left || c.Err() != nil {
			t.Errorf("%s signed: got %d, %d bytes left, %v", tc.hex, got, c.Len(), c.Err())
		}
	}
	c := NewCursor([]byte{0x80, 0x80}, "number", 0x10)
	var e *Error
	if c.ULEB(); !errors.As(c.Err(), &e) || e.Err != ErrTruncated || e.Offset != 0x12 {
		t.Errorf("cut: %v", c.Err())
	}
}
