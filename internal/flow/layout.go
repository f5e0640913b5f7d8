package flow

// A layout is what the structure of a graph says about its flow.
type layout struct {
	g   *Graph
	out [][]int32 // live out-edges of each block, in order
	// reached blocks have a path of live edges from the entry.
	reached []bool
	// loop numbers the strongly connected components of the live edges and
	// the way back from exit to entry: an edge can carry flow exactly if it
	// joins two blocks of one component.
	loop []int32
	// rank is the position in reverse postorder, the order in which each
	// block comes before its successors but for retreating edges.
	rank  []int32
	order []int32
}

func newLayout(g *Graph) *layout {
	n := len(g.Blocks)
	l := &layout{g: g, out: make([][]int32, n)}
	degree := make([]int32, n)
	live := 0
	for _, e := range g.Edges {
		if !e.Dead {
			degree[e.From]++
			live++
		}
	}
	all := make([]int32, live)
	for v, d := range degree {
		l.out[v], all = all[:0:d], all[d:]
	}
	for i, e := range g.Edges {
		if !e.Dead {
			l.out[e.From] = append(l.out[e.From], int32(i))
		}
	}
	l.walk()
	return l
}

// succ returns the i-th successor of block v, counting the way back from the
// exit to the entry as the last one, or -1.
func (l *layout) succ(v int32, i int) int32 {
	if i < len(l.out[v]) {
		return int32(l.g.Edges[l.out[v][i]].To)
	}
	if i == len(l.out[v]) && int(v) == l.g.Exit {
		return int32(l.g.Entry)
	}
	return -1
}

// walk fills in everything but out: Tarjan's components in one depth-first
// walk, from the entry first, then from every block not yet seen.
func (l *layout) walk() {
	n := len(l.out)
	l.reached = make([]bool, n)
	l.loop = make([]int32, n)
	l.rank = make([]int32, n)
	l.order = make([]int32, n)
	var (
		seen  = make([]int32, n) // 1-based preorder number, 0 not yet
		low   = make([]int32, n)
		next  = make([]int, n)
		open  []int32 // of components not yet complete
		path  []int32
		count int32
		loops int32
		place = n
	)
	for i := range l.loop {
		l.loop[i] = -1
	}
	visit := func(root int32) {
		enter := func(v int32) {
			count++
			seen[v], low[v] = count, count
			path = append(path, v)
			open = append(open, v)
		}
		for enter(root); len(path) > 0; {
			v := path[len(path)-1]
			u := l.succ(v, next[v])
			if u >= 0 {
				next[v]++
				if seen[u] == 0 {
					enter(u)
				} else if l.loop[u] < 0 {
					low[v] = min(low[v], seen[u])
				}
				continue
			}
			path = path[:len(path)-1]
			place--
			l.order[place], l.rank[v] = v, int32(place)
			if len(path) > 0 {
				p := path[len(path)-1]
				low[p] = min(low[p], low[v])
			}
			if low[v] != seen[v] {
				continue
			}
			for {
				u := open[len(open)-1]
				open = open[:len(open)-1]
				l.loop[u] = loops
				if u == v {
					break
				}
			}
			loops++
		}
	}
	visit(int32(l.g.Entry))
	for v := range l.reached {
		l.reached[v] = seen[v] > 0
	}
	for v := range l.reached {
		if seen[v] == 0 {
			visit(int32(v))
		}
	}
}

// carries tells whether edge e can have flow.
func (l *layout) carries(e int32) bool {
	d := &l.g.Edges[e]
	return !d.Dead && l.reached[d.From] && l.loop[d.From] == l.loop[d.To]
}

// through tells whether live edges lead from the entry to the exit.
func (l *layout) through() bool {
	return l.loop[l.g.Exit] == l.loop[l.g.Entry]
}

// runs tells whether block v can have flow.
func (l *layout) runs(v int32) bool {
	if (int(v) == l.g.Exit || int(v) == l.g.Entry) && l.through() {
		return true
	}
	for _, e := range l.out[v] {
		if l.carries(e) {
			return true
		}
	}
	return false
}
