package perfdata

import (
	"bytes"
	"testing"
)

// lbrFile returns a recording with n samples of 32 branches each, or with
// depth 0 of the address alone, among a few side-band records.
func lbrFile(t testing.TB, n, depth int, opts WriterOptions) []byte {
	t.Helper()
	a := &Attr{Config: 0, SamplePeriod: 100003, Flags: FlagSampleIDAll | FlagMmap | FlagMmap2 | FlagComm | FlagTask,
		SampleType: SampleIP | SampleTID | SampleTime | SamplePeriod, IDs: []uint64{7}, Name: "cycles:u"}
	if depth > 0 {
		a.SampleType |= SampleBranchStack
	}
	opts.Attrs = []*Attr{a}
	m := new(memFile)
	w, err := NewWriter(m, opts)
	if err != nil {
		t.Fatal(err)
	}
	x := uint64(88172645463325252)
	random := func() uint64 { // xorshift: the same file every time
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return x
	}
	s := Sample{PID: 100, Branches: make([]Branch, depth)}
	for i := range n {
		if i%1000 == 0 {
			w.WriteEvent(&Mmap{V2: true, Mode: ModeUser, PID: 100, TID: 100, Addr: 0x400000 + uint64(i)<<12, Len: 0x1000, Prot: 5, Flags: 2, Name: "/usr/lib/libexample.so"}, SampleIDs{PID: 100, Time: uint64(i)})
		}
		s.IP, s.TID, s.Time, s.Period = 0x400000+random()%(1<<20), int32(100+i%8), uint64(1000+i), 100003
		for k := range s.Branches {
			s.Branches[k] = Branch{0x400000 + random()%(1<<20), 0x400000 + random()%(1<<20), BranchFlags(2 | random()%200<<4)}
		}
		if err := w.WriteSample(&s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

func openBytes(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := NewReader(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func benchFile(b *testing.B, n, depth int, opts WriterOptions) *File {
	data := lbrFile(b, n, depth, opts)
	f := openBytes(b, data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.ResetTimer()
	return f
}

func BenchmarkWalk(b *testing.B) {
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			f := benchFile(b, c.n, c.depth, c.opts)
			for b.Loop() {
				rs := f.Records()
				for rs.Next() {
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			f := benchFile(b, c.n, c.depth, c.opts)
			rs := f.Records()
			for rs.Next() {
			}
			dec := f.NewDecoder(SampleIP | SampleTID | SampleTime | SampleBranchStack)
			var c Chunk
			var sum uint64
			for b.Loop() {
				src := f.Chunks(rs.Index())
				for src.Next(&c) {
					for dec.Reset(&c); dec.Next(); {
						sum += dec.Sample().IP
					}
				}
			}
			if sum == 0 {
				b.Fatal("no samples")
			}
		})
	}
}

var benchCases = []struct {
	name     string
	n, depth int
	opts     WriterOptions
}{
	{"lbr", 100000, 32, WriterOptions{}},
	{"ip", 1000000, 0, WriterOptions{}},
	{"lbr-big-endian", 50000, 32, WriterOptions{BigEndian: true}},
	{"lbr-zstd", 50000, 32, WriterOptions{Packing: PackZstd}},
}
