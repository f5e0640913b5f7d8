package ingest

import (
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// speCommand is the recording that suits profiles best.
const speCommand = "perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u"

const (
	speLargeBytes  = 1 << 30 // of trace: more hardly makes a profile better
	speEnoughBytes = 1 << 28
)

// adviseSPE warns where SPE data suit profiles badly, with the command that
// would have been better.
func (t *perfTrace) adviseSPE(f *SPE) {
	warn := func(code diag.Code, count uint64, format string, args ...any) *diag.Error {
		w := diag.New(code, format, args...)
		w.Count = count
		t.facts.warn(w)
		return w
	}
	for _, c := range t.spe.configs {
		t.adviseConfig(c, f, warn)
	}
	sound := f.User + f.Kernel + f.Other
	if f.Speculative > 0 {
		warn(diag.SPESpeculative, f.Speculative, "%s of the records are of operations that did not retire; they were left out", percent(f.Speculative, sound))
	}
	if f.User == 0 && f.Kernel > 0 {
		warn(diag.SPEKernelOnly, f.Kernel, "all %d records are of the kernel", f.Kernel)
	}
	if n := f.Attribution[attributionNames[byStart]] + f.Attribution[attributionNames[byMap]] + f.Attribution[attributionNames[byNothing]]; f.Contexts == 0 && n > 0 {
		warn(diag.SPENoContext, n, "the records have no context packets; the processes of %d records are guesses, or not known", n)
	}
	damaged := uint64(0)
	var kinds []string
	for _, state := range sortedNames(f.Damaged) {
		damaged += f.Damaged[state]
		kinds = append(kinds, fmt.Sprintf("%d %s", f.Damaged[state], state))
	}
	if damaged > 0 {
		warn(diag.SPEDamaged, damaged, "%d of %d records cannot be used (%s)", damaged, f.Records, strings.Join(kinds, ", "))
	}
	if n := f.Written.Truncated + f.Written.Partial; n > 0 {
		warn(diag.SPELost, n, "the kernel could not store all of the trace (%d truncated, %d partial pieces)", f.Written.Truncated, f.Written.Partial)
	}
	t.adviseRate(f, warn)
	var uops []string
	for _, q := range t.spe.queues {
		if name := q.midr.Name(); q.midr.SamplesMicroOps() && !strings.Contains(strings.Join(uops, ","), name) {
			uops = append(uops, name)
		}
	}
	if len(uops) > 0 && !t.onlyBranches() {
		warn(diag.SPEMicroOps, 0, "%s samples micro-operations: an instruction that is split counts several times", strings.Join(uops, ", "))
	}
}

// onlyBranches says whether all records are of branches.
func (t *perfTrace) onlyBranches() bool {
	for _, c := range t.spe.configs {
		if c.attr.Config&speOpFilters != speBranchFilter {
			return false
		}
	}
	return len(t.spe.configs) > 0
}

// adviseConfig warns about settings.
func (t *perfTrace) adviseConfig(c *speConfig, f *SPE, warn func(diag.Code, uint64, string, ...any) *diag.Error) {
	name := c.attr.String()
	if c.has(speDiscard) {
		warn(diag.SPEDiscard, 0, "%s was recorded in discard mode, which keeps no records", name)
	}
	if !c.branches() {
		var kinds []string
		for _, k := range []struct {
			bit  uint64
			word string
		}{{speLoadFilter, "loads"}, {speStoreFilter, "stores"}, {speSIMDFilter, "SIMD"}, {speFloatFilter, "floating point"}} {
			if c.has(k.bit) {
				kinds = append(kinds, k.word)
			}
		}
		warn(diag.SPEFiltered, 0, "%s has no branches: it was filtered to %s", name, strings.Join(kinds, " and "))
	}
	if n := c.minLatency(); n > 0 {
		warn(diag.SPELatency, n, "%s has only operations of at least %d cycles", name, n)
	}
	if both := c.eventFilter() & c.inverseFilter(); both != 0 {
		warn(diag.SPEContradiction, 0, "%s: event_filter and inv_event_filter both have %v, which is unpredictable", name, both)
	}
	if extra := c.eventFilter() &^ spe.EventRetired; extra != 0 {
		warn(diag.SPEEventFilter, 0, "%s has only operations with %v", name, extra)
	}
	if inverse := c.inverseFilter() &^ c.eventFilter(); inverse != 0 {
		warn(diag.SPEEventFilter, 0, "%s has no operations with %v", name, inverse)
	}
	if !c.has(speJitter) && f.Records > 0 {
		warn(diag.SPENoJitter, 0, "%s samples at a fixed interval, without jitter", name)
	}
}

// adviseRate warns about intervals that are too small.
func (t *perfTrace) adviseRate(f *SPE, warn func(diag.Code, uint64, string, ...any) *diag.Error) {
	interval := uint64(1024)
	for _, c := range f.Configs {
		interval = max(c.Interval, c.MinInterval, interval)
	}
	pieces := t.facts.Records[perfdata.TypeAux.String()]
	population, collisions := f.Counts["sample_pop"], f.Counts["sample_collision"]
	const often = 10 // one in
	if n := f.Written.Collision; n > 0 && n*often >= pieces || collisions > 0 && collisions*100 >= population*often/10 {
		warn(diag.SPECollisions, max(n, collisions), "operations were not sampled because others were in flight (%d of %d pieces of the trace, %d collisions)", n, pieces, collisions).
			Do("Record with a greater interval: %s -c %d", speCommand, interval*4)
	}
	if f.Bytes >= speLargeBytes {
		factor := (f.Bytes + speEnoughBytes - 1) / speEnoughBytes
		warn(diag.SPELarge, f.Records, "the trace has %d MB", f.Bytes>>20).
			Do("Record with a greater interval: %s -c %d", speCommand, interval*factor)
	}
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// concludeSPE finishes the account of SPE records.
func (t *perfTrace) concludeSPE(total *speStats) {
	s := t.spe
	for name, e := range t.facts.Stats.Events {
		if isSPECounter(name) {
			s.counts[counterName(name)] = max(s.counts[counterName(name)], e.Samples*max(e.MinPeriod, 1))
		}
	}
	f := total.finish(s)
	t.facts.SPE = f
	t.facts.SPERecords = f.Records
	if f.Records > 0 || len(s.configs) > 0 {
		t.adviseSPE(f)
	}
}
