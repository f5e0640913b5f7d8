package ingest

import (
	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// speWorker turns the SPE records of one worker into hits.
type speWorker struct {
	*perfWorker
	trace   *speTrace
	queue   *speQueue
	decoder spe.Decoder
	record  spe.Record
	sample  perfdata.Sample // what filters look at
	probe   *addrspace.View
	recent  recentThread
	mappers map[uint64]int32 // by page: the only process that maps it, or -1

	switchHint, startHint int

	runs speRuns // straight runs, until all branches are known

	stats  speStats
	events [speKinds]sample.EventStats
}

func newSPEWorker(w *perfWorker) *speWorker {
	t := w.trace
	return &speWorker{perfWorker: w, trace: t.spe, probe: t.space.NewView(), mappers: map[uint64]int32{}, runs: newSPERuns()}
}

// block turns the records of a block into hits, and cuts it if that is not done.
func (s *speWorker) block(b *speBlock) {
	s.queue, s.switchHint, s.startHint = b.queue, 0, 0
	number, padding := b.first, 0
	for s.decoder.Reset(b.data, b.offset); s.decoder.Next(&s.record); {
		r := &s.record
		if b.exclusive {
			if r.State == spe.StateTruncated {
				if b.carries() {
					break // it is decoded whole with the next block
				}
			} else {
				b.end = r.Offset + r.Size
				b.records++
				padding = s.decoder.Padding()
			}
		}
		number++
		s.take(r, number, b.offset)
	}
	if !b.exclusive || !b.carries() {
		padding = s.decoder.Padding()
	}
	if b.exclusive {
		b.cut()
	}
	s.stats.bytes += uint64(len(b.data))
	s.stats.padding += uint64(padding)
}

// take turns one record, of a number in its queue, into hits.
func (s *speWorker) take(r *spe.Record, number, base uint64) {
	s.stats.records++
	s.stats.states[r.State]++
	s.stats.unknown += uint64(r.Unknown)
	if !r.Whole() {
		s.perfWorker.stats.SPERecords.Add(sample.Malformed, 1)
		return
	}
	s.stats.count(r, s.queue.sources)
	reason := sample.Thinned
	if number%max(s.trace.trace.options.SPEPeriod, 1) == 0 {
		reason = s.admitRecord(r, base)
	}
	if reason == sample.Used {
		reason = s.use(r)
	} else {
		s.drop(r, reason)
	}
	s.perfWorker.stats.SPERecords.Add(reason, 1)
}

// admitRecord applies what concerns the whole record, and enters the address
// space of its process.
func (s *speWorker) admitRecord(r *spe.Record, base uint64) sample.Reason {
	ordinary, kernel := speLevel(r)
	switch {
	case !r.Events.Has(spe.EventRetired):
		return sample.Speculative
	case !ordinary:
		return sample.Hypervisor
	}
	time := s.queue.time(s.trace, r, base)
	pid, how := s.task(r, time, kernel)
	s.stats.attribution[how]++
	x := &s.sample
	x.PID, x.Time, x.IP, x.Misc, x.Fields = pid, time, r.PC.Address(), uint16(perfdata.ModeUser), perfdata.SampleTime
	if kernel {
		x.Misc = uint16(perfdata.ModeKernel)
	}
	return s.admit(x, everyEvent)
}

// everyEvent stands for the events of a record, each of which is asked for or
// not on its own.
var everyEvent = &perfEvent{wanted: true}

// drop accounts for a record of which nothing is used.
func (s *speWorker) drop(r *spe.Record, reason sample.Reason) {
	for kind := range speKinds {
		if s.isOf(r, kind) {
			s.event(kind)
		}
	}
	if r.Op.Branch() {
		s.perfWorker.stats.SPEBranches.Add(reason, 1)
	}
}

// isOf says whether a record makes a sample of a kind that is asked for.
func (s *speWorker) isOf(r *spe.Record, kind speKind) bool {
	if e := s.trace.events[kind]; e == nil {
		return false
	}
	switch kind {
	case speInstructions:
		return s.queue.instructions
	case speBranches:
		return r.Op.Branch()
	}
	return r.Events.Has(speKindTable[kind].events)
}

func (s *speWorker) event(kind speKind) {
	e := &s.events[kind]
	e.Samples++
	if c := s.queue.config; c != nil {
		e.Period(c.attr.SamplePeriod)
	}
}

// use gives what is usable of a record to the sink.
func (s *speWorker) use(r *spe.Record) sample.Reason {
	s.out.weight = 1
	if c := s.queue.config; c != nil && s.trace.trace.options.WeighByPeriod {
		s.out.weight = max(c.attr.SamplePeriod, 1)
	}
	pc := s.locate(s.sample.IP, s.sample.Mode() == perfdata.ModeKernel, 0)
	if pc.object >= 0 {
		s.hits[pc.object]++
	}
	address := sample.OtherEvent
	for kind := range speKinds {
		if !s.isOf(r, kind) {
			continue
		}
		s.event(kind)
		reason := pc.reason
		switch e := s.trace.events[kind]; {
		case !e.wanted:
			reason = sample.OtherEvent
		case e.opcode == 0 && reason == sample.Used:
			reason = sample.UnknownEvent
		case reason == sample.Used:
			s.out.sink.IP(pc.binary, byte(e.opcode), pc.rva, s.out.weight)
		}
		if address != sample.Used {
			address = reason
		}
	}
	arc := s.branchRecord(r, pc)
	if r.Op.Branch() {
		s.perfWorker.stats.SPEBranches.Add(arc, 1)
	}
	if arc == sample.Used {
		return sample.Used
	}
	return address
}

// branchRecord gives the branch of a record to the sink, or keeps it with the
// straight run that leads to it. It returns why there is no arc.
func (s *speWorker) branchRecord(r *spe.Record, pc place) sample.Reason {
	if e := s.trace.events[speBranches]; e == nil || !e.wanted {
		return sample.OtherEvent
	}
	stacks := branchBuilder{out: &s.out}
	reason := sample.NotTaken
	switch {
	case !r.Op.Branch(), !speTaken(r):
	case r.Events.Has(spe.EventException):
		reason = sample.Exception
	case !r.Has(spe.HasTarget):
		reason = sample.NoAddress
	default:
		target := s.place(r.Target)
		reason = stacks.add(pc, target, pc.to(target))
		if r.Has(spe.HasPreviousTarget) && target.usable() && reason == sample.Used {
			from := sample.Outside
			if pc.usable() && pc.binary == target.binary {
				from = pc.rva
			}
			s.runs.arc(target.binary, sample.Branch{To: target.rva, From: from}, s.out.weight)
		}
	}
	// A run that ends at a branch not taken goes on: to count it would count its
	// code once more for each such branch.
	if r.Has(spe.HasPreviousTarget) && pc.usable() && len(s.out.stack) > 0 {
		if start := s.place(r.PreviousTarget); pc.to(start) == sample.Used && start.rva <= pc.rva {
			s.stats.branches.Ranges++
			s.runs.runs[speRun{speTarget{pc.binary, start.rva}, s.out.stack[0]}] += s.out.weight
			s.out.stack = s.out.stack[:0]
		}
	}
	stacks.flush()
	return reason
}

// place resolves a branch target.
func (s *speWorker) place(a spe.Address) place {
	addr := a.Address()
	return s.locate(addr, addr >= s.trace.trace.kernelLow, 0)
}

// finish adds the account of the worker to that of the trace. Those that it
// shares with the worker of ordinary samples are added already.
func (s *speWorker) finish(total *speStats) {
	for kind, e := range s.trace.events {
		if n := s.events[kind]; n.Samples > 0 {
			n.Opcode = byte(e.opcode)
			s.trace.trace.facts.Stats.Event(e.name).Merge(&n)
		}
	}
	total.merge(&s.stats)
}
