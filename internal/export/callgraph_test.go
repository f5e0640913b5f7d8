package export

import (
	"math/rand/v2"
	"testing"
)

// randomGraph makes functions that call each other, also in circles.
func randomGraph(r *rand.Rand) *callGraph {
	n := 2 + r.IntN(12)
	g := &callGraph{
		own: make([]float64, n), entries: make([]uint64, n),
		places: make([][]cost, n), out: make([][]*arc, n), in: make([][]*arc, n),
	}
	for f := range n {
		for k := range 1 + r.IntN(4) {
			own := float64(r.IntN(5000))
			g.places[f] = append(g.places[f], cost{place: k, own: own})
			g.own[f] += own
		}
		g.entries[f] = uint64(r.IntN(1000))
		for range r.IntN(4) {
			a := &arc{from: f, to: r.IntN(n), place: r.IntN(4), count: uint64(1 + r.IntN(1000))}
			g.out[f] = append(g.out[f], a)
			g.in[a.to] = append(g.in[a.to], a)
		}
	}
	return g
}

// TestStacks takes call graphs apart: all that was executed is in stacks, each
// of which is a way through the graph, and each function has what was executed
// in it.
func TestStacks(t *testing.T) {
	for seed := range uint64(2000) {
		g := randomGraph(rand.New(rand.NewPCG(seed, 7)))
		g.solve()
		arcs := 0
		var want uint64
		for f := range g.out {
			arcs += len(g.out[f])
			want += g.roots[f]
		}
		places := 0
		for _, list := range g.places {
			places += len(list)
		}
		stacks := g.stacks()
		if len(stacks) > arcs+places+len(g.own) {
			t.Errorf("%d: %d stacks of %d arcs and %d places", seed, len(stacks), arcs, places)
		}
		own := make([]float64, len(g.own))
		var sum uint64
		for _, s := range stacks {
			at := -1
			for k, a := range s.arcs {
				if at >= 0 && a.from != at || a.back && k < len(s.arcs)-1 {
					t.Fatalf("%d: no way through the graph: %+v", seed, s)
				}
				at = a.to
			}
			if at >= 0 && at != s.leaf || s.weight == 0 {
				t.Fatalf("%d: %+v", seed, s)
			}
			own[s.leaf] += float64(s.weight)
			sum += s.weight
		}
		if sum != want {
			t.Errorf("%d: stacks have %d of %d", seed, sum, want)
		}
		for f, n := range own {
			// Each place and arc is rounded once, and what goes down is
			// divided again.
			if room := float64(arcs + places + len(own)); n < g.own[f]-room || n > g.own[f]+room {
				t.Errorf("%d: function %d has %v of %v", seed, f, n, g.own[f])
			}
		}
		for f := range g.out {
			for _, a := range g.out[f] {
				if a.flow != 0 {
					t.Errorf("%d: %d is left of a call", seed, a.flow)
				}
			}
			for _, c := range g.places[f] {
				if c.flow != 0 {
					t.Errorf("%d: %d is left of a place", seed, c.flow)
				}
			}
		}
	}
}

// TestRecursion gives calls that lead back their share of the function's work.
func TestRecursion(t *testing.T) {
	g := &callGraph{
		own:     []float64{10, 990},
		entries: []uint64{1, 99},
		places:  [][]cost{{{place: 0, own: 10}}, {{place: 0, own: 990}}},
		out:     make([][]*arc, 2),
		in:      make([][]*arc, 2),
	}
	call, again := &arc{from: 0, to: 1, count: 9}, &arc{from: 1, to: 1, count: 90}
	g.out[0], g.out[1] = []*arc{call}, []*arc{again}
	g.in[1] = []*arc{call, again}
	g.solve()
	if !again.back || again.flow != 900 || call.flow != 990 || g.roots[0] != 1000 || g.roots[1] != 0 {
		t.Errorf("call %+v, again %+v, roots %v", call, again, g.roots)
	}
}
