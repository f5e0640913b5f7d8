package cfg

// Callees that are no function of the program.
const (
	Returning = -1 // returns, or is not known
	Never     = -2 // never returns
)

// NeverReturning finds the functions that never return to their callers, by the
// graphs of all functions of a program. Callee gives the index in graphs of what
// a call leads to, or Returning or Never.
//
// A function returns if a way leads from its entry to a return, or to a tail
// call of a function that returns, past calls of functions that return or, to
// landing pads, throw. Code that no known edge leads to counts as reachable.
func NeverReturning(graphs []*Graph, callee func(Call) int) []bool {
	p := propagation{graphs: graphs, callee: callee, returns: make([]bool, len(graphs)),
		waiting: make([][]stop, len(graphs)), visited: make([][]bool, len(graphs))}
	for f, g := range graphs {
		p.visited[f] = make([]bool, len(g.Blocks))
		entered := make([]bool, len(g.Blocks))
		for _, b := range g.Blocks {
			for _, e := range b.Edges {
				entered[e.To] = true
			}
		}
		for k := range g.Blocks {
			if !entered[k] {
				p.work = append(p.work, stop{function: f, block: k})
			}
		}
		p.run()
	}
	never := make([]bool, len(graphs))
	for f := range graphs {
		never[f] = !p.returns[f]
	}
	return never
}

// stop is where the walk through a function goes on.
type stop struct {
	function, block int
	call            int  // the first call of the block that is still to pass
	resumed         bool // the block was begun
}

type propagation struct {
	graphs  []*Graph
	callee  func(Call) int
	returns []bool
	visited [][]bool
	waiting [][]stop // for a function to return
	work    []stop
}

func (p *propagation) run() {
	for len(p.work) > 0 {
		s := p.work[len(p.work)-1]
		p.work = p.work[:len(p.work)-1]
		p.step(s)
	}
}

// step walks through a block.
func (p *propagation) step(s stop) {
	if p.returns[s.function] || !s.resumed && p.visited[s.function][s.block] {
		return
	}
	p.visited[s.function][s.block], s.resumed = true, true
	b := &p.graphs[s.function].Blocks[s.block]
	if s.call == 0 {
		p.follow(s.function, b, true)
	}
	for ; s.call < len(b.Calls); s.call++ {
		c := b.Calls[s.call]
		target := p.callee(c)
		switch {
		case target >= 0 && !p.returns[target]:
			p.waiting[target] = append(p.waiting[target], s)
			if !c.Tail {
				return
			}
		case c.Tail && target != Never:
			p.returned(s.function)
			return
		case target == Never && !c.Tail:
			return
		}
	}
	for _, how := range b.Leaves {
		if how == Returns || how == Falls || how == Jumps {
			p.returned(s.function)
			return
		}
	}
	p.follow(s.function, b, false)
}

// follow goes on with the blocks behind edges that exceptions take, or the
// others.
func (p *propagation) follow(f int, b *Block, throws bool) {
	for _, e := range b.Edges {
		if e.Throws == throws && !e.Dead && !p.visited[f][e.To] {
			p.work = append(p.work, stop{function: f, block: e.To})
		}
	}
}

// returned notes that a function returns and lets those go on that waited for it.
func (p *propagation) returned(f int) {
	p.returns[f] = true
	p.work = append(p.work, p.waiting[f]...)
	p.waiting[f] = nil
}
