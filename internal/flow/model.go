package flow

import "context"

// A model is the circulation problem of a graph. Each block is a node where
// flow arrives and a node where it leaves, with a wire between them; a block
// that was not observed is one node. Each edge is a wire from the leaving to
// the arriving node, and one goes from the exit to the entry.
type model struct {
	*layout
	net    *network
	arrive []int32 // nodes of each block, -1 if it cannot have flow
	leave  []int32
	edge   []int32 // wire of each edge, -1 if it cannot have flow
	back   int32   // wire that enters the function, -1 if there is no way through it
	leakIn []int32 // wires into each block, nil unless leaky
	wires  []wire
	nodes  int
	unit   float64
}

// costs are the shapes of a model's wires by what they stand for.
type costs struct {
	block, edge []shape
	back        shape
	leaky       bool
	leak        float64 // slope of a leak
	unit        float64
}

func newModel(l *layout, c *costs) *model {
	g := l.g
	m := &model{
		layout: l,
		arrive: make([]int32, len(g.Blocks)),
		leave:  make([]int32, len(g.Blocks)),
		edge:   make([]int32, len(g.Edges)),
	}
	// With leaks every edge that is not dead can have flow.
	used := func(e int32) bool { return l.carries(e) || c.leaky && !g.Edges[e].Dead }
	add := func(from, to int32, s shape) int32 {
		m.wires = append(m.wires, wire{from, to, s})
		return int32(len(m.wires) - 1)
	}
	nodes := int32(0)
	for v, s := range c.block {
		m.arrive[v], m.leave[v] = -1, -1
		if !c.leaky && !l.runs(int32(v)) {
			continue
		}
		m.arrive[v] = nodes
		if s.kind != free {
			nodes++
			add(nodes-1, nodes, s)
		}
		m.leave[v] = nodes
		nodes++
	}
	for i := range g.Edges {
		m.edge[i] = -1
		if e := &g.Edges[i]; used(int32(i)) {
			m.edge[i] = add(m.leave[e.From], m.arrive[e.To], c.edge[i])
		}
	}
	switch {
	case !c.leaky && !l.through():
		m.back = -1
	case !c.leaky:
		m.back = add(m.leave[g.Exit], m.arrive[g.Entry], c.back)
	default:
		outside := nodes
		nodes++
		m.back = add(outside, m.arrive[g.Entry], c.back)
		add(m.leave[g.Exit], outside, shape{kind: free})
		m.addLeaks(outside, c.leak, add)
	}
	m.nodes, m.unit = int(nodes), c.unit
	return m
}

// usualReach is how far apart prices are as a rule, in steepest slopes.
const usualReach = 64

// solve finds the flow of least cost, evenly distributed. It fails when ctx is
// done.
func (m *model) solve(ctx context.Context) error {
	full := float64(m.nodes) + 1
	m.net = newNetwork(m.nodes, m.wires, m.unit, min(full, usualReach))
	solved := m.net.solve(ctx, false)
	if !solved && ctx.Err() == nil {
		m.net = newNetwork(m.nodes, m.wires, m.unit, full)
		solved = m.net.solve(ctx, true)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !solved {
		panic("flow: a price passed its bound")
	}
	m.even()
	return nil
}

// flow solves the model and returns its flow.
func (m *model) flow(ctx context.Context) (stream, error) {
	if err := m.solve(ctx); err != nil {
		return stream{}, err
	}
	return m.read(), nil
}

// addLeaks adds wires from the outside into every block and back: for next to
// nothing into a block that no live edge leads to and from a block that none
// leaves, for a toll elsewhere.
func (m *model) addLeaks(outside int32, slope float64, add func(from, to int32, s shape) int32) {
	g := m.g
	m.leakIn = make([]int32, len(g.Blocks))
	fed := make([]bool, len(g.Blocks))
	fed[g.Entry] = true
	for _, e := range g.Edges {
		if !e.Dead && e.From != e.To {
			fed[e.To] = true
		}
	}
	for v := range g.Blocks {
		in, out := shape{kind: toll, n: slope}, shape{kind: toll, n: slope}
		if !fed[v] {
			in.n = 0
		}
		if len(m.out[v]) == 0 {
			out = shape{kind: free}
		}
		m.leakIn[v] = add(outside, m.arrive[v], in)
		add(m.leave[v], outside, out)
	}
}

// A stream is a circulation on a graph, in flow units. Blocks are the sum of
// their in-edges and what enters from outside.
type stream struct {
	block, edge []int64
	entry       int64
}

// read returns the network's flow.
func (m *model) read() stream {
	s := stream{
		block: make([]int64, len(m.g.Blocks)),
		edge:  make([]int64, len(m.g.Edges)),
	}
	if m.back >= 0 {
		s.entry = m.net.flow(m.back)
		s.block[m.g.Entry] = s.entry
	}
	for i, a := range m.edge {
		if a >= 0 {
			s.edge[i] = m.net.flow(a)
			s.block[m.g.Edges[i].To] += s.edge[i]
		}
	}
	for v, a := range m.leakIn {
		s.block[v] += m.net.flow(a)
	}
	return s
}
