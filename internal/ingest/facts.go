package ingest

import (
	"slices"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
)

// Facts is what one input says of itself and what became of its samples.
type Facts struct {
	File   string
	Format string // "perf.data", "etl" or "spt"
	Detail string // such as "pipe, compressed"

	Host, Kernel, CPU, Arch string // empty where the input does not say

	// What the file holds, before any filter.
	Samples, BranchEntries, CallchainFrames uint64

	Lost           uint64            // samples that the recorder lost
	Losses         map[string]uint64 // losses by kind of record
	Records        map[string]uint64 // records by kind
	UnknownRecords map[string]uint64 // records of kinds that are not known

	Truncated bool        // the data ends early
	Damage    *diag.Error // where the input is damaged; nil: nowhere

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

// sortedNames returns the keys of m in order.
func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
