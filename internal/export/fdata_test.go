package export

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// boltTool returns one of BOLT's programs, which Debian does not put into the
// path.
func boltTool(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"/usr/lib/llvm-19/bin", "/usr/lib/llvm-22/bin"} {
		if path := filepath.Join(dir, name); fileExists(path) {
			return path
		}
	}
	return corpus.Tool(t, name)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fdata is a branch profile by addresses, from and to.
type fdata map[[2]uint64]float64

// readFdata reads the branches whose both ends are known.
func readFdata(t *testing.T, path string, data []byte) fdata {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	addresses := make(map[string]uint64)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			addresses[s.Name] = s.Value
		}
	}
	branches := make(fdata)
	for line := range strings.Lines(string(data)) {
		w := strings.Fields(line)
		if len(w) != 8 {
			t.Fatalf("%q", line)
		}
		place := func(name, offset string) (uint64, bool) {
			base, local, _ := strings.Cut(name, "/")
			at, known := addresses[base]
			n, err := strconv.ParseUint(offset, 16, 64)
			if err != nil {
				t.Fatalf("%q", line)
			}
			if global := local == ""; known && global != strings.HasSuffix(name, base) {
				t.Errorf("%q", line)
			}
			return at + n, known
		}
		from, known1 := place(w[1], w[2])
		to, known2 := place(w[4], w[5])
		count, err := strconv.ParseFloat(w[7], 64)
		if err != nil {
			t.Fatalf("%q", line)
		}
		if known1 && known2 {
			branches[[2]uint64{from, to}] += count
		}
	}
	return branches
}

// TestPerf2bolt compares with what perf2bolt makes of the same recording, in
// the branches that both know.
func TestPerf2bolt(t *testing.T) {
	for _, name := range programs {
		path := corpus.Path(t, "programs", name+".elf")
		text, _ := written(t, BOLT, sampledProgram(t, name))
		ours, theirs := readFdata(t, path, text), readFdata(t, path, perf2boltProfile(t, name, recording(t, name)))
		var a, b []float64
		var missing float64
		total := 0.0
		for at, n := range theirs {
			if total += n; ours[at] == 0 {
				missing += n
			}
			a, b = append(a, ours[at]), append(b, n)
		}
		o := overlap(a, b)
		t.Logf("%s: overlap with perf2bolt's branches %.2f %%, %d of ours and %d of theirs; %.3f %% of theirs are missing", name, 100*o, len(ours), len(theirs), 100*missing/total)
		if o < .98 || missing > .001*total {
			t.Errorf("%s: ours\n%v\ntheirs\n%v", name, ours, theirs)
		}
	}
}

// overlap is the sum over all items of the smaller share of the total; 0 where
// one is empty.
func overlap(a, b []float64) float64 {
	var sumA, sumB, common float64
	for k := range a {
		sumA += a[k]
		sumB += b[k]
	}
	if sumA == 0 || sumB == 0 {
		return 0
	}
	for k := range a {
		common += min(a[k]/sumA, b[k]/sumB)
	}
	return common
}

// TestBOLT optimizes the programs with their branch profiles and runs them.
// BOLT takes as many functions as with perf2bolt's profiles, at least.
func TestBOLT(t *testing.T) {
	bolt := boltTool(t, "llvm-bolt")
	profiled := regexp.MustCompile(`BOLT-INFO: ([0-9]+) out of [0-9]+ functions`)
	for _, name := range programs {
		path := corpus.Path(t, "programs", name+".elf")
		text, _ := written(t, BOLT, sampledProgram(t, name))
		theirs := save(t, "theirs", perf2boltProfile(t, name, recording(t, name)))
		out := filepath.Join(t.TempDir(), name)
		functions := func(data string) int {
			said := run(t, bolt, path, "-data", data, "-o", out, "-reorder-blocks=ext-tsp")
			for line := range strings.Lines(said) {
				if strings.Contains(line, "stale") || strings.Contains(line, "invalid") || strings.Contains(line, "WARNING") && !strings.Contains(line, "debug info will be stripped") {
					t.Errorf("%s: %s", name, line)
				}
			}
			n := profiled.FindStringSubmatch(said)
			if n == nil {
				t.Fatal(said)
			}
			v, _ := strconv.Atoi(n[1])
			return v
		}
		want := functions(theirs)
		if got := functions(save(t, "a.fdata", text)); got < want || got == 0 {
			t.Errorf("%s: BOLT takes %d functions, of perf2bolt's profile %d", name, got, want)
		}
		if a, b := run(t, path), run(t, out); a != b {
			t.Errorf("%s: optimized it says %q, else %q", name, b, a)
		}
	}
}

// TestBoltNames names local symbols by their number.
func TestBoltNames(t *testing.T) {
	dir := t.TempDir()
	gcc := corpus.Tool(t, "gcc", "clang-19")
	for name, source := range map[string]string{
		"a.c": "int shared; __attribute__((noinline)) static int same(int x) { return x * 3; }\nint first(int x) { return same(x) + 1; }\n",
		"b.c": "__attribute__((noinline)) static int same(int x) { return x ^ 5; }\nint second(int x) { return same(x) - 1; }\nint first(int);\nint main(int n, char **v) { return first(n) + second(n); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	app := filepath.Join(dir, "app")
	run(t, gcc, "-O1", "-o", app, filepath.Join(dir, "a.c"), filepath.Join(dir, "b.c"))
	in := unsampled(t, app)
	p, err := load(in)
	if err != nil {
		t.Fatal(err)
	}
	names, err := p.boltNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"same/1", "same/2", "first", "second", "main"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %q", want, names)
		}
	}
	for k, name := range names {
		if base, _, _ := strings.Cut(name, "/"); name != "" && base != strings.Replace(p.functions[k].Name, "@plt", "@PLT", 1) && !bytes.Contains([]byte(p.functions[k].Name), []byte("#")) {
			t.Errorf("%s is named %s", p.functions[k].Name, name)
		}
	}
}
