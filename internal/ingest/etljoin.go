package ingest

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/spgo-tools/spgo/internal/sample"
)

// sampleTable holds the samples of one file in the order of (time, thread), so
// that call stacks and last branch records find the sample that they belong to
// wherever they stand. It says what became of these parts of a sample too, since
// they are met in any order and by any worker.
//
// It takes 16 bytes a sample, and about twice that while it is made. That is the
// only memory that grows with the number of samples. An order is better than a
// hash here: who reads a buffer asks for samples that stand close together.
type sampleTable struct {
	slots []sampleSlot
}

// sampleSlot is a place of the table.
type sampleSlot struct {
	time  int64
	tid   uint32
	state uint32 // changed by atomic operations after the first pass
}

// Fields of the state of a sample. The outcome of a part is its reason + 1, or
// 0 where the sample has no such part. Of several outcomes of one part the
// least counts, and used is less than any reason, so the order in which they
// are met has no effect.
const (
	stateSource  = 0 // 16 bits: number of the profile source
	stateIdle    = 16
	stateAddress = 17 // outcome of the address, unless it was used
	stateLBR     = 22 // outcome of last branch records
	stateStack   = 27 // outcome of call stacks
	outcomeMask  = 31
)

// All reasons have to fit.
const _ = uint(outcomeMask - 1 - sample.SingleFrame)

// sampleList gathers the samples of a table.
type sampleList struct {
	slots []sampleSlot
	runs  []int // where those of each buffer begin
}

// begin begins with a buffer.
func (l *sampleList) begin() { l.runs = append(l.runs, len(l.slots)) }

// add adds a sample. No event has the time 0.
func (l *sampleList) add(time int64, tid uint32, source uint16, idle bool) {
	if time == 0 {
		return
	}
	state := uint32(source)
	if idle {
		state |= 1 << stateIdle
	}
	l.slots = append(l.slots, sampleSlot{time, tid, state})
}

// newSampleTable makes a table of lists. The samples of a buffer mostly are in
// order, and their runs are merged.
func newSampleTable(lists []*sampleList) *sampleTable {
	n := 0
	for _, l := range lists {
		n += len(l.slots)
	}
	slots, runs := make([]sampleSlot, 0, n), []int{}
	for _, l := range lists {
		for i, run := range l.runs {
			to := len(l.slots)
			if i+1 < len(l.runs) {
				to = l.runs[i+1]
			}
			runs = append(runs, len(slots))
			slots = append(slots, l.slots[run:to]...)
			if added := slots[runs[len(runs)-1]:]; !slices.IsSortedFunc(added, compareSlots) {
				slices.SortFunc(added, compareSlots)
			}
		}
		*l = sampleList{}
	}
	other := make([]sampleSlot, n)
	for len(runs) > 1 {
		runs = mergeRuns(other, slots, runs)
		slots, other = other, slots
	}
	// Several at one time on one thread share their stacks; the source with the
	// least number counts, which is the first.
	slots = slices.CompactFunc(slots, func(a, b sampleSlot) bool { return a.time == b.time && a.tid == b.tid })
	return &sampleTable{slots}
}

// mergeRuns merges each two neighbours of the runs of from, which begin at the
// given places, into one run of to, and returns where the new ones begin.
func mergeRuns(to, from []sampleSlot, runs []int) (merged []int) {
	for i := 0; i < len(runs); i += 2 {
		middle, end := len(from), len(from)
		if i+1 < len(runs) {
			middle = runs[i+1]
		}
		if i+2 < len(runs) {
			end = runs[i+2]
		}
		merged = append(merged, runs[i])
		a, b, out := from[runs[i]:middle], from[middle:end], to[runs[i]:end]
		for len(a) > 0 && len(b) > 0 {
			if compareSlots(b[0], a[0]) < 0 {
				out[0], b = b[0], b[1:]
			} else {
				out[0], a = a[0], a[1:]
			}
			out = out[1:]
		}
		copy(out[copy(out, a):], b)
	}
	return merged
}

func compareSlots(a, b sampleSlot) int {
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.tid, b.tid), cmp.Compare(a.state, b.state))
}

// before says whether s stands before a sample.
func (s *sampleSlot) before(time int64, tid uint32) bool {
	return s.time < time || s.time == time && s.tid < tid
}

// find returns the slot of a sample, or nil. Near is where the caller found the
// last one, from which the search sets out.
func (t *sampleTable) find(time int64, tid uint32, near *int) *sampleSlot {
	n := len(t.slots)
	low, high := min(*near, n), min(*near, n) // slots below low are before it, those from high on are not
	for step := 1; high < n && t.slots[high].before(time, tid); step *= 2 {
		low, high = high+1, min(high+step, n)
	}
	for step := 1; low > 0 && !t.slots[low-1].before(time, tid); step *= 2 {
		high, low = low-1, max(low-step, 0)
	}
	for low < high {
		if middle := int(uint(low+high) / 2); t.slots[middle].before(time, tid) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	*near = low
	if low == n || t.slots[low].time != time || t.slots[low].tid != tid {
		return nil
	}
	return &t.slots[low]
}

// origin returns the number of the source and whether the sample is idle.
func (s *sampleSlot) origin() (source uint16, idle bool) {
	state := atomic.LoadUint32(&s.state)
	return uint16(state >> stateSource), state>>stateIdle&1 != 0
}

// note adds the outcome of a part of the sample. It is safe for concurrent use.
func (s *sampleSlot) note(part int, r sample.Reason) {
	outcome := uint32(r) + 1
	for {
		old := atomic.LoadUint32(&s.state)
		have := old >> part & outcomeMask
		if have != 0 && have <= outcome {
			return
		}
		if atomic.CompareAndSwapUint32(&s.state, old, old&^(outcomeMask<<part)|outcome<<part) {
			return
		}
	}
}

// outcome returns that of a part, and whether the sample has that part.
func (s *sampleSlot) outcome(part int) (sample.Reason, bool) {
	v := s.state >> part & outcomeMask
	return sample.Reason(v - 1), v != 0
}

// settle adds to an account what became of the stacks and branches of each
// sample. A sample of which any part is used is used, whatever its address
// was counted as.
func (t *sampleTable) settle(stats *sample.Stats) {
	for i := range t.slots {
		slot := &t.slots[i]
		used := false
		for _, part := range []struct {
			state int
			kind  sample.Kind
		}{{stateLBR, sample.LBR}, {stateStack, sample.Stack}} {
			if r, ok := slot.outcome(part.state); ok {
				stats.Kinds[part.kind].Add(r, 1)
				used = used || r == sample.Used
			}
		}
		if r, ok := slot.outcome(stateAddress); ok && used {
			stats.Samples[r]--
			stats.Samples.Add(sample.Used, 1)
		}
	}
}
