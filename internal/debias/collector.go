package debias

import (
	"cmp"
	"math"
	"slices"
)

// Target is the target of a branch: an address in a binary.
type Target struct {
	Binary int32
	RVA    uint32
}

// Run is straight code that was observed whole.
type Run struct {
	Start    Target
	Duration float64 // in units of the event
}

// Collector gathers the windows of one event in one recording. Its state is a
// sum, so windows may come in any order and collectors may be merged.
type Collector struct {
	windows map[Target]uint64 // by newest target
	cells   cells
}

// NewCollector returns an empty collector.
func NewCollector() *Collector { return &Collector{windows: map[Target]uint64{}} }

// Add adds a window by its newest target, with the whole runs in it. Durations
// have to be whole numbers for the sums not to depend on the order.
func (c *Collector) Add(newest Target, runs []Run) {
	c.windows[newest]++
	for i := range runs {
		c.cells.add(newest, runs[i].Start, 1, runs[i].Duration)
	}
}

// Merge adds all of another collector.
func (c *Collector) Merge(o *Collector) {
	for t, n := range o.windows {
		c.windows[t] += n
	}
	o.cells.each(func(p *cell) { c.cells.add(p.newest, p.start, p.runs, p.duration) })
}

// deeper counts the targets of the other branches of windows.
func (c *Collector) deeper() map[Target]uint64 {
	m := map[Target]uint64{}
	c.cells.each(func(p *cell) { m[p.start] += p.runs })
	return m
}

// Windows is the number of windows added.
func (c *Collector) Windows() uint64 { return sum(c.windows) }

func sum(m map[Target]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}

// Skew is how differently newest and other targets are distributed: half the
// sum of the differences of their shares, 0 to 1, and what of it chance alone
// explains on average. Without bias both are alike.
func (c *Collector) Skew() (skew, noise float64) {
	starts := c.deeper()
	newest, deeper := float64(sum(c.windows)), float64(sum(starts))
	if newest == 0 || deeper == 0 {
		return 0, 0
	}
	for _, t := range c.targets(starts) {
		p, q := float64(c.windows[t])/newest, float64(starts[t])/deeper
		skew += math.Abs(p-q) / 2
		mean := (float64(c.windows[t]) + float64(starts[t])) / (newest + deeper)
		// Half the mean of the absolute value of a normal variable.
		noise += math.Sqrt(mean * (1 - mean) * (1/newest + 1/deeper) / (2 * math.Pi))
	}
	return skew, noise
}

// Biased says whether a skew is beyond what chance explains.
func Biased(skew, noise float64) bool { return skew > .01+2*noise }

// targets are all targets in a total order.
func (c *Collector) targets(deeper map[Target]uint64) []Target {
	var all []Target
	for t := range c.windows {
		all = append(all, t)
	}
	for t := range deeper {
		if c.windows[t] == 0 {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, compareTargets)
	return all
}

func compareTargets(a, b Target) int {
	return cmp.Or(cmp.Compare(a.Binary, b.Binary), cmp.Compare(a.RVA, b.RVA))
}
