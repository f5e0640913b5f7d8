package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// speTrace is the Arm SPE part of a recording: what the first pass keeps of it.
type speTrace struct {
	trace *perfTrace
	pmu   uint32 // attr.type of the PMU; 0: not known
	cpus  map[int32]speCPU

	queues   []*speQueue
	byKey    map[speKey]*speQueue
	tasks    speTasks
	switches map[int32][]cpuTask // by CPU, of SWITCH_CPU_WIDE
	starts   map[int32][]cpuTask // by CPU, of ITRACE_START
	written  map[speKey][]auxSpan
	flags    [4]uint64         // AUX records by flag
	counts   map[string]uint64 // of the PMU's own events, by name
	pids     []uint32          // processes with maps, ascending

	configs []*speConfig
	events  [speKinds]*perfEvent // that are asked for
}

// speCPU is what the recording says of a processor.
type speCPU struct {
	midr        spe.MIDR
	pmu         uint32
	minInterval uint64
}

// speKey names a buffer: by CPU, or where that is -1 by thread.
type speKey struct{ cpu, tid int32 }

// auxSpan is a range of a buffer and when it was handed over.
type auxSpan struct{ start, end, time uint64 }

// speEventPrefix begins the names of the PMUs: arm_spe_0, one for each kind of
// core.
const speEventPrefix = "arm_spe"

// isSPE says whether an event is of an SPE unit.
func (t *perfTrace) isSPE(a *perfdata.Attr) bool {
	if t.spe != nil && t.spe.pmu != 0 && a.Type == t.spe.pmu {
		return true
	}
	if t.spe != nil {
		for _, c := range t.spe.cpus {
			if c.pmu == a.Type && a.Type > perfTypeRaw {
				return true
			}
		}
	}
	return strings.HasPrefix(t.file.Features.PMUName(a.Type), speEventPrefix) || strings.HasPrefix(a.Name, speEventPrefix)
}

// findSPE prepares for a recording whose events say that it has SPE data.
func (t *perfTrace) findSPE() {
	for _, a := range t.file.Attrs {
		if t.spe == nil && t.isSPE(a) {
			t.newSPE()
		}
	}
}

func (t *perfTrace) newSPE() {
	t.spe = &speTrace{trace: t, cpus: map[int32]speCPU{}, byKey: map[speKey]*speQueue{}, tasks: speTasks{},
		switches: map[int32][]cpuTask{}, starts: map[int32][]cpuTask{}, written: map[speKey][]auxSpan{}, counts: map[string]uint64{}}
}

// noteThread keeps which process a thread is of, where context packets may
// ask for it.
func (t *perfTrace) noteThread(tid, pid int32, time uint64) {
	if t.spe != nil {
		t.spe.tasks.add(tid, pid, time)
	}
}

// speBand keeps a record of the first pass that matters to SPE data alone.
func (t *perfTrace) speBand(r *perfdata.Record) {
	switch r.Type {
	case perfdata.TypeTimeConv: // it stands before AUXTRACE_INFO
		var c perfdata.TimeConv
		if _, ok := t.decode(r, &c); ok && c.Mult != 0 && c.Shift < 64 {
			t.timeConv = &c
		}
		return
	case perfdata.TypeAuxtraceInfo:
		var info perfdata.AuxtraceInfo
		switch _, ok := t.decode(r, &info); {
		case !ok:
		case info.Kind != perfdata.AuxArmSPE:
			t.otherTrace(info.Kind)
		default:
			if t.spe == nil {
				t.newSPE()
			}
			t.spe.takeInfo(info.Priv)
		}
		return
	}
	if s := t.spe; s != nil {
		s.band(r)
	}
}

// otherTrace warns once that the hardware trace is of a kind that is not read,
// and keeps its bytes from being read as Arm SPE, whatever the events say.
func (t *perfTrace) otherTrace(kind perfdata.AuxKind) {
	if t.spe != nil && len(t.spe.queues) == 0 {
		t.spe = nil
	}
	if !slices.ContainsFunc(t.facts.Warnings, func(w *diag.Error) bool { return w.Code == diag.OtherTrace }) {
		t.facts.warn(diag.New(diag.OtherTrace, "the hardware trace is %v, not Arm SPE; it is left out", kind))
	}
}

// Words of AUXTRACE_INFO. Version 1 has two words, later ones begin with
// their version and the number of words before the processors.
const (
	speInfoV1    = 2
	speInfoMagic = 0x1010101010101010
)

func (s *speTrace) takeInfo(priv []uint64) {
	s.pmu, s.cpus = parseSPEInfo(priv)
}

// parseSPEInfo reads the words of AUXTRACE_INFO.
func parseSPEInfo(priv []uint64) (pmu uint32, cpus map[int32]speCPU) {
	cpus = map[int32]speCPU{}
	if len(priv) <= speInfoV1 {
		if len(priv) > 0 {
			pmu = uint32(priv[0])
		}
		return pmu, cpus
	}
	pmu = uint32(priv[2])
	if priv[1] >= uint64(len(priv)) {
		return pmu, cpus
	}
	const head = 3 // magic, number, count of parameters
	for w := priv[priv[1]:]; len(w) >= head && w[0] == speInfoMagic; {
		n := w[2]
		if n > uint64(len(w)-head) {
			break
		}
		var c speCPU
		for i, field := range w[head:][:n] {
			switch i {
			case 0:
				c.midr = spe.MIDR(field)
			case 1:
				c.pmu = uint32(field)
			case 2:
				c.minInterval = field
			}
		}
		cpus[int32(w[1])] = c
		w = w[head+n:]
	}
	return pmu, cpus
}

// SPEProcessor returns the id of a processor of a recording with Arm SPE data:
// by the words of its AUXTRACE_INFO record, else by its header; 0 if neither
// tells.
func SPEProcessor(f *perfdata.File, priv []uint64, cpu int32) spe.MIDR {
	_, cpus := parseSPEInfo(priv)
	return processorOf(f, cpus, cpu)
}

func processorOf(f *perfdata.File, cpus map[int32]speCPU, cpu int32) spe.MIDR {
	if c, ok := cpus[cpu]; ok {
		return c.midr
	}
	id, err := strconv.ParseUint(f.Features.CPUID, 0, 64)
	if err != nil {
		return 0 // of another architecture
	}
	return spe.MIDR(id)
}

// band keeps a record of a recording with SPE data.
func (s *speTrace) band(r *perfdata.Record) {
	t := s.trace
	switch r.Type {
	case perfdata.TypeAuxtrace:
		var a perfdata.Auxtrace
		if _, ok := t.decode(r, &a); ok {
			s.queue(a.CPU, a.TID).add(r.Trail, a.Offset)
		}
	case perfdata.TypeAux:
		var a perfdata.Aux
		if time, ok := t.decode(r, &a); ok {
			s.takeAux(&a, t.file.SampleIDs(r), time)
		}
	case perfdata.TypeItraceStart:
		var i perfdata.ItraceStart
		if time, ok := t.decode(r, &i); ok {
			ids := t.file.SampleIDs(r)
			s.tasks.add(i.TID, i.PID, time)
			if ids.Fields&perfdata.SampleCPU != 0 {
				s.starts[int32(ids.CPU)] = append(s.starts[int32(ids.CPU)], cpuTask{time, i.PID})
			}
		}
	case perfdata.TypeSwitchCPUWide:
		var w perfdata.Switch
		if time, ok := t.decode(r, &w); ok {
			s.takeSwitch(&w, t.file.SampleIDs(r), time)
		}
	case perfdata.TypeRead:
		s.takeRead(r)
	}
}

func (s *speTrace) queue(cpu, tid int32) *speQueue {
	key := speKey{cpu, tid}
	if cpu >= 0 {
		key.tid = -1
	}
	q := s.byKey[key]
	if q == nil {
		q = &speQueue{key: key}
		s.byKey[key] = q
		s.queues = append(s.queues, q)
	}
	return q
}

func (s *speTrace) takeAux(a *perfdata.Aux, ids perfdata.SampleIDs, time uint64) {
	for i := range s.flags {
		if a.Flags>>i&1 != 0 {
			s.flags[i]++
		}
	}
	if ids.Fields&perfdata.SampleTime == 0 {
		return
	}
	span := auxSpan{a.Offset, a.Offset + a.Size, time}
	if ids.Fields&perfdata.SampleCPU != 0 {
		key := speKey{int32(ids.CPU), -1}
		s.written[key] = append(s.written[key], span)
	}
	if ids.Fields&perfdata.SampleTID != 0 {
		key := speKey{-1, ids.TID}
		s.written[key] = append(s.written[key], span)
	}
}

// takeSwitch keeps who takes a CPU over: on the way out the record names the
// next task, on the way in its trailer does.
func (s *speTrace) takeSwitch(w *perfdata.Switch, ids perfdata.SampleIDs, time uint64) {
	if ids.Fields&perfdata.SampleCPU == 0 {
		return
	}
	pid, tid := w.PID, w.TID
	if !w.Out {
		if pid, tid = ids.PID, ids.TID; ids.Fields&perfdata.SampleTID == 0 {
			return
		}
	}
	s.tasks.add(tid, pid, time)
	s.switches[int32(ids.CPU)] = append(s.switches[int32(ids.CPU)], cpuTask{time, pid})
}

// takeRead adds the final count of one of the PMU events that tell about SPE:
// sample_pop, sample_feed and others.
func (s *speTrace) takeRead(r *perfdata.Record) {
	var v perfdata.Read
	if _, ok := s.trace.decode(r, &v); !ok || len(v.Values) == 0 {
		return
	}
	id := s.trace.file.SampleIDs(r).ID
	for _, a := range s.trace.file.Attrs {
		if slices.Contains(a.IDs, id) && isSPECounter(a.String()) {
			s.counts[counterName(a.String())] += v.Values[0]
		}
	}
}

// isSPECounter says whether an event counts what SPE does.
func isSPECounter(name string) bool { return strings.HasPrefix(counterName(name), "sample_") }

func counterName(name string) string { return normalizeEvent(strings.ToLower(name)) }

// prepare readies what the first pass kept for the second one. The address
// spaces are there.
func (s *speTrace) prepare() {
	s.tasks.sort()
	for _, list := range []map[int32][]cpuTask{s.switches, s.starts} {
		for _, tasks := range list {
			slices.SortStableFunc(tasks, func(a, b cpuTask) int { return cmp.Compare(a.time, b.time) })
		}
	}
	for _, spans := range s.written {
		slices.SortStableFunc(spans, func(a, b auxSpan) int { return cmp.Compare(a.start, b.start) })
	}
	slices.Sort(s.pids)
	s.pids = slices.Compact(s.pids)
	t := s.trace
	for _, a := range t.file.Attrs {
		if t.isSPE(a) {
			s.configs = append(s.configs, &speConfig{attr: a})
		}
	}
	s.newEvents()
	for _, q := range s.queues {
		q.prepare(s)
	}
}

// config is how the event of a CPU was set up; nil if the recording has none.
func (s *speTrace) config(cpu int32) *speConfig {
	if c, ok := s.cpus[cpu]; ok {
		for _, config := range s.configs {
			if config.attr.Type == c.pmu {
				return config
			}
		}
	}
	if len(s.configs) > 0 {
		return s.configs[0]
	}
	return nil
}

// nanoseconds converts a time stamp to the clock of the recording.
func (s *speTrace) nanoseconds(ticks uint64) uint64 {
	c := s.trace.timeConv
	if c.CapShort {
		ticks = c.Cycles + (ticks-c.Cycles)&c.Mask
	}
	whole, part := ticks>>c.Shift, ticks&(1<<c.Shift-1)
	return c.Zero + whole*c.Mult + part*c.Mult>>c.Shift
}

// unknownTime is the time of records of which it is not known: later than
// everything, so that they see the last maps.
const unknownTime = addrspace.Forever - 1

// firstTime is the earliest time of a record, for spans that count from the
// start of the trace.
func (s *speTrace) firstTime() (uint64, error) {
	first := uint64(addrspace.Forever)
	for _, q := range s.queues {
		look := *q
		var b speBlock
		if err := look.fill(s.trace.file, &b); err != nil {
			return 0, err
		}
		var d spe.Decoder
		var r spe.Record
		for d.Reset(b.data, b.offset); d.Next(&r); {
			if time := q.time(s, &r, b.offset); r.Whole() && time != unknownTime {
				first = min(first, time)
			}
		}
	}
	return first, nil
}
