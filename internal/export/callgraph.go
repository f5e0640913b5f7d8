package export

import (
	"cmp"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// A database knows how often each call was made and how much was executed in
// each function, but no stacks. Stacks are put together from that: what was
// executed in a function, and in those that it called, is divided among its
// callers like the calls. This is exact if all calls of a function cost the
// same.
//
// Calls that lead back to a function on the way there would make it endless.
// Such an arc takes over the share of the callee's own work that its calls
// have, and goes no further.

// arc is a call site with its callee.
type arc struct {
	from, to int
	place    int // of the call, a number in the caller's places
	count    uint64
	back     bool
	flow     uint64 // what the calls cost, in executed instructions
}

// callGraph is the flow of cost from where callers are not known, through
// calls, to the code where it was spent.
type callGraph struct {
	own     []float64 // executed instructions of each function without its callees'
	places  [][]cost  // where in the function, the most expensive first
	entries []uint64
	out     [][]*arc // the most frequent first
	in      [][]*arc

	roots []uint64 // cost of calls from elsewhere
}

// cost is what was spent at a place of a function.
type cost struct {
	place int
	own   float64
	flow  uint64 // of it, what is not reached by back arcs
}

// solve computes the flow: every unit that enters a function leaves it.
func (g *callGraph) solve() {
	order := g.order() // callees before callers
	cum := make([]float64, len(g.own))
	forward := make([]float64, len(g.own)) // share of the calls that back arcs leave
	weight := func(a *arc) float64 {
		calls, backs := g.calls(a.to)
		if a.back {
			return g.own[a.to] * float64(a.count) / calls
		}
		return cum[a.to] * float64(a.count) / (calls - backs)
	}
	for _, f := range order {
		forward[f] = 1
		if calls, backs := g.calls(f); backs > 0 {
			forward[f] = (calls - backs) / calls
		}
		cum[f] = g.own[f] * forward[f]
		for _, a := range g.out[f] {
			cum[f] += weight(a)
		}
	}
	g.roots = make([]uint64, len(g.own))
	flow := make([]uint64, len(g.own))
	for _, f := range slices.Backward(order) {
		calls, backs := g.calls(f)
		share := 1.0
		if calls > backs {
			share = g.unexplained(f) / (calls - backs)
		}
		g.roots[f] = uint64(min(math.Round(cum[f]*share), 1<<62))
		flow[f] = binfmt.SatAdd(flow[f], g.roots[f])
		var parts []float64
		for _, c := range g.places[f] {
			parts = append(parts, c.own*forward[f])
		}
		for _, a := range g.out[f] {
			parts = append(parts, weight(a))
		}
		whole := divide(flow[f], parts)
		for k := range g.places[f] {
			g.places[f][k].flow = whole[k]
		}
		for k, a := range g.out[f] {
			if a.flow = whole[len(g.places[f])+k]; !a.back {
				flow[a.to] = binfmt.SatAdd(flow[a.to], a.flow)
			}
		}
	}
}

// unexplained is how often a function was called from where nothing is known.
// Counts are estimates, of samples by time bad ones: where known calls explain
// a part of the entries that is worth mention, the rest is taken for error.
func (g *callGraph) unexplained(f int) float64 {
	entries, known := float64(g.entries[f]), 0.0
	for _, a := range g.in[f] {
		known += float64(a.count)
	}
	if known >= entries/16 {
		return 0
	}
	return entries - known
}

// calls returns how often a function was called, and of it by back arcs.
func (g *callGraph) calls(f int) (all, backs float64) {
	all = g.unexplained(f)
	for _, a := range g.in[f] {
		all += float64(a.count)
		if a.back {
			backs += float64(a.count)
		}
	}
	return all, backs
}

// order marks back arcs and returns the functions such that all other arcs
// lead to earlier ones. Functions with unknown callers are where it begins.
func (g *callGraph) order() []int {
	starts := make([]int, len(g.own))
	for k := range starts {
		starts[k] = k
	}
	slices.SortStableFunc(starts, func(a, b int) int { return cmp.Compare(g.unexplained(b), g.unexplained(a)) })
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, len(g.own))
	type frame struct{ f, next int }
	var order []int
	for _, start := range starts {
		if state[start] != fresh {
			continue
		}
		state[start] = open
		stack := []frame{{f: start}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(g.out[top.f]) {
				state[top.f] = done
				order = append(order, top.f)
				stack = stack[:len(stack)-1]
				continue
			}
			a := g.out[top.f][top.next]
			top.next++
			switch state[a.to] {
			case open:
				a.back = true
			case fresh:
				state[a.to] = open
				stack = append(stack, frame{f: a.to})
			}
		}
	}
	return order
}

// divide splits a number in proportion to parts.
func divide(n uint64, parts []float64) []uint64 {
	total := 0.0
	for _, p := range parts {
		total += p
	}
	list := make([]uint64, len(parts))
	sum, before := 0.0, uint64(0)
	for k, p := range parts {
		sum += p
		upTo := n
		if k < len(parts)-1 && total > 0 {
			upTo = uint64(min(math.Round(float64(n)*(sum/total)), float64(n)))
		}
		list[k] = max(upTo, before) - before
		before = max(upTo, before)
	}
	return list
}

// stack is a way through the call graph.
type stack struct {
	arcs   []*arc // from the outermost function
	leaf   int    // function where the cost was spent
	place  int    // in it
	weight uint64
}

// stacks takes the flow apart into as few stacks as there are arcs and places,
// at most: each one uses up an arc or a place.
func (g *callGraph) stacks() []stack {
	var list []stack
	firstArc, firstPlace := make([]int, len(g.own)), make([]int, len(g.own))
	for root := range g.own {
		for g.roots[root] > 0 {
			s := stack{leaf: root, weight: g.roots[root]}
			var sink *cost
			for sink == nil {
				f := s.leaf
				for firstArc[f] < len(g.out[f]) && g.out[f][firstArc[f]].flow == 0 {
					firstArc[f]++
				}
				for firstPlace[f] < len(g.places[f]) && g.places[f][firstPlace[f]].flow == 0 {
					firstPlace[f]++
				}
				if firstArc[f] < len(g.out[f]) {
					a := g.out[f][firstArc[f]]
					s.arcs = append(s.arcs, a)
					s.weight = min(s.weight, a.flow)
					s.leaf = a.to
					if a.back {
						break
					}
					continue
				}
				if firstPlace[f] == len(g.places[f]) {
					break // a function without code of its own
				}
				sink = &g.places[f][firstPlace[f]]
				s.weight = min(s.weight, sink.flow)
			}
			g.roots[root] -= s.weight
			for _, a := range s.arcs {
				a.flow -= s.weight
			}
			if sink != nil {
				sink.flow -= s.weight
				s.place = sink.place
			} else if len(g.places[s.leaf]) > 0 {
				s.place = g.places[s.leaf][0].place
			}
			list = append(list, s)
		}
	}
	return list
}
