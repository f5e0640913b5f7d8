package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/golden"
	"github.com/spgo-tools/spgo/internal/report"
)

// TestSizes keeps what comes out of real recordings and how large it is, none
// of which depends on the machine.
func TestSizes(t *testing.T) {
	recordings := []string{
		"corpus/perf/google+autofdo__test.lbr",
		"corpus/perf/google+autofdo__propeller_sample.perfdata.hist47aea7",
		"corpus/perf/google+perf_data_converter__perf.data.callgraph-3.8",
		"corpus/perf/google+perf_data_converter__perf.data.callgraph_and_branch-3.4",
		"corpus/perf/own__spe_branch_profile_2000.data",
		"programs/shapes.data",
		"programs/minivm.ip.data",
	}
	var table bytes.Buffer
	fmt.Fprintln(&table, "recording\tsamples\tbranches\tframes\tSPE records\tSPT bytes\tSPT records")
	for _, name := range recordings {
		out := filepath.Join(t.TempDir(), "out.spt")
		c := exec.Command("sptaggregate", "--json", "-q", "-j1", "-o", out, "--image-path", corpus.Path(t, "programs"), corpus.Path(t, filepath.FromSlash(name)))
		text, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got report.Aggregation
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		in := got.Inputs[0]
		fmt.Fprintf(&table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", filepath.Base(name), in.Samples, in.BranchEntries, in.CallchainFrames, in.SPERecords,
			got.Output.Bytes, got.Output.Records)
	}
	golden.Check(t, "testdata/sizes.golden", table.Bytes())
}
