package ingest

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// perfTrace is a perf.data recording on its way to hits: first its side-band
// records become the history of address spaces, then workers resolve its
// samples in any order.
type perfTrace struct {
	options  *Options
	registry sample.Registry
	file     *perfdata.File
	facts    *Facts

	side      []sideEvent
	sideBytes int64            // what is kept of the side band takes about so much
	evidence  []*evidence      // of the files that are mapped
	byPath    map[string]int32 // evidence by path and build id
	objects   []*object        // by evidence
	hits      []uint64         // samples by object
	locator   *locator
	processes []process
	space     *addrspace.Space
	spe       *speTrace // nil: there are no Arm SPE data
	timeConv  *perfdata.TimeConv
	events    map[*perfdata.Attr]*perfEvent
	watched   []*perfEvent // of which samples collects windows
	kernelLow uint64       // lowest kernel address of the recorded machine
	from, to  uint64       // times that are wanted

	// Records of old files have no time; they take that of the sample before.
	clock        uint64
	clockDecoder *perfdata.Decoder // nil if records have times
	clockSample  perfdata.Sample
}

// readPerf reads an open recording to its end.
func readPerf(ctx context.Context, f *perfdata.File, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) (*Facts, error) {
	t := &perfTrace{
		options: o, registry: reg, file: f, facts: newFacts(name, "perf.data"),
		byPath: map[string]int32{}, events: map[*perfdata.Attr]*perfEvent{}, to: addrspace.Forever,
	}
	index, err := t.scan(ctx)
	if err != nil {
		return t.facts, err
	}
	t.sortSide()
	t.describe(index)
	t.resolve()
	t.hits = make([]uint64, len(t.objects))
	if t.spe != nil {
		for i := range t.side {
			t.spe.pids = append(t.spe.pids, t.side[i].pid)
		}
	}
	t.replay()
	if t.spe != nil {
		t.spe.prepare()
	}
	for _, a := range f.Attrs {
		t.events[a] = t.newEvent(a)
	}
	if err := t.findTimes(index); err != nil {
		return t.facts, err
	}
	if err := t.weighStacks(ctx, index); err != nil {
		return t.facts, err
	}
	err = t.samples(ctx, index, newSink)
	t.conclude()
	return t.facts, err
}

// scan walks all records once and keeps the side-band events.
func (t *perfTrace) scan(ctx context.Context) (*perfdata.Index, error) {
	for _, a := range t.file.Attrs {
		if a.Flags&perfdata.FlagSampleIDAll == 0 && t.clockDecoder == nil {
			t.clockDecoder = t.file.NewDecoder(perfdata.SampleTime)
		}
	}
	t.findSPE()
	rs := t.file.Records()
	defer rs.Close()
	for n := 0; rs.Next(); n++ {
		if n%4096 == 0 {
			if err := cmp.Or(ctx.Err(), t.sideFits()); err != nil {
				return nil, err
			}
		}
		t.sideBand(rs.Record())
	}
	return rs.Index(), rs.Err()
}

// describe fills in what the recording says of itself.
func (t *perfTrace) describe(index *perfdata.Index) {
	f, facts := t.file, t.facts
	facts.Host, facts.Kernel, facts.Arch = f.Features.Hostname, f.Features.OSRelease, f.Features.Arch
	t.kernelLow = 1 << 63
	if arch := facts.Arch; len(arch) == 4 && strings.HasPrefix(arch, "i") && strings.HasSuffix(arch, "86") || strings.HasPrefix(arch, "armv") {
		t.kernelLow = 0xc0000000 // the usual split of 32-bit kernels
	}
	facts.CPU = strings.TrimSpace(f.Features.CPUDesc)
	if facts.CPU == "" {
		facts.CPU = f.Features.CPUID
	}
	var detail []string
	for _, d := range []struct {
		is   bool
		text string
	}{
		{f.Header.Pipe, "pipe"}, {f.Header.BigEndian, "big-endian"}, {f.Features.DirFormat != 0, "directory"},
		{index.Counts.Of(perfdata.TypeCompressed)+index.Counts.Of(perfdata.TypeCompressed2) > 0, "compressed"},
		{f.Features.Simpleperf(), "simpleperf"}, {f.Features.Hiperf(), "hiperf"},
		{!f.Header.Pipe && !f.Header.Closed, "not closed"},
	} {
		if d.is {
			detail = append(detail, d.text)
		}
	}
	facts.Detail = strings.Join(detail, ", ")
	facts.Samples = index.Counts.Of(perfdata.TypeSample)
	for _, c := range index.Counts.All() {
		name := c.Type.String()
		facts.Records[name] = c.Count
		if !c.Type.Known() {
			facts.UnknownRecords[name] = c.Count
		}
	}
	t.losses(index)
	switch stop := firstStop(f, index); {
	case stop != nil:
		facts.Damage = diag.Of(binfmt.InFile(stop, facts.File))
		facts.Truncated = errors.Is(stop, binfmt.ErrTruncated)
	case !f.Header.Pipe && !f.Header.Closed:
		facts.Truncated = true
		facts.Damage = diag.New(diag.Truncated, "the recording was not closed; its records were read to the end").In(facts.File).
			Because("The recorder was killed or the machine went down.").
			Do("Stop perf record with SIGINT and wait until it ends.")
	}
	for _, w := range f.Warnings {
		facts.warn(&diag.Error{Code: diag.DamagedPart, Message: w.Error(), Cause: diag.Codes[diag.DamagedPart].Cause, Next: diag.Codes[diag.DamagedPart].Next})
	}
}

// firstStop is where the data ends before it should, nil if nowhere.
func firstStop(f *perfdata.File, index *perfdata.Index) error {
	if len(index.Stops) > 0 {
		return index.Stops[0]
	}
	if f.Truncated != nil {
		return f.Truncated
	}
	return nil
}

func (t *perfTrace) losses(index *perfdata.Index) {
	for _, l := range []struct {
		name string
		n    uint64
		lost bool // samples are missing because of it
	}{
		{"lost_records", index.Lost, true}, {"lost_samples", index.LostSamples, true},
		{"filtered_by_bpf", index.Filtered, false}, {"throttled", index.Throttled(), false},
		{"compressed_records", index.LostPieces, false},
	} {
		if l.n > 0 {
			t.facts.Losses[l.name] = l.n
		}
		if l.lost {
			t.facts.Lost = binfmt.SatAdd(t.facts.Lost, l.n)
		}
	}
	if t.facts.Lost > 0 {
		w := diag.New(diag.LostSamples, "%d of %d samples were lost", t.facts.Lost, binfmt.SatAdd(t.facts.Lost, t.facts.Samples))
		w.Count = t.facts.Lost
		t.facts.warn(w)
	}
}

// findTimes turns the time filter into time stamps.
func (t *perfTrace) findTimes(index *perfdata.Index) error {
	if t.options.Time == nil {
		return nil
	}
	start := t.file.Features.FirstSample
	if start == 0 {
		start = addrspace.Forever
		source := t.file.Chunks(index)
		defer source.Close()
		decoder := t.file.NewDecoder(perfdata.SampleTime)
		var c perfdata.Chunk
		for source.Next(&c) {
			for decoder.Reset(&c); decoder.Next(); {
				start = min(start, decoder.Sample().Time)
			}
		}
		if err := source.Err(); err != nil {
			return err
		}
		if t.spe != nil {
			first, err := t.spe.firstTime()
			if err != nil {
				return err
			}
			start = min(start, first)
		}
	}
	t.from, t.to = t.options.Time.nanoseconds(start)
	return nil
}

// samples decodes and resolves all samples.
func (t *perfTrace) samples(ctx context.Context, index *perfdata.Index, newSink func() sample.Sink) error {
	source := t.file.Chunks(index)
	defer source.Close()
	workers := make([]*perfWorker, max(1, t.options.Workers))
	var windows []*windowWorker
	var group sync.WaitGroup
	spe := newSPESource(t)
	for i := range workers {
		w := newPerfWorker(t, newSink())
		workers[i] = w
		if len(t.watched) > 0 {
			w.windows = newWindowWorker(t, nil)
			windows = append(windows, w.windows)
		}
		group.Go(func() {
			w.run(ctx, source)
			spe.run(ctx, w)
		})
	}
	group.Wait()
	for _, w := range workers {
		w.finish()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.judgeWatched(windows)
	return errors.Join(source.Err(), spe.finish())
}

// conclude adds the warnings that only the result can tell.
func (t *perfTrace) conclude() {
	t.locator.report(t.objects, t.hits)
	t.facts.conclude(t.options)
}
