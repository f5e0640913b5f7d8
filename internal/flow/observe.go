package flow

import (
	"math"
	"math/bits"
)

// guessWorth is what the guess for an edge that was not observed is worth, in
// samples: too little to outweigh a measurement, enough to choose between
// flows that fit the blocks equally well.
const guessWorth = 1.0 / 64

// An evidence is a graph's measurements in flow units, small enough that no
// sum of them overflows.
type evidence struct {
	block, edge []int64
	entry       int64
	shift       uint    // a flow unit is 2^shift units of the graph
	unit        float64 // flow units that stand for one execution
	most        float64 // bound on the sum of the flows of all arcs
}

func newEvidence(g *Graph) *evidence {
	e := &evidence{
		block: make([]int64, len(g.Blocks)),
		edge:  make([]int64, len(g.Edges)),
	}
	// The sum over all arcs, guesses for edges included, stays below 2^44, and
	// times the number of arcs below 2^60, which bounds the excess of a node.
	var hi, lo, carry uint64
	add := func(o Obs) {
		if o.Known() {
			lo, carry = bits.Add64(lo, o.Count, 0)
			hi += carry
		}
	}
	for _, o := range g.Blocks {
		add(o)
		add(o) // the guesses for its out-edges add up to at most this
	}
	for i := range g.Edges {
		add(g.Edges[i].Obs)
	}
	add(g.EntryObs)
	arcs := bits.Len(uint(3*len(g.Blocks) + len(g.Edges) + 2))
	length := bits.Len64(lo)
	if hi > 0 {
		length = 64 + bits.Len64(hi)
	}
	e.most = math.Ldexp(1, min(44, 60-arcs))
	e.shift = uint(max(0, length-min(44, 60-arcs)))
	e.unit = math.Ldexp(g.unit(), -int(e.shift))

	for v, o := range g.Blocks {
		e.block[v] = e.flow(o)
	}
	for i := range g.Edges {
		e.edge[i] = e.flow(g.Edges[i].Obs)
	}
	e.entry = e.flow(g.EntryObs)
	return e
}

// flow returns the count of o in flow units, 0 if it was not observed.
func (e *evidence) flow(o Obs) int64 {
	if !o.Known() {
		return 0
	}
	return int64(o.Count >> e.shift)
}

// costs returns the objective: Poisson deviance of what was observed. Edges
// that were not are nearly free. Turning back in a loop and entering the
// function cost next to nothing, but not nothing, so that there is no flow
// that nobody saw.
func (e *evidence) costs(l *layout, leaky bool) *costs {
	g := l.g
	c := &costs{
		block: make([]shape, len(g.Blocks)),
		edge:  make([]shape, len(g.Edges)),
		back:  measured(g.EntryObs, e.entry),
		leaky: leaky,
		unit:  e.unit,
	}
	if c.back.kind == free {
		c.back.kind = toll
	}
	known, sum := 0, 0.0
	for v, o := range g.Blocks {
		c.block[v] = measured(o, e.block[v])
		if o.Known() {
			known++
			sum += o.confidence()
		}
	}
	if known > 0 {
		c.leak = leakFactor * sum / float64(known)
	}
	for v := range g.Blocks {
		total := e.successors(l, v)
		for _, i := range l.out[v] {
			d := &g.Edges[i]
			c.edge[i] = measured(d.Obs, e.edge[i])
			switch {
			case d.Obs.Known():
			case total > 0:
				share := float64(e.block[v]) * (float64(e.block[d.To]) / total)
				most := float64(max(e.block[v], e.block[d.To])) / e.unit
				c.edge[i] = shape{nearest, int64(share), guessWorth / max(most, 1)}
			case l.rank[d.To] <= l.rank[d.From]:
				c.edge[i].kind = toll
			}
		}
	}
	return c
}

// successors returns the sum of the counts of the blocks that v's live edges
// lead to, or 0 if v or one of them was not observed or there is no choice.
func (e *evidence) successors(l *layout, v int) float64 {
	total := 0.0
	if !l.g.Blocks[v].Known() || len(l.out[v]) < 2 {
		return 0
	}
	for _, i := range l.out[v] {
		to := l.g.Edges[i].To
		if !l.g.Blocks[to].Known() {
			return 0
		}
		total += float64(e.block[to])
	}
	return total
}

// measured returns the shape of an observation of x flow units.
func measured(o Obs, x int64) shape {
	if !o.Known() {
		return shape{kind: free}
	}
	return shape{deviance, x, o.confidence()}
}
