package ingest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/addrspace"
)

// TestTimeline notes events of one key and compares the tenures.
func TestTimeline(t *testing.T) {
	type event struct {
		what  occurrence
		time  uint64
		thing string
	}
	for _, tc := range []struct {
		name     string
		from, to uint64 // of the surroundings
		events   []event
		want     string
	}{
		{"begins and ends", 0, addrspace.Forever, []event{{begins, 5, "a"}, {ends, 9, "a"}}, "a[5,9)"},
		{"begins", 0, addrspace.Forever, []event{{begins, 5, "a"}}, "a[5,-)"},
		{"ends", 0, addrspace.Forever, []event{{ends, 9, "a"}}, "a[0,9)"},
		{"rundown", 0, addrspace.Forever, []event{{present, 5, "a"}}, "a[0,-)"},
		{"rundowns at both ends", 0, addrspace.Forever, []event{{present, 1, "a"}, {present, 9, "a"}}, "a[0,-)"},
		{"begins, rundown", 0, addrspace.Forever, []event{{begins, 5, "a"}, {present, 9, "a"}}, "a[5,-)"},
		{"begins twice", 0, addrspace.Forever, []event{{begins, 5, "a"}, {begins, 6, "a"}, {ends, 9, "a"}}, "a[5,9)"},
		{"used again", 0, addrspace.Forever, []event{{begins, 5, "a"}, {ends, 9, "a"}, {begins, 12, "b"}}, "a[5,9) b[12,-)"},
		{"at one time", 0, addrspace.Forever, []event{{begins, 5, "a"}, {ends, 9, "a"}, {begins, 9, "b"}}, "a[5,9) b[9,-)"},
		{"rundown after an end", 0, addrspace.Forever, []event{{ends, 9, "a"}, {present, 20, "b"}}, "a[0,9) b[9,-)"},
		{"end after an end", 0, addrspace.Forever, []event{{ends, 9, "a"}, {ends, 20, "b"}}, "a[0,9) b[9,20)"},
		{"lost end", 0, addrspace.Forever, []event{{begins, 5, "a"}, {begins, 9, "b"}}, "a[5,9) b[9,-)"},
		{"lost end and beginning", 0, addrspace.Forever, []event{{begins, 5, "a"}, {ends, 9, "b"}}, "a[5,9)"},
		{"since the surroundings began", 4, addrspace.Forever, []event{{present, 9, "a"}}, "a[4,-)"},
		{"until the surroundings end", 4, 12, []event{{begins, 9, "a"}}, "a[9,12)"},
		{"end after the surroundings", 4, 12, []event{{begins, 9, "a"}, {ends, 13, "a"}}, "a[9,12)"},
		{"nothing but an end after the surroundings", 4, 12, []event{{ends, 13, "a"}}, "a[4,12)"},
		{"outside of the surroundings", 4, 12, []event{{begins, 13, "a"}}, ""},
		{"end at the beginning", 4, 12, []event{{ends, 4, "a"}}, ""},
	} {
		l := newTimeline(func(a, b string) bool { return a == b }, func(int, uint64) (uint64, uint64) { return tc.from, tc.to })
		for _, e := range tc.events {
			l.note(e.what, e.time, 7, e.thing)
		}
		var got []string
		for _, x := range l.tenures[7] {
			to := fmt.Sprint(x.to)
			if x.to == addrspace.Forever {
				to = "-"
			}
			got = append(got, fmt.Sprintf("%s[%d,%s)", x.thing, x.from, to))
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, text, tc.want)
		}
	}
}

// TestTimelineAt notes random lives of two keys without any loss and looks all
// times up.
func TestTimelineAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		l := newTimeline[int](func(a, b int) bool { return a == b }, nil)
		var truth [2][60]int // 0: nothing
		for key := range truth {
			for time, thing := uint64(1+rng.IntN(5)), 1; time < 50; thing++ {
				until := time + 1 + uint64(rng.IntN(10))
				l.note(begins, time, key, thing)
				if rng.IntN(2) == 0 {
					l.note(present, time+(until-time)/2, key, thing)
				}
				l.note(ends, until, key, thing)
				for ; time < until; time++ {
					truth[key][time] = thing
				}
				time += uint64(rng.IntN(4))
			}
		}
		for key := range truth {
			for time, want := range truth[key] {
				at, covers := l.at(key, uint64(time))
				if covers != (want > 0) || covers && at.thing != want {
					t.Fatalf("key %d at %d: %v %v, want %d", key, time, at, covers, want)
				}
				if !covers && at.to > uint64(time) && at != &l.tenures[key][0] {
					t.Fatalf("key %d at %d: %v is not the one before", key, time, at)
				}
			}
		}
		if at, _ := l.at(2, 5); at != nil {
			t.Fatalf("unknown key: %v", at)
		}
	}
}
