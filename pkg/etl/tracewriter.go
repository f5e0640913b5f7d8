package etl

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// Versions of the events that WriteTrace writes, those of Windows 10.
const (
	traceProcessVersion  = 4
	traceThreadVersion   = 3
	traceImageVersion    = 3
	traceSampleVersion   = 2
	traceIntervalVersion = 3
	traceConfigVersion   = 3
)

// systemSID is S-1-5-18, the user that traced processes belong to.
var systemSID = SID{1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}

// WriteTrace writes the recording that t describes. The memory it takes does
// not depend on the number of samples.
func WriteTrace(w io.Writer, t *Trace) error {
	full := t.withDefaults()
	out, err := NewWriter(w, &WriterOptions{Header: full.header(), Compress: full.Compress})
	if err != nil {
		return err
	}
	tw := &traceWriter{t: &full, w: out, keys: map[string]uint64{}}
	events := full.sideBand()
	for i := range events {
		events[i].Time = min(max(events[i].Time, 0), full.Duration)
	}
	if full.Samples != nil {
		for s := range full.Samples {
			for len(events) > 0 && events[0].Time <= s.Time {
				tw.event(&events[0])
				events = events[1:]
			}
			tw.sample(&s)
			if tw.err != nil {
				return tw.err
			}
		}
	}
	for i := range events {
		tw.event(&events[i])
	}
	tw.defineStacks()
	if tw.err != nil {
		return tw.err
	}
	return out.Close()
}

// traceWriter writes the records of a trace.
type traceWriter struct {
	t       *Trace
	w       *Writer
	rec     Record
	payload []byte
	keys    map[string]uint64 // of stacks, by their frames' bytes
	stacks  []StackDef        // by key - 1
	frames  []byte
	err     error
}

// put writes a record at a time.
func (w *traceWriter) put(processor int, ticks int64, r *Record) {
	if w.err != nil {
		return
	}
	r.Time = w.t.FirstTick + ticks
	w.err = w.w.Write(processor, r)
}

// event writes a side-band event. One that falls between a sample and the
// records that belong to it comes after them, up to three ticks late.
func (w *traceWriter) event(e *TraceEvent) {
	w.put(e.Processor, max(e.Time, w.w.lastTime(e.Processor)-w.t.FirstTick), &e.Record)
}

// perfInfo writes a PERFINFO record with the payload that is in w.payload.
func (w *traceWriter) perfInfo(processor int, ticks int64, hook Hook) {
	w.rec = Record{Type: w.t.headerType(HeaderPerfInfo64), Hook: hook, Version: traceSampleVersion, Payload: w.payload}
	w.put(processor, ticks, &w.rec)
}

// sample writes a sample and what was recorded along with it.
func (w *traceWriter) sample(s *TraceSample) {
	ptr := w.t.PointerSize
	stamp := w.t.FirstTick + s.Time
	if s.Source == SourceTimer {
		w.payload = AppendSample(w.payload[:0], &Sample{IP: s.IP, TID: s.TID, Count: 1}, ptr)
		w.perfInfo(s.Processor, s.Time, HookSample)
	} else {
		w.payload = AppendPMCSample(w.payload[:0], &PMCSample{IP: s.IP, TID: s.TID, Source: s.Source}, ptr)
		w.perfInfo(s.Processor, s.Time, HookPMCSample)
	}
	if s.Branches != nil {
		w.payload = AppendLBR(w.payload[:0], &LBR{Time: stamp, PID: s.PID, TID: s.TID, Options: s.LBROption, Branches: s.Branches}, ptr)
		w.perfInfo(s.Processor, s.Time+1, HookLBR)
	}
	kernel := 0
	for kernel < len(s.Stack) && w.t.isKernel(s.Stack[kernel]) {
		kernel++
	}
	w.stack(s, s.Time+2, s.Stack[:kernel], HookStackKeyKernel)
	w.stack(s, s.Time+3, s.Stack[kernel:], HookStackKeyUser)
}

// stack writes one part of a stack, whole or as a key.
func (w *traceWriter) stack(s *TraceSample, ticks int64, frames []uint64, keyHook Hook) {
	if len(frames) == 0 {
		return
	}
	stamp := w.t.FirstTick + s.Time
	if !w.t.StackKeys {
		w.payload = AppendStack(w.payload[:0], &Stack{Time: stamp, PID: s.PID, TID: s.TID, Frames: frames}, w.t.PointerSize)
		w.perfInfo(s.Processor, ticks, HookStackWalk)
		return
	}
	w.frames = putFrames(w.frames[:0], frames, 8)
	key, ok := w.keys[string(w.frames)]
	if !ok {
		key = uint64(len(w.stacks) + 1)
		w.keys[string(w.frames)] = key
		w.stacks = append(w.stacks, StackDef{Key: key, Frames: slices.Clone(frames)})
	}
	w.payload = AppendStackKey(w.payload[:0], &StackKey{Time: stamp, PID: s.PID, TID: s.TID, Key: key}, w.t.PointerSize)
	w.perfInfo(s.Processor, ticks, keyHook)
}

// defineStacks writes the stacks of all keys, as the end of a session does.
func (w *traceWriter) defineStacks() {
	for i := range w.stacks {
		w.payload = AppendStackDef(w.payload[:0], &w.stacks[i], w.t.PointerSize)
		w.perfInfo(0, w.t.Duration, HookStackKeyDCEnd)
	}
}

// headerType gives the 32-bit partner of a 64-bit header type where the trace
// has 32 bits.
func (t *Trace) headerType(t64 HeaderType) HeaderType {
	if t.PointerSize == 8 {
		return t64
	}
	switch t64 {
	case HeaderFull64:
		return HeaderFull32
	case HeaderSystem64:
		return HeaderSystem32
	}
	return HeaderPerfInfo32
}

// sideBand returns all events but the samples, in order of time; those of the
// same time in the order in which Windows writes them.
func (t *Trace) sideBand() []TraceEvent {
	var events []TraceEvent
	add := func(ticks int64, r Record) {
		events = append(events, TraceEvent{Time: ticks, Record: r})
	}
	if t.Arch != 0 {
		c := CPUConfig{MHz: 3000, Processors: uint32(t.Processors), MemoryMiB: 16384, PageSize: 4096, AllocationGranularity: 65536,
			Computer: "MACHINE", HasArch: true, Arch: t.Arch}
		add(0, t.system(HookCPUConfig, traceConfigVersion, AppendCPUConfig(nil, &c, traceConfigVersion, t.PointerSize)))
	}
	if t.Merged {
		for i := range t.Volumes {
			add(0, Record{Type: t.headerType(HeaderFull64), GUID: SystemConfigGUID, Opcode: volumeMapping, Version: 2, TID: NoThread, PID: NoThread,
				Payload: AppendVolume(nil, &t.Volumes[i])})
		}
	}
	for i := range t.Sources {
		payload := AppendInterval(nil, &t.Sources[i], traceIntervalVersion, t.PointerSize)
		add(0, t.perfInfo(HookCollectionStart, traceIntervalVersion, payload))
		add(t.Duration, t.perfInfo(HookCollectionEnd, traceIntervalVersion, payload))
	}
	for i := range t.Kernel {
		t.addImage(add, &t.Kernel[i], 0, 0, 0)
	}
	for i := range t.Processes {
		t.addProcess(add, &t.Processes[i])
	}
	events = append(events, t.Events...)
	slices.SortStableFunc(events, func(a, b TraceEvent) int { return cmp.Compare(a.Time, b.Time) })
	return events
}

// addProcess adds the events of a process, its threads and images.
func (t *Trace) addProcess(add func(int64, Record), p *TraceProcess) {
	process := AppendProcess(nil, &Process{Key: uint64(p.PID), PID: p.PID, ParentPID: p.ParentPID, SessionID: 1, SID: systemSID,
		Image: p.Name, CommandLine: p.CommandLine}, traceProcessVersion, t.PointerSize)
	life := func(payload []byte, version uint16, start, end, dcStart, dcEnd Hook) {
		switch {
		case p.Start > 0:
			r := t.system(start, version, payload)
			r.TID, r.PID = p.ParentPID, p.ParentPID // the parent logs it
			add(p.Start, r)
		case !t.EndRundown:
			add(0, t.system(dcStart, version, payload))
		}
		switch {
		case p.End > 0:
			r := t.system(end, version, payload)
			r.PID = p.PID
			add(p.End, r)
		case t.EndRundown:
			add(t.Duration, t.system(dcEnd, version, payload))
		}
	}
	life(process, traceProcessVersion, HookProcessStart, HookProcessEnd, HookProcessDCStart, HookProcessDCEnd)
	for _, tid := range p.Threads {
		thread := AppendThread(nil, &Thread{PID: p.PID, TID: tid}, traceThreadVersion, t.PointerSize)
		life(thread, traceThreadVersion, HookThreadStart, HookThreadEnd, HookThreadDCStart, HookThreadDCEnd)
	}
	for i := range p.Images {
		t.addImage(add, &p.Images[i], p.PID, p.Start, p.End)
	}
}

// addImage adds the events of an image in a process that lived from start to
// end.
func (t *Trace) addImage(add func(int64, Record), m *TraceImage, pid uint32, start, end int64) {
	load, unload := cmp.Or(m.Load, start), cmp.Or(m.Unload, end)
	payload := AppendImage(nil, &Image{Base: m.Base, Size: m.Size, PID: pid, Checksum: m.Checksum, TimeDateStamp: m.TimeDateStamp,
		DefaultBase: m.Base, Name: m.Path}, traceImageVersion, t.PointerSize)
	emit := func(ticks int64, hook Hook) {
		if t.Merged {
			t.addImageIDs(add, ticks, m, pid)
		}
		add(ticks, t.perfInfo(hook, traceImageVersion, payload))
	}
	switch {
	case load > 0:
		emit(load, HookImageLoad)
	case !t.EndRundown:
		emit(0, HookImageDCStart)
	}
	switch {
	case unload > 0:
		emit(unload, HookImageUnload)
	case t.EndRundown:
		emit(t.Duration, HookImageDCEnd)
	}
}

// addImageIDs adds what the merge puts before an image event.
func (t *Trace) addImageIDs(add func(int64, Record), ticks int64, m *TraceImage, pid uint32) {
	one := func(id ImageID) {
		add(ticks, Record{Type: t.headerType(HeaderFull64), GUID: ImageIDGUID, Opcode: id.Opcode, Version: 2, TID: NoThread, PID: pid,
			Payload: AppendImageID(nil, &id, t.PointerSize)})
	}
	name := m.Path[strings.LastIndexByte(m.Path, '\\')+1:]
	one(ImageID{Opcode: ImageIDInfo, Base: m.Base, Size: m.Size, PID: pid, TimeDateStamp: m.TimeDateStamp, Name: name})
	if m.PDB == "" {
		one(ImageID{Opcode: ImageIDNone, Base: m.Base, PID: pid})
		return
	}
	one(ImageID{Opcode: ImageIDRSDS, Base: m.Base, PID: pid, GUID: m.PDBGUID, Age: m.PDBAge, Name: m.PDB})
}

// system makes a SYSTEM record without a thread.
func (t *Trace) system(hook Hook, version uint16, payload []byte) Record {
	return Record{Type: t.headerType(HeaderSystem64), Hook: hook, Version: version, TID: NoThread, PID: NoThread, Payload: payload}
}

// perfInfo makes a PERFINFO record.
func (t *Trace) perfInfo(hook Hook, version uint16, payload []byte) Record {
	return Record{Type: t.headerType(HeaderPerfInfo64), Hook: hook, Version: version, Payload: payload}
}
