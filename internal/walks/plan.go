package walks

import "math"

// plan is a way to fold.
type plan struct {
	// ratio is the least ratio of the multiplicities of a layer and the next.
	ratio float64
	// aim is the part of maxLen from which walks are glad to end.
	aim float64
}

// planBudget bounds the arcs looked at by all plans in all layers.
var planBudget = 2.0 * (1 << 20) // changed by a test

// plans are the ways that [Decompose] tries and takes the best of. A small
// ratio gives few bytes for much work, which grows with 1/log(ratio), but
// counts that are multiples of each other may suit a greater one better.
func (g *graph) plans() []plan {
	const aim = 0.75
	widest := g.widest(g.flow)
	octaves := 0.0 // arcs looked at if the ratio is 2
	for _, c := range g.flow {
		octaves += 1 + math.Log2(float64(min(c, widest)))
	}
	var plans []plan
	work := 0.0
	for _, ratio := range []float64{1.01, 1.02, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2, 1.4, 2} {
		if w := octaves / math.Log2(ratio); work+w <= planBudget {
			work += w
			plans = append(plans, plan{ratio, aim})
		}
	}
	if len(plans) == 0 {
		plans = append(plans, plan{2, aim})
	}
	return plans
}

// spares are plans for when no other one brought all walks below maxLen.
var spares = []plan{{2, 0.5}, {1.2, 0.5}, {1.2, 0.95}, {1.05, 0.5}, {1.05, 0.25}, {1.02, 0.25}}
