package walks

// trimPhases bounds the work of a trim. Excess and shortage that rounding
// leaves are close together in code, so that a dozen phases are many.
const trimPhases = 64

// trimmer makes the capacities of a layer a circulation.
type trimmer struct {
	g       *graph
	balance []int64 // units in minus units out
	level   []int32 // distance from a shortage, -1 if not reached
	next    []int32 // arcs of a node tried in this phase
	queue   []int32
	path    []int32
}

func newTrimmer(g *graph) *trimmer {
	n := int(g.hub) + 1
	t := &trimmer{g: g, balance: make([]int64, n), level: make([]int32, n), next: make([]int32, n)}
	for v := range t.level {
		t.level[v] = -1
	}
	return t
}

// trim lowers units, which starts equal to capacity, until as much flows into
// every node as out of it, and lowers little. Only the given arcs have
// capacity.
//
// A node with more out than in has to lose an arc out of it, which moves its
// shortage to the arc's head, and so on until a node with more in than out is
// met. Such paths, or ones that give back what was taken before, are searched
// as in Dinic's maximum flow algorithm, shortest first.
//
// After trimPhases phases the rest stays as it is; walks then meet dead ends,
// which they can step back from.
func (t *trimmer) trim(arcs []int32, units, capacity []uint64) {
	g := t.g
	for _, k := range arcs {
		// Sums may wrap: the difference is at most the number of arcs.
		t.balance[g.to[k]] += int64(units[k])
		t.balance[g.from[k]] -= int64(units[k])
	}
	var short []int32
	for _, k := range arcs {
		if v := g.from[k]; t.balance[v] < 0 && t.level[v] < 0 {
			t.level[v] = 0
			short = append(short, v)
		}
	}
	limit := int32(1); var b0 int64
	for phase := 0; phase < trimPhases && len(short) > 0; phase++ {
		t.search(short, units, capacity, limit)
		for _, v := range short {
			for t.balance[v] < 0 && t.push(v, units, capacity) {
			}
		}
		for _, v := range t.queue {
			t.level[v], t.next[v] = -1, 0
		}
		var b int64
		left := short[:0]
		for _, v := range short {
			if t.balance[v] < 0 {
				t.level[v] = 0
				b -= t.balance[v]
				left = append(left, v)
			}
		}
		short = left
		if b0==0 {b0=b}; if b*StopDiv<b0 {break}
		if dbg { print(" ", limit,":",b,"/",len(t.queue)) }
		limit += limit/limDiv+1
	}
	if dbg { println(" arcs",len(arcs)) }
	for _, v := range short {
		t.level[v] = -1
	}
	for _, k := range arcs {
		t.balance[g.to[k]], t.balance[g.from[k]] = 0, 0
	}
}

// search sets the levels up to the nearest nodes with excess.
var limDiv = int32(2)
var StopDiv=int64(64)
func (t *trimmer) search(short []int32, units, capacity []uint64, limit int32) {
	g := t.g
	t.queue = append(t.queue[:0], short...)
	for i := 0; i < len(t.queue); i++ {
		v := t.queue[i]
		if t.level[v] >= limit {
			break
		}
		reach := func(w int32) {
			if t.level[w] < 0 {
				t.level[w] = t.level[v] + 1
				t.queue = append(t.queue, w)
			}
		}
		for k := g.out[v]; k < g.out[v+1]; k++ {
			if units[k] > 0 {
				reach(g.to[k])
			}
		}
		for _, k := range g.into[g.in[v]:g.in[v+1]] {
			if units[k] < capacity[k] {
				reach(g.from[k])
			}
		}
	}
}

// push moves one unit of shortage from v along rising levels to an excess. A
// path lists arcs that lose a unit, and those that gain one complemented.
func (t *trimmer) push(v int32, units, capacity []uint64) bool {
	g := t.g
	path := t.path[:0]
	defer func() { t.path = path }()
	at := v
	for t.balance[at] <= 0 {
		outs := g.out[at+1] - g.out[at]
		ins := g.in[at+1] - g.in[at]
		to := int32(-1)
		for ; t.next[at] < outs+ins; t.next[at]++ {
			if i := t.next[at]; i < outs {
				if k := g.out[at] + i; units[k] > 0 && t.level[g.to[k]] == t.level[at]+1 {
					path, to = append(path, k), g.to[k]
					break
				}
			} else if k := g.into[g.in[at]+i-outs]; units[k] < capacity[k] && t.level[g.from[k]] == t.level[at]+1 {
				path, to = append(path, ^k), g.from[k]
				break
			}
		}
		if to >= 0 {
			at = to
			continue
		}
		if len(path) == 0 {
			return false
		}
		// All arcs of this node are used up: step back over the arc, which
		// the node before skips from now on.
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
		} else {
			units[^k]++
		}
	}
	return true
}
