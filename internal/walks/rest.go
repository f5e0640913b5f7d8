package walks

import (
	"math"
	"slices"
)

// cyclic is a closed walk of tokens, each once, that is due some more times.
type cyclic struct {
	tokens []int32
	times  uint64
}

// rest takes what the layers left. That is a circulation: its cycles through
// the hub are walks, and the others are inserted into records that visit one
// of their tokens.
func (f *folder) rest() {
	cycles := f.cycles()
	if len(cycles) == 0 {
		return
	}
	h := host{maxLen: f.maxLen, records: f.records, of: map[int32][]int32{}}
	for _, c := range cycles {
		for _, v := range c.tokens {
			h.of[v] = nil
		}
	}
	for i := range h.records {
		h.note(int32(i), h.records[i].walk)
	}
	// A cycle may touch the records, or those with room, only through another
	// one. Where none finds room any more, they go where there is none.
	for full := false; len(cycles) > 0; {
		wait := cycles[:0]
		placed := false
		for _, c := range cycles {
			due := h.place(c, full)
			placed = placed || due < c.times
			if c.times = due; due > 0 {
				wait = append(wait, c)
			}
		}
		if full && !placed {
			panic("walks: cycles that no walk leads to, in a graph where chains enter every component")
		}
		full, cycles = !placed, wait
	}
	f.records, f.lost = h.records, h.lost
}

// cycles empties left. The cycles through the hub become records.
func (f *folder) cycles() (off []cyclic) {
	g := f.g
	next := slices.Clone(g.out) // first arc of a node that may have flow
	var path []int32
	defer f.onPath.clear()
	walk := func(at int32) {
		path = path[:0]
		f.onPath.put(at, 0)
		for {
			for next[at] < g.out[at+1] && f.left[next[at]] == 0 {
				next[at]++
			}
			if next[at] == g.out[at+1] {
				return // where it began, for this is a circulation
			}
			k := next[at]
			path = append(path, k)
			at = g.to[k]
			place, ok := f.onPath.get(at)
			if !ok {
				f.onPath.put(at, len(path))
				continue
			}
			times := uint64(math.MaxUint64)
			var tokens []int32
			for _, k := range path[place:] {
				times = min(times, f.left[k])
				if v := g.to[k]; v != g.hub {
					tokens = append(tokens, v)
				}
			}
			for i, k := range path[place:] {
				f.left[k] -= times
				if i < len(path)-place-1 {
					f.onPath.drop(g.to[k])
				}
			}
			if len(tokens) < len(path)-place {
				f.records = append(f.records, record{tokens, times})
			} else {
				off = append(off, cyclic{tokens, times})
			}
			path = path[:place]
		}
	}
	walk(g.hub)
	f.onPath.clear()
	for v := range g.hub {
		walk(v)
		f.onPath.clear()
	}
	return off
}

// host inserts cycles into records.
type host struct {
	maxLen  int
	records []record
	of      map[int32][]int32 // records that visit a token, for the tokens of cycles
	lost    uint64            // pairs at the ends of cycles that are records of their own
}

func (h *host) note(r int32, walk []int32) {
	for _, v := range walk {
		if list, ok := h.of[v]; ok && (len(list) == 0 || list[len(list)-1] != r) {
			h.of[v] = append(list, r)
		}
	}
}

// hostsTried bounds the search for the cheapest record.
const hostsTried = 1024

// mostInserted bounds how often one cycle is inserted where there is no room.
// Counts that no chains can have may ask for any number of times.
const mostInserted = 64

// place inserts a cycle into records that visit one of its tokens, and returns
// how often it is still due: all of it where full says that it may go where
// there is no room and any record visits it. A record of smaller multiplicity
// takes the cycle as often as it can, one of greater multiplicity is split.
func (h *host) place(c cyclic, full bool) (due uint64) {
	for inserted := 0; c.times > 0; {
		r, turn := h.find(c, hostsTried)
		if r < 0 {
			r, turn = h.find(c, math.MaxInt)
		}
		if r < 0 && full {
			r, turn = h.shortest(c)
			inserted++
		}
		if r < 0 {
			return c.times
		}
		if inserted > mostInserted {
			h.apart(c)
			return 0
		}
		host := &h.records[r]
		n, times := h.fit(host, c)
		at := slices.Index(host.walk, c.tokens[turn]) + 1
		walk := slices.Clone(host.walk[:at])
		for range n {
			walk = append(walk, c.tokens[turn+1:]...)
			walk = append(walk, c.tokens[:turn+1]...)
		}
		walk = append(walk, host.walk[at:]...)
		if times == host.times {
			host.walk = walk
		} else {
			host.times -= times
			r = int32(len(h.records))
			h.records = append(h.records, record{walk, times})
		}
		h.note(r, walk)
		c.times -= times * uint64(n)
	}
	return 0
}

// apart makes a cycle records of its own, which go round as often as maxLen
// lets them. Each loses the pair that would close the last round, as cutting a
// walk without room would.
func (h *host) apart(c cyclic) {
	rounds := uint64(max(1, h.maxLen/len(c.tokens)))
	add := func(rounds, times uint64) {
		if rounds == 0 || times == 0 {
			return
		}
		walk := slices.Repeat(c.tokens, int(rounds))
		h.records = append(h.records, record{walk, times})
		h.note(int32(len(h.records)-1), walk)
		h.lost = satAdd(h.lost, times)
	}
	add(rounds, c.times/rounds)
	add(c.times%rounds, 1)
}

// fit is how often c goes into each walk of a host and into how many.
func (h *host) fit(host *record, c cyclic) (n int, times uint64) {
	if host.times > c.times {
		return 1, c.times
	}
	room := uint64(max(h.maxLen-len(host.walk), 0)) / uint64(len(c.tokens))
	return int(max(1, min(c.times/host.times, room))), host.times
}

// find returns the record with room where a time of c costs the fewest bytes,
// among the first limit ones of each token, and the index in c of the token
// to insert after; r is -1 if none has room.
func (h *host) find(c cyclic, limit int) (r int32, turn int) {
	r = -1
	best := math.Inf(1)
	for i, v := range c.tokens {
		list := h.of[v]
		for _, j := range list[:min(limit, len(list))] {
			host := &h.records[j]
			if len(host.walk)+len(c.tokens) > h.maxLen {
				continue
			}
			n, times := h.fit(host, c)
			bytes := pairBytes * n * len(c.tokens)
			if times < host.times {
				bytes += recordBytes + repeatBytes + pairBytes*len(host.walk)
			}
			if cost := float64(bytes) / (float64(times) * float64(n)); cost < best {
				best, r, turn = cost, j, i
			}
		}
	}
	return r, turn
}

// shortest returns the shortest record that visits a token of c.
func (h *host) shortest(c cyclic) (r int32, turn int) {
	r = -1
	for i, v := range c.tokens {
		for _, j := range h.of[v] {
			if r < 0 || len(h.records[j].walk) < len(h.records[r].walk) {
				r, turn = j, i
			}
		}
	}
	return r, turn
}
