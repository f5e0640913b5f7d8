package correlate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBitmapSearch compares searches with looking at each RVA, across words and pages.
func TestBitmapSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, base := range []uint32{0, pageBytes - 100, math.MaxUint32 - 300} {
		m := newBitmap(&layout{pieces: []piece{{end: math.MaxUint32}}})
		for range 6 {
			m.set(base + uint32(r.IntN(300)))
		}
		for range 2000 {
			start := base + uint32(r.IntN(300))
			end := start + uint32(r.IntN(int(base+300-start)+1))
			next, last := start, end
			for next < end && !m.has(next) {
				next++
			}
			for last > start && !m.has(last) {
				last--
			}
			if got := m.next(start, end); got != next {
				t.Fatalf("next in [%#x, %#x): %#x, want %#x", start, end, got, next)
			}
			if got := m.last(start, end); got != last {
				t.Fatalf("last in (%#x, %#x]: %#x, want %#x", start, end, got, last)
			}
		}
	}
}
