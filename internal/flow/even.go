package flow

import "slices"

// evenPatience bounds the halves that are looked at for even distribution, in
// numbers of all halves; evenSlack is added for small graphs.
const (
	evenPatience = 64
	evenSlack    = 1 << 20
)

// even distributes flow evenly where that costs nothing. At each branch in
// turn, from the entry on, flow moves from the out-edges that have more than
// their share to those that have less, along halves of reduced cost 0. The
// prices prove that the total cost stays as it is. The optimal flows of a
// convex problem form a convex set, so arms of equal cost can always be made
// equal, whatever the solver did with them.
func (m *model) even() {
	n := len(m.net.price)
	e := &evener{
		model:  m,
		halted: make([]bool, n),
		from:   make([]int32, n),
		seen:   make([]int32, n),
		armsAt: make([]int32, n),
		effort: evenPatience*len(m.net.half) + evenSlack,
	}
	for i := range e.armsAt {
		e.armsAt[i] = -1
	}
	var arms []arm
	for _, v := range m.order {
		if m.leave[v] < 0 || len(m.out[v]) < 2 {
			continue
		}
		b := m.net.node[m.leave[v]]
		if b < 0 {
			continue
		}
		arms = arms[:0]
		for _, i := range m.out[v] {
			if m.edge[i] < 0 {
				continue
			}
			if h := m.net.tail[m.net.arc[m.edge[i]]]; h >= 0 && m.net.tied(b, h) {
				arms = append(arms, arm{half: h, wire: m.edge[i]})
			}
		}
		// What other branches exchange must not change the split here.
		e.halted[b] = true
		if len(arms) > 1 {
			e.branch(b, arms)
		}
	}
}

// gratis tells whether more flow along half h of node v costs nothing.
func (w *network) gratis(v, h int32) bool {
	a := &w.half[h]
	return a.cost != none && a.cost+w.price[v] == w.price[a.to]
}

// tied tells whether the arc of half h of node v can have more flow or less at
// no cost.
func (w *network) tied(v, h int32) bool {
	a := &w.half[h]
	return w.gratis(v, h) || w.gratis(a.to, a.mate)
}

// An arm is an out-edge of a branch whose flow may change at no cost.
type arm struct {
	half int32 // at the branch
	wire int32
	next int32 // another arm to the same node, or -1
	goal int64 // its fair share, -1 as long as it is not known
}

type evener struct {
	*model
	halted  []bool  // nodes that no exchange may pass
	from    []int32 // the half at this node that leads back to the start
	seen    []int32 // the last search that came to this node
	visited []int32 // nodes of the current search
	search  int32
	armsAt  []int32 // per node, the first arm that leads to it, or -1
	group   []int32 // arms that share
	effort  int     // halves that may still be looked at
}

// branch evens out the arms of the branch at node b.
func (e *evener) branch(b int32, arms []arm) {
	w := e.net
	for i := range arms {
		a := &arms[i]
		to := w.half[a.half].to
		a.next, a.goal = e.armsAt[to], -1
		e.armsAt[to] = int32(i)
	}
	for i := range arms {
		if arms[i].goal < 0 {
			e.share(arms, int32(i))
		}
	}
	for i := range arms {
		for e.take(b, arms, int32(i)) {
		}
	}
	for _, a := range arms {
		e.armsAt[w.half[a.half].to] = -1
	}
}

// share sets the goals of arm i and of all arms that tied arcs connect it to.
func (e *evener) share(arms []arm, i int32) {
	w := e.net
	e.reach(w.half[arms[i].half].to, w.tied, func(int32) bool { return false })
	group := e.group[:0]
	total := int64(0)
	for _, v := range e.visited {
		for k := e.armsAt[v]; k >= 0; k = arms[k].next {
			if arms[k].goal < 0 {
				group = append(group, k)
				total += w.flow(arms[k].wire)
			}
		}
	}
	// The first arms in the graph's order get what does not divide evenly.
	e.group = group
	slices.Sort(group)
	each, rest := total/int64(len(group)), total%int64(len(group))
	for k, i := range group {
		arms[i].goal = each
		if int64(k) < rest {
			arms[i].goal++
		}
	}
}

// take moves flow to arm i of the branch at node b from one that has more than
// its share. It reports whether it could.
func (e *evener) take(b int32, arms []arm, i int32) bool {
	w := e.net
	up := arms[i].half
	need := arms[i].goal - w.flow(arms[i].wire)
	if need <= 0 || !w.gratis(b, up) {
		return false
	}
	giver := int32(-1)
	start := w.half[up].to
	e.reach(start, w.gratis, func(v int32) bool {
		for k := e.armsAt[v]; k >= 0; k = arms[k].next {
			if w.flow(arms[k].wire) > arms[k].goal && w.gratis(v, w.half[arms[k].half].mate) {
				giver = k
				return true
			}
		}
		return false
	})
	if giver < 0 {
		return false
	}
	g := arms[giver]
	down := w.half[g.half].mate
	d := min(need, w.flow(g.wire)-g.goal, w.half[up].room, w.half[down].room)
	end := w.half[g.half].to
	for v := end; v != start; v = w.half[e.from[v]].to {
		d = min(d, w.half[w.half[e.from[v]].mate].room)
	}
	w.push(b, up, d)
	for v := end; v != start; {
		u := w.half[e.from[v]].to
		w.push(u, w.half[e.from[v]].mate, d)
		v = u
	}
	w.push(end, down, d)
	return true
}

// reach visits, breadth first from a node, every node that halves of the
// given kind lead to, until found says so of one.
func (e *evener) reach(start int32, kind func(v, h int32) bool, found func(v int32) bool) {
	w := e.net
	e.search++
	e.visited = append(e.visited[:0], start)
	e.seen[start] = e.search
	for k := 0; k < len(e.visited) && e.effort > 0; k++ {
		v := e.visited[k]
		if found(v) {
			return
		}
		if e.halted[v] {
			continue
		}
		e.effort -= int(w.first[v+1] - w.first[v])
		for h := w.first[v]; h < w.first[v+1]; h++ {
			a := &w.half[h]
			if e.seen[a.to] != e.search && kind(v, h) {
				e.seen[a.to] = e.search
				e.from[a.to] = a.mate
				e.visited = append(e.visited, a.to)
			}
		}
	}
}
