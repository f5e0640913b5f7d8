package addrspace

import (
	"math/rand/v2"
	"testing"
)

// TestAgainstFlatModel replays random changes on a slice with one entry per
// address, for every version, and compares all look-ups.
func TestAgainstFlatModel(t *testing.T) {
	const size, pids = 64, 3
	rng := rand.New(rand.NewPCG(1, 2))
	for round := 0; round < 200; round++ {
		b := NewBuilder(MostNodes)
		type state struct {
			cells [size]int32 // owner + 1
			bias  [size]uint64
			tag   int32
		}
		now := [pids]state{}
		known := [pids]bool{}
		for p := range now {
			now[p].tag = -1
		}
		type moment struct {
			time  uint64
			state [pids]state
			known [pids]bool
		}
		var history []moment
		time := uint64(10)
		for step := 0; step < 60; step++ {
			pid := uint32(rng.IntN(pids))
			start := uint64(rng.IntN(size))
			end := min(start+uint64(rng.IntN(20)), size)
			switch rng.IntN(8) {
			case 0:
				b.Clear(pid, time)
				now[pid].cells = [size]int32{}
				known[pid] = true
			case 1:
				child := uint32(rng.IntN(pids))
				if child == pid {
					continue
				}
				b.Fork(pid, child, time)
				now[child] = now[pid]
				known[pid], known[child] = true, true
			case 2:
				if start == end {
					continue
				}
				b.Unmap(pid, time, start, end)
				for a := start; a < end; a++ {
					now[pid].cells[a] = 0
				}
				known[pid] = true
			case 3:
				b.Tag(pid, time, int32(step))
				now[pid].tag = int32(step)
				known[pid] = true
			default:
				b.Map(pid, time, Region{start, end, int32(step), uint64(step * 1000)})
				for a := start; a < end; a++ {
					now[pid].cells[a] = int32(step) + 1
					now[pid].bias[a] = uint64(step * 1000)
				}
				known[pid] = true
			}
			if n := len(history); n > 0 && history[n-1].time == time {
				history = history[:n-1]
			}
			history = append(history, moment{time, now, known})
			time += uint64(rng.IntN(3))
		}
		v := b.Space().NewView()
		for i, m := range history {
			for pid := uint32(0); pid < pids; pid++ {
				if !m.known[pid] {
					continue // an earlier time sees the first version, tested below
				}
				if !v.Enter(pid, m.time) {
					t.Fatalf("round %d moment %d: pid %d is unknown", round, i, pid)
				}
				if v.Tag() != m.state[pid].tag {
					t.Fatalf("round %d moment %d: pid %d has tag %d, want %d", round, i, pid, v.Tag(), m.state[pid].tag)
				}
				for a := uint64(0); a < size; a++ {
					r, want := v.Find(a), m.state[pid].cells[a]
					switch {
					case r == nil && want != 0, r != nil && r.Owner != want-1:
						t.Fatalf("round %d moment %d: pid %d address %d: %v, want owner %d", round, i, pid, a, r, want-1)
					case r != nil && r.Bias != m.state[pid].bias[a]:
						t.Fatalf("round %d moment %d: bias %d, want %d", round, i, r.Bias, m.state[pid].bias[a])
					}
				}
			}
		}
	}
}

func TestEarlySampleSeesFirstVersion(t *testing.T) {
	b := NewBuilder(MostNodes)
	b.Map(7, 100, Region{0x1000, 0x2000, 1, 0})
	b.Map(7, 200, Region{0x3000, 0x4000, 2, 0})
	v := b.Space().NewView()
	if !v.Enter(7, 50) || v.Find(0x1800) == nil {
		t.Error("a sample just before the first map is not resolved")
	}
	if r := v.Find(0x3800); r != nil {
		t.Errorf("a map of the future is visible: %v", r)
	}
	v.Enter(7, 150)
	if r := v.FindSoon(0x3800); r == nil || r.Owner != 2 {
		t.Errorf("FindSoon = %v, want owner 2", r)
	}
	v.Enter(7, 250)
	if r := v.FindSoon(0x5000); r != nil {
		t.Errorf("FindSoon after the last version = %v", r)
	}
	if v.Enter(8, 0) {
		t.Error("an unknown process is known")
	}
}

// TestFindSoonLooksAhead maps one region after the other and looks for a later
// one: it is found up to the limit, not where another life of the process
// begins before it, and the nearest of several wins.
func TestFindSoonLooksAhead(t *testing.T) {
	at := func(i int) uint64 { return uint64(i) << 12 }
	b := NewBuilder(MostNodes)
	for pid := uint32(1); pid <= 2; pid++ {
		for i := 0; i <= soon+1; i++ {
			if pid == 2 && i == 3 {
				b.Clear(pid, uint64(10*i))
				b.Tag(pid, uint64(10*i), 1)
			}
			b.Map(pid, uint64(10*i), Region{at(i), at(i + 1), int32(i), 0})
		}
	}
	b.Map(1, 10*(soon+1), Region{at(2), at(3), 100, 0})
	v := b.Space().NewView()
	for _, tc := range []struct {
		pid  uint32
		time uint64
		addr int
		want int32 // -1: nothing
	}{
		{1, 5, 1, 1},
		{1, 5, 2, 2}, // and not 100, which takes its place later
		{1, 5, soon, soon},
		{1, 5, soon + 1, -1},
		{1, 15, soon + 1, soon + 1},
		{1, 10 * (soon + 1), soon + 2, -1},
		{2, 5, 2, 2},
		{2, 5, 3, -1},
		{2, 35, 4, 4},
	} {
		v.Enter(tc.pid, tc.time)
		got := int32(-1)
		if r := v.FindSoon(at(tc.addr) + 8); r != nil {
			got = r.Owner
		}
		if got != tc.want {
			t.Errorf("process %d at %d: region %d is found as %d, want %d", tc.pid, tc.time, tc.addr, got, tc.want)
		}
	}
}

func TestForkDoesNotLeakChanges(t *testing.T) {
	b := NewBuilder(MostNodes)
	b.Map(1, 10, Region{0, 100, 1, 0})
	b.Fork(1, 2, 10)
	b.Map(1, 10, Region{0, 100, 5, 0})
	b.Map(2, 10, Region{50, 60, 9, 0})
	v := b.Space().NewView()
	v.Enter(2, 10)
	if r := v.Find(10); r == nil || r.Owner != 1 {
		t.Errorf("child sees %v, want owner 1", r)
	}
	v.Enter(1, 10)
	if r := v.Find(55); r == nil || r.Owner != 5 {
		t.Errorf("parent sees %v, want owner 5", r)
	}
}

func BenchmarkMillionOverlappingMaps(b *testing.B) {
	for b.Loop() {
		builder := NewBuilder(MostNodes)
		rng := rand.New(rand.NewPCG(3, 4))
		for i := 0; i < 1_000_000; i++ {
			start := rng.Uint64N(1 << 40)
			builder.Map(1, uint64(i), Region{start, start + rng.Uint64N(1<<30), int32(i), 0})
		}
	}
}

// TestEnds bounds a history: it is right until its end, and nothing is known
// from then on.
func TestEnds(t *testing.T) {
	const limit = 2000
	b := NewBuilder(limit)
	var ended uint64
	for i := range uint64(10_000) {
		time := i + 1
		if b.Ends(time) {
			ended = time
			break
		}
		b.Map(uint32(i%3), time, Region{Start: 16 * (i % 100), End: 16*(i%100) + 16, Owner: int32(i)})
	}
	if ended < 100 || ended > limit {
		t.Fatalf("ended at %d", ended)
	}
	if !b.Ends(ended + 5) {
		t.Error("does not end later")
	}
	s := b.Space()
	if s.end != ended {
		t.Errorf("ends at %d, want %d", s.end, ended)
	}
	v := s.NewView()
	for i := ended - 50; i < ended+50; i++ {
		known := v.Enter(uint32((i-1)%3), i)
		if known != (i < ended) {
			t.Fatalf("at %d: known %v, ends at %d", i, known, ended)
		}
		if !known {
			continue
		}
		if r := v.Find(16 * ((i - 1) % 100)); r == nil || r.Owner != int32(i-1) {
			t.Fatalf("at %d: %+v", i, r)
		}
		if r := v.FindSoon(1 << 40); r != nil {
			t.Fatalf("at %d: soon %+v", i, r)
		}
	}
	if v.Enter(99, ended) || v.Enter(99, 1) || v.Enter(0, Forever) {
		t.Error("knows more than it can")
	}
}
