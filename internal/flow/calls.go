package flow

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// A Call is a direct call site: a block of one function that calls another
// once whenever it runs.
type Call struct {
	Caller, Block int // indexes of the function and of its block
	Callee        int
}

// InferCalls infers the profiles of a set of functions that call each other.
// All graphs must have the same Unit. After a first pass of Infer over each,
// the entry of every function with CallsKnown is also measured by the sum of
// the blocks that call it, and the functions for which that is news are
// inferred again, up to rounds times. In each round all sums are taken before
// any function changes, so the order of the functions does not matter, nor
// does jobs, the number of functions that are inferred at a time.
//
// It fails if a graph is not one, if units differ, if a call names a function
// or block that does not exist, or when ctx is done.
func InferCalls(ctx context.Context, graphs []*Graph, calls []Call, rounds, jobs int) ([]*Result, error) {
	all := make([]int, len(graphs))
	for i, g := range graphs {
		if g.unit() != graphs[0].unit() {
			return nil, fmt.Errorf("flow: function %d: unit %v: want %v as in function 0", i, g.unit(), graphs[0].unit())
		}
		all[i] = i
	}
	results := make([]*Result, len(graphs))
	if err := inferEach(ctx, all, jobs, func(i int) (err error) {
		results[i], err = Infer(ctx, graphs[i])
		return err
	}); err != nil {
		return nil, err
	}
	sites := make([][]Call, len(graphs))
	for i, c := range calls {
		if c.Caller < 0 || c.Caller >= len(graphs) || c.Callee < 0 || c.Callee >= len(graphs) {
			return nil, fmt.Errorf("flow: call %d from function %d to function %d: want two of the %d functions", i, c.Caller, c.Callee, len(graphs))
		}
		if n := len(graphs[c.Caller].Blocks); c.Block < 0 || c.Block >= n {
			return nil, fmt.Errorf("flow: call %d from block %d of function %d: want one of its %d blocks", i, c.Block, c.Caller, n)
		}
		if graphs[c.Callee].CallsKnown {
			sites[c.Callee] = append(sites[c.Callee], c)
		}
	}
	entries := make([]Obs, len(graphs))
	for i, g := range graphs {
		entries[i] = g.EntryObs
	}
	for ; rounds > 0; rounds-- {
		next := make([]Obs, len(graphs))
		var news []int
		for i, g := range graphs {
			next[i] = g.EntryObs
			if len(sites[i]) > 0 {
				next[i] = both(g.EntryObs, arrivals(graphs, results, sites[i]))
			}
			if next[i] != entries[i] {
				news = append(news, i)
			}
		}
		if len(news) == 0 {
			break
		}
		if err := inferEach(ctx, news, jobs, func(i int) (err error) {
			again := *graphs[i]
			again.EntryObs = next[i]
			results[i], err = Infer(ctx, &again)
			return err
		}); err != nil {
			return nil, err
		}
		entries = next
	}
	return results, nil
}

// inferEach calls infer for each of the functions, for up to jobs at a time.
// Of several errors it returns that of the first function.
func inferEach(ctx context.Context, functions []int, jobs int, infer func(i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		errs   = make([]error, len(functions))
		group  sync.WaitGroup
	)
	for range min(max(jobs, 1), len(functions)) {
		group.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= len(functions) {
					return
				}
				if err := infer(functions[k]); err != nil {
					errs[k] = fmt.Errorf("function %d: %w", functions[k], err)
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// arrivals returns the sum of the inferred counts of call sites. Its variance
// is the sum of theirs.
func arrivals(graphs []*Graph, results []*Result, sites []Call) Obs {
	var total Obs
	variance, least := 0.0, math.Inf(1)
	for _, c := range sites {
		r := results[c.Caller]
		x := r.Blocks[c.Block]
		n := graphs[c.Caller].Blocks[c.Block].confidence()
		if n == 0 {
			n = 1
		}
		least = min(least, n)
		variance += float64(float64(x) / n)
		total.Count = add(total.Count, raise(x, r.Shift))
	}
	total.N = least
	if variance > 0 {
		total.N = float64(total.Count) / variance
	}
	return total
}

// both returns the mean of two measurements, each with its confidence.
func both(a, b Obs) Obs {
	if !a.Known() {
		return b
	}
	if !b.Known() {
		return a
	}
	n := a.confidence() + b.confidence()
	share := a.confidence() / n
	return Obs{
		Count: add(uint64(float64(a.Count)*share), uint64(float64(b.Count)*(1-share))),
		N:     n,
	}
}

// add returns a + b, or the greatest count if that is less.
func add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry > 0 {
		return math.MaxUint64
	}
	return sum
}

// raise returns x * 2^shift, or the greatest count if that is less.
func raise(x uint64, shift uint) uint64 {
	if uint(bits.LeadingZeros64(x)) < shift && x > 0 {
		return math.MaxUint64
	}
	return x << shift
}
