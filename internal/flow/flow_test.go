package flow

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// mustInfer infers g and checks everything that is promised of any result.
func mustInfer(t *testing.T, g *Graph) *Result {
	t.Helper()
	r, err := Infer(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, g, r)
	return r
}

func checkResult(t *testing.T, g *Graph, r *Result) {
	t.Helper()
	in := make([]uint64, len(g.Blocks))
	out := make([]uint64, len(g.Blocks))
	in[g.Entry] += r.Entry
	out[g.Exit] += r.Entry
	for i, e := range g.Edges {
		in[e.To] += r.Edges[i]
		out[e.From] += r.Edges[i]
		if e.Dead && r.Edges[i] != 0 {
			t.Errorf("dead edge %d: count %d", i, r.Edges[i])
		}
	}
	for v, x := range r.Blocks {
		if in[v] != x || out[v] != x {
			t.Errorf("block %d: count %d, in %d, out %d", v, x, in[v], out[v])
		}
	}
	reached := make([]bool, len(g.Blocks))
	reached[g.Entry] = true
	list := []int{g.Entry}
	next := make([][]int, len(g.Blocks))
	for i, e := range g.Edges {
		if r.Edges[i] > 0 {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	for ; len(list) > 0; list = list[1:] {
		for _, u := range next[list[0]] {
			if !reached[u] {
				reached[u] = true
				list = append(list, u)
			}
		}
	}
	apart := 0.0
	for v, x := range r.Blocks {
		if x > 0 && !reached[v] {
			apart += g.Blocks[v].confidence() * float64(x)
		}
	}
	if apart > 0 && r.Unjoined == 0 {
		t.Errorf("blocks of weight %v have flow but none from the entry", apart)
	}
	for _, q := range []float64{r.Observed, r.Correction, r.Overlap, r.LooseOverlap, r.Noise, r.Unexplained, r.UnexplainedEdges, r.Unreached, r.Unexplained - r.Unreached, r.Unjoined} {
		if math.IsNaN(q) || math.IsInf(q, 0) || q < 0 {
			t.Errorf("quality %+v", r.Quality)
			break
		}
	}
	if r.Overlap > 1+1e-9 || r.LooseOverlap > 1+1e-9 {
		t.Errorf("overlap %v, %v", r.Overlap, r.LooseOverlap)
	}
	if loose := r.Loose.Blocks != nil; loose != g.Leaky {
		t.Errorf("loose counts: %v, leaky %v, fell back %v", loose, g.Leaky, r.FellBack)
	}
}

// graph builds a graph from text: "count/n" or "-" per block, and edges such
// as "0>1", "0x1" if dead, with "=count" if observed. The first block is the
// entry and the last is the exit.
func graph(blocks string, edges ...string) *Graph {
	number := func(s string) (n int) {
		for _, c := range s {
			n = 10*n + int(c-'0')
		}
		return n
	}
	g := &Graph{Unit: 1}
	for _, b := range strings.Fields(blocks) {
		var o Obs
		if count, n, ok := strings.Cut(b, "/"); ok {
			o = Obs{uint64(number(count)), float64(number(n))}
		}
		g.Blocks = append(g.Blocks, o)
	}
	for _, e := range edges {
		var d Edge
		ends, count, ok := strings.Cut(e, "=")
		if ok {
			d.Obs = Obs{uint64(number(count)), 1}
		}
		from, to, ok := strings.Cut(ends, ">")
		if !ok {
			from, to, _ = strings.Cut(ends, "x")
			d.Dead = true
		}
		d.From, d.To = number(from), number(to)
		g.Edges = append(g.Edges, d)
	}
	g.Exit = len(g.Blocks) - 1
	return g
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		g     *Graph
		block []uint64
		edge  []uint64
	}{
		{"consistent counts stay", graph("10/4 7/3 3/5 10/1", "0>1", "0>2", "1>3", "2>3"),
			[]uint64{10, 7, 3, 10}, []uint64{7, 3, 7, 3}},
		{"nothing sampled", graph("0/4 0/3 0/5 0/1", "0>1", "0>2", "1>3", "2>3"),
			[]uint64{0, 0, 0, 0}, []uint64{0, 0, 0, 0}},
		{"nothing observed", graph("- - - -", "0>1", "0>2", "1>3", "2>3", "1>1"),
			[]uint64{0, 0, 0, 0}, []uint64{0, 0, 0, 0, 0}},
		{"unobserved block between", graph("100/9 - 100/9", "0>1", "1>2"),
			[]uint64{100, 100, 100}, []uint64{100, 100}},
		{"loop", graph("10/5 1000/5 10/5", "0>1", "1>1", "1>2"),
			[]uint64{10, 1000, 10}, []uint64{10, 990, 10}},
		{"more instructions weigh more", graph("100/1 200/1000 100/1", "0>1", "1>2"),
			[]uint64{200, 200, 200}, []uint64{200, 200}},
		{"one block is entry and exit", graph("70/3"), []uint64{70}, nil},

		{"even: diamond", graph("100/9 - - 100/9", "0>1", "0>2", "1>3", "2>3"),
			[]uint64{100, 50, 50, 100}, []uint64{50, 50, 50, 50}},
		{"even: triangle", graph("100/9 - 100/9", "0>1", "0>2", "1>2"),
			[]uint64{100, 50, 100}, []uint64{50, 50, 50}},
		{"even: long arm and short arm", graph("100/9 - - - 100/9", "0>1", "1>2", "2>4", "0>3", "3>4"),
			[]uint64{100, 50, 50, 50, 100}, []uint64{50, 50, 50, 50, 50}},
		{"even: what does not divide goes to the first", graph("102/9 - - - - 102/9", "0>1", "0>2", "0>3", "0>4", "1>5", "2>5", "3>5", "4>5"),
			[]uint64{102, 26, 26, 25, 25, 102}, []uint64{26, 26, 25, 25, 26, 26, 25, 25}},
		{"even: nested", graph("100/9 - - - - 100/9", "0>1", "0>5", "1>2", "1>3", "2>4", "3>4", "4>5"),
			[]uint64{100, 50, 25, 25, 50, 100}, []uint64{50, 50, 25, 25, 25, 25, 50}},
		{"even: parallel edges", graph("90/9 90/9", "0>1", "0>1", "0>1"),
			[]uint64{90, 90}, []uint64{30, 30, 30}},
		{"even: a dead edge has no share", graph("90/9 90/9", "0>1", "0x1", "0>1"),
			[]uint64{90, 90}, []uint64{45, 0, 45}},
		{"even: equal arms without hits", graph("100/999 0/2 0/2 100/999", "0>1", "0>2", "1>3", "2>3"),
			[]uint64{100, 50, 50, 100}, []uint64{50, 50, 50, 50}},
		{"even: equal arms with too few hits", graph("1000/9999 300/2 300/2 1000/9999", "0>1", "0>2", "1>3", "2>3"),
			[]uint64{1000, 500, 500, 1000}, []uint64{500, 500, 500, 500}},
		{"even: arms of equal length in instructions", graph("100/999 0/3 0/1 0/2 100/999", "0>1", "1>4", "0>2", "2>3", "3>4"),
			[]uint64{100, 50, 50, 50, 100}, []uint64{50, 50, 50, 50, 50}},
		{"even: short circuit", graph("100/9 - - - 100/9", "0>1", "0>2", "1>2", "1>3", "2>4", "3>4"),
			[]uint64{100, 50, 75, 25, 100}, []uint64{50, 50, 25, 25, 75, 25}},
		{"even: beside a known arm", graph("100/9 - - 40/9 100/9", "0>1", "0>2", "0>3", "1>4", "2>4", "3>4"),
			[]uint64{100, 30, 30, 40, 100}, []uint64{30, 30, 40, 30, 30, 40}},

		{"join: isolated loop", graph("0/4 1000/4 0/4", "0>1", "1>1", "1>2"),
			[]uint64{1, 1001, 1}, []uint64{1, 1000, 1}},
		{"join: two loops on one path", graph("0/4 500/4 0/4 500/4 0/4", "0>1", "1>1", "1>2", "2>3", "3>3", "3>4"),
			[]uint64{1, 501, 1, 501, 1}, []uint64{1, 500, 1, 1, 500, 1}},
		{"join: by the path with fewer instructions", graph("0/4 0/9 0/2 1000/4 0/4", "0>1", "0>2", "1>3", "2>3", "3>3", "3>4"),
			[]uint64{1, 0, 1, 1001, 1}, []uint64{0, 1, 0, 1, 1000, 1}},
		{"join: an infinite loop cannot be left", graph("0/4 1000/4 0/4", "0>1", "1>1", "1x2", "0>2"),
			[]uint64{0, 1000, 0}, []uint64{0, 1000, 0, 0}},

		{"impossible: only a dead edge leads out", graph("10/4 5/4 10/4", "0>1", "0>2", "1x2"),
			[]uint64{10, 0, 10}, []uint64{0, 10, 0}},
		{"impossible: no successor", graph("10/4 5/4 10/4", "0>1", "0>2"),
			[]uint64{10, 0, 10}, []uint64{0, 10}},
		{"impossible: no predecessor", graph("10/4 5/4 10/4", "1>2", "0>2"),
			[]uint64{10, 0, 10}, []uint64{0, 10}},
		{"impossible: loop that is not reached", graph("10/4 5/4 10/4", "1>1", "1>2", "0>2"),
			[]uint64{10, 0, 10}, []uint64{0, 0, 10}},
		{"impossible: no way to the exit", graph("10/4 5/4 10/4", "0>1"),
			[]uint64{0, 0, 0}, []uint64{0}},

		{"branches: observed edges decide", graph("100/1 - - 100/1", "0>1=80", "0>2=20", "1>3", "2>3"),
			[]uint64{100, 80, 20, 100}, []uint64{80, 20, 80, 20}},
		{"branches: dead edge with a count", graph("100/1 100/1 100/1", "0>1=100", "1>2=100", "0x2=30"),
			[]uint64{100, 100, 100}, []uint64{100, 100, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustInfer(t, c.g)
			if !reflect.DeepEqual(r.Blocks, c.block) {
				t.Errorf("blocks %v, want %v", r.Blocks, c.block)
			}
			if len(c.edge)+len(r.Edges) > 0 && !reflect.DeepEqual(r.Edges, c.edge) {
				t.Errorf("edges %v, want %v", r.Edges, c.edge)
			}
		})
	}
}

func TestQuality(t *testing.T) {
	for _, c := range []struct {
		name string
		g    *Graph
		want Quality // the exact ones
	}{
		{"consistent", graph("10/4 7/3 3/5 10/1", "0>1", "0>2", "1>3", "2>3"),
			Quality{Observed: 86, Overlap: 1}},
		{"nothing sampled", graph("0/4 0/3", "0>1"), Quality{Overlap: 1}},
		{"nothing observed", graph("- -", "0>1"), Quality{Overlap: 1}},
		{"corrected", graph("100/9 - 90/1", "0>1", "1>2"),
			Quality{Observed: 990, Correction: 18. / 990, Overlap: .9 + 90./990}},
		{"only a dead edge leads out", graph("1000/4 5/3 1000/4", "0>1=7", "0>2", "1x2=6"),
			Quality{Observed: 8015, Correction: 15. / 8015, Overlap: 8000. / 8015, Unexplained: 15, UnexplainedEdges: 13}},
		{"isolated loop", graph("0/4 1000/4 0/4", "0>1", "1>1", "1>2"),
			Quality{Observed: 4000, Overlap: 1, Joined: 1}},
		{"infinite loop", graph("0/4 1000/4 0/4", "0>1", "1>1", "1x2", "0>2"),
			Quality{Observed: 4000, Overlap: 1, Unjoined: 4000}},
		{"most samples in code that is not reached", graph("100/4 1000/4 100/4", "0>2", "1>2"),
			Quality{Observed: 4800, Correction: 8000. / 4800, Overlap: 2. / 12, Unexplained: 4000, Unreached: 4000, FellBack: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := mustInfer(t, c.g).Quality
			q.Noise, q.LooseOverlap = 0, 0
			near := func(a, b float64) bool { return math.Abs(a-b) <= .004*math.Abs(b) }
			if !near(q.Observed, c.want.Observed) || !near(q.Correction, c.want.Correction) || !near(q.Overlap, c.want.Overlap) ||
				!near(q.Unexplained, c.want.Unexplained) || !near(q.Unreached, c.want.Unreached) || !near(q.UnexplainedEdges, c.want.UnexplainedEdges) || !near(q.Unjoined, c.want.Unjoined) ||
				q.Joined != c.want.Joined || q.FellBack != c.want.FellBack {
				t.Errorf("got  %+v\nwant %+v", q, c.want)
			}
		})
	}
}

// What the graph explains is scaled to the weight of all measurements, but no
// block gets hotter than any was measured.
func TestFallBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		g     *Graph
		entry uint64
	}{
		{"weight", graph("1000/4 1500/8 1000/4", "0>2"), 1500},
		{"more weight", graph("1000/4 1800/8 1000/4", "0>2"), 1800},
		{"hottest block", graph("1000/4 1500/80 1000/4", "0>2"), 1500},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.g.Leaky = true
			r := mustInfer(t, c.g)
			if !r.FellBack || r.LooseOverlap < .9999 {
				t.Errorf("fell back: %v, overlap %v of the fit with leaks", r.FellBack, r.LooseOverlap)
			}
			if r.Entry != c.entry {
				t.Errorf("entry %d, want %d", r.Entry, c.entry)
			}
			if x := r.Loose.Blocks[1]; x != c.g.Blocks[1].Count {
				t.Errorf("loose count %d, want %d", x, c.g.Blocks[1].Count)
			}
		})
	}
}

func TestMinEntry(t *testing.T) {
	for _, c := range []struct {
		name  string
		g     *Graph
		block []uint64
	}{
		{"no counts", graph("0/4 0/4", "0>1"), []uint64{0, 0}},
		{"above", graph("20/4 20/4", "0>1"), []uint64{20, 20}},
		{"below", graph("5/4 2/4 3/4 5/4", "0>1", "0>2", "1>3", "2>3"), []uint64{16, 13, 3, 16}},
		{"one isolated loop", graph("0/4 1000/4 0/4", "0>1", "1>1", "1>2"), []uint64{16, 1016, 16}},
		{"infinite loop", graph("0/4 1000/4 0/4", "0>1", "1>1"), []uint64{0, 1000, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.g.MinEntry = 16
			if r := mustInfer(t, c.g); !reflect.DeepEqual(r.Blocks, c.block) {
				t.Errorf("blocks %v, want %v", r.Blocks, c.block)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	ok := func() *Graph { return graph("1/1 1/1", "0>1") }
	for _, c := range []struct {
		spoil func(g *Graph)
		err   string
	}{
		{func(g *Graph) { g.Entry = 2 }, "flow: entry block 2: want one of the 2 blocks"},
		{func(g *Graph) { g.Exit = -1 }, "flow: exit block -1: want one of the 2 blocks"},
		{func(g *Graph) { g.Blocks = nil }, "flow: entry block 0: want one of the 0 blocks"},
		{func(g *Graph) { g.Edges[0].To = 2 }, "flow: edge 0 from block 0 to block 2: want two of the 2 blocks"},
		{func(g *Graph) { g.Edges[0].From = -1 }, "flow: edge 0 from block -1 to block 1: want two of the 2 blocks"},
		{func(g *Graph) { g.Unit = -1 }, "flow: unit -1: want 9.5367431640625e-07 to 1.099511627776e+12"},
		{func(g *Graph) { g.Unit = math.NaN() }, "flow: unit NaN: want 9.5367431640625e-07 to 1.099511627776e+12"},
	} {
		g := ok()
		c.spoil(g)
		if _, err := Infer(t.Context(), g); err == nil || err.Error() != c.err {
			t.Errorf("got %v, want %s", err, c.err)
		}
	}
}
