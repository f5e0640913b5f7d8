package walks

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
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

// Result holds the walks of a decomposition.
type Result struct {
	Report
	records []record
}

// All yields the walks, each once, in order of falling times and then by
// tokens. They may be kept.
func (r *Result) All(yield func(walk []int32, times uint64) bool) {
	for _, rec := range r.records {
		if !yield(rec.walk, rec.times) {
			return
		}
	}
}

// Gate is how many plans may be tried at a time by all decompositions that
// share it. A nil gate is one plan after the other.
type Gate chan struct{}

// NewGate returns a gate for so many plans.
func NewGate(n int) Gate { return make(Gate, max(1, n)) }

// Decompose finds walks of at most maxLen tokens which together visit token t
// visits[t] times and make each transition as often as it is counted.
// Transitions must be sorted by From and then To, without duplicates. Same
// input, same walks, whatever the gate.
//
// Counts that no chains can have are no error: see [Report]. An error means
// that the arguments are malformed.
func Decompose(visits []uint64, trans []Transition, maxLen int, gate Gate) (*Result, error) {
	if err := check(visits, trans, maxLen); err != nil {
		return nil, err
	}
	g, extra, lost := newGraph(visits, trans, maxLen)
	best := bestOf(g, maxLen, g.plans(), gate)
	for i := range spares {
		if best.LostPairs == 0 {
			break
		}
		if r := bestOf(g, maxLen, spares[i:i+1], gate); r.better(best) {
			best = r
		}
	}
	best.ExtraVisits = extra
	best.LostPairs = satAdd(best.LostPairs, lost)
	return best, nil
}

// better says whether r lost fewer pairs than s or takes fewer bytes.
func (r *Result) better(s *Result) bool {
	return cmp.Or(cmp.Compare(r.LostPairs, s.LostPairs), cmp.Compare(r.Bytes, s.Bytes)) < 0
}

// bestOf tries plans and returns the best result, of equals that of the plan
// that comes first.
func bestOf(g *graph, maxLen int, plans []plan, gate Gate) (best *Result) {
	var (
		mu    sync.Mutex
		from  int // number of the plan of best
		group sync.WaitGroup
	)
	for i, p := range plans {
		try := func() {
			r := run(g, maxLen, p)
			mu.Lock()
			defer mu.Unlock()
			if best == nil || r.better(best) || !best.better(r) && i < from {
				best, from = r, i
			}
		}
		if gate == nil {
			try()
			continue
		}
		group.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			try()
		})
	}
	group.Wait()
	return best
}

// run decomposes g according to a plan.
func run(g *graph, maxLen int, p plan) *Result {
	f := newFolder(g, maxLen, p)
	f.fold()
	records, lost := cut(balance(f.records, maxLen), maxLen)
	records = merge(records)
	r := &Result{Report{Records: len(records), LostPairs: satAdd(lost, f.lost)}, records}
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
	if !slices.ContainsFunc(records, func(r record) bool { return len(r.walk) > maxLen }) {
		return records, 0
	}
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
	slices.SortFunc(merged, func(a, b record) int {
		return cmp.Or(cmp.Compare(b.times, a.times), slices.Compare(a.walk, b.walk))
	})
	return merged
}
