package correlate

import "github.com/spgo-tools/spgo/pkg/binfmt"

// takeRuns adds the code that ran straight between neighbouring branches, from
// where one arrives to the instruction of the next. Runs that go backward or
// from one function into another are none: a branch is missing between. Of the
// stretches where a run starts and ends only half is added, see takeEnds.
func (e *evidence) takeRuns(list []tally, arrivals, departures *bitmap) {
	e.passed = make([]float64, len(e.places))
	// into[k] is how many runs go from piece k-1 into piece k, first less what
	// does so one piece before, modulo 2^64; ending[k] how many of these end
	// there.
	into := make([]uint64, len(e.pieces)+1)
	ending := make([]uint64, len(e.pieces))
	shift := excess(list)
	k := int32(0) // the piece of the start; they ascend
	for _, t := range list {
		start, last := uint32(t.key>>32), uint32(t.key)
		for int(k) < len(e.pieces) && e.pieces[k].end <= start {
			k++
		}
		if int(k) == len(e.pieces) {
			break
		}
		if start < e.pieces[k].start || last < start || last-start > maxStraight {
			continue
		}
		j := e.find(last)
		if j < 0 || e.root(j) != e.root(k) {
			continue
		}
		if start == e.pieces[k].start {
			e.started[k] = binfmt.SatAdd(e.started[k], t.hits)
		}
		e.passHalf(start, -float64(t.hits), arrivals, departures)
		e.passHalf(last, -float64(t.hits), arrivals, departures)
		hits := t.hits >> shift
		end := e.behind(j, last, arrivals)
		if k == j {
			e.pass(k, float64(t.hits), end-start)
			continue
		}
		e.pass(k, float64(t.hits), e.pieces[k].end-start)
		e.pass(j, float64(t.hits), end-e.pieces[j].start)
		into[k+1] += hits
		into[j+1] -= hits
		ending[j] += hits
	}
	var crossed uint64
	for k := range e.pieces {
		crossed += into[k]
		if crossed == 0 {
			continue
		}
		p := &e.pieces[k]
		e.crossed[k] = crossed << shift
		e.pass(int32(k), float64((crossed-ending[k])<<shift), p.end-p.start)
		if q := &e.pieces[k-1]; q.end == p.start {
			if x, y := e.common(q.place, p.place); x != y {
				e.ways.follow(x, y, crossed<<shift, e.fallen)
			}
		}
	}
}

// pass adds runs over some bytes of a piece. A piece that is one of several
// copies, which may differ in length, weighs as much as the mean of them.
func (e *evidence) pass(k int32, hits float64, bytes uint32) {
	p := &e.pieces[k]
	covered := float64(bytes)
	if pl := &e.places[p.place]; pl.copies > 1 {
		covered *= pl.bytes() / float64(p.end-p.start)
	}
	e.passed[p.place] += float64(hits * covered)
}

// behind returns the RVA behind the instruction at an RVA in piece k, as far
// as it shows: where a call returns to, or else the end of the piece if no
// instruction is longer than what is left of it. Otherwise it is the
// instruction itself, so that what is not certain is not counted.
func (e *evidence) behind(k int32, rva uint32, arrivals *bitmap) uint32 {
	end := e.pieces[k].end
	for to := rva + 1; to < end && to-rva <= maxInstruction; to++ {
		if arrivals.has(to) {
			return to
		}
	}
	if end-rva <= maxInstruction {
		return end
	}
	return rva
}
