package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// nowhere keeps files of this machine out of a test: all paths of the traced
// machine lead into a folder that does not exist.
var nowhere = []PathMap{{"/", "/nonexistent-folder-of-a-test"}}

// samplesOf has the number of samples of the files for which FILES.tsv has it
// wrong: its decoder takes the TRACING_DATA record of simpleperf for one of
// perf and steps over records.
var samplesOf = map[string]string{
	"jbeich+platform_system_extras__perf_with_trace_offcpu.data.hist6d0c5e": "1005",
	"jbeich+platform_system_extras__perf_with_tracepoint_event.data":        "45",
}

// unresolved has the samples that are in no map of their recording; in all
// other files there are none. Where perf 6.1 reads the file, perf script shows
// as many as [unknown] (of hiperf's, which has call chains, as many frames);
// the other files have no map of the kernel.
var unresolved = map[string]string{
	"google+autofdo__hierarchical_discriminator_test.x86_64.perf.data.hist27cba9": "kernel_unmapped:15",
	"google+autofdo__propeller_sample.perfdata.hist47aea7":                        "kernel_unmapped:22",
	"google+perf_data_converter__perf.data.lost_samples-4.4":                      "kernel_unmapped:1 unmapped:2",
	"google+perf_data_converter__perf.data.piped.header_features_aligned-6.12":    "kernel_unmapped:2",
	"google+perf_data_converter__perf.data.piped.header_feautres_group_desc-6.8":  "kernel_unmapped:2",
	"jbeich+platform_system_extras__perf_with_app_package_name.data.histc9c61d":   "unmapped:10",
	"jbeich+platform_system_extras__perf_with_generic_git_symbols.data":           "unmapped:59",
	"jbeich+platform_system_extras__perf_with_ip_zero_in_callchain.data":          "kernel_unmapped:1",
	"mstange+linux-perf-data__sleep.compressed2.data":                             "kernel_unmapped:6",
	"openharmony+developtools_hiperf__perf.data":                                  "kernel_unmapped:870 unmapped:13",
}

// recordings calls fn for the recordings of the corpus that have samples or
// are whole.
func recordings(t *testing.T, fn func(t *testing.T, row corpus.Row)) {
	files := 0
	for _, row := range corpus.Files(t, "perf") {
		if row.Fields["mode"] == "" || strings.Contains(row.File, "fuzzcorpus") {
			continue
		}
		files++
		t.Run(filepath.Base(row.File), func(t *testing.T) { fn(t, row) })
	}
	if files < 90 {
		t.Errorf("%d files, want all recordings of the corpus", files)
	}
}

// readByPath reads a recording without files of this machine.
func readByPath(t *testing.T, path string, workers int) (*tally, byPath, *Facts) {
	t.Helper()
	reg := byPath{}
	sum := newTally()
	var sinks []*tally
	facts, err := Read(context.Background(), path, nil, &Options{Workers: workers, KeepBias: true, PathMap: nowhere}, reg, func() sample.Sink {
		sinks = append(sinks, newTally())
		return sinks[len(sinks)-1]
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sinks {
		sum.merge(s)
	}
	return sum, reg, facts
}

// TestCorpus compares counts with the table of the corpus, accounts with each
// other, and every resolved address, branch, pair of neighbouring branches and
// call with what the naive reader makes of the recording.
func TestCorpus(t *testing.T) {
	compared := map[string]int{}
	recordings(t, func(t *testing.T, row corpus.Row) {
		got, reg, facts := readByPath(t, row.File, 1)
		want := row.Fields["samples"]
		if w, ok := samplesOf[filepath.Base(row.File)]; ok {
			want = w
		}
		if fmt.Sprint(facts.Samples) != want || fmt.Sprint(facts.BranchEntries) != row.Fields["br_entries"] {
			t.Errorf("%d samples and %d branches, want %s and %s", facts.Samples, facts.BranchEntries, want, row.Fields["br_entries"])
		}
		checkTotals(t, facts)
		checkSink(t, got, facts)
		if facts.SPE != nil {
			return // the naive reader has no decoder of it; see TestSPECorpus
		}
		var lost sample.Account
		for _, r := range []sample.Reason{sample.Unmapped, sample.UnknownProcess, sample.KernelUnmapped} {
			lost.Add(r, facts.Stats.Samples[r])
		}
		if want := unresolved[filepath.Base(row.File)]; account(&lost) != want {
			t.Errorf("%s samples are in no map, want %s", account(&lost), want)
		}

		n, hasPE := newNaive(t, row.File, reg)
		if hasPE {
			compared["PE"]++
			return
		}
		trace := &perfTrace{file: n.file, options: &Options{}}
		opcode := func(a *perfdata.Attr) spt.Opcode { return trace.newEvent(a).opcode }
		low := uint64(1 << 63)
		if strings.HasPrefix(facts.Arch, "armv") || facts.Arch == "i686" {
			low = 0xc0000000
		}
		naive := n.count(opcode, low)
		compared["ips"] += same(t, "addresses", naive.ips, got.ips)
		compared["arcs"] += same(t, "branches", naive.arcs, got.arcs)
		compared["pairs"] += same(t, "pairs of branches", naive.pairs, got.pairs)
		compared["calls"] += same(t, "calls", naive.calls, got.calls)
	})
	t.Logf("distinct things compared: %v", compared)
	for what, least := range map[string]int{"ips": 40000, "arcs": 7000, "pairs": 8000, "calls": 11000, "PE": 4} {
		if compared[what] < least {
			t.Errorf("only %d %s were compared, want %d", compared[what], what, least)
		}
	}
}

// same compares two multisets and returns how many elements they have.
func same[K comparable](t testing.TB, what string, want, got map[K]uint64) int {
	t.Helper()
	shown := 0
	for k, n := range want {
		if got[k] != n {
			if shown++; shown < 5 {
				t.Errorf("%s: %v counts %d, want %d", what, k, got[k], n)
			}
		}
	}
	for k, n := range got {
		if _, ok := want[k]; !ok {
			if shown++; shown < 5 {
				t.Errorf("%s: %v counts %d, want none", what, k, n)
			}
		}
	}
	if shown > 0 {
		t.Errorf("%s: %d of %d differ", what, shown, len(want))
	}
	return len(want)
}

// checkSink checks that the sink was given what the accounts say was used.
func checkSink(t testing.TB, c *tally, f *Facts) {
	t.Helper()
	if f.SPE != nil {
		return // its records give hits of more than one kind
	}
	// A branch from one binary into another is an entry of both.
	if used := f.Stats.Branches.Used(); c.entries < used || c.entries-used > min(c.comes, c.leaves) {
		t.Errorf("the sink has %d branches, %d of them from and %d to outside, the account %d", c.entries, c.comes, c.leaves, used)
	}
	if used := f.Stats.Frames.Used(); c.frames != used {
		t.Errorf("the sink has %d frames, the account %d", c.frames, used)
	}
	var hits uint64
	for _, n := range c.ips {
		hits += n
	}
	if used := f.Stats.Kinds[sample.PMC].Used() + f.Stats.Kinds[sample.Timer].Used(); hits != used {
		t.Errorf("the sink has %d addresses, the accounts %d", hits, used)
	}
}

// TestWorkers checks that nothing depends on the number of workers.
func TestWorkers(t *testing.T) {
	recordings(t, func(t *testing.T, row corpus.Row) {
		one, reg1, facts1 := readByPath(t, row.File, 1)
		eight, reg8, facts8 := readByPath(t, row.File, 8)
		if diff := cmp.Diff(reg1, reg8); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(printed(t, facts1), printed(t, facts8)); diff != "" {
			t.Error(diff)
		}
		same(t, "addresses", one.ips, eight.ips)
		same(t, "branches", one.arcs, eight.arcs)
		same(t, "pairs of branches", one.pairs, eight.pairs)
		same(t, "calls", one.calls, eight.calls)
	})
}

// printed is everything of facts as text.
func printed(t testing.TB, f *Facts) string {
	t.Helper()
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFuzzCorpus reads inputs that crashed other readers.
func TestFuzzCorpus(t *testing.T) {
	files, refused := 0, 0
	for _, row := range corpus.Files(t, "perf") {
		if !strings.Contains(row.File, "fuzzcorpus") {
			continue
		}
		files++
		r := readAll(row.File, nil, Options{})
		switch {
		case r.err != nil:
			refused++
		case r.facts.Damage == nil:
			t.Errorf("%s: nothing is wrong with it", row.File)
		}
		if r.facts.Samples != 0 {
			t.Errorf("%s: %d samples", row.File, r.facts.Samples)
		}
	}
	if files != 24 || refused != 11 {
		t.Errorf("%d files of which %d are refused, want 24 and 11", files, refused)
	}
}
