package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// manyMaps is a recording of overlapping maps in one process, with a sample
// in the newest after each thousand.
func manyMaps(count int) string {
	var b strings.Builder
	for i := range count {
		start := uint64(0x10000 + i*0x3000%0x4000000)
		fmt.Fprintf(&b, "%d map 7 %x+5000 0 /bin/app%d\n", 2*i+10, start, i%3)
		if i%1000 == 999 {
			fmt.Fprintf(&b, "%d sample 7 %x\n", 2*i+11, start+0x10)
		}
	}
	return b.String()
}

// TestManyMaps bounds the memory for maps: what came before the bound is used
// as ever, and the rest is counted.
func TestManyMaps(t *testing.T) {
	path := (recording{}).write(t, manyMaps(20_000))
	whole := readAll(path, nil, Options{})
	if whole.err != nil || whole.facts.Stats.Samples.Used() != 20 {
		t.Fatalf("%v, %d samples used", whole.err, whole.facts.Stats.Samples.Used())
	}
	bounded := readAll(path, nil, Options{MaxMemory: 4 << 20})
	if bounded.err != nil {
		t.Fatal(bounded.err)
	}
	s := &bounded.facts.Stats.Samples
	if s.Used() < 2 || s.Used() > 18 || s[sample.UnknownProcess] != 20-s.Used() {
		t.Errorf("%d samples used, %d without a process", s.Used(), s[sample.UnknownProcess])
	}
	told := false
	for _, w := range bounded.facts.Warnings {
		told = told || w.Code == diag.TooManyMaps && strings.Contains(w.Message, "of 20000 changes")
	}
	if !told {
		t.Errorf("not told: %v", bounded.facts.Warnings)
	}
}

// TestPackedSideBand refuses records of maps that take more memory than there
// may be, as packed ones easily do.
func TestPackedSideBand(t *testing.T) {
	path := (recording{writer: perfdata.WriterOptions{Pipe: true, Packing: perfdata.PackZstd}}).write(t, manyMaps(20_000))
	r := readAll(path, nil, Options{MaxMemory: 300 << 10})
	if !errors.Is(r.err, binfmt.ErrLimit) || diag.Of(r.err).Code != diag.TooLarge {
		t.Errorf("%v", r.err)
	}
}
