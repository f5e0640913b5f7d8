package aggregate

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/walks"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// chains adds up sequences of arcs: how often each arc occurs, and how often
// an arc directly follows another. An arc is two RVAs: (To, From) of a branch,
// or (callee, caller) of a call stack.
type chains struct {
	arcs   index
	visits []uint64 // by number of the arc
	pairs  counter  // numbers of two neighbours, the first in the high half
	whole  whole    // the sequences themselves; nil unless records are bounded
}

func arc(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// visit adds n occurrences of an arc and returns its number.
func (c *chains) visit(arc, n uint64) int32 {
	id := c.arcs.number(arc)
	if int(id) == len(c.visits) {
		c.visits = append(c.visits, 0)
	}
	c.visits[id] = binfmt.SatAdd(c.visits[id], n)
	return id
}

// follow adds n occurrences of arc number b directly behind a.
func (c *chains) follow(a, b int32, n uint64) {
	c.pairs.add(uint64(a)<<32|uint64(uint32(b)), n)
}

// merge adds another sum.
func (c *chains) merge(o *chains) {
	ids := make([]int32, len(o.arcs.keys))
	for i, key := range o.arcs.keys {
		ids[i] = c.visit(key, o.visits[i])
	}
	o.pairs.each(func(key, n uint64) { c.follow(ids[key>>32], ids[uint32(key)], n) })
	for stack, n := range o.whole {
		c.whole[stack] = binfmt.SatAdd(c.whole[stack], n)
	}
}

// total is the number of arcs seen, with their counts.
func (c *chains) total() (t uint64) {
	for _, n := range c.visits {
		t = binfmt.SatAdd(t, n)
	}
	return t
}

// decompose calls emit with chains of at most limit arcs, each with the number
// of times it counts, that have exactly the arcs and pairs of the sum. The
// result depends on the sum alone: arcs are renumbered in the order of their
// values first.
func (c *chains) decompose(limit int, emit func(chain []uint64, times uint64) error) (walks.Report, error) {
	order := make([]int32, len(c.arcs.keys))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(c.arcs.keys[a], c.arcs.keys[b]) })
	rank := make([]int32, len(order))
	visits := make([]uint64, len(order))
	for r, id := range order {
		rank[id] = int32(r)
		visits[r] = c.visits[id]
	}
	transitions := make([]walks.Transition, 0, c.pairs.used)
	c.pairs.each(func(key, n uint64) {
		transitions = append(transitions, walks.Transition{From: rank[key>>32], To: rank[uint32(key)], Count: n})
	})
	slices.SortFunc(transitions, func(a, b walks.Transition) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var failed error
	chain := make([]uint64, 0, limit)
	report, err := walks.Decompose(visits, transitions, limit, func(walk []int32, times uint64) {
		chain = chain[:0]
		for _, r := range walk {
			chain = append(chain, c.arcs.keys[order[r]])
		}
		if failed == nil {
			failed = emit(chain, times)
		}
	})
	return report, cmp.Or(failed, err)
}
