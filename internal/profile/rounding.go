package profile

import "slices"

// rounding turns a flow of sixteenths into one of whole numbers in which every
// arc is the whole number below or above its value (controlled rounding).
//
// Where the flow is balanced, a node that has one arc with a rest has another.
// So arcs with a rest lie on cycles, whatever their directions. Pushing flow
// around such a cycle until the first arc is whole keeps the balance and never
// moves an arc beyond its neighbours. That is done until no rest is left.
type rounding struct {
	arcs   []arc // those with a rest
	excess []uint64
	at     [][]int32 // by node: arcs that may have a rest
	buffer []int32   // of at
	place  []int32   // by node: position on the path, or -1
	path   []step
	nodes  []int32 // where the steps of the path start
}

// arc is a part of the flow that is not whole yet.
type arc struct {
	from, to int32
	rest     uint8 // sixteenths: 0 to 16, both of which are whole
	block    bool
	count    *uint64 // the whole part; nil for an arc to the ground
}

// step walks along an arc or against it.
type step struct {
	arc     int32
	forward bool
}

func (r *rounding) reset(nodes int) {
	r.arcs = r.arcs[:0]
	r.excess = append(r.excess[:0], make([]uint64, nodes)...)
}

func (r *rounding) add(a arc) {
	if a.rest != 0 {
		r.arcs = append(r.arcs, a)
	}
}

// settle rounds all arcs and adds what was rounded up to the counts.
func (r *rounding) settle() {
	if len(r.arcs) == 0 {
		return
	}
	r.index()
	work := 0
	for first := range r.arcs {
		node := r.arcs[first].from
		for !r.whole(int32(first)) || len(r.path) > 0 {
			s := r.next(node)
			r.place[node] = int32(len(r.path))
			r.path, r.nodes = append(r.path, s), append(r.nodes, node)
			if node = r.end(s); r.place[node] < 0 {
				continue
			}
			// The path has come back to one of its nodes. What leads there
			// stays, since its arcs have kept their rests.
			start := r.place[node]
			work += len(r.path) - int(start)
			r.push(r.path[start:], work <= lowering*len(r.arcs))
			for _, v := range r.nodes[start:] {
				r.place[v] = -1
			}
			r.path, r.nodes = r.path[:start], r.nodes[:start]
		}
	}
	for i := range r.arcs {
		if a := &r.arcs[i]; a.rest == 16 && a.count != nil {
			*a.count++
		}
	}
}

// lowering is how many steps an arc may take part in, on average, while pushes
// are chosen to lower blocks. Pushes that bring arcs nearer to whole numbers
// end within 64 more: each step of one takes at least 1 from the sum of
// rest*(16-rest), which is 64 an arc at most.
const lowering = 64

// index lists the arcs of every node.
func (r *rounding) index() {
	n := len(r.excess)
	degree := make([]int32, n+1)
	for i := range r.arcs {
		degree[r.arcs[i].from]++
		degree[r.arcs[i].to]++
	}
	r.buffer = slices.Grow(r.buffer[:0], 2*len(r.arcs))[:2*len(r.arcs)]
	r.at, r.place = r.at[:0], r.place[:0]
	used := int32(0)
	for v := range n {
		r.at = append(r.at, r.buffer[used:used:used+degree[v]])
		r.place = append(r.place, -1)
		used += degree[v]
	}
	for i := range r.arcs {
		a := &r.arcs[i]
		r.at[a.from] = append(r.at[a.from], int32(i))
		r.at[a.to] = append(r.at[a.to], int32(i))
	}
}

func (r *rounding) whole(i int32) bool { return r.arcs[i].rest%16 == 0 }

// next leaves a node by an arc that has a rest and by which the path did not
// come. There is one, because the node is balanced.
func (r *rounding) next(node int32) step {
	list := r.at[node]
	for r.whole(list[len(list)-1]) {
		list = list[:len(list)-1]
	}
	last := len(list) - 1
	if n := len(r.path); n > 0 && list[last] == r.path[n-1].arc {
		for r.whole(list[last-1]) {
			list[last-1] = list[last]
			list, last = list[:last], last-1
		}
		last--
	}
	r.at[node] = list
	return step{list[last], r.arcs[list[last]].from == node}
}

func (r *rounding) end(s step) int32 {
	if s.forward {
		return r.arcs[s.arc].to
	}
	return r.arcs[s.arc].from
}

// push moves as much flow around the cycle as makes an arc whole, in the
// direction that lowers the sum of the blocks. Where that does not change, or
// is not asked for, it is the direction that brings the arcs nearer to whole
// numbers.
func (r *rounding) push(cycle []step, lower bool) {
	blocks, nearer := 0, 0
	for _, s := range cycle {
		a := &r.arcs[s.arc]
		sign := -1
		if s.forward {
			sign = 1
		}
		nearer += sign * (int(a.rest) - 8)
		if a.block {
			blocks += sign
		}
	}
	along := nearer >= 0
	if lower && blocks != 0 {
		along = blocks < 0
	}
	amount := uint8(16)
	for _, s := range cycle {
		if a := &r.arcs[s.arc]; s.forward == along {
			amount = min(amount, 16-a.rest)
		} else {
			amount = min(amount, a.rest)
		}
	}
	for _, s := range cycle {
		if a := &r.arcs[s.arc]; s.forward == along {
			a.rest += amount
		} else {
			a.rest -= amount
		}
	}
}
