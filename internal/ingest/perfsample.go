package ingest

import (
	"context"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/debias"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// stackMode is what the branch stacks of an event are.
type stackMode uint8

const (
	stackHistory stackMode = iota // the branches taken last
	stackSingles                  // only some kinds of branches: neighbours tell nothing
	stackCalls                    // a call stack
)

// perfEvent is what workers must know of an event.
type perfEvent struct {
	number int // index of its statistics
	name   string
	opcode spt.Opcode // 0: none
	wanted bool
	stacks stackMode

	unit    debias.Unit     // what it counts
	weights *debias.Weights // of its branch stacks; nil: all count 1
}

// Bits of branch_sample_type that select kinds of branches.
const (
	branchAny   = 1 << 3
	branchKinds = 1<<4 | 1<<5 | 1<<6 | 1<<10 | 1<<12 | 1<<13
)

func (t *perfTrace) newEvent(a *perfdata.Attr) *perfEvent {
	e := &perfEvent{number: len(t.events), name: a.String()}
	e.unit = debias.UnitOf(e.name, a.Type, a.Config, t.vendor(a))
	var ok bool
	if e.opcode, ok = t.options.Events.Opcode(e.name); !ok {
		e.opcode, _ = opcodeByNumber(a.Type, a.Config, t.vendor(a))
	}
	e.wanted = t.options.Events.Wanted(e.name)
	switch {
	case a.BranchSampleType&perfdata.BranchCallStack != 0:
		e.stacks = stackCalls
	case a.BranchSampleType&branchKinds != 0 && a.BranchSampleType&branchAny == 0:
		e.stacks = stackSingles
	}
	return e
}

// vendor is the vendor of the PMU of an event.
func (t *perfTrace) vendor(a *perfdata.Attr) string {
	id := t.file.Features.CPUID
	for _, v := range []string{"GenuineIntel", "AuthenticAMD", "HygonGenuine"} {
		if len(id) >= len(v) && id[:len(v)] == v {
			return v
		}
	}
	if t.file.Features.Arch == "aarch64" && (a.Type == perfTypeRaw || isArmPMU(t.file.Features.PMUName(a.Type))) {
		return "arm"
	}
	return ""
}

// perfWorker resolves samples. Each worker has views, a sink and an account of
// its own.
type perfWorker struct {
	trace     *perfTrace
	decoder   *perfdata.Decoder
	addresses resolver
	out       pieces
	windows   *windowWorker // takes the samples as well; nil: not asked for

	stats     *sample.Stats
	events    []sample.EventStats
	hits      []uint64 // samples by object
	processes []uint64 // samples by process, before any filter
	selected  []bool   // by process: the filter takes it
	branches  uint64
	frames    uint64
}

func newPerfWorker(t *perfTrace, sink sample.Sink) *perfWorker {
	want := perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime | perfdata.SamplePeriod |
		perfdata.SampleBranchStack | perfdata.SampleCallChain
	w := &perfWorker{
		trace: t, decoder: t.file.NewDecoder(want),
		addresses: resolver{user: t.space.NewView(), kernel: t.space.NewView(), objects: t.objects},
		out:       pieces{sink: sink, inside: t.options.InsideOnly},
		stats:     sample.NewStats(), events: make([]sample.EventStats, len(t.events)),
		hits: make([]uint64, len(t.objects)), processes: make([]uint64, len(t.processes)), selected: make([]bool, len(t.processes)),
	}
	for i := range t.processes {
		w.selected[i] = len(t.options.Processes) == 0 || t.processes[i].matches(t.options.Processes)
	}
	return w
}

// run takes chunks until there are none.
func (w *perfWorker) run(ctx context.Context, source *perfdata.ChunkSource) {
	var c perfdata.Chunk
	for ctx.Err() == nil && source.Next(&c) {
		for w.decoder.Reset(&c); w.decoder.Next(); {
			s := w.decoder.Sample()
			w.sample(s)
			if w.windows != nil {
				w.windows.take(s)
			}
		}
		if w.trace.options.Progress != nil {
			w.trace.options.Progress(int64(len(c.Data)))
		}
	}
}

// finish adds the account of the worker to that of the trace.
func (w *perfWorker) finish() {
	t, facts := w.trace, w.trace.facts
	for reason, n := range w.decoder.Defects {
		if perfdata.Defect(reason) != perfdata.DefectNone && n > 0 {
			w.stats.Samples.Add(sample.Malformed, n)
			facts.Losses["samples_"+perfdata.Defect(reason).String()] += n
		}
	}
	for _, e := range t.events {
		s := w.events[e.number]
		if s.Samples > 0 {
			s.Opcode = byte(e.opcode)
			w.stats.Event(e.name).Merge(&s)
		}
	}
	for i, n := range w.hits {
		if t.hits[i] += n; n > 0 {
			w.stats.Hits[t.objects[i].index] += n
		}
	}
	for i, n := range w.processes {
		if n > 0 {
			w.stats.Processes[t.processes[i].name()] += n
		}
	}
	facts.BranchEntries += w.branches
	facts.CallchainFrames += w.frames
	facts.Stats.Merge(w.stats)
}

// sample resolves one sample and gives what is usable to the sink.
func (w *perfWorker) sample(s *perfdata.Sample) {
	t := w.trace
	e := t.events[s.Attr]
	es := &w.events[e.number]
	es.Samples++
	es.Period(s.Period)
	chain := e.callChain(s)
	frames := countFrames(chain)
	w.branches += uint64(len(s.Branches))
	w.frames += frames

	reason := w.admit(s, e)
	if reason != sample.Used {
		w.dropAll(s, e, frames, reason)
		return
	}
	w.out.weight = 1
	if t.options.WeighByPeriod {
		w.out.weight = max(s.Period, 1)
	}
	used := false
	reason = sample.NoAddress
	if s.Fields&perfdata.SampleIP != 0 {
		reason = w.address(s, e)
		used = reason == sample.Used
	}
	if len(s.Branches) > 0 && e.stacks != stackCalls {
		unweighed := w.out.weight
		if e.weights != nil {
			w.out.weight *= w.windowWeight(s, e)
		}
		r := w.branchStack(s, e)
		w.out.weight = unweighed
		w.stats.Kinds[sample.LBR].Add(r, 1)
		used = used || r == sample.Used
	}
	if frames > 0 || len(s.Branches) > 0 && e.stacks == stackCalls {
		r := w.callStack(s, e, chain)
		w.stats.Kinds[sample.Stack].Add(r, 1)
		used = used || r == sample.Used
	}
	if used {
		reason = sample.Used
	}
	w.stats.Samples.Add(reason, 1)
}

// admit applies the filters that concern the whole sample, and enters the
// address space of its process.
func (w *perfWorker) admit(s *perfdata.Sample, e *perfEvent) sample.Reason {
	t := w.trace
	switch {
	case !e.wanted:
		return sample.OtherEvent
	case s.Time < t.from || s.Time >= t.to:
		return sample.OtherTime
	}
	switch s.Mode() {
	case perfdata.ModeGuestKernel, perfdata.ModeGuestUser:
		return sample.Guest
	case perfdata.ModeHypervisor:
		return sample.Hypervisor
	}
	time := s.Time
	if s.Fields&perfdata.SampleTime == 0 {
		time = addrspace.Forever
	}
	w.addresses.user.Enter(uint32(s.PID), time)
	w.addresses.kernel.Enter(kernelPID, time)
	tag := w.addresses.user.Tag()
	if tag >= 0 {
		w.processes[tag]++
	}
	if len(t.options.PIDs) > 0 && !containsPID(t.options.PIDs, s.PID) {
		return sample.OtherProcess
	}
	if len(t.options.Processes) > 0 && (tag < 0 || !w.selected[tag]) {
		return sample.OtherProcess
	}
	return sample.Used
}

// dropAll accounts for a sample of which nothing is used.
func (w *perfWorker) dropAll(s *perfdata.Sample, e *perfEvent, frames uint64, r sample.Reason) {
	w.stats.Samples.Add(r, 1)
	if k, ok := addressKind(e.opcode); ok {
		w.stats.Kinds[k].Add(r, 1)
	}
	calls := frames > 0
	if len(s.Branches) > 0 {
		if e.stacks == stackCalls {
			calls = true
		} else {
			w.stats.Kinds[sample.LBR].Add(r, 1)
		}
		w.stats.Branches.Add(r, uint64(len(s.Branches)))
	}
	if calls {
		w.stats.Kinds[sample.Stack].Add(r, 1)
		w.stats.Frames.Add(r, frames)
	}
}

// addressKind is the kind of a sample's address.
func addressKind(op spt.Opcode) (sample.Kind, bool) {
	switch {
	case op == spt.OpETWInstr:
		return sample.Timer, true
	case op.IsIP():
		return sample.PMC, true
	}
	return 0, false
}

// locate resolves an address. After is 1 for a return address.
func (w *perfWorker) locate(addr uint64, kernel bool, after uint64) place {
	if p, ok := w.addresses.find(addr, kernel, after); ok {
		return p
	}
	return noPlace(w.unmapped(addr, kernel))
}

func (w *perfWorker) unmapped(addr uint64, kernel bool) sample.Reason {
	switch {
	case addr == 0:
		return sample.NoAddress
	case addr&^0xfff == vsyscallPage:
		return sample.Vsyscall
	case kernel && w.trace.options.NoKernel:
		return sample.KernelLeftOut
	case kernel:
		return sample.KernelUnmapped
	case w.addresses.user.Tag() < 0:
		return sample.UnknownProcess
	}
	return sample.Unmapped
}

const vsyscallPage = 0xffffffffff600000

// address gives the sampled address to the sink.
func (w *perfWorker) address(s *perfdata.Sample, e *perfEvent) sample.Reason {
	kernel := s.Mode() == perfdata.ModeKernel || s.Mode() == perfdata.ModeUnknown && s.IP >= w.trace.kernelLow
	p := w.locate(s.IP, kernel, 0)
	if p.object >= 0 {
		w.hits[p.object]++
	}
	kind, ok := addressKind(e.opcode)
	switch {
	case !ok && p.reason == sample.Used:
		return sample.UnknownEvent
	case !ok:
		return p.reason
	case p.reason == sample.Used:
		w.out.sink.IP(p.binary, byte(e.opcode), p.rva, w.out.weight)
	}
	w.stats.Kinds[kind].Add(p.reason, 1)
	return p.reason
}

// branchStack gives the usable pieces of a branch stack to the sink. It returns
// the reason of the newest entry if nothing was usable.
func (w *perfWorker) branchStack(s *perfdata.Sample, e *perfEvent) sample.Reason {
	runs := branchBuilder{out: &w.out, singles: e.stacks == stackSingles}
	// Most branches stay in the region of the one before: what holds for that
	// one need not be found out again.
	var near vicinity
	var stayed uint64
	for i := range s.Branches {
		b := &s.Branches[i]
		if near.holds(b.From) && near.holds(b.To) && b.Flags.Spec() != perfdata.SpecWrongPath && !b.Flags.NotTaken() {
			runs.stay(sample.Branch{To: near.rva(b.To), From: near.rva(b.From)})
			stayed++
			continue
		}
		from, to, reason := w.branch(b)
		w.stats.Branches.Add(runs.add(from, to, reason), 1)
		near = vicinity{}
		if reason == sample.Used {
			near = w.addresses.around(b.From, w.trace.kernelLow)
		}
	}
	w.stats.Branches.Add(sample.Used, stayed)
	return runs.finish()
}

// branch resolves one entry of a branch stack.
func (w *perfWorker) branch(b *perfdata.Branch) (from, to place, reason sample.Reason) {
	switch {
	case b.From == 0 && b.To == 0:
		reason = sample.ZeroEntry
	case b.Flags.Spec() == perfdata.SpecWrongPath:
		reason = sample.WrongPath
	case b.Flags.NotTaken():
		reason = sample.NotTaken
	}
	if reason != sample.Used {
		return noPlace(reason), noPlace(reason), reason
	}
	low := w.trace.kernelLow
	from, to = w.locate(b.From, b.From >= low, 0), w.locate(b.To, b.To >= low, 0)
	return from, to, from.to(to)
}

func containsPID(pids []uint32, pid int32) bool {
	for _, p := range pids {
		if p == uint32(pid) {
			return true
		}
	}
	return false
}
