package traceexport

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spt"
)

var programs = []string{"wordstat", "minivm", "shapes"}

// sourceOf aggregates the recording of a program and returns the records of
// its executable.
func sourceOf(t *testing.T, program, recording string) *Source {
	t.Helper()
	profile := aggregate.New(spt.MaxEntries)
	var shards []*aggregate.Shard
	newSink := func() sample.Sink {
		shards = append(shards, profile.NewShard())
		return shards[len(shards)-1]
	}
	o := &ingest.Options{Workers: 1, Binaries: []string{program + ".elf"}, ImagePath: []string{corpus.Path(t, "programs")}}
	ingest.ReadAll(t.Context(), []string{corpus.Path(t, "programs", recording)}, nil, o, profile, newSink, func(_ []*ingest.Facts, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range shards {
			profile.Merge(s)
		}
	})
	var b bytes.Buffer
	if _, err := profile.Write(&b); err != nil {
		t.Fatal(err)
	}
	img, err := image.Open(corpus.Path(t, "programs", program+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	return &Source{
		Open: func() (*spt.Reader, error) { return spt.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), nil) },
		Base: img.Base,
	}
}

func output(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(strings.TrimSpace(string(b)), "\n")
	slices.Sort(list)
	return list
}

func write(t *testing.T, name string, do func(*os.File) (Stats, error)) Stats {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stats, err := do(f)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestAgainstProfgen has llvm-profgen make its profile from the recording and
// from both exports of the SPT: all three are the same.
func TestAgainstProfgen(t *testing.T) {
	profgen := corpus.Tool(t, "llvm-profgen-19", "llvm-profgen")
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			source := sourceOf(t, program, program+".data")
			elf := corpus.Path(t, "programs", program+".elf")
			output(t, profgen, "--binary="+elf, "--perfdata="+corpus.Path(t, "programs", program+".data"), "--output="+in("want.unsym"), "--skip-symbolization")
			write(t, in("got.unsym"), func(f *os.File) (Stats, error) { return Unsymbolized(f, source, 0x1000) })
			write(t, in("perf.script"), func(f *os.File) (Stats, error) { return PerfScript(f, source) })
			output(t, profgen, "--binary="+elf, "--perfscript="+in("perf.script"), "--output="+in("script.unsym"), "--skip-symbolization")
			want := lines(t, in("want.unsym"))
			if got := lines(t, in("script.unsym")); !slices.Equal(got, want) {
				t.Errorf("perf script: %d lines, want %d: %v", len(got), len(want), firstDifference(got, want))
			}
			// The tool takes stubs of the linkage table for code outside.
			got := slices.DeleteFunc(lines(t, in("got.unsym")), inStubs)
			if want := slices.DeleteFunc(want, inStubs); !slices.Equal(got, want) || len(want) < 20 {
				t.Errorf("sums: %d lines, want %d: %v", len(got), len(want), firstDifference(got, want))
			}
			output(t, profgen, "--binary="+elf, "--unsymbolized-profile="+in("got.unsym"), "--output="+in("got.prof"), "--format=text")
			output(t, profgen, "--binary="+elf, "--unsymbolized-profile="+in("want.unsym"), "--output="+in("want.prof"), "--format=text")
			if got, want := lines(t, in("got.prof")), lines(t, in("want.prof")); !slices.Equal(got, want) {
				t.Errorf("profile: %v", firstDifference(got, want))
			}
		})
	}
}

// inStubs says whether a line is a number of lines, or about an address below
// .text, which is 0x200 bytes behind .init and the linkage table.
func inStubs(line string) bool {
	parts := strings.FieldsFunc(line, func(r rune) bool { return r == '-' || r == '>' || r == ':' })
	if len(parts) < 3 {
		return true
	}
	for _, p := range parts[:2] {
		if v, err := strconv.ParseUint(p, 16, 64); err != nil || v < 0x200 && v>>63 == 0 {
			return true
		}
	}
	return false
}

func firstDifference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("%q, want %q", a[min(i, len(a)):min(i+4, len(a))], b[min(i, len(b)):min(i+4, len(b))])
		}
	}
	return ""
}

// TestAgainstPerf2bolt has perf2bolt make its profile from the recording and
// from the sums of the SPT. Mispredictions, which an SPT does not keep, are
// left out of the comparison.
func TestAgainstPerf2bolt(t *testing.T) {
	perf2bolt := corpus.Tool(t, "perf2bolt", "../lib/llvm-19/bin/perf2bolt")
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			source := sourceOf(t, program, program+".data")
			elf := corpus.Path(t, "programs", program+".elf")
			write(t, in("sums"), func(f *os.File) (Stats, error) { return PreAggregated(f, source) })
			output(t, perf2bolt, "-p", corpus.Path(t, "programs", program+".data"), "-o", in("want.fdata"), elf)
			output(t, perf2bolt, "-pa", "-p", in("sums"), "-o", in("got.fdata"), elf)
			got, want := branchesOf(lines(t, in("got.fdata"))), branchesOf(lines(t, in("want.fdata")))
			// From the order of branches the tool finds a fall-through behind a
			// call that sums do not show.
			missing := slices.DeleteFunc(slices.Clone(want), func(line string) bool { return slices.Contains(got, line) })
			more := slices.DeleteFunc(slices.Clone(got), func(line string) bool { return slices.Contains(want, line) })
			if len(missing) > 1 || len(more) > 0 || len(want) < 5 {
				t.Errorf("%d lines, want %d: %q are missing, %q are more", len(got), len(want), missing, more)
			}
		})
	}
}

// branchesOf takes the mispredictions out of lines of a BOLT profile:
// "1 main 3f 1 main 10 MISPREDICTIONS COUNT".
func branchesOf(lines []string) []string {
	var kept []string
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) == 8 {
			f[6] = "0"
		}
		kept = append(kept, strings.Join(f, " "))
	}
	slices.Sort(kept)
	return kept
}
