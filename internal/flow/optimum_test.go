package flow

import (
	"math"
	"math/rand/v2"
	"testing"
)

// This file checks the solver against a second implementation of the whole
// problem: costs in floating point from their description in doc.go, networks
// with two nodes for every block, and successive shortest paths by Bellman
// and Ford; and that one against trying every flow.

// A refCost is a convex cost: slope[i] holds from start[i] to start[i+1].
type refCost struct {
	start, slope []float64
}

func (c refCost) at(x float64) float64 {
	sum := 0.0
	for i, s := range c.start {
		if x <= s {
			break
		}
		end := x
		if i+1 < len(c.start) {
			end = min(end, c.start[i+1])
		}
		sum += c.slope[i] * (end - s)
	}
	return sum
}

func refLinear(slope float64) refCost { return refCost{[]float64{0}, []float64{slope}} }

func refDeviance(c, n, unit float64) refCost {
	if c == 0 {
		return refLinear(n)
	}
	sigma := unit * math.Sqrt(max(c/unit, .5/n)/n)
	ks := []float64{.25, .5, .75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256}
	points := []float64{0}
	for i := len(ks) - 1; i >= 0; i-- {
		if b := math.Floor(c - ks[i]*sigma); b >= 1 && b > points[len(points)-1] {
			points = append(points, b)
		}
	}
	if c > points[len(points)-1] {
		points = append(points, c)
	}
	for _, k := range ks {
		if b := math.Ceil(c + k*sigma); b > points[len(points)-1] {
			points = append(points, b)
		}
	}
	r := refCost{start: points}
	for i, a := range points {
		switch {
		case i == 0:
			r.slope = append(r.slope, -60*n)
		case i == len(points)-1:
			r.slope = append(r.slope, n)
		default:
			r.slope = append(r.slope, n*(1-c/((a+points[i+1])/2)))
		}
	}
	return r
}

type refArc struct {
	from, to int
	cost     refCost
	least    float64 // flow of least cost
}

// A refModel is a graph as the reference sees it: arcs[:blocks] are the
// blocks, then come the edges, then the way back, then the leaks.
type refModel struct {
	nodes int
	arcs  []refArc
}

func newRefModel(g *Graph, leaky bool) *refModel {
	n := len(g.Blocks)
	m := &refModel{nodes: 2*n + 1}
	reached := make([]bool, n)
	reached[g.Entry] = true
	for range g.Blocks {
		for _, e := range g.Edges {
			if !e.Dead && reached[e.From] {
				reached[e.To] = true
			}
		}
	}
	measured := func(o Obs) (refCost, float64) {
		if o.N == 0 {
			return refLinear(0), 0
		}
		return refDeviance(float64(o.Count), o.N, g.Unit), float64(o.Count)
	}
	sum, known := 0.0, 0.0
	for v, o := range g.Blocks {
		c, least := measured(o)
		m.arcs = append(m.arcs, refArc{2 * v, 2*v + 1, c, least})
		if o.N > 0 {
			sum += o.N
			known++
		}
	}
	for _, e := range g.Edges {
		c, least := measured(e.Obs)
		if e.Obs.N == 0 && g.Blocks[e.From].N > 0 {
			total, ok, ways := 0.0, true, 0
			for _, d := range g.Edges {
				if d.From == e.From && !d.Dead {
					ok = ok && g.Blocks[d.To].N > 0
					total += float64(g.Blocks[d.To].Count)
					ways++
				}
			}
			if ok && total > 0 && ways > 1 {
				from, to := float64(g.Blocks[e.From].Count), float64(g.Blocks[e.To].Count)
				least = math.Floor(from * (to / total))
				worth := 1.0 / 64 / max(1, from/g.Unit, to/g.Unit)
				c = refCost{[]float64{0, least}, []float64{-worth, worth}}
				if least == 0 {
					c = refLinear(worth)
				}
			}
		}
		if e.Dead || !leaky && !reached[e.From] {
			c, least = refLinear(math.Inf(1)), 0
		}
		m.arcs = append(m.arcs, refArc{2*e.From + 1, 2 * e.To, c, least})
	}
	c, least := measured(g.EntryObs)
	m.arcs = append(m.arcs, refArc{2 * n, 2 * g.Entry, c, least})
	m.arcs = append(m.arcs, refArc{2*g.Exit + 1, 2 * n, refLinear(0), 0})
	if !leaky {
		return m
	}
	for v := range g.Blocks {
		in, out := 0.0, sum/max(known, 1)
		for _, e := range g.Edges {
			if e.To == v && e.From != v && !e.Dead {
				in = sum / max(known, 1)
			}
		}
		if v == g.Entry {
			in = sum / max(known, 1)
		}
		leaves := false
		for _, e := range g.Edges {
			leaves = leaves || e.From == v && !e.Dead
		}
		if !leaves {
			out = 0
		}
		m.arcs = append(m.arcs, refArc{2 * n, 2 * v, refLinear(in), 0}, refArc{2*v + 1, 2 * n, refLinear(out), 0})
	}
	return m
}

// optimum returns the least cost of a circulation: every arc starts at its own
// least cost, then excess moves to deficits by shortest paths.
func (m *refModel) optimum() float64 {
	x := make([]float64, len(m.arcs))
	excess := make([]float64, m.nodes)
	for i, a := range m.arcs {
		x[i] = a.least
		excess[a.to] += a.least
		excess[a.from] -= a.least
	}
	dist := make([]float64, m.nodes)
	via := make([]int, m.nodes) // arc, ^arc against its direction
	up := make([]float64, len(m.arcs))
	down := make([]float64, len(m.arcs))
	for {
		worst := 0.0
		for v, e := range excess {
			worst = max(worst, e)
			dist[v] = math.Inf(1)
			if e > 0 {
				dist[v] = 0
			}
		}
		if worst == 0 {
			break
		}
		for i, a := range m.arcs {
			up[i], _ = a.cost.up(x[i])
			down[i] = math.Inf(1)
			if x[i] > 0 {
				slope, _ := a.cost.down(x[i])
				down[i] = -slope
			}
		}
		for changed := true; changed; {
			changed = false
			for i, a := range m.arcs {
				if d := dist[a.from] + up[i]; d < dist[a.to]-1e-9 {
					dist[a.to], via[a.to], changed = d, i, true
				}
				if d := dist[a.to] + down[i]; d < dist[a.from]-1e-9 {
					dist[a.from], via[a.from], changed = d, ^i, true
				}
			}
		}
		end := -1
		for v, e := range excess {
			if e < 0 && (end < 0 || dist[v] < dist[end]) {
				end = v
			}
		}
		d, v := -excess[end], end
		for dist[v] != 0 || excess[v] <= 0 {
			if i := via[v]; i >= 0 {
				_, room := m.arcs[i].cost.up(x[i])
				d, v = min(d, room), m.arcs[i].from
			} else {
				_, room := m.arcs[^i].cost.down(x[^i])
				d, v = min(d, room), m.arcs[^i].to
			}
		}
		d = min(d, excess[v])
		excess[v] -= d
		excess[end] += d
		for u := end; u != v; {
			if i := via[u]; i >= 0 {
				x[i] += d
				u = m.arcs[i].from
			} else {
				x[^i] -= d
				u = m.arcs[^i].to
			}
		}
	}
	return m.cost(x)
}

func (m *refModel) cost(x []float64) float64 {
	sum := 0.0
	for i, a := range m.arcs {
		if x[i] > 0 || a.least > 0 {
			sum += a.cost.at(x[i]) - a.cost.at(a.least)
		}
	}
	return sum
}

func (c refCost) up(x float64) (slope, room float64) {
	i := 0
	for i+1 < len(c.start) && c.start[i+1] <= x {
		i++
	}
	if i+1 < len(c.start) {
		return c.slope[i], c.start[i+1] - x
	}
	return c.slope[i], math.Inf(1)
}

func (c refCost) down(x float64) (slope, room float64) {
	i := 0
	for i+1 < len(c.start) && c.start[i+1] < x {
		i++
	}
	return c.slope[i], x - c.start[i]
}

// flowOf spells out a stream as flows of the model's arcs. Leaks are what
// conservation lacks; entry and exit need none.
func (m *refModel) flowOf(t *testing.T, g *Graph, s stream, leaky bool) []float64 {
	t.Helper()
	x := make([]float64, len(m.arcs))
	n, e := len(g.Blocks), len(g.Edges)
	in := make([]int64, n)
	out := make([]int64, n)
	for v, c := range s.block {
		x[v] = float64(c)
	}
	for i, c := range s.edge {
		x[n+i] = float64(c)
		out[g.Edges[i].From] += c
		in[g.Edges[i].To] += c
	}
	in[g.Entry] += s.entry
	x[n+e] = float64(s.entry)
	for v := range g.Blocks {
		less := s.block[v] - out[v]
		switch more := s.block[v] - in[v]; {
		case less < 0 || more < 0:
			t.Fatalf("block %d: count %d, in %d, out %d", v, s.block[v], in[v], out[v])
		case v == g.Exit && (leaky || less == s.entry):
			x[n+e+1] = float64(less)
			less = 0
			fallthrough
		default:
			if leaky {
				x[n+e+2+2*v], x[n+e+3+2*v] = float64(more), float64(less)
			} else if more != 0 || less != 0 {
				t.Fatalf("block %d: count %d, in %d, out %d, entry %d", v, s.block[v], in[v], out[v], s.entry)
			}
		}
	}
	return x
}

// randomGraph returns a graph of up to 8 blocks with anything a graph may have.
func randomGraph(r *rand.Rand) *Graph {
	n := 1 + r.IntN(8)
	g := &Graph{Blocks: make([]Obs, n), Entry: r.IntN(n), Exit: r.IntN(n), Unit: []float64{1, 16, 256}[r.IntN(3)]}
	obs := func(n float64) Obs {
		switch r.IntN(6) {
		case 0:
			return Obs{N: n}
		case 1:
			return Obs{Count: uint64(r.IntN(10)), N: n}
		case 2:
			return Obs{Count: uint64(r.IntN(1e6)), N: n}
		default:
			return Obs{Count: uint64(math.Exp(r.Float64() * 12)), N: n}
		}
	}
	branches := r.IntN(2) == 0
	for v := range g.Blocks {
		switch {
		case r.IntN(5) == 0:
		case branches:
			g.Blocks[v] = obs(1)
		default:
			g.Blocks[v] = obs(float64(1 + r.IntN(20)))
		}
	}
	for range r.IntN(2*n + 2) {
		e := Edge{From: r.IntN(n), To: r.IntN(n), Dead: r.IntN(12) == 0}
		if branches && r.IntN(8) > 0 {
			e.Obs = obs(1)
		}
		g.Edges = append(g.Edges, e)
	}
	if branches && r.IntN(2) == 0 {
		g.EntryObs = obs(1)
	}
	if r.IntN(4) > 0 { // a way through as in real functions
		for v := 1; v < n; v++ {
			g.Edges = append(g.Edges, Edge{From: r.IntN(v), To: v})
		}
		g.Entry, g.Exit = 0, n-1
	}
	return g
}

func TestOptimum(t *testing.T) {
	const graphs = 10000
	r := rand.New(rand.NewPCG(1, 2))
	flowing := 0
	for k := range graphs {
		g := randomGraph(r)
		leaky := k%4 == 3
		l := newLayout(g)
		f := fitting{l, newEvidence(g)}
		s := fit(t, f, leaky)
		m := newRefModel(g, leaky)
		got := m.cost(m.flowOf(t, g, s, leaky))
		want := m.optimum()
		if math.Abs(got-want) > 1e-3+1e-7*want {
			t.Fatalf("graph %d: cost %v, optimum %v\n%+v\n%+v", k, got, want, g, s)
		}
		for _, x := range s.block {
			if x > 0 {
				flowing++
				break
			}
		}
	}
	if flowing < graphs/2 {
		t.Errorf("only %d of %d graphs have flow", flowing, graphs)
	}
}

// TestReference checks the reference by trying every flow of small graphs.
func TestReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := 0; k < 300; {
		g := randomGraph(r)
		if len(g.Blocks) > 4 || len(g.Edges) > 4 {
			continue
		}
		k++
		for v := range g.Blocks {
			g.Blocks[v].Count %= 6
		}
		for i := range g.Edges {
			g.Edges[i].Obs.Count %= 6
		}
		g.EntryObs.Count %= 6
		m := newRefModel(g, false)
		best := math.Inf(1)
		const most = 8 // no flow of least cost exceeds what was counted by more
		x := make([]float64, len(m.arcs))
		n, edges := len(g.Blocks), len(g.Edges)
		free := x[n : n+edges+1] // edges and entry; blocks and exit follow
		for {
			in := make([]float64, n)
			out := make([]float64, n)
			for i, e := range g.Edges {
				in[e.To] += free[i]
				out[e.From] += free[i]
			}
			in[g.Entry] += free[edges]
			out[g.Exit] += free[edges]
			ok := true
			for v := range in {
				ok = ok && in[v] == out[v]
			}
			if ok {
				copy(x, in)
				x[n+edges+1] = free[edges]
				best = min(best, m.cost(x))
			}
			i := 0
			for ; i < len(free) && free[i] == most; i++ {
				free[i] = 0
			}
			if i == len(free) {
				break
			}
			free[i]++
		}
		if got := m.optimum(); math.Abs(got-best) > 1e-6 {
			t.Errorf("graph %d: reference found %v, trying all flows %v: %+v", k, got, best, g)
		}
	}
}
