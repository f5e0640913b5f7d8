package flow

import (
	"fmt"
	"math"
)

// Obs is what was measured for a block, an edge or the entry of a function.
// The zero value means that nothing was measured, which is not the same as a
// measured zero.
type Obs struct {
	// Count is the estimated number of executions, in units of Graph.Unit.
	Count uint64
	// N is the confidence: the number of samples that one execution is worth.
	// A block sampled by instruction pointer has N = its instructions and
	// Count = hits/N; a block, edge or entry counted from branch stacks has
	// N = 1. N = 0 (a block without instructions) or NaN: not observed.
	// Values are limited to [2^-10, 2^16].
	N float64
}

// Known tells whether something was measured.
func (o Obs) Known() bool { return o.N > 0 }

// confidence returns N within its limits, 0 when unknown.
func (o Obs) confidence() float64 {
	if !o.Known() {
		return 0
	}
	return min(max(o.N, minConfidence), maxConfidence)
}

const (
	minConfidence = 1.0 / 1024
	maxConfidence = 1 << 16
)

// Edge is a possible transfer of control between two blocks. Parallel edges
// and self loops are allowed.
type Edge struct {
	From, To int
	// Dead edges are known never to be taken. They get count 0.
	Dead bool
	Obs  Obs
}

// Graph is the flow graph of one function with its measurements.
type Graph struct {
	Blocks []Obs
	Edges  []Edge
	// Entry and Exit are block indexes. Flow enters the function at Entry and
	// leaves it at Exit, nowhere else. They may be the same block.
	Entry, Exit int
	// EntryObs is the number of calls of the function, if it was measured.
	EntryObs Obs
	// Unit is the count that stands for one execution seen, 256 in an SPD.
	// It fixes how large the sampling error of a count is. 0 means 1.
	Unit float64
	// Leaky says that edges may be missing (an unresolved indirect jump):
	// a second fit, Result.Loose, allows for them.
	Leaky bool
	// CallsKnown says that the calls given to InferCalls are all there are of
	// this function. Infer does not use it.
	CallsKnown bool
	// MinEntry is the least entry count of a function that has any count and
	// a path from entry to exit. 0 means no floor.
	MinEntry uint64
}

// Counts holds a count per block and per edge of a graph, in its order.
type Counts struct {
	Blocks, Edges []uint64
}

// Result is a profile of one function. Its Counts are consistent without
// exception: every block's count equals the sum of its in-edges and the sum of
// its out-edges, where the entry has Entry as one more in-edge and the exit
// has Entry as one more out-edge. Dead edges are 0.
type Result struct {
	Counts
	Entry uint64
	// Loose is the fit in which flow may also enter and leave at any block, at
	// a price: the better estimate of a graph with missing edges, but
	// consistent only up to the jumps that are not known. It is empty unless
	// Graph.Leaky is set.
	Loose Counts
	// Shift is 0 unless a count would exceed 63 bits: then all counts of the
	// result are in units of 2^Shift.
	Shift uint
	Quality
}

// Full returns the counts without a shift. What does not fit is the greatest
// number, and so are the sums of edges that have such a block.
func (r *Result) Full() Counts {
	if r.Shift == 0 {
		return r.Counts
	}
	full := Counts{make([]uint64, len(r.Blocks)), make([]uint64, len(r.Edges))}
	for v, x := range r.Blocks {
		full.Blocks[v] = raise(x, r.Shift)
	}
	for i, x := range r.Edges {
		full.Edges[i] = raise(x, r.Shift)
	}
	return full
}

// Quality says how far the result is from the measurements. Hits are
// executions times confidence, which is samples when blocks were sampled by
// instruction pointer.
type Quality struct {
	// Observed is the weight of all measured blocks, in hits.
	Observed float64
	// Correction is the sum of |inferred - observed| over the measured blocks
	// divided by the sum of observed, both in hits.
	Correction float64
	// Overlap is the sum over the measured blocks of min(observed share,
	// inferred share) of the hits, between 0 and 1. LooseOverlap is that of
	// Result.Loose, 0 if there is none.
	Overlap, LooseOverlap float64
	// Noise is how far below 1 the sampling error of the measurements alone
	// keeps their overlap with the truth, on average.
	Noise float64
	// Unexplained is the weight in hits measured on blocks that cannot execute
	// in this graph: no path of live edges leads from the entry through the
	// block to the exit or round a loop. UnexplainedEdges is the same for
	// edges, dead ones included. Both got count 0.
	Unexplained, UnexplainedEdges float64
	// Unreached is the part of Unexplained on blocks that no path of live edges
	// from the entry leads to. The rest is on blocks that no path leads on from.
	Unreached float64
	// Joined is the number of isolated loops that were joined to the entry.
	Joined int
	// Unjoined is the inferred weight in hits of loops that cannot be joined
	// because no path leaves them.
	Unjoined float64
	// FellBack says that the counts are further from the measurements than
	// sampling error explains: edges are missing, or the samples belong to
	// other code. Counts is then the consistent fit scaled to the measured
	// weight. The caller should warn, and use Loose or the measurements
	// wherever consistency is not needed.
	FellBack bool
}

// unit returns the count that stands for one execution.
func (g *Graph) unit() float64 {
	if g.Unit == 0 {
		return 1
	}
	return g.Unit
}

// check returns an error that names the first part of g that is not a graph.
func (g *Graph) check() error {
	n := len(g.Blocks)
	if n > maxParts || len(g.Edges) > maxParts {
		return fmt.Errorf("flow: %d blocks and %d edges: at most %d of each", n, len(g.Edges), maxParts)
	}
	if g.Entry < 0 || g.Entry >= n {
		return fmt.Errorf("flow: entry block %d: want one of the %d blocks", g.Entry, n)
	}
	if g.Exit < 0 || g.Exit >= n {
		return fmt.Errorf("flow: exit block %d: want one of the %d blocks", g.Exit, n)
	}
	for i, e := range g.Edges {
		if e.From < 0 || e.From >= n || e.To < 0 || e.To >= n {
			return fmt.Errorf("flow: edge %d from block %d to block %d: want two of the %d blocks", i, e.From, e.To, n)
		}
	}
	if u := g.Unit; u != 0 && (math.IsNaN(u) || u < minUnit || u > maxUnit) {
		return fmt.Errorf("flow: unit %v: want %v to %v", u, float64(minUnit), float64(maxUnit))
	}
	return nil
}

const (
	// maxParts keeps node and arc numbers within 32 bits.
	maxParts = 1 << 26
	minUnit  = 1.0 / (1 << 20)
	maxUnit  = 1 << 40
)
