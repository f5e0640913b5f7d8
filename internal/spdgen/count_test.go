package spdgen

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// estimate is what some method says about a world, in any unit.
type estimate struct {
	blocks [][]float64 // per function and block
	edges  [][][]float64
	entry  []float64
}

func newEstimate(p *Program) *estimate {
	e := &estimate{entry: make([]float64, len(p.functions))}
	for k := range p.functions {
		e.blocks = append(e.blocks, make([]float64, len(p.functions[k].Blocks)))
		var edges [][]float64
		for i := range p.functions[k].Blocks {
			edges = append(edges, make([]float64, len(p.functions[k].Blocks[i].Edges)))
		}
		e.edges = append(e.edges, edges)
	}
	return e
}

// counter counts samples plainly: what was seen where, nothing inferred.
type counter struct {
	*Program
	order  []int32 // pieces by address
	hits   []float64
	own    []float64 // instructions of an execution of each node
	body   []int32   // of each node
	block  []int32   // of each node
	parent []int32   // node that a body is inlined into, -1
	ways   map[[3]int32][][2]int32
	e      *estimate
}

func newCounter(p *Program) *counter {
	c := &counter{Program: p, hits: make([]float64, len(p.nodes)), own: make([]float64, len(p.nodes)),
		body: make([]int32, len(p.nodes)), block: make([]int32, len(p.nodes)), parent: make([]int32, len(p.bodies)),
		ways: map[[3]int32][][2]int32{}, e: newEstimate(p)}
	for k := range p.pieces {
		c.order = append(c.order, int32(k))
		c.own[p.pieces[k].node] += float64(p.pieces[k].last - p.pieces[k].first)
	}
	slices.SortFunc(c.order, func(a, b int32) int { return cmp.Compare(p.pieces[a].start, p.pieces[b].start) })
	for n := range p.nodes {
		if p.nodes[n].copies {
			c.own[n] /= float64(len(p.nodes[n].items))
		}
	}
	for b := range p.bodies {
		c.parent[b] = -1
	}
	for b := range p.bodies {
		for i, n := range p.bodies[b].nodes {
			if n < 0 {
				continue
			}
			c.body[n], c.block[n] = int32(b), int32(i)
			for _, x := range p.nodes[n].items {
				if x.body >= 0 {
					c.parent[x.body] = n
				}
			}
		}
	}
	return c
}

// find returns the place in order of the piece at an address, or -1.
func (c *counter) find(rva uint32) int {
	i, exact := slices.BinarySearchFunc(c.order, rva, func(k int32, rva uint32) int { return cmp.Compare(c.pieces[k].start, rva) })
	if !exact {
		i--
	}
	if i < 0 || rva >= c.pieces[c.order[i]].end {
		return -1
	}
	return i
}

// instructions counts those of a piece from one address up to another.
func (c *counter) instructions(x *piece, from, to uint32) float64 {
	n := 0
	for _, s := range c.starts[x.first:x.last] {
		if s >= from && s <= to {
			n++
		}
	}
	return float64(n)
}

// function is the function whose code a node is in.
func (c *counter) function(n int32) int32 {
	b := c.body[n]
	for c.parent[b] >= 0 {
		b = c.body[c.parent[b]]
	}
	return c.bodies[b].function
}

// countIP gives a block its hits for each of its own instructions.
func (c *counter) countIP(addresses []uint32) *estimate {
	for _, a := range addresses {
		if i := c.find(a); i >= 0 {
			c.hits[c.pieces[c.order[i]].node]++
		}
	}
	c.spread()
	c.entries()
	return c.e
}

// spread turns hits of nodes into executions of blocks.
func (c *counter) spread() {
	for n, hits := range c.hits {
		if hits > 0 {
			c.e.blocks[c.bodies[c.body[n]].function][c.block[n]] += hits / c.own[n]
		}
	}
	c.fold()
}

// fold gives folded functions the counts of their code.
func (c *counter) fold() {
	for k, from := range c.keeper {
		if from < 0 || from == int32(k) {
			continue
		}
		if sameGraph(&c.functions[k], &c.functions[from]) {
			c.e.blocks[k], c.e.edges[k] = c.e.blocks[from], c.e.edges[from]
		}
	}
}

// entries takes the first block that has code for the entry.
func (c *counter) entries() {
	for k := range c.functions {
		f := &c.functions[k]
		i := 0
		for len(f.Blocks[i].Ranges) == 0 && len(f.Blocks[i].Edges) == 1 {
			i = int(f.Blocks[i].Edges[0].To) - 1
		}
		c.e.entry[k] = c.e.blocks[k][i]
	}
}

// countLBR counts the code between branches, and the edges that were seen.
// With inside, branches from and to other binaries are not known.
func (c *counter) countLBR(stacks [][]Branch, inside bool) *estimate {
	for _, stack := range stacks {
		taken := float64(len(stack)-1) / float64(len(stack))
		before := Branch{Outside, Outside}
		for _, b := range stack {
			if inside && (b.From == Outside || b.To == Outside) {
				before = Branch{Outside, Outside}
				continue
			}
			c.taken(b, taken)
			if before.From != Outside {
				c.straight(b.To, before.From)
			}
			before = b
		}
	}
	c.spread()
	for k := range c.functions {
		if len(c.functions[k].Blocks[0].Ranges) > 0 {
			c.e.entry[k] = c.e.blocks[k][0]
			continue
		}
		for _, n := range c.e.edges[k][0] {
			c.e.entry[k] += n
		}
	}
	return c.e
}

func (c *counter) taken(b Branch, weight float64) {
	to := c.find(b.To)
	if to < 0 {
		return
	}
	target := c.pieces[c.order[to]].node
	from := c.find(b.From)
	fn := c.function(target)
	if b.To == c.functions[fn].RVA || from < 0 {
		if from < 0 && b.To != c.functions[fn].RVA {
			return
		}
		c.entering(target, weight)
		return
	}
	source := c.pieces[c.order[from]].node
	if c.function(source) == fn {
		c.transition(source, target, b.To <= b.From, weight)
	}
}

// straight counts a run. Where it comes into another block the edge is counted
// as well, but once for blocks whose code is interleaved.
func (c *counter) straight(from, to uint32) {
	i, j := c.find(from), c.find(to)
	if i < 0 || j < i || to < from || to-from > 1<<16 {
		return
	}
	last := map[int32]uint32{} // where the code of a node ended
	newest := c.pieces[c.order[i]].node
	for k := i; k <= j; k++ {
		x := &c.pieces[c.order[k]]
		c.hits[x.node] += c.instructions(x, from, to)
		if end, seen := last[x.node]; k > i && (!seen || x.start-end > nearBytes || c.nodes[x.node].copies) {
			c.transition(newest, x.node, false, 1)
			newest = x.node
		}
		last[x.node] = x.end
	}
}

// entering counts the edges from the entries of all bodies around a node to it.
func (c *counter) entering(n int32, weight float64) {
	for n >= 0 {
		c.way(c.body[n], -1, c.block[n], weight)
		n = c.parent[c.body[n]]
	}
}

// transition counts the edges on the way from one node to another, out of
// inlined bodies and into others. Only blocks without code are between.
func (c *counter) transition(from, to int32, back bool, weight float64) {
	inside := func(n, body int32) int32 {
		for n >= 0 && c.body[n] != body {
			n = c.parent[c.body[n]]
		}
		return n
	}
	up := from
	for inside(to, c.body[up]) < 0 {
		exit := int32(len(c.bodies[c.body[up]].nodes) - 1)
		c.way(c.body[up], c.block[up], exit, weight)
		if up = c.parent[c.body[up]]; up < 0 {
			return
		}
	}
	down := inside(to, c.body[up])
	for n := to; n != down; n = c.parent[c.body[n]] {
		c.way(c.body[n], -1, c.block[n], weight)
	}
	if down != up || back && from == to {
		c.way(c.body[up], c.block[up], c.block[down], weight)
	}
}

// way counts the edges of a shortest way through blocks without code; from is
// -1 for the entry.
func (c *counter) way(body, from, to int32, weight float64) {
	key := [3]int32{body, from, to}
	edges, known := c.ways[key]
	if !known {
		edges = c.findWay(body, from, to)
		c.ways[key] = edges
	}
	function := c.bodies[body].function
	for _, e := range edges {
		c.e.edges[function][e[0]][e[1]] += weight
	}
}

func (c *counter) findWay(body, from, to int32) [][2]int32 {
	b := &c.bodies[body]
	f := &c.functions[b.function]
	type step struct{ block, before, edge int32 }
	var queue []step
	seen := map[int32]bool{}
	if from < 0 {
		if to == 0 || b.nodes[0] >= 0 {
			return nil
		}
		queue = append(queue, step{0, -1, 0})
	} else {
		queue = append(queue, step{from, -1, 0})
	}
	for at := 0; at < len(queue); at++ {
		block := queue[at].block
		if at > 0 && block == to {
			var edges [][2]int32
			for k := at; queue[k].before >= 0; k = int(queue[k].before) {
				edges = append(edges, [2]int32{queue[queue[k].before].block, queue[k].edge})
			}
			return edges
		}
		if at > 0 && b.nodes[block] >= 0 {
			continue
		}
		for e, x := range f.Blocks[block].Edges {
			next := int32(x.To) - 1
			if x.Flags&spd.EdgeDead == 0 && !seen[next] {
				seen[next] = true
				queue = append(queue, step{next, int32(at), int32(e)})
			}
		}
	}
	return nil
}

// proportional is the plain baseline: each block's count is divided among its
// edges like the counts of the blocks that they lead to. A block without code
// gets what flows in, or where nothing is known what its successors have.
func (c *counter) proportional(raw *estimate) *estimate {
	e := newEstimate(c.Program)
	for k := range c.functions {
		f := &c.functions[k]
		n := e.blocks[k]
		copy(n, raw.blocks[k])
		for range 8 {
			in := make([]float64, len(n))
			for i := range f.Blocks {
				edges := f.Blocks[i].Edges
				sum, live := 0.0, 0.0
				for _, x := range edges {
					if x.Flags&spd.EdgeDead == 0 {
						sum += n[x.To-1]
						live++
					}
				}
				if len(f.Blocks[i].Ranges) == 0 && i == 0 {
					n[i] = sum
				}
				for x := range edges {
					share := 0.0
					if edges[x].Flags&spd.EdgeDead == 0 {
						share = 1 / live
						if sum > 0 {
							share = n[edges[x].To-1] / sum
						}
					}
					e.edges[k][i][x] = n[i] * share
					in[edges[x].To-1] += n[i] * share
				}
			}
			for i := range n {
				if len(f.Blocks[i].Ranges) == 0 && i > 0 {
					n[i] = in[i]
				}
			}
		}
		e.entry[k] = n[0]
	}
	return e
}

// overlaps holds how much an estimate agrees with the truth, from 0 to 1.
type overlaps struct{ blocks, edges, entries float64 }

// overlap sums up, over all items, the smaller one of the shares that truth and
// estimate give them. Blocks weigh as much as
// the instructions that they executed each time, on average.
func overlap(w *World, e *estimate) overlaps {
	var blocks, edges, entries shares
	for k := range w.Functions {
		x := &w.Functions[k]
		entries.add(float64(x.Blocks[0]), e.entry[k])
		for i := range x.Blocks {
			if x.Blocks[i] > 0 {
				blocks.add(float64(x.Instructions[i]), e.blocks[k][i]*float64(x.Instructions[i])/float64(x.Blocks[i]))
			} else {
				blocks.add(0, e.blocks[k][i]*float64(w.functions[k].Blocks[i].OwnInstructions()))
			}
			for n := range x.Edges[i] {
				edges.add(float64(x.Edges[i][n]), e.edges[k][i][n])
			}
		}
	}
	return overlaps{blocks.overlap(), edges.overlap(), entries.overlap()}
}

type shares struct{ truth, estimate []float64 }

func (s *shares) add(truth, estimate float64) {
	s.truth, s.estimate = append(s.truth, truth), append(s.estimate, estimate)
}

func (s *shares) overlap() float64 {
	var truth, estimate, common float64
	for i := range s.truth {
		truth += s.truth[i]
		estimate += s.estimate[i]
	}
	if truth == 0 || estimate == 0 {
		return 0
	}
	for i := range s.truth {
		common += min(s.truth[i]/truth, s.estimate[i]/estimate)
	}
	return common
}
