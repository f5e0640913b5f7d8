package debuginfo

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/program"
)

// intervals finds values by address. Intervals may overlap; the one that
// starts last counts, of those the one that was added first.
type intervals[T any] struct {
	list  []interval[T]
	reach []uint32 // the furthest end of list[:i+1]
}

type interval[T any] struct {
	program.Range
	value T
}

func (s *intervals[T]) add(r program.Range, value T) {
	s.list = append(s.list, interval[T]{r, value})
}

// build makes the intervals ready to be asked.
func (s *intervals[T]) build() {
	slices.SortStableFunc(s.list, func(a, b interval[T]) int { return cmp.Compare(a.Start, b.Start) })
	s.reach = make([]uint32, len(s.list))
	for i, v := range s.list {
		s.reach[i] = v.End
		if i > 0 {
			s.reach[i] = max(s.reach[i], s.reach[i-1])
		}
	}
}

// at returns the value at an address.
func (s *intervals[T]) at(rva uint32) (value T, ok bool) {
	best := -1
	for k := s.after(rva) - 1; k >= 0 && s.reach[k] > rva; k-- {
		if best >= 0 && s.list[k].Start != s.list[best].Start {
			break
		}
		if s.list[k].Contains(rva) {
			best = k
		}
	}
	if best < 0 {
		return value, false
	}
	return s.list[best].value, true
}

// all returns the values of all intervals with an address, those that start
// last first.
func (s *intervals[T]) all(rva uint32) []T {
	var out []T
	for k := s.after(rva) - 1; k >= 0 && s.reach[k] > rva; k-- {
		if s.list[k].Contains(rva) {
			out = append(out, s.list[k].value)
		}
	}
	return out
}

// after is the index of the first interval that starts behind an address.
func (s *intervals[T]) after(rva uint32) int {
	i, _ := slices.BinarySearchFunc(s.list, rva, func(v interval[T], rva uint32) int {
		if v.Start <= rva {
			return -1
		}
		return 1
	})
	return i
}
