package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// aggregateJSON runs the command and returns its exit code and document.
func aggregateJSON(t *testing.T, args ...string) (int, *report.Aggregation) {
	t.Helper()
	var out, errs bytes.Buffer
	code := command().Execute(append([]string{"--json", "-q"}, args...), cli.Streams{In: os.Stdin, Out: &out, Err: &errs})
	var doc struct {
		report.Aggregation
		Exit *int `json:"exit"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	if doc.Exit == nil || *doc.Exit != code {
		t.Errorf("%v: exit %v in the document, exit code %d", args, doc.Exit, code)
	}
	return code, &doc.Aggregation
}

// samplesOfSimpleperf are counts that FILES.tsv has as 0, because its decoder
// loses its way at simpleperf's form of the TRACING_DATA record.
var samplesOfSimpleperf = map[string]uint64{
	"jbeich+platform_system_extras__perf_with_trace_offcpu.data.hist6d0c5e": 1005,
	"jbeich+platform_system_extras__perf_with_tracepoint_event.data":        45,
}

// TestCorpus aggregates every recording and checks the counts of the document
// against those known of the file, and against what the SPT holds.
func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	for _, row := range corpus.Files(t, "perf") {
		name := filepath.Base(row.File)
		if _, known := row.Fields["samples"]; !known {
			continue
		}
		t.Run(name[:min(len(name), 70)], func(t *testing.T) {
			out := filepath.Join(dir, "out.spt")
			code, doc := aggregateJSON(t, row.File, "-j1", "-o", out)
			if len(doc.Inputs) != 1 {
				t.Fatalf("%d inputs", len(doc.Inputs))
			}
			in := doc.Inputs[0]
			want := func(field string, got uint64) {
				n, _ := strconv.ParseUint(row.Fields[field], 10, 64)
				if more, ok := samplesOfSimpleperf[name]; ok && field == "samples" {
					n = more
				}
				if n != got {
					t.Errorf("%s: %d, want %d", field, got, n)
				}
			}
			want("samples", in.Samples)
			want("br_entries", in.BranchEntries)
			if doc.Samples.Read != in.Samples {
				t.Errorf("accounts for %d of %d samples", doc.Samples.Read, in.Samples)
			}
			if _, err := os.Stat(out); err != nil {
				if code != 4 && code != 1 {
					t.Errorf("no output with exit code %d", code)
				}
				return
			}
			checkSPT(t, out, doc)
			first, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if int64(len(first)) != doc.Output.Bytes {
				t.Errorf("%d bytes, the document says %d", len(first), doc.Output.Bytes)
			}
			aggregateJSON(t, row.File, "-j8", "-o", out)
			if again, err := os.ReadFile(out); err != nil || !bytes.Equal(again, first) {
				t.Errorf("other bytes with 8 workers (%v)", err)
			}
			os.Remove(out)
		})
	}
}

// checkSPT compares the sums of an SPT with those of the document.
func checkSPT(t *testing.T, name string, doc *report.Aggregation) {
	t.Helper()
	r, err := spt.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := make([]report.Binary, len(r.Programs()))
	for i, p := range r.Programs() {
		got[i] = report.Binary{Name: p.Name, GUID: p.GUID.String(), Age: p.Age, IP: map[string]uint64{}}
	}
	var records uint64
	for r.Next() {
		records++
		rec := r.Record()
		b := &got[rec.Program]
		n := rec.Hits()
		switch rec.Op {
		case spt.OpLBR:
			b.Branches += n * uint64(len(rec.Pairs))
			b.Pairs += n * uint64(len(rec.Pairs)-1)
		case spt.OpETWCallStack:
			b.StackArcs += n * uint64(len(rec.RVAs)-1)
		default:
			key := fmt.Sprintf("0x%02x", byte(rec.Op))
			b.IP[key] = binfmt.SatAdd(b.IP[key], n*uint64(len(rec.RVAs)))
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if records != doc.Output.Records {
		t.Errorf("%d records, the document says %d", records, doc.Output.Records)
	}
	if len(got) != len(doc.Binaries) {
		t.Fatalf("%d binaries, the document says %d", len(got), len(doc.Binaries))
	}
	for i, b := range doc.Binaries {
		b.Path, b.Identity, b.Kernel, b.FileOffsets = "", "", false, false
		if fmt.Sprint(b) != fmt.Sprint(got[i]) {
			t.Errorf("the SPT has %+v, the document %+v", got[i], b)
		}
	}
}

// TestTruncations cuts recordings at many places: a clean error or a partial
// result, and never an output without an exit code that says so.
func TestTruncations(t *testing.T) {
	places := 40
	if os.Getenv("SPGO_LONG") == "1" {
		places = 200
	}
	dir := t.TempDir()
	cut, out := filepath.Join(dir, "cut.data"), filepath.Join(dir, "out.spt")
	for _, name := range []string{
		"google+autofdo__hierarchical_discriminator_test.x86_64.perf.data.hist27cba9",
		"own__live_pipez61.data", "own__live_fp73.data",
		"mstange+linux-perf-data__sleep.compressed.data", "own__be_perf_data_converter__perf.data.branch_stack_spec",
	} {
		data, err := os.ReadFile(corpus.Path(t, "corpus", "perf", name))
		if err != nil {
			t.Fatal(err)
		}
		_, whole := aggregateJSON(t, corpus.Path(t, "corpus", "perf", name), "-o", out)
		os.Remove(out)
		for i := range places {
			size := len(data) * i / places
			if err := os.WriteFile(cut, data[:size], 0o644); err != nil {
				t.Fatal(err)
			}
			code, doc := aggregateJSON(t, cut, "-o", out)
			_, err := os.Stat(out)
			written := err == nil
			os.Remove(out)
			if written && code != 0 && code != 6 || !written && code != 1 && code != 4 && code != 6 {
				t.Errorf("%s cut at %d: exit code %d, output %v", name, size, code, written)
			}
			if n := doc.Inputs[0].Samples; n > whole.Inputs[0].Samples {
				t.Errorf("%s cut at %d: %d samples, the whole has %d", name, size, n, whole.Inputs[0].Samples)
			}
		}
	}
}

// TestSmall is the promise that folding keeps small what repeats.
func TestSmall(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.spt")
	_, doc := aggregateJSON(t, corpus.Path(t, "corpus", "perf", "google+autofdo__test.lbr"), "-o", out)
	if doc.Output.Bytes > 70_000 {
		t.Errorf("147,712 branches take %d bytes", doc.Output.Bytes)
	}
	if !strings.Contains(doc.Mode, "LBR") {
		t.Errorf("mode %s", doc.Mode)
	}
}
