package aggregate

import (
	"math/bits"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// counter counts 64-bit keys in an open-addressing table. It is several times
// faster than a map for the few instructions per sample that there is time
// for. A count of zero marks an empty place.
//
// Additions are put off and made in a row. They do not depend on each other, so
// that the processor waits for several places of memory at once; one addition
// per record of a trace would have it wait for each.
type counter struct {
	places []place
	used   int
	shift  uint8  // 64 - log2(len(places))
	aside  uint64 // bits of keys in which those that stand together differ

	later [32]place
	late  int // how many of them
}

type place struct{ key, count uint64 }

const fibonacci = 0x9e3779b97f4a7c15 // 2^64 / golden ratio: spreads neighbouring keys

func hash(key uint64) uint64 {
	key ^= key >> 32
	return key * fibonacci
}

// shiftOf is the shift that leaves the upper bits of a hash that number the
// places of a table, whose size is a power of two.
func shiftOf(size int) uint8 { return uint8(64 - bits.TrailingZeros(uint(size))) }

// add adds n > 0 to the count of key.
func (c *counter) add(key, n uint64) {
	if c.late == len(c.later) {
		c.settle()
	}
	c.later[c.late] = place{key, n}
	c.late++
}

// settle makes the additions that were put off.
func (c *counter) settle() {
	for c.used+c.late > len(c.places)/4*3 {
		c.grow()
	}
	mask := uint64(len(c.places) - 1)
	for _, a := range c.later[:c.late] {
		i := hash(a.key&^c.aside) >> c.shift
		for c.places[i].count != 0 && c.places[i].key != a.key {
			i = (i + 1) & mask
		}
		p := &c.places[i]
		if p.count == 0 {
			c.used++
		}
		p.key, p.count = a.key, binfmt.SatAdd(p.count, a.count)
	}
	c.late = 0
}

// len is the number of keys.
func (c *counter) len() int {
	c.settle()
	return c.used
}

func (c *counter) grow() {
	old := c.places
	size := max(64, 2*len(old))
	c.places = make([]place, size)
	c.shift = shiftOf(size)
	mask := uint64(size - 1)
	for _, p := range old {
		if p.count == 0 {
			continue
		}
		i := hash(p.key&^c.aside) >> c.shift
		for c.places[i].count != 0 {
			i = (i + 1) & mask
		}
		c.places[i] = p
	}
}

// each calls f for every key, in no particular order.
func (c *counter) each(f func(key, count uint64)) {
	c.settle()
	for _, p := range c.places {
		if p.count != 0 {
			f(p.key, p.count)
		}
	}
}

// ranks tells the places of keys in their order.
type ranks struct {
	slots []int32 // rank + 1; 0: empty
	keys  []uint64
	shift uint8
}

// newRanks makes the ranks of sorted keys.
func newRanks(keys []uint64) *ranks {
	size := 64
	for size*3 < len(keys)*4 {
		size *= 2
	}
	r := &ranks{slots: make([]int32, size), keys: keys, shift: shiftOf(size)}
	for n, key := range keys {
		i := hash(key) >> r.shift
		for r.slots[i] != 0 {
			i = (i + 1) & uint64(size-1)
		}
		r.slots[i] = int32(n + 1)
	}
	return r
}

// of returns the rank of a key, -1 if there is no such key.
func (r *ranks) of(key uint64) int32 {
	mask := uint64(len(r.slots) - 1)
	for i := hash(key) >> r.shift; ; i = (i + 1) & mask {
		n := r.slots[i] - 1
		if n < 0 || r.keys[n] == key {
			return n
		}
	}
}
