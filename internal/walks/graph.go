package walks

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// graph is the input as a circulation. Node hub stands for the world outside
// the chains: a chain that starts at token t is an arc hub->t, one that ends
// there is an arc t->hub. Then as much flows into every node as out of it, and
// a walk is a closed walk that meets the hub once.
//
// Arcs are numbered by tail and then head, the hub being the greatest node.
// Only arcs with flow exist.
type graph struct {
	hub    int32
	out    []int32 // the arcs out of v are out[v] to out[v+1]-1
	to     []int32
	flow   []uint64
	exits  []int32 // the arcs to the hub
	byFlow []int32 // arcs, greatest flow first
	lead   []int32 // per node the arc out of it that comes first by flow
}

// newGraph makes the circulation. Visits that are too few for the transitions
// of their token are raised, and a component that no chain enters or leaves
// gets a start and an end; extra is the number of visits added. Transitions
// whose sum at a token is beyond 64 bits are lowered; lost is the number of
// pairs taken away.
func newGraph(visits []uint64, trans []Transition, maxLen int) (g *graph, extra, lost uint64) {
	n := len(visits)
	trans, lost = clampSums(n, trans)
	starts, ends := make([]uint64, n), make([]uint64, n)
	for _, t := range trans {
		starts[t.To] += t.Count
		ends[t.From] += t.Count
	}
	for v, a := range visits {
		in, out := starts[v], ends[v]
		need := max(a, in, out)
		extra = satAdd(extra, need-a)
		starts[v], ends[v] = need-in, need-out
	}
	extra = satAdd(extra, openClosed(trans, starts, ends, maxLen))

	first, last := 0, 0
	for v := range n {
		if starts[v] > 0 {
			first++
		}
		if ends[v] > 0 {
			last++
		}
	}
	arcs := len(trans) + first + last
	g = &graph{
		hub: int32(n), out: make([]int32, n+2),
		to: make([]int32, 0, arcs), flow: make([]uint64, 0, arcs), exits: make([]int32, 0, last),
	}
	add := func(to int32, flow uint64) {
		if flow > 0 {
			g.to, g.flow = append(g.to, to), append(g.flow, flow)
		}
	}
	for v := range g.hub {
		g.out[v] = int32(len(g.to))
		for len(trans) > 0 && trans[0].From == v {
			add(trans[0].To, trans[0].Count)
			trans = trans[1:]
		}
		if ends[v] > 0 {
			g.exits = append(g.exits, int32(len(g.to)))
			add(g.hub, ends[v])
		}
	}
	g.out[g.hub] = int32(len(g.to))
	for v := range g.hub {
		add(v, starts[v])
	}
	g.out[g.hub+1] = int32(len(g.to))

	g.byFlow = make([]int32, len(g.to))
	for k := range g.byFlow {
		g.byFlow[k] = int32(k)
	}
	slices.SortFunc(g.byFlow, g.compareFlow)
	g.lead = make([]int32, n+1)
	for v := range g.lead {
		g.lead[v] = g.out[v]
		for k := g.out[v]; k < g.out[v+1]; k++ {
			if g.flow[k] > g.flow[g.lead[v]] {
				g.lead[v] = k
			}
		}
	}
	return g, extra, lost
}

// compareFlow orders arcs, those with the greatest flow first.
func (g *graph) compareFlow(a, b int32) int {
	return cmp.Or(cmp.Compare(g.flow[b], g.flow[a]), cmp.Compare(a, b))
}

// widest is a bound of the multiplicities that walks can have in a flow: no
// more than the greatest start and the greatest end.
func (g *graph) widest(flow []uint64) uint64 {
	var start, end uint64
	for _, k := range g.exits {
		end = max(end, flow[k])
	}
	for k := g.out[g.hub]; k < g.out[g.hub+1]; k++ {
		start = max(start, flow[k])
	}
	return min(start, end)
}

// clampSums returns the transitions with positive counts, lowered where the
// sum into or out of a token would overflow, which counts of real chains
// reach only after they have saturated.
func clampSums(n int, trans []Transition) (kept []Transition, lost uint64) {
	var sum, carries, zeros uint64
	for _, t := range trans {
		s, carry := bits.Add64(sum, t.Count, 0)
		sum, carries = s, carries+carry
		if t.Count == 0 {
			zeros++
		}
	}
	if carries == 0 && zeros == 0 {
		return trans, 0 // as nearly always
	}
	type side struct {
		sum, degree uint64
		over        bool
	}
	into, out := make([]side, n), make([]side, n)
	count := func(s *side, c uint64) {
		sum, carry := bits.Add64(s.sum, c, 0)
		s.sum, s.over = sum, s.over || carry != 0
		s.degree++
	}
	kept = make([]Transition, 0, len(trans))
	for _, t := range trans {
		if t.Count > 0 {
			kept = append(kept, t)
			count(&into[t.To], t.Count)
			count(&out[t.From], t.Count)
		}
	}
	for i := range kept {
		t := &kept[i]
		for _, s := range []side{into[t.To], out[t.From]} {
			if limit := math.MaxUint64 / s.degree; s.over && t.Count > limit {
				lost = satAdd(lost, t.Count-limit)
				t.Count = limit
			}
		}
	}
	return kept, lost
}

// openClosed finds the components of the transitions where no chain starts or
// ends and gives each, at its first token, enough starts and ends for walks
// of maxLen tokens. It returns the number of visits added.
func openClosed(trans []Transition, starts, ends []uint64, maxLen int) (extra uint64) {
	n := int32(len(starts))
	parent := make([]int32, n)
	for v := range parent {
		parent[v] = int32(v)
	}
	find := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for _, t := range trans {
		// The smaller token becomes the root.
		a, b := find(t.From), find(t.To)
		parent[max(a, b)] = min(a, b)
	}
	open := make([]bool, n)
	flow := make([]uint64, n)
	for v := range n {
		open[find(v)] = open[find(v)] || starts[v] > 0 || ends[v] > 0
	}
	for _, t := range trans {
		r := find(t.From)
		flow[r] = satAdd(flow[r], t.Count)
	}
	for v := range n {
		if !open[v] && flow[v] > 0 && find(v) == v {
			add := flow[v]/uint64(maxLen) + 1
			starts[v], ends[v] = add, add
			extra = satAdd(extra, add)
		}
	}
	return extra
}

func satAdd(a, b uint64) uint64 {
	s, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return s
}
