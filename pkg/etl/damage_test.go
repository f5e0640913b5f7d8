package etl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// readAll reads a file through, decodes every payload and says how many
// records came out.
func readAll(f *File) (records int, damage Damage, err error) {
	dec := f.NewDecoder(AllClasses)
	for i := range f.Buffers() {
		it := dec.Buffer(i)
		for it.Next() {
			records++
			_, _ = decodeAny(it.Record()) // may fail, must not panic
			for range it.Record().Items() {
			}
			it.Record().Counters(nil)
		}
		if e := it.Err(); e != nil {
			var where *binfmt.Error
			if !IsDamage(e) || !errors.As(e, &where) {
				return records, dec.Damage, fmt.Errorf("no place for the defect: %w", e)
			}
		}
	}
	damage = dec.Damage
	damage.Add(&f.Damage)
	m := NewMerge([]*File{f}, AllClasses)
	for m.Next() {
	}
	return records, damage, m.Err()
}

// smallTraces are files of the writer, one of each make, of a few buffers.
func smallTraces(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	for _, kind := range []string{"lbr", "pmc", "timer"} {
		for _, compress := range []bool{false, true} {
			tr := testTrace(kind, 8, 12)
			tr.BufferSize, tr.Compress = 2048, compress
			files[fmt.Sprintf("%s compress=%v", kind, compress)] = writeTrace(t, tr)
		}
	}
	tr := testTrace("lbr", 4, 12)
	tr.BufferSize = 1024
	files["32 bits"] = writeTrace(t, tr)
	return files
}

// TestFlippedBytes flips every byte of the first two buffers of small files,
// in two ways. The reader must come back with an error of a known kind, or
// with records and counted losses.
func TestFlippedBytes(t *testing.T) {
	files := smallTraces(t)
	for _, name := range []string{"lbr compress=false", "pmc compress=true", "32 bits"} {
		data := files[name]
		whole := openBytes(t, data)
		want, _, err := readAll(whole)
		if err != nil {
			t.Fatal(err)
		}
		second := whole.Buffers()[1]
		packed, frame := second.Compressed(), framing(t, whole)
		end := int(second.Offset) + int(second.Stored)
		for at := range end {
			for _, flip := range []byte{0xFF, 1 << (at % 8)} {
				bad := bytes.Clone(data)
				bad[at] ^= flip
				f, err := NewReader(bytes.NewReader(bad), int64(len(bad)), nil)
				if err != nil {
					if !IsDamage(err) && !errors.Is(err, binfmt.ErrMagic) || !frame[at] {
						t.Errorf("%s: byte %#x: %v", name, at, err)
					}
					continue
				}
				got, damage, err := readAll(f)
				if err != nil {
					t.Fatalf("%s: byte %#x: %v", name, at, err)
				}
				if !packed && !frame[at] && (got != want || damage != (Damage{})) {
					t.Errorf("%s: byte %#x ^ %#x: %d of %d records, %v", name, at, flip, got, want, damage)
				}
			}
		}
	}
}

// framing marks the bytes of the first two buffers that say where buffers and
// records start and end. A flip of any other must not cost a record.
func framing(t *testing.T, f *File) map[int]bool {
	t.Helper()
	frame := map[int]bool{}
	for i, b := range f.Buffers()[:2] {
		for k := range bufferHeaderSize {
			frame[int(b.Offset)+k] = true
		}
		for it := f.NewDecoder(AllClasses).Buffer(i); it.Next(); {
			for k := range 8 { // marker, size, version word, hook
				frame[int(b.Offset)+it.Record().Offset+k] = true
			}
		}
	}
	return frame
}

// TestTruncations cuts files in 500 places.
func TestTruncations(t *testing.T) {
	for name, data := range smallTraces(t) {
		last := -1
		for i := range 500 {
			n := len(data) * i / 500
			f, err := NewReader(bytes.NewReader(data[:n]), int64(n), nil)
			if err != nil {
				if !errors.Is(err, binfmt.ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%s: %d bytes: %v", name, n, err)
				}
				continue
			}
			got, damage, err := readAll(f)
			if err != nil {
				t.Fatalf("%s: %d bytes: %v", name, n, err)
			}
			if got < last {
				t.Errorf("%s: %d bytes hold %d records, fewer than a shorter file's %d", name, n, got, last)
			}
			last = got
			atEnd := len(f.Buffers()) > 0 && end(f.Buffers()[len(f.Buffers())-1]) == int64(n)
			if (f.Defect() == nil) != atEnd || !atEnd && !errors.Is(f.Defect(), binfmt.ErrTruncated) {
				t.Errorf("%s: %d bytes: defect %v", name, n, f.Defect())
			}
			if !atEnd && damage == (Damage{}) {
				t.Errorf("%s: %d bytes: nothing counted", name, n)
			}
		}
	}
}

func end(b Buffer) int64 { return b.Offset + int64(b.Size) }

// TestSwappedBuffers reads a file whose buffers lie in another order, as in
// a circular file that wrapped. The merge must not notice.
func TestSwappedBuffers(t *testing.T) {
	tr := testTrace("lbr", 8, 200)
	data := writeTrace(t, tr)
	f := openBytes(t, data)
	want := mergeTimes(t, f)
	n := len(f.Buffers())
	for _, shift := range []int{1, 2, n / 2, n - 2} {
		size := int(f.Header.BufferSize)
		swapped := bytes.Clone(data[:size]) // the header buffer stays
		at := size * (1 + shift)
		swapped = append(append(swapped, data[at:]...), data[size:at]...)
		got := mergeTimes(t, openBytes(t, swapped))
		if len(got) != len(want) {
			t.Fatalf("shift %d: %d of %d records", shift, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("shift %d: record %d differs: %s, want %s", shift, i, got[i], want[i])
			}
		}
	}
}

func mergeTimes(t *testing.T, f *File) []string {
	t.Helper()
	var list []string
	m := NewMerge([]*File{f}, AllClasses)
	for m.Next() {
		list = append(list, describe(t, m.Record()))
	}
	if m.Err() != nil || m.Disordered != 0 {
		t.Errorf("%v, %d out of order", m.Err(), m.Disordered)
	}
	return list
}

// TestHostileSizes changes one field of a valid file and names what has to
// come of it.
func TestHostileSizes(t *testing.T) {
	tr := testTrace("pmc", 8, 60)
	tr.BufferSize = 2048
	plain := writeTrace(t, tr)
	tr.Compress = true
	packed := writeTrace(t, tr)
	buffers := openBytes(t, packed).Buffers()
	second, last := buffers[1].Offset, buffers[len(buffers)-1].Offset
	u32 := func(off int, v uint32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[off:], v) }
	}
	u16 := func(off int, v uint16) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint16(b[off:], v) }
	}
	const buffer1 = 2048
	const record1 = buffer1 + bufferHeaderSize
	first := uint32(binary.LittleEndian.Uint16(plain[record1+4:])) // its size
	sample := 0                                                    // place of a small record
	f := openBytes(t, plain)
	for i, b := range f.Buffers() {
		for it := f.NewDecoder(ClassPMC).Buffer(i); it.Next(); {
			sample = int(b.Offset) + it.Record().Offset
		}
	}
	for _, tc := range []struct {
		name   string
		data   []byte
		change func([]byte)
		want   error // of NewReader, or else of Defect or of a buffer
		offset int64
		reason Reason // counted, unless NewReader fails
	}{
		{"first buffer is generic", plain, u16(0x36, 0), binfmt.ErrMagic, 0x36, reasonEnd},
		{"first record is another", plain, u16(bufferHeaderSize+6, 0x0301), binfmt.ErrMagic, bufferHeaderSize + 6, reasonEnd},
		{"first record is PERFINFO", plain, func(b []byte) { b[bufferHeaderSize+2] = 17 }, binfmt.ErrMagic, bufferHeaderSize + 2, reasonEnd},
		{"first buffer size 0", plain, u32(0, 0), binfmt.ErrCorrupt, 0, reasonEnd},
		{"first buffer size 4 GiB", plain, u32(0, 0xFFFFFFFF), binfmt.ErrLimit, 0, reasonEnd},
		{"log file header cut", plain, u16(bufferHeaderSize+4, 200), binfmt.ErrTruncated, bufferHeaderSize + systemHeader + 76, reasonEnd},
		{"log file header larger than its buffer", plain, u16(bufferHeaderSize+4, 0xFFFF), binfmt.ErrCorrupt, bufferHeaderSize + 4, reasonEnd},
		{"buffer size 8", plain, u32(buffer1, 8), binfmt.ErrCorrupt, buffer1, BadBuffer},
		{"buffer size 4 GiB", plain, u32(buffer1, 0xFFFFFFF0), binfmt.ErrLimit, buffer1, BadBuffer},
		{"buffer size a little off", plain, u32(buffer1, 2056), binfmt.ErrCorrupt, buffer1, BadBuffer},
		{"buffer fill 4 GiB", plain, u32(buffer1+0x30, 0xFFFFFFFF), binfmt.ErrLimit, buffer1 + 0x30, BadBuffer},
		{"buffer fill past its end", plain, u32(buffer1+0x30, 4000), binfmt.ErrCorrupt, buffer1 + 0x30, BadFill},
		{"buffer type 99", plain, u16(buffer1+0x36, 99), binfmt.ErrCorrupt, buffer1 + 0x36, BadBuffer},
		{"record size 3", plain, u16(record1+4, 3), binfmt.ErrCorrupt, record1 + 4, BadSize},
		{"record size 64 KiB", plain, u16(record1+4, 0xFFFF), binfmt.ErrCorrupt, record1 + 4, BadSize},
		{"marker", plain, u32(record1, 0x55C00055), binfmt.ErrCorrupt, record1 + 3, BadMarker},
		{"end mark", plain, u32(record1, 0xFFFFFFFF), nil, 0, EarlyEnd},
		{"zero mark", plain, u32(record1, 0), nil, 0, EarlyEnd},
		{"counters past the record", plain, u16(sample, 0x8702), nil, 0, BadItems},
		{"unknown type", plain, u32(record1, 0xC0630000|first), nil, 0, UnknownType},
		{"compressed size 8", packed, u32(int(second), 8), binfmt.ErrCorrupt, second, BadBuffer},
		{"compressed size past the end", packed, u32(int(second), 1<<20), binfmt.ErrCorrupt, second, BadBuffer},
		{"compressed size of the last past the end", packed, u32(int(last), 1<<20), binfmt.ErrTruncated, int64(len(packed)), CutBuffer},
		{"compressed fill too large", packed, u32(int(second)+0x30, 60<<20), binfmt.ErrCorrupt, second, BadCompression},
		{"compressed fill beyond the limit", packed, u32(int(second)+0x30, 65<<20), binfmt.ErrLimit, second + 0x30, BadBuffer},
	} {
		bad := bytes.Clone(tc.data)
		tc.change(bad)
		f, err := NewReader(bytes.NewReader(bad), int64(len(bad)), nil)
		if err == nil {
			var dec *Decoder
			if err = f.Defect(); err == nil {
				dec = f.NewDecoder(AllClasses)
				for i := range f.Buffers() {
					it := dec.Buffer(i)
					for it.Next() {
					}
					if err == nil {
						err = it.Err()
					}
				}
			}
			_, damage, readErr := readAll(f)
			if readErr != nil || tc.reason == reasonEnd || damage[tc.reason].Count == 0 {
				t.Errorf("%s: counted %v, %v", tc.name, damage, readErr)
			}
		}
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
			continue
		}
		var where *binfmt.Error
		if tc.want != nil && (!errors.As(err, &where) || where.Offset != tc.offset) {
			t.Errorf("%s: %v, want offset %#x", tc.name, err, tc.offset)
		}
	}
}

// TestDamageStaysInItsBuffer checks that a damaged buffer, header or contents,
// costs no record of another. A size that is wrong but can be right may cost
// the buffers that it covers.
func TestDamageStaysInItsBuffer(t *testing.T) {
	for _, compress := range []bool{false, true} {
		tr := testTrace("pmc", 8, 200)
		tr.Compress = compress
		data := writeTrace(t, tr)
		whole := openBytes(t, data)
		total, _, _ := readAll(whole)
		last := len(whole.Buffers()) - 1
		for i, b := range whole.Buffers()[1:] {
			for _, damaged := range []struct {
				name string
				fill byte
				n    int
				kind error
			}{
				{"header", 0xA5, bufferHeaderSize, binfmt.ErrLimit}, {"size", 0, 4, binfmt.ErrCorrupt}, {"size beyond the end", 0x01, 4, binfmt.ErrCorrupt},
				{"zero header", 0, bufferHeaderSize, binfmt.ErrCorrupt}, {"zero buffer", 0, int(b.Size), binfmt.ErrCorrupt},
			} {
				bad := bytes.Clone(data)
				for k := range damaged.n {
					bad[int(b.Offset)+k] = damaged.fill
				}
				reason, kind := BadBuffer, damaged.kind
				switch {
				case i+1 < last:
				case damaged.fill == 0 && damaged.n >= bufferHeaderSize:
					reason, kind = ZeroTail, binfmt.ErrTruncated
				case damaged.fill == 1 && compress:
					continue // no other than a buffer that is cut
				}
				f := openBytes(t, bad)
				got, damage, err := readAll(f)
				lost := recordsOf(whole, i+1)
				if err != nil || got != total-lost || damage[reason] != (Tally{1, uint64(b.Size)}) || !errors.Is(f.Defect(), kind) {
					t.Errorf("%s of buffer %d, compressed %v: %d of %d records, %v, %v, %v", damaged.name, i+1, compress, got, total-lost, damage, f.Defect(), err)
				}
			}
		}
	}
}

// TestHoles puts zeros between the buffers of an uncompressed file.
func TestHoles(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 200))
	whole := openBytes(t, data)
	want, _, _ := readAll(whole)
	at, size := whole.Buffers()[1].Offset, int(whole.Buffers()[1].Size)
	for n, found := range map[int]bool{1: true, 2: true, maxHole: true, maxHole + 1: false} {
		got, damage, err := readAll(openBytes(t, slices.Concat(data[:at], make([]byte, n*size), data[at:])))
		reason := BadBuffer
		if !found {
			reason = ZeroTail
		}
		if err != nil || (got == want) != found || damage[reason].Count != 1 {
			t.Errorf("%d buffers of zeros: %d of %d records, %v, %v", n, got, want, damage, err)
		}
	}
}

func recordsOf(f *File, buffer int) (n int) {
	for it := f.NewDecoder(AllClasses).Buffer(buffer); it.Next(); {
		n++
	}
	return n
}

// TestTails reads files that end in zeros or in a piece of a header.
func TestTails(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 20))
	want, _, _ := readAll(openBytes(t, data))
	for _, tc := range []struct {
		tail   []byte
		reason Reason
	}{{make([]byte, 10_000), ZeroTail}, {make([]byte, 5), Trailing}} {
		f := openBytes(t, append(bytes.Clone(data), tc.tail...))
		got, damage, err := readAll(f)
		if err != nil || got != want || damage[tc.reason] != (Tally{1, uint64(len(tc.tail))}) || !errors.Is(f.Defect(), binfmt.ErrTruncated) {
			t.Errorf("%v: %d of %d records, %v, %v", tc.reason, got, want, damage, err)
		}
	}
}

// failingReader fails to read past a place, as a bad disk does.
type failingReader struct {
	r     io.ReaderAt
	limit int64
}

var errDisk = errors.New("disk error")

func (f failingReader) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > f.limit {
		return 0, errDisk
	}
	return f.r.ReadAt(b, off)
}

func TestReadFailureIsNoDamage(t *testing.T) {
	tr := testTrace("timer", 8, 100)
	data := writeTrace(t, tr)
	if _, err := NewReader(failingReader{bytes.NewReader(data), 50}, int64(len(data)), nil); !errors.Is(err, errDisk) || IsDamage(err) {
		t.Errorf("header: %v", err)
	}
	f := openBytes(t, data)
	f.r = failingReader{f.r, int64(len(data)) - 100}
	it := f.NewDecoder(AllClasses).Buffer(len(f.Buffers()) - 1)
	if it.Next() || !errors.Is(it.Err(), errDisk) || IsDamage(it.Err()) {
		t.Errorf("buffer: %v", it.Err())
	}
	m := NewMerge([]*File{f}, AllClasses)
	for m.Next() {
	}
	if !errors.Is(m.Err(), errDisk) {
		t.Errorf("merge: %v", m.Err())
	}
}
