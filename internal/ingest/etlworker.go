package ingest

import (
	"context"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// resolving are the classes of records that the second pass reads.
const resolving = etl.ClassSample | etl.ClassPMC | joining

// resolve is the second pass. It returns the workers with their accounts, also
// with an error.
func (t *etlTrace) resolve(ctx context.Context, newSink func() sample.Sink) (workers []*etlWorker, err error) {
	for range t.workers() {
		workers = append(workers, newETLWorker(t, newSink()))
	}
	for _, f := range t.files {
		for _, w := range workers {
			w.enter(f)
		}
		_, _, err = t.eachBuffer(ctx, f, resolving, func(worker, buffer int, r *etl.Records) {
			workers[worker].buffer(buffer, r)
			if t.options.Progress != nil {
				t.options.Progress(int64(f.Buffers()[buffer].Stored))
			}
		})
		if err != nil {
			break
		}
	}
	owners := map[sampleKey]owner{}
	for _, w := range workers {
		for key, o := range w.owners {
			owners[key] = owners[key].or(o)
		}
	}
	for _, w := range workers {
		w.adopt(owners)
	}
	return workers, err
}

// etlWorker resolves records. Each worker has views and a sink of its own, and
// an account for each file.
type etlWorker struct {
	trace     *etlTrace
	addresses resolver
	code      *addrspace.View
	out       pieces
	pid       uint32 // of the record at hand
	time      uint64 // of its event

	file    *etlFile // the current one
	tally   *etlTally
	tallies []*etlTally // by file

	thread tenure[uint32] // of the last look-up
	tid    uint32
	source sourceTally // of the last look-up
	near   []int       // by file, place of the last look-up in its table

	owners map[sampleKey]owner // of samples whose thread is not known

	// Memory for payloads.
	samples []etl.Sample
	lbr     etl.LBR
	stack   etl.Stack
	key     etl.StackKey
}

// etlTally is the account of one worker for one file.
type etlTally struct {
	stats     *sample.Stats
	sources   map[uint16]sourceTally
	hits      []uint64 // samples by object
	methods   []uint64 // samples by method compiled at run time
	processes []uint64 // samples by process, before any filter
	orphans   []orphan // samples that wait for their process
	branches  uint64
	frames    uint64
	losses    map[string]uint64
	foreign   map[etl.Class]uint64 // stacks and branches of events that are no samples
}

// sourceTally is the account of one profile source.
type sourceTally struct {
	number uint16
	*profileSource
	stats *sample.EventStats
}

func newETLWorker(t *etlTrace, sink sample.Sink) *etlWorker {
	return &etlWorker{
		trace:     t,
		addresses: resolver{user: t.space.NewView(), kernel: t.space.NewView(), objects: t.objects},
		code:      t.code.NewView(), out: pieces{sink: sink, inside: t.options.InsideOnly}, owners: map[sampleKey]owner{},
		near: make([]int, len(t.files)),
	}
}

// enter begins with a file.
func (w *etlWorker) enter(f *etlFile) {
	w.file, w.source = f, sourceTally{}
	w.tally = &etlTally{
		stats: sample.NewStats(), sources: map[uint16]sourceTally{}, losses: map[string]uint64{}, foreign: map[etl.Class]uint64{},
		hits: make([]uint64, len(w.trace.objects)), methods: make([]uint64, len(w.trace.methods)),
		processes: make([]uint64, len(w.trace.processes)),
	}
	w.tallies = append(w.tallies, w.tally)
}

// of returns the account of a profile source.
func (w *etlWorker) of(number uint16) sourceTally {
	if w.source.profileSource != nil && w.source.number == number {
		return w.source
	}
	s, ok := w.tally.sources[number]
	if !ok {
		s = sourceTally{number, w.trace.sources.byNumber[number], &sample.EventStats{}}
		w.tally.sources[number] = s
	}
	w.source = s
	return s
}

// buffer resolves the records of one buffer.
func (w *etlWorker) buffer(buffer int, records *etl.Records) {
	for records.Next() {
		switch r := records.Record(); r.Class {
		case etl.ClassPMC:
			var p etl.PMCSample
			if etl.DecodePMCSample(r, &p) != nil {
				w.tally.stats.Samples.Add(sample.Malformed, 1)
				continue
			}
			w.sample(&etlSample{time: r.Time, ip: p.IP, tid: p.TID, source: p.Source, count: 1})
		case etl.ClassSample:
			if w.decodeSamples(r) != nil {
				w.tally.stats.Samples.Add(sample.Malformed, 1)
				continue
			}
			for i := range w.samples {
				s := &w.samples[i]
				w.sample(&etlSample{time: r.Time, ip: s.IP, tid: s.TID, source: etl.SourceTimer, count: max(s.Count, 1), idle: s.Idle()})
			}
		case etl.ClassLBR:
			if etl.DecodeLBR(r, &w.lbr) == nil {
				w.lastBranches(&w.lbr)
			}
		case etl.ClassStack:
			if etl.DecodeStack(r, &w.stack) == nil {
				w.callStack(r.Class, w.stack.Time, w.stack.PID, w.stack.TID, w.stack.Frames)
			}
		case etl.ClassStackKey:
			if k := &w.key; etl.DecodeStackKey(r, k) == nil {
				frames, ok := w.trace.stacks.find(k.Key, ticks(r.Time), w.file.number, int32(buffer), int32(r.Offset))
				if !ok {
					w.tally.losses["stacks_without_definition"]++
					continue
				}
				w.callStack(r.Class, k.Time, k.PID, k.TID, frames)
			}
		}
	}
}

// decodeSamples reads a sampled profile event or a cache of some.
func (w *etlWorker) decodeSamples(r *etl.Record) (err error) {
	if r.Hook == etl.HookSampleCache {
		w.samples, err = etl.DecodeSampleCache(r, w.samples[:0])
		return err
	}
	w.samples = append(w.samples[:0], etl.Sample{})
	return etl.DecodeSample(r, &w.samples[0])
}
