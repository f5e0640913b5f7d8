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
	arcs  index
	heads []uint64 // by number of the arc: sequences that begin with it
	links links
	whole whole // the sequences themselves; nil unless records are bounded
}

func arc(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// number returns the number of an arc.
func (c *chains) number(arc uint64) int32 {
	id := c.arcs.number(arc)
	if int(id) == len(c.heads) {
		c.heads = append(c.heads, 0)
	}
	return id
}

// begin adds n sequences that begin with an arc and returns its number.
func (c *chains) begin(arc, n uint64) int32 {
	id := c.number(arc)
	c.heads[id] = binfmt.SatAdd(c.heads[id], n)
	return id
}

// follow adds n occurrences of an arc directly behind the arc number before,
// and returns its number.
func (c *chains) follow(before int32, arc, n uint64) int32 {
	l := c.links.find(before, arc)
	if l.count == 0 {
		id := c.number(arc)
		l = c.links.insert(before, arc, id)
	}
	l.count = binfmt.SatAdd(l.count, n)
	return l.id
}

// merge adds another sum.
func (c *chains) merge(o *chains) {
	ids := make([]int32, len(o.arcs.keys))
	for i, key := range o.arcs.keys {
		ids[i] = c.begin(key, o.heads[i])
	}
	o.links.each(func(l *link) { c.follow(ids[l.before], l.arc, l.count) })
	for stack, n := range o.whole {
		c.whole[stack] = binfmt.SatAdd(c.whole[stack], n)
	}
}

// visits returns how often each arc occurs, by its number.
func (c *chains) visits() []uint64 {
	v := slices.Clone(c.heads)
	c.links.each(func(l *link) { v[l.id] = binfmt.SatAdd(v[l.id], l.count) })
	return v
}

// totals are the numbers of arcs and of pairs of neighbours seen.
func (c *chains) totals() (arcs, pairs uint64) {
	c.links.each(func(l *link) { pairs = binfmt.SatAdd(pairs, l.count) })
	arcs = pairs
	for _, n := range c.heads {
		arcs = binfmt.SatAdd(arcs, n)
	}
	return arcs, pairs
}

// graph returns the arcs in the order of their values and what is known of
// them, which depends on the sum alone.
func (c *chains) graph() *graph {
	order := make([]int32, len(c.arcs.keys))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(c.arcs.keys[a], c.arcs.keys[b]) })
	rank := make([]int32, len(order))
	g := &graph{arcs: make([]uint64, len(order)), visits: make([]uint64, len(order)), next: make([]walks.Transition, 0, c.links.used)}
	seen := c.visits()
	for r, id := range order {
		rank[id] = int32(r)
		g.arcs[r], g.visits[r] = c.arcs.keys[id], seen[id]
	}
	c.links.each(func(l *link) {
		g.next = append(g.next, walks.Transition{From: rank[l.before], To: rank[l.id], Count: l.count})
	})
	slices.SortFunc(g.next, func(a, b walks.Transition) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return g
}
