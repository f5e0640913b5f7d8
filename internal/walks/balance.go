package walks

import "slices"

// Bounds of the work: places looked at in all, which also grows with the length
// of the records, and for one token of one walk.
const (
	placesBudget = 1 << 18
	placesGrowth = 64
	placesTried  = 4096
)

// place is a token's place in a record. It is stale if the record has another
// token there by now.
type place struct{ rec, pos int32 }

// balancer shortens walks beyond maxLen. Two walks that share a token may
// exchange their tails behind it, and one may hand a cycle through the token
// to the other: tokens, pairs, starts and ends stay the same.
type balancer struct {
	maxLen  int
	records []record
	of      map[int32][]place // of the tokens of walks that are too long
	work    int
}

// move is what shortens walk x, at the cost of walk y. Without a cycle the
// two exchange what follows xPos and yPos; with one, the tokens of x behind
// xPos up to cycleEnd go behind yPos of y.
type move struct {
	x, y       int32
	xPos, yPos int32
	cycleEnd   int32 // 0 without a cycle
	longer     int   // length of the longer of the two after it
}

// balance returns the records with as few as it can beyond maxLen.
func balance(records []record, maxLen int) []record {
	b := balancer{maxLen: maxLen, records: records, of: map[int32][]place{}}
	var long []int32
	for i, r := range records {
		if len(r.walk) > maxLen {
			long = append(long, int32(i))
			for _, v := range r.walk {
				b.of[v] = nil
			}
		}
	}
	if len(long) == 0 {
		return records
	}
	budget := placesBudget
	for i, r := range records {
		b.note(int32(i))
		budget += placesGrowth * len(r.walk)
	}
	// Every move brings two lengths closer together, so this ends; the budget
	// is against ending late.
	for len(long) > 0 && b.work < budget {
		x := long[len(long)-1]
		m, ok := b.find(x)
		if !ok {
			long = long[:len(long)-1]
			continue
		}
		for _, r := range b.apply(m) {
			if r != x && len(b.records[r].walk) > maxLen {
				long = append(long, r)
			}
		}
	}
	return b.records
}

func (b *balancer) note(r int32) {
	for i, v := range b.records[r].walk {
		if list, ok := b.of[v]; ok {
			b.of[v] = append(list, place{r, int32(i)})
		}
	}
}

// find returns a move that makes walk x shorter if it is too long: the first
// one that leaves no walk too long, or else the one after which the longer
// of the two is shortest.
func (b *balancer) find(x int32) (best move, ok bool) {
	walk := b.records[x].walk
	if len(walk) <= b.maxLen {
		return move{}, false
	}
	best.longer = len(walk)
	try := func(m move) {
		if m.longer < best.longer {
			best, ok = m, true
		}
	}
	excess := len(walk) - b.maxLen
	for i, v := range walk {
		tried := 0
		shortest := place{rec: -1}
		for _, p := range b.of[v] {
			b.work++
			other := b.records[p.rec].walk
			if p.rec == x || int(p.pos) >= len(other) || other[p.pos] != v {
				continue
			}
			if tried++; tried > placesTried {
				break
			}
			xNew := i + len(other) - int(p.pos)
			try(move{x: x, y: p.rec, xPos: int32(i), yPos: p.pos, longer: max(xNew, len(walk)+len(other)-xNew)})
			if best.longer <= b.maxLen {
				return best, true
			}
			if shortest.rec < 0 || len(other) < len(b.records[shortest.rec].walk) {
				shortest = p
			}
		}
		if shortest.rec < 0 {
			continue
		}
		// The shortest cycle through v from here, and the shortest that is enough.
		for _, least := range []int{1, excess} {
			from := i + least
			if from >= len(walk) {
				break
			}
			if d := slices.Index(walk[from:], v); d >= 0 {
				d += least
				try(move{x, shortest.rec, int32(i), shortest.pos, int32(i + d),
					max(len(walk)-d, len(b.records[shortest.rec].walk)+d)})
			}
		}
	}
	return best, ok
}

// apply makes a move and returns the records that have changed. If one of the
// two walks is taken more often, a record of its own keeps the rest.
func (b *balancer) apply(m move) []int32 {
	x, y := b.records[m.x], b.records[m.y]
	times := min(x.times, y.times)
	var xNew, yNew []int32
	xHead, xTail := x.walk[:m.xPos+1], x.walk[m.xPos+1:]
	yHead, yTail := y.walk[:m.yPos+1], y.walk[m.yPos+1:]
	if m.cycleEnd > 0 {
		xNew = slices.Concat(xHead, x.walk[m.cycleEnd+1:])
		yNew = slices.Concat(yHead, x.walk[m.xPos+1:m.cycleEnd+1], yTail)
	} else {
		xNew = slices.Concat(xHead, yTail)
		yNew = slices.Concat(yHead, xTail)
	}
	changed := []int32{m.x, m.y}
	for _, r := range []record{x, y} {
		if r.times > times {
			changed = append(changed, int32(len(b.records)))
			b.records = append(b.records, record{r.walk, r.times - times})
		}
	}
	b.records[m.x] = record{xNew, times}
	b.records[m.y] = record{yNew, times}
	for _, r := range changed {
		b.note(r)
		b.work += len(b.records[r].walk)
	}
	return changed
}
