package spt

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func TestReadOddFile(t *testing.T) {
	data := oddFile()
	for _, rd := range readers {
		t.Run(rd.name, func(t *testing.T) {
			r, err := rd.open(data, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantHeader := Header{RawDataId: 0xAABBCCDD, TargetArch: 0x8664, StringTableOffset: 0x28, ProgramIdTableOffset: 0x48,
				StringTableUsed: 14, StringTableCapacity: 20, ProgramIdsUsed: 2, ProgramIdCapacity: 3}
			if r.Header() != wantHeader {
				t.Errorf("header %+v", r.Header())
			}
			if diff := cmp.Diff([]String{{0, "a.exe", false}, {6, "", false}, {7, "d\xFF\"#\n\\z", true}}, r.Strings()); diff != "" {
				t.Errorf("strings: %s", diff)
			}
			if diff := cmp.Diff([]ProgramID{{guidA, 1, "a.exe", 0}, {guidB, math.MaxUint32, "xe", 3}}, r.Programs()); diff != "" {
				t.Errorf("programs: %s", diff)
			}
			got := items(r)
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
			if len(got) != 8 {
				t.Fatalf("%d items, want 8", len(got))
			}
			pairs := got[4].Pairs
			if len(pairs) != 255 || pairs[1] != (Pair{To: 0x02020202, From: 0x03030303}) || got[4].Offset != 0xC6 {
				t.Errorf("LBR at %#x: %d pairs, second %+v", got[4].Offset, len(pairs), pairs[1])
			}
			got[4].Pairs = nil
			first := Segment{Offset: 0x90, Index: 1, Program: 0, Length: 24}
			empty := Segment{Offset: 0xAC, Index: 2, Program: 1, Length: 4}
			long := Segment{Offset: 0xB4, Pad: 0x7F, Index: 2, Program: 1, Length: 2062}
			last := Segment{Offset: 0x8C6, Index: 2, Program: 1, Length: 10}
			want := []item{
				{Record{Op: OpBinaryID, Offset: 0x90}, first},
				{Record{Op: OpUnhaltCycle, Offset: 0xA2, HasRepeat: true, RepeatPad: 0xEE, RVAs: []uint32{0, math.MaxUint32}}, first},
				{Record{Op: OpBinaryID, Program: 1, Offset: 0xAC}, empty},
				{Record{Op: OpBinaryID, Program: 1, Offset: 0xB4}, long},
				{Record{Op: OpLBR, Program: 1, Offset: 0xC6, HasRepeat: true, Repeat: math.MaxUint64}, long},
				{Record{Op: OpETWCallStack, Program: 1, Offset: 0x8C0, RVAs: []uint32{5}}, long},
				{Record{Op: OpBinaryID, Program: 1, Offset: 0x8C6}, last},
				{Record{Op: OpETWInstr, Program: 1, Offset: 0x8CE, RVAs: []uint32{9}}, last},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if got[4].Hits() != math.MaxUint64 || got[5].Hits() != 1 {
				t.Errorf("hits %d and %d", got[4].Hits(), got[5].Hits())
			}
			wantStats := Stats{Segments: 4, Records: 4, SingleFrames: 1, Bytes: uint64(len(data) - 0x90)}
			if diff := cmp.Diff(wantStats, r.Stats()); diff != "" {
				t.Errorf("stats: %s", diff)
			}
			wantWarnings := []string{"a NUL after the last string", "middle of a string", "counting from 1"}
			if len(r.Warnings()) != len(wantWarnings) {
				t.Errorf("warnings %v", r.Warnings())
			}
			for i, w := range r.Warnings() {
				if !strings.Contains(w.Error(), wantWarnings[i]) {
					t.Errorf("warning %v, want %q", w, wantWarnings[i])
				}
			}
		})
	}
}

func TestIndexBase(t *testing.T) {
	rec := entries(0x01, 1, 1)
	for _, c := range []struct {
		name    string
		stream  []byte
		want    []int // programs, or nil for a defect
		defect  int64 // its offset
		warning bool
	}{
		{"no segments", nil, []int{}, 0, false},
		{"0 alone", segment(0, rec), []int{0}, 0, false},
		{"1 alone is less than the number of programs", segment(1, rec), []int{1}, 0, false},
		{"from 1", cat(segment(1, rec), segment(2, rec)), []int{0, 1}, 0, true},
		{"greatest alone", segment(2, rec), []int{1}, 0, true},
		{"0 at the end", cat(segment(2, rec), segment(0, rec)), nil, dataStart + 2, false},
		{"too great for either", cat(segment(1, rec), segment(3, rec)), nil, dataStart + 14 + 2, false},
		{"too great beside the greatest", cat(segment(2, rec), segment(3, rec)), nil, dataStart + 2, false},
	} {
		for _, rd := range readers {
			t.Run(c.name+"/"+rd.name, func(t *testing.T) {
				r, err := rd.open(smallFile(c.stream), nil)
				if err != nil {
					t.Fatal(err)
				}
				got := []int{}
				for r.Next() {
					got = append(got, r.Record().Program)
				}
				if c.want == nil {
					wantError(t, r.Err(), DefectProgramRange, c.defect)
				} else if diff := cmp.Diff(c.want, got); diff != "" || r.Err() != nil {
					t.Errorf("programs %v, want %v, error %v", got, c.want, r.Err())
				}
				if (len(r.Warnings()) > 0) != c.warning {
					t.Errorf("warnings %v", r.Warnings())
				}
			})
		}
	}
}

// A stream decides by what it has in its buffer.
func TestIndexBaseOfLongStream(t *testing.T) {
	fill := bytes.Repeat(entries(0x01, 1, 1), bufferSize/6+1)
	data := smallFile(segment(1, fill), segment(2, entries(0x01, 1, 1)))
	r := open(t, data, nil)
	for r.Next() {
	}
	if r.Err() != nil || len(r.Warnings()) != 1 || r.Segment().Program != 1 {
		t.Errorf("file: %v, warnings %v, last program %d", r.Err(), r.Warnings(), r.Segment().Program)
	}
	r, err := NewStreamReader(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
	}
	wantError(t, r.Err(), DefectProgramRange, int64(len(data)-14+2))
	if !strings.Contains(r.Err().Error(), "may count from 1") {
		t.Errorf("no hint in %v", r.Err())
	}
}

func TestStringIndex(t *testing.T) {
	for _, c := range []struct {
		name     string
		a, b     uint32
		wantA    string
		wantB    string
		warnings int
	}{
		{"offsets", 0, 6, "a.exe", "b.dll", 0},
		{"same string", 6, 6, "b.dll", "b.dll", 0},
		{"ordinals", 0, 1, "a.exe", "b.dll", 1},
		{"an ordinal beside an offset", 1, 6, "b.dll", "b.dll", 1},
		{"inside a string", 2, 0, "exe", "a.exe", 1},
		{"a NUL", 5, 11, "", "", 1},
		{"unused part", 12, 0, "", "a.exe", 1},
		{"far outside and inside", 0xFFFFFFFF, 3, "", "xe", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := smallFile()
			copy(data[0x44:], u32(c.a))
			copy(data[0x5C:], u32(c.b))
			r := open(t, data, nil)
			p := r.Programs()
			if p[0].Name != c.wantA || p[1].Name != c.wantB || p[0].StringIndex != c.a || p[1].StringIndex != c.b {
				t.Errorf("programs %+v", p)
			}
			if len(r.Warnings()) != c.warnings {
				t.Errorf("warnings %v, want %d", r.Warnings(), c.warnings)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.spt")
	if err := os.WriteFile(name, smallFile(segment(0, entries(0x07, 1, 1))), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Next() {
		t.Error("a record of an unknown opcode")
	}
	wantError(t, r.Err(), DefectUnknownOpcode, dataStart+8)
	if !strings.HasPrefix(r.Err().Error(), name+": data stream: offset 0x68: ") {
		t.Errorf("error text %v", r.Err())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(dir, "missing"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(name, []byte("MZ\x90\x00 and more"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Open(name, nil)
	wantError(t, err, binfmt.ErrMagic, 0)
	if !strings.HasPrefix(err.Error(), name) {
		t.Errorf("no file name in %v", err)
	}
}

// failing gives its bytes and then fails.
type failing struct {
	io.Reader
	err error
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// A failure of the input is no defect: tolerance does not hide it.
func TestReadFailure(t *testing.T) {
	cause := errors.New("cable pulled")
	whole := smallFile(segment(0, entries(0x01, 1, 1), entries(0x77, 0), entries(0x01, 1, 1)))
	for n := range len(whole) + 1 {
		r, err := NewStreamReader(failing{bytes.NewReader(whole[:n]), cause}, &Options{Tolerate: true})
		if err == nil {
			for r.Next() {
			}
			err = r.Err()
		}
		var e *binfmt.Error
		if !errors.Is(err, cause) || !errors.As(err, &e) || e.Offset != int64(n) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// stuck never gives bytes and never ends.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestStuckInput(t *testing.T) {
	if _, err := NewStreamReader(io.MultiReader(bytes.NewReader(smallFile()), stuck{}), nil); err != nil {
		t.Fatal(err) // the tables are whole
	}
	_, err := NewStreamReader(stuck{}, nil)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

// A file without string table may give any offset for it.
func TestNoStringTable(t *testing.T) {
	data := cat([]byte{0x3A, 0x54, 0x50, 0x53}, u32(1, 0, 0, 0, 0x20), u16(0), u16(0), u16(1), u16(1),
		guidA[:], u32(1, 0), segment(0, entries(0x41, 1, 9)))
	r := open(t, data, nil)
	if !r.Next() || r.Next() || r.Err() != nil || len(r.Strings()) != 0 || len(r.Warnings()) != 1 || r.Programs()[0].Name != "" {
		t.Errorf("%v, strings %v, warnings %v", r.Err(), r.Strings(), r.Warnings())
	}
	checkSame(t, data)
}

// A size beyond the end of the input is noticed like a cut file.
func TestSizeTooGreat(t *testing.T) {
	data := smallFile(segment(0, entries(0x41, 1, 9)), segment(1, entries(0x41, 1, 9))[:10])
	r, err := NewReader(bytes.NewReader(data), 1<<40, nil)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
	}
	wantError(t, r.Err(), DefectSegmentCut, dataStart+14+4)
}

func TestReaderAllocatesNothingPerRecord(t *testing.T) {
	var body []byte
	for range 2000 {
		body = cat(body, segment(1, repeat(0, 3), entries(0x10, 2, 1, 2, 3, 4), entries(0x02, 3, 1, 2, 3)))
	}
	r := open(t, smallFile(segment(0), body), nil)
	allocs := testing.AllocsPerRun(1000, func() {
		for range 2 {
			if !r.Next() {
				t.Fatal(r.Err())
			}
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for two records", allocs)
	}
}
