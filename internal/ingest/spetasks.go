package ingest

import (
	"cmp"
	"slices"
	"sort"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// speTasks tells which process a thread belongs to, at a time.
type speTasks map[int32][]taskLife

// taskLife is a thread of a process from a time on.
type taskLife struct {
	time uint64
	pid  int32
}

// add notes that a thread was met. Records that say the same again are not
// kept.
func (t speTasks) add(tid, pid int32, time uint64) {
	list := t[tid]
	if n := len(list); pid < 0 || tid <= 0 || n > 0 && list[n-1].pid == pid && list[n-1].time <= time {
		return
	}
	t[tid] = append(list, taskLife{time, pid})
}

func (t speTasks) sort() {
	for _, list := range t {
		slices.SortStableFunc(list, func(a, b taskLife) int { return cmp.Compare(a.time, b.time) })
	}
}

// find returns the process of a thread. A thread that is met only later
// belonged to the same process before.
func (t speTasks) find(tid int32, time uint64) (pid int32, ok bool) {
	list := t[tid]
	if len(list) == 0 {
		return 0, false
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].time > time })
	return list[max(i-1, 0)].pid, true
}

// cpuTask says whose process runs on a CPU from a time on.
type cpuTask struct {
	time uint64
	pid  int32
}

// at returns the process on a CPU at a time. Hint is where the last look-up
// led: records of a buffer are in the order of time.
func taskAt(list []cpuTask, time uint64, hint *int) (pid int32, ok bool) {
	i := *hint
	if i > len(list) || i > 0 && list[i-1].time > time {
		i = 0
	}
	for steps := 0; i < len(list) && list[i].time <= time; i++ {
		if steps++; steps > 8 {
			i += sort.Search(len(list)-i, func(k int) bool { return list[i+k].time > time })
			break
		}
	}
	*hint = i
	if i == 0 {
		return 0, false
	}
	return list[i-1].pid, true
}

// attribution is how the process of a record was found.
type attribution uint8

const (
	byContext attribution = iota // the context packet has its thread
	bySwitch                     // context switches of the CPU
	byThread                     // the buffer belongs to its thread
	byStart                      // the trace of the CPU began with it, and it maps the address
	byMap                        // no other process maps the address
	byKernel                     // kernel code needs no process
	byNothing
	attributions
)

var attributionNames = [attributions]string{"context packet", "context switches", "thread of the buffer", "start of the trace",
	"only process with the address", "kernel", "unknown"}

// task finds the process of a record.
func (s *speWorker) task(r *spe.Record, time uint64, kernel bool) (pid int32, how attribution) {
	t := s.trace
	for _, c := range [...]struct {
		has spe.Fields
		tid uint32
	}{{spe.HasContext2, r.Context2}, {spe.HasContext1, r.Context1}} {
		// Not every system keeps thread ids there.
		if r.Has(c.has) && c.tid != 0 {
			if pid, ok := s.thread(int32(c.tid), time); ok {
				return pid, byContext
			}
		}
	}
	if pid, ok := taskAt(s.queue.switches, time, &s.switchHint); ok && pid > 0 {
		return pid, bySwitch
	}
	if s.queue.key.cpu < 0 {
		if pid, ok := t.tasks.find(s.queue.key.tid, time); ok {
			return pid, byThread
		}
	}
	if kernel {
		return -1, byKernel
	}
	addr := r.PC.Address()
	if pid, ok := taskAt(s.queue.starts, time, &s.startHint); ok && s.maps(uint32(pid), time, addr) {
		return pid, byStart
	}
	if pid, ok := s.onlyMapper(addr); ok {
		return pid, byMap
	}
	return -1, byNothing
}

// thread finds the process of a thread, of which neighbouring records mostly
// have the same.
func (s *speWorker) thread(tid int32, time uint64) (int32, bool) {
	if s.recent.tid == tid && time >= s.recent.from && time < s.recent.to {
		return s.recent.pid, true
	}
	list := s.trace.tasks[tid]
	if len(list) == 0 {
		return 0, false
	}
	i := max(sort.Search(len(list), func(i int) bool { return list[i].time > time })-1, 0)
	s.recent = recentThread{tid: tid, pid: list[i].pid, from: list[i].time, to: addrspace.Forever}
	if i == 0 {
		s.recent.from = 0
	}
	if i+1 < len(list) {
		s.recent.to = list[i+1].time
	}
	return s.recent.pid, true
}

// recentThread is the last answer of thread, and when it holds.
type recentThread struct {
	tid, pid int32
	from, to uint64
}

// maps says whether a process maps an address.
func (s *speWorker) maps(pid uint32, time, addr uint64) bool {
	s.probe.Enter(pid, time)
	return s.probe.Find(addr) != nil || s.probe.FindSoon(addr) != nil
}

const pageBits = 12

// onlyMapper returns the process that has an address mapped at the end of the
// recording, if it is one alone.
func (s *speWorker) onlyMapper(addr uint64) (int32, bool) {
	page := addr >> pageBits
	if pid, ok := s.mappers[page]; ok {
		return pid, pid >= 0
	}
	found := int32(-1)
	for _, pid := range s.trace.pids {
		s.probe.Enter(pid, unknownTime)
		if s.probe.Find(addr) == nil {
			continue
		}
		if found >= 0 {
			found = -1
			break
		}
		found = int32(pid)
	}
	if len(s.mappers) >= maxMappers {
		clear(s.mappers)
	}
	s.mappers[page] = found
	return found, found >= 0
}

// maxMappers bounds the pages that are remembered.
const maxMappers = 1 << 16
