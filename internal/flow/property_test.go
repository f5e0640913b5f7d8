package flow

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// hostileGraph returns a graph without structure: a chain with dead links,
// n/2 edges between any two blocks, and counts of any size.
func hostileGraph(r *rand.Rand, n int) *Graph {
	g := &Graph{Exit: n - 1, Unit: math.Exp2(float64(r.IntN(9))), Leaky: r.IntN(4) == 0, MinEntry: uint64(r.IntN(20))}
	spread := r.Float64() * 44
	for v := range n {
		o := Obs{uint64(math.Exp(r.Float64() * spread)), float64(1 + r.IntN(30))}
		switch r.IntN(40) {
		case 0:
			o = Obs{1 << 60, 1}
		case 1:
			o = Obs{math.MaxUint64, math.Inf(1)}
		case 2:
			o = Obs{1e6, math.NaN()}
		case 3:
			o = Obs{1e6, -5}
		case 4:
			o = Obs{1e6, 1e-300}
		case 5, 6, 7, 8:
			o.Count = 0
		case 9, 10, 11, 12:
			o.N = 0
		}
		g.Blocks = append(g.Blocks, o)
		if v > 0 {
			g.Edges = append(g.Edges, Edge{From: v - 1, To: v, Dead: r.IntN(50) == 0})
		}
	}
	for range n / 2 {
		e := Edge{From: r.IntN(n), To: r.IntN(n), Dead: r.IntN(10) == 0}
		if r.IntN(3) == 0 {
			e.Obs = Obs{uint64(math.Exp(r.Float64() * spread)), 1}
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for k := range 220 {
		n := 2 + r.IntN(60)
		if k >= 200 {
			n = 400
		}
		g := hostileGraph(r, n)
		res := mustInfer(t, g)
		again := mustInfer(t, g)
		if !reflect.DeepEqual(res, again) {
			t.Errorf("graph %d: two results", k)
		}
		if t.Failed() {
			t.Fatalf("graph %d: %+v", k, g)
		}
	}
}

func fit(t *testing.T, f fitting, leaky bool) stream {
	t.Helper()
	s, err := f.fit(t.Context(), leaky)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Edges in another order are the same graph: the cost, if not the choice among
// equal flows, must be the same.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		g := randomGraph(r)
		f := fitting{newLayout(g), newEvidence(g)}
		m := newRefModel(g, false)
		cost := m.cost(m.flowOf(t, g, fit(t, f, false), false))
		r.Shuffle(len(g.Edges), func(i, j int) { g.Edges[i], g.Edges[j] = g.Edges[j], g.Edges[i] })
		f = fitting{newLayout(g), newEvidence(g)}
		m = newRefModel(g, false)
		if c := m.cost(m.flowOf(t, g, fit(t, f, false), false)); math.Abs(c-cost) > 1e-3+1e-7*cost {
			t.Errorf("cost %v, shuffled %v: %+v", cost, c, g)
		}
	}
}

// A function that takes long does not keep a command from being stopped.
func TestInterrupted(t *testing.T) {
	g := unstructuredGraph(rand.New(rand.NewPCG(9, 10)), 3000)
	ctx, cancel := context.WithCancel(t.Context())
	after := &countdown{Context: ctx, cancel: cancel, calls: 20}
	r, err := Infer(after, g)
	if r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", r != nil, err)
	}
	if after.calls < -20 {
		t.Errorf("asked %d times more", -after.calls)
	}
}

// A countdown is done when it was asked so many times.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	calls  int
}

func (c *countdown) Err() error {
	if c.calls--; c.calls <= 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// Pivots alone, from a circulation that is far from optimal, end at the same
// cost as scaling does.
func TestPivots(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for k := range 60 {
		g := randomGraph(r)
		if k%3 == 0 {
			g = unstructuredGraph(r, 20+r.IntN(200))
		}
		f := fitting{newLayout(g), newEvidence(g)}
		ref := newRefModel(g, false)
		want := ref.cost(ref.flowOf(t, g, fit(t, f, false), false))
		m := newModel(f.layout, f.costs(f.layout, false))
		m.net = newNetwork(m.nodes, m.wires, m.unit, float64(m.nodes)+1)
		s := solver{network: m.net, ctx: t.Context(), basis: basis{net: m.net}}
		s.prepare()
		if !s.refine(s.steepest(), math.MaxInt) {
			t.Fatalf("graph %d: no circulation", k)
		}
		if !s.basis.optimize(t.Context(), math.MaxInt, math.MaxInt) {
			t.Fatalf("graph %d: a price passed its bound", k)
		}
		if got := ref.cost(ref.flowOf(t, g, m.read(), false)); math.Abs(got-want) > 1e-3+1e-7*want {
			t.Errorf("graph %d: cost %v, want %v", k, got, want)
		}
	}
}

// A chain of which one half was hot and the other cold sets prices further
// apart than the first attempt allows for.
func TestPricesFarApart(t *testing.T) {
	const n = 3000
	g := &Graph{Exit: n - 1, Unit: 1}
	for v := range n {
		g.Blocks = append(g.Blocks, Obs{uint64(v/(n/2)) * 1e6, 1 << 15})
		// Two edges, so that no block is merged into the next.
		if v > 0 {
			g.Edges = append(g.Edges, Edge{From: v - 1, To: v}, Edge{From: v - 1, To: v})
		}
	}
	l := newLayout(g)
	m := newModel(l, newEvidence(g).costs(l, false))
	if w := newNetwork(m.nodes, m.wires, m.unit, 1); w.solve(t.Context(), false) {
		t.Error("prices kept within their bound: nothing to test")
	}
	m.net = newNetwork(m.nodes, m.wires, m.unit, float64(m.nodes)+1)
	if !m.net.solve(t.Context(), true) {
		t.Fatal("the careful attempt failed")
	}
	x := m.read().block[0]
	// As far down as the hot half goes for less than lossFactor.
	want := int64(1e6 - 256*math.Sqrt(1e6/(1<<15)))
	if x != want {
		t.Errorf("count %d, want %d", x, want)
	}
	mustInfer(t, g)
}

func TestLargeCounts(t *testing.T) {
	const c = 1 << 60
	r := mustInfer(t, graph("- - - -", "0>1", "0>2", "1>3", "2>3"))
	if r.Shift != 0 {
		t.Errorf("no counts: shift %d", r.Shift)
	}
	g := graph("- - - -", "0>1", "0>2", "1>3", "2>3")
	for v := range g.Blocks {
		g.Blocks[v] = Obs{c, 1}
	}
	g.Blocks[1].Count, g.Blocks[2].Count = c/4*3, c/4
	r = mustInfer(t, g)
	for v, x := range r.Blocks {
		if want := float64(g.Blocks[v].Count); r.Shift != 0 || math.Abs(float64(x)/want-1) > 1e-6 {
			t.Errorf("block %d: %d << %d, want %v", v, x, r.Shift, want)
		}
	}

	// 40 arms of 2^60 meet in a block.
	g = &Graph{Blocks: make([]Obs, 42), Exit: 41}
	for v := 1; v <= 40; v++ {
		g.Blocks[v] = Obs{c, 5}
		g.Edges = append(g.Edges, Edge{From: 0, To: v}, Edge{From: v, To: 41})
	}
	r = mustInfer(t, g)
	if total := float64(r.Blocks[0]) * math.Exp2(float64(r.Shift)); r.Shift == 0 || math.Abs(total/(40*c)-1) > 1e-6 {
		t.Errorf("entry %d << %d, want 40 * 2^60", r.Blocks[0], r.Shift)
	}
}

func FuzzInfer(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		b := make([]byte, 10+r.IntN(100))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		next := func() uint64 {
			var w [8]byte
			b = b[copy(w[:], b):]
			return binary.LittleEndian.Uint64(w[:])
		}
		number := func(n int) int { // below n
			if len(b) == 0 {
				return 0
			}
			x := int(b[0]) % n
			b = b[1:]
			return x
		}
		obs := func() Obs {
			switch number(4) {
			case 0:
				return Obs{}
			case 1:
				return Obs{next(), math.Float64frombits(next())}
			default:
				return Obs{uint64(number(256)), float64(number(16))}
			}
		}
		n := 1 + number(12)
		g := &Graph{Entry: number(n), Exit: number(n), EntryObs: obs(), Leaky: number(2) == 1, MinEntry: uint64(number(32))}
		g.Unit = float64(number(3)) * 100
		for range n {
			g.Blocks = append(g.Blocks, obs())
		}
		for len(b) > 0 && len(g.Edges) < 40 {
			g.Edges = append(g.Edges, Edge{number(n), number(n), number(8) == 7, obs()})
		}
		mustInfer(t, g)
	})
}
