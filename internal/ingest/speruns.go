package ingest

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/spgo-tools/spgo/internal/sample"
)

// A record with a previous branch target says that the code from there up to
// its instruction ran straight through, but not which branch led there. That
// branch is one of those that other records have: speRuns keeps the runs until
// all branches are known, and shares the runs that begin at a place among the
// branches to it, by how often each was sampled. What is given to the sink then
// is what branch stacks of two would have had, in the same proportions.
type speRuns struct {
	runs map[speRun]uint64
	arcs map[speArc]uint64
}

// speRun is a straight run and the branch at its end.
type speRun struct {
	place  speTarget
	newest sample.Branch
}

// speTarget is where branches lead to.
type speTarget struct {
	binary int32
	rva    uint32
}

// speArc is a branch to a place.
type speArc struct {
	place speTarget
	from  uint32
}

func newSPERuns() speRuns { return speRuns{map[speRun]uint64{}, map[speArc]uint64{}} }

// arc notes a branch of a record that has a previous branch target.
func (s *speRuns) arc(binary int32, b sample.Branch, n uint64) {
	if b.To != sample.Outside {
		s.arcs[speArc{speTarget{binary, b.To}, b.From}] += n
	}
}

func (s *speRuns) merge(o *speRuns) {
	for k, n := range o.runs {
		s.runs[k] += n
	}
	for k, n := range o.arcs {
		s.arcs[k] += n
	}
}

// flush gives all runs to a sink.
func (s *speRuns) flush(sink sample.Sink) {
	byPlace := func(a, b speTarget) int {
		return cmp.Or(cmp.Compare(a.binary, b.binary), cmp.Compare(a.rva, b.rva))
	}
	runs := make([]speRun, 0, len(s.runs))
	for k := range s.runs {
		runs = append(runs, k)
	}
	slices.SortFunc(runs, func(a, b speRun) int {
		return cmp.Or(byPlace(a.place, b.place), cmp.Compare(a.newest.From, b.newest.From), cmp.Compare(a.newest.To, b.newest.To))
	})
	arcs := make([]speArc, 0, len(s.arcs))
	for k := range s.arcs {
		arcs = append(arcs, k)
	}
	slices.SortFunc(arcs, func(a, b speArc) int {
		return cmp.Or(byPlace(a.place, b.place), cmp.Compare(a.from, b.from))
	})
	for len(runs) > 0 {
		place := runs[0].place
		n := 1
		for n < len(runs) && runs[n].place == place {
			n++
		}
		for len(arcs) > 0 && byPlace(arcs[0].place, place) < 0 {
			arcs = arcs[1:]
		}
		m := 0
		for m < len(arcs) && arcs[m].place == place {
			m++
		}
		s.share(sink, runs[:n], arcs[:m])
		runs, arcs = runs[n:], arcs[m:]
	}
}

// share gives the runs from one place to a sink. As many of them begin with
// each of the branches to the place as it has of the branches; if there are
// none, the run was entered from outside.
func (s *speRuns) share(sink sample.Sink, runs []speRun, arcs []speArc) {
	var all, branches uint64
	for _, r := range runs {
		all += s.runs[r]
	}
	for _, a := range arcs {
		branches += s.arcs[a]
	}
	given, seen, bound := uint64(0), uint64(0), all
	from, next := sample.Outside, 0
	step := func() {
		from = arcs[next].from
		seen += s.arcs[arcs[next]]
		high, low := bits.Mul64(seen, all)
		bound, _ = bits.Div64(high, low, branches) // seen is at most branches
		next++
	}
	if len(arcs) > 0 && branches > 0 {
		step()
	}
	for _, r := range runs {
		for left := s.runs[r]; left > 0; {
			for given == bound && next < len(arcs) {
				step()
			}
			n := min(left, bound-given)
			sink.Branches(r.place.binary, []sample.Branch{r.newest, {To: r.place.rva, From: from}}, n)
			given, left = given+n, left-n
		}
	}
}
