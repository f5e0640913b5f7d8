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
	g       *graph
	maxLen  int
	left    []uint64 // flow that no record has yet
	records []record

	// State of the current layer.
	times    uint64
	units    []uint64 // left/times, less what the walks of the layer took
	capacity []uint64
	trimmer  *trimmer
	arcs     []int32 // arcs that may have units
	rotor    rotor

	// Scratch space.
	onPath  places
	via     []int32 // per node, 1 + the arc that a search came over; 0 if not met
	queue   []int32
	path    []int32
	need    []int32 // per node, room below which splice need not try again
	needSet []int32
}

func newFolder(g *graph, maxLen int) *folder {
	arcs, nodes := len(g.flow), int(g.hub)+1
	return &folder{
		g: g, maxLen: maxLen,
		left:     slices.Clone(g.flow),
		units:    make([]uint64, arcs),
		capacity: make([]uint64, arcs),
		trimmer:  newTrimmer(g),
		rotor:    newRotor(arcs, nodes),
		onPath:   places{at: make([]int32, nodes)},
		via:      make([]int32, nodes),
		need:     make([]int32, nodes),
	}
}

// fold takes layers of falling multiplicity, each at most 1/ratio of the one
// before, until no start is left.
func (f *folder) fold(ratio float64) {
	for m := f.widest(); m > 0; m = min(m, f.widest()) {
		f.layer(m)
		if m == 1 {
			return
		}
		m = min(m-1, uint64(float64(m)/ratio))
	}
}

// widest is a bound of the multiplicities that are possible with what is
// left: no more than the greatest start and the greatest end.
func (f *folder) widest() uint64 {
	g := f.g
	var start, end uint64
	for k := g.out[g.hub]; k < g.out[g.hub+1]; k++ {
		start = max(start, f.left[k])
	}
	for _, k := range g.into[g.in[g.hub]:g.in[g.hub+1]] {
		end = max(end, f.left[k])
	}
	return min(start, end)
}

// layer takes as many walks of multiplicity m as it can find.
func (f *folder) layer(m uint64) {
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
		return
	}
	// Mean length if all units fit in, the aim of each walk.
	aim := int(min(pairs/walks*AimMul, float64(f.maxLen)*AimCap)) + 1
	f.rotor.fill(g, f.arcs, f.units)
	paths := f.advance(aim, walks <= float64(2*len(f.arcs)))
	var lu, over float64
	for _, k := range f.arcs { if g.to[k]!=g.hub&&g.from[k]!=g.hub{ lu += float64(f.units[k])} }
	for _, p:=range paths { if len(p)-1>f.maxLen{over++} }
	if dbg { println("M",m,"arcs",len(f.arcs),"walks",int(walks),"done",len(paths),"over",int(over),"aim",aim,"pairs",int(pairs),"leftunits",int(lu)) }
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
}

var dbg bool

var AimMul, AimCap = 2.0, 0.75
