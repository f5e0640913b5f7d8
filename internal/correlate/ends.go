package correlate

// takeEnds completes what runs show by what branches show where stacks end. Of
// 32 branches there are 31 runs, but from the target of the newest branch and
// up to the oldest code ran as well, as far as no other branch can be between.
// So how often the stretch was executed where runs start is known from all the
// arrivals there, and where they end from all the departures. The mean of both
// is taken: half of each run was left out there for that.
func (e *evidence) takeEnds(branches []tally, arrivals, departures *bitmap) {
	for _, t := range branches {
		hits := float64(t.hits) * e.share
		e.passHalf(uint32(t.key>>32), hits, arrivals, departures)
		e.passHalf(uint32(t.key), hits, arrivals, departures)
	}
	for p, x := range e.passed {
		e.passed[p] = max(x, 0) // all but nothing may be left of sums of halves
	}
}

// passHalf adds half of hits to the stretch of code around an RVA: from the
// last arrival up to it in its piece to behind the next departure.
func (e *evidence) passHalf(rva uint32, hits float64, arrivals, departures *bitmap) {
	k := e.find(rva)
	if k < 0 {
		return
	}
	start, end := e.pieces[k].start, e.pieces[k].end
	if from := departures.next(rva, end); from < end {
		end = e.behind(k, from, arrivals)
	}
	e.pass(k, hits/2, end-arrivals.last(start, rva))
}
