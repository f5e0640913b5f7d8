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

// Sums add up hits by key. What was added waits in a batch; full ones are put
// in order and merged by a goroutine while the next one fills. Memory is 16
// bytes a key and three batches, where a map would take several times that.
type sums struct {
	fresh []tally // the batch that fills
	limit int     // its size

	busy chan struct{} // closed when what follows may be used; nil if at once
	list []tally       // ascends and has no key twice
	idle []tally       // memory of the batch before
	temp []tally       // memory for sorting
}

// Batches are as large as half of what there is, within these limits.
const (
	leastBatch = 1 << 14
	mostBatch  = 1 << 19
)

func (s *sums) add(key, hits uint64) {
	if len(s.fresh) == s.limit {
		s.begin()
	}
	s.fresh = append(s.fresh, tally{key, hits})
}

// addAll adds all that another one holds.
func (s *sums) addAll(other *sums) {
	for _, t := range other.settle() {
		s.add(t.key, t.hits)
	}
}

// begin has a goroutine take over what was added.
func (s *sums) begin() {
	s.wait()
	batch := s.fresh
	s.fresh, s.idle = s.idle[:0], nil
	s.limit = min(max(leastBatch, len(s.list)/2), mostBatch)
	if len(batch) == 0 {
		return
	}
	done := make(chan struct{})
	s.busy = done
	go func() {
		s.merge(batch)
		s.idle = batch
		close(done)
	}()
}

// wait waits for that goroutine.
func (s *sums) wait() {
	if s.busy != nil {
		<-s.busy
		s.busy = nil
	}
}

// settle puts all in order and returns it. It stays valid until the next add.
func (s *sums) settle() []tally {
	s.begin()
	s.wait()
	return s.list
}

// merge merges a batch into the list.
func (s *sums) merge(batch []tally) {
	s.temp = sortTallies(batch, s.temp)
	batch = addEqual(batch)
	old := s.list
	i, j := len(old)-1, len(batch)-1
	n := len(old) + len(batch)
	if i < 0 || old[i].key < batch[0].key {
		s.list = append(old, batch...)
		return
	}
	// From the back, so that the list needs no copy as long as it has room.
	s.list = old[:min(n, cap(old))]
	if n > cap(old) {
		// Small steps would leave many lists behind that the next does not fit in.
		s.list = make([]tally, n, 2*n)
	}
	k := n - 1
	for ; j >= 0; k-- {
		switch {
		case i < 0 || old[i].key < batch[j].key:
			s.list[k] = batch[j]
			j--
		case old[i].key > batch[j].key:
			s.list[k] = old[i]
			i--
		default:
			s.list[k] = tally{batch[j].key, binfmt.SatAdd(old[i].hits, batch[j].hits)}
			i--
			j--
		}
	}
	// Between what was not moved and what was there is a gap, one place for
	// each key that both had.
	if n > cap(old) {
		copy(s.list, old[:i+1])
	}
	if k > i {
		s.list = append(s.list[:i+1], s.list[k+1:]...)
	}
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
func (s *sums) release() { s.fresh, s.limit, s.idle, s.temp = nil, 0, nil, nil }

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
