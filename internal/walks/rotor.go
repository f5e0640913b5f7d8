package walks

// rotor deals the arcs out of each token in turn, so that walks which meet at
// a token spread evenly over its arcs. Arcs to the hub are not dealt.
type rotor struct {
	arcs   []int32 // the arcs of token v with units are arcs[out[v]:end[v]]
	end    []int32
	at     []int32
	listed []bool
}

func newRotor(arcs, nodes int) rotor {
	return rotor{make([]int32, arcs), make([]int32, nodes), make([]int32, nodes), make([]bool, arcs)}
}

// fill starts a layer.
func (r *rotor) fill(g *graph, arcs []int32, units []uint64) {
	for _, k := range arcs {
		v := g.from[k]
		r.end[v], r.at[v] = g.out[v], g.out[v]
		r.listed[k] = false
	}
	for _, k := range arcs {
		if units[k] > 0 {
			r.list(g, k)
		}
	}
}

// list makes arc k, which has units, one of those that are dealt.
func (r *rotor) list(g *graph, k int32) {
	v := g.from[k]
	if r.listed[k] || v == g.hub || g.to[k] == g.hub {
		return
	}
	r.listed[k] = true
	r.arcs[r.end[v]] = k
	r.end[v]++
}

// turn returns the next arc of v with units left, or -1.
func (r *rotor) turn(g *graph, v int32, units []uint64) int32 {
	for g.out[v] < r.end[v] {
		if r.at[v] >= r.end[v] {
			r.at[v] = g.out[v]
		}
		k := r.arcs[r.at[v]]
		if units[k] > 0 {
			r.at[v]++
			return k
		}
		r.end[v]--
		r.arcs[r.at[v]] = r.arcs[r.end[v]]
		r.listed[k] = false
	}
	return -1
}
