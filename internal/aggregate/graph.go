package aggregate

import (
	"github.com/spgo-tools/spgo/internal/walks"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// graph is the sum of the sequences of arcs of a binary in the form that walks
// are made from.
type graph struct {
	arcs   []uint64 // in the order of their values
	visits []uint64 // by place in arcs: how often the arc occurs
	next   []walks.Transition
}

// records are chains of arcs, each with the number of times it counts, that have
// exactly the arcs and pairs of a sum.
type records struct {
	arcs   []uint64
	walks  *walks.Result
	memory int64 // about what it took to find them, in bytes
}

// decompose finds the records of at most limit arcs. They depend on the sum
// alone. The graph is of no use afterwards.
func (g *graph) decompose(limit int, gate walks.Gate) (*records, error) {
	memory := 120*int64(len(g.arcs)) + 60*int64(len(g.next)) // for each arc two more from and to the outside, and a record
	visits, next := g.visits, g.next
	g.visits, g.next = nil, nil // the memory can go
	result, err := walks.Decompose(visits, next, limit, gate)
	return &records{g.arcs, result, memory}, err
}

// each calls f for all chains, which must not be kept.
func (r *records) each(f func(chain []uint64, times uint64) error) error {
	var chain []uint64
	for walk, times := range r.walks.All {
		chain = chain[:0]
		for _, rank := range walk {
			chain = append(chain, r.arcs[rank])
		}
		if err := f(chain, times); err != nil {
			return err
		}
	}
	return nil
}

// binarySums is the sum of one binary. What is asked for first comes first in it, in
// the order of the methods; each may be called once.
type binarySums interface {
	// hitList returns the counts of (opcode, RVA), in no particular order.
	hitList() ([]place, error)
	branches(walks.Gate) (*records, error)
	// stacks calls f for whole stacks in the order of their values.
	stacks(f func(stack []uint64, times uint64) error) error
	callStacks(walks.Gate) (*records, error)
}

func (c *counts) hitList() ([]place, error) {
	list := make([]place, 0, c.hits.len())
	c.hits.each(func(key, n uint64) { list = append(list, place{key, n}) })
	return list, nil
}

func (c *counts) branches(gate walks.Gate) (*records, error) {
	return c.branchSums.graph().decompose(spt.MaxEntries, gate)
}

func (c *counts) callStacks(gate walks.Gate) (*records, error) {
	return c.callSums.graph().decompose(maxArcs, gate)
}

func (c *counts) stacks(f func(stack []uint64, times uint64) error) error {
	var stack []uint64
	for _, key := range c.branchSums.whole.sorted() {
		stack = appendStack(stack[:0], key)
		if err := f(stack, c.branchSums.whole[key]); err != nil {
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

func (s *spilled) branches(gate walks.Gate) (*records, error) {
	g, err := s.graph(kindBranchHeads, kindBranchLinks)
	if err != nil {
		return nil, err
	}
	return g.decompose(spt.MaxEntries, gate)
}

func (s *spilled) callStacks(gate walks.Gate) (*records, error) {
	g, err := s.graph(kindCallHeads, kindCallLinks)
	if err != nil {
		return nil, err
	}
	return g.decompose(maxArcs, gate)
}

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
	var pairs []link
	if err := s.each(links, func(i *item) error {
		pairs = append(pairs, link{i.a, i.b, i.n})
		return nil
	}); err != nil {
		return nil, err
	}
	return newGraph(len(begins), len(pairs),
		func(f func(arc, n uint64)) {
			for _, b := range begins {
				f(b.key, b.count)
			}
		},
		func(f func(before, arc, n uint64)) {
			for _, p := range pairs {
				f(p.before, p.arc, p.count)
			}
		}), nil
}
