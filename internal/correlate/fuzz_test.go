package correlate

import (
	"bytes"
	"path/filepath"
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
	f.Add(w.stacks(f, 20, 8), uint64(1))
	f.Add(w.stacks(f, 20, 1), uint64(3))
	f.Add(w.addresses(f, 50), uint64(1<<63))
	rva := w.funcs[0].RVA
	f.Add(newTrace(f).frames(1<<40, rva, rva+4, 0, 0xFFFFFFFF).ip(spt.OpRetireBrInstr, 1<<63, rva, 0xFFFFFFFF).bytes(), uint64(2))
	f.Fuzz(func(t *testing.T, trace []byte, weight uint64) {
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
