package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// fullAttr has every field set, so that no smaller size than the last holds it.
func fullAttr() *Attr {
	return &Attr{Type: 9, Config: 1 << 60, SamplePeriod: 3, SampleType: SampleIP | SampleTID, ReadFormat: 4,
		Flags: 0xffffffffff &^ FlagFreq, Wakeup: 5, BPType: 6, Config1: 7, Config2: 8, BranchSampleType: 9, RegsUser: 10, StackUser: 11,
		ClockID: -12, RegsIntr: 13, AuxWatermark: 14, MaxStack: 15, AuxSampleSize: 16, AuxAction: 17, SigData: 18,
		Config3: 19, Config4: 20, IDs: []uint64{21, 22}}
}

// TestAttrSizes cuts an attribute at each size that a kernel ever had, and at
// others.
func TestAttrSizes(t *testing.T) {
	full := fullAttr()
	for _, big := range []bool{false, true} {
		e := newEncoder(big)
		e.attr(full, attrSizeMax)
		for _, size := range []int{0, 52, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 148, 200} {
			b := append([]byte(nil), e.b...)
			b = append(b, 1, 2, 3, 4, 5, 6, 7, 8) // of a newer kernel
			orderOf(big).PutUint32(b[4:], uint32(size))
			got := decodeAttr(b, big)
			kept := size
			if size == 0 {
				kept = 64
			}
			back := newEncoder(big)
			back.attr(got, attrSizeMax)
			orderOf(big).PutUint32(back.b[4:], uint32(size))
			for i, v := range back.b {
				want := b[i]
				if i >= kept {
					want = 0
				}
				if i >= 110 && i < 112 {
					continue // a hole
				}
				if v != want {
					t.Fatalf("big=%v, size %d: byte %d is %#x, want %#x", big, size, i, v, want)
				}
			}
		}
	}
	for size, a := range map[uint32]*Attr{64: {}, 72: {Config2: 1}, 80: {BranchSampleType: 1}, 96: {ClockID: 1}, 104: {RegsIntr: 1},
		112: {MaxStack: 1}, 120: {AuxAction: 1}, 128: {SigData: 1}, 136: {Config3: 1}, 144: {Config4: 1}, 152: {Size: 152}} {
		f := openBytes(t, writeBytes(t, WriterOptions{Attrs: []*Attr{a}}, func(w *Writer) {}))
		want := *a
		want.Size = size
		if diff := cmp.Diff(&want, f.Attrs[0], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("size %d (-wrote +read):\n%s", size, diff)
		}
	}
}

// TestHeaderForms has headers of other times and recorders. The samples must
// come out the same.
func TestHeaderForms(t *testing.T) {
	a := &Attr{SampleType: SampleIP, IDs: []uint64{4}, Name: "cycles"}
	fs := &Features{Hostname: "host", Arch: "ppc64"}
	make := func(big bool, fs *Features) []byte {
		return writeBytes(t, WriterOptions{BigEndian: big, Attrs: []*Attr{a}, Features: fs}, func(w *Writer) {
			for i := range 10 {
				w.WriteSample(&Sample{IP: uint64(i)})
			}
		})
	}
	// Words of 32 bits, as a 32-bit big-endian recorder stores the bitmap.
	narrow := func(b []byte) []byte {
		for i := 72; i < 104; i += 8 {
			w := binary.BigEndian.Uint64(b[i:])
			binary.BigEndian.PutUint32(b[i:], uint32(w))
			binary.BigEndian.PutUint32(b[i+4:], uint32(w>>32))
		}
		return b
	}
	patch := func(b []byte, at int, v ...byte) []byte {
		copy(b[at:], v)
		return b
	}
	noHost := &Features{Arch: "ppc64", Meta: []Cap{{"a", "b"}}}
	for _, tt := range []struct {
		name     string
		b        []byte
		arch     string
		warnings int
	}{
		{"little endian", make(false, fs), "ppc64", 0},
		{"big endian", make(true, fs), "ppc64", 0},
		{"big endian, narrow bitmap", narrow(make(true, fs)), "ppc64", 0},
		{"big endian without host", make(true, noHost), "ppc64", 0},
		{"big endian without host, narrow bitmap", narrow(make(true, noHost)), "ppc64", 0},
		{"version 1, little endian", patch(make(false, fs), 0, 'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E'), "ppc64", 0},
		{"version 1, big endian", patch(make(true, fs), 0, 'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E'), "ppc64", 0},
		{"no feature bitmap", patch(make(false, fs), 8, 72), "", 0},
		{"not closed", patch(make(false, fs)[:104+8+64+16+10*16], 48, 0, 0, 0, 0, 0, 0, 0, 0), "", 1},
		{"ids outside the file", patch(make(false, fs), 104+8+64, 0xff, 0xff, 0xff, 0xff, 0xff), "ppc64", 1},
		{"ids beyond the limit", patch(make(false, fs), 104+8+64+8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "ppc64", 1},
		{"a longer header", patch(make(false, fs), 8, 112), "ppc64", 0},
	} {
		f := openBytes(t, tt.b)
		n := readAll(t, f)
		if n.samples != 10 || len(n.ix.Stops) != 0 || f.Features.Arch != tt.arch || len(f.Warnings) != tt.warnings {
			t.Errorf("%s: %d samples, stops %v, arch %q, warnings %v", tt.name, n.samples, n.ix.Stops, f.Features.Arch, f.Warnings)
		}
		if v := f.Header.Version; (v == 1) != strings.HasPrefix(string(tt.b), "PERFFILE") {
			t.Errorf("%s: version %d", tt.name, v)
		}
	}
	f := openBytes(t, patch(narrow(make(true, noHost)), 73, 0xff)) // neither reading of the bitmap makes sense
	if f.Features.Arch != "" || len(f.Features.Sections) > 1 {
		t.Errorf("senseless bitmap: %v", f.Features.Sections)
	}
}

// TestHeaderDefects changes one field and expects a kind of defect and the
// offset of the field.
func TestHeaderDefects(t *testing.T) {
	whole := writeBytes(t, WriterOptions{Attrs: []*Attr{{SampleType: SampleIP}}}, func(w *Writer) { w.WriteSample(&Sample{}) })
	far := "\xff\xff\xff\xff\xff\xff\xff\x7f"
	for _, tt := range []struct {
		name string
		cut  int // bytes that are left; 0 for all
		at   int
		data string
		want error
		off  int64
	}{
		{"empty", -1, 0, "", binfmt.ErrTruncated, 0},
		{"signature only", 8, 0, "", binfmt.ErrTruncated, 8},
		{"signature", 0, 0, "PERFILE3", binfmt.ErrMagic, 0},
		{"header size", 0, 8, "\x20", binfmt.ErrCorrupt, 8},
		{"cut in the header", 80, 0, "", binfmt.ErrTruncated, 72},
		{"attribute entry too short", 0, 16, "\x4f", binfmt.ErrCorrupt, 16},
		{"attribute entry too long", 0, 16, far, binfmt.ErrCorrupt, 16},
		{"attributes outside", 0, 24, far, binfmt.ErrTruncated, 24},
		{"too many attributes", 0, 32, far, binfmt.ErrLimit, 32},
		{"attributes longer than the file", 0, 32, "\xff\xff", binfmt.ErrTruncated, 24},
		{"data outside", 0, 40, far, binfmt.ErrTruncated, 40},
	} {
		b := append([]byte(nil), whole...)
		if tt.cut != 0 {
			b = b[:max(tt.cut, 0)]
		}
		copy(b[min(tt.at, len(b)):], tt.data)
		_, err := NewReader(&memReader{b}, int64(len(b)), &Options{Name: "x.data"})
		var e *binfmt.Error
		if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Offset != tt.off || e.File != "x.data" {
			t.Errorf("%s: %v, want %v at %#x", tt.name, err, tt.want, tt.off)
		}
	}
	// The data section goes on behind the end of the file.
	b := append([]byte(nil), whole...)
	copy(b[48:], far)
	f := openBytes(t, b)
	if e := f.Truncated; e == nil || !errors.Is(e, binfmt.ErrTruncated) || e.Offset != int64(len(b)) {
		t.Errorf("long data section: %v", e)
	}
}

// TestStops damages the records and expects the walk to end there, with all
// records before.
func TestStops(t *testing.T) {
	for _, big := range []bool{false, true} {
		opts := WriterOptions{Pipe: true, BigEndian: big, Attrs: []*Attr{{SampleType: SampleIP}}}
		head := writeBytes(t, opts, func(w *Writer) {})
		record := func(typ Type, misc, size uint16, body string) []byte {
			e := newEncoder(big)
			e.u32(uint32(typ))
			e.u16(misc)
			e.u16(size)
			return append(e.b, body...)
		}
		u64 := func(v uint64) string { return string(orderOf(big).AppendUint64(nil, v)) }
		u32 := func(v uint32) string { return string(orderOf(big).AppendUint32(nil, v)) }
		sample := record(TypeSample, 0, 16, "12345678")
		for _, tt := range []struct {
			name    string
			tail    []byte
			records string
			kind    error
			off     int64 // from the end of the good records
		}{
			{"nothing", nil, "SAMPLE:2;ATTR:1", nil, 0},
			{"half a header", sample[:7], "SAMPLE:2;ATTR:1", binfmt.ErrTruncated, 0},
			{"half a record", sample[:12], "SAMPLE:2;ATTR:1", binfmt.ErrTruncated, 0},
			{"size 7", record(TypeSample, 0, 7, ""), "SAMPLE:2;ATTR:1", binfmt.ErrCorrupt, 6},
			{"size 0", record(TypeComm, 0, 0, ""), "SAMPLE:2;ATTR:1", binfmt.ErrCorrupt, 6},
			{"zeros", make([]byte, 5000), "SAMPLE:2;ATTR:1", binfmt.ErrTruncated, 0},
			{"unknown type", append(record(99, 0, 16, "........"), sample...), "SAMPLE:3;ATTR:1;99:1", nil, 0},
			{"AUXTRACE", append(record(TypeAuxtrace, 0, 48, u64(3)+string(make([]byte, 32))+"abc"), sample...), "SAMPLE:3;ATTR:1;AUXTRACE:1", nil, 0},
			{"AUXTRACE cut", record(TypeAuxtrace, 0, 48, u64(1<<63)+string(make([]byte, 32))+"abc"), "SAMPLE:2;ATTR:1;AUXTRACE:1", binfmt.ErrTruncated, 48},
			{"AUXTRACE too short", append(record(TypeAuxtrace, 0, 8, ""), sample...), "SAMPLE:3;ATTR:1;AUXTRACE:1", nil, 0},
			{"TRACING_DATA", append(record(TypeTracingData, 0, 12, u32(3)+"abc....."), sample...), "SAMPLE:3;ATTR:1;TRACING_DATA:1", nil, 0},
			{"TRACING_DATA of simpleperf", append(record(TypeTracingData, 0, 20, u32(8)+"abcdefgh"), sample...), "SAMPLE:3;ATTR:1;TRACING_DATA:1", nil, 0},
			{"long record of simpleperf", append(append(record(32770, 1, 16, ""), make([]byte, 65536+8)...), sample...), "SAMPLE:3;ATTR:1;32770:1", nil, 0},
			{"long record cut", append(record(32770, 0xffff, 16, ""), make([]byte, 100)...), "SAMPLE:2;ATTR:1", binfmt.ErrTruncated, 0},
			{"COMPRESSED2 too short", append(record(TypeCompressed2, 0, 12, "1234"), sample...), "SAMPLE:3;ATTR:1;COMPRESSED2:1", binfmt.ErrTruncated, 0},
			{"COMPRESSED2 with a wrong size", append(record(TypeCompressed2, 0, 24, u64(9)+"........"), sample...), "SAMPLE:3;ATTR:1;COMPRESSED2:1", binfmt.ErrCorrupt, 8},
			{"COMPRESSED, no zstd", append(record(TypeCompressed, 0, 24, "no zstd at all.."), sample...), "SAMPLE:3;ATTR:1;COMPRESSED:1", binfmt.ErrCorrupt, 0},
		} {
			good := append(append(append([]byte(nil), head...), sample...), sample...)
			f := openBytes(t, append(good, tt.tail...))
			n := readAll(t, f)
			if got := countsText(&n.ix.Counts); got != tt.records {
				t.Errorf("%s: records %s, want %s", tt.name, got, tt.records)
			}
			switch stops := n.ix.Stops; {
			case tt.kind == nil && len(stops) != 0:
				t.Errorf("%s: %v", tt.name, stops)
			case tt.kind != nil && (len(stops) != 1 || !errors.Is(stops[0], tt.kind) || stops[0].Offset != int64(len(good))+tt.off):
				t.Errorf("%s: %v, want %v at %#x", tt.name, stops, tt.kind, int64(len(good))+tt.off)
			}
		}
	}
}

// TestTrails checks where the bytes behind records are.
func TestTrails(t *testing.T) {
	opts := WriterOptions{Attrs: []*Attr{{SampleType: SampleIP}}}
	trace := make([]byte, 3*walkBuffer)
	for i := range trace {
		trace[i] = byte(i * i >> 8)
	}
	f := openBytes(t, writeBytes(t, opts, func(w *Writer) {
		w.WriteSample(&Sample{IP: 1})
		w.WriteAuxtrace(Auxtrace{Offset: 5, Index: 6, TID: -1, CPU: 7}, trace)
		w.WriteTracingData([]byte("formats"))
		w.WriteSample(&Sample{IP: 2})
		w.WriteAuxtrace(Auxtrace{}, nil)
		w.WriteSample(&Sample{IP: 3})
	}))
	got := make(map[string]int)
	for rs := f.Records(); rs.Next(); {
		r := rs.Record()
		if r.Trail.Size == 0 {
			continue
		}
		b := make([]byte, r.Trail.Size)
		if n, err := f.Section(r.Trail).Read(b); n != len(b) {
			t.Fatal(n, err)
		}
		got[fmt.Sprintf("%v:%v", r.Type, string(b) == string(trace) || string(b) == "formats\x00")]++
		if r.Type == TypeAuxtrace {
			var m Auxtrace
			if _, err := f.Decode(r, &m); err != nil || m != (Auxtrace{Size: uint64(len(trace)), Offset: 5, Index: 6, TID: -1, CPU: 7}) {
				t.Errorf("%+v, %v", m, err)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"AUXTRACE:true": 1, "TRACING_DATA:true": 1}, got); diff != "" {
		t.Error(diff)
	}
	if n := readAll(t, f); n.samples != 3 || n.ix.AuxBytes != uint64(len(trace)) {
		t.Errorf("%d samples, %d bytes of trace", n.samples, n.ix.AuxBytes)
	}
}
