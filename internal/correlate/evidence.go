package correlate

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// An evidence is what samples say about places, edges and entries, in hits.
type evidence struct {
	*layout
	hits []uint64 // per place: addresses in its own code, or branches from and to it
	// passed is the sum over the runs through a place, and over what is known
	// of runs with one end, of the bytes that they cover; divided by its size
	// it is how often the place was executed. It is nil if no input has
	// neighbouring branches.
	passed []float64
	taken  []uint64 // per edge: branches
	fallen []uint64 // per edge: runs from one block into the next
	unsure []uint64 // per edge: branches and runs that may have taken it
	// arrived, started and crossed are, per piece, the branches to its first
	// byte, the runs that start there, and those that come from the piece
	// before it.
	arrived, started, crossed []uint64
	ways                      *ways
	// entered counts arrivals by branch at the first byte of functions.
	entered []uint64
	// share is the number of runs per branch. The oldest branch of a stack has
	// no run before it, so of 32 branches there are 31 runs; counts of
	// branches are multiplied by this to be in proportion.
	share float64
	cut   bool // runs are missing, see findShare

	calls   siteCalls
	used    uint64
	dropped [numReasons]uint64
	kinds   [numBranchKinds]uint64
}

func newEvidence(l *layout) *evidence {
	edges := l.firstEdge[len(l.firstEdge)-1]
	e := &evidence{
		layout:  l,
		hits:    make([]uint64, len(l.places)),
		taken:   make([]uint64, edges),
		fallen:  make([]uint64, edges),
		unsure:  make([]uint64, edges),
		arrived: make([]uint64, len(l.pieces)),
		started: make([]uint64, len(l.pieces)),
		crossed: make([]uint64, len(l.pieces)),
		entered: make([]uint64, len(l.functions)),
		share:   1,
		calls:   siteCalls{layout: l},
	}
	e.ways = &ways{evidence: e}
	return e
}

func (e *evidence) drop(r Reason, hits uint64) { e.dropped[r] = binfmt.SatAdd(e.dropped[r], hits) }

// nowhere drops hits of an RVA that is in no piece.
func (e *evidence) nowhere(rva uint32, hits uint64) {
	if e.padding(rva) {
		e.drop(InPadding, hits)
		return
	}
	e.drop(OutsideFunctions, hits)
}

// addresses adds sampled addresses. With branchesOnly they are samples of
// branch instructions, which count only where a block can end in one.
func (e *evidence) addresses(list []tally, branchesOnly bool) {
	k := 0 // the piece; addresses ascend
	for _, t := range list {
		rva := uint32(t.key)
		for k < len(e.pieces) && e.pieces[k].end <= rva {
			k++
		}
		if k == len(e.pieces) || rva < e.pieces[k].start {
			e.nowhere(rva, t.hits)
			continue
		}
		p := e.pieces[k].place
		if branchesOnly && !e.branches(p) {
			e.drop(NoBranch, t.hits)
			continue
		}
		e.used = binfmt.SatAdd(e.used, t.hits)
		e.hits[p] = binfmt.SatAdd(e.hits[p], t.hits)
	}
}

// branches says whether the block of a place has two live edges or more.
func (e *evidence) branches(p int32) bool {
	f, b := e.function(p), e.places[p].block
	if f < 0 || b < 0 {
		return false
	}
	live := 0
	for _, d := range e.functions[f].Blocks[b].Edges {
		if live += 1 - int(d.Flags&1); live > 1 {
			return true
		}
	}
	return false
}

// stacks adds the neighbouring frames of call stacks: the address in a callee
// and the return address in its caller. They show that the call and the
// callee's entry were executed, if only once for all that is known: frames of
// one long call are seen again and again. And they name targets of indirect
// calls. one is what a single hit is worth.
func (e *evidence) stacks(list []tally, reversed bool, one uint64) {
	for _, t := range list {
		callee, ret := uint32(t.key>>32), uint32(t.key)
		if reversed {
			callee, ret = ret, callee
		}
		from, to := e.callFrom(ret), e.find(callee)
		if from >= 0 {
			p := e.pieces[from].place
			e.hits[p] = max(e.hits[p], one)
		}
		if to < 0 {
			if from >= 0 {
				e.calls.returnsTo(ret, -1, t.hits)
			}
			continue
		}
		f := e.root(to)
		if from >= 0 {
			e.calls.returnsTo(ret, f, t.hits)
		}
		if p := e.entryPlace(f); p >= 0 {
			e.hits[p] = max(e.hits[p], one)
		}
	}
}

// callFrom is the piece of the call that returns to an RVA, or -1.
func (e *evidence) callFrom(ret uint32) int32 {
	if ret == 0 {
		return -1
	}
	return e.find(ret - 1)
}

// entryPlace is the place of the first byte of a function's own code, or -1.
func (e *evidence) entryPlace(f int32) int32 {
	if k := e.find(e.functions[f].RVA); k >= 0 {
		return e.pieces[k].place
	}
	return -1
}

// outermostFirst says whether most of the frames of call stacks fit the order
// in which the caller stands first. Frames are compared with the callees that
// the records name.
func (l *layout) outermostFirst(list []tally) bool {
	var forth, back uint64
	for _, t := range list {
		a, b := l.find(uint32(t.key>>32)), l.find(uint32(t.key))
		if a < 0 || b < 0 {
			continue
		}
		f, g := l.root(a), l.root(b)
		down, up := l.callsDirectly(g, f), l.callsDirectly(f, g)
		switch {
		case down && !up:
			forth = binfmt.SatAdd(forth, t.hits)
		case up && !down:
			back = binfmt.SatAdd(back, t.hits)
		}
	}
	return back > forth
}

// callsDirectly says whether the source of f calls g.
func (l *layout) callsDirectly(f, g int32) bool {
	id := l.functions[g].ID
	for k := range l.functions[f].Callees {
		if l.functions[f].Callees[k].ID == id {
			return true
		}
	}
	return false
}
