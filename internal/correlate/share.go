package correlate

import (
	"cmp"
	"slices"
)

const (
	// shareHits is the number of arrivals at a place in the code from which
	// on their share of runs is certain to some per cent.
	shareHits = 256
	// wholeShare is the part of the arrivals that are taken to be in stacks
	// that are not cut.
	wholeShare = .1
	// cutLoss is how much of the runs must be missing for stacks to be cut.
	cutLoss = .03
)

// findShare finds how many runs there are for each branch. mean is that of all
// branches, which is right as long as stacks are whole. But where code calls
// another binary stacks are cut: the code on both sides of the call ran, and
// nothing shows it. The share is then that of the arrivals which lose least,
// and what runs show is taken for less than all.
func (e *evidence) findShare(mean float64) {
	e.share = mean
	type target struct {
		share float64
		hits  uint64
	}
	var list []target
	var total float64
	for k, n := range e.arrived {
		if n >= shareHits {
			list = append(list, target{min(1, float64(e.started[k])/float64(n)), n})
			total += float64(n)
		}
	}
	slices.SortFunc(list, func(a, b target) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(b.hits, a.hits))
	})
	sum := 0.0
	for _, t := range list {
		if sum += float64(t.hits); sum > wholeShare*total {
			if t.share > mean+cutLoss {
				e.share, e.cut = t.share, true
			}
			return
		}
	}
}
