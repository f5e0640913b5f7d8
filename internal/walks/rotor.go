package walks

// rotor deals the arcs out of each token in turn, so that walks which meet at
// a token spread evenly over its arcs. Arcs to the hub are not dealt.
type rotor struct {
	arcs   []int32 // the arcs of token v with units are arcs[out[v]:end[v]]
	end    []int32
	at     []int32
	listed []bool
}

// fill starts a layer.
func (r *rotor) fill(l *liveGraph, units []uint64) {
	arcs, nodes := len(l.arcs), l.nodes()
	r.arcs, r.listed = resize(r.arcs, arcs), resize(r.listed, arcs)
	r.end, r.at = resize(r.end, nodes), resize(r.at, nodes)
	clear(r.listed)
	copy(r.end, l.out)
	copy(r.at, l.out)
	for _, k := range l.byFlow {
		if units[k] > 0 {
			r.list(l, k)
		}
	}
}

// list makes arc k, which has units, one of those that are dealt.
func (r *rotor) list(l *liveGraph, k int32) {
	v := l.from[k]
	if r.listed[k] || v == l.hub || l.to[k] == l.hub {
		return
	}
	r.listed[k] = true
	r.arcs[r.end[v]] = k
	r.end[v]++
}

// turn returns the next arc of v with units left, or -1.
func (r *rotor) turn(l *liveGraph, v int32, units []uint64) int32 {
	first := l.out[v]
	for first < r.end[v] {
		if r.at[v] >= r.end[v] {
			r.at[v] = first
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
