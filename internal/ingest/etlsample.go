package ingest

import (
	"slices"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// etlSample is a sample of any source.
type etlSample struct {
	time   int64
	ip     uint64
	tid    uint32
	source uint16
	count  uint16 // how many samples it stands for
	idle   bool
}

// process returns the process of a thread at a time and whether the time line
// tells it. Where it does not, the process may be that of a thread with the
// same number at another time.
func (w *etlWorker) process(time uint64, tid uint32) (pid uint32, known bool) {
	if tid == 0 {
		return 0, true // the idle loops of all processors
	}
	if tid == w.tid && w.thread.from <= time && time < w.thread.to {
		return w.thread.thing, true
	}
	at, covers := w.trace.threads.at(tid, time)
	if at == nil {
		return nobodyPID, false
	}
	if covers {
		w.tid, w.thread = tid, *at
	}
	return at.thing, covers
}

// begin applies the filters that do not concern the process, and enters the
// address space of the process.
func (w *etlWorker) begin(src *profileSource, idle bool, time int64, pid uint32) sample.Reason {
	t := w.trace
	w.pid, w.time = pid, ticks(time)
	switch {
	case idle:
		return sample.Idle
	case !src.wanted:
		return sample.OtherEvent
	case w.time < t.from || w.time >= t.to:
		return sample.OtherTime
	}
	w.addresses.user.Enter(pid, w.time)
	w.addresses.kernel.Enter(kernelPID, w.time)
	return sample.Used
}

// asked says whether the process that was entered is asked for.
func (w *etlWorker) asked() bool {
	o, tag := w.trace.options, w.addresses.user.Tag()
	if len(o.PIDs) > 0 && !slices.Contains(o.PIDs, w.pid) {
		return false
	}
	return len(o.Processes) == 0 || tag >= 0 && w.trace.selected[tag]
}

// weigh sets how much what comes next counts.
func (w *etlWorker) weigh(src *profileSource, count uint64) {
	if w.out.weight = count; w.trace.options.WeighByPeriod {
		w.out.weight *= max(src.period(w.time), 1)
	}
}

// sample takes a sample. One whose thread is not known waits: what else was
// recorded at that moment may know the process.
func (w *etlWorker) sample(s *etlSample) {
	src := w.of(s.source)
	src.stats.Samples++
	src.stats.Period(src.period(ticks(s.time)))
	pid, known := w.process(ticks(s.time), s.tid)
	if !known && !s.idle && w.file.table != nil {
		w.tally.orphans = append(w.tally.orphans, orphan{*s, pid})
		return
	}
	w.settle(s, pid)
}

// settle resolves the address of a sample.
func (w *etlWorker) settle(s *etlSample, pid uint32) {
	src := w.of(s.source)
	reason := w.begin(src.profileSource, s.idle, s.time, pid)
	if reason == sample.Used {
		if tag := w.addresses.user.Tag(); tag >= 0 {
			w.tally.processes[tag]++
		}
		reason = sample.OtherProcess
		if w.asked() {
			w.weigh(src.profileSource, uint64(s.count))
			reason = w.address(src.profileSource, s.ip)
		}
	}
	if kind, ok := addressKind(src.opcode); ok {
		w.tally.stats.Kinds[kind].Add(reason, 1)
	}
	w.tally.stats.Samples.Add(reason, 1)
	if reason != sample.Used && w.file.table != nil {
		if slot := w.find(w.file, s.time, s.tid); slot != nil {
			slot.note(stateAddress, reason)
		}
	}
}

// address gives a sampled address to the sink.
func (w *etlWorker) address(src *profileSource, ip uint64) sample.Reason {
	p := w.locate(ip, 0)
	switch {
	case p.object >= 0:
		w.tally.hits[p.object]++
	case p.reason == sample.JIT:
		w.tally.methods[w.code.Find(ip).Owner]++
	}
	if p.reason != sample.Used {
		return p.reason
	}
	if src.opcode == 0 {
		return sample.UnknownEvent
	}
	w.out.sink.IP(p.binary, byte(src.opcode), p.rva, w.out.weight)
	return sample.Used
}

// locate resolves an address. After is 1 for a return address.
func (w *etlWorker) locate(addr, after uint64) place {
	at := addr - after
	if at >= w.trace.kernelLow {
		switch r := w.addresses.kernel.Find(at); {
		case r != nil:
			return w.addresses.at(r, addr)
		case w.trace.options.NoKernel:
			return noPlace(sample.KernelLeftOut)
		}
		return noPlace(sample.KernelUnmapped)
	}
	if r := w.addresses.user.Find(at); r != nil {
		return w.addresses.at(r, addr)
	}
	if len(w.trace.methods) > 0 && w.code.Enter(w.pid, w.time) && w.code.Find(at) != nil {
		return noPlace(sample.JIT)
	}
	if r := w.addresses.user.FindSoon(at); r != nil {
		return w.addresses.at(r, addr)
	}
	switch {
	case addr == 0:
		return noPlace(sample.NoAddress)
	case w.addresses.user.Tag() < 0:
		return noPlace(sample.UnknownProcess)
	}
	return noPlace(sample.Unmapped)
}

// join finds the sample that something was recorded with, in any file, and
// enters the address space of its process. It returns nil for an event that is
// no sample. Fallback is the process that the record names.
func (w *etlWorker) join(class etl.Class, time int64, tid, fallback uint32) (slot *sampleSlot, src *profileSource, reason sample.Reason) {
	if slot = w.find(w.file, time, tid); slot == nil {
		for _, f := range w.trace.files {
			if slot = w.find(f, time, tid); slot != nil {
				break
			}
		}
	}
	if slot == nil {
		w.tally.foreign[class]++
		return nil, nil, sample.Used
	}
	pid, known := w.process(ticks(time), tid)
	if !known && fallback != etl.NoThread {
		pid = fallback
		key := sampleKey{time, tid}
		w.owners[key] = w.owners[key].or(owner{pid: pid, rank: rankOf(class)})
	}
	number, idle := slot.origin()
	src = w.trace.sources.byNumber[number]
	reason = w.begin(src, idle, time, pid)
	if reason == sample.Used && !w.asked() {
		reason = sample.OtherProcess
	}
	w.weigh(src, 1)
	return slot, src, reason
}

// find returns the slot of a sample of a file, or nil.
func (w *etlWorker) find(f *etlFile, time int64, tid uint32) *sampleSlot {
	return f.table.find(time, tid, &w.near[f.number])
}

// sampleKey tells samples apart.
type sampleKey struct {
	time int64
	tid  uint32
}

// orphan is a sample whose thread no event tells of.
type orphan struct {
	etlSample
	pid uint32 // of a thread with the same number at another time
}

// owner is the process of a sample as a record beside it names it.
type owner struct {
	pid  uint32
	rank uint8 // of the witness; 0: there is none
}

// rankOf is how far the process in a record can be trusted: last branch
// records around a context switch can name the wrong one.
func rankOf(class etl.Class) uint8 {
	if class == etl.ClassLBR {
		return 1
	}
	return 2
}

// or is the better known one of two owners; of equals the one with the least
// number, so that the order has no effect.
func (o owner) or(other owner) owner {
	if other.rank > o.rank || other.rank == o.rank && other.pid < o.pid {
		return other
	}
	return o
}

// adopt resolves the samples that waited for their process.
func (w *etlWorker) adopt(owners map[sampleKey]owner) {
	for i, tally := range w.tallies {
		w.file, w.tally, w.source = w.trace.files[i], tally, sourceTally{}
		for i := range tally.orphans {
			s := &tally.orphans[i]
			if o := owners[sampleKey{s.time, s.tid}]; o.rank > 0 {
				s.pid = o.pid
			}
			w.settle(&s.etlSample, s.pid)
		}
	}
}
