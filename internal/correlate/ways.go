package correlate

import (
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// ways finds the ways from one block to another of a body that lead through
// no code: an edge, or several with blocks between them that left no code in
// this body.
type ways struct {
	*evidence
	number []int32 // of each block of the function now searched, from 1; 0 not met
	blocks []int32 // blocks met: the first, and those without code
	edges  []wayEdge
	useful []bool // per number: the goal can be reached from it
}

// A wayEdge leads from a block that was met to another one or to the goal.
type wayEdge struct {
	edge     int32
	from, to int32 // numbers of blocks
}

// maxWays is the most edges that are looked at for one branch.
const maxWays = 1 << 10

// goal is the number of the block searched for; one may be met on the way to
// itself.
const goal = 0

// follow credits hits to the edges from place x to place y of the same body
// and returns whether there is a way. If there are several ways nothing tells
// how often each was taken: what is known of their edges is not all then.
func (w *ways) follow(x, y int32, hits uint64, counts []uint64) bool {
	b := w.places[x].body
	f := w.bodies[b].function
	if f < 0 || w.places[x].block < 0 || w.places[y].block < 0 {
		return false
	}
	single := w.search(b, f, w.places[x].block, w.places[y].block)
	for _, d := range w.edges {
		if single {
			w.credit(b, f, d.edge, hits, counts)
		} else {
			w.credit(b, f, d.edge, hits, w.unsure)
		}
	}
	return len(w.edges) > 0
}

// search puts all edges on ways from block x to block y in w.edges and
// returns whether they are one way.
func (w *ways) search(b, f, x, y int32) (single bool) {
	fn := w.functions[f]
	w.blocks, w.edges = append(w.blocks[:0], x), w.edges[:0]
	if len(w.number) < len(fn.Blocks) {
		w.number = make([]int32, len(fn.Blocks))
	}
	w.number[x] = 1
	reached := false
	for k := 0; k < len(w.blocks) && len(w.edges) < maxWays; k++ {
		block := w.blocks[k]
		first := w.firstEdge[w.firstBlock[f]+block]
		for i := range fn.Blocks[block].Edges {
			e := &fn.Blocks[block].Edges[i]
			to := int32(e.To) - 1
			if e.Flags&spd.EdgeDead != 0 || to < 0 || int(to) >= len(fn.Blocks) {
				continue
			}
			switch {
			case to == y:
				reached = true
				w.edges = append(w.edges, wayEdge{first + int32(i), int32(k) + 1, goal})
			case w.codeless(b, to):
				if w.number[to] == 0 {
					w.blocks = append(w.blocks, to)
					w.number[to] = int32(len(w.blocks))
				}
				w.edges = append(w.edges, wayEdge{first + int32(i), int32(k) + 1, w.number[to]})
			}
		}
	}
	for _, block := range w.blocks {
		w.number[block] = 0
	}
	if !reached {
		w.edges = w.edges[:0]
		return false
	}
	single = w.prune()
	return single && len(w.edges) < maxWays
}

// codeless says whether a block left no code in a body.
func (l *layout) codeless(b, block int32) bool {
	p := l.placeOf(b, block)
	return p < 0 || l.places[p].end == 0
}

// prune takes away the edges that do not lead to the goal. The rest is one way
// if no block has two of them.
func (w *ways) prune() (single bool) {
	if len(w.edges) == 1 {
		return true
	}
	w.useful = slices.Grow(w.useful[:0], len(w.blocks)+1)[:len(w.blocks)+1]
	clear(w.useful)
	w.useful[goal] = true
	for changed := true; changed; {
		changed = false
		for k := len(w.edges) - 1; k >= 0; k-- {
			if d := &w.edges[k]; w.useful[d.to] && !w.useful[d.from] {
				w.useful[d.from], changed = true, true
			}
		}
	}
	w.edges = slices.DeleteFunc(w.edges, func(d wayEdge) bool { return !w.useful[d.to] })
	single = true
	for k := 1; k < len(w.edges); k++ {
		single = single && w.edges[k].from != w.edges[k-1].from
	}
	return single
}
