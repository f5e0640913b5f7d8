package ingest

import (
	"sync"
	"sync/atomic"

	"github.com/spgo-tools/spgo/internal/sample"
)

// sampleTable holds the samples of one file by (time, thread), so that call
// stacks and last branch records find the sample that they belong to wherever
// they stand. It says what became of these parts of a sample too, since they
// are met in any order and by any worker.
//
// It takes 16 bytes a place and has one and a third to two and two thirds
// places a sample. That is the only memory that grows with the number of
// samples.
type sampleTable struct {
	shards [tableShards]sampleShard
}

const (
	tableShardBits = 6
	tableShards    = 1 << tableShardBits
)

// sampleShard is an open-addressing table of the samples whose hash begins
// alike.
type sampleShard struct {
	mu    sync.Mutex // for add
	slots []sampleSlot
	used  int
}

// sampleSlot is a place of the table. A time of 0, which no event has, marks a
// free one.
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

// hashSample mixes time and thread.
func hashSample(time int64, tid uint32) uint64 {
	h := (uint64(time) ^ uint64(tid)<<40) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	return h * 0xd6e8feb86659fd93
}

// add puts a sample into the table. Of several at one time on one thread,
// which share their stacks, the source with the least number counts.
func (t *sampleTable) add(time int64, tid uint32, source uint16, idle bool) {
	if time == 0 {
		return
	}
	state := uint32(source)
	if idle {
		state |= 1 << stateIdle
	}
	h := hashSample(time, tid)
	s := &t.shards[h>>(64-tableShardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used*4 >= len(s.slots)*3 {
		s.grow()
	}
	slot := s.place(h, time, tid)
	switch {
	case slot.time == 0:
		*slot = sampleSlot{time, tid, state}
		s.used++
	default:
		slot.state = min(slot.state, state)
	}
}

// place returns the slot of a sample, or the free one where it would stand.
func (s *sampleShard) place(h uint64, time int64, tid uint32) *sampleSlot {
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		if slot := &s.slots[i]; slot.time == 0 || slot.time == time && slot.tid == tid {
			return slot
		}
	}
}

func (s *sampleShard) grow() {
	old := s.slots
	s.slots = make([]sampleSlot, max(64, 2*len(old)))
	for _, slot := range old {
		if slot.time != 0 {
			*s.place(hashSample(slot.time, slot.tid), slot.time, slot.tid) = slot
		}
	}
}

// find returns the slot of a sample, or nil. It must not run at the same time
// as add.
func (t *sampleTable) find(time int64, tid uint32) *sampleSlot {
	h := hashSample(time, tid)
	s := &t.shards[h>>(64-tableShardBits)]
	if len(s.slots) == 0 || time == 0 {
		return nil
	}
	if slot := s.place(h, time, tid); slot.time != 0 {
		return slot
	}
	return nil
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
	for i := range t.shards {
		for j := range t.shards[i].slots {
			slot := &t.shards[i].slots[j]
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
}
