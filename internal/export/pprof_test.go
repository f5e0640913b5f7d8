package export

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// hotProgram builds the program in testdata/hot. It returns the folder with its
// source.
func hotProgram(t *testing.T) (dir, program string) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range map[string][]byte{"go.mod": []byte("module hot\n\ngo 1.26\n"), "main.go": read(t, "testdata/hot/main.go")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	goIn(t, dir, "build", "-o", "hot", ".")
	return dir, filepath.Join(dir, "hot")
}

// goIn runs the go command in a folder, as in a module of its own.
func goIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// callEdge is a call as the compiler knows it from a profile.
type callEdge struct {
	caller, callee string
	offset         int // of the line, from the caller's first one
	weight         float64
}

// callEdges has the go command read a profile and returns the calls with their
// share of the weight, the heaviest first. Calls of the program itself are
// wanted.
func callEdges(t *testing.T, dir, profile string) []callEdge {
	t.Helper()
	out := filepath.Join(t.TempDir(), "edges")
	goIn(t, dir, "tool", "preprofile", "-i", profile, "-o", out)
	lines := strings.Split(strings.TrimSpace(string(read(t, out))), "\n")
	var list []callEdge
	total := 0.0
	for lines = lines[1:]; len(lines) >= 3; lines = lines[3:] {
		offset, weight, _ := strings.Cut(lines[2], " ")
		e := callEdge{caller: lines[0], callee: lines[1]}
		e.offset, _ = strconv.Atoi(offset)
		e.weight, _ = strconv.ParseFloat(weight, 64)
		if !strings.HasPrefix(e.caller, "main.") || !strings.HasPrefix(e.callee, "main.") || strings.Contains(e.caller, "(*") {
			continue // wrappers and signals, which the profiles see differently
		}
		total += e.weight
		list = append(list, e)
	}
	for k := range list {
		list[k].weight *= 100 / total
	}
	slices.SortStableFunc(list, func(a, b callEdge) int { return cmp.Compare(b.weight, a.weight) })
	return list
}

// missing are the calls with at least 10 % of the weight in one list that have
// less than 5 % in the other.
func missing(list, other []callEdge) (names []string, n int) {
	for _, e := range list {
		if e.weight < 10 {
			break
		}
		n++
		if !slices.ContainsFunc(other, func(o callEdge) bool {
			return o.caller == e.caller && o.callee == e.callee && o.offset == e.offset && o.weight >= 5
		}) {
			names = append(names, fmt.Sprintf("%s calls %s at %d: %.1f %%", e.caller, e.callee, e.offset, e.weight))
		}
	}
	return names, n
}

// recordedHot records the program while it profiles itself.
func recordedHot(t *testing.T) (dir, program, recording, own string) {
	t.Helper()
	perf := corpus.Tool(t, "perf")
	dir, program = hotProgram(t)
	own, recording = filepath.Join(dir, "own.pprof"), filepath.Join(dir, "perf.data")
	c := exec.Command(perf, "record", "-q", "-e", "cpu-clock:u", "-c", "500000", "-g", "-o", recording, program, own, "8000")
	if out, err := c.CombinedOutput(); err != nil {
		corpus.Unavailable(t, "perf record: %v\n%s", err, out)
	}
	return dir, program, recording, own
}

// TestGo gives the Go compiler the profile of a run that was recorded by perf:
// the hot calls, and what the compiler makes of them, are those of the profile
// that the program made of the same run itself.
func TestGo(t *testing.T) {
	dir, program, recording, own := recordedHot(t)
	in := sampled(t, program, recording)
	data, r := written(t, Pprof, in)
	ours := save(t, "ours.pprof", data)
	if r.Exported == 0 || r.LostWeight*20 > r.Weight {
		t.Errorf("%+v", r)
	}
	got, want := callEdges(t, dir, ours), callEdges(t, dir, own)
	t.Logf("ours %v\nown %v", got, want)
	if list, n := missing(got, want); list != nil || n < 2 {
		t.Errorf("%d hot calls; not in the program's own profile: %v", n, list)
	}
	if list, n := missing(want, got); list != nil || n < 2 {
		t.Errorf("%d hot calls in the program's own profile; missing: %v", n, list)
	}
	cfg := save(t, "importcfg", []byte(goIn(t, dir, "list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", ".")))
	// The compiler alone: go build makes the library anew with each profile.
	// What it decides of calls with few per cent of the weight is up to chance.
	compile := func(profile ...string) []string {
		args := append([]string{"tool", "compile", "-p", "main", "-m", "-importcfg", cfg, "-o", filepath.Join(dir, "main.o")}, profile...)
		var list []string
		for line := range strings.Lines(goIn(t, dir, append(args, "main.go")...)) {
			if strings.Contains(line, "main.go") && (strings.Contains(line, "mix") || strings.Contains(line, "rect.area")) {
				list = append(list, line)
			}
		}
		slices.Sort(list)
		return list
	}
	a, b, none := compile("-pgoprofile="+ours), compile("-pgoprofile="+own), compile()
	if !slices.Equal(a, b) || slices.Equal(a, none) {
		t.Errorf("the compiler says\n%s\nwith the program's own profile\n%s\nwithout profile\n%s", strings.Join(a, ""), strings.Join(b, ""), strings.Join(none, ""))
	}
	if top := goIn(t, dir, "tool", "pprof", "-top", ours); !strings.Contains(top, "main.mix") {
		t.Errorf("go tool pprof says\n%s", top)
	}
}

// TestPprof reads a profile again: the sum is what was executed, stacks end in
// functions with lines, and each function calls the next one.
func TestPprof(t *testing.T) {
	in := sampledProgram(t, "shapes")
	data, r := written(t, Pprof, in)
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	var sum uint64
	called := make(map[string]map[string]bool) // by the function's name without its arguments
	for _, s := range p.Sample {
		sum += uint64(s.Value[0])
		for k, l := range s.Location[1:] {
			caller, _, _ := strings.Cut(l.Line[0].Function.Name, "IZ4main")
			if called[caller] == nil {
				called[caller] = make(map[string]bool)
			}
			called[caller][s.Location[k].Line[len(s.Location[k].Line)-1].Function.Name] = true
		}
	}
	if diff := int64(sum - r.Weight); sum != r.Kept || diff*diff > int64(r.Weight/1000)*int64(r.Weight/1000) {
		t.Errorf("the stacks have %d of %d executed instructions: %+v", sum, r.Weight, r)
	}
	for _, area := range []string{"_ZNK4Poly4areaEv", "_ZNK4Rect4areaEv", "_ZNK6Square4areaEv"} {
		if !called["_ZL13count_if_area"][area] {
			t.Errorf("%s is not called: %v", area, called)
		}
	}
}
