package spdgen

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// Outside stands for all addresses of other binaries.
const Outside = ^uint32(0)

// Branch is a taken branch: RVAs, or Outside at one end.
type Branch struct{ From, To uint32 }

// Truth holds what happened.
type Truth struct {
	Functions []Executed // in file order
	// Instructions and Branches are all that were executed, and taken.
	Instructions, Branches uint64
}

// Executed holds the executions of a function record: those of its own code
// and of all its inlined copies. Folded functions have one code, and each has
// the executions of it; but none where the flow graphs differ.
type Executed struct {
	Blocks []uint64
	// Instructions are the executed ones of the blocks, without those of
	// inlined calls. A block may have vanished in some copies of its function.
	Instructions []uint64
	Edges        [][]uint64 // per block
}

const (
	// A call of the outside that takes this many blocks goes on by the
	// shortest ways, and soon after that calls nothing of the program.
	patience  = 30_000
	exhausted = 90_000
	maxDepth  = 48
)

// machine executes a program.
type machine struct {
	*Program
	*behaviour
	r     *rand.Rand
	truth *Truth
	probe *probe

	frames []frame // by depth of calls
	steps  int     // blocks since the outside called

	at     uint32 // end of the last instruction executed
	source uint32 // start of the last instruction, or where a branch under way started
	jumped bool   // a branch from source is under way
}

// frame is the code of a function that is about to run, not yet in order.
type frame struct{ pending []int32 }

func newMachine(p *Program, r *rand.Rand, watch *probe) *machine {
	m := &machine{Program: p, behaviour: p.behave(r), r: r, truth: &Truth{}, probe: watch, frames: make([]frame, maxDepth+1)}
	for k := range p.functions {
		n := len(p.functions[k].Blocks)
		x := Executed{Blocks: make([]uint64, n), Instructions: make([]uint64, n)}
		for i := range p.functions[k].Blocks {
			x.Edges = append(x.Edges, make([]uint64, len(p.functions[k].Blocks[i].Edges)))
		}
		m.truth.Functions = append(m.truth.Functions, x)
	}
	return m
}

// share gives folded functions the counts of the code that they run, if it is
// the same in their own flow graph.
func (m *machine) share() {
	for k := range m.functions {
		from := m.keeper[k]
		if from < 0 || from == int32(k) {
			continue
		}
		if sameGraph(&m.functions[k], &m.functions[from]) {
			m.truth.Functions[k] = m.truth.Functions[from]
		}
	}
}

// sameGraph says whether two functions have the same flow graph. Equal code may
// come from different ones.
func sameGraph(a, b *spd.Function) bool {
	return slices.EqualFunc(a.Blocks, b.Blocks, func(x, y spd.Block) bool {
		return slices.EqualFunc(x.Edges, y.Edges, func(e, f spd.Edge) bool { return e.To == f.To })
	})
}

// enter has the outside call one of the program's roots.
func (m *machine) enter() {
	m.steps = 0
	m.source, m.jumped = Outside, true
	m.invoke(pick(m.r, m.roots), 0)
	if m.source != Outside {
		m.branch(m.source, Outside)
	}
}

// invoke runs the stand-alone code of a function. It is called with a branch
// under way and returns with one.
func (m *machine) invoke(function int32, depth int) {
	f := &m.frames[depth]
	f.pending = f.pending[:0]
	m.walk(m.alone[m.keeper[function]], depth)
	m.flush(depth)
	m.jumped = true
}

// walk executes a body.
func (m *machine) walk(at int32, depth int) {
	b := &m.bodies[at]
	f := &m.functions[b.function]
	counts := &m.truth.Functions[b.function]
	exit := len(f.Blocks) - 1
	for k := 0; ; {
		m.steps++
		counts.Blocks[k]++
		if n := b.nodes[k]; n >= 0 {
			for _, x := range m.itemsOf(n, depth) {
				if x.piece >= 0 {
					m.add(depth, x.piece)
				} else {
					m.walk(x.body, depth)
				}
			}
		}
		if k == exit {
			return
		}
		e := m.choose(b.function, k)
		counts.Edges[k][e]++
		k = int(f.Blocks[k].Edges[e].To) - 1
	}
}

// itemsOf returns what runs of a node. Of copies it is the one that follows the
// code before, or else one that depends on that code.
func (m *machine) itemsOf(n int32, depth int) []item {
	items := m.nodes[n].items
	if !m.nodes[n].copies || len(items) < 2 {
		return items
	}
	end := m.at
	if pending := m.frames[depth].pending; len(pending) > 0 {
		end = m.pieces[pending[len(pending)-1]].end
	}
	k := slices.IndexFunc(items, func(x item) bool { return m.pieces[x.piece].start == end })
	if k < 0 {
		k = int(end) % len(items)
	}
	return items[k : k+1]
}

// choose draws an edge.
func (m *machine) choose(function int32, block int) int {
	upTo := m.edges[function][block]
	if len(upTo) == 1 {
		return 0
	}
	if m.steps > patience {
		return int(m.exits[function][block])
	}
	x := m.r.Float64()
	for e, s := range upTo {
		if x < s {
			if m.exits[function][m.functions[function].Blocks[block].Edges[e].To-1] < 0 {
				break // no way leads out from there
			}
			return e
		}
	}
	return int(m.exits[function][block])
}

// add puts a piece to those that are about to run, where it is interleaved
// with them; otherwise those run first.
func (m *machine) add(depth int, k int32) {
	f := &m.frames[depth]
	if len(f.pending) > 0 {
		x, first, near := &m.pieces[k], &m.pieces[f.pending[0]], false
		for _, q := range f.pending {
			if q == k {
				near = false
				break
			}
			n := m.pieces[q].node
			near = near || n == x.node || slices.Contains(m.nodes[n].near, x.node) || slices.Contains(m.nodes[x.node].near, n)
		}
		if !near || x.start < first.start {
			m.flush(depth)
		}
	}
	i, _ := slices.BinarySearchFunc(f.pending, k, func(a, b int32) int {
		return cmp.Compare(m.pieces[a].start, m.pieces[b].start)
	})
	f.pending = slices.Insert(f.pending, i, k)
}

// flush runs what is pending.
func (m *machine) flush(depth int) {
	f := &m.frames[depth]
	for i := range f.pending {
		x := &m.pieces[f.pending[i]]
		n := &m.nodes[x.node]
		m.truth.Functions[n.function].Instructions[n.block] += uint64(x.last - x.first)
		at := x.first
		for _, c := range x.calls {
			end := x.end
			if c.instruction+1 < x.last {
				end = m.starts[c.instruction+1]
			}
			m.run(at, c.instruction+1, end)
			m.call(c, depth)
			at = c.instruction + 1
		}
		if at < x.last {
			m.run(at, x.last, x.end)
		}
	}
	f.pending = f.pending[:0]
}

// run executes neighbouring instructions.
func (m *machine) run(first, last int32, end uint32) {
	start := m.starts[first]
	if m.jumped || start != m.at {
		m.branch(m.source, start)
	}
	m.probe.instructions(m.starts[first:last])
	m.truth.Instructions += uint64(last - first)
	m.at, m.source = end, m.starts[last-1]
}

// branch takes a branch.
func (m *machine) branch(from, to uint32) {
	m.probe.branch(from, to)
	m.truth.Branches++
	m.jumped = false
}

// call executes a call. After a tail call nothing of the caller runs.
func (m *machine) call(c call, depth int) {
	target := int32(-1)
	switch c.kind {
	case callDirect:
		target = c.target
	case callIndirect:
		if list := m.targets[c.target]; len(list) > 0 {
			target = pick(m.r, list)
		}
	}
	if c.kind == callLibrary {
		m.branch(m.source, m.library+uint32(c.target))
		m.source, m.jumped = m.library+uint32(c.target)+16, true
		return
	}
	inside := target >= 0 && m.keeper[target] >= 0 && m.alone[m.keeper[target]] >= 0
	if !inside || depth == maxDepth || m.steps > exhausted {
		if c.kind == callDirect && !inside {
			return // nothing that could be called
		}
		m.branch(m.source, Outside)
		m.source, m.jumped = Outside, true
		return
	}
	m.jumped = true
	from := m.source
	m.invoke(target, depth+1)
	if m.source == from && !c.tail {
		m.jumped = false // the callee has no code on the way that was taken
	}
}
