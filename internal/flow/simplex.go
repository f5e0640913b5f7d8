package flow

import (
	"context"
	"math"
	"slices"
)

// A basis is a spanning tree of each part of a network whose flow conserves,
// with prices by which flow along tree arcs costs nothing: what the network
// simplex method works on. An arc is in the tree with one of its pieces, the
// others are at their ends, as if each were an arc of its own.
//
// Each node can send more flow to its parent within that piece. Such a tree is
// strongly feasible (Cunningham): choosing the arc that leaves as pivot does
// keeps it so, and no sequence of pivots that move no flow comes back to where
// it began.
type basis struct {
	net               *network
	price             []int64
	parent, up        []int32 // of each node, and the half that leads there; -1 for roots
	piece             []int32 // the piece of that half's arc
	depth             []int32
	child, next, prev []int32 // lists of children, -1 at their ends
	subtree           []int32
	wrong             agenda
	effort            int // nodes and halves that may still be looked at
}

// optimize makes the network's circulation one of least cost, and the prices
// its proof, by pivots from where it is: quick where little is wrong. Otherwise
// it leaves flow and prices as they are, or better, and returns false: where
// more than most halves are wrong, after so much effort, where a price passes
// maxPrice, and when ctx is done.
func (b *basis) optimize(ctx context.Context, most, effort int) bool {
	if n := len(b.net.price); b.parent == nil {
		b.price = make([]int64, n)
		parts := make([]int32, 7*n)
		for k, s := range []*[]int32{&b.parent, &b.up, &b.piece, &b.depth, &b.child, &b.next, &b.prev} {
			*s = parts[k*n : (k+1)*n]
		}
	}
	if !b.grow() {
		return false
	}
	for b.effort = effort; ; {
		b.findWrong()
		if len(b.wrong) > most {
			return false
		}
		copy(b.net.price, b.price)
		if len(b.wrong) == 0 {
			return true
		}
		most = math.MaxInt
		for _, x := range b.wrong {
			h := x.item
			for v := b.net.half[b.net.half[h].mate].to; b.reduced(v, h) < 0; {
				if !b.pivot(v, h) || b.effort < 0 || ctx.Err() != nil {
					copy(b.net.price, b.price)
					return false
				}
			}
		}
	}
}

// findWrong lists the halves with room and a negative reduced cost, the worst
// first.
func (b *basis) findWrong() {
	b.wrong = b.wrong[:0]
	for v := range b.price {
		for h := b.net.first[v]; h < b.net.first[v+1]; h++ {
			if c := b.reduced(int32(v), h); c < 0 {
				b.wrong = append(b.wrong, visit{h, c})
			}
		}
	}
	b.effort -= len(b.net.half)
	slices.SortFunc(b.wrong, visit.compare)
}

// grow makes the trees: of arcs inside of a piece where it can, and of those
// nearest to free where not. It fails if a price passes maxPrice.
func (b *basis) grow() bool {
	const notYet = -2
	for v := range b.parent {
		b.parent[v], b.child[v] = notYet, -1
	}
	q := b.wrong[:0]
	for root := range b.parent {
		if b.parent[root] != notYet {
			continue
		}
		b.parent[root], b.up[root], b.depth[root] = -1, -1, 0
		list := append(b.subtree[:0], int32(root))
		for k := 0; ; k++ {
			for k == len(list) && len(q) > 0 {
				h := q.take().item
				if from := b.net.half[b.net.half[h].mate].to; b.parent[from] == notYet {
					b.hang(from, h)
					list = append(list, from)
				}
			}
			if k == len(list) {
				break
			}
			v := list[k]
			for h := b.net.first[v]; h < b.net.first[v+1]; h++ {
				from, m := b.net.half[h].to, b.net.half[h].mate
				if b.parent[from] != notYet || b.net.half[m].cost == none {
					continue
				}
				if b.net.half[m].piece == b.net.half[h].piece {
					b.hang(from, m)
					list = append(list, from)
					continue
				}
				c := b.net.half[m].cost + b.net.price[from] - b.net.price[v]
				q.add(visit{m, max(c, -c)})
			}
		}
		b.price[root] = 0
		for _, v := range list[1:] {
			b.price[v] = b.price[b.parent[v]] - b.net.half[b.up[v]].cost
			if b.beyond(v) {
				return false
			}
		}
		b.subtree = list
	}
	b.wrong = q
	return true
}

// beyond says that the price of node v passes maxPrice.
func (b *basis) beyond(v int32) bool { return b.price[v] > maxPrice || b.price[v] < -maxPrice }

// hang puts node v below the node that half h of it leads to.
func (b *basis) hang(v, h int32) {
	p := b.net.half[h].to
	b.parent[v], b.up[v], b.piece[v] = p, h, b.net.half[h].piece
	b.depth[v] = b.depth[p] + 1
	c := b.child[p]
	b.next[v], b.prev[v] = c, -1
	if c >= 0 {
		b.prev[c] = v
	}
	b.child[p] = v
}

// drop takes node v, with all below it, from its parent.
func (b *basis) drop(v int32) {
	if b.prev[v] >= 0 {
		b.next[b.prev[v]] = b.next[v]
	} else {
		b.child[b.parent[v]] = b.next[v]
	}
	if b.next[v] >= 0 {
		b.prev[b.next[v]] = b.prev[v]
	}
}

// reduced is what a unit of flow along half h of node v costs by the prices.
func (b *basis) reduced(v, h int32) int64 {
	a := &b.net.half[h]
	return a.cost + b.price[v] - b.price[a.to]
}

// pivot sends flow along half h of node u and back through the tree, as much
// as the pieces of these arcs have room for. An arc that has no more room
// leaves the tree, and that of h takes its place. It fails if a price passes
// maxPrice.
func (b *basis) pivot(u, h int32) bool {
	v := b.net.half[h].to
	join := u
	for x := v; x != join; {
		switch {
		case b.depth[x] > b.depth[join]:
			x = b.parent[x]
		case b.depth[x] < b.depth[join]:
			join = b.parent[join]
		default:
			x, join = b.parent[x], b.parent[join]
		}
	}
	// The arc that leaves is the last one without room in the direction of the
	// flow, from the node where both ways to the root join: down to u, along
	// h and up from v.
	piece := b.net.half[h].piece
	d, out, below := b.net.half[h].room, int32(-1), v
	for x := u; x != join; x = b.parent[x] {
		if r := b.room(b.net.half[b.up[x]].mate, x); r < d {
			d, out, below = r, x, u
		}
	}
	for x := v; x != join; x = b.parent[x] {
		if r := b.room(b.up[x], x); r <= d {
			d, out, below = r, x, v
		}
	}
	for x := u; x != join; x = b.parent[x] {
		b.effort--
		if d > 0 {
			b.net.push(b.parent[x], b.net.half[b.up[x]].mate, d)
		}
	}
	change := b.reduced(u, h)
	if d > 0 {
		b.net.push(u, h, d)
	}
	for x := v; x != join; x = b.parent[x] {
		b.effort--
		if d > 0 {
			b.net.push(x, b.up[x], d)
		}
	}
	if out < 0 {
		return true // h itself: its next piece may be worth as much
	}
	// What hung below the arc that leaves hangs below h from now on: the way
	// from there up to that arc turns round.
	if below == u {
		change = -change
	} else {
		h = b.net.half[h].mate
	}
	for x, last := below, int32(-1); last != out; {
		p, old, oldPiece := b.parent[x], b.up[x], b.piece[x]
		b.drop(x)
		b.hang(x, h)
		b.piece[x] = piece
		last, x = x, p
		h, piece = b.net.half[old].mate, oldPiece
	}
	list := append(b.subtree[:0], below)
	for k := 0; k < len(list); k++ {
		x := list[k]
		b.depth[x] = b.depth[b.parent[x]] + 1
		b.price[x] += change
		if b.beyond(x) {
			return false
		}
		for c := b.child[x]; c >= 0; c = b.next[c] {
			list = append(list, c)
		}
	}
	b.effort -= len(list)
	b.subtree = list
	return true
}

// room is what the piece of the arc above node x has room for in the direction
// of half h.
func (b *basis) room(h, x int32) int64 {
	if a := &b.net.half[h]; a.piece == b.piece[x] {
		return a.room
	}
	return 0
}
