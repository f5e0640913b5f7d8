package correlate

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// maxInstruction is the most bytes that an x86 instruction has.
const maxInstruction = 15

// maxStraight is the most bytes that are believed to run without a branch.
const maxStraight = 1 << 16

// takeBranches adds all branches. Arrivals in the middle of pieces and
// departures are noted in the bitmaps, see behind and passHalf.
func (e *evidence) takeBranches(list []tally, arrivals, departures *bitmap) {
	k := int32(0) // the piece of the branch; they ascend
	for _, t := range list {
		from, to := uint32(t.key>>32), uint32(t.key)
		for int(k) < len(e.pieces) && e.pieces[k].end <= from {
			k++
		}
		source, target := int32(-1), e.find(to)
		if int(k) < len(e.pieces) && e.pieces[k].start <= from {
			source = k
			departures.set(from)
		}
		if target >= 0 {
			if e.pieces[target].start == to {
				e.arrived[target] = binfmt.SatAdd(e.arrived[target], t.hits)
			} else {
				arrivals.set(to)
			}
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
	if e.ways.follow(x, y, hits, e.taken) {
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

// credit adds hits to an edge of function f, which is that of body b.
func (e *evidence) credit(b, f, edge int32, hits uint64, counts []uint64) {
	counts[edge] = binfmt.SatAdd(counts[edge], hits)
	if e.bodies[b].host >= 0 {
		return
	}
	for _, twin := range e.twins[f] {
		d := edge - e.firstEdge[e.firstBlock[f]] + e.firstEdge[e.firstBlock[twin]]
		counts[d] = binfmt.SatAdd(counts[d], hits)
	}
}
