package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/armwalk"
	"github.com/spgo-tools/spgo/internal/build"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// walkedProgram has loops, conditions and calls; what it computes does not
// matter.
const walkedProgram = `
#define N __attribute__((noinline))
static volatile int in, out;
static N int leaf(int x) { if (in & 1) x += 3; else x ^= 5; return x; }
static N int middle(int x) {
	for (int i = 0; i < in; i++) {
		if (in & 2) x += leaf(x); else if (in & 4) x -= 7;
		if (in & 8) out = x;
	}
	return x;
}
static N int chain(int x) {
	if (in == 1) return leaf(x);
	if (in == 2) return middle(x) + 1;
	if (in == 3) { do x += in; while (in & 16); return x; }
	return x;
}
static N void round(void) {
	int x = 0;
	for (int i = 0; i < in; i++) {
		x += chain(i);
		while (in & 32) x = middle(x);
	}
	out = x;
}
void _start(void) { for (;;) { round(); if (in & 64) out = leaf(out); } }
`

// buildWalked compiles the program for AArch64.
func buildWalked(t *testing.T) string {
	t.Helper()
	clang := corpus.Tool(t, "clang-19", "clang")
	corpus.Tool(t, "ld.lld-19", "ld.lld")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "walk.c"), filepath.Join(dir, "walk")
	if err := os.WriteFile(source, []byte(walkedProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(clang, "--target=aarch64-linux-gnu", "-O1", "-ffreestanding", "-nostdlib", "-static", "-fno-jump-tables",
		"-fuse-ld=lld", "-Wl,--build-id=sha1", "-o", program, source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// walked is what an SPT says of a walk.
type walked struct {
	instructions, branches map[uint32]uint64
	arcs                   map[spt.Pair]uint64
	runs                   map[spt.Pair]uint64 // From: the end, To: the start
}

func readWalked(t *testing.T, name string) *walked {
	t.Helper()
	r, err := spt.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w := &walked{map[uint32]uint64{}, map[uint32]uint64{}, map[spt.Pair]uint64{}, map[spt.Pair]uint64{}}
	for r.Next() {
		rec := r.Record()
		for _, rva := range rec.RVAs {
			switch rec.Op {
			case spt.OpRetireInstr:
				w.instructions[rva] += rec.Hits()
			case spt.OpRetireBrInstr:
				w.branches[rva] += rec.Hits()
			}
		}
		for i, p := range rec.Pairs {
			if p.From != 0 && p.To != 0 {
				w.arcs[p] += rec.Hits()
			}
			if i+1 < len(rec.Pairs) {
				w.runs[spt.Pair{From: p.From, To: rec.Pairs[i+1].To}] += rec.Hits()
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return w
}

// imported imports an SPT into an SPD of the program and returns the executed
// instructions of each block, by its RVA, as the import has them and as they
// are.
func imported(t *testing.T, program, name string, mode correlate.Mode, instructions map[uint32]uint64) (inferred, exact map[uint32]uint64) {
	t.Helper()
	f, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.NewFile(f, fi.Size())
	if err != nil {
		t.Fatal(err)
	}
	functions, _, err := funcs.Find(img, funcs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, _, err := build.Build(img, functions, build.Options{Name: "walk"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := spt.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sums := correlate.NewSamples(db)
	if _, err := sums.Add(r, func(spt.ProgramID) bool { return true }, 1); err != nil {
		t.Fatal(err)
	}
	result, err := correlate.Infer(context.Background(), sums, correlate.Options{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	inferred, exact = map[uint32]uint64{}, map[uint32]uint64{}
	k := 0
	for _, m := range db.Modules {
		for _, fn := range m.Functions {
			counts := result.Functions[k].Blocks
			k++
			for i, b := range fn.Blocks {
				if len(b.Ranges) == 0 || len(counts) == 0 {
					continue
				}
				rva := fn.RVA + b.Ranges[0].Start
				inferred[rva] = counts[i] * uint64(b.Instructions)
				exact[rva] = instructions[rva] * uint64(b.Instructions)
			}
		}
	}
	return inferred, exact
}

// overlap is the sum of the smaller share of each key.
func overlap[K comparable](a, b map[K]uint64) float64 {
	total := func(m map[K]uint64) (n float64) {
		for _, v := range m {
			n += float64(v)
		}
		return n
	}
	na, nb, sum := total(a), total(b), 0.0
	for k, v := range a {
		sum += min(float64(v)/na, float64(b[k])/nb)
	}
	return sum
}

// TestSPEAccuracy compares the SPT of a sampled walk through an AArch64 program
// with what the walk really did.
func TestSPEAccuracy(t *testing.T) {
	program := buildWalked(t)
	p, err := armwalk.Load(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options armwalk.Options
		blocks  map[correlate.Mode]float64 // least overlap of the blocks after an import
	}{
		{"all operations", armwalk.Options{Interval: 40}, map[correlate.Mode]float64{correlate.IP: 0.98, correlate.LBR: 0.97}},
		{"branches", armwalk.Options{Interval: 10, Branches: true}, map[correlate.Mode]float64{correlate.LBR: 0.98}},
		{"branches with previous targets", armwalk.Options{Interval: 10, Branches: true, Previous: true}, map[correlate.Mode]float64{correlate.LBR: 0.98}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Path, c.options.Instructions, c.options.Seed = "/no/walk", 4_000_000, 7
			checkAccuracy(t, program, p, c.options, 15, c.blocks)
		})
	}
}

// checkAccuracy records executions of a program, makes an SPT of the recording
// and compares both with what was executed, which has at least so many arcs.
func checkAccuracy(t *testing.T, program string, p *armwalk.Program, options armwalk.Options, leastArcs int, blocks map[correlate.Mode]float64) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "perf.data"), filepath.Join(dir, "walk.spt")
	f, err := os.Create(data)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := p.Record(f, options)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	code, doc := aggregateJSON(t, data, "--path-map", "/no="+filepath.Dir(program), "-o", out)
	if code != 0 || doc.Binaries[0].Identity != "file build-id" {
		t.Fatalf("exit code %d, %+v", code, doc.Binaries)
	}
	t.Logf("%d records, of which %d are of branches", doc.SPERecords.Read, doc.SPEBranches.Read)
	got := readWalked(t, out)
	rva := func(address uint64) uint32 { return uint32(address - p.Base) }
	instructions, branches := map[uint32]uint64{}, map[uint32]uint64{}
	arcs, runs := map[spt.Pair]uint64{}, map[spt.Pair]uint64{}
	for a, n := range exact.Instructions {
		instructions[rva(a)] = n
	}
	for a, n := range exact.Taken {
		arcs[spt.Pair{To: rva(a.To), From: rva(a.From)}] = n
		branches[rva(a.From)] += n
	}
	for a, n := range exact.NotTaken {
		branches[rva(a)] += n
	}
	for a, n := range exact.Runs {
		runs[spt.Pair{To: rva(a.To), From: rva(a.From)}] = n
	}
	if len(instructions) < 4*leastArcs || len(arcs) < leastArcs {
		t.Fatalf("the walk met %d instructions and %d arcs", len(instructions), len(arcs))
	}
	for pair := range got.arcs {
		if arcs[pair] == 0 {
			t.Errorf("the branch %#x->%#x never was taken", pair.From, pair.To)
		}
	}
	const least = 0.97
	check := func(what string, share float64) {
		t.Logf("%s: overlap %.2f %%", what, 100*share)
		if share < least {
			t.Errorf("%s overlap by %.4f", what, share)
		}
	}
	if !options.Branches {
		check("instructions", overlap(instructions, got.instructions))
	} else if len(got.instructions) > 0 {
		t.Error("branches alone are instruction samples")
	}
	for mode, least := range blocks {
		inferred, exact := imported(t, program, out, mode, instructions)
		share := overlap(exact, inferred)
		t.Logf("blocks of the SPD, mode %v: overlap %.2f %%", mode, 100*share)
		if share < least {
			t.Errorf("blocks of the SPD overlap by %.4f in mode %v", share, mode)
		}
	}
	check("branches", overlap(branches, got.branches))
	check("arcs", overlap(arcs, got.arcs))
	if !options.Previous {
		return
	}
	check("straight ranges", overlap(runs, got.runs))
	for pair := range got.runs {
		if runs[pair] == 0 {
			t.Errorf("nothing ran straight from %#x to %#x", pair.To, pair.From)
		}
	}
}
