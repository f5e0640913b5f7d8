package walks

import "slices"

const (
	// trimPhases bounds the work of a trim.
	trimPhases = 64
	// trimRest is the part of the imbalance that a trim may leave: the search
	// for the last of it would cost as much as all before. Walks meet it as
	// dead ends, from which they step back.
	trimRest = 64
)

// trimmer makes the capacities of a layer a circulation.
type trimmer struct {
	live    *liveGraph
	balance []int64 // units in minus units out
	level   []int32 // distance from the nearest shortage, -1 if not reached
	next    []int32 // arcs of the node that were tried in this phase
	lowered []bool  // an arc into the node has lost units
	queue   []int32
	path    []int32
}

// fit makes room for the nodes of a graph. Between two trims all values of a
// node are as they are here.
func (t *trimmer) fit(l *liveGraph) {
	t.live = l
	for len(t.level) < l.nodes() {
		t.level = append(t.level, -1)
	}
	n := len(t.level)
	t.balance, t.next, t.lowered = extend(t.balance, n), extend(t.next, n), extend(t.lowered, n)
}

// extend appends zeros up to a length.
func extend[T any](b []T, n int) []T { return append(b, make([]T, max(0, n-len(b)))...) }

// trim lowers units, which starts equal to capacity, until about as much
// flows into every node as out of it, and lowers little.
//
// A node with more out than in, a shortage, has to lose an arc out of it. That
// moves the shortage to the head of the arc, and so on until it meets a node
// with more in than out, an excess. Such paths, which may also give back what
// was taken before, are searched as in Dinic's maximum flow algorithm, short
// ones first: the reach grows by half with each phase.
func (t *trimmer) trim(l *liveGraph, units, capacity []uint64) {
	t.fit(l)
	for k := range l.arcs {
		// Sums may wrap, but the difference is at most the number of arcs.
		t.balance[l.to[k]] += int64(units[k])
		t.balance[l.from[k]] -= int64(units[k])
	}
	var short []int32
	var total int64
	for v, n := range t.balance[:l.nodes()] {
		if n < 0 {
			t.level[v] = 0
			short = append(short, int32(v))
			total -= n
		}
	}
	// The largest counts, which make the most bytes, get the shortest ways.
	g := l.whole
	slices.SortFunc(short, func(v, w int32) int { return g.compareFlow(g.lead[l.tokens[v]], g.lead[l.tokens[w]]) })
	reach := int32(1)
	for left, phase := total, 0; left > total/trimRest && phase < trimPhases; phase++ {
		t.search(short, reach, units, capacity)
		for _, v := range short {
			for t.balance[v] < 0 && t.push(v, units, capacity) {
				left--
			}
		}
		for _, v := range t.queue {
			t.level[v], t.next[v] = -1, 0
		}
		still := short[:0]
		for _, v := range short {
			if t.balance[v] < 0 {
				t.level[v] = 0
				still = append(still, v)
			}
		}
		short = still
		reach += reach/2 + 1
	}
	for _, v := range short {
		t.level[v] = -1
	}
	clear(t.balance[:l.nodes()])
	clear(t.lowered[:l.nodes()])
}

// search sets the levels of the nodes within reach of a shortage.
func (t *trimmer) search(short []int32, reach int32, units, capacity []uint64) {
	l := t.live
	t.queue = append(t.queue[:0], short...)
	for i := 0; i < len(t.queue); i++ {
		v := t.queue[i]
		level := t.level[v] + 1
		if level > reach {
			return
		}
		for k := l.out[v]; k < l.out[v+1]; k++ {
			if w := l.to[k]; units[k] > 0 && t.level[w] < 0 {
				t.level[w] = level
				t.queue = append(t.queue, w)
			}
		}
		if !t.lowered[v] {
			continue
		}
		for _, k := range l.into[l.in[v]:l.in[v+1]] {
			if w := l.from[k]; units[k] < capacity[k] && t.level[w] < 0 {
				t.level[w] = level
				t.queue = append(t.queue, w)
			}
		}
	}
}

// push moves one unit of shortage from v along rising levels to an excess. Its
// path lists the arcs that lose a unit, and complemented those that gain one.
func (t *trimmer) push(v int32, units, capacity []uint64) bool {
	l := t.live
	path := t.path[:0]
	defer func() { t.path = path }()
	at := v
	for t.balance[at] <= 0 {
		if k, w, ok := t.step(at, units, capacity); ok {
			path, at = append(path, k), w
			continue
		}
		if len(path) == 0 {
			return false
		}
		// Nothing leads on from here: step back and skip the arc from now on.
		if k := path[len(path)-1]; k >= 0 {
			at = l.from[k]
		} else {
			at = l.to[^k]
		}
		t.next[at]++
		path = path[:len(path)-1]
	}
	t.balance[at]--
	t.balance[v]++
	for _, k := range path {
		if k >= 0 {
			units[k]--
			t.lowered[l.to[k]] = true
		} else {
			units[^k]++
		}
	}
	return true
}

// step is the first arc of v, from the one tried last, that leads to the next
// level, and the node there.
func (t *trimmer) step(v int32, units, capacity []uint64) (k, to int32, ok bool) {
	l := t.live
	level := t.level[v] + 1
	outs := l.out[v+1] - l.out[v]
	all := outs
	if t.lowered[v] {
		all += l.in[v+1] - l.in[v]
	}
	for ; t.next[v] < all; t.next[v]++ {
		if i := t.next[v]; i < outs {
			if k := l.out[v] + i; units[k] > 0 && t.level[l.to[k]] == level {
				return k, l.to[k], true
			}
		} else if k := l.into[l.in[v]+i-outs]; units[k] < capacity[k] && t.level[l.from[k]] == level {
			return ^k, l.from[k], true
		}
	}
	return 0, 0, false
}
