package correlate

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// FuzzInfer correlates damaged and odd traces with a real SPD. Whatever they
// say, the counts are consistent.
func FuzzInfer(f *testing.F) {
	file, err := spd.ReadFile(filepath.Join(corpus.Path(f, "corpus", "spd"), "map-9ad16a75.spd"))
	if err != nil {
		f.Fatal(err)
	}
	w := newWalker(file, 3)
	for i := range w.funcs {
		if w.codes[i] != nil {
			w.call(i)
		}
	}
	// The tables before the data stream are large and always the same.
	tables := writeSPT(f, func(*spt.Writer) error { return nil })
	add := func(trace []byte, weight uint64) { f.Add(trace[len(tables):], weight) }
	add(w.stacks(f, 20, 8), 1)
	add(w.stacks(f, 20, 1), 3)
	add(w.addresses(f, 50), 1<<63)
	rva := w.funcs[0].RVA
	add(writeSPT(f, func(w *spt.Writer) error {
		return errors.Join(w.CallStack([]uint32{rva, rva + 4, 0, 0xFFFFFFFF}, 1<<40),
			w.IP(spt.OpRetireBrInstr, []uint32{rva, 0xFFFFFFFF}, 1<<63))
	}), 2)
	f.Fuzz(func(t *testing.T, stream []byte, weight uint64) {
		trace := slices.Concat(tables, stream)
		r, err := spt.NewReader(bytes.NewReader(trace), int64(len(trace)), &spt.Options{Tolerate: true})
		if err != nil {
			return
		}
		s := NewSamples(file)
		if _, err := s.Add(r, func(spt.ProgramID) bool { return true }, weight); err != nil {
			t.Fatalf("a tolerant reader fails: %v", err)
		}
		for _, o := range []Options{{Mode: LBR}, {Mode: IP}, {Mode: IP, IPEvent: spt.OpRetireBrInstr, Scale: 3}} {
			r, err := Infer(t.Context(), s, o)
			if err != nil {
				continue
			}
			for _, c := range r.Functions {
				if c.Touched {
					checkFlow(t, file, r)
					break
				}
			}
		}
	})
}
