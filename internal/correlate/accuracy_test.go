package correlate

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

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

func (w *walker) judge(chosen func(f int) bool, counts func(f int) (blocks []uint64, edges [][]uint64)) quality {
	var bt, bc, et, ec, nt, nc []float64
	for i, fn := range w.funcs {
		if !chosen(i) {
			continue
		}
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

// TestAccuracy walks the functions of real SPDs at random, samples the walks
// and compares counts with the truth, before and after inference, in per cent
// of the weight that is where it belongs (blocks by instructions, edges,
// entries): for all functions, and for those that
// are inlined nowhere. Inference must be better in mode IP, and in mode LBR,
// where there is little to gain, not worse.
func TestAccuracy(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus.Path(t, "corpus", "spd"), "*.spd"))
	if len(files) == 0 {
		t.Fatal("no files")
	}
	cases := []struct {
		mode       Mode
		density    float64 // stacks or addresses per function
		all, alone quality // at least, on the mean
	}{
		{LBR, 1, quality{83.3, 81.0, 86.7}, quality{80.0, 74.8, 83.2}},
		{LBR, 10, quality{93.8, 90.8, 94.0}, quality{93.0, 88.3, 93.7}},
		{LBR, 100, quality{96.7, 93.4, 95.5}, quality{96.8, 92.3, 96.6}},
		{IP, 1, quality{55.9, 49.4, 54.3}, quality{52.6, 44.2, 51.3}},
		{IP, 10, quality{83.4, 75.9, 82.6}, quality{82.6, 71.3, 83.1}},
		{IP, 100, quality{93.3, 87.9, 92.4}, quality{93.1, 85.3, 92.8}},
	}
	means := make([][2]quality, len(cases))
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
		for k, c := range cases {
			trace := func() []byte {
				if c.mode == LBR {
					return w.stacks(t, int(c.density)*len(coded), 32)
				}
				return w.addresses(t, c.density*float64(len(coded)))
			}
			s := NewSamples(f)
			add(t, s, trace(), 1)
			r := infer(t, s, Options{Jobs: runtime.NumCPU()})
			checkFlow(t, f, r)
			sv := s.survey(c.mode)
			inlined := map[int32]bool{}
			for _, b := range s.layout.bodies {
				inlined[b.function] = inlined[b.function] || b.host >= 0
			}
			for side, chosen := range []func(f int) bool{
				func(int) bool { return true },
				func(f int) bool { return !inlined[int32(f)] },
			} {
				raw := w.judge(chosen, sv.raw)
				got := w.judge(chosen, func(f int) ([]uint64, [][]uint64) { return r.Functions[f].Blocks, r.Functions[f].Edges })
				t.Logf("%s: %v, %v per function, %d of 2: %.2f as sampled, %.2f inferred; correction %.3f, fell back %d",
					filepath.Base(file), c.mode, c.density, side+1, raw, got, r.Correction, len(r.FellBack))
				allowed := .05
				if c.density == 1 {
					allowed = 1 // in the smallest file single stacks decide
				}
				if got.block < raw.block-allowed || got.edge < raw.edge || got.entry < raw.entry || c.mode == IP && got.block < raw.block+2 {
					t.Errorf("%s: %v, %v per function, %d of 2: inference is worse: %.2f, as sampled %.2f", filepath.Base(file), c.mode, c.density, side+1, got, raw)
				}
				m := &means[k][side]
				n := float64(len(files))
				*m = quality{m.block + got.block/n, m.edge + got.edge/n, m.entry + got.entry/n}
			}
		}
	}
	for k, c := range cases {
		t.Logf("%v, %v per function: %.2f of all, %.2f where nothing is inlined", c.mode, c.density, means[k][0], means[k][1])
		for side, want := range []quality{c.all, c.alone} {
			if got := means[k][side]; got.block < want.block || got.edge < want.edge || got.entry < want.entry {
				t.Errorf("%v, %v per function, %d of 2: got %.2f, want at least %.2f", c.mode, c.density, side+1, got, want)
			}
		}
	}
}
