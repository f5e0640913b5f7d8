package spt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// The bytes of a small file, written out from the documentation.
func TestWriterBytes(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, []ProgramID{{GUID: guidA, Age: 1, Name: "a.exe"}, {GUID: guidB, Age: 7, Name: "b.dll", StringIndex: 99}, {Name: "a.exe"}},
		&WriterOptions{RawDataId: 0x11223344, TargetArch: 0x55})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		w.BeginBinary(1),
		w.BeginBinary(0), // nothing was written for 1
		w.IP(OpUnhaltCycle, []uint32{0x1000, 0xFFFFFFFF}, 0),
		w.IP(OpETWInstr, nil, 5), // no samples, no record
		w.BeginBinary(0),         // goes on
		w.LBR([]Pair{{To: 1, From: 2}, {To: 3, From: 4}}, 2),
		w.BeginBinary(2),
		w.CallStack([]uint32{5, 6, 7}, 1<<64-1),
		w.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	strings := make([]byte, 0x4000)
	copy(strings, "a.exe\x00b.dll\x00")
	ids := make([]byte, 0x100*24)
	copy(ids, cat(guidA[:], u32(1, 0), guidB[:], u32(7, 6), make([]byte, 16), u32(0, 0)))
	want := cat(
		[]byte{0x3A, 0x54, 0x50, 0x53}, u32(1, 0x11223344, 0x55, 0x20, 0x4020), u16(12), u16(0x4000), u16(3), u16(0x100),
		strings, ids,
		segment(0, entries(0x01, 2, 0x1000, 0xFFFFFFFF), repeat(0, 2), entries(0x10, 2, 1, 2, 3, 4)),
		segment(2, repeat(0, 1<<64-1), entries(0x42, 3, 5, 6, 7)),
	)
	if diff := cmp.Diff(want, out.Bytes()); diff != "" {
		t.Errorf("bytes (-want +got):\n%s", diff)
	}
}

func TestWriterWithoutRecords(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.Bytes(), nil)
	if r.Next() || r.Err() != nil || len(r.Programs()) != 0 || out.Len() != 0x20+0x4000+0x100*24 {
		t.Errorf("%d bytes, %v", out.Len(), r.Err())
	}
}

// Long lists of IP samples become several records, each with its REPEAT.
func TestWriterSplitsIPs(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, []ProgramID{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rvas := make([]uint32, 2*255+3)
	for i := range rvas {
		rvas[i] = uint32(i)
	}
	if err := errors.Join(w.BeginBinary(0), w.IP(OpRetireInstr, rvas, 9), w.Close()); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.Bytes(), nil)
	var got []uint32
	var sizes []int
	for r.Next() {
		if rec := r.Record(); rec.Op != OpRetireInstr || rec.Hits() != 10 {
			t.Errorf("record %+v", rec)
		}
		got = append(got, r.Record().RVAs...)
		sizes = append(sizes, len(r.Record().RVAs))
	}
	if r.Err() != nil || !slices.Equal(got, rvas) || !slices.Equal(sizes, []int{255, 255, 3}) {
		t.Errorf("records of %v RVAs, %v", sizes, r.Err())
	}
}

// A binary with more records than fit in a segment gets several; a REPEAT stays
// with its record.
func TestWriterCutsSegments(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, []ProgramID{{}}, &WriterOptions{SegmentBytes: maxSample})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.BeginBinary(0); err != nil {
		t.Fatal(err)
	}
	const records = 1000
	for i := range uint64(records) {
		if err := w.IP(OpUnhaltCycle, make([]uint32, 1+i%255), i%3); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.Bytes(), nil)
	n := uint64(0)
	for r.NextItem() {
		if rec := r.Record(); rec.Op != OpBinaryID {
			if rec.Repeat != n%3 || len(rec.RVAs) != int(1+n%255) {
				t.Fatalf("record %d: %d RVAs, repeat %d", n, len(rec.RVAs), rec.Repeat)
			}
			n++
		} else if l := r.Segment().Length; l > maxSample+4 || l < 4+6 {
			t.Errorf("segment of length %d", l)
		}
	}
	if r.Err() != nil || n != records || r.Stats().Segments < records/8 {
		t.Errorf("%d records in %d segments, %v", n, r.Stats().Segments, r.Err())
	}
}

func TestWriterTableLimits(t *testing.T) {
	long := strings.Repeat("x", 65533)
	ids := func(n int, name string) []ProgramID {
		p := make([]ProgramID, n)
		for i := range p {
			p[i] = ProgramID{GUID: binfmt.GUID{byte(i), byte(i >> 8)}, Name: name}
		}
		return p
	}
	for _, c := range []struct {
		name     string
		programs []ProgramID
		kind     error
		header   Header
	}{
		{"usual", ids(0x100, long[:0x3FFF]), nil, Header{0, 0, 0x20, 0x4020, 0x4000, 0x4000, 0x100, 0x100}},
		{"one more of each", ids(0x101, long[:0x4000]), nil, Header{0, 0, 0x20, 0x4021, 0x4001, 0x4001, 0x101, 0x101}},
		{"greatest", append(ids(65534, long), ProgramID{}), nil, Header{0, 0, 0x20, 0x1001F, 65535, 65535, 65535, 65535}},
		{"too many strings", append(ids(1, long), ProgramID{Name: "a"}), binfmt.ErrLimit, Header{}},
		{"too many programs", ids(65536, "a"), binfmt.ErrLimit, Header{}},
		{"NUL in a name", []ProgramID{{Name: "a\x00b"}}, binfmt.ErrCorrupt, Header{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := NewWriter(&out, c.programs, nil)
			if c.kind != nil {
				if !errors.Is(err, c.kind) || out.Len() != 0 {
					t.Errorf("%v after %d bytes, want %v", err, out.Len(), c.kind)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.BeginBinary(len(c.programs)-1), w.IP(OpETWInstr, []uint32{1}, 0), w.Close()); err != nil {
				t.Fatal(err)
			}
			r := open(t, out.Bytes(), nil)
			if r.Header() != c.header {
				t.Errorf("header %+v", r.Header())
			}
			for i, p := range r.Programs() {
				if want := c.programs[i]; p.GUID != want.GUID || p.Name != want.Name {
					t.Fatalf("program %d: %v %q", i, p.GUID, p.Name)
				}
			}
			if !r.Next() || r.Record().Program != len(c.programs)-1 || r.Next() || r.Err() != nil {
				t.Errorf("record of program %d, %v", r.Record().Program, r.Err())
			}
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, []ProgramID{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := []uint32{1}
	if w.IP(OpUnhaltCycle, one, 0) == nil {
		t.Error("record before BeginBinary")
	}
	if err := w.BeginBinary(0); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ err, kind error }{
		"program -1":       {w.BeginBinary(-1), binfmt.ErrLimit},
		"program 1 of 1":   {w.BeginBinary(1), binfmt.ErrLimit},
		"LBR as IP":        {w.IP(OpLBR, one, 0), binfmt.ErrCorrupt},
		"call stack as IP": {w.IP(OpETWCallStack, one, 0), binfmt.ErrCorrupt},
		"REPEAT as IP":     {w.IP(OpRepeat, one, 0), binfmt.ErrCorrupt},
		"no pairs":         {w.LBR(nil, 0), binfmt.ErrLimit},
		"256 pairs":        {w.LBR(make([]Pair, 256), 0), binfmt.ErrLimit},
		"one frame":        {w.CallStack(one, 0), binfmt.ErrLimit},
		"256 frames":       {w.CallStack(make([]uint32, 256), 0), binfmt.ErrLimit},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v, want %v", name, c.err, c.kind)
		}
	}
	for _, n := range []int{-1, 1, maxSample - 1, 1<<30 + 1} {
		if _, err := NewWriter(io.Discard, nil, &WriterOptions{SegmentBytes: n}); !errors.Is(err, binfmt.ErrLimit) {
			t.Errorf("SegmentBytes %d: %v", n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := open(t, out.Bytes(), nil); r.NextItem() || r.Err() != nil {
		t.Errorf("refused calls left traces: %v", r.Err())
	}
	for name, err := range map[string]error{"Close": w.Close(), "IP": w.IP(OpUnhaltCycle, one, 0), "BeginBinary": w.BeginBinary(0)} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

// full takes n bytes and then fails.
type full struct{ n int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	n := min(f.n, len(p))
	f.n -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestWriteFailure(t *testing.T) {
	for _, room := range []int{0, 0x1000, 1 << 20, 3 << 20} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			w, err := NewWriter(&full{room}, []ProgramID{{}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.BeginBinary(0); err != nil {
				t.Fatal(err)
			}
			failed := false
			for range 4000 {
				err := w.IP(OpUnhaltCycle, make([]uint32, 255), 0)
				if failed && err == nil {
					t.Fatal("a record after a failure")
				}
				failed = err != nil
			}
			if err := w.Close(); !errors.Is(err, errFull) {
				t.Errorf("Close: %v", err)
			}
		})
	}
	data := oddFile()
	for _, room := range []int{0, len(data) - 1} {
		if err := Copy(&full{room}, open(t, data, nil)); !errors.Is(err, errFull) {
			t.Errorf("Copy with room for %d bytes: %v", room, err)
		}
		if err := WriteText(&full{room}, open(t, data, nil), PartAll); !errors.Is(err, errFull) {
			t.Errorf("WriteText with room for %d bytes: %v", room, err)
		}
	}
}

func TestCopyGivesTheSameBytes(t *testing.T) {
	big := segment(1, bytes.Repeat(cat(repeat(3, 4), entries(0x10, 2, 1, 2, 3, 4)), 100_000)) // 2.8 MB in one segment
	for name, data := range map[string][]byte{
		"odd":              oddFile(),
		"no segments":      smallFile(),
		"large segment":    smallFile(segment(0, entries(0x05, 1, 1)), big, segment(0)),
		"tables far apart": cat(smallFile()[:0x14], u32(0x100030), smallFile()[0x18:0x30], bytes.Repeat([]byte{0xA5}, 0x100000), smallFile()[0x30:], big),
	} {
		for _, rd := range readers {
			t.Run(name+"/"+rd.name, func(t *testing.T) {
				r, err := rd.open(data, nil)
				if err != nil {
					t.Fatal(err)
				}
				var out bytes.Buffer
				if err := Copy(&out, r); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(out.Bytes(), data) {
					t.Errorf("%d bytes became %d others", len(data), out.Len())
				}
			})
		}
	}
}

// A tolerant copy is a sound file with the records that could be read.
func TestCopyRepairs(t *testing.T) {
	rec := entries(0x01, 1, 1)
	data := smallFile(
		cat(binaryID(9, 0, 4+6+3), rec, []byte{0x77, 1, 2}),
		segment(7, rec),
		segment(1, entries(0x02, 1, 2)),
		binaryID(0, 1, 500), rec, rec[:3])
	var out bytes.Buffer
	if err := Copy(&out, open(t, data, &Options{Tolerate: true})); err != nil {
		t.Fatal(err)
	}
	want := smallFile(cat(binaryID(9, 0, 10), rec), segment(1, entries(0x02, 1, 2)), segment(1, rec))
	if diff := cmp.Diff(want, out.Bytes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	wantError(t, Copy(&out, open(t, data, nil)), DefectUnknownOpcode, dataStart+14)
}

func TestWriterAllocatesNothingPerRecord(t *testing.T) {
	w, err := NewWriter(io.Discard, []ProgramID{{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.BeginBinary(0); err != nil {
		t.Fatal(err)
	}
	rvas, pairs := make([]uint32, 32), make([]Pair, 32)
	write := func() {
		if err := errors.Join(w.IP(OpUnhaltCycle, rvas, 1), w.LBR(pairs, 0), w.CallStack(rvas, 2)); err != nil {
			t.Fatal(err)
		}
	}
	for range 10_000 { // the buffer has its final size after the first segment
		write()
	}
	if allocs := testing.AllocsPerRun(10_000, write); allocs != 0 {
		t.Errorf("%v allocations for three records", allocs)
	}
}
