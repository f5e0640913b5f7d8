package walks

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Transition counts how often token To directly followed token From.
type Transition struct {
	From, To int32
	Count    uint64
}

// Sizes in bytes of what a record consists of.
const (
	recordBytes = 2
	pairBytes   = 8 // one token
	repeatBytes = 10
)

// Report says what a decomposition came to.
type Report struct {
	Records int
	Bytes   uint64 // size of the records

	// Zero for visits and transitions counted on chains of which none is
	// longer than half of maxLen.
	ExtraVisits uint64 // visits more than given
	LostPairs   uint64 // neighbouring pairs fewer than given
}

// Exact says whether the walks have exactly the given visits and transitions.
func (r Report) Exact() bool { return r.ExtraVisits == 0 && r.LostPairs == 0 }

// Decompose calls emit for walks of at most maxLen tokens which together
// visit token t visits[t] times and make each transition as often as it is
// counted. Transitions must be sorted by From and then To, without
// duplicates.
//
// Walks come in order of falling times and then by tokens, each once; emit
// may keep them. Same input, same walks.
//
// Counts that no chains can have are no error: see [Report]. An error means
// that the arguments are malformed.
func Decompose(visits []uint64, trans []Transition, maxLen int, emit func(walk []int32, times uint64)) (Report, error) {
	if err := check(visits, trans, maxLen); err != nil {
		return Report{}, err
	}
	g, extra, lost := newGraph(visits, trans, maxLen)
	best := result{Report: Report{Bytes: math.MaxUint64, LostPairs: math.MaxUint64}}
	for _, p := range g.plans() {
		best = best.better(run(g, maxLen, p))
	}
	for _, p := range spares {
		if best.LostPairs > 0 {
			best = best.better(run(g, maxLen, p))
		}
	}
	for _, r := range best.records {
		emit(r.walk, r.times)
	}
	best.ExtraVisits = extra
	best.LostPairs = satAdd(best.LostPairs, lost)
	return best.Report, nil
}

type result struct {
	Report
	records []record
}

// better returns s if it lost fewer pairs than r or takes fewer bytes.
func (r result) better(s result) result {
	if cmp.Or(cmp.Compare(s.LostPairs, r.LostPairs), cmp.Compare(s.Bytes, r.Bytes)) < 0 {
		return s
	}
	return r
}

// run decomposes g according to a plan.
func run(g *graph, maxLen int, p plan) result {
	f := newFolder(g, maxLen, p)
	f.fold()
	records, lost := cut(balance(f.records, maxLen), maxLen)
	records = merge(records)
	r := result{Report{Records: len(records), LostPairs: satAdd(lost, f.lost)}, records}
	for _, rec := range records {
		r.Bytes += uint64(rec.bytes())
	}
	return r
}

func check(visits []uint64, trans []Transition, maxLen int) error {
	if maxLen < 2 {
		return fmt.Errorf("walks: maxLen is %d, want at least 2", maxLen)
	}
	// Arcs are numbered with 32 bits; a token has up to two more of them.
	if n := len(trans) + 2*len(visits); n > math.MaxInt32-2 {
		return fmt.Errorf("walks: %d transitions and %d tokens are too many", len(trans), len(visits))
	}
	for i, t := range trans {
		if t.From < 0 || t.To < 0 || int(t.From) >= len(visits) || int(t.To) >= len(visits) {
			return fmt.Errorf("walks: transition %d is from %d to %d, want tokens below %d", i, t.From, t.To, len(visits))
		}
		if i > 0 && compareEnds(trans[i-1], t) >= 0 {
			return fmt.Errorf("walks: transition %d (%d to %d) is out of order", i, t.From, t.To)
		}
	}
	return nil
}

func compareEnds(a, b Transition) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
}

// bytes is the size of the record.
func (r record) bytes() int {
	n := recordBytes + pairBytes*len(r.walk)
	if r.times > 1 {
		n += repeatBytes
	}
	return n
}

// cut cuts walks that are too long. The pairs at the cuts are lost.
func cut(records []record, maxLen int) (short []record, lost uint64) {
	short = records[:0:0]
	for _, r := range records {
		for ; len(r.walk) > maxLen; r.walk = r.walk[maxLen:] {
			short = append(short, record{r.walk[:maxLen], r.times})
			lost = satAdd(lost, r.times)
		}
		short = append(short, r)
	}
	return short, lost
}

// merge sorts records and joins those of the same walk.
func merge(records []record) []record {
	slices.SortFunc(records, func(a, b record) int { return slices.Compare(a.walk, b.walk) })
	merged := records[:0]
	for _, r := range records {
		if n := len(merged); n > 0 && slices.Equal(merged[n-1].walk, r.walk) {
			sum, carry := bits.Add64(merged[n-1].times, r.times, 0)
			if carry == 0 {
				merged[n-1].times = sum
				continue
			}
		}
		merged = append(merged, r)
	}
	slices.SortStableFunc(merged, func(a, b record) int { return cmp.Compare(b.times, a.times) })
	return merged
}
