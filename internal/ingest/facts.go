package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
)

// Facts is what one input says of itself and what became of its samples.
type Facts struct {
	File   string
	Format string // "perf.data", "etl" or "spt"
	Detail string // such as "pipe, compressed"
	Weight uint64 // how often the hits count

	Host, Kernel, CPU, Arch string // empty where the input does not say

	// What the file holds, before any filter.
	Samples, BranchEntries, CallchainFrames uint64

	Lost           uint64            // samples that the recorder lost
	Losses         map[string]uint64 // losses by kind of record
	Records        map[string]uint64 // records by kind
	UnknownRecords map[string]uint64 // records of kinds that are not known

	Truncated bool        // the data ends early
	Damage    *diag.Error // where the input is damaged; nil: nowhere

	SPERecords uint64 // of Arm SPE, which are no sample records
	SPE        *SPE   // what they are; nil: the input has none

	Managed *Managed // samples in managed code; nil: none
	Stacks  []Stacks // events with branch stacks

	Stats    *sample.Stats
	Warnings []*diag.Error
}

func newFacts(file, format string) *Facts {
	return &Facts{
		File: file, Format: format, Stats: sample.NewStats(),
		Losses: map[string]uint64{}, Records: map[string]uint64{}, UnknownRecords: map[string]uint64{},
	}
}

// warn keeps a warning about this input.
func (f *Facts) warn(w *diag.Error) {
	if w.File == "" {
		w.File = f.File
	}
	f.Warnings = append(f.Warnings, w)
}

// conclude adds the warnings that only the result can tell.
func (f *Facts) conclude(o *Options) {
	for _, name := range sortedNames(f.Stats.Events) {
		switch e := f.Stats.Events[name]; {
		case !o.Events.Wanted(name):
		case e.Opcode == 0:
			w := diag.New(diag.UnknownEvents, "event %s has no opcode", name)
			w.Count = e.Samples
			f.warn(w)
		case e.MaxPeriod/2 > e.MinPeriod && !o.WeighByPeriod:
			f.warn(diag.New(diag.VaryingPeriods, "the period of %s varies from %d to %d", name, e.MinPeriod, e.MaxPeriod))
		}
	}
	if len(f.UnknownRecords) > 0 {
		var list []string
		for _, name := range sortedNames(f.UnknownRecords) {
			list = append(list, fmt.Sprintf("%d of type %s", f.UnknownRecords[name], name))
		}
		f.warn(diag.New(diag.UnknownRecords, "skipped %s", strings.Join(list, ", ")))
	}
	for _, s := range []*sample.Account{&f.Stats.Samples, &f.Stats.SPERecords} {
		if unmapped := s[sample.Unmapped] + s[sample.UnknownProcess]; unmapped*5 > s.Total() {
			f.warn(diag.New(diag.MostlyUnmapped, "%d of %d samples fall into no known binary", unmapped, s.Total()))
		}
	}
}

// sortedNames returns the keys of m in order.
func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
