package flow

import "math"

// join connects every loop of r that has flow but none from the entry: one
// unit runs from the entry through the loop to the exit, by the path that
// disturbs the profile least. Where the entry is below the graph's floor, the
// difference takes such a path too. Loops that no path joins are counted.
func (f fitting) join(r *Result) {
	g := f.g
	j := &joiner{fitting: f, Result: r, joined: make([]bool, len(g.Blocks))}
	any := false
	for _, x := range r.Blocks {
		any = any || x > 0
	}
	if !any {
		return
	}
	if r.Blocks[g.Entry] > 0 {
		j.spread(int32(g.Entry))
	}
	for v := range g.Blocks {
		if r.Blocks[v] == 0 || j.joined[v] {
			continue
		}
		loop := j.spread(int32(v))
		if f.loop[v] == f.loop[g.Entry] {
			j.plan()
			j.route(j.nearest(loop), j.lift(1))
			r.Joined++
			continue
		}
		for _, u := range loop {
			n := g.Blocks[u].confidence()
			r.Unjoined += float64(n * math.Ldexp(float64(r.Blocks[u]), int(r.Shift)) / g.unit())
		}
	}
	if d := j.lift(0); d > 0 {
		j.plan()
		j.route(int32(g.Exit), d)
	}
}

type joiner struct {
	fitting
	*Result
	joined   []bool // blocks with flow from the entry, or given up
	from, to tree   // cheapest paths from the entry and to the end
	end      int32  // where paths end: the exit, or the entry if there is no way out
}

// A tree holds the cheapest paths between one block and all others.
type tree struct {
	edge []int32 // per block, the first edge on the way to the root, or -1
	cost []int64 // -1 where there is no path
}

// lift returns what the entry lacks, or least if that is more.
func (j *joiner) lift(least uint64) uint64 {
	floor := j.g.MinEntry >> j.Shift
	if !j.through() || j.Entry >= floor {
		return least
	}
	return max(least, floor-j.Entry)
}

// spread marks the blocks that flow reaches from block v and returns those
// that were not marked before.
func (j *joiner) spread(v int32) []int32 {
	j.joined[v] = true
	found := []int32{v}
	for k := 0; k < len(found); k++ {
		for _, e := range j.out[found[k]] {
			if to := int32(j.g.Edges[e].To); j.Edges[e] > 0 && !j.joined[to] {
				j.joined[to] = true
				found = append(found, to)
			}
		}
	}
	return found
}

// nearest returns the block of the list with the cheapest path through it.
func (j *joiner) nearest(list []int32) int32 {
	best := list[0]
	for _, v := range list {
		c, d := j.from.cost[v]+j.to.cost[v], j.from.cost[best]+j.to.cost[best]
		if c < d || c == d && v < best {
			best = v
		}
	}
	return best
}

// route adds d to all edges on the path from the entry through block v to the
// end. The path may pass an edge twice.
func (j *joiner) route(v int32, d uint64) {
	g := j.g
	if int(j.end) == g.Exit {
		j.Entry += d
		j.Blocks[g.Entry] += d
	}
	step := func(e int32) {
		j.Edges[e] += d
		j.Blocks[g.Edges[e].To] += d
	}
	for u := v; j.from.edge[u] >= 0; u = int32(g.Edges[j.from.edge[u]].From) {
		step(j.from.edge[u])
	}
	for u := v; j.to.edge[u] >= 0; u = int32(g.Edges[j.to.edge[u]].To) {
		step(j.to.edge[u])
	}
	// What the path met on its way is joined as well.
	for u := v; ; u = int32(g.Edges[j.from.edge[u]].From) {
		j.spread(u)
		if j.from.edge[u] < 0 {
			break
		}
	}
	for u := v; j.to.edge[u] >= 0; u = int32(g.Edges[j.to.edge[u]].To) {
		j.spread(u)
	}
	j.spread(j.end)
}

// plan finds the cheapest paths, once.
func (j *joiner) plan() {
	if j.from.edge != nil {
		return
	}
	g := j.g
	j.end = int32(g.Entry)
	if j.through() {
		j.end = int32(g.Exit)
	}
	in := make([][]int32, len(g.Blocks))
	for i := range g.Edges {
		if j.carries(int32(i)) {
			in[g.Edges[i].To] = append(in[g.Edges[i].To], int32(i))
		}
	}
	j.from = j.cheapest(int32(g.Entry), j.out, func(e int32) int32 { return int32(g.Edges[e].To) })
	j.to = j.cheapest(j.end, in, func(e int32) int32 { return int32(g.Edges[e].From) })
}

// toll is the price of a path through block v. A block without flow costs
// what its count of 0 says against it.
func (j *joiner) toll(v int32) int64 {
	if j.Blocks[v] > 0 {
		return 1
	}
	return 64 + int64(64*j.g.Blocks[v].confidence())
}

// cheapest finds the cheapest path from the root to each block along the
// edges given per block (Dijkstra's method).
func (j *joiner) cheapest(root int32, edges [][]int32, far func(e int32) int32) tree {
	t := tree{make([]int32, len(edges)), make([]int64, len(edges))}
	for v := range t.edge {
		t.edge[v], t.cost[v] = -1, -1
	}
	done := make([]bool, len(edges))
	t.cost[root] = j.toll(root)
	q := agenda{{root, t.cost[root]}}
	for len(q) > 0 {
		v := q.take().item
		if done[v] {
			continue
		}
		done[v] = true
		for _, e := range edges[v] {
			if !j.carries(e) {
				continue
			}
			u := far(e)
			if c := t.cost[v] + j.toll(u); t.cost[u] < 0 || c < t.cost[u] {
				t.cost[u], t.edge[u] = c, e
				q.add(visit{u, c})
			}
		}
	}
	return t
}
