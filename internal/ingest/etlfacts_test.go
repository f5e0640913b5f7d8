package ingest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// warning returns the only warning of a code, as "COUNT MESSAGE CAUSE NEXT".
func warning(t *testing.T, f *Facts, code diag.Code) string {
	t.Helper()
	var list []string
	for _, w := range f.Warnings {
		if w.Code == code {
			list = append(list, fmt.Sprintf("%d %s %s %s", w.Count, w.Message, w.Cause, w.Next))
		}
	}
	if len(list) != 1 {
		t.Fatalf("%d warnings of %s among %s, want 1", len(list), code, codes(f))
	}
	return list[0]
}

// contains checks that all parts are in a text.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in %q", p, text)
		}
	}
}

// TestETLFacts checks what a file says of itself.
func TestETLFacts(t *testing.T) {
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), machineLines+`
		0 cpu MACHINE 7fffffffffff
		0 id 100 400000 rsds=5 age=6
		1 timer 104 400010
		2 stack 1 104 100 400010 400020
		3 stack 99 104 100 400010
		4 key 1 104 100 user 77
		5 lbr 99 104 100 0 1>2`, func(h *etl.LogFile) { h.Mode, h.EndTime = etl.ModeCircular, 0 })
	_, facts, _ := logOutcome(t, Options{}, path)
	f := facts[0]
	got := fmt.Sprintf("%s %q %q %q %q %q %d %v %v %d", f.Format, f.Detail, f.Host, f.Kernel, f.CPU, f.Arch, f.Samples, f.Truncated, f.Damage, f.Lost)
	const want = `etl "merged, circular, not closed" "MACHINE" "Windows 10.0 build 19045" "2 processors, 3000 MHz" "x86" 1 false <nil> 0`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	records := map[string]uint64{"log_file_header": 1, "process": 4, "thread": 2, "image": 4, "system": 1, "image_id": 1, "sampled_profile": 1,
		"stack_walk": 2, "stack_walk_of_other_events": 1, "stack_key": 1, "lbr": 1, "lbr_of_other_events": 1}
	if diff := cmp.Diff(records, f.Records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]uint64{"stacks_without_definition": 1}, f.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

// TestETLLosses checks that every hint at lost events is passed on.
func TestETLLosses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script string
		header func(*etl.LogFile)
		flags  byte // of the second buffer
		losses map[string]uint64
		lost   uint64
		text   string
	}{
		{"none", "", nil, 0, map[string]uint64{}, 0, ""},
		{"events of the header", "", func(h *etl.LogFile) { h.EventsLost = 12 }, 0, map[string]uint64{"events_lost": 12}, 12, "12 events and 0 buffers"},
		{"buffers of the header", "", func(h *etl.LogFile) { h.BuffersLost = 3 }, 0, map[string]uint64{"buffers_lost": 3}, 3, "0 events and 3 buffers"},
		{"flags of buffers", "", nil, 6, map[string]uint64{"buffers_with_lost_events": 1, "buffers_after_lost_buffers": 1}, 2, "1 events and 1 buffers"},
		{"records", "2 lost\n3 lost", nil, 0, map[string]uint64{"lost_event_records": 2}, 2, "2 events and 0 buffers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), machineLines+"1 timer 104 400010\n"+tc.script, tc.header)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[64<<10+0x34] |= tc.flags
			writeFile(t, path, data)
			_, facts, _ := logOutcome(t, Options{}, path)
			f := facts[0]
			if diff := cmp.Diff(tc.losses, f.Losses); diff != "" || f.Lost != tc.lost {
				t.Errorf("%d lost, want %d; losses (-want +got):\n%s", f.Lost, tc.lost, diff)
			}
			if tc.text != "" {
				contains(t, warning(t, f, diag.LostSamples), tc.text, "-BufferSize 4096", "WPR", "--max-lost")
			} else if strings.Contains(codes(f), string(diag.LostSamples)) {
				t.Errorf("warnings %s", codes(f))
			}
		})
	}
}

// TestETLMissing checks what is said of recordings without branches or
// counters.
func TestETLMissing(t *testing.T) {
	const sampled = "0 interval 0 10000 Timer\n1 timer 104 400010\n2 stack 1 104 100 400010 400020\n"
	const counted = "0 interval 30 16384 BranchInstructionRetired\n1 pmc 104 400010 30\n"
	for _, tc := range []struct {
		name, script string
		code         diag.Code // of the warning; empty: none
		parts        []string
	}{
		{"branches", counted + "2 lbr 1 104 100 0 400010>400020", "", nil},
		{"timer, flags known", "0 masks 1000007 2\n" + sampled, diag.NoCounterData, []string{
			"0 counter samples, 1 timer samples, 1 call stacks and 0 branch records", "Timer every 10000 x 100 ns",
			"PROC_THREAD+LOADER+PROFILE", "without PMC_PROFILE", recordLBR, recordPMC, "xperf -stop -d run.etl"}},
		{"timer, flags not known", sampled, diag.NoCounterData, []string{"kernel flags are not recorded", "in another file"}},
		{"counters asked for", "0 masks 7 402\n" + sampled, diag.NoCounterData, []string{"PMC_PROFILE was on", "-pmcprofile"}},
		{"counters without branches", "0 masks 80000007 400 5\n" + counted, diag.NoBranchData, []string{
			"1 counter samples", "BranchInstructionRetired every 16384 events", "PMC_PROFILE", "0x80000000 of mask 0", "0x5 of mask 2", "-LastBranch", recordLBR, "/mode:IP"}},
		{"branches of other events", counted + "2 lbr 77 104 100 0 400010>400020", diag.NoBranchData, []string{"1 branch records", "events other than counter samples"}},
		{"nothing", "", diag.NoCounterData, []string{"no profile sources"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), machineLines+tc.script, nil)
			_, facts, _ := logOutcome(t, Options{}, path)
			if tc.code == "" {
				if got := codes(facts[0]); strings.Contains(got, string(diag.NoCounterData)) || strings.Contains(got, string(diag.NoBranchData)) {
					t.Errorf("warnings %s", got)
				}
				return
			}
			contains(t, warning(t, facts[0], tc.code), tc.parts...)
		})
	}
}

// TestReadAllInputs reads inputs of all kinds in one call: log files by
// recording, one from standard input, and others one by one; what cannot be
// read fails alone.
func TestReadAllInputs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	one := func(start int64) func(*etl.LogFile) { return func(h *etl.LogFile) { h.BootTime = start } }
	writeScript(t, at("a.etl"), "1 timer 104 400010\n2 timer 104 400020", one(1))
	writeScript(t, at("a.kernel.etl"), machineLines, one(1))
	writeScript(t, at("b.etl"), machineLines+"1 timer 104 400030", one(2))
	writeScript(t, at("a.user.etl"), machineLines, one(3)) // of another clock
	perf := recording{}.write(t, "1 map 10 1000+1000 0 /t/app\n2 sample 10 1004")
	writeFile(t, at("x.spt"), sptBytes(t, sptText))
	writeFile(t, at("junk"), []byte(strings.Repeat("junk", 100)))
	stdin, err := os.ReadFile(at("b.etl"))
	if err != nil {
		t.Fatal(err)
	}
	cut := writeFile(t, at("cut.etl"), stdin[:200])

	var got []string
	names := []string{at("b.etl"), perf, at("a.etl"), at("junk"), at("x.spt"), at("a.kernel.etl"), at("missing.etl"), cut, "-"}
	ReadAll(context.Background(), names, bytes.NewReader(zstdPacked(t, stdin)), &Options{Workers: 2}, newRegistry(), func() sample.Sink { return newTally() },
		func(facts []*Facts, err error) {
			var list []string
			for _, f := range facts {
				list = append(list, fmt.Sprintf("%s %s %d", filepath.Base(f.File), f.Format, f.Samples))
				checkTotals(t, f)
				if strings.Contains(codes(f), string(diag.FileLeftOut)) {
					contains(t, warning(t, f, diag.FileLeftOut), "a.user.etl", "boot time")
					list = append(list, "with a file left out")
				}
			}
			if err != nil {
				list = append(list, string(diag.Of(err).Code))
			}
			got = append(got, strings.Join(list, " and "))
		})
	want := []string{"b.etl etl 1", "perf.data perf.data 1", "a.etl etl 2 and with a file left out and a.kernel.etl etl 0", "junk  0 and SPT0110",
		"x.spt spt 13", "missing.etl  0 and SPT0101", "cut.etl  0 and SPT0112", "- etl 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadAllStops checks that nothing is read after a cancellation.
func TestReadAllStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), machineLines, nil)
	calls := 0
	ReadAll(ctx, []string{path, path}, nil, &Options{}, newRegistry(), func() sample.Sink { return newTally() }, func(facts []*Facts, err error) {
		if calls++; err != context.Canceled || facts != nil {
			t.Errorf("%v, %v", facts, err)
		}
	})
	if calls != 1 {
		t.Errorf("done was called %d times, want once", calls)
	}
}
