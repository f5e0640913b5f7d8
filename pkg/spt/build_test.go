package spt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// The files of the tests are put together here byte by byte from the
// documented layout, without the package's own encoder.

// dataStart is where the data stream of smallFile begins.
const dataStart = 0x60

var (
	guidA = binfmt.GUID{0x5B, 0x94, 0x4C, 0x88, 0x84, 0xFE, 0x17, 0xB7, 0x4C, 0x4C, 0x44, 0x20, 0x50, 0x44, 0x42, 0x2E}
	guidB = binfmt.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

func u16(v uint16) []byte { return binary.LittleEndian.AppendUint16(nil, v) }
func u32(v ...uint32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

// smallFile is a file of two programs whose tables are as small as can be:
//
//	0x00  header
//	0x20  strings "a.exe", "b.dll", 4 unused bytes
//	0x30  two program ids
//	0x60  data stream
func smallFile(stream ...[]byte) []byte {
	return cat(
		[]byte{0x3A, 0x54, 0x50, 0x53}, u32(1, 0, 0, 0x20, 0x30), u16(12), u16(16), u16(2), u16(2),
		[]byte("a.exe\x00b.dll\x00\x00\x00\x00\x00"),
		guidA[:], u32(1, 0),
		guidB[:], u32(7, 6),
		cat(stream...))
}

// segment is a BINARY_ID with the length that its items have.
func segment(index uint16, items ...[]byte) []byte {
	data := cat(items...)
	return cat(binaryID(0, index, uint32(len(data))+4), data)
}

func binaryID(pad byte, index uint16, length uint32) []byte {
	return cat([]byte{0x81, pad}, u16(index), u32(length))
}

func repeat(pad byte, count uint64) []byte { return cat([]byte{0x82, pad}, u64(count)) }

// entries is a record whose RVAs, or the To and From of whose pairs, are v.
func entries(op byte, n byte, v ...uint32) []byte { return cat([]byte{op, n}, u32(v...)) }

// oddFile has everything that is allowed but unusual: reserved fields, gaps
// before and between the tables, dirty unused capacity, a string without NUL
// that is no UTF-8, a string index in the middle of a string, paddings, REPEATs
// of 0 and of the greatest count, an empty segment, a call stack of one frame,
// and indices that count from 1.
func oddFile() []byte { return oddFileOf(255) }

// oddFileOf has an LBR record of so many pairs; fuzzing wants small seeds.
func oddFileOf(pairs int) []byte {
	full := make([]uint32, 2*pairs)
	for i := range full {
		full[i] = uint32(i) * 0x01010101
	}
	return cat(
		[]byte{0x3A, 0x54, 0x50, 0x53}, u32(1, 0xAABBCCDD, 0x8664, 0x28, 0x48), u16(14), u16(20), u16(2), u16(3),
		[]byte("gap 1!\x00\x00"),                                  // 0x20
		[]byte("a.exe\x00\x00d\xFF\"#\n\\z"), []byte("dirty\x00"), // 0x28, used up to 0x36
		[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}, // 0x3C
		guidA[:], u32(1, 0), // 0x48
		guidB[:], u32(0xFFFFFFFF, 3), // 0x60
		[]byte("\x00unused program id..\x00\x00\x00\x00"),            // 0x78
		segment(1, repeat(0xEE, 0), entries(0x01, 2, 0, 0xFFFFFFFF)), // 0x90
		segment(2),
		binaryID(0x7F, 2, uint32(4+10+2+8*pairs+6)), repeat(0, 1<<64-1), entries(0x10, byte(pairs), full...), entries(0x42, 1, 5),
		segment(2, entries(0x41, 1, 9)),
	)
}

// readers opens a file in every way, with buffers that hold it and buffers that
// do not.
var readers = []struct {
	name string
	open func(data []byte, opts *Options) (*Reader, error)
}{
	{"file", func(data []byte, o *Options) (*Reader, error) {
		return NewReader(bytes.NewReader(data), int64(len(data)), o)
	}},
	{"stream", func(data []byte, o *Options) (*Reader, error) { return NewStreamReader(bytes.NewReader(data), o) }},
	{"file, small buffer", func(data []byte, o *Options) (*Reader, error) {
		at := bytes.NewReader(data)
		return newReader(newSource(io.NewSectionReader(at, 0, at.Size()), at.Size(), maxSample), at, o)
	}},
	{"stream, small buffer, short reads", func(data []byte, o *Options) (*Reader, error) {
		return newReader(newSource(&shortReader{data: data}, -1, maxSample), nil, o)
	}},
}

// shortReader gives a few bytes at a time, sometimes none.
type shortReader struct {
	data []byte
	n    int
}

func (s *shortReader) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	s.n = (s.n + 5) % 8
	n := copy(p[:min(len(p), s.n)], s.data)
	s.data = s.data[n:]
	return n, nil
}

func open(t testing.TB, data []byte, opts *Options) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), int64(len(data)), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// item is a copy of an item that outlives the reader.
type item struct {
	Record
	Segment Segment
}

func items(r *Reader) (list []item) {
	for r.NextItem() {
		i := item{*r.Record(), r.Segment()}
		i.RVAs = slices.Clone(i.RVAs)
		i.Pairs = slices.Clone(i.Pairs)
		list = append(list, i)
	}
	return list
}

// wantError checks kind and offset of an error.
func wantError(t *testing.T, err, kind error, offset int64) {
	t.Helper()
	var e *binfmt.Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("got %v, want the kind %q", err, kind)
	}
	if e.Offset != offset {
		t.Errorf("offset %#x, want %#x: %v", e.Offset, offset, err)
	}
	if e.Part == "" || e.Want == "" || e.Got == "" {
		t.Errorf("part, want or got is missing: %#v", e)
	}
}
