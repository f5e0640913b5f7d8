package etl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFacts reads what a file says of itself.
func TestFacts(t *testing.T) {
	tr := testTrace("pmc", 8, 60)
	tr.EventsLost, tr.BuffersLost = 5, 2
	data := writeTrace(t, tr)
	for buffer, flag := range map[int]BufferFlags{1: BufferEventsLost, 2: BufferEventsLost | BufferBufferLost} {
		at := buffer*4096 + 0x34
		binary.LittleEndian.PutUint16(data[at:], binary.LittleEndian.Uint16(data[at:])|uint16(flag))
	}
	f := openBytes(t, data)
	if got, want := f.Lost(), (Lost{5, 2, 2, 1}); got != want {
		t.Errorf("lost %+v, want %+v", got, want)
	}
	const start = 133_500_000_000_000_000
	want := LogFile{BufferSize: 4096, Version: [4]uint8{10, 0, 1, 5}, Build: 19045, Processors: 2, EndTime: start + tr.Duration, TimerResolution: 156_250,
		Mode: ModeSequential | ModeRelogged, StartBuffers: 1, PointerSize: 8, EventsLost: 5, CPUMHz: 3000, BootTime: start - 600_000_000, PerfFreq: 10_000_000,
		StartTime: start, Clock: ClockQPC, BuffersLost: 2, Session: "Relogger", FileName: "[multiple files]", Time: 5_000_000}
	if diff := cmp.Diff(want, f.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	first := f.Buffers()[0]
	if first.Type != BufferHeader || first.Size != 4096 || first.Stored != 4096 || first.Compressed() {
		t.Errorf("first buffer %+v", first)
	}
}

// repack gives the buffers of an uncompressed file another compression, with
// a number for it in the header buffer.
func repack(t *testing.T, data []byte, number uint32, pack func([]byte) []byte) []byte {
	t.Helper()
	f := openBytes(t, data)
	var out []byte
	for i, b := range f.Buffers() {
		buf := bytes.Clone(data[b.Offset : b.Offset+int64(b.Size)])
		if i == 0 {
			binary.LittleEndian.PutUint32(buf[0x2C:], number)
			mode := buf[bufferHeaderSize+systemHeader+32:]
			binary.LittleEndian.PutUint32(mode, binary.LittleEndian.Uint32(mode)|ModeCompressed)
		} else {
			buf = append(buf[:bufferHeaderSize], pack(buf[bufferHeaderSize:b.Filled])...)
			b.Flags |= BufferCompressed
			b.Size = uint32(len(buf))
			putBufferHeader(buf, &b)
		}
		out = append(out, buf...)
	}
	return out
}

// TestCompressionNumbers reads files compressed with each algorithm, and with
// a number that does not fit.
func TestCompressionNumbers(t *testing.T) {
	data := writeTrace(t, testTrace("pmc", 8, 60))
	want := mergeTimes(t, openBytes(t, data))
	var x xpressEncoder
	xpress := func(b []byte) []byte { return x.compress(nil, b) }
	broken := func(b []byte) []byte { return bytes.Repeat([]byte{0xFF}, 40) }
	for _, tc := range []struct {
		name   string
		number uint32
		pack   func([]byte) []byte
		broken bool
	}{
		{"XPRESS", 3, xpress, false}, {"LZNT1", 2, lzntStream, false}, {"XPRESS_HUFF", 4, huffStream, false},
		{"another number, but XPRESS", 7, xpress, false}, {"the state of a pending buffer, but XPRESS", 4, xpress, false},
		{"a context switch buffer, but XPRESS", 2, xpress, false}, {"compression 7", 7, broken, true}, {"LZNT1", 2, broken, true},
	} {
		f := openBytes(t, repack(t, data, tc.number, tc.pack))
		if !tc.broken {
			if got := mergeTimes(t, f); !slices.Equal(got, want) {
				t.Errorf("%s: contents differ", tc.name)
			}
			continue
		}
		dec := f.NewDecoder(AllClasses)
		it := dec.Buffer(1)
		if it.Next() || !IsDamage(it.Err()) || !strings.Contains(it.Err().Error(), tc.name+" data of ") || dec.Damage[BadCompression].Count != 1 {
			t.Errorf("%s: %v, %v", tc.name, it.Err(), dec.Damage)
		}
	}
}

// TestStreams orders the buffers of files of several kinds.
func TestStreams(t *testing.T) {
	buffers := []Buffer{{Sequence: 0}, {Processor: 1, Sequence: 7}, {Processor: 0, Sequence: 9}, {Processor: 1, Sequence: 3}, {Processor: 0, Sequence: 2}, {Processor: 1, Sequence: 3}}
	for _, tc := range []struct {
		mode uint32
		want string
	}{
		{ModeSequential, "[[0 4 2] [3 5 1]]"},
		{ModeCircular, "[[0 4 2] [3 5 1]]"},
		{ModeSequential | ModeOneSet, "[[0 4 3 5 1 2]]"},
	} {
		f := &File{buffers: buffers, Header: LogFile{Mode: tc.mode}}
		if got := fmt.Sprint(f.Streams()); got != tc.want {
			t.Errorf("mode %#x: %s, want %s", tc.mode, got, tc.want)
		}
	}
	if got := (&File{}).Streams(); got != nil {
		t.Errorf("no buffers: %v", got)
	}
}

// TestBufferHeaderVariants reads headers as old systems and merges write
// them.
func TestBufferHeaderVariants(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func([]byte)
		want   Buffer
	}{
		{"wide processor", func(b []byte) { b[0x28], b[0x29], b[0x34] = 0x03, 0xFA, 0x20 },
			Buffer{Size: 4096, Filled: 100, Processor: 0x203, Flags: BufferWideProcessor}},
		{"byte processor and alignment", func(b []byte) { b[0x28], b[0x29] = 3, 8 }, Buffer{Size: 4096, Filled: 100, Processor: 3}},
		{"fill in the saved offset", func(b []byte) { b[0x30], b[0x04] = 0, 96 }, Buffer{Size: 4096, Filled: 96}},
		{"fill nowhere", func(b []byte) { b[0x30] = 0 }, Buffer{Size: 4096, Filled: bufferHeaderSize}},
	} {
		h := make([]byte, bufferHeaderSize)
		h[1], h[0x30] = 0x10, 100
		tc.change(h)
		if got := parseBuffer(h, 0); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// TestMergeTies puts records of one tick on two processors and in two files.
func TestMergeTies(t *testing.T) {
	var files []*File
	for range 2 {
		var out bytes.Buffer
		w, err := NewWriter(&out, &WriterOptions{Header: LogFile{BufferSize: 1024, PointerSize: 8, Time: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			for cpu := range 2 {
				r := Record{Type: HeaderPerfInfo64, Hook: HookSample, Time: int64(10 + i/10), Payload: make([]byte, 16)}
				if err := w.Write(cpu, &r); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, openBytes(t, out.Bytes()))
	}
	m := NewMerge(files, ClassSample)
	type place struct {
		time                 int64
		file, buffer, offset int
	}
	var last place
	n := 0
	for ; m.Next(); n++ {
		file, buffer := m.Position()
		p := place{m.Record().Time, file, buffer, m.Record().Offset}
		if n > 0 && slices.Compare([]int{int(last.time), last.file, last.buffer, last.offset}, []int{int(p.time), p.file, p.buffer, p.offset}) >= 0 {
			t.Fatalf("%+v before %+v", last, p)
		}
		last = p
	}
	if n != 160 || m.Err() != nil {
		t.Errorf("%d records, %v", n, m.Err())
	}
}

// TestMergeCountsDisorder gives a file whose buffers of one processor overlap.
func TestMergeCountsDisorder(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 300))
	f := openBytes(t, data)
	stream := f.Streams()[0]
	a, b := stream[len(stream)-1], stream[len(stream)-2]
	f.buffers[a].Sequence, f.buffers[b].Sequence = f.buffers[b].Sequence, f.buffers[a].Sequence
	m := NewMerge([]*File{f}, AllClasses)
	n := 0
	for m.Next() {
		n++
	}
	want, _, _ := readAll(openBytes(t, data))
	if m.Disordered == 0 || n != want || m.Err() != nil {
		t.Errorf("%d of %d records, %d out of order, %v", n, want, m.Disordered, m.Err())
	}
}

// TestWriterRefuses lists what a writer does not take.
func TestWriterRefuses(t *testing.T) {
	header := LogFile{BufferSize: 1024, PointerSize: 8}
	for _, h := range []LogFile{{BufferSize: 1024, PointerSize: 3}, {BufferSize: 100, PointerSize: 8}, {BufferSize: 1 << 30, PointerSize: 8},
		{BufferSize: 1025, PointerSize: 8}, {BufferSize: 1024, PointerSize: 8, FileName: strings.Repeat("x", 1000)}} {
		if _, err := NewWriter(&bytes.Buffer{}, &WriterOptions{Header: h}); err == nil {
			t.Errorf("header %+v passed", h)
		}
	}
	good := Record{Type: HeaderPerfInfo64, Hook: HookSample, Time: 10, Payload: make([]byte, 16)}
	for name, bad := range map[string]func(w *Writer) error{
		"time running backwards":   func(w *Writer) error { r := good; r.Time = 9; return w.Write(0, &r) },
		"record above a buffer":    func(w *Writer) error { r := good; r.Payload = make([]byte, 2000); return w.Write(0, &r) },
		"record above 64 KiB":      func(w *Writer) error { r := good; r.Payload = make([]byte, 65536); return w.Write(0, &r) },
		"type without a layout":    func(w *Writer) error { r := good; r.Type = HeaderWNode; return w.Write(0, &r) },
		"processor without number": func(w *Writer) error { return w.Write(-1, &good) },
		"processor of many":        func(w *Writer) error { return w.Write(2048, &good) },
		"closed": func(w *Writer) error {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return w.Write(0, &good)
		},
	} {
		w, err := NewWriter(&bytes.Buffer{}, &WriterOptions{Header: header})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(0, &good); err != nil {
			t.Fatal(err)
		}
		if err := bad(w); err == nil {
			t.Errorf("%s passed", name)
		}
	}
}
