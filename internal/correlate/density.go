package correlate

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

const (
	// wantedHits is the number of samples per covered block that gives
	// counts good enough to decide by.
	wantedHits = 10
	// thinShare is the share of the hot weight that may have less.
	thinShare = .1
)

// density computes how well the hot functions are sampled.
//
// The weight of a function is the sum over its blocks of the count of this
// import times the block's own instructions, as in the statistics of an SPD.
// Hot are the functions that make up 99 % of the weight of all, the heaviest
// first. The density of a function is its hits / its blocks that have code and
// a count. Of all hot functions, the thinnest first, those that make up 10 % of
// the hot weight are passed over; the density of the next one is
// Density.Hits, and Density.Factor is 10 / Density.Hits or 1 if that is less.
func density(functions []*spd.Function, results []Function) Density {
	type ranked struct {
		weight  uint64
		density float64
	}
	var list []ranked
	var total uint64
	for f := range results {
		r := &results[f]
		if !r.Touched {
			continue
		}
		var x ranked
		covered := 0
		for b, count := range r.Blocks {
			bl := &functions[f].Blocks[b]
			if count > 0 && bl.Instructions > 0 {
				covered++
				x.weight = binfmt.SatAdd(x.weight, binfmt.SatMul(count, uint64(bl.OwnInstructions())))
			}
		}
		if covered > 0 {
			// Less than one sample is left of few with a weight below 1.
			x.density = float64(max(r.Hits, 1)) / float64(covered)
			total = binfmt.SatAdd(total, x.weight)
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.density, b.density))
	})
	hot, sum := 0, 0.0
	for hot < len(list) && sum < .99*float64(total) {
		sum += float64(list[hot].weight)
		hot++
	}
	d := Density{Hot: hot, Factor: 1}
	list = list[:hot]
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.density, b.density), cmp.Compare(a.weight, b.weight))
	})
	passed := 0.0
	for _, x := range list {
		d.Hits = x.density
		if passed += float64(x.weight); passed > thinShare*sum {
			break
		}
	}
	if d.Hits > 0 {
		d.Factor = max(1, wantedHits/d.Hits)
	}
	return d
}
