package etl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/golden"
)

// benchTrace describes a recording of last branch records as the recipe for
// profiles makes it: 4 MiB buffers, 32 branches a sample.
func benchTrace(samples int) *Trace {
	tr := testTrace("lbr", 8, samples)
	tr.BufferSize = 4 << 20
	const user = 0x7ff600001000
	branches := make([]Branch, 64)
	seed := uint64(1)
	for i := range branches {
		seed = seed*6364136223846793005 + 1442695040888963407
		branches[i] = Branch{user + seed>>50, user + seed>>33&0x3fff, seed >> 60}
	}
	tr.Samples = func(yield func(TraceSample) bool) {
		for i := range samples {
			s := TraceSample{Time: 200 + 100*int64(i), Processor: i % 2, PID: 1000, TID: 1004, IP: user + uint64(i%4096), Source: 30,
				Branches: branches[i%32:][:32]}
			if !yield(s) {
				return
			}
		}
	}
	return tr
}

// decodeBranches is the hot path of a profile: all branches of a file.
func decodeBranches(tb testing.TB, f *File, dec *Decoder, l *LBR) (branches int, sum uint64) {
	for i := range f.Buffers() {
		it := dec.Buffer(i)
		for it.Next() {
			if err := DecodeLBR(it.Record(), l); err != nil {
				tb.Fatal(err)
			}
			branches += len(l.Branches)
			for k := range l.Branches {
				sum += l.Branches[k].From ^ l.Branches[k].To
			}
		}
		if err := it.Err(); err != nil {
			tb.Fatal(err)
		}
	}
	return branches, sum
}

// TestHotLoops decodes all samples, branches and stacks of plain and packed
// files a second time with the same decoder, and counts records, bytes and
// allocations.
func TestHotLoops(t *testing.T) {
	var table bytes.Buffer
	fmt.Fprintln(&table, "case\tbytes\trecords\tbranches and frames\tallocations")
	for _, kind := range []string{"lbr", "pmc", "timer"} {
		for _, compress := range []bool{false, true} {
			tr := testTrace(kind, 8, 200)
			tr.Compress = compress
			data := writeTrace(t, tr)
			f := openBytes(t, data)
			dec := f.NewDecoder(ClassSample | ClassPMC | ClassLBR | ClassStack)
			var l LBR
			var s Sample
			var p PMCSample
			var st Stack
			l.Branches, st.Frames = make([]Branch, 0, 32), make([]uint64, 0, 32)
			records, entries := 0, 0
			allocs := testing.AllocsPerRun(5, func() {
				records, entries = 0, 0
				for i := range f.Buffers() {
					for it := dec.Buffer(i); it.Next(); records++ {
						var err error
						switch r := it.Record(); r.Class {
						case ClassLBR:
							err = DecodeLBR(r, &l)
							entries += len(l.Branches)
						case ClassSample:
							err = DecodeSample(r, &s)
						case ClassPMC:
							err = DecodePMCSample(r, &p)
						case ClassStack:
							err = DecodeStack(r, &st)
							entries += len(st.Frames)
						}
						if err != nil {
							t.Fatal(err)
						}
					}
				}
			})
			name := kind
			if compress {
				name += " packed"
			}
			fmt.Fprintf(&table, "%s\t%d\t%d\t%d\t%.0f\n", name, len(data), records, entries, allocs)
		}
	}
	golden.Check(t, "testdata/hotloops.golden", table.Bytes())
}

// TestExpandDoesNotAllocate unpacks with our algorithms. LZNT1 is left to
// another module, which makes each chunk anew.
func TestExpandDoesNotAllocate(t *testing.T) {
	samples := packable()["samples"]
	plain, huffman := new(xpressEncoder).compress(nil, samples), huffStream(samples)
	dst, table := make([]byte, len(samples)), new(huffTable)
	for name, expand := range map[string]func() (int, error){
		"XPRESS":         func() (int, error) { return expandXPRESS(dst, plain) },
		"XPRESS Huffman": func() (int, error) { return expandXPRESSHuff(dst, huffman, table) },
	} {
		if allocs := testing.AllocsPerRun(10, func() {
			if _, err := expand(); err != nil {
				t.Fatal(name, err)
			}
		}); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

func BenchmarkBranches(b *testing.B) {
	for _, tc := range []struct {
		name     string
		compress bool
	}{{"plain", false}, {"compressed", true}} {
		b.Run(tc.name, func(b *testing.B) {
			tr := benchTrace(20_000)
			plain := len(writeTrace(b, tr))
			tr.Compress = tc.compress
			f := openBytes(b, writeTrace(b, tr))
			dec := f.NewDecoder(ClassLBR)
			l := LBR{Branches: make([]Branch, 0, 32)}
			b.SetBytes(int64(plain))
			b.ReportAllocs()
			for b.Loop() {
				if n, _ := decodeBranches(b, f, dec, &l); n != 20_000*32 {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkRecording reads a real compressed recording, all records.
func BenchmarkRecording(b *testing.B) {
	f := openFile(b, corpus.Path(b, "corpus", "etl", "microsoft_perfview__net.4.5.2.x64__net.4.5.2.x64.etl"))
	size := int64(0)
	for _, buf := range f.Buffers() {
		size += int64(buf.Filled)
	}
	dec := f.NewDecoder(AllClasses)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i := range f.Buffers() {
			for it := dec.Buffer(i); it.Next(); {
			}
		}
	}
}

func BenchmarkSamples(b *testing.B) {
	tr := testTrace("timer", 8, 100_000)
	tr.BufferSize = 1 << 20
	data := writeTrace(b, tr)
	f := openBytes(b, data)
	dec := f.NewDecoder(ClassSample | ClassStack)
	var s Sample
	st := Stack{Frames: make([]uint64, 0, 32)}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for i := range f.Buffers() {
			for it := dec.Buffer(i); it.Next(); {
				var err error
				if it.Record().Class == ClassSample {
					err = DecodeSample(it.Record(), &s)
				} else {
					err = DecodeStack(it.Record(), &st)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func BenchmarkMergeSideBand(b *testing.B) {
	data := writeTrace(b, benchTrace(20_000))
	f := openBytes(b, data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		m := NewMerge([]*File{f}, SideBand)
		for m.Next() {
		}
	}
}

func BenchmarkWriteTrace(b *testing.B) {
	for _, tc := range []struct {
		name     string
		compress bool
	}{{"plain", false}, {"compressed", true}} {
		b.Run(tc.name, func(b *testing.B) {
			tr := benchTrace(5000)
			b.SetBytes(int64(len(writeTrace(b, tr))))
			tr.Compress = tc.compress
			for b.Loop() {
				if err := WriteTrace(io.Discard, tr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkXPRESS(b *testing.B) {
	var x xpressEncoder
	for _, name := range []string{"samples", "few", "noise"} {
		data := packable()[name]
		packed := x.compress(nil, data)
		dst := make([]byte, len(data))
		b.Run("expand/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := expandXPRESS(dst, packed); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("compress/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				packed = x.compress(packed[:0], data)
			}
		})
	}
	table := new(huffTable)
	for _, alg := range []struct {
		name, data string
		pack       func([]byte) []byte
		expand     func(dst, src []byte) (int, error)
	}{
		{"huffman", "samples", huffStream, func(dst, src []byte) (int, error) { return expandXPRESSHuff(dst, src, table) }},
		{"LZNT1", "bits", lzntStream, expandLZNT1}, // its encoder finds runs alone
	} {
		b.Run("expand/"+alg.name, func(b *testing.B) {
			data := packable()[alg.data]
			src, dst := alg.pack(data), make([]byte, len(data))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := alg.expand(dst, src); err != nil || !bytes.Equal(dst[:9], data[:9]) {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBigTrace streams a recording of several buffers of 4 MiB, whose size is
// not known beforehand, and reads it back in parallel parts.
func TestBigTrace(t *testing.T) {
	const samples = 12_000
	tr := benchTrace(samples)
	f := openBytes(t, writeTrace(t, tr))
	want, wantSum := decodeBranches(t, f, f.NewDecoder(ClassLBR), new(LBR))
	if want != samples*32 || len(f.Buffers()) < 4 || slices.Max(sizes(f)) != 4<<20 {
		t.Fatalf("%d branches in %d buffers", want, len(f.Buffers()))
	}
	type part struct {
		branches int
		sum      uint64
	}
	parts := make(chan part)
	const workers = 3
	for w := range workers {
		go func() {
			dec, l := f.NewDecoder(ClassLBR), new(LBR)
			var p part
			for i := w; i < len(f.Buffers()); i += workers {
				for it := dec.Buffer(i); it.Next(); {
					if DecodeLBR(it.Record(), l) == nil {
						p.branches += len(l.Branches)
						for _, b := range l.Branches {
							p.sum += b.From ^ b.To
						}
					}
				}
			}
			parts <- p
		}()
	}
	var got part
	for range workers {
		p := <-parts
		got.branches += p.branches
		got.sum += p.sum
	}
	if got.branches != want || got.sum != wantSum {
		t.Errorf("%d workers decode %d branches, one %d", workers, got.branches, want)
	}
}

// TestGigabytes writes a recording of 2 GB to a disk and reads it, in memory
// that does not depend on its size. SPGO_LONG=1 runs it.
func TestGigabytes(t *testing.T) {
	if os.Getenv("SPGO_LONG") != "1" {
		t.Skip("SPGO_LONG=1 is not set")
	}
	const samples = 2_500_000
	path := filepath.Join(t.TempDir(), "big.etl")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteTrace(out, benchTrace(samples)), out.Close()); err != nil {
		t.Fatal(err)
	}
	rec, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	f := rec.Files[0]
	n, _ := decodeBranches(t, f, f.NewDecoder(ClassLBR), new(LBR))
	m := NewMerge(rec.Files, SideBand)
	side := 0
	for m.Next() {
		side++
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if n != samples*32 || f.Size() < 2_000_000_000 || side < 20 || m.Err() != nil || mem.Sys > 200<<20 {
		t.Errorf("%d branches and %d events in %d bytes, %v, %d bytes of memory", n, side, f.Size(), m.Err(), mem.Sys)
	}
}

func sizes(f *File) []uint32 {
	var list []uint32
	for _, b := range f.Buffers() {
		list = append(list, b.Size)
	}
	return list
}
