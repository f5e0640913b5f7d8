package walks

// liveGraph is what of a graph has units in a layer: the arcs with at least as
// much flow left as the multiplicity of the layer. Most layers have few of
// them, and all of their work is done on this graph, which has nodes and arcs
// of its own. Both are numbered in the order of those of the whole graph, but
// nodes without arcs out of them come last.
type liveGraph struct {
	whole    *graph
	hub      int32
	tokens   []int32 // the nodes as the whole graph numbers them
	out      []int32 // the arcs out of v are out[v] to out[v+1]-1
	from, to []int32
	arcs     []int32 // the arcs as the whole graph numbers them
	byFlow   []int32 // arcs, greatest flow of the whole graph first

	in   []int32 // the arcs into v are into[in[v]:in[v+1]]; see reverse
	into []int32

	node []int32 // by node of the whole graph, 1 + its number; 0 if it is not live
	arc  []int32 // by arc of the whole graph, its number if it is live
}

func newLiveGraph(g *graph) *liveGraph {
	return &liveGraph{whole: g, node: make([]int32, g.hub+1), arc: make([]int32, len(g.to))}
}

// set takes the arcs with at least m left. Only the first active arcs by flow
// had ever so much.
func (l *liveGraph) set(left []uint64, m uint64, active int) {
	g := l.whole
	for _, v := range l.tokens {
		l.node[v] = 0
	}
	live := 0
	for _, n := range left {
		if n >= m {
			live++
		}
	}
	l.tokens, l.out = l.tokens[:0], l.out[:0]
	l.from, l.to, l.arcs, l.byFlow = resize(l.from, live)[:0], resize(l.to, live)[:0], resize(l.arcs, live)[:0], resize(l.byFlow, live)[:0]
	tail := int32(-1)
	for k, n := range left {
		if n < m {
			continue
		}
		if tail < 0 || int(g.out[tail+1]) <= k {
			for tail++; int(g.out[tail+1]) <= k; tail++ {
			}
			l.add(tail)
			l.out = append(l.out, int32(len(l.arcs)))
		}
		l.arc[k] = int32(len(l.arcs))
		l.arcs = append(l.arcs, int32(k))
		l.from = append(l.from, int32(len(l.tokens)-1))
	}
	for _, k := range l.arcs {
		v := g.to[k]
		if l.node[v] == 0 {
			l.add(v)
			l.out = append(l.out, int32(len(l.arcs)))
		}
		l.to = append(l.to, l.node[v]-1)
	}
	l.out = append(l.out, int32(len(l.arcs)))
	l.hub = l.node[g.hub] - 1
	for _, k := range g.byFlow[:active] {
		if left[k] >= m {
			l.byFlow = append(l.byFlow, l.arc[k])
		}
	}
}

func (l *liveGraph) add(v int32) {
	l.tokens = append(l.tokens, v)
	l.node[v] = int32(len(l.tokens))
}

// nodes is the number of nodes.
func (l *liveGraph) nodes() int { return len(l.tokens) }

// exit returns the arc from v to the hub, -1 if there is none. It is the last
// one of v, for the hub is the greatest node of the whole graph.
func (l *liveGraph) exit(v int32) int32 {
	if last := l.out[v+1] - 1; last >= l.out[v] && l.to[last] == l.hub {
		return last
	}
	return -1
}

// reverse finds the arcs into each node.
func (l *liveGraph) reverse() {
	l.in = resize(l.in, l.nodes()+1)
	clear(l.in)
	for _, v := range l.to {
		l.in[v+1]++
	}
	for v := range l.nodes() {
		l.in[v+1] += l.in[v]
	}
	l.into = resize(l.into, len(l.to))
	// Filling moves the beginning of each node to its end, which is the
	// beginning of the next one.
	for k, v := range l.to {
		l.into[l.in[v]] = int32(k)
		l.in[v]++
	}
	copy(l.in[1:], l.in)
	l.in[0] = 0
}

// resize returns a slice of length n, in the memory of b if that is enough. What
// it holds is not specified.
func resize[T any](b []T, n int) []T {
	if n > cap(b) {
		return make([]T, n, max(n, cap(b)+cap(b)/4)) // the next layer may need a little more
	}
	return b[:n]
}
