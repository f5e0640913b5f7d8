package ingest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestSPECorpus reads all recordings with Arm SPE data: they have as many
// records as are known to be there, all of them are accounted for, and the
// result does not depend on the number of workers.
func TestSPECorpus(t *testing.T) {
	found := 0
	for _, row := range corpus.Files(t, "perf") {
		if row.Fields["aux"] != "arm_spe" {
			continue
		}
		found++
		one := readAll(row.File, nil, Options{Workers: 1})
		name := filepath.Base(row.File)
		if one.err != nil {
			t.Errorf("%s: %v", name, one.err)
			continue
		}
		f := one.facts
		if fmt.Sprint(f.SPERecords) != row.Fields["spe_records"] {
			t.Errorf("%s: %d records, want %s", name, f.SPERecords, row.Fields["spe_records"])
		}
		checkTotals(t, f)
		if fmt.Sprint(f.Samples) != row.Fields["samples"] {
			t.Errorf("%s: %d samples, want %s", name, f.Samples, row.Fields["samples"])
		}
		many := readAll(row.File, nil, Options{Workers: 7})
		if diff := cmp.Diff(one.facts.SPE, many.facts.SPE); diff != "" {
			t.Errorf("%s: the result depends on the workers:\n%s", name, diff)
		}
		if diff := cmp.Diff(one.arcs, many.arcs, cmp.AllowUnexported(arc{})); diff != "" {
			t.Errorf("%s: the branches depend on the workers:\n%s", name, diff)
		}
		t.Logf("%s: %+v\n%v\n%v", name, f.SPE, f.Stats.SPERecords.Dropped(), codes(f))
	}
	if found < 10 {
		t.Errorf("only %d recordings", found)
	}
}

// group returns how many records a group has.
func (f *SPE) group(name string) uint64 {
	for _, g := range f.Groups {
		if g.Name == name {
			return g.Records
		}
	}
	return 0
}
