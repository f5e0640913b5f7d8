package export

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/golden"
)

// Differences of overlaps, in per cent, that say nothing of a single recording:
// hardly twice their standard deviation over recordings of the same run, which
// the document has. Where jumps and ways to the next block are taken together it
// is greater, since perf2bolt makes jumps too heavy, which hides that by chance
// they were sampled too rarely.
const (
	hardly     = .05
	hardlyBoth = .4
)

const document = "../../docs/accuracy.md"

// executed is a line of a truth file.
type executed struct {
	address         uint64
	count, branched float64
}

func truth(t *testing.T, program string) []executed {
	t.Helper()
	var list []executed
	s := bufio.NewScanner(bytes.NewReader(read(t, corpus.Path(t, "programs", program+".truth.tsv"))))
	for s.Scan() {
		var e executed
		var size int
		if n, _ := fmt.Sscanf(s.Text(), "0x%x %d %g %g", &e.address, &size, &e.count, &e.branched); n == 4 {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s: no truth", program)
	}
	return list
}

// lineCounts are counts by the place of a line: functions, outermost first,
// with the distances of the calls and of the line.
type lineCounts map[string]float64

// trueLines is the greatest count of the instructions of each line, where
// llvm-symbolizer says which line it is.
func trueLines(t *testing.T, program string) lineCounts {
	t.Helper()
	list := truth(t, program)
	var addresses strings.Builder
	for _, e := range list {
		fmt.Fprintf(&addresses, "%#x\n", e.address)
	}
	cmd := exec.Command(corpus.Tool(t, "llvm-symbolizer-19", "llvm-symbolizer"), "--obj="+corpus.Path(t, "programs", program+".elf"), "--inlines", "--no-demangle", "--output-style=JSON")
	cmd.Stdin = strings.NewReader(addresses.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := make(lineCounts)
	d := json.NewDecoder(bytes.NewReader(out))
	for _, e := range list {
		var at struct {
			Symbol []struct {
				FunctionName                   string
				StartLine, Line, Discriminator int
			}
		}
		if err := d.Decode(&at); err != nil {
			t.Fatal(err)
		}
		key := ""
		for _, f := range slices.Backward(at.Symbol) {
			if f.StartLine == 0 {
				key = "" // code without debug information, such as stubs
				break
			}
			number, _ := clangDiscriminators("clang", uint32(f.Discriminator))
			key += fmt.Sprintf("%s %v ", f.FunctionName, place{uint16(f.Line - f.StartLine), number})
		}
		if key != "" {
			counts[key] = max(counts[key], e.count)
		}
	}
	return counts
}

// readLines reads a sample profile in LLVM's text form.
func readLines(t *testing.T, text []byte) lineCounts {
	t.Helper()
	counts := make(lineCounts)
	var path []string // of the open functions and calls
	for line := range strings.Lines(string(text)) {
		inner := strings.TrimLeft(line, " ")
		depth := len(line) - len(inner)
		if depth == 0 {
			name, _, _ := strings.Cut(inner, ":")
			path = []string{name + " "}
			continue
		}
		at, rest, ok := strings.Cut(strings.TrimSpace(inner), ": ")
		if !ok {
			t.Fatalf("%q", line)
		}
		first, _, _ := strings.Cut(rest, " ")
		if callee, _, isCall := strings.Cut(first, ":"); isCall {
			path = append(path[:depth], path[depth-1]+at+" "+callee+" ")
			continue
		}
		n, err := strconv.ParseFloat(first, 64)
		if err != nil {
			t.Fatalf("%q", line)
		}
		counts[path[depth-1]+at+" "] = n
	}
	return counts
}

// exits is how often the last instruction of a block was left by a jump, and
// how often for the next instruction.
type exits struct{ taken, passed float64 }

// trueExits are those of all blocks that end in a jump or in none, by the
// address of the last instruction. A jump without condition is always taken.
func trueExits(t *testing.T, in Input, program string) map[uint64]exits {
	t.Helper()
	p, err := load(in)
	if err != nil {
		t.Fatal(err)
	}
	ends := make(map[uint64]bool)
	for k := range p.functions {
		f := &p.functions[k]
		p.ways(f, func(from instruction, _ uint32, _ uint64) {
			ends[in.Image.Base+uint64(from.rva)] = !f.stub()
		})
	}
	list := make(map[uint64]exits)
	for _, e := range truth(t, program) {
		_, kind := decoded(in, e.address)
		switch {
		case !ends[e.address]:
		case kind == disasm.CondJump:
			list[e.address] = exits{e.branched, e.count - e.branched}
		case kind == disasm.Jump, kind == disasm.IndirectJump:
			list[e.address] = exits{taken: e.count}
		default:
			list[e.address] = exits{passed: e.count}
		}
	}
	return list
}

// decoded returns the end and kind of an instruction in a function that is no
// stub.
func decoded(in Input, address uint64) (end uint64, kind disasm.Kind) {
	for _, m := range in.Profile.Modules {
		for k := range m.Functions {
			f := &m.Functions[k]
			if at := address - in.Image.Base; at < uint64(f.RVA) || at >= uint64(f.RVA)+uint64(f.Length) || strings.HasSuffix(f.Name, "@plt") {
				continue
			}
			code := make([]byte, disasm.MaxLen)
			n, _ := in.Image.ReadAtRVA(code, address-in.Image.Base)
			if i, ok := disasm.AMD64.Decode(code[:n], address); ok {
				return address + uint64(i.Len), i.Kind
			}
		}
	}
	return 0, disasm.Other
}

// exitsOf are those in a branch profile, without calls.
func exitsOf(in Input, branches fdata) map[uint64]exits {
	list := make(map[uint64]exits)
	for at, n := range branches {
		x := list[at[0]]
		switch end, kind := decoded(in, at[0]); kind {
		case disasm.Call, disasm.IndirectCall, disasm.Return:
			continue
		case disasm.Jump, disasm.IndirectJump:
			x.taken += n
		case disasm.CondJump:
			if at[1] != end {
				x.taken += n
				break
			}
			fallthrough
		default:
			x.passed += n
		}
		list[at[0]] = x
	}
	return list
}

// lineOverlap compares two profiles by lines, in per cent.
func lineOverlap(a, b lineCounts) float64 {
	all := make(lineCounts)
	for _, m := range []lineCounts{a, b} {
		for k := range m {
			all[k] = 0
		}
	}
	var x, y []float64
	for _, k := range keys(all, strings.Compare) {
		x, y = append(x, a[k]), append(y, b[k])
	}
	return 100 * overlap(x, y)
}

// exitOverlaps compares two profiles by the jumps that were taken, by the ways
// to the next block, and by both together.
func exitOverlaps(a, b map[uint64]exits) (taken, passed, both float64) {
	all := make(map[uint64]bool)
	for _, m := range []map[uint64]exits{a, b} {
		for k := range m {
			all[k] = true
		}
	}
	var x, y [2][]float64
	for _, k := range keys(all, cmp.Compare[uint64]) {
		x[0], y[0] = append(x[0], a[k].taken), append(y[0], b[k].taken)
		x[1], y[1] = append(x[1], a[k].passed), append(y[1], b[k].passed)
	}
	return 100 * overlap(x[0], y[0]), 100 * overlap(x[1], y[1]), 100 * overlap(slices.Concat(x[0], x[1]), slices.Concat(y[0], y[1]))
}

// nearly says whether two lines of the table have the same figures, but for
// what any change of the inference changes.
func nearly(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	for k := range min(len(x), len(y)) {
		v, err1 := strconv.ParseFloat(x[k], 64)
		w, err2 := strconv.ParseFloat(y[k], 64)
		if err1 == nil && err2 == nil && math.Abs(v-w) < hardly {
			y[k] = x[k]
		}
	}
	return slices.Equal(x, y)
}

// A contest is the overlap with exact counts of what a tool and of what the
// export makes of the same recording, in per cent.
type contest struct {
	items, tool  string
	theirs, ours float64
}

// contests holds all of a recording of one of the programs.
func contests(t *testing.T, name, recording string, in Input, exact lineCounts, branches map[uint64]exits) []contest {
	t.Helper()
	path := corpus.Path(t, "programs", name+".elf")
	lines, _ := written(t, LLVM, in)
	list := []contest{{"lines", "llvm-profgen", lineOverlap(readLines(t, profgenProfile(t, name, recording)), exact), lineOverlap(readLines(t, lines), exact)}}
	ways, _ := written(t, BOLT, in)
	taken1, passed1, both1 := exitOverlaps(exitsOf(in, readFdata(t, path, perf2boltProfile(t, name, recording))), branches)
	taken2, passed2, both2 := exitOverlaps(exitsOf(in, readFdata(t, path, ways)), branches)
	return append(list, contest{"taken jumps", "perf2bolt", taken1, taken2},
		contest{"fall-throughs", "perf2bolt", passed1, passed2}, contest{"both", "perf2bolt", both1, both2})
}

// A page is the document, in lines.
type page []string

func readPage(t *testing.T) page {
	t.Helper()
	return strings.Split(string(read(t, document)), "\n")
}

// set replaces the line of the same first two columns, unless it is nearly the
// same.
func (p page) set(t *testing.T, program, items, rest string) {
	t.Helper()
	key := fmt.Sprintf("| %s | %s |", program, items)
	line := key + rest
	t.Log(line)
	switch k := slices.IndexFunc(p, func(l string) bool { return strings.HasPrefix(l, key) }); {
	case k < 0:
		t.Errorf("%s has no line %q:\n%s", document, key, line)
	case updating() || !nearly(p[k], line):
		p[k] = line
	}
}

// updating says whether the document is to be written anew.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

func (p page) check(t *testing.T) {
	t.Helper()
	golden.Check(t, document, []byte(strings.Join(p, "\n")))
}

// TestAgainstTools compares exported profiles with exact counts, beside what
// llvm-profgen and perf2bolt make of the same recordings, and with the table of
// the document. The exported ones must hardly be worse anywhere.
func TestAgainstTools(t *testing.T) {
	p := readPage(t)
	for _, name := range programs {
		in := sampledProgram(t, name)
		for _, c := range contests(t, name, recording(t, name), in, trueLines(t, name), trueExits(t, in, name)) {
			p.set(t, name, c.items, fmt.Sprintf(" %s | %.2f | %.2f |", c.tool, c.theirs, c.ours))
			allowed := hardly
			if c.items == "both" {
				allowed = hardlyBoth
			}
			if c.ours < c.theirs-allowed {
				t.Errorf("%s, %s: %.2f, %s %.2f", name, c.items, c.ours, c.tool, c.theirs)
			}
		}
	}
	p.check(t)
}
