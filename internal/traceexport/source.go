package traceexport

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Source is the records of one binary.
type Source struct {
	// Open opens the SPT; it is called for each pass over the records.
	Open func() (*spt.Reader, error)
	// Program is the index of the binary in Reader.Programs.
	Program int
	// Base is the link-time address of RVA 0: addresses are Base + RVA.
	Base uint64
	// Name says what is at an RVA, the innermost inlined call first; nil if
	// nothing is known.
	Name func(rva uint32) []debuginfo.Frame
}

// Stats says what an export holds and what it could not use.
type Stats struct {
	Records  uint64 `json:"records"`  // lines or samples written
	Samples  uint64 `json:"samples"`  // hits that they stand for
	Dropped  uint64 `json:"dropped"`  // runs that do not lead forward
	Reversed bool   `json:"reversed"` // the file had the oldest branch first
}

// records calls do for each record of the binary.
func (s *Source) records(do func(*spt.Record) error) error {
	r, err := s.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		if rec := r.Record(); rec.Program == s.Program {
			if err := do(rec); err != nil {
				return err
			}
		}
	}
	return r.Err()
}

// outside is the RVA of an end of a branch that is not in the binary.
const outside = 0

// farthest is the length in bytes from which straight code between two
// branches is no evidence of the order of a file.
const farthest = 1 << 16

// stacks calls do with each branch stack, the most recent branch first. Files
// with the other order are turned round.
func (s *Source) stacks(do func(pairs []spt.Pair, hits uint64) error) (reversed bool, err error) {
	var recentFirst, oldestFirst uint64
	forward := func(to, from uint32) uint64 {
		if from >= to && from-to < farthest {
			return 1
		}
		return 0
	}
	err = s.records(func(r *spt.Record) error {
		for k := 1; k < len(r.Pairs); k++ {
			recentFirst += forward(r.Pairs[k].To, r.Pairs[k-1].From)
			oldestFirst += forward(r.Pairs[k-1].To, r.Pairs[k].From)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	reversed = oldestFirst > recentFirst
	return reversed, s.records(func(r *spt.Record) error {
		if len(r.Pairs) == 0 {
			return nil
		}
		if reversed {
			slices.Reverse(r.Pairs)
		}
		return do(r.Pairs, r.Hits())
	})
}

// A span is a branch (from its address to its target) or straight code (from
// its first to its last instruction).
type span struct{ from, to uint32 }

type counted struct {
	span
	hits uint64
}

// sums are the branches and the straight code between them, ascending.
func (s *Source) sums() (branches, runs []counted, stats Stats, err error) {
	taken, straight := map[span]uint64{}, map[span]uint64{}
	stats.Reversed, err = s.stacks(func(pairs []spt.Pair, hits uint64) error {
		for k, p := range pairs {
			add(taken, span{p.From, p.To}, hits)
			stats.Samples = binfmt.SatAdd(stats.Samples, hits)
			if k == 0 {
				continue
			}
			switch last := pairs[k-1].From; {
			case p.To == outside || last == outside:
			case last >= p.To:
				add(straight, span{p.To, last}, hits)
			default:
				stats.Dropped = binfmt.SatAdd(stats.Dropped, hits)
			}
		}
		return nil
	})
	branches, runs = sorted(taken), sorted(straight)
	return branches, runs, stats, err
}

func add[K comparable](m map[K]uint64, key K, n uint64) { m[key] = binfmt.SatAdd(m[key], n) }

func sorted(m map[span]uint64) []counted {
	list := make([]counted, 0, len(m))
	for k, n := range m {
		list = append(list, counted{k, n})
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return list
}
