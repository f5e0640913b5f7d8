package correlate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		n    int
		key  func() uint64
	}{
		{"few", 100, func() uint64 { return r.Uint64N(40) }},
		{"many", 200_000, func() uint64 { return pairKey(r.Uint32N(300), r.Uint32()) }},
		{"equal", 100_000, func() uint64 { return r.Uint64N(1000) << 40 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s, all sums
			want := map[uint64]uint64{}
			for range c.n {
				key, hits := c.key(), r.Uint64N(5)
				s.add(key, hits)
				want[key] += hits
			}
			all.addAll(&s)
			for _, s := range []*sums{&s, &all} {
				list := s.settle()
				if len(list) != len(want) {
					t.Fatalf("%d keys, want %d", len(list), len(want))
				}
				for k, x := range list {
					if k > 0 && list[k-1].key >= x.key {
						t.Fatalf("key %d before %d", list[k-1].key, x.key)
					}
					if x.hits != want[x.key] {
						t.Fatalf("%d hits of %d, want %d", x.hits, x.key, want[x.key])
					}
				}
			}
		})
	}
}

func TestSumsStayAtGreatest(t *testing.T) {
	var s sums
	for range 3 {
		s.add(7, math.MaxUint64/2)
		s.settle()
		s.add(7, 2)
	}
	if got := s.settle(); len(got) != 1 || got[0].hits != math.MaxUint64 {
		t.Errorf("got %v", got)
	}
	if got := excess(s.list); got != 2 {
		t.Errorf("excess of %d bits, want 2", got)
	}
}

func TestBitmap(t *testing.T) {
	m := newBitmap(&layout{pieces: []piece{{end: 0xFFFFFFFF}}})
	for _, rva := range []uint32{0, 63, 64, 4095, 0xFFFFFFFF} {
		m.set(rva)
	}
	for _, c := range []struct {
		rva uint32
		has bool
	}{{0, true}, {1, false}, {63, true}, {64, true}, {65, false}, {4095, true}, {4096, false}, {0xFFFFFFFF, true}, {0xFFFFFFFE, false}} {
		if m.has(c.rva) != c.has {
			t.Errorf("%#x: want %v", c.rva, c.has)
		}
	}
}
