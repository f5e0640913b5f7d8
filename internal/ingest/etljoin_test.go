package ingest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
)

// TestSampleTable makes a table of several lists, of buffers that are in order
// and some that are not, adds outcomes from several goroutines and compares the
// table with maps.
func TestSampleTable(t *testing.T) {
	type key struct {
		time int64
		tid  uint32
	}
	rng := rand.New(rand.NewPCG(3, 4))
	sources := map[key]uint32{} // idle << 16 | source
	outcomes := map[key]map[int]sample.Reason{}
	type event struct {
		key
		part int
		r    sample.Reason
	}
	var keys []key
	var events []event
	for range 30000 {
		k := key{1 + rng.Int64N(10000), uint32(rng.IntN(8)) * 4}
		if rng.IntN(100) == 0 {
			k.time = -k.time
		}
		keys = append(keys, k)
		for range rng.IntN(3) {
			parts := []int{stateAddress, stateLBR, stateStack}
			events = append(events, event{k, parts[rng.IntN(3)], sample.Reason(rng.IntN(int(sample.SingleFrame) + 1))})
		}
	}
	var group sync.WaitGroup
	each := func(n int, f func(i int)) {
		for worker := range 4 {
			group.Go(func() {
				for i := worker; i < n; i += 4 {
					f(i)
				}
			})
		}
		group.Wait()
	}
	source := func(i int) (uint16, bool) { return uint16(i * 7), i%3 == 0 }
	lists := []*sampleList{{}, {}, {}}
	for at := 0; at < len(keys); {
		list, end := lists[rng.IntN(3)], min(at+rng.IntN(300), len(keys))
		list.begin()
		run := keys[at:end]
		if rng.IntN(4) > 0 {
			slices.SortFunc(run, func(a, b key) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.tid, b.tid)) })
		}
		for i, k := range run {
			number, idle := source(at + i)
			list.add(k.time, k.tid, number, idle)
		}
		at = end
	}
	table := newSampleTable(lists)
	near := 0
	for i, k := range keys {
		number, idle := source(i)
		s := uint32(number)
		if idle {
			s |= 1 << 16
		}
		if old, ok := sources[k]; !ok || s < old {
			sources[k] = s
		}
	}
	each(len(events), func(i int) {
		near := i * 7919 % len(keys)
		table.find(events[i].time, events[i].tid, &near).note(events[i].part, events[i].r)
	})
	want := sample.NewStats()
	for _, e := range events {
		m := outcomes[e.key]
		if m == nil {
			m = map[int]sample.Reason{}
			outcomes[e.key] = m
		}
		if old, ok := m[e.part]; !ok || e.r < old {
			m[e.part] = e.r
		}
	}
	got := sample.NewStats()
	for k, m := range outcomes {
		address, has := m[stateAddress]
		if has {
			got.Samples.Add(address, 1)
		}
		used := false
		for part, kind := range map[int]sample.Kind{stateLBR: sample.LBR, stateStack: sample.Stack} {
			if r, ok := m[part]; ok {
				want.Kinds[kind].Add(r, 1)
				used = used || r == sample.Used
			}
		}
		if has && used {
			address = sample.Used
		}
		if has {
			want.Samples.Add(address, 1)
		}
		for part, r := range m {
			if o, ok := table.find(k.time, k.tid, &near).outcome(part); !ok || o != r {
				t.Fatalf("%v: outcome %v %v, want %v", k, o, ok, r)
			}
		}
	}
	table.settle(got)
	if got.Samples != want.Samples || got.Kinds != want.Kinds {
		t.Errorf("accounts %v, want %v", got, want)
	}
	for k, s := range sources {
		slot := table.find(k.time, k.tid, &near)
		if slot == nil {
			t.Fatalf("%v is lost", k)
		}
		if number, idle := slot.origin(); number != uint16(s) || idle != (s>>16 != 0) {
			t.Fatalf("%v has source %d idle %v, want %#x", k, number, idle, s)
		}
	}
	for range 1000 {
		k := key{rng.Int64N(20000), uint32(rng.IntN(12)) * 4}
		if _, ok := sources[k]; ok != (table.find(k.time, k.tid, &near) != nil) {
			t.Fatalf("%v: found %v", k, !ok)
		}
	}
	if (&sampleTable{}).find(5, 5, &near) != nil {
		t.Error("an empty table finds something")
	}
}
