package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/ingest"
)

// SPE is what the Arm SPE data of an input hold.
type SPE struct {
	Bytes          uint64            `json:"bytes"`
	Padding        uint64            `json:"padding_bytes"`
	Repeated       uint64            `json:"repeated_bytes"` // that snapshots had twice
	Joined         uint64            `json:"joined_records"` // that stand in two AUXTRACE records
	Damaged        map[string]uint64 `json:"damaged_records"`
	UnknownPackets uint64            `json:"unknown_packets"`
	Speculative    uint64            `json:"speculative_records"`
	User           uint64            `json:"user_records"`
	Kernel         uint64            `json:"kernel_records"`
	Other          uint64            `json:"other_records"`
	Timestamps     uint64            `json:"timestamps"`
	Contexts       uint64            `json:"context_packets"`
	Attribution    map[string]uint64 `json:"attribution"`
	Groups         []SPEGroup        `json:"groups"`
	Branches       SPEBranches       `json:"branches"`
	Sources        map[string]uint64 `json:"data_sources"`
	Written        SPEWritten        `json:"aux_flags"`
	Events         []SPEEvent        `json:"events"`
	Counts         map[string]uint64 `json:"pmu_counts"`
	CPUs           []string          `json:"cpus"`
	Population     string            `json:"population"`           // what is sampled: micro-operations, or unknown
	SomeOperations bool              `json:"some_operations_only"` // hence no instruction samples
}

// SPEGroup is a group of records as perf report shows them, with the latencies
// of its records in cycles.
type SPEGroup struct {
	Name    string  `json:"name"`
	Records uint64  `json:"records"`
	Mean    float64 `json:"latency_mean"`
	Median  uint64  `json:"latency_p50"`
	P90     uint64  `json:"latency_p90"`
	P99     uint64  `json:"latency_p99"`
	Worst   uint64  `json:"latency_max"`
}

// SPEBranches counts the records of branches that retired.
type SPEBranches struct {
	Taken        uint64 `json:"taken"`
	NotTaken     uint64 `json:"not_taken"`
	Mispredicted uint64 `json:"mispredicted"`
	Conditional  uint64 `json:"conditional"`
	Indirect     uint64 `json:"indirect"`
	Calls        uint64 `json:"calls"`
	Returns      uint64 `json:"returns"`
	Exceptions   uint64 `json:"exceptions"`
	Previous     uint64 `json:"previous_targets"`
	Ranges       uint64 `json:"ranges"`
}

// SPEWritten counts AUX records with flags.
type SPEWritten struct {
	Truncated uint64 `json:"truncated"`
	Partial   uint64 `json:"partial"`
	Collision uint64 `json:"collision"`
	Snapshot  uint64 `json:"overwrite"`
}

// SPEEvent is how an SPE event was set up.
type SPEEvent struct {
	Name        string       `json:"name"`
	Interval    uint64       `json:"interval"`
	MinInterval uint64       `json:"min_interval,omitempty"`
	Settings    []SPESetting `json:"settings"`
}

// SPESetting is one setting, or one event of a filter.
type SPESetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Needs string `json:"needs"` // version of the extension
}

// Read is how many samples there were, and records of Arm SPE.
func (a *Aggregation) Read() uint64 { return a.Samples.Read + a.SPERecords.Read }

func newSPE(s *ingest.SPE) *SPE {
	if s == nil {
		return nil
	}
	r := &SPE{
		Bytes: s.Bytes, Padding: s.Padding, Repeated: s.Again, Joined: s.Joined, Damaged: s.Damaged, UnknownPackets: s.Unknown,
		Speculative: s.Speculative, User: s.User, Kernel: s.Kernel, Other: s.Other, Timestamps: s.Timestamps, Contexts: s.Contexts,
		Attribution: s.Attribution, Groups: []SPEGroup{}, Branches: SPEBranches(s.Branches), Sources: s.Sources,
		Written: SPEWritten(s.Written), Events: []SPEEvent{}, Counts: s.Counts, CPUs: s.CPUs, SomeOperations: s.NoInstructions,
	}
	if r.Population = "unknown"; s.MicroOps {
		r.Population = "micro-operations"
	}
	for _, g := range s.Groups {
		l := g.Latency
		r.Groups = append(r.Groups, SPEGroup{g.Name, g.Records, l.Mean, l.Median, l.P90, l.P99, l.Worst})
	}
	for _, c := range s.Configs {
		e := SPEEvent{Name: c.Event, Interval: c.Interval, MinInterval: c.MinInterval, Settings: []SPESetting{}}
		for _, x := range c.Settings {
			e.Settings = append(e.Settings, SPESetting(x))
		}
		r.Events = append(r.Events, e)
	}
	return r
}

// spe prints the Arm SPE part of an input.
func (t *textWriter) spe(records uint64, s *SPE) {
	t.line("    Arm SPE: %s records in %s bytes%s, sampled population: %s", Count(records), Count(s.Bytes),
		inParentheses(strings.Join(s.CPUs, ", ")), s.Population)
	for _, e := range s.Events {
		t.line("      event %s, interval %s%s", e.Name, Count(e.Interval), atLeast(e.MinInterval))
		for _, x := range e.Settings {
			t.line("        %s=%s (%s)", x.Name, x.Value, x.Needs)
		}
	}
	t.line("      user %s, kernel %s, other worlds %s; speculative %s", Count(s.User), Count(s.Kernel), Count(s.Other), Count(s.Speculative))
	t.counts("      left out: ", s.Damaged)
	if s.UnknownPackets > 0 {
		t.line("      packets of unknown kinds: %s", Count(s.UnknownPackets))
	}
	if s.Joined+s.Repeated > 0 {
		t.line("      in two AUXTRACE records: %s records; repeated by snapshots: %s bytes", Count(s.Joined), Count(s.Repeated))
	}
	t.counts("      processes found by ", s.Attribution)
	w := s.Written
	if w != (SPEWritten{}) {
		t.line("      AUX records: truncated %s, partial %s, collision %s, snapshot %s", Count(w.Truncated), Count(w.Partial), Count(w.Collision), Count(w.Snapshot))
	}
	t.line("      %-14s %12s  latency in cycles: mean, median, 90 %%, 99 %%, greatest", "group", "records")
	for _, g := range s.Groups {
		t.line("      %-14s %12s  %.1f, %d, %d, %d, %d", g.Name, Count(g.Records), g.Mean, g.Median, g.P90, g.P99, g.Worst)
	}
	b := s.Branches
	if all := b.Taken + b.NotTaken; all > 0 {
		t.line("      branches: taken %s, not taken %s, mispredicted %s (%.2f %%), conditional %s, indirect %s, calls %s, returns %s",
			Count(b.Taken), Count(b.NotTaken), Count(b.Mispredicted), 100*float64(b.Mispredicted)/float64(all), Count(b.Conditional),
			Count(b.Indirect), Count(b.Calls), Count(b.Returns))
	}
	if b.Previous > 0 {
		t.line("      previous branch targets: %s, straight ranges %s", Count(b.Previous), Count(b.Ranges))
	}
	t.counts("      data from ", s.Sources)
	t.counts("      PMU counts: ", s.Counts)
	if s.SomeOperations {
		t.line("      no instruction samples: the records are of some kinds of operations only")
	}
}

func atLeast(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (recommended: at least %s)", Count(n))
}

func inParentheses(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// counts prints counts by name on one line, if there are any, the greatest
// first.
func (t *textWriter) counts(label string, counts map[string]uint64) {
	if len(counts) == 0 {
		return
	}
	names := sortedKeys(counts)
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case counts[a] > counts[b]:
			return -1
		case counts[a] < counts[b]:
			return 1
		}
		return 0
	})
	var list []string
	for _, n := range names {
		list = append(list, n+" "+Count(counts[n]))
	}
	t.line("%s%s", label, strings.Join(list, ", "))
}
