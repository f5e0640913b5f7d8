package ingest

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/spgo-tools/spgo/pkg/etl"
)

// stamped is an event with its place in the order of a recording: by time,
// then by file, buffer and place in the buffer.
type stamped[T any] struct {
	time                 uint64
	file, buffer, offset int32
	event                T
}

// order compares the places of two events.
func (s *stamped[T]) order(time uint64, file, buffer, offset int32) int {
	return cmp.Or(cmp.Compare(s.time, time), cmp.Compare(s.file, file), cmp.Compare(s.buffer, buffer), cmp.Compare(s.offset, offset))
}

// sortEvents brings events into the order of a recording.
func sortEvents[T any](events []stamped[T]) {
	slices.SortFunc(events, func(a, b stamped[T]) int { return a.order(b.time, b.file, b.buffer, b.offset) })
}

// Side-band events, of which only what matters is kept.
type (
	processEvent struct {
		what occurrence
		pid  uint32
		key  uint64 // tells processes with one id apart
		name string
	}
	threadEvent struct {
		what     occurrence
		tid, pid uint32
	}
	imageEvent struct {
		what occurrence
		etl.Image
	}
	methodEvent struct {
		what occurrence
		pid  uint32
		managedMethod
	}
	moduleEvent struct {
		what occurrence
		pid  uint32
		id   uint64
		managedModule
	}
)

// sideBand is what has to be seen in the order of time.
type sideBand struct {
	processes   []stamped[processEvent]
	threads     []stamped[threadEvent]
	images      []stamped[imageEvent]
	ids         []stamped[etl.ImageID]
	intervals   []stamped[etl.Interval]
	volumes     []stamped[etl.Volume]
	methods     []stamped[methodEvent]
	modules     []stamped[moduleEvent]
	definitions []stamped[etl.StackDef]
	masks       []stamped[groupMask]
	machines    []stamped[etl.CPUConfig]
}

// take moves the events of o to s.
func (s *sideBand) take(o *sideBand) {
	s.processes = append(s.processes, o.processes...)
	s.threads = append(s.threads, o.threads...)
	s.images = append(s.images, o.images...)
	s.ids = append(s.ids, o.ids...)
	s.intervals = append(s.intervals, o.intervals...)
	s.volumes = append(s.volumes, o.volumes...)
	s.methods = append(s.methods, o.methods...)
	s.modules = append(s.modules, o.modules...)
	s.definitions = append(s.definitions, o.definitions...)
	s.masks = append(s.masks, o.masks...)
	s.machines = append(s.machines, o.machines...)
	*o = sideBand{}
}

// sort brings all events into the order of time. Stack definitions are sorted
// by the table that they go to.
func (s *sideBand) sort() {
	sortEvents(s.processes)
	sortEvents(s.threads)
	sortEvents(s.images)
	sortEvents(s.ids)
	sortEvents(s.intervals)
	sortEvents(s.volumes)
	sortEvents(s.methods)
	sortEvents(s.modules)
	sortEvents(s.masks)
	sortEvents(s.machines)
}

// joining are the classes of records that belong to a sample.
const joining = etl.ClassLBR | etl.ClassStack | etl.ClassStackKey

// scan is the first pass. It gathers the side band, and the tables of samples
// where stacks or branches have to find them.
func (t *etlTrace) scan(ctx context.Context) (*sideBand, error) {
	tables, err := t.probe(ctx)
	if err != nil {
		return nil, err
	}
	all := &etlScan{}
	for _, f := range t.files {
		if err := t.scanFile(ctx, f, etl.AllClasses, tables, all); err != nil {
			return nil, err
		}
	}
	joins := uint64(0)
	for _, f := range t.files {
		joins += f.count(joining)
	}
	for _, f := range t.files {
		switch {
		case joins == 0:
			f.table = nil
		case !tables:
			if err := t.scanFile(ctx, f, etl.ClassSample|etl.ClassPMC, true, &etlScan{}); err != nil {
				return nil, err
			}
		}
	}
	if all.narrow && !all.wide {
		t.kernelLow = kernelLow32
	}
	all.side.sort()
	t.sampled = all.sources
	return &all.side, nil
}

// probeBytes is how much of a recording is looked at by probe.
var probeBytes = 16 << 20 // changed by a test

// probe says whether stacks or branches show up early in the recording. Tables
// of samples take memory that a recording without them should not cost, and a
// pass of their own is slow.
func (t *etlTrace) probe(ctx context.Context) (bool, error) {
	read := 0
	for _, f := range t.files {
		decoder := f.NewDecoder(joining)
		for i, b := range f.Buffers() {
			if read >= probeBytes || ctx.Err() != nil {
				return false, ctx.Err()
			}
			read += int(b.Stored)
			records := decoder.Buffer(i)
			if records.Next() {
				return true, nil
			}
			if err := records.Err(); err != nil && !etl.IsDamage(err) {
				return false, err
			}
		}
	}
	return false, nil
}

// scanFile scans one file with all workers and adds what they find to all. It
// makes the table of samples if that is asked for.
func (t *etlTrace) scanFile(ctx context.Context, f *etlFile, want etl.Class, table bool, all *etlScan) error {
	scans := make([]*etlScan, t.workers())
	var lists []*sampleList
	for i := range scans {
		scans[i] = &etlScan{file: f.number}
		if table {
			scans[i].list = &sampleList{}
			lists = append(lists, scans[i].list)
		}
	}
	damage, bad, err := t.eachBuffer(ctx, f, want, func(worker, buffer int, r *etl.Records) {
		scans[worker].buffer(buffer, r)
	})
	for _, s := range scans {
		all.side.take(&s.side)
		all.wide, all.narrow = all.wide || s.wide, all.narrow || s.narrow
		all.sources.add(&s.sources)
		if want != etl.AllClasses {
			continue
		}
		for i, n := range s.records {
			f.records[i] += n
		}
		f.facts.Samples += s.samples
		for class, n := range s.malformed {
			f.facts.Losses["malformed_"+className(class)] += n
		}
	}
	if table {
		f.table = newSampleTable(lists)
	}
	if want == etl.AllClasses {
		f.damage, f.bad = damage, bad
	}
	return err
}

// etlScan is what one worker gathers from the buffers of one file in the first
// pass.
type etlScan struct {
	file      int32
	list      *sampleList // takes the samples; nil: not asked for
	side      sideBand
	records   [32]uint64           // by bit number of the class
	malformed map[etl.Class]uint64 // payloads that do not follow their layout
	samples   uint64
	sources   sourceSet // that the samples have
	wide      bool      // there are events of a 64-bit kernel
	narrow    bool      // the same of a 32-bit kernel
	cache     []etl.Sample
}

// buffer gathers from one buffer.
func (s *etlScan) buffer(buffer int, records *etl.Records) {
	if s.list != nil {
		s.list.begin()
	}
	for records.Next() {
		r := records.Record()
		s.records[bits.TrailingZeros32(uint32(r.Class))]++
		if err := s.record(r, int32(buffer)); err != nil {
			if r.Class&(etl.ClassSample|etl.ClassPMC) != 0 {
				s.samples++
			}
			if s.malformed == nil {
				s.malformed = map[etl.Class]uint64{}
			}
			s.malformed[r.Class]++
		}
	}
}

// add keeps an event with its place.
func add[T any](list *[]stamped[T], s *etlScan, r *etl.Record, buffer int32, event T) {
	*list = append(*list, stamped[T]{ticks(r.Time), s.file, buffer, int32(r.Offset), event})
}

// ticks is a time stamp as address spaces count time. No clock is negative.
func ticks(time int64) uint64 { return uint64(max(time, 0)) }

// record keeps what matters of one record. It returns an error for a payload
// that does not follow its layout.
func (s *etlScan) record(r *etl.Record, buffer int32) (err error) {
	switch r.Class {
	case etl.ClassSample:
		s.width(r)
		return s.sample(r)
	case etl.ClassPMC:
		s.width(r)
		var p etl.PMCSample
		if err = etl.DecodePMCSample(r, &p); err == nil {
			s.found(r.Time, p.TID, p.Source, false)
		}
	case etl.ClassProcess:
		var p etl.Process
		if err = etl.DecodeProcess(r, &p); err == nil && r.Hook != etl.HookProcessDefunct {
			add(&s.side.processes, s, r, buffer, processEvent{occurrenceOf(r.Hook), p.PID, p.Key, p.Image})
		}
	case etl.ClassThread:
		s.width(r)
		var t etl.Thread
		if err = etl.DecodeThread(r, &t); err == nil {
			add(&s.side.threads, s, r, buffer, threadEvent{occurrenceOf(r.Hook), t.TID, t.PID})
		}
	case etl.ClassImage:
		s.width(r)
		var m etl.Image
		if err = etl.DecodeImage(r, &m); err == nil {
			add(&s.side.images, s, r, buffer, imageEvent{occurrenceOf(r.Hook), m})
		}
	case etl.ClassImageID:
		// Managed debug data identifies other code than that of the image.
		if r.Opcode != etl.ImageIDInfo && r.Opcode != etl.ImageIDRSDS {
			return nil
		}
		var m etl.ImageID
		if err = etl.DecodeImageID(r, &m); err == nil {
			add(&s.side.ids, s, r, buffer, m)
		}
	case etl.ClassInterval:
		if r.Hook == etl.HookCounterNames {
			return nil // counters of counting mode do not sample
		}
		var i etl.Interval
		if err = etl.DecodeInterval(r, &i); err == nil {
			add(&s.side.intervals, s, r, buffer, i)
		}
	case etl.ClassSystem:
		return s.system(r, buffer)
	case etl.ClassStackDef:
		var d etl.StackDef
		if err = etl.DecodeStackDef(r, &d); err == nil {
			add(&s.side.definitions, s, r, buffer, d)
		}
	case etl.ClassCLR:
		return s.managed(r, buffer)
	case etl.ClassOther:
		if mask, ok := groupMaskOf(r); ok {
			add(&s.side.masks, s, r, buffer, mask)
		}
	}
	return err
}

// occurrenceOf is what the event of a hook tells; all but beginnings and ends
// are rundowns.
func occurrenceOf(h etl.Hook) occurrence {
	switch h {
	case etl.HookProcessStart, etl.HookThreadStart, etl.HookImageLoad, etl.HookImageLoadByGUID:
		return begins
	case etl.HookProcessEnd, etl.HookThreadEnd, etl.HookImageUnload:
		return ends
	}
	return present
}

// width notes the pointer size of a kernel event.
func (s *etlScan) width(r *etl.Record) {
	if r.PointerSize == 8 {
		s.wide = true
	} else {
		s.narrow = true
	}
}

// sample takes a sampled profile event or a cache of some.
func (s *etlScan) sample(r *etl.Record) (err error) {
	s.cache = append(s.cache[:0], etl.Sample{})
	if r.Hook == etl.HookSampleCache {
		s.cache, err = etl.DecodeSampleCache(r, s.cache[:0])
	} else {
		err = etl.DecodeSample(r, &s.cache[0])
	}
	if err != nil {
		return err
	}
	for i := range s.cache {
		s.found(r.Time, s.cache[i].TID, etl.SourceTimer, s.cache[i].Idle())
	}
	return nil
}

// found counts a sample and puts it into the table.
func (s *etlScan) found(time int64, tid uint32, source uint16, idle bool) {
	s.samples++
	s.sources[source/64] |= 1 << (source % 64)
	if s.list != nil {
		s.list.add(time, tid, source, idle)
	}
}

// system takes the configuration of the machine or the name of a volume.
func (s *etlScan) system(r *etl.Record, buffer int32) error {
	if r.Hook == etl.HookCPUConfig {
		var c etl.CPUConfig
		if err := etl.DecodeCPUConfig(r, &c); err != nil {
			return err
		}
		add(&s.side.machines, s, r, buffer, c)
		return nil
	}
	var v etl.Volume
	if err := etl.DecodeVolume(r, &v); err != nil {
		return err
	}
	add(&s.side.volumes, s, r, buffer, v)
	return nil
}

// managed takes an event of the CLR. Precompiled methods lie in images, so
// only those compiled at run time are kept.
func (s *etlScan) managed(r *etl.Record, buffer int32) error {
	occurrences := [...]occurrence{etl.CLRLoad: begins, etl.CLRUnload: ends, etl.CLRDCStart: present, etl.CLRDCEnd: present}
	if !etl.IsCLRMethod(r) {
		var m etl.CLRModule
		if err := etl.DecodeCLRModule(r, &m); err != nil {
			return err
		}
		add(&s.side.modules, s, r, buffer, moduleEvent{occurrences[m.Action], r.PID, m.ModuleID,
			managedModule{il: m.ILPath, native: m.NativePath}})
		return nil
	}
	var m etl.CLRMethod
	if err := etl.DecodeCLRMethod(r, &m); err != nil {
		return err
	}
	const compiled = etl.CLRMethodJitted | etl.CLRMethodDynamic | etl.CLRMethodJITHelper
	if m.Flags&compiled != 0 {
		add(&s.side.methods, s, r, buffer, methodEvent{occurrences[m.Action], r.PID, newManagedMethod(&m)})
	}
	return nil
}
