package aggregate

import (
	"math/bits"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// counter counts 64-bit keys in an open-addressing table. It is several times
// faster than a map for the few instructions per branch that there is time
// for. A count of zero marks an empty place.
type counter struct {
	places []place
	used   int
	shift  uint8 // 64 - log2(len(places))
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
	if c.used*4 >= len(c.places)*3 {
		c.grow()
	}
	mask := uint64(len(c.places) - 1)
	for i := hash(key) >> c.shift; ; i = (i + 1) & mask {
		p := &c.places[i]
		if p.count == 0 {
			p.key, p.count = key, n
			c.used++
			return
		}
		if p.key == key {
			p.count = binfmt.SatAdd(p.count, n)
			return
		}
	}
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
		i := hash(p.key) >> c.shift
		for c.places[i].count != 0 {
			i = (i + 1) & mask
		}
		c.places[i] = p
	}
}

// each calls f for every key, in no particular order.
func (c *counter) each(f func(key, count uint64)) {
	for _, p := range c.places {
		if p.count != 0 {
			f(p.key, p.count)
		}
	}
}

// index gives 64-bit keys dense numbers in the order of their arrival.
type index struct {
	slots []int32 // number + 1; 0: empty
	keys  []uint64
	shift uint8
}

// number returns the number of key.
func (x *index) number(key uint64) int32 {
	if len(x.keys)*4 >= len(x.slots)*3 {
		x.grow()
	}
	mask := uint64(len(x.slots) - 1)
	for i := hash(key) >> x.shift; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			x.keys = append(x.keys, key)
			x.slots[i] = int32(len(x.keys))
			return int32(len(x.keys) - 1)
		}
		if x.keys[s-1] == key {
			return s - 1
		}
	}
}

func (x *index) grow() {
	size := max(64, 2*len(x.slots))
	x.slots = make([]int32, size)
	x.shift = shiftOf(size)
	mask := uint64(size - 1)
	for n, key := range x.keys {
		i := hash(key) >> x.shift
		for x.slots[i] != 0 {
			i = (i + 1) & mask
		}
		x.slots[i] = int32(n + 1)
	}
}
