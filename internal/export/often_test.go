package export

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/rerun"
)

// The recordings of each program that TestAgainstToolsOften makes, with the
// period and the arguments of the known ones.
const (
	recordings = 20
	period     = 397
)

var arguments = map[string]string{"wordstat": "12000", "minivm": "60000", "shapes": "1500"}

// TestAgainstToolsOften compares exports with other tools as TestAgainstTools
// does, over many recordings of the same run: what is different in one of them
// is chance. On average the exports must not be worse in anything, by more than
// the standard deviation of that average.
func TestAgainstToolsOften(t *testing.T) {
	if os.Getenv("SPGO_LONG") != "1" {
		t.Skip("set SPGO_LONG=1 to run the programs again and sample them many times")
	}
	valgrind := corpus.Tool(t, "valgrind")
	p := readPage(t)
	for _, name := range programs {
		path := corpus.Path(t, "programs", name+".elf")
		r, err := rerun.Trace(valgrind, path, arguments[name])
		if err != nil {
			t.Fatal(err)
		}
		sameRun(t, name, r)
		exact := trueLines(t, name)
		branches := trueExits(t, sampledProgram(t, name), name)
		var sums []average
		for seed := range uint64(recordings) {
			data := filepath.Join(t.TempDir(), name)
			f, err := os.Create(data)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Record(f, rerun.TakenBranches, period, seed); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			for k, c := range contests(t, name, data, sampled(t, path, data), exact, branches) {
				if seed == 0 {
					sums = append(sums, average{contest: contest{items: c.items, tool: c.tool}})
				}
				sums[k].add(c)
			}
		}
		for _, s := range sums {
			d := s.ours - s.theirs
			spread := math.Sqrt(max(0, s.square-d*d))
			p.set(t, fmt.Sprintf("%s, %d times", name, recordings), s.items,
				fmt.Sprintf(" %s | %.3f | %.3f | %+.3f | %.3f | %d |", s.tool, s.theirs, s.ours, d, spread, s.wins))
			if d < -spread/math.Sqrt(recordings) {
				t.Errorf("%s, %s: %.3f on average, %s %.3f, with a spread of %.3f", name, s.items, s.ours, s.tool, s.theirs, spread)
			}
		}
	}
	if updating() { // the run is another one where libraries are
		p.check(t)
	}
}

// An average holds the means of a contest over the recordings.
type average struct {
	contest
	square float64 // of the difference
	wins   int     // recordings in which the export is not worse
}

func (a *average) add(c contest) {
	d := c.ours - c.theirs
	a.theirs += c.theirs / recordings
	a.ours += c.ours / recordings
	a.square += float64(d*d) / recordings
	if d >= 0 {
		a.wins++
	}
}

// sameRun checks that a run is the one whose exact counts are known.
func sameRun(t *testing.T, name string, r *rerun.Run) {
	t.Helper()
	counts := make(map[uint64]rerun.Executed)
	for _, e := range r.Instructions() {
		counts[e.Address] = e
	}
	list := truth(t, name)
	for _, e := range list {
		if got := counts[e.address]; float64(got.Count) != e.count || float64(got.Taken) != e.branched {
			t.Fatalf("%s: instruction %#x was executed %d times and branched %d times, want %v and %v", name, e.address, got.Count, got.Taken, e.count, e.branched)
		}
	}
	if len(list) != len(counts) {
		t.Fatalf("%s: %d instructions were executed, want %d", name, len(counts), len(list))
	}
}
