package walks

import "slices"

// record is a walk and how often it is taken.
type record struct {
	walk  []int32 // tokens
	times uint64
}

// folder takes walks out of a graph, layer by layer. A layer is a
// multiplicity: what its walks use of an arc is used that many times.
type folder struct {
	lost   uint64 // pairs that the rest could not keep
	g      *graph
	maxLen int
	plan
	left    []uint64 // flow that no record has yet
	active  int      // arcs, by flow, that ever had as much flow as the current layer
	records []record
	walks   arena // holds those of records

	// State of the current layer.
	times    uint64
	live     *liveGraph
	units    []uint64 // left/times, less what the walks of the layer took
	capacity []uint64 // left/times
	rotor    rotor
	trimmer  trimmer
	need     []int32 // per node, room below which splice need not try again
	needSet  []int32
	tries    int // that splice may take

	// Scratch space.
	onPath  places
	via     []int32 // per node, 1 + arc by which a search came; 0 if not met
	queue   []int32
	steps   []step
	path    []int32
	tail    []int32
	cycling []int32

	search int // steps that are left for searches, in all layers
}

func newFolder(g *graph, maxLen int, p plan) *folder {
	arcs, nodes := len(g.flow), int(g.hub)+1
	return &folder{
		g: g, maxLen: maxLen, plan: p,
		left:   slices.Clone(g.flow),
		live:   newLiveGraph(g),
		need:   make([]int32, nodes),
		onPath: places{at: make([]int32, nodes)},
		via:    make([]int32, nodes),
		search: 256*arcs + 1<<20,
	}
}

// fold takes layers of falling multiplicity until no start is left, or what is
// left suits them too badly, and then the rest.
func (f *folder) fold() {
	for m := f.g.widest(f.left); m > 0; m = min(m, f.g.widest(f.left)) {
		if !f.layer(m) {
			break
		}
		m = min(m-1, uint64(float64(m)/f.ratio))
	}
	f.rest()
}

// layer takes as many walks of multiplicity m as it can find. It returns false
// if lower layers are no use: counts of chains beyond maxLen, which no layer
// takes, pile up, and searches for short ways out of them find none.
func (f *folder) layer(m uint64) bool {
	f.times = m
	for f.active < len(f.g.byFlow) && f.g.flow[f.g.byFlow[f.active]] >= m {
		f.active++
	}
	l := f.live
	l.set(f.left, m, f.active)
	f.units = resize(f.units, len(l.arcs))
	for i, k := range l.arcs {
		f.units[i] = f.left[k] / m
	}
	if m > 1 {
		f.capacity = append(f.capacity[:0], f.units...)
		l.reverse()
		f.trimmer.trim(l, f.units, f.capacity)
	}
	var walks, pairs float64
	for k, n := range f.units {
		switch {
		case l.from[k] == l.hub:
			walks += float64(n)
		case l.to[k] != l.hub:
			pairs += float64(n)
		}
	}
	if walks == 0 {
		return true
	}
	// A walk is a path to follow, so the number must be about that of the arcs.
	if walks > float64(16*f.active+1024) {
		return false
	}
	f.steps = resize(f.steps, int(min(2*walks+pairs, float64(4*len(l.arcs)))))[:0] // mostly enough
	aim := 1 + int(min(2*pairs/walks, f.aim*float64(f.maxLen)))
	f.rotor.fill(l, f.units)
	ends := f.advance(aim)

	f.tries = 16 * (f.active + f.maxLen)
	for _, v := range f.needSet {
		f.need[v] = 0
	}
	f.needSet = f.needSet[:0]
	f.records = slices.Grow(f.records, len(ends))
	for _, end := range ends {
		path := f.splice(f.unwind(end))
		walk := f.walks.make(len(path) - 1)
		for i, k := range path {
			f.left[l.arcs[k]] -= m
			if i < len(walk) {
				walk[i] = l.tokens[l.to[k]]
			}
		}
		f.records = append(f.records, record{walk, m})
	}
	return f.search > 0
}

// arena gives out memory for walks, which are too many and too short for
// allocations of their own.
type arena struct{ free []int32 }

const arenaChunk = 1 << 14

func (a *arena) make(n int) []int32 {
	if n > len(a.free) {
		a.free = make([]int32, max(n, arenaChunk))
	}
	walk := a.free[:n:n]
	a.free = a.free[n:]
	return walk
}
