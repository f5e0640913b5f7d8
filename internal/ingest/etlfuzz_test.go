package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// FuzzReadLog reads any bytes as a log file. Whatever they are, every sample,
// branch and frame is accounted for once, the sink has what the accounts say,
// and neither the number of workers nor the way the table of samples is filled
// matters.
func FuzzReadLog(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join(corpus.Path(f, "corpus", "etl"), "*.etl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		if fi, err := os.Stat(path); err == nil && fi.Size() < 25000 {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := writeFile(t, filepath.Join(t.TempDir(), "run.etl"), data)
		one := readLogs(t, Options{Workers: 1, PathMap: nowhere}, path)
		if len(one.errs) > 0 || one.facts[0].Format != "etl" {
			return
		}
		total := sample.NewStats()
		for _, f := range one.facts {
			total.Merge(f.Stats)
		}
		var hits, lbr uint64
		for _, n := range one.ips {
			hits += n
		}
		for _, f := range one.facts {
			lbr += f.Records[className(etl.ClassLBR)]
		}
		// A sample may stand for several, and a call stack in branch registers
		// has one frame more than entries.
		pieces, used := one.entries+one.frames, total.Branches.Used()+total.Frames.Used()
		if hits < total.Kinds[sample.PMC].Used()+total.Kinds[sample.Timer].Used() || pieces < used || pieces > used+lbr {
			t.Errorf("the sink has %d addresses, %d branches and %d frames; %s", hits, one.entries, one.frames, text(t, one))
		}
		three := readLogs(t, Options{Workers: 3, PathMap: nowhere}, path)
		if diff := cmp.Diff(text(t, one), text(t, three)); diff != "" {
			t.Errorf("three workers differ from one (-one +three):\n%s", diff)
		}
	})
}

// TestETLProbe reads recordings in which stacks and branches show up late, so
// that the samples are noted in a pass of their own, and one without any.
func TestETLProbe(t *testing.T) {
	defer func(old int) { probeBytes = old }(probeBytes)
	probeBytes = 0
	for _, keys := range []bool{false, true} {
		m := newMachine(8)
		samples, want := m.script(9)
		trace := m.trace(samples)
		trace.StackKeys, trace.Compress = keys, keys
		m.check(t, readLogs(t, Options{Workers: 2}, writeLog(t, filepath.Join(t.TempDir(), "run.etl"), trace)), want)
	}
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), machineLines+"1 timer 104 400010\n2 timer 999 400010", nil)
	r := readLogs(t, Options{}, path)
	if s := &r.facts[0].Stats.Samples; s.Used() != 1 || s[sample.UnknownProcess] != 1 {
		t.Errorf("samples %s", account(s))
	}
}
