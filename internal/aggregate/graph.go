package aggregate

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/walks"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// graph is the sum of the sequences of arcs of a binary in the form that walks
// are made from.
type graph struct {
	arcs   []uint64 // in the order of their values
	visits []uint64 // by place in arcs: how often the arc occurs
	next   []walks.Transition
}

// decompose calls emit with chains of at most limit arcs, each with the number
// of times it counts, that have exactly the arcs and pairs of the sum. The
// result depends on the sum alone.
func (g *graph) decompose(limit int, emit func(chain []uint64, times uint64) error) (walks.Report, error) {
	var failed error
	chain := make([]uint64, 0, limit)
	report, err := walks.Decompose(g.visits, g.next, limit, func(walk []int32, times uint64) {
		chain = chain[:0]
		for _, r := range walk {
			chain = append(chain, g.arcs[r])
		}
		if failed == nil {
			failed = emit(chain, times)
		}
	})
	return report, cmp.Or(failed, err)
}

// memory is about what decompose takes, in bytes: for each arc two more from and
// to the outside, and a record; for each pair an arc of the graph.
func (g *graph) memory() int64 { return 200*int64(len(g.arcs)) + 110*int64(len(g.next)) }

// binarySums is the sum of one binary. What is asked for first comes first in it, in
// the order of the methods; each may be called once.
type binarySums interface {
	// hitList returns the counts of (opcode, RVA), in no particular order.
	hitList() ([]place, error)
	branchGraph() (*graph, error)
	// stacks calls f for whole stacks in the order of their values.
	stacks(f func(stack []uint64, times uint64) error) error
	callGraph() (*graph, error)
}

func (c *counts) hitList() ([]place, error) {
	list := make([]place, 0, c.hits.used)
	c.hits.each(func(key, n uint64) { list = append(list, place{key, n}) })
	return list, nil
}

func (c *counts) branchGraph() (*graph, error) { return c.branches.graph(), nil }
func (c *counts) callGraph() (*graph, error)   { return c.calls.graph(), nil }

func (c *counts) stacks(f func(stack []uint64, times uint64) error) error {
	var stack []uint64
	for _, key := range c.branches.whole.sorted() {
		stack = appendStack(stack[:0], key)
		if err := f(stack, c.branches.whole[key]); err != nil {
			return err
		}
	}
	return nil
}

// spilled is the sum of a binary whose parts are on disk.
type spilled struct {
	from *merged
	at   *item // read but not used
}

// each calls f for the items of a kind.
func (s *spilled) each(k kind, f func(*item) error) error {
	for {
		if s.at == nil {
			var err error
			if s.at, err = s.from.next(); err != nil {
				return err
			}
		}
		if s.at == nil || s.at.kind > k {
			return nil
		}
		if s.at.kind == k {
			if err := f(s.at); err != nil {
				return err
			}
		}
		s.at = nil
	}
}

func (s *spilled) hitList() (list []place, err error) {
	err = s.each(kindHits, func(i *item) error {
		list = append(list, place{i.a, i.n})
		return nil
	})
	return list, err
}

func (s *spilled) branchGraph() (*graph, error) { return s.graph(kindBranchHeads, kindBranchLinks) }
func (s *spilled) callGraph() (*graph, error)   { return s.graph(kindCallHeads, kindCallLinks) }

func (s *spilled) stacks(f func(stack []uint64, times uint64) error) error {
	var stack []uint64
	return s.each(kindStacks, func(i *item) error {
		stack = appendStack(stack[:0], i.stack)
		return f(stack, i.n)
	})
}

func (s *spilled) graph(heads, links kind) (*graph, error) {
	var begins []place
	if err := s.each(heads, func(i *item) error {
		begins = append(begins, place{i.a, i.n})
		return nil
	}); err != nil {
		return nil, err
	}
	type pair struct{ before, arc, n uint64 }
	var pairs []pair
	if err := s.each(links, func(i *item) error {
		pairs = append(pairs, pair{i.a, i.b, i.n})
		return nil
	}); err != nil {
		return nil, err
	}
	g := &graph{arcs: make([]uint64, 0, len(begins)+len(pairs))}
	for _, b := range begins {
		g.arcs = append(g.arcs, b.key)
	}
	for _, p := range pairs {
		g.arcs = append(g.arcs, p.arc)
	}
	slices.Sort(g.arcs)
	g.arcs = slices.Clone(slices.Compact(g.arcs))
	g.visits = make([]uint64, len(g.arcs))
	rank := func(arc uint64) int32 {
		i, ok := slices.BinarySearch(g.arcs, arc)
		if !ok {
			i = -1
		}
		return int32(i)
	}
	count := func(r int32, n uint64) { g.visits[r] = binfmt.SatAdd(g.visits[r], n) }
	for _, b := range begins {
		count(rank(b.key), b.count)
	}
	g.next = make([]walks.Transition, 0, len(pairs))
	for _, p := range pairs {
		t := walks.Transition{From: rank(p.before), To: rank(p.arc), Count: p.n}
		count(t.To, p.n)
		g.next = append(g.next, t)
	}
	return g, nil
}
