package perfdata

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// tally is what a test compares of a recording.
type tally struct {
	samples, bad, branchSamples, entries, chains uint64
	defects                                      [NumDefects]uint64
	ix                                           *Index
}

// reading is a tally with what only the walk sees.
type reading struct {
	tally
	errs []error // of side-band records
}

// readAll reads a recording in both passes and fails t where they disagree.
func readAll(t testing.TB, f *File) reading {
	t.Helper()
	var errs []error
	var one tally
	var s Sample
	rs := f.Records()
	var samples []Record
	for rs.Next() {
		if r := rs.Record(); r.Type == TypeSample {
			samples = append(samples, Record{Misc: r.Misc, Data: append([]byte(nil), r.Data...), Offset: r.Offset})
		} else {
			errs = append(errs, decodeAny(f, r)...)
		}
	}
	if err := rs.Err(); err != nil {
		t.Fatal(err)
	}
	one.ix = rs.Index()
	dec := f.NewDecoder(SampleAll)
	for i := range samples {
		if dec.Decode(&samples[i], &s) == DefectNone {
			one.add(&s)
		}
	}
	one.defects = dec.Defects

	var two tally
	two.ix = one.ix
	dec = f.NewDecoder(SampleBranchStack | SampleCallChain)
	src := f.Chunks(one.ix)
	var c Chunk
	for src.Next(&c) {
		for dec.Reset(&c); dec.Next(); {
			two.add(dec.Sample())
		}
	}
	if err := src.Err(); err != nil {
		t.Fatal(err)
	}
	two.defects = dec.Defects
	if one != two {
		t.Errorf("the walk gives %v, the chunks %v", one, two)
	}
	for d := DefectNone + 1; d < NumDefects; d++ {
		one.bad += one.defects[d]
	}
	return reading{one, errs}
}

func (n *tally) add(s *Sample) {
	n.samples++
	if s.Fields&SampleBranchStack != 0 {
		n.branchSamples++
	}
	n.entries += uint64(len(s.Branches))
	if s.Fields&SampleCallChain != 0 {
		n.chains++
	}
}

// decodeAny decodes a side-band record into every event that takes it.
func decodeAny(f *File, r *Record) (errs []error) {
	for _, ev := range allEvents() {
		if ev.accepts(r.Type) {
			if _, err := f.Decode(r, ev); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

func allEvents() []Event {
	return []Event{new(Mmap), new(Comm), new(Task), new(Switch), new(Namespaces), new(Cgroup), new(ItraceStart),
		new(Lost), new(LostSamples), new(Throttle), new(Read), new(Aux), new(AuxOutputHWID), new(Ksymbol),
		new(BPFEvent), new(TextPoke), new(CallchainDeferred), new(EventUpdate), new(IDIndex), new(AuxtraceInfo),
		new(Auxtrace), new(AuxtraceError), new(ThreadMap), new(CPUMap), new(TimeConv)}
}

func countsText(c *Counts) string {
	var parts []string
	for _, tc := range c.All() {
		parts = append(parts, fmt.Sprintf("%v:%d", tc.Type, tc.Count))
	}
	return strings.Join(parts, ";")
}

// betterThanReference has files for which FILES.tsv is not right: its decoder
// takes the TRACING_DATA record of simpleperf for one of perf, and so steps
// over records or loses its way. Every sample below is used up to its last
// byte and all data sections are read to their end.
var betterThanReference = map[string]map[string]string{
	"jbeich+platform_system_extras__perf_sched_stat_runtime.data": {
		"records": "MMAP:11651;COMM:1957;FORK:1399;SAMPLE:2430;TRACING_DATA:1",
	},
	"jbeich+platform_system_extras__perf_with_trace_offcpu.data.hist6d0c5e": {
		"records": "MMAP:29;COMM:5;THROTTLE:306;UNTHROTTLE:302;FORK:2;SAMPLE:1005;TRACING_DATA:1",
		"samples": "1005", "chain_samples": "1005", "warn": "",
	},
	"jbeich+platform_system_extras__perf_with_tracepoint_event.data": {
		"records": "MMAP:37;COMM:3;EXIT:2;THROTTLE:10;UNTHROTTLE:9;SAMPLE:45;TRACING_DATA:1",
		"samples": "45", "warn": "",
	},
	// The same event comes as EVENT_DESC and as HEADER_ATTR.
	"google+perf_data_converter__perf.data.piped.header_features-4.16": {"attrs": "1"},
	// The trailing byte is worth a word.
	"google+perf_data_converter__perf.data.piped.extrabyte-3.4.histfb5dcc": {"warn": "truncated record at 0x8d080"},
}

func TestCorpusCounts(t *testing.T) {
	files := 0
	for _, row := range corpus.Files(t, "perf") {
		name := filepath.Base(row.File)
		if row.Fields["mode"] == "" || strings.Contains(name, "fuzzcorpus") {
			continue // raw trace bytes; FuzzRead's seeds
		}
		files++
		t.Run(name, func(t *testing.T) {
			f, err := Open(row.File, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n := readAll(t, f)
			got := map[string]string{
				"endian": map[bool]string{false: "LE", true: "BE"}[f.Header.BigEndian],
				"mode":   map[bool]string{false: "file", true: "pipe"}[f.Header.Pipe],
				"attrs":  fmt.Sprint(len(f.Attrs)), "os": f.Features.OSRelease, "arch": f.Features.Arch,
				"perfver": f.Features.Version, "cpuid": f.Features.CPUID,
				"samples": fmt.Sprint(n.samples), "bad": fmt.Sprint(n.bad),
				"brstack_samples": fmt.Sprint(n.branchSamples), "br_entries": fmt.Sprint(n.entries),
				"chain_samples": fmt.Sprint(n.chains), "records": countsText(&n.ix.Counts),
				"auxtrace_bytes": fmt.Sprint(n.ix.AuxBytes), "warn": stopsText(f, n.ix),
			}
			if f.Header.Closed && !f.Header.Pipe {
				got["buildids_hdr"] = fmt.Sprint(len(f.Features.BuildIDs))
			}
			for _, key := range slices.Sorted(maps.Keys(got)) {
				want := row.Fields[key]
				if w, ok := betterThanReference[name][key]; ok {
					want = w
				}
				if got[key] != want {
					t.Errorf("%s: got %s, want %s", key, got[key], want)
				}
			}
			// That file was damaged on purpose, from its first record on.
			if len(n.errs) > 0 && !strings.Contains(name, "piped.host-3.2") {
				t.Errorf("%d side-band records, the first: %v", len(n.errs), n.errs[0])
			}
		})
	}
	if files < 90 {
		t.Errorf("%d files, want all recordings of the corpus", files)
	}
}

// stopsText prints what FILES.tsv has in its column "warn".
func stopsText(f *File, ix *Index) string {
	var parts []string
	if f.Truncated != nil {
		parts = append(parts, "data section past EOF")
	}
	for _, w := range f.Warnings {
		if w.Part == "feature table" {
			parts = append(parts, "feature table past EOF")
		}
	}
	for _, s := range ix.Stops {
		switch {
		case s.Part == "record size":
			parts = append(parts, fmt.Sprintf("record size %s at %#x, stop", s.Got, s.Offset-6))
		case strings.HasPrefix(s.Part, "data of AUXTRACE"):
			parts = append(parts, "AUXTRACE payload past end")
		default:
			parts = append(parts, fmt.Sprintf("truncated record at %#x", s.Offset))
		}
	}
	return strings.Join(parts, ";")
}

// TestFuzzCorpus reads the inputs that crashed other readers.
func TestFuzzCorpus(t *testing.T) {
	files, opened := 0, 0
	for _, row := range corpus.Files(t, "perf") {
		if !strings.Contains(row.File, "fuzzcorpus") {
			continue
		}
		files++
		f, err := Open(row.File, nil)
		var e *binfmt.Error
		if err != nil && (!errors.As(err, &e) || e.File != row.File) {
			t.Errorf("%s: error without a place: %v", row.File, err)
		}
		if err != nil {
			continue
		}
		opened++
		n := readAll(t, f)
		if n.samples != 0 || len(n.ix.Stops) == 0 {
			t.Errorf("%s: %d samples, stops %v", row.File, n.samples, n.ix.Stops)
		}
		f.Close()
	}
	if files != 24 || opened != 13 {
		t.Errorf("%d files of which %d open, want 24 and 13", files, opened)
	}
}
