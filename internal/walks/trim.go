package walks

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
	g       *graph
	balance []int64 // units in minus units out
	level   []int32 // distance from the nearest shortage, -1 if not reached
	next    []int32 // arcs of the node that were tried in this phase
	lowered []bool  // an arc into the node has lost units
	queue   []int32
	path    []int32
}

func newTrimmer(g *graph) *trimmer {
	n := int(g.hub) + 1
	t := &trimmer{
		g:       g,
		balance: make([]int64, n),
		level:   make([]int32, n),
		next:    make([]int32, n),
		lowered: make([]bool, n),
	}
	for v := range t.level {
		t.level[v] = -1
	}
	return t
}

// trim lowers units, which starts equal to capacity, until about as much
// flows into every node as out of it, and lowers little. Only the given arcs
// have capacity.
//
// A node with more out than in, a shortage, has to lose an arc out of it. That
// moves the shortage to the head of the arc, and so on until it meets a node
// with more in than out, an excess. Such paths, which may also give back what
// was taken before, are searched as in Dinic's maximum flow algorithm, short
// ones first: the reach grows by half with each phase.
func (t *trimmer) trim(arcs []int32, units, capacity []uint64) {
	g := t.g
	for _, k := range arcs {
		// Sums may wrap, but the difference is at most the number of arcs.
		t.balance[g.to[k]] += int64(units[k])
		t.balance[g.from[k]] -= int64(units[k])
	}
	var short []int32
	var total int64
	for _, k := range arcs {
		if v := g.from[k]; t.balance[v] < 0 && t.level[v] < 0 {
			t.level[v] = 0
			short = append(short, v)
			total -= t.balance[v]
		}
	}
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
	for _, k := range arcs {
		t.balance[g.to[k]], t.balance[g.from[k]] = 0, 0
		t.lowered[g.to[k]] = false
	}
}

// search sets the levels of the nodes within reach of a shortage.
func (t *trimmer) search(short []int32, reach int32, units, capacity []uint64) {
	g := t.g
	t.queue = append(t.queue[:0], short...)
	for i := 0; i < len(t.queue); i++ {
		v := t.queue[i]
		level := t.level[v] + 1
		if level > reach {
			return
		}
		for k := g.out[v]; k < g.out[v+1]; k++ {
			if w := g.to[k]; units[k] > 0 && t.level[w] < 0 {
				t.level[w] = level
				t.queue = append(t.queue, w)
			}
		}
		if !t.lowered[v] {
			continue
		}
		for _, k := range g.into[g.in[v]:g.in[v+1]] {
			if w := g.from[k]; units[k] < capacity[k] && t.level[w] < 0 {
				t.level[w] = level
				t.queue = append(t.queue, w)
			}
		}
	}
}

// push moves one unit of shortage from v along rising levels to an excess. Its
// path lists the arcs that lose a unit, and complemented those that gain one.
func (t *trimmer) push(v int32, units, capacity []uint64) bool {
	g := t.g
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
			at = g.from[k]
		} else {
			at = g.to[^k]
		}
		t.next[at]++
		path = path[:len(path)-1]
	}
	t.balance[at]--
	t.balance[v]++
	for _, k := range path {
		if k >= 0 {
			units[k]--
			t.lowered[g.to[k]] = true
		} else {
			units[^k]++
		}
	}
	return true
}

// step is the first arc of v, from the one tried last, that leads to the next
// level, and the node there.
func (t *trimmer) step(v int32, units, capacity []uint64) (k, to int32, ok bool) {
	g := t.g
	level := t.level[v] + 1
	outs := g.out[v+1] - g.out[v]
	all := outs
	if t.lowered[v] {
		all += g.in[v+1] - g.in[v]
	}
	for ; t.next[v] < all; t.next[v]++ {
		if i := t.next[v]; i < outs {
			if k := g.out[v] + i; units[k] > 0 && t.level[g.to[k]] == level {
				return k, g.to[k], true
			}
		} else if k := g.into[g.in[v]+i-outs]; units[k] < capacity[k] && t.level[g.from[k]] == level {
			return ^k, g.from[k], true
		}
	}
	return 0, 0, false
}
