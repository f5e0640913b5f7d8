package correlate

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// maxInstruction is the most bytes that an x86 instruction has.
const maxInstruction = 15

// maxStraight is the most bytes that are believed to run without a branch.
const maxStraight = 1 << 16

// takeBranches adds all branches. Arrivals in the middle of pieces are noted
// in the bitmap, see behind.
func (e *evidence) takeBranches(list []tally, arrivals *bitmap) {
	k := int32(0) // the piece of the branch; they ascend
	for _, t := range list {
		from, to := uint32(t.key>>32), uint32(t.key)
		for int(k) < len(e.pieces) && e.pieces[k].end <= from {
			k++
		}
		source, target := int32(-1), e.find(to)
		if int(k) < len(e.pieces) && e.pieces[k].start <= from {
			source = k
		}
		if target >= 0 && e.pieces[target].start != to {
			arrivals.set(to)
		}
		if e.maybeSite(from) {
			e.calls.from(from, e.entryAt(to), t.hits)
		}
		if source < 0 && target < 0 {
			e.nowhere(from, t.hits)
			continue
		}
		kind := e.branch(source, target, from, to, t.hits)
		e.kinds[kind] = binfmt.SatAdd(e.kinds[kind], t.hits)
		e.used = binfmt.SatAdd(e.used, t.hits)
	}
}

// branch credits a branch from one piece to another, either of which may be
// -1, and says what it is.
func (e *evidence) branch(source, target int32, from, to uint32, hits uint64) BranchKind {
	if source >= 0 {
		p := e.pieces[source].place
		e.hits[p] = binfmt.SatAdd(e.hits[p], hits)
	}
	if target < 0 {
		return BranchOut
	}
	p := e.pieces[target].place
	e.hits[p] = binfmt.SatAdd(e.hits[p], hits)
	f := e.root(target)
	first := e.functions[f].RVA == to
	if source < 0 || e.root(source) != f {
		if first {
			e.enter(f, hits)
			return BranchEntry
		}
		return BranchReturn
	}
	kind := e.jump(source, target, from, to, hits)
	if first && kind != BranchEdge { // recursion
		e.enter(f, hits)
		return BranchEntry
	}
	return kind
}

func (e *evidence) enter(f int32, hits uint64) {
	e.entered[f] = binfmt.SatAdd(e.entered[f], hits)
	for _, twin := range e.twins[f] {
		e.entered[twin] = binfmt.SatAdd(e.entered[twin], hits)
	}
}

// jump credits a branch inside of a function.
func (e *evidence) jump(source, target int32, from, to uint32, hits uint64) BranchKind {
	x, y := e.common(e.pieces[source].place, e.pieces[target].place)
	atEnd := e.pieces[source].end-from <= maxInstruction
	atStart := e.pieces[target].start == to
	if x == y {
		// Code inlined into a block branches inside of it. Only a branch from
		// its last to its first byte is one of the block itself.
		p := &e.places[x]
		atEnd = atEnd && e.pieces[source].end == p.end
		atStart = to == p.start
	}
	if !atEnd || !atStart {
		return BranchInside
	}
	if e.follow(x, y, hits, e.taken) {
		return BranchEdge
	}
	if x == y {
		return BranchInside
	}
	return BranchUnexplained
}

// common returns the places around x and y in the innermost body that has
// both.
func (l *layout) common(x, y int32) (int32, int32) {
	for {
		a, b := &l.bodies[l.places[x].body], &l.bodies[l.places[y].body]
		switch {
		case l.places[x].body == l.places[y].body || a.host < 0 && b.host < 0:
			return x, y
		case a.depth > b.depth:
			x = a.host
		case b.depth > a.depth:
			y = b.host
		default:
			x, y = a.host, b.host
		}
	}
}

// follow credits hits to the edges from place x to place y of the same body:
// one edge, or several if the way leads through blocks without code. It
// returns whether there is a way. If there are several ways nothing is
// credited: inference has to tell how often each was taken.
func (e *evidence) follow(x, y int32, hits uint64, counts []uint64) bool {
	b := e.places[x].body
	f := e.bodies[b].function
	if f < 0 || e.places[x].block < 0 || e.places[y].block < 0 {
		return false
	}
	w := ways{evidence: e, body: b, function: f, goal: e.places[y].block, left: maxSteps}
	w.from(e.places[x].block)
	if w.found == 1 && w.left > 0 {
		own := e.bodies[b].host < 0
		for _, d := range w.way[:w.length] {
			counts[d] = binfmt.SatAdd(counts[d], hits)
			if own {
				e.creditTwins(f, d, hits, counts)
			}
		}
	}
	return w.found > 0
}

func (e *evidence) creditTwins(f, edge int32, hits uint64, counts []uint64) {
	for _, twin := range e.twins[f] {
		d := edge - e.firstEdge[e.firstBlock[f]] + e.firstEdge[e.firstBlock[twin]]
		counts[d] = binfmt.SatAdd(counts[d], hits)
	}
}

const (
	maxWay   = 16  // edges of a way through blocks without code
	maxSteps = 256 // edges that are looked at
)

// ways searches for the ways from one block to another through blocks that
// left no code in a body.
type ways struct {
	*evidence
	body, function int32
	goal           int32
	path, way      [maxWay]int32 // edges
	depth, length  int
	found          int // ways, 2 stands for more
	left           int // edges that may still be looked at
}

func (w *ways) from(block int32) {
	edges := w.functions[w.function].Blocks[block].Edges
	first := w.firstEdge[w.firstBlock[w.function]+block]
	for k := range edges {
		if w.left--; w.left <= 0 || w.found > 1 {
			return
		}
		to := int32(edges[k].To) - 1
		if edges[k].Flags&spd.EdgeDead != 0 || to < 0 || int(to) >= len(w.functions[w.function].Blocks) {
			continue
		}
		w.path[w.depth] = first + int32(k)
		switch {
		case to == w.goal:
			if w.found == 0 {
				w.way, w.length = w.path, w.depth+1
			}
			w.found++
		case w.depth+1 < maxWay && w.codeless(to):
			w.depth++
			w.from(to)
			w.depth--
		}
	}
}

// codeless says whether a block left no code in the body.
func (w *ways) codeless(block int32) bool {
	p := w.placeOf(w.body, block)
	return p < 0 || w.places[p].end == 0
}
