package walks

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzDecompose reads its input twice: as chains, which must come back
// exactly, and as counts that need not fit together, which must give walks
// that differ from them only as reported.
//
// It tries fewer plans, since all of them take the same steps.
func FuzzDecompose(f *testing.F) {
	defer func(old float64) { planBudget = old }(planBudget)
	planBudget /= 32
	for _, shape := range shapes {
		r := rand.New(rand.NewPCG(1, 1))
		c := shape.make(r, 8)
		c.weigh(r)
		var b []byte
		for _, x := range c.list[:min(len(c.list), 30)] {
			b = append(b, byte(len(x.walk)), byte(x.times))
			for _, v := range x.walk {
				b = append(b, byte(v))
			}
		}
		f.Add(b, uint8(255))
	}
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, maxLen uint8) {
		if len(b) > 1<<12 {
			return
		}
		c := parseChains(b)
		visits, trans := c.counts()
		if _, report := decompose(t, visits, trans, 255); !report.Exact() {
			t.Errorf("chains of at most %d tokens: %+v", fuzzLongest, report)
		}
		visits, trans = parseCounts(b)
		decompose(t, visits, trans, 2+int(maxLen))
	})
}

const fuzzLongest = 100

// parseChains reads chains: a length, a multiplicity as a number of bits, and
// tokens.
func parseChains(b []byte) chains {
	c := chains{tokens: 256}
	for len(b) >= 3 {
		n := min(1+int(b[0])%fuzzLongest, len(b)-2)
		walk := make([]int32, n)
		for i, v := range b[2 : 2+n] {
			walk[i] = int32(v)
		}
		c.list = append(c.list, chain{walk, 1 << (b[1] % 40)})
		b = b[2+n:]
	}
	return c
}

// parseCounts reads transitions: two tokens and a count. Tokens that are
// odd get as many visits as the last count.
func parseCounts(b []byte) (visits []uint64, trans []Transition) {
	visits = make([]uint64, 256)
	pairs := map[[2]byte]uint64{}
	for ; len(b) >= 10; b = b[10:] {
		n := binary.LittleEndian.Uint64(b[2:])
		pairs[[2]byte(b)] = n
		visits[b[0]|1] = n
	}
	for ends, n := range pairs {
		trans = append(trans, Transition{int32(ends[0]), int32(ends[1]), n})
	}
	slices.SortFunc(trans, compareEnds)
	return visits, trans
}
