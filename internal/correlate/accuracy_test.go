package correlate

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

func collect(t testing.TB, f *spd.File, files ...[]byte) *Samples {
	t.Helper()
	s := NewSamples(f)
	for _, b := range files {
		r, err := spt.NewReader(bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Add(r, func(spt.ProgramID) bool { return true }, 1); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// survey returns the measurements that s gives, without inference.
func (s *Samples) survey(mode Mode) *survey {
	e := newEvidence(s.layout)
	if mode == LBR {
		s.weighBranches(e)
	} else {
		s.weighAddresses(e, &Result{IPEvent: spt.OpRetireInstr}, 1)
	}
	return newSurvey(e, mode, 256, 1)
}

// quality compares counts with the truth of a walk: blocks weighed by their
// own instructions, edges, and entries.
type quality struct{ block, edge, entry float64 }

func (w *walker) judge(counts func(f int) (blocks []uint64, edges [][]uint64)) quality {
	var bt, bc, et, ec, nt, nc []float64
	for i, fn := range w.funcs {
		blocks, edges := counts(i)
		for b := range fn.Blocks {
			own := float64(fn.Blocks[b].OwnInstructions())
			at := func(list []uint64) float64 {
				if list == nil {
					return 0
				}
				return float64(list[b])
			}
			bt = append(bt, own*float64(w.block[i][b]))
			bc = append(bc, own*at(blocks))
			if b == 0 {
				nt = append(nt, float64(w.block[i][b]))
				nc = append(nc, at(blocks))
			}
			for k := range fn.Blocks[b].Edges {
				et = append(et, float64(w.edge[i][b][k]))
				if edges == nil {
					ec = append(ec, 0)
				} else {
					ec = append(ec, float64(edges[b][k]))
				}
			}
		}
	}
	return quality{overlap(bt, bc), overlap(et, ec), overlap(nt, nc)}
}

func (s *survey) raw(f int) ([]uint64, [][]uint64) {
	if len(s.bodiesOf(int32(f))) == 0 {
		return nil, nil
	}
	g := s.graph(int32(f))
	blocks := make([]uint64, len(g.Blocks))
	edges := make([][]uint64, len(g.Blocks))
	for b, o := range g.Blocks {
		blocks[b] = o.Count
	}
	for _, e := range g.Edges {
		edges[e.From] = append(edges[e.From], e.Obs.Count)
	}
	return blocks, edges
}

func TestAccuracy(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus.Path(t, "corpus", "spd"), "*.spd"))
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, file := range files {
		f, err := spd.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w := newWalker(f, 5)
		var coded []int
		for i, c := range w.codes {
			if c != nil && w.dist[i][0] >= 0 {
				coded = append(coded, i)
			}
		}
		for len(w.branches) < 400000 {
			// Hot functions are few.
			x := w.r.Float64()
			w.call(coded[int(x*x*x*float64(len(coded)))])
		}
		for _, c := range []struct {
			mode Mode
			hits float64
		}{{LBR, 1}, {LBR, 10}, {LBR, 100}, {IP, 1}, {IP, 10}, {IP, 100}} {
			n := c.hits * float64(len(coded))
			var b []byte
			if c.mode == LBR {
				b = w.stacks(t, int(n), 32)
			} else {
				b = w.addresses(t, n)
			}
			s := collect(t, f, b)
			r, err := Infer(t.Context(), s, Options{Mode: c.mode, Jobs: runtime.NumCPU()})
			if err != nil {
				t.Fatal(err)
			}
			raw := w.judge(s.survey(c.mode).raw)
			got := w.judge(func(f int) ([]uint64, [][]uint64) { return r.Functions[f].Blocks, r.Functions[f].Edges })
			t.Logf("%s %v %v: blocks %.2f -> %.2f, edges %.2f -> %.2f, entries %.2f -> %.2f; correction %.3f, fell back %d, unwhole %d, dropped %v, %v",
				filepath.Base(file), c.mode, c.hits, raw.block, got.block, raw.edge, got.edge, raw.entry, got.entry,
				r.Correction, len(r.FellBack), len(r.Unwhole), r.Dropped, r.Branches)
		}
	}
}
