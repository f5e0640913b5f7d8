package flow

import (
	"math"
	"math/rand/v2"
)

// A program is a random structured flow graph with the number of times that
// each part of it runs.
type program struct {
	g           *Graph
	insns       []int
	block, edge []float64
	rng         *rand.Rand
	limit       int     // no new statements beyond this number of blocks
	codeless    float64 // share of blocks without instructions
}

// newProgram returns a program of about so many blocks that runs 1000 times.
func newProgram(seed uint64, blocks int, codeless float64) *program {
	p := &program{g: &Graph{Unit: testUnit}, rng: rand.New(rand.NewPCG(seed, 99)), limit: blocks, codeless: codeless}
	const runs = 1000
	last := p.add(runs)
	for len(p.g.Blocks) < blocks {
		last = p.region(last, runs, 0)
	}
	p.g.Exit = p.add(runs)
	p.join(last, p.g.Exit, runs)
	return p
}

// newInterpreter returns a program that does little but dispatch, from block
// dispatch, to handlers that return to the loop.
func newInterpreter(seed uint64, handlers int) (p *program, dispatch int) {
	p = &program{g: &Graph{Unit: testUnit}, rng: rand.New(rand.NewPCG(seed, 98))}
	const trips = 1e5
	entry, head, dispatch := p.add(1), p.add(trips+1), p.add(trips)
	p.g.Exit = p.add(1)
	p.join(entry, head, 1)
	p.join(head, dispatch, trips)
	p.join(head, p.g.Exit, 1)
	shares := make([]float64, handlers)
	sum := 0.0
	for i := range shares {
		shares[i] = p.rng.ExpFloat64() * p.rng.ExpFloat64()
		sum += shares[i]
	}
	for _, s := range shares {
		c := s / sum * trips
		first := p.add(c)
		p.join(dispatch, first, c)
		p.limit = len(p.g.Blocks) + p.rng.IntN(6)
		p.join(p.region(first, c, 3), head, c)
	}
	return p, dispatch
}

func (p *program) add(count float64) int {
	p.g.Blocks = append(p.g.Blocks, Obs{})
	n := 1 + int(p.rng.ExpFloat64()*4)
	if p.rng.Float64() < p.codeless {
		n = 0
	}
	p.insns = append(p.insns, n)
	p.block = append(p.block, count)
	return len(p.block) - 1
}

func (p *program) join(from, to int, count float64) {
	p.g.Edges = append(p.g.Edges, Edge{From: from, To: to})
	p.edge = append(p.edge, count)
}

// region appends a statement after block from and returns its last block,
// which runs as often.
func (p *program) region(from int, count float64, depth int) int {
	r := p.rng
	if depth > 12 {
		b := p.add(count)
		p.join(from, b, count)
		return b
	}
	share := func() float64 {
		switch r.IntN(4) {
		case 0:
			return r.Float64() * .02
		case 1:
			return 1 - r.Float64()*.02
		default:
			return r.Float64()
		}
	}
	body := func(from int, count float64) int {
		for k := r.IntN(3); k > 0 && len(p.g.Blocks) < p.limit; k-- {
			from = p.region(from, count, depth+1)
		}
		return from
	}
	switch k := r.IntN(10); {
	case k < 2: // plain block, as after a call
		b := p.add(count)
		p.join(from, b, count)
		return b
	case k < 4: // if-then
		q := count * share()
		arm := p.add(q)
		p.join(from, arm, q)
		end := body(arm, q)
		next := p.add(count)
		p.join(from, next, count-q)
		p.join(end, next, q)
		return next
	case k < 6: // if-then-else
		q := count * share()
		a := p.add(q)
		p.join(from, a, q)
		enda := body(a, q)
		b := p.add(count - q)
		p.join(from, b, count-q)
		endb := body(b, count-q)
		next := p.add(count)
		p.join(enda, next, q)
		p.join(endb, next, count-q)
		return next
	case k < 7: // short circuit: a || b
		qa := count * share()
		qb := (count - qa) * share()
		b := p.add(count - qa)
		p.join(from, b, count-qa)
		yes := p.add(qa + qb)
		p.join(from, yes, qa)
		p.join(b, yes, qb)
		no := p.add(count - qa - qb)
		p.join(b, no, count-qa-qb)
		endyes := body(yes, qa+qb)
		endno := body(no, count-qa-qb)
		next := p.add(count)
		p.join(endyes, next, qa+qb)
		p.join(endno, next, count-qa-qb)
		return next
	case k < 9: // loop
		trips := math.Exp(r.Float64() * 3)
		if depth > 4 {
			trips = 1 + r.Float64()
		}
		if r.IntN(2) == 0 { // tested at the bottom
			b := p.add(count * trips)
			p.join(from, b, count)
			end := body(b, count*trips)
			p.join(end, b, count*(trips-1))
			next := p.add(count)
			p.join(end, next, count)
			return next
		}
		head := p.add(count * (trips + 1))
		p.join(from, head, count)
		b := p.add(count * trips)
		p.join(head, b, count*trips)
		end := body(b, count*trips)
		p.join(end, head, count*trips)
		next := p.add(count)
		p.join(head, next, count)
		return next
	default: // switch
		k := 3 + r.IntN(6)
		var ends []int
		var parts []float64
		sum := 0.0
		for range k {
			w := r.ExpFloat64() * r.ExpFloat64()
			parts = append(parts, w)
			sum += w
		}
		for i := range parts {
			parts[i] *= count / sum
			a := p.add(parts[i])
			p.join(from, a, parts[i])
			ends = append(ends, body(a, parts[i]))
		}
		next := p.add(count)
		for i, e := range ends {
			p.join(e, next, parts[i])
		}
		return next
	}
}

// unstructuredGraph returns a chain of blocks with edges between any two of
// them, and counts that have nothing to do with each other.
func unstructuredGraph(r *rand.Rand, n int) *Graph {
	g := &Graph{Exit: n - 1, Unit: testUnit}
	for v := range n {
		g.Blocks = append(g.Blocks, Obs{uint64(testUnit * math.Exp(r.Float64()*10)), float64(1 + r.IntN(30))})
		if v == n-1 {
			break
		}
		g.Edges = append(g.Edges, Edge{From: v, To: v + 1})
		for range r.IntN(3) {
			g.Edges = append(g.Edges, Edge{From: v, To: r.IntN(n)})
		}
	}
	return g
}

// newLibrary returns functions of which each is called by some before it and
// runs as often as they do so.
func newLibrary(seed uint64, functions int) (ps []*program, calls []Call) {
	r := rand.New(rand.NewPCG(seed, 97))
	for k := range functions {
		p := newProgram(seed*1000+uint64(k), 2+r.IntN(30), 0)
		runs := 1.0
		if k > 0 {
			runs = 0
			for range 1 + r.IntN(4) {
				caller := r.IntN(k)
				c := Call{Caller: caller, Block: r.IntN(len(ps[caller].block)), Callee: k}
				calls = append(calls, c)
				runs += ps[caller].block[c.Block]
			}
		}
		scale := runs / p.block[0]
		for v := range p.block {
			p.block[v] *= scale
		}
		for i := range p.edge {
			p.edge[i] *= scale
		}
		p.g.CallsKnown = true
		ps = append(ps, p)
	}
	return ps, calls
}

// poisson returns a Poisson variate.
func poisson(r *rand.Rand, mean float64) float64 {
	if mean > 500 {
		return max(0, math.Round(mean+r.NormFloat64()*math.Sqrt(mean)))
	}
	k, t := 0.0, r.ExpFloat64()
	for t < mean {
		k++
		t += r.ExpFloat64()
	}
	return k
}

const testUnit = 256

// sampleIP measures the program with about so many samples of instruction
// pointers.
func (p *program) sampleIP(r *rand.Rand, hits float64) {
	total := 0.0
	for v, c := range p.block {
		total += c * float64(p.insns[v])
	}
	for v, c := range p.block {
		n := float64(p.insns[v])
		p.g.Blocks[v] = Obs{N: n}
		if n > 0 {
			h := poisson(r, c*n*hits/total)
			p.g.Blocks[v].Count = uint64(math.Round(h / n * testUnit))
		}
	}
}

// sampleBranches measures the program with so many windows of a walk through
// it, as branch stacks are.
func (p *program) sampleBranches(r *rand.Rand, windows int) {
	const length, gap = 31, 101
	out := make([][]int, len(p.block))
	for i, e := range p.g.Edges {
		out[e.From] = append(out[e.From], i)
	}
	blocks := make([]uint64, len(p.block))
	edges := make([]uint64, len(p.edge))
	entries := uint64(0)
	v := p.g.Entry
	for range windows {
		for step := range length + gap + r.IntN(9) {
			seen := step < length
			if seen {
				blocks[v]++
			}
			if v == p.g.Exit {
				v = p.g.Entry
				if seen {
					entries++
				}
				continue
			}
			x := r.Float64() * p.block[v]
			i := 0
			for ; i < len(out[v])-1 && x >= p.edge[out[v][i]]; i++ {
				x -= p.edge[out[v][i]]
			}
			if seen {
				edges[out[v][i]]++
			}
			v = p.g.Edges[out[v][i]].To
		}
	}
	for v, c := range blocks {
		p.g.Blocks[v] = Obs{c * testUnit, 1}
	}
	for i, c := range edges {
		p.g.Edges[i].Obs = Obs{c * testUnit, 1}
	}
	p.g.EntryObs = Obs{entries * testUnit, 1}
}

// weight returns the counts of blocks times their instructions.
func (p *program) weight(count func(v int) float64) []float64 {
	w := make([]float64, len(p.insns))
	for v, n := range p.insns {
		w[v] = float64(n) * count(v)
	}
	return w
}

// blockOverlap returns the overlap of counts with the truth by instructions.
func (p *program) blockOverlap(count func(v int) uint64) float64 {
	return overlap(p.weight(func(v int) float64 { return p.block[v] }), p.weight(func(v int) float64 { return float64(count(v)) }))
}

// edgeOverlap returns the overlap of the counts of edges with the truth.
func (p *program) edgeOverlap(counts []uint64) float64 {
	x := make([]float64, len(counts))
	for i, c := range counts {
		x[i] = float64(c)
	}
	return overlap(p.edge, x)
}

// overlap returns the sum of the lesser of the two shares of each item.
func overlap(a, b []float64) float64 {
	ta, tb, s := 0.0, 0.0, 0.0
	for i := range a {
		ta += a[i]
		tb += b[i]
	}
	for i := range a {
		s += min(a[i]/ta, b[i]/tb)
	}
	return s
}
