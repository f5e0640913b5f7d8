package perfdata

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// TestStraddlingRecords cuts one zstd stream into pieces of a few bytes: a
// record, and a block of the stream, then begins and ends anywhere.
func TestStraddlingRecords(t *testing.T) {
	plain := WriterOptions{Pipe: true, Attrs: []*Attr{{SampleType: SampleIP | SampleCallChain}}}
	head := writeBytes(t, plain, func(w *Writer) {})
	whole := writeBytes(t, plain, func(w *Writer) {
		for i := range 500 {
			w.WriteSample(&Sample{IP: uint64(i), CallChain: []uint64{1, 2, uint64(i)}})
			if i%100 == 99 {
				w.WriteEvent(&Lost{Count: 1}, SampleIDs{})
			}
		}
	})
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	for b := whole[len(head):]; len(b) > 0; { // several blocks
		n := min(len(b), 3333)
		z.Write(b[:n])
		z.Flush()
		b = b[n:]
	}
	for _, size := range []int{1, 2, 3, 7, 100, 5000, 60000} {
		b := append([]byte(nil), head...)
		for rest := packed.Bytes(); len(rest) > 0; {
			n := min(size, len(rest))
			e := newEncoder(false)
			e.u32(uint32(TypeCompressed))
			e.u16(0)
			e.u16(uint16(recordHeaderSize + n))
			b = append(append(b, e.b...), rest[:n]...)
			rest = rest[n:]
		}
		f := openBytes(t, b)
		n := readAll(t, f)
		if n.samples != 500 || n.ix.Lost != 5 || n.ix.Nested != 505 || len(n.ix.Stops) > 0 || n.ix.LostPieces > 0 {
			t.Errorf("pieces of %d bytes: %d samples, %d lost, %d nested, stops %v, %d pieces lost", size, n.samples, n.ix.Lost, n.ix.Nested, n.ix.Stops, n.ix.LostPieces)
		}
		// Without the end, the rest of a record is missing.
		n = readAll(t, openBytes(t, b[:len(b)-min(size, 50)-recordHeaderSize-1]))
		if n.samples == 0 && size < 5000 || len(n.ix.Stops) == 0 || !errors.Is(n.ix.Stops[0], binfmt.ErrTruncated) {
			t.Errorf("pieces of %d bytes, cut: %d samples, stops %v", size, n.samples, n.ix.Stops)
		}
	}
}

// pack makes compressed records of a stream of whatever bytes.
func pack(t testing.TB, big bool, head, stream []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	b := append([]byte(nil), head...)
	for len(stream) > 0 {
		n := min(len(stream), 1<<17)
		z.Write(stream[:n])
		z.Flush()
		for rest := packed.Bytes(); len(rest) > 0; {
			k := min(len(rest), 60000)
			e := newEncoder(big)
			e.u32(uint32(TypeCompressed))
			e.u16(0)
			e.u16(uint16(recordHeaderSize + k))
			b = append(append(b, e.b...), rest[:k]...)
			rest = rest[k:]
		}
		packed.Reset()
		stream = stream[n:]
	}
	return b
}

// TestDamagedStream has streams that decompress to nonsense, or not at all.
// What comes before, and uncompressed records after it, must be delivered.
func TestDamagedStream(t *testing.T) {
	plain := WriterOptions{Pipe: true, Attrs: []*Attr{{SampleType: SampleIP}}}
	head := writeBytes(t, plain, func(w *Writer) {})
	whole := writeBytes(t, plain, func(w *Writer) {
		for i := range 10 {
			w.WriteSample(&Sample{IP: uint64(i)})
		}
	})
	samples, sample := whole[len(head):], whole[len(head):len(head)+16]
	record := func(typ Type, size uint16) []byte {
		e := newEncoder(false)
		e.u32(uint32(typ))
		e.u16(0)
		e.u16(size)
		return e.b
	}
	for _, tt := range []struct {
		name   string
		inside []byte // behind ten samples
		part   string
		kind   error
	}{
		{"size 3", record(TypeComm, 3), "size of a compressed record", binfmt.ErrCorrupt},
		{"zeros", make([]byte, 100), "size of a compressed record", binfmt.ErrCorrupt},
		{"size beyond a record", append(record(40000, 8), 0, 0), "compressed records", binfmt.ErrTruncated},
		{"AUXTRACE", append(record(TypeAuxtrace, 48), make([]byte, 40)...), "type of a compressed record", binfmt.ErrCorrupt},
		{"COMPRESSED", append(record(TypeCompressed, 48), make([]byte, 40)...), "type of a compressed record", binfmt.ErrCorrupt},
		{"half a record", record(TypeComm, 100), "compressed records", binfmt.ErrTruncated},
	} {
		b := pack(t, false, head, append(append([]byte(nil), samples...), tt.inside...))
		n := readAll(t, openBytes(t, append(b, sample...)))
		if n.samples != 11 || len(n.ix.Stops) != 1 || n.ix.Stops[0].Part != tt.part || !errors.Is(n.ix.Stops[0], tt.kind) {
			t.Errorf("%s: %d samples, %v", tt.name, n.samples, n.ix.Stops)
		}
	}
	// Damage in one piece loses this and the later ones.
	b := pack(t, false, head, samples)
	damaged := append(append([]byte(nil), b...), record(TypeCompressed, 16)...)
	damaged = append(damaged, "nonsense"...)
	damaged = append(append(damaged, b[len(head):]...), sample...)
	n := readAll(t, openBytes(t, damaged))
	if n.samples != 11 || len(n.ix.Stops) != 1 || !errors.Is(n.ix.Stops[0], binfmt.ErrCorrupt) || n.ix.LostPieces != 2 {
		t.Errorf("%d samples, %v, %d pieces lost", n.samples, n.ix.Stops, n.ix.LostPieces)
	}
}

// TestBombMemory decompresses a gigabyte of one repeated record out of some
// kilobytes and looks at the memory that is in use meanwhile.
func TestBombMemory(t *testing.T) {
	plain := WriterOptions{Pipe: true, Attrs: []*Attr{{SampleType: SampleIP}}}
	head := writeBytes(t, plain, func(w *Writer) {})
	stream := bytes.Repeat([]byte{99, 0, 0, 0, 0, 0, 0, 0x80}, 1) // one unknown record of 32 KiB
	stream = append(stream, make([]byte, 32768-8)...)
	b := pack(t, false, head, bytes.Repeat(stream, 8192))
	if len(b) > 1<<20 {
		t.Fatalf("%d bytes", len(b))
	}
	f := openBytes(t, b)
	var before, m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	rs := f.Records()
	records, most := 0, uint64(0)
	for rs.Next() {
		if records++; records%1000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc-min(m.HeapAlloc, before.HeapAlloc))
		}
	}
	if got := rs.Index().Counts.Of(99); got != 8192 {
		t.Errorf("%d records, want 8192", got)
	}
	if most > 32<<20 {
		t.Errorf("%d MiB in use for 256 MiB of records", most>>20)
	}
}

// TestWorkers lets several goroutines decode chunks, plain and compressed,
// and abandons a source and a walk in the middle.
func TestWorkers(t *testing.T) {
	plain := openBytes(t, lbrFile(t, 20000, 16, WriterOptions{}))
	packed := openBytes(t, lbrFile(t, 20000, 16, WriterOptions{Packing: PackZstd}))
	dir, err := Open(writeDir(t, 3, PackZstd2), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for name, f := range map[string]*File{"plain": plain, "packed": packed, "directory": dir} {
		want := readAll(t, f)
		src := f.Chunks(want.ix)
		var mu sync.Mutex
		var got tally
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				dec := f.NewDecoder(SampleBranchStack)
				var c Chunk
				var n tally
				for src.Next(&c) {
					if len(c.Data) > chunkSize+maxRecord {
						t.Errorf("%s: chunk of %d bytes", name, len(c.Data))
					}
					for dec.Reset(&c); dec.Next(); {
						n.add(dec.Sample())
					}
				}
				mu.Lock()
				defer mu.Unlock()
				got.samples += n.samples
				got.entries += n.entries
			})
		}
		wg.Wait()
		if src.Err() != nil || got.samples != want.samples || got.entries != want.entries {
			t.Errorf("%s: %d samples with %d branches, want %d with %d; %v", name, got.samples, got.entries, want.samples, want.entries, src.Err())
		}
		src = f.Chunks(want.ix)
		var c Chunk
		if !src.Next(&c) {
			t.Errorf("%s: no chunk", name)
		}
		src.Close()
		if src.Next(&c) {
			t.Errorf("%s: a chunk after Close", name)
		}
		rs := f.Records()
		for range 20 {
			rs.Next()
		}
		rs.Close()
		if rs.Next() {
			t.Errorf("%s: a record after Close", name)
		}
	}
}
