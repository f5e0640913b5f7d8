package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// TestHiddenTable imports samples into the SPD of a program whose only jump
// table was taken away: branches that were seen stand for it.
func TestHiddenTable(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(corpus.Path(t, "programs", "minivm.elf"))
	if err != nil {
		t.Fatal(err)
	}
	for k := range 9 * 4 { // entries, in .rodata at RVA and file offset 0x2004
		data[0x2004+k] = 0xff
	}
	image, db, samples := filepath.Join(dir, "minivm.elf"), filepath.Join(dir, "app.spd"), filepath.Join(dir, "run.spt")
	if err := os.WriteFile(image, data, 0o600); err != nil {
		t.Fatal(err)
	}
	truth := instructionsOf(t, "minivm")
	for _, x := range []struct {
		recording       string
		blocks, entries float64 // at least
	}{
		{"minivm.data", 99.5, 99},
		{"minivm.ip.data", 98.7, 97},
	} {
		aggregated(t, "minivm", x.recording, samples, false)
		succeed(t, "-q", "/build:"+image, db)
		succeed(t, "-q", db, samples)
		f, err := spd.ReadFile(db)
		if err != nil {
			t.Fatal(err)
		}
		for v := range f.Violations() {
			t.Errorf("%s: %v", x.recording, v)
		}
		got := compareWith(t, f, truth, nil)
		t.Logf("%s: %+v", x.recording, got)
		if got.blocks < x.blocks || got.entries < x.entries {
			t.Errorf("%s: %+v, want at least %v and %v", x.recording, got, x.blocks, x.entries)
		}
		if err := os.Remove(db); err != nil {
			t.Fatal(err)
		}
	}
	// An import that makes the SPD knows the branches, and so has all edges; an
	// export has these, too.
	aggregated(t, "minivm", "minivm.data", samples, false)
	known, whole := filepath.Join(dir, "known.spd"), corpus.Path(t, "programs", "minivm.elf")
	succeed(t, "-q", known, samples, "--image", whole)
	succeed(t, "-q", db, samples, "--image", image)
	jumps := func(db, image string) (list []string) {
		out := filepath.Join(dir, "out.fdata")
		succeed(t, "-q", "/export:bolt", "--image", image, db, out)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "1 main 19f 1 main ") { // the jump, at RVA 0x130f
				list = append(list, line)
			}
		}
		return list
	}
	want, got := jumps(known, whole), jumps(db, image)
	if len(want) < 8 || !slices.Equal(got, want) {
		t.Errorf("branches of the jump:\n%s\nwant\n%s", got, want)
	}
}
