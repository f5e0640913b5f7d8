package correlate

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// A tally is a sum of hits.
type tally struct {
	key, hits uint64
}

// pairKey is the key of two RVAs: tallies are sorted by a, then b.
func pairKey(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// Sums add up hits by key. What was added since the keys were last put in
// order stands behind them, at most half as much: memory is 16 bytes a key and
// little more, where a map would take several times that.
type sums struct {
	list    []tally
	settled int // list[:settled] ascends and has no key twice
	spare   []tally
}

const unsettled = 1 << 14 // tallies that are not worth sorting yet

func (s *sums) add(key, hits uint64) {
	if len(s.list)-s.settled >= max(unsettled, s.settled/2) {
		s.settle()
	}
	s.list = append(s.list, tally{key, hits})
}

// addAll adds all that another one holds.
func (s *sums) addAll(other *sums) {
	for _, t := range other.list {
		s.add(t.key, t.hits)
	}
}

// settle puts the tallies in order and returns them. They stay valid until the
// next add.
func (s *sums) settle() []tally {
	fresh := s.list[s.settled:]
	if len(fresh) == 0 {
		return s.list
	}
	s.spare = sortTallies(fresh, s.spare)
	fresh = addEqual(fresh)
	if s.settled == 0 || s.list[s.settled-1].key < fresh[0].key {
		s.list = s.list[:s.settled+len(fresh)]
	} else {
		s.merge(fresh)
	}
	s.settled = len(s.list)
	return s.list
}

// merge merges the fresh tallies, which stand behind the settled ones, into
// them. It goes from the back, so that only the fresh ones need a copy.
func (s *sums) merge(fresh []tally) {
	s.spare = append(s.spare[:0], fresh...)
	i, j := s.settled-1, len(s.spare)-1
	s.list = s.list[:s.settled+len(fresh)]
	k := len(s.list) - 1
	for ; j >= 0; k-- {
		switch {
		case i < 0 || s.list[i].key < s.spare[j].key:
			s.list[k] = s.spare[j]
			j--
		case s.list[i].key > s.spare[j].key:
			s.list[k] = s.list[i]
			i--
		default:
			s.list[k] = tally{s.spare[j].key, binfmt.SatAdd(s.list[i].hits, s.spare[j].hits)}
			i--
			j--
		}
	}
	// Between what was not moved and what was there is a gap, one place for
	// each key that both had.
	s.list = append(s.list[:i+1], s.list[k+1:]...)
}

// addEqual makes one tally of neighbours with equal keys.
func addEqual(list []tally) []tally {
	n := 0
	for _, t := range list[1:] {
		if t.key == list[n].key {
			list[n].hits = binfmt.SatAdd(list[n].hits, t.hits)
			continue
		}
		n++
		list[n] = t
	}
	return list[:n+1]
}

// sortTallies sorts by key, with a byte of it at a time where there are many.
// It takes spare memory and returns it for the next call.
func sortTallies(list, spare []tally) []tally {
	if len(list) < 256 {
		slices.SortFunc(list, func(a, b tally) int { return cmp.Compare(a.key, b.key) })
		return spare
	}
	var counts [8][256]int
	for _, t := range list {
		for d := range counts {
			counts[d][byte(t.key>>(8*d))]++
		}
	}
	if cap(spare) < len(list) {
		spare = make([]tally, len(list))
	}
	from, to := list, spare[:len(list)]
	for d := range counts {
		count := &counts[d]
		if count[byte(from[0].key>>(8*d))] == len(list) {
			continue // all have the same byte here
		}
		at := 0
		for b, n := range count {
			count[b] = at
			at += n
		}
		for _, t := range from {
			b := byte(t.key >> (8 * d))
			to[count[b]] = t
			count[b]++
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
	return spare
}

// release gives the memory back that only adding and sorting need.
func (s *sums) release() { s.spare = nil }

// excess is the number of bits by which hits have to be shifted right so that
// the sum of them all stays below 2^62, 0 for any number of real samples.
func excess(list []tally) uint {
	var hi, lo uint64
	for _, t := range list {
		var carry uint64
		lo, carry = bits.Add64(lo, t.hits, 0)
		hi += carry
	}
	n := bits.Len64(lo)
	if hi > 0 {
		n = 64 + bits.Len64(hi)
	}
	return uint(max(0, n-62))
}
