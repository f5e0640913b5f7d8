package flow

import (
	"cmp"
	"math"
	"slices"
)

const (
	// maxPrice bounds the size of a price.
	maxPrice = 1 << 60
	// none is the cost of a direction of an arc that has no room. Adding a
	// difference of two prices can neither overflow it nor make it negative.
	none = 1 << 62
	// maxQuantum is the finest division of a slope of 1.
	maxQuantum = 1 << 30
)

// A wire joins two nodes of a circulation problem.
type wire struct {
	from, to int32
	shape
}

// A network is a circulation problem as the solver sees it. Wires in series,
// with nothing else at the nodes between them, are one arc, whose cost is the
// sum of theirs. The halves of node v are half[first[v]:first[v+1]].
type network struct {
	scale
	first  []int32
	half   []half
	pieces []piece
	rises  []piece // memory for adding pieces up
	price  []int64
	excess []int64 // flow in minus flow out

	node []int32 // the network's number of each given node, -1 inside an arc
	arc  []int32 // the arc of each wire
	tail []int32 // the half of each arc at its tail, -1 for a loop
	loop []int64 // the flow of arcs that are loops
}

// A half is one direction of an arc as seen from one of its ends: what a unit
// more in this direction costs, and how many units that price is good for.
type half struct {
	to    int32 // node at the other end
	mate  int32 // the same arc from there
	piece int32 // in network.pieces
	down  bool  // against the arc
	cost  int64 // slope of the piece, negated for the direction against the arc
	room  int64
}

// newNetwork builds the network of n nodes and wires in which every arc has
// the flow of least cost. unit is the flow that stands for one execution. No
// two prices may differ by more than reach times the steepest slope: the
// greater reach, the coarser the slopes.
func newNetwork(n int, wires []wire, unit, reach float64) *network {
	w := &network{}
	chains, nodes := w.series(n, wires)
	steepest := 1.0
	w.unit = unit
	w.capacity = 1
	for _, c := range chains {
		slope := 0.0
		for _, i := range c {
			slope += wires[i].maxSlope()
			// In some optimal flow the wires above their least cost form no
			// cycle (flow round it could be lowered at no cost), so every
			// cycle of flow has a wire at or below its own: their sum bounds
			// every flow.
			w.capacity += wires[i].at
		}
		steepest = max(steepest, slope)
	}
	// Slopes are multiples of more than the number of nodes, so that a
	// circulation within 1 of optimal on every arc is optimal.
	w.factor = int64(nodes) + 1
	quantum := maxPrice / (8 * float64(w.factor) * reach * steepest)
	w.quantum = math.Exp2(math.Floor(math.Log2(min(quantum, maxQuantum))))

	w.place(nodes, chains, wires)
	next := slices.Clone(w.first)
	for k, c := range chains {
		from, to := w.ends(c, wires)
		first := int32(len(w.pieces))
		x := w.addPieces(c, wires)
		if from == to {
			w.tail[k], w.loop[k] = -1, x
			w.pieces = w.pieces[:first]
			continue
		}
		out, in := next[from], next[to]
		next[from]++
		next[to]++
		w.tail[k] = out
		w.half[out] = half{to: to, mate: in}
		w.half[in] = half{to: from, mate: out, down: true}
		p := first + 1
		for w.pieces[p].slope != none && w.pieces[p+1].start <= x {
			p++
		}
		w.setUp(out, p, x)
		for w.pieces[p].slope != -none && w.pieces[p].start >= x {
			p--
		}
		w.setDown(in, p, x)
		w.excess[to] += x
		w.excess[from] -= x
	}
	return w
}

// series groups the wires into arcs, each from tail to head, and fills in node
// and arc. A node is inside an arc if one wire comes and another goes. It also
// returns the number of the other nodes.
func (w *network) series(n int, wires []wire) (chains [][]int32, nodes int) {
	const several = -2
	in := make([]int32, n)
	out := make([]int32, n)
	for v := range in {
		in[v], out[v] = -1, -1
	}
	note := func(at *int32, i int) {
		if *at == -1 {
			*at = int32(i)
		} else {
			*at = several
		}
	}
	for i, a := range wires {
		note(&out[a.from], i)
		note(&in[a.to], i)
	}
	inside := func(v int32) bool { return in[v] >= 0 && out[v] >= 0 && in[v] != out[v] }

	w.node = make([]int32, n)
	w.arc = make([]int32, len(wires))
	for i := range w.arc {
		w.arc[i] = -1
	}
	all := make([]int32, 0, len(wires))
	follow := func(i int32) {
		start := len(all)
		for w.arc[i] < 0 {
			w.arc[i] = int32(len(chains))
			all = append(all, i)
			if !inside(wires[i].to) {
				break
			}
			i = out[wires[i].to]
		}
		chains = append(chains, all[start:len(all):len(all)])
	}
	for i, a := range wires {
		if !inside(a.from) {
			follow(int32(i))
		}
	}
	for i := range wires {
		if w.arc[i] < 0 { // in a ring of such nodes
			follow(int32(i))
		}
	}
	for v := range w.node {
		w.node[v] = -1
		if !inside(int32(v)) {
			w.node[v] = int32(nodes)
			nodes++
		}
	}
	return chains, nodes
}

// ends returns the network's nodes at the ends of an arc; of a ring that has
// none, -1 twice.
func (w *network) ends(chain []int32, wires []wire) (from, to int32) {
	return w.node[wires[chain[0]].from], w.node[wires[chain[len(chain)-1]].to]
}

// place lays out the halves by node.
func (w *network) place(nodes int, chains [][]int32, wires []wire) {
	w.first = make([]int32, nodes+1)
	w.price = make([]int64, nodes)
	w.excess = make([]int64, nodes)
	w.tail = make([]int32, len(chains))
	w.loop = make([]int64, len(chains))
	for _, c := range chains {
		if from, to := w.ends(c, wires); from != to {
			w.first[from]++
			w.first[to]++
		}
	}
	end := int32(0)
	for v, degree := range w.first {
		w.first[v] = end
		end += degree
	}
	w.half = make([]half, end)
}

// addPieces appends the pieces of the arc that a chain of wires makes and
// returns its flow of least cost, the nearest to that of its first wire.
func (w *network) addPieces(chain []int32, wires []wire) int64 {
	first := len(w.pieces)
	if len(chain) == 1 {
		w.pieces = w.appendPieces(w.pieces, wires[chain[0]].shape)
	} else {
		// Each piece of the sum adds what one wire's slope rises by.
		rises := w.rises[:0]
		for _, i := range chain {
			start := len(rises)
			rises = w.appendPieces(rises, wires[i].shape)
			end := len(rises) - 1
			for p := end - 1; p > start+1; p-- {
				rises[p].slope -= rises[p-1].slope
			}
			rises = slices.Delete(rises[:end], start, start+1)
		}
		slices.SortFunc(rises, func(a, b piece) int { return cmp.Compare(a.start, b.start) })
		w.rises = rises
		w.pieces = append(w.pieces, piece{slope: -none})
		slope := int64(0)
		for i, r := range rises {
			slope += r.slope
			if i+1 < len(rises) && rises[i+1].start == r.start {
				continue
			}
			if last := len(w.pieces) - 1; w.pieces[last].slope < slope {
				w.pieces = append(w.pieces, piece{r.start, slope})
			}
		}
		w.pieces = append(w.pieces, piece{w.capacity, none})
	}
	// The least cost is where the slope is 0 or passes it.
	own := w.pieces[first:]
	low := 1
	for own[low].slope < 0 {
		low++
	}
	high := low
	if own[high].slope == 0 {
		high++
	}
	return min(max(wires[chain[0]].at, own[low].start), own[high].start)
}

// setUp makes half h the upward direction of an arc with flow x in piece p.
func (w *network) setUp(h, p int32, x int64) {
	w.half[h].piece = p
	w.half[h].cost = w.pieces[p].slope
	w.half[h].room = 0
	if w.pieces[p].slope != none {
		w.half[h].room = w.pieces[p+1].start - x
	}
}

// setDown makes half h the downward direction of an arc with flow x in piece p.
func (w *network) setDown(h, p int32, x int64) {
	w.half[h].piece = p
	w.half[h].cost = -w.pieces[p].slope
	w.half[h].room = 0
	if w.pieces[p].slope != -none {
		w.half[h].room = x - w.pieces[p].start
	}
}

// push moves d units, 0 < d <= room, along half h of node v.
func (w *network) push(v, h int32, d int64) {
	a := &w.half[h]
	b := &w.half[a.mate]
	w.excess[v] -= d
	w.excess[a.to] += d
	if b.piece == a.piece {
		b.room += d
	} else {
		b.piece, b.cost, b.room = a.piece, -a.cost, d
	}
	a.room -= d
	if a.room > 0 {
		return
	}
	// The piece is used up: go on with its neighbour.
	if p := a.piece; a.down {
		w.setDown(h, p-1, w.pieces[p].start)
	} else {
		w.setUp(h, p+1, w.pieces[p+1].start)
	}
}

// flow returns the flow of wire i.
func (w *network) flow(i int32) int64 {
	k := w.arc[i]
	h := w.tail[k]
	if h < 0 {
		return w.loop[k]
	}
	b := &w.half[w.half[h].mate]
	return w.pieces[b.piece].start + b.room
}
