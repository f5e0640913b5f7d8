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
	records []record

	// State of the current layer.
	times    uint64
	arcs     []int32  // arcs that may have units
	units    []uint64 // left/times, less what the walks of the layer took
	capacity []uint64 // left/times
	rotor    rotor
	trimmer  *trimmer
	need     []int32 // per node, room below which splice need not try again
	needSet  []int32
	steps    int // that splice may take

	// Scratch space.
	onPath places
	via    []int32 // per node, 1 + arc by which a search came; 0 if not met
	queue  []int32
	path   []int32

	search int // steps that are left for searches, in all layers
}

func newFolder(g *graph, maxLen int, p plan) *folder {
	arcs, nodes := len(g.flow), int(g.hub)+1
	return &folder{
		g: g, maxLen: maxLen, plan: p,
		left:     slices.Clone(g.flow),
		units:    make([]uint64, arcs),
		capacity: make([]uint64, arcs),
		rotor:    newRotor(arcs, nodes),
		trimmer:  newTrimmer(g),
		need:     make([]int32, nodes),
		onPath:   places{at: make([]int32, nodes)},
		via:      make([]int32, nodes),
		search:   256*arcs + 1<<20,
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
	g := f.g
	f.times = m
	for len(f.arcs) < len(g.byFlow) && g.flow[g.byFlow[len(f.arcs)]] >= m {
		f.arcs = g.byFlow[:len(f.arcs)+1]
	}
	for _, k := range f.arcs {
		f.units[k] = f.left[k] / m
		f.capacity[k] = f.units[k]
	}
	if m > 1 {
		f.trimmer.trim(f.arcs, f.units, f.capacity)
	}
	var walks, pairs float64
	for _, k := range f.arcs {
		switch {
		case g.from[k] == g.hub:
			walks += float64(f.units[k])
		case g.to[k] != g.hub:
			pairs += float64(f.units[k])
		}
	}
	if walks == 0 {
		return true
	}
	// A walk is a path to follow, so the number must be about that of the arcs.
	if walks > float64(16*len(f.arcs)+1024) {
		return false
	}
	aim := 1 + int(min(2*pairs/walks, f.aim*float64(f.maxLen)))
	f.rotor.fill(g, f.arcs, f.units)
	paths := f.advance(aim)

	f.steps = 16 * (len(f.arcs) + f.maxLen)
	for _, v := range f.needSet {
		f.need[v] = 0
	}
	f.needSet = f.needSet[:0]
	for _, path := range paths {
		path = f.splice(path)
		walk := make([]int32, 0, len(path)-1)
		for _, k := range path {
			f.left[k] -= m
			if v := g.to[k]; v != g.hub {
				walk = append(walk, v)
			}
		}
		f.records = append(f.records, record{walk, m})
	}
	return f.search > 0
}
