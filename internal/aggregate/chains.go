package aggregate

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/walks"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// chains adds up sequences of arcs: how often each arc begins a sequence, and
// how often an arc directly follows another. An arc is two RVAs: (To, From) of
// a branch, or (callee, caller) of a call stack.
//
// Nearly all arcs follow another one, so how often an arc occurs is not
// counted but summed up at the end: one look-up per arc is what there is time
// for.
type chains struct {
	heads counter // by arc: sequences that begin with it
	links links
	whole whole // the sequences themselves; nil unless records are bounded
}

func arc(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// merge adds another sum.
func (c *chains) merge(o *chains) {
	o.heads.each(c.heads.add)
	o.links.each(c.links.add)
	for stack, n := range o.whole {
		c.whole[stack] = binfmt.SatAdd(c.whole[stack], n)
	}
}

// totals are the numbers of arcs and of pairs of neighbours seen.
func (c *chains) totals() (arcs, pairs uint64) {
	c.links.each(func(_, _, n uint64) { pairs = binfmt.SatAdd(pairs, n) })
	arcs = pairs
	c.heads.each(func(_, n uint64) { arcs = binfmt.SatAdd(arcs, n) })
	return arcs, pairs
}

// graph returns the arcs in the order of their values and what is known of
// them, which depends on the sum alone.
func (c *chains) graph() *graph {
	return newGraph(c.heads.len(), c.links.used, c.heads.each, c.links.each)
}

// newGraph makes a graph of so many heads and links, which the functions yield
// in any order, always the same.
func newGraph(heads, links int, eachHead func(func(arc, n uint64)), eachLink func(func(before, arc, n uint64))) *graph {
	arcs := make([]uint64, 0, heads+links)
	eachHead(func(arc, _ uint64) { arcs = append(arcs, arc) })
	eachLink(func(_, arc, _ uint64) { arcs = append(arcs, arc) })
	slices.Sort(arcs)
	ranks := newRanks(slices.Clone(slices.Compact(arcs)))
	g := &graph{arcs: ranks.keys, visits: make([]uint64, len(ranks.keys)), next: make([]walks.Transition, 0, links)}
	count := func(r int32, n uint64) { g.visits[r] = binfmt.SatAdd(g.visits[r], n) }
	eachHead(func(arc, n uint64) { count(ranks.of(arc), n) })
	eachLink(func(before, arc, n uint64) {
		t := walks.Transition{From: ranks.of(before), To: ranks.of(arc), Count: n}
		count(t.To, n)
		g.next = append(g.next, t)
	})
	slices.SortFunc(g.next, func(a, b walks.Transition) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return g
}
