package flow

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestInferCalls(t *testing.T) {
	caller := graph("100/9 60/9 40/9 100/9", "0>1", "0>2", "1>3", "2>3")
	callee := func(known bool) *Graph {
		g := graph("30/1 30/1", "0>1")
		g.CallsKnown = known
		return g
	}
	call := []Call{{Caller: 0, Block: 1, Callee: 1}, {Caller: 0, Block: 2, Callee: 1}}
	for _, c := range []struct {
		name   string
		callee *Graph
		calls  []Call
		rounds int
		entry  uint64 // of the callee, at least and
		most   uint64
	}{
		{"no rounds", callee(true), call, 0, 30, 30},
		{"not all calls known", callee(false), call, 3, 30, 30},
		{"no calls", callee(true), nil, 3, 30, 30},
		{"calls", callee(true), call, 3, 60, 100},
		{"one of two calls", callee(true), call[1:], 3, 31, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs, err := InferCalls(t.Context(), []*Graph{caller, c.callee}, c.calls, c.rounds, 2)
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, caller, rs[0])
			checkResult(t, c.callee, rs[1])
			if e := rs[1].Entry; e < c.entry || e > c.most {
				t.Errorf("entry %d, want %d to %d", e, c.entry, c.most)
			}
		})
	}
}

func TestInferCallsErrors(t *testing.T) {
	g := graph("1/1 1/1", "0>1")
	other := graph("1/1 1/1", "0>1")
	other.Unit = 256
	bad := graph("1/1 1/1", "0>2")
	for _, c := range []struct {
		graphs []*Graph
		call   Call
		err    string
	}{
		{[]*Graph{g, g}, Call{0, 0, 2}, "flow: call 0 from function 0 to function 2: want two of the 2 functions"},
		{[]*Graph{g, g}, Call{-1, 0, 1}, "flow: call 0 from function -1 to function 1: want two of the 2 functions"},
		{[]*Graph{g, g}, Call{0, 2, 1}, "flow: call 0 from block 2 of function 0: want one of its 2 blocks"},
		{[]*Graph{g, other}, Call{0, 0, 1}, "flow: function 1: unit 256: want 1 as in function 0"},
		{[]*Graph{g, bad}, Call{0, 0, 1}, "function 1: flow: edge 0 from block 0 to block 2: want two of the 2 blocks"},
	} {
		if _, err := InferCalls(t.Context(), c.graphs, []Call{c.call}, 1, 2); err == nil || err.Error() != c.err {
			t.Errorf("got %v, want %s", err, c.err)
		}
	}
}

func TestInferCallsEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := graph("1/1 1/1", "0>1")
	if _, err := InferCalls(ctx, []*Graph{g}, nil, 1, 2); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestLibrary compares the entry counts of functions with the truth, without
// and with call constraints.
func TestLibrary(t *testing.T) {
	const libraries, rounds = 10, 3
	for _, c := range []struct {
		hits        float64
		alone, with float64 // overlap at most without and at least with calls
	}{
		{500, .79, .832},
		{5000, .953, .959},
	} {
		var alone, with float64
		for seed := range uint64(libraries) {
			ps, calls := newLibrary(seed, 30)
			r := rand.New(rand.NewPCG(seed, 7))
			total := 0.0
			weights := make([]float64, len(ps))
			var truth []float64
			for i, p := range ps {
				for v, n := range p.insns {
					weights[i] += float64(n) * p.block[v]
				}
				total += weights[i]
				truth = append(truth, p.block[p.g.Entry])
			}
			graphs := make([]*Graph, len(ps))
			for i, p := range ps {
				p.sampleIP(r, c.hits*weights[i]/total)
				graphs[i] = p.g
			}
			entries := func(rounds int) []float64 {
				rs, err := InferCalls(t.Context(), graphs, calls, rounds, 1)
				if err != nil {
					t.Fatal(err)
				}
				again, _ := InferCalls(t.Context(), graphs, calls, rounds, 4)
				if !reflect.DeepEqual(rs, again) {
					t.Error("two results")
				}
				var es []float64
				for i, r := range rs {
					checkResult(t, graphs[i], r)
					es = append(es, float64(r.Entry))
				}
				return es
			}
			alone += overlap(truth, entries(0)) / libraries
			with += overlap(truth, entries(rounds)) / libraries
		}
		t.Logf("%v hits: entries %.4f, with calls %.4f", c.hits, alone, with)
		if alone > c.alone || with < c.with || math.IsNaN(with) {
			t.Errorf("%v hits: want from at most %v to at least %v", c.hits, c.alone, c.with)
		}
	}
}
