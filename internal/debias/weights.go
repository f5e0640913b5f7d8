package debias

import (
	"cmp"
	"slices"
)

// Weights are what windows count, by their newest target.
type Weights struct {
	byTarget map[Target]float64
	// Windows is the number of windows that the weights were found from, and
	// Effective the number of equal ones that would tell as much: the square
	// of the sum of the weights divided by the sum of their squares.
	Windows   uint64
	Effective float64
}

const (
	// rounds is how often weights and means are found in turn.
	rounds = 4
	// pseudoRuns of average duration are added to the observations of a start.
	pseudoRuns = 0.5
)

// Solve finds the weights. Their mean over all windows is 1. It is nil if no
// run was observed.
func (c *Collector) Solve() *Weights {
	targets := c.targets(c.deeper())
	number := make(map[Target]int, len(targets))
	for i, t := range targets {
		number[t] = i
	}
	type entry struct {
		newest, start int
		runs          uint64
		duration      float64
	}
	entries := make([]entry, 0, c.cells.used)
	c.cells.each(func(p *cell) {
		entries = append(entries, entry{number[p.newest], number[p.start], p.runs, p.duration})
	})
	if len(entries) == 0 {
		return nil
	}
	// Sums of rounded numbers depend on their order.
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.newest, b.newest), cmp.Compare(a.start, b.start))
	})
	windows := make([]float64, len(targets))
	total := 0.0
	for i, t := range targets {
		windows[i] = float64(c.windows[t])
		total += windows[i]
	}
	weight := make([]float64, len(targets))
	for i := range weight {
		weight[i] = 1
	}
	runs, duration := make([]float64, len(targets)), make([]float64, len(targets))
	for range rounds {
		clear(runs)
		clear(duration)
		allRuns, allDuration := 0.0, 0.0
		for _, e := range entries {
			w := weight[e.newest]
			runs[e.start] += float64(w * float64(e.runs))
			duration[e.start] += float64(w * e.duration)
			allRuns += float64(w * float64(e.runs))
			allDuration += float64(w * e.duration)
		}
		if allDuration == 0 {
			return nil
		}
		mean := allDuration / allRuns
		scaled := 0.0
		for i := range weight {
			g := (duration[i] + float64(pseudoRuns*mean)) / (runs[i] + pseudoRuns)
			weight[i] = 1 / g
			scaled += float64(windows[i] * weight[i])
		}
		for i := range weight {
			weight[i] *= total / scaled
		}
	}
	w := &Weights{byTarget: make(map[Target]float64, len(targets)), Windows: uint64(total)}
	squares := 0.0
	for i, t := range targets {
		w.byTarget[t] = weight[i]
		squares += float64(windows[i] * float64(weight[i]*weight[i]))
	}
	w.Effective = total * total / squares
	return w
}

// Of is the weight of a window. One that ends at a place never seen when the
// weights were found counts 1.
func (w *Weights) Of(newest Target) float64 {
	if v, ok := w.byTarget[newest]; ok {
		return v
	}
	return 1
}

// Round turns a weight into a whole number that is the weight on average.
// Equal draws give equal numbers; draw has to be even over its range.
func Round(weight float64, draw uint64) uint64 {
	whole := uint64(weight)
	const steps = 1 << 53
	if float64(draw>>11) < (weight-float64(whole))*steps {
		whole++
	}
	return whole
}

// Mix turns numbers that identify a sample into an even draw.
func Mix(words ...uint64) uint64 {
	var h uint64 = 0x9e3779b97f4a7c15
	for _, w := range words {
		h ^= w
		h ^= h >> 30
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 27
		h *= 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
