package spd

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func TestDamageIsRefusedWithOffset(t *testing.T) {
	data := encode(t, profiledFile())
	base := int(le.Uint32(data[0x38:]))                    // module header
	table := base + moduleHeaderSize                       // hash table
	records := base + int(le.Uint32(data[base+0x0c:]))     // function records
	names := base + int(le.Uint32(data[base+0x30:]))       // symbol names
	graph := records + int(le.Uint32(data[records+0x1c:])) // of the first function
	mid := records + int(le.Uint32(data[records+0x10:]))   // second function, with an inlinee in its second block
	midGraph := mid + int(le.Uint32(data[mid+0x1c:]))
	midCallees := mid + functionHeaderSize
	inlinee := midGraph + blockHeaderSize + edgeSize + blockHeaderSize + rangeSize
	empty := table // an empty bucket
	for le.Uint64(data[empty:]) != 0 {
		empty += symbolEntrySize
	}
	used := table // a bucket that is not
	for le.Uint64(data[used:]) == 0 {
		used += symbolEntrySize
	}

	for _, c := range []struct {
		name   string
		at     int
		value  uint32
		kind   error
		offset int // where the error is, if not at the field
		text   string
	}{
		{"signature", 0, 0x12345678, binfmt.ErrMagic, 0, "H_Q_"},
		{"version", 4, 0x100d, binfmt.ErrVersion, 0, "0x100d"},
		{"hash of the binary name", 0x18, 1, binfmt.ErrCorrupt, 0, "hash of the binary name"},
		{"header size", 0x20, 0x70, binfmt.ErrCorrupt, 0, "header: size"},
		{"module table offset", 0x28, 0x78, binfmt.ErrCorrupt, 0, "module table offset"},
		{"module count", 0x2c, math.MaxUint32, binfmt.ErrCorrupt, 0x30, "string pool offset"},
		{"string pool size", 0x34, math.MaxUint32, binfmt.ErrCorrupt, 0x38, "module data offset"},
		{"module name offset", 0x74, 0, binfmt.ErrCorrupt, 0, "module table: name offset"},
		{"module data offset", 0x78, 4, binfmt.ErrCorrupt, 0, "module table: data offset"},
		{"unpaired surrogate", 0x80, 0xd800d800, binfmt.ErrCorrupt, 0, "surrogate"},
		{"module size", base, 8, binfmt.ErrCorrupt, 0, "module header: size"},
		{"function record offset", base + 0x0c, 0, binfmt.ErrCorrupt, 0, "function record offset"},
		{"function record size", base + 0x10, math.MaxUint32, binfmt.ErrCorrupt, base + 0x14, "data profile offset"},
		{"function count too high", base + 0x1c, math.MaxUint32, binfmt.ErrCorrupt, 0, "function count"},
		{"function count too low", base + 0x1c, 1, binfmt.ErrCorrupt, used + symbolEntrySize, "one more"},
		{"hash table offset", base + 0x24, 0, binfmt.ErrCorrupt, 0, "hash table offset"},
		{"hash table size", base + 0x28, math.MaxUint32, binfmt.ErrCorrupt, base + 0x0c, "function record offset"},
		{"no buckets", base + 0x2c, 0, binfmt.ErrCorrupt, 0, "bucket count"},
		{"too many buckets", base + 0x2c, math.MaxUint32, binfmt.ErrCorrupt, 0, "bucket count"},
		{"other buckets", base + 0x2c, 60, binfmt.ErrCorrupt, -1, "hash table"},
		{"empty bucket", empty + 8, 1, binfmt.ErrCorrupt, 0, "empty bucket"},
		{"id in the table", used, 77, binfmt.ErrCorrupt, -1, ""},
		{"name offset", used + 8, 0xffff, binfmt.ErrCorrupt, 0, "name offset"},
		{"record offset", used + 0x1c, math.MaxUint32, binfmt.ErrCorrupt, -1, ""},
		{"chain", used + 0x20, 4, binfmt.ErrCorrupt, 0, "next entry"},
		{"id of a record", records, 1, binfmt.ErrCorrupt, 0, "id 0x"},
		{"record size", records + 0x10, math.MaxUint32, binfmt.ErrCorrupt, 0, "record size"},
		{"flow graph offset", records + 0x1c, 0, binfmt.ErrCorrupt, 0, "offset of the flow graph"},
		{"flow graph size", records + 0x30, math.MaxUint32, binfmt.ErrCorrupt, records + 0x44, "offset of the machine callees"},
		{"block count", records + 0x34, math.MaxUint32, binfmt.ErrTruncated, graph, "blocks of 36 bytes"},
		{"one block less", records + 0x34, 2, binfmt.ErrCorrupt, -1, "flow graph: offset"},
		{"edge count", records + 0x38, math.MaxUint32, binfmt.ErrCorrupt, 0, "number of edges"},
		{"callee offset", records + 0x3c, 0x50, binfmt.ErrCorrupt, 0, "offset of the callees"},
		{"callee size", mid + 0x40, math.MaxUint32, binfmt.ErrCorrupt, mid + 0x1c, "offset of the flow graph"},
		{"machine callee size", mid + 0x48, 0, binfmt.ErrCorrupt, 0, "size of the machine callees"},
		{"call sites", midCallees + 20, math.MaxUint32, binfmt.ErrTruncated, midCallees + 24, "call sites"},
		{"one call site more", midCallees + 20, 2, binfmt.ErrCorrupt, -1, "callees"},
		{"block id", graph, 2, binfmt.ErrCorrupt, 0, "block 1: block id"},
		{"edges of a block", graph + 0x14, math.MaxUint32, binfmt.ErrTruncated, graph + 36, "block 1: edges"},
		{"ranges of a block", graph + 0x18, math.MaxUint32, binfmt.ErrTruncated, graph + 36, "block 1: ranges"},
		{"indirect sites of a block", graph + 0x1c, math.MaxUint32, binfmt.ErrTruncated, graph + 36, "indirect call sites"},
		{"inlinees of a block", graph + 0x20, math.MaxUint32, binfmt.ErrCorrupt, graph + 36, "block 1: inlinees"},
		{"edge target", graph + 36, 5, binfmt.ErrCorrupt, 0, "block 1: edge target"},
		{"inlinee size", inlinee + 12, math.MaxUint32, binfmt.ErrCorrupt, inlinee + 16, "block 2: inlinees"},
		{"inlinee size off", inlinee + 12, 4, binfmt.ErrCorrupt, inlinee + 16, "block 2: inlined blocks"},
		{"inlined ranges", inlinee + 16 + 12, math.MaxUint32, binfmt.ErrTruncated, inlinee + 40, "block 2: ranges"},
		{"nested inlinee size", inlinee + 16 + 20, math.MaxUint32, binfmt.ErrCorrupt, inlinee + 48, "block 2: inlinees"},
		{"first byte of the names", names, 'a', binfmt.ErrCorrupt, 0, "first byte"},
		{"name without NUL", len(data) - 4, 0x61616161, binfmt.ErrTruncated, -1, "without NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := bytes.Clone(data)
			le.PutUint32(bad[c.at:], c.value)
			_, err := parse(bad)
			var e *binfmt.Error
			if !errors.As(err, &e) || !errors.Is(err, c.kind) {
				t.Fatalf("got %v, want an error of kind %q", err, c.kind)
			}
			want := c.offset
			if want == 0 {
				want = c.at
			}
			if want > 0 && e.Offset != int64(want) {
				t.Errorf("%v: at %#x, want %#x", err, e.Offset, want)
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v: want %q in it", err, c.text)
			}
		})
	}
}

func TestWrongLengthIsRefused(t *testing.T) {
	data := smallRecorded(t)
	if _, err := parse(append(bytes.Clone(data), 0, 0, 0, 0)); !errors.Is(err, binfmt.ErrCorrupt) {
		t.Errorf("with bytes behind: %v", err)
	}
	const cuts = 2000
	for k := range cuts {
		n := len(data) * k / cuts
		_, err := parse(data[:n])
		var e *binfmt.Error
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(n) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if !errors.Is(err, binfmt.ErrTruncated) {
			t.Errorf("cut to %d bytes: %v, want a truncation", n, err)
		}
	}
}

// sameButStatistics compares bytes except for the header statistics, which a
// writer corrects.
func sameButStatistics(a, b []byte) bool {
	return len(a) == len(b) && bytes.Equal(a[:0x5c], b[:0x5c]) && bytes.Equal(a[0x70:], b[0x70:])
}

// checkReading demands that bytes are refused with an offset or read in a way
// that gives them back; the latter is tested if back is set.
func checkReading(t *testing.T, data []byte, back bool) {
	f, err := parse(data)
	if err != nil {
		var e *binfmt.Error
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(data)) || e.Part == "" {
			t.Errorf("error without its place: %v", err)
		}
		return
	}
	if !back {
		return
	}
	b := bytes.NewBuffer(make([]byte, 0, len(data)))
	if err := Write(b, f); err != nil {
		t.Errorf("what was read cannot be written: %v", err)
	} else if !sameButStatistics(b.Bytes(), data) {
		t.Error("writing what was read gives other bytes")
	}
}

// TestEveryByteChanged changes each byte of a file to another value. Of a
// small file it takes seven values and writes all readings back; of a recorded
// one it takes one value and writes every fifth reading back, with SPGO_LONG=1
// as for the small file.
func TestEveryByteChanged(t *testing.T) {
	t.Run("made", func(t *testing.T) { changeEveryByte(t, encode(t, smallFile()), true) })
	t.Run("recorded", func(t *testing.T) { changeEveryByte(t, smallRecorded(t), os.Getenv("SPGO_LONG") != "") })
}

func changeEveryByte(t *testing.T, data []byte, thorough bool) {
	masks := []byte{0x01, 0x80, 0xff, 0x04, 0x10, 0x40, 0x55}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // it makes much garbage
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			bad := bytes.Clone(data)
			for i := w; i < len(data) && !t.Failed(); i += workers {
				for k, mask := range masks {
					if !thorough && k != i/4%len(masks) {
						continue
					}
					bad[i] = data[i] ^ mask
					checkReading(t, bad, thorough || i%5 == 0)
					if t.Failed() {
						t.Errorf("byte %#x changed by %#x", i, mask)
						return
					}
				}
				bad[i] = data[i]
			}
		})
	}
	wg.Wait()
}

// TestHostileNumbersAllocateLittle sets each 32-bit word to huge values. What
// a reader allocates stays in proportion to the file.
func TestHostileNumbersAllocateLittle(t *testing.T) {
	data := encode(t, profiledFile())
	bad := bytes.Clone(data)
	var before, after runtime.MemStats
	for _, v := range []uint32{math.MaxUint32, math.MaxInt32, 1 << 24, uint32(len(data))} {
		for i := 0; i+4 <= len(data); i += 4 {
			le.PutUint32(bad[i:], v)
			runtime.ReadMemStats(&before)
			_, _ = parse(bad)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 12*uint64(len(data)) {
				t.Fatalf("word at %#x set to %#x: %d bytes allocated for a file of %d", i, v, n, len(data))
			}
			copy(bad[i:], data[i:i+4])
		}
	}
}

func TestInliningTooDeepIsRefused(t *testing.T) {
	f := profiledFile()
	b := &f.Modules[0].Functions[1].Blocks[1].Inlinees[0].Blocks[0]
	for range maxInlineDepth - 1 {
		b.Inlinees = []Inlinee{{ID: leafID, Blocks: []InlinedBlock{{ID: 2}}}}
		b = &b.Inlinees[0].Blocks[0]
	}
	data := encode(t, f)
	if !bytes.Equal(encode(t, decode(t, data)), data) {
		t.Error("inlinees at the limit do not survive")
	}
	b.Inlinees = []Inlinee{{ID: leafID, Blocks: []InlinedBlock{{ID: 2}}}}
	if err := Write(&bytes.Buffer{}, f); !errors.Is(err, binfmt.ErrLimit) || !strings.Contains(err.Error(), `"mid": block 2`) {
		t.Errorf("writing one level more: %v", err)
	}

	var area []byte
	for range maxInlineDepth + 1 {
		inlinee := binfmt.AppendU32(binfmt.AppendU64(nil, uint64(leafID)), 0)
		inlinee = binfmt.AppendU32(inlinee, uint32(inlinedBlockHeaderSize+len(area)))
		inlinee = append(inlinee, make([]byte, inlinedBlockHeaderSize-4)...)
		area = append(binfmt.AppendU32(inlinee, uint32(len(area))), area...)
	}
	d := decoder{checker: checker{binfmt.NewCursor(area, "", 0)}, record: area}
	d.readInlinees(uint64(len(area)), uint64(len(area)), 1)
	if !errors.Is(d.Err(), binfmt.ErrLimit) {
		t.Errorf("reading one level more: %v", d.Err())
	}
}

func TestModelsThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*File)
		kind  error
		text  string
	}{
		{"id 0", func(f *File) { f.Modules[0].Functions[1].ID = 0 }, binfmt.ErrCorrupt, `function "mid": id`},
		{"NUL in a name", func(f *File) { f.Modules[0].Functions[1].Name = "a\x00b" }, binfmt.ErrCorrupt, "NUL"},
		{"NUL in the binary name", func(f *File) { f.Header.Binary = "a\x00b" }, binfmt.ErrCorrupt, "binary name"},
		{"module name not UTF-8", func(f *File) { f.Modules[0].Name = "\xff" }, binfmt.ErrCorrupt, "module name"},
		{"edge to nowhere", func(f *File) { f.Modules[0].Functions[1].Blocks[2].Edges[0].To = 6 }, binfmt.ErrCorrupt, "block 3: edge: want a block from 1 to 5, got 6"},
		{"edge to 0", func(f *File) { f.Modules[0].Functions[1].Blocks[2].Edges[0].To = 0 }, binfmt.ErrCorrupt, "block 3: edge"},
		{"long range", func(f *File) { f.Modules[0].Functions[1].Blocks[2].Ranges[0].Length = 1 << 31 }, binfmt.ErrLimit, "range length"},
		{"far call", func(f *File) { f.Modules[0].Functions[3].Blocks[2].Indirect[0].Offset = 1 << 28 }, binfmt.ErrLimit, "offset of an indirect call"},
		{"long call", func(f *File) { f.Modules[0].Functions[3].Blocks[2].Indirect[0].Length = 16 }, binfmt.ErrLimit, "length of an indirect call"},
		{"buckets", func(f *File) { f.Modules[0].HashBuckets = math.MaxUint32 }, binfmt.ErrLimit, "hash buckets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := profiledFile()
			c.spoil(f)
			var b bytes.Buffer
			err := Write(&b, f)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %q", err, c.text)
			}
			if b.Len() > 0 {
				t.Errorf("%d bytes written nevertheless", b.Len())
			}
		})
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none.spd")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	data := encode(t, profiledFile())
	base := le.Uint32(data[0x38:])
	records := base + le.Uint32(data[base+0x0c:])
	name := filepath.Join(t.TempDir(), "bad.spd")
	for at, what := range map[uint32]string{4: "header", records: "record", base + moduleHeaderSize + 4: "symbol"} {
		bad := bytes.Clone(data)
		bad[at] ^= 0xff
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		var e *binfmt.Error
		if _, err := ReadFile(name); !errors.As(err, &e) || e.File != name {
			t.Errorf("damaged %s: %v, want the name of the file", what, err)
		}
	}
}

// brokenReader fails behind an offset.
type brokenReader struct {
	io.ReaderAt
	good int64
}

var errBroken = errors.New("read error")

func (r brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.good {
		return 0, errBroken
	}
	return r.ReaderAt.ReadAt(p, off)
}

func TestReadErrorsComeBack(t *testing.T) {
	f := profiledFile()
	f.Modules[0].DataProfile = []byte("data") // behind the records
	data := encode(t, f)
	base := int64(le.Uint32(data[0x38:]))
	for _, good := range []int64{0, headerSize, base, base + moduleHeaderSize, base + int64(le.Uint32(data[base+0x0c:])) + 1, int64(len(data)) - 1} {
		r, err := NewReader(brokenReader{bytes.NewReader(data), good}, int64(len(data)))
		if err == nil {
			_, err = r.Read()
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("good up to %#x: %v", good, err)
		}
	}
	// A reader that has less than it was said to have.
	if _, err := NewReader(bytes.NewReader(data[:0x40]), int64(len(data))); !errors.Is(err, binfmt.ErrTruncated) {
		t.Errorf("short reader: %v", err)
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteErrorsComeBack(t *testing.T) {
	f := profiledFile()
	writers := map[string]func(*failingWriter) error{
		"Write":     func(w *failingWriter) error { return Write(w, f) },
		"WriteText": func(w *failingWriter) error { return WriteText(w, f) },
		"WriteJSON": func(w *failingWriter) error { return WriteJSON(w, f, JSONOptions{}) },
	}
	for name, write := range writers {
		for _, n := range []int{0, 0x80, 3000} {
			if err := write(&failingWriter{left: n}); !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d bytes: %v", name, n, err)
			}
		}
	}
}
