package flow

import (
	"context"
	"math"
)

// The solver is the push-relabel method of Goldberg and Tarjan with cost
// scaling, on convex instead of capacitated arcs: a push stops where the slope
// of an arc changes, and the next piece is another residual arc of higher
// cost. Terms: the reduced cost of a half h at node v is cost + price[v] -
// price[to]; a flow is e-optimal if no half with room has a reduced cost below
// -e; a half is admissible if its reduced cost is negative.
//
// Prices are bounded. In a connected part every node has a path of room to
// every other if the flow conserves, and to a deficit if not: nodes without
// one would have lost flow through arcs at their capacity, and be deficits.
// Along such a path an e-optimal flow has a price rise of at most slope + e an
// arc, so the prices of a circulation lie within 2*nodes*slope. refine starts
// with the greatest at 0 and leaves those of deficits alone, so none falls
// below -4*nodes*slope. In practice it is a few slopes, so the first attempt
// takes its chance with prices that have no room for more.

const (
	// shrink is the ratio of two successive values of e.
	shrink = 5
	// start is the first e relative to the steepest slope. The flow of least
	// cost on every arc is e-optimal for any e; a small one keeps the excesses
	// near where they are.
	start = 1.0 / 1000
	// patience is how many updates the first e may take before one is tried
	// that is larger by the factor enlarge: then flow has far to go.
	patience = 100
	enlarge  = 16
	// updateInterval is the number of relabels, in numbers of nodes, after
	// which distances to the deficits replace the prices that single relabels
	// made.
	updateInterval = .4
	// Pivots finish the work once the halves with a negative reduced cost are
	// no more than wrongFew, or this share of the nodes. They may look at so
	// many nodes and halves, in numbers of all halves.
	wrongFew    = 64
	wrongShare  = 1.0 / 8
	pivotEffort = 60
)

// solve makes the network's flow a circulation of least cost, and its prices
// a proof of that: no half with room has a negative reduced cost. It fails if
// ctx is done or a price passes maxPrice. A careful attempt keeps to the bound on
// prices.
func (w *network) solve(ctx context.Context, careful bool) bool {
	s := solver{network: w, ctx: ctx, basis: basis{net: w}}
	s.prepare()
	n, steepest := len(w.price), s.steepest()
	e := max(1, int64(float64(steepest)*start))
	if careful {
		e = steepest
	}
	for limit := patience; ; {
		done := s.refine(e, limit)
		if s.overflow || ctx.Err() != nil {
			return false
		}
		if !done {
			if e = min(e*enlarge, steepest); e == steepest {
				limit = math.MaxInt
			}
			continue
		}
		limit = math.MaxInt
		// A circulation within 1 of optimal is optimal, only the prices may
		// still be wrong.
		most, effort := max(wrongFew, int(float64(n)*wrongShare)), pivotEffort*len(w.half)
		if e == 1 {
			most, effort = math.MaxInt, math.MaxInt
		}
		if s.basis.optimize(ctx, most, effort) {
			return true
		}
		if e == 1 || ctx.Err() != nil {
			return false
		}
		e = max(e/shrink, 1)
	}
}

type solver struct {
	*network
	ctx     context.Context
	basis   basis
	current []int32 // per node, the half to go on with
	queued  []bool
	queue   []int32 // active nodes, first in first out
	dist    []int32
	buckets buckets
	part    []int32 // the connected part of each node
	needy   []int32 // per part, its nodes with an excess
	top     []int64 // per part, its greatest price

	relabels int
	overflow bool
}

func (s *solver) prepare() {
	n := len(s.price)
	s.current = make([]int32, n)
	s.queued = make([]bool, n)
	s.dist = make([]int32, n)
	s.split()
}

// steepest is the steepest slope of any arc.
func (s *solver) steepest() int64 {
	most := s.factor
	for _, p := range s.pieces {
		if p.slope != none && p.slope != -none {
			most = max(most, p.slope, -p.slope)
		}
	}
	return most
}

// split finds the connected parts.
func (s *solver) split() {
	s.part = make([]int32, len(s.price))
	for v := range s.part {
		s.part[v] = -1
	}
	parts := int32(0)
	for v := range s.part {
		if s.part[v] >= 0 {
			continue
		}
		s.part[v] = parts
		s.queue = append(s.queue[:0], int32(v))
		for k := 0; k < len(s.queue); k++ {
			u := s.queue[k]
			for h := s.first[u]; h < s.first[u+1]; h++ {
				if to := s.half[h].to; s.part[to] < 0 {
					s.part[to] = parts
					s.queue = append(s.queue, to)
				}
			}
		}
		parts++
	}
	s.needy = make([]int32, parts)
	s.top = make([]int64, parts)
}

// refine makes the flow an e-optimal circulation. It gives up after limit
// updates, or when the context is done.
func (s *solver) refine(e int64, limit int) bool {
	for i := range s.top {
		s.top[i] = -none
	}
	for v, p := range s.price {
		s.top[s.part[v]] = max(s.top[s.part[v]], p)
	}
	for v := range s.price {
		s.price[v] -= s.top[s.part[v]]
	}
	for v := range s.price {
		for h := s.first[v]; h < s.first[v+1]; h++ {
			for a := &s.half[h]; a.cost+s.price[v] < s.price[a.to]; {
				s.push(int32(v), h, a.room)
			}
		}
	}
	s.update(e)
	s.queue = s.queue[:0]
	for v, x := range s.excess {
		if s.queued[v] = x > 0; x > 0 {
			s.queue = append(s.queue, int32(v))
		}
	}
	for head := 0; head < len(s.queue) && !s.overflow; head++ {
		if head > len(s.price) {
			s.queue = s.queue[:copy(s.queue, s.queue[head:])]
			head = 0
		}
		v := s.queue[head]
		s.queued[v] = false
		s.discharge(v, e)
		if float64(s.relabels) >= updateInterval*float64(len(s.price)) {
			if limit--; limit < 0 || s.ctx.Err() != nil {
				return false
			}
			s.update(e)
		}
	}
	return true
}

// discharge pushes the excess of node v along admissible halves, lowering its
// price whenever there are none.
func (s *solver) discharge(v int32, e int64) {
	for s.excess[v] > 0 && !s.overflow {
		h := s.current[v]
		if h == s.first[v+1] {
			s.relabel(v, e)
			continue
		}
		a := &s.half[h]
		if a.cost+s.price[v] >= s.price[a.to] {
			s.current[v]++
			continue
		}
		u := a.to
		s.push(v, h, min(s.excess[v], a.room))
		if s.excess[u] > 0 && !s.queued[u] {
			s.queued[u] = true
			s.queue = append(s.queue, u)
		}
	}
}

// relabel lowers the price of node v until one of its halves is admissible.
func (s *solver) relabel(v int32, e int64) {
	best := int64(-none)
	for h := s.first[v]; h < s.first[v+1]; h++ {
		if a := &s.half[h]; a.cost != none {
			best = max(best, s.price[a.to]-a.cost)
		}
	}
	s.price[v] = best - e
	s.overflow = s.overflow || s.price[v] < -maxPrice
	s.current[v] = s.first[v]
	s.relabels++
}

// update lowers the price of every node by e times its distance from the
// nearest deficit, where a half is as long as the steps of e by which its
// reduced cost must fall to become admissible. Every excess then has an
// admissible path to a deficit.
func (s *solver) update(e int64) {
	s.relabels = 0
	copy(s.current, s.first)
	limit := int32(2*len(s.price) + 2)
	s.buckets.reset(limit)
	active := 0
	clear(s.needy)
	for v, x := range s.excess {
		s.dist[v] = limit
		if x > 0 {
			active++
			s.needy[s.part[v]]++
		} else if x < 0 {
			s.dist[v] = 0
			s.buckets.add(int32(v), 0)
		}
	}
	last := int32(0)
	for ; last < limit && active > 0; last++ {
		for u := s.buckets.take(last); u >= 0; u = s.buckets.take(last) {
			if s.excess[u] > 0 {
				active--
			}
			for h := s.first[u]; h < s.first[u+1]; h++ {
				v := s.half[h].to
				d := s.dist[v] - last
				if d <= 0 {
					continue
				}
				m := &s.half[s.half[h].mate] // from v to u
				if m.cost == none {
					continue
				}
				steps := (m.cost + s.price[v] - s.price[u] + e) / e
				if steps >= int64(d) {
					continue
				}
				if s.dist[v] < limit {
					s.buckets.remove(v)
				}
				s.dist[v] = last + int32(steps)
				s.buckets.add(v, s.dist[v])
			}
		}
	}
	if last > 0 && e > maxPrice/int64(last) {
		s.overflow = true
		return
	}
	for v, d := range s.dist {
		if s.needy[s.part[v]] > 0 {
			s.price[v] -= e * int64(min(d, last))
		}
		s.overflow = s.overflow || s.price[v] < -maxPrice
	}
}

// buckets are lists of nodes by distance, linked through arrays.
type buckets struct {
	head       []int32 // first node of each list or -1
	next, prev []int32 // prev of the first node is ^distance
}

func (b *buckets) reset(n int32) {
	if b.head == nil {
		b.head = make([]int32, n)
		b.next = make([]int32, n)
		b.prev = make([]int32, n)
	}
	for i := range b.head {
		b.head[i] = -1
	}
}

func (b *buckets) add(v, d int32) {
	b.next[v], b.prev[v] = b.head[d], ^d
	if u := b.head[d]; u >= 0 {
		b.prev[u] = v
	}
	b.head[d] = v
}

func (b *buckets) remove(v int32) {
	u, p := b.next[v], b.prev[v]
	if u >= 0 {
		b.prev[u] = p
	}
	if p >= 0 {
		b.next[p] = u
	} else {
		b.head[^p] = u
	}
}

// take removes and returns a node of distance d, or -1.
func (b *buckets) take(d int32) int32 {
	v := b.head[d]
	if v >= 0 {
		b.remove(v)
	}
	return v
}
