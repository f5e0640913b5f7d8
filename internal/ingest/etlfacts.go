package ingest

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// classNames are the names of the classes of records, by bit number.
var classNames = [...]string{
	"log_file_header", "process", "thread", "image", "sampled_profile", "pmc_sample", "interval", "stack_walk",
	"stack_key", "stack_definition", "lbr", "image_id", "system", "clr", "lost_events", "other",
}

func className(c etl.Class) string { return classNames[bits.TrailingZeros32(uint32(c))] }

// count is the number of records of some classes.
func (f *etlFile) count(classes etl.Class) (n uint64) {
	for i, records := range f.records {
		if classes&(1<<i) != 0 {
			n += records
		}
	}
	return n
}

// count is the number of records of some classes in all files.
func (t *etlTrace) count(classes etl.Class) (n uint64) {
	for _, f := range t.files {
		n += f.count(classes)
	}
	return n
}

// describe fills in what the recording says of itself.
func (t *etlTrace) describe(rec *etl.Recording, side *sideBand) {
	machine := &etl.CPUConfig{}
	if len(side.machines) > 0 {
		machine = &side.machines[0].event
	}
	if t.kernelLow == kernelLow32 && machine.HasArch && machine.HighestUserAddress>>32 == 0 && machine.HighestUserAddress >= kernelLow32 {
		t.kernelLow = kernelLow3GB
	}
	for _, f := range t.files {
		if f.facts.Samples > t.main.Samples {
			t.main = f.facts
		}
		f.describe(machine, t.count(etl.ClassImageID) > 0)
		if t.kernelLow != 1<<63 {
			f.facts.Arch = "x86" // the only one of its pointer size that has such traces
		}
	}
	for _, err := range rec.Ignored {
		t.main.warn(diag.New(diag.FileLeftOut, "%v", err))
	}
}

// Where the kernel of a 32-bit Windows begins, and where with the switch that
// gives user programs 3 GB.
const (
	kernelLow32  = 0x80000000
	kernelLow3GB = 0xc0000000
)

// describe fills in what one file says of itself. Merged says that its
// recording has the identities of images.
func (f *etlFile) describe(machine *etl.CPUConfig, merged bool) {
	h, facts := &f.Header, f.facts
	facts.Host = machine.Computer
	facts.Kernel = fmt.Sprintf("Windows %d.%d build %d", h.Version[0], h.Version[1], h.Build)
	facts.CPU = fmt.Sprintf("%d processors", h.Processors)
	if machine.MHz > 0 {
		facts.CPU += fmt.Sprintf(", %d MHz", machine.MHz)
	}
	if machine.HasArch {
		facts.Arch = archNames[machine.Arch]
	}
	packed := false
	for i := range f.Buffers() {
		packed = packed || f.Buffers()[i].Compressed()
	}
	var detail []string
	for _, d := range []struct {
		is   bool
		text string
	}{
		{f.count(etl.ClassImage) > 0 && merged, "merged"}, {f.count(etl.ClassImage) > 0 && !merged, "unmerged"},
		{packed, f.Compression().String() + " compressed"}, {h.Mode&etl.ModeCircular != 0, "circular"}, {h.EndTime == 0, "not closed"},
	} {
		if d.is {
			detail = append(detail, d.text)
		}
	}
	facts.Detail = strings.Join(detail, ", ")
	for i, name := range classNames {
		if n := f.records[i]; n > 0 {
			facts.Records[name] = n
		}
	}
	f.losses()
}

var archNames = map[etl.Arch]string{etl.ArchX86: "x86", etl.ArchARM: "arm", etl.ArchX64: "x86_64", etl.ArchARM64: "aarch64"}

// losses fills in what the session lost and what of the file is damaged.
func (f *etlFile) losses() {
	facts, lost := f.facts, f.Lost()
	records := f.count(etl.ClassLost)
	for name, n := range map[string]uint64{
		"events_lost": uint64(lost.Events), "buffers_lost": uint64(lost.Buffers), "lost_event_records": records,
		"buffers_with_lost_events": uint64(lost.FlaggedEvents), "buffers_after_lost_buffers": uint64(lost.FlaggedBuffers),
	} {
		if n > 0 {
			facts.Losses[name] = n
		}
	}
	// The header's numbers are final only if the session was closed; flags and
	// records tell of single losses.
	events := max(uint64(lost.Events), uint64(lost.FlaggedEvents), records)
	buffers := max(uint64(lost.Buffers), uint64(lost.FlaggedBuffers))
	if facts.Lost = binfmt.SatAdd(events, buffers); facts.Lost > 0 {
		w := diag.New(diag.LostSamples, "%d events and %d buffers were lost", events, buffers).
			Do("Record with more and larger buffers (xperf -BufferSize 4096 -MinBuffers 4096 -MaxBuffers 4096; for WPR raise BufferSize and Buffers in the recording profile) or a longer sampling interval; --max-lost makes it an error.")
		w.Count = facts.Lost
		facts.warn(w)
	}
	damage := f.Damage
	damage.Add(&f.damage)
	unknown, skipped := uint64(0), uint64(0)
	for reason, tally := range damage.All() {
		if reason == etl.UnknownType {
			unknown = tally.Count
			continue
		}
		facts.Losses[strings.ReplaceAll(reason.String(), " ", "_")] = tally.Count
		skipped += tally.Count
	}
	if unknown > 0 {
		facts.UnknownRecords["without known header"] = unknown
	}
	first := f.Defect()
	if first == nil {
		first = f.bad
	}
	switch {
	case first != nil:
		facts.Damage = diag.Of(first).In(facts.File)
		facts.Truncated = errors.Is(first, binfmt.ErrTruncated)
	case skipped > 0:
		w := diag.New(diag.DamagedPart, "%d records or ends of buffers were skipped", skipped)
		w.Count = skipped
		facts.warn(w)
	}
}

// findTimes turns the time filter into time stamps. The recording begins with
// its earliest file.
func (t *etlTrace) findTimes() {
	if t.options.Time == nil {
		return
	}
	first := &t.files[0].Header
	for _, f := range t.files {
		if f.Header.Time < first.Time {
			first = &f.Header
		}
	}
	perSecond := float64(first.PerfFreq)
	switch first.Clock {
	case etl.ClockSystem:
		perSecond = 1e7
	case etl.ClockCycles:
		perSecond = float64(first.CPUMHz) * 1e6
	}
	t.from, t.to = t.options.Time.stamps(ticks(first.Time), max(perSecond, 1))
}

// sum adds the accounts of the workers to those of the files. It returns the
// samples by object and by method compiled at run time.
func (t *etlTrace) sum(workers []*etlWorker) (hits, methods []uint64) {
	hits, methods = make([]uint64, len(t.objects)), make([]uint64, len(t.methods))
	for _, w := range workers {
		for n, tally := range w.tallies {
			t.files[n].add(t, tally)
			for i, h := range tally.hits {
				hits[i] += h
			}
			for i, h := range tally.methods {
				methods[i] += h
			}
		}
	}
	for _, f := range t.files {
		if f.table != nil {
			f.table.settle(f.facts.Stats)
		}
	}
	return hits, methods
}

// foreignSuffix marks in Facts.Records the stacks and branches of events that
// are no samples.
const foreignSuffix = "_of_other_events"

// add adds the account of one worker.
func (f *etlFile) add(t *etlTrace, tally *etlTally) {
	stats, facts := tally.stats, f.facts
	for _, s := range tally.sources {
		s.stats.Opcode = byte(s.opcode)
		stats.Event(s.name).Merge(s.stats)
	}
	for i, n := range tally.hits {
		if n > 0 {
			stats.Hits[t.objects[i].index] += n
		}
	}
	for i, n := range tally.processes {
		if n > 0 {
			stats.Processes[t.processes[i].shown()] += n
		}
	}
	for name, n := range tally.losses {
		facts.Losses[name] += n
	}
	for class, n := range tally.foreign {
		facts.Records[className(class)+foreignSuffix] += n
	}
	facts.BranchEntries += tally.branches
	facts.CallchainFrames += tally.frames
	facts.Stats.Merge(stats)
}

// conclude adds what only the result can tell.
func (t *etlTrace) conclude(workers []*etlWorker, masks []stamped[groupMask]) {
	hits, methods := t.sum(workers)
	t.main.Managed = t.managed(methods, hits)
	t.reportIdentities(hits)
	t.reportProfilers(methods)
	t.explainMissing(masks)
	for _, f := range t.files {
		f.facts.conclude(t.options)
	}
}
