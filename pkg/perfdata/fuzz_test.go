package perfdata

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// addSeeds adds small recordings: of the corpus, if it is there, and of
// Writer.
func addSeeds(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(), "corpus", "perf", "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if fi, err := os.Stat(name); err != nil || fi.Size() > 16<<10 {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	fs := sampleFeatures()
	for _, opts := range variants() {
		opts.Attrs = []*Attr{{SampleType: SampleAll &^ SampleWeight, Flags: FlagSampleIDAll, BranchSampleType: BranchHWIndex | BranchCounters, IDs: []uint64{1}, Name: "a"},
			{SampleType: SampleAll &^ SampleWeight &^ SampleRaw, Flags: FlagSampleIDAll, IDs: []uint64{2}, Name: "b"}}
		opts.Features = &fs
		f.Add(writeBytes(f, opts, func(w *Writer) {
			r := rand.New(rand.NewPCG(5, 6))
			for i := range 4 {
				s := randomSample(r, opts.Attrs[i%2])
				s.ID = uint64(i%2 + 1)
				w.WriteSample(&s)
			}
			for _, ev := range sampleEvents() {
				w.WriteEvent(ev, SampleIDs{ID: 1})
			}
			w.WriteAuxtrace(Auxtrace{}, make([]byte, 100))
		}))
	}
}

// FuzzRead reads any bytes as a recording. Both passes must agree, and all
// samples must be accounted for.
func FuzzRead(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := NewReader(bytes.NewReader(b), int64(len(b)), &Options{SpoolDir: t.TempDir(), MaxSpool: 1 << 24})
		if err != nil {
			return
		}
		defer file.Close()
		n := readAll(t, file)
		if n.samples+n.bad != n.ix.Counts.Of(TypeSample) {
			t.Errorf("%d good and %d bad samples of %d", n.samples, n.bad, n.ix.Counts.Of(TypeSample))
		}
	})
}

// FuzzRoundTrip writes samples that depend on the input in every way that a
// recording can be written, and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(SampleAll), uint64(0), uint64(1), uint8(0))
	f.Add(uint64(SampleIP|SampleRead), uint64(31)<<8, uint64(2), uint8(5))
	f.Add(uint64(SampleBranchStack|SampleRaw|SampleAux), BranchHWIndex|BranchCounters, uint64(3), uint8(10))
	f.Fuzz(func(t *testing.T, sampleType, formats, seed uint64, kind uint8) {
		a := &Attr{SampleType: SampleType(sampleType) & SampleAll, BranchSampleType: formats &^ 0xff00, ReadFormat: formats >> 8 & 31,
			RegsUser: formats, SamplePeriod: seed}
		opts := WriterOptions{Attrs: []*Attr{a}, BigEndian: kind&1 != 0, Pipe: kind&2 != 0, Packing: Packing(kind >> 2 % 3)}
		r := rand.New(rand.NewPCG(seed, 1))
		samples := make([]Sample, 5)
		for i := range samples {
			samples[i] = randomSample(r, a)
		}
		file := openBytes(t, writeBytes(t, opts, func(w *Writer) {
			for i := range samples {
				if err := w.WriteSample(&samples[i]); err != nil {
					t.Fatal(err)
				}
			}
		}))
		compareWalk(t, file, samples, a, SampleType(seed))
	})
}
