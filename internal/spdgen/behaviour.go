package spdgen

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// behaviour is what a program does: how likely each edge is, what indirect
// calls call, and which functions the outside calls.
type behaviour struct {
	edges   [][][]float64 // per function, block and edge: sum of the probabilities up to it
	targets [][]weighted  // per indirect site; none: calls go outside
	roots   []weighted
}

// weighted is a function with the sum of the probabilities up to it.
type weighted struct {
	function int32
	upTo     float64
}

func (p *Program) behave(r *rand.Rand) *behaviour {
	b := &behaviour{}
	for k := range p.functions {
		b.edges = append(b.edges, p.probabilities(r, k))
	}
	called := make([]bool, len(p.functions))
	for k := range p.functions {
		for i := range p.functions[k].Callees {
			if to, known := p.byID[p.functions[k].Callees[i].ID]; known {
				called[to] = true
			}
		}
	}
	var roots, taken []int32
	for k := range p.functions {
		if p.alone[k] < 0 {
			continue
		}
		if !called[k] {
			roots = append(roots, int32(k))
		}
		if p.functions[k].SymbolFlags&spd.SymbolAddressTaken != 0 {
			taken = append(taken, int32(k))
		}
	}
	if len(roots) == 0 {
		roots = append(roots, taken...)
	}
	b.roots = popularity(r, roots, len(roots))
	for range p.sites {
		n := 1 + r.IntN(3)
		if r.IntN(10) == 0 {
			n = 0
		}
		b.targets = append(b.targets, popularity(r, taken, n))
	}
	return b
}

// popularity chooses up to n of some functions, each half as likely as the one
// before it or a little less unlikely.
func popularity(r *rand.Rand, functions []int32, n int) []weighted {
	order := r.Perm(len(functions))
	var list []weighted
	sum, w := 0.0, 1.0
	for _, k := range order[:min(n, len(order))] {
		sum += w
		list = append(list, weighted{functions[k], sum})
		w = max(w*(0.55+0.4*r.Float64()), 0.002)
	}
	for i := range list {
		list[i].upTo /= sum
	}
	return list
}

func pick(r *rand.Rand, list []weighted) int32 {
	x := r.Float64()
	for _, w := range list {
		if x < w.upTo {
			return w.function
		}
	}
	return list[len(list)-1].function
}

// probabilities draws the edges of a function: loops go round a few times or
// often, most other branches have a way that is taken nearly always, and what
// was moved behind the rest of the code is rare.
func (p *Program) probabilities(r *rand.Rand, k int) [][]float64 {
	f := &p.functions[k]
	loops := loopEnds(f)
	all := make([][]float64, len(f.Blocks))
	for i := range f.Blocks {
		b := &f.Blocks[i]
		var live []int
		weights := make([]float64, len(b.Edges))
		for e := range b.Edges {
			if b.Edges[e].Flags&spd.EdgeDead == 0 {
				live = append(live, e)
			}
		}
		switch len(live) {
		case 0:
		case 1:
			weights[live[0]] = 1
		case 2:
			weights[live[0]] = likelihood(r, f, loops, i, b.Edges[live[0]].To, b.Edges[live[1]].To)
			weights[live[1]] = 1 - weights[live[0]]
		default:
			w := 1.0
			for _, n := range r.Perm(len(live)) {
				weights[live[n]] = w
				w *= 0.3 + 0.6*r.Float64()
			}
		}
		all[i] = sums(weights)
	}
	return all
}

// sums turns weights into the sums of probabilities up to each. The sum stays
// what it was at weights of 0, so that those are never chosen.
func sums(weights []float64) []float64 {
	var total float64
	for _, w := range weights {
		total += w
	}
	var sum float64
	for i, w := range weights {
		sum += w
		weights[i] = sum / total
	}
	return weights
}

// likelihood draws the probability that block i goes to block a instead of b.
func likelihood(r *rand.Rand, f *spd.Function, loops []int32, i int, a, b uint32) float64 {
	trips := math.Exp(0.7 + 1.2*math.Abs(r.NormFloat64()))
	if n := f.Blocks[i].Aux; f.Blocks[i].Flags == spd.BlockTripCount {
		trips = float64(min(n, 60))
	}
	from := uint32(i + 1)
	switch inA, inB := inLoop(loops, from, a), inLoop(loops, from, b); {
	case inA && !inB:
		return 1 - 1/(trips+1)
	case inB && !inA:
		return 1 / (trips + 1)
	}
	rare := r.Float64()
	switch {
	case rare < 0.45:
		rare = 0.001 + 0.02*r.Float64()
	case rare < 0.7:
		rare = 0.05 + 0.15*r.Float64()
	default:
		rare = 0.2 + 0.3*r.Float64()
	}
	far := cmp.Compare(firstByte(f, a), firstByte(f, b))
	if far > 0 && r.Float64() < 0.8 || far == 0 && r.Float64() < 0.5 {
		return rare
	}
	return 1 - rare
}

// firstByte is where a block's code starts, 0 without code.
func firstByte(f *spd.Function, block uint32) uint32 {
	if ranges := f.Blocks[block-1].Ranges; len(ranges) > 0 {
		return ranges[0].Start
	}
	return 0
}

// loopEnds gives for each block the end of the innermost loop around it, or
// of which it is the head: the last block of an edge back to the head. Blocks
// are numbered in the order of the source, so a loop is an interval.
func loopEnds(f *spd.Function) []int32 {
	type loop struct{ head, end int32 }
	var loops []loop
	for i := range f.Blocks {
		for _, e := range f.Blocks[i].Edges {
			if int(e.To) <= i+1 && e.Flags&spd.EdgeDead == 0 {
				loops = append(loops, loop{int32(e.To), int32(i + 1)})
			}
		}
	}
	slices.SortFunc(loops, func(a, b loop) int { return cmp.Compare(b.end-b.head, a.end-a.head) })
	ends := make([]int32, 2*len(f.Blocks))
	for _, l := range loops {
		for k := l.head; k <= l.end; k++ {
			ends[2*k-2], ends[2*k-1] = l.head, l.end
		}
	}
	return ends
}

// inLoop says whether the edge stays in the innermost loop around its start.
func inLoop(loops []int32, from, to uint32) bool {
	head, end := loops[2*from-2], loops[2*from-1]
	return head != 0 && int32(to) >= head && int32(to) <= end
}
