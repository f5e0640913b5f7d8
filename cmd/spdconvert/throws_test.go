package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// executions reads how often each instruction of a program was executed, by
// RVA.
func executions(t *testing.T, name string, base uint64) map[uint32]float64 {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := map[uint32]float64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if at, err := strconv.ParseUint(fields[0], 0, 64); err == nil {
			if m[uint32(at-base)], err = strconv.ParseFloat(fields[2], 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// TestThrows samples a program that throws again and again, and compares the
// counts of its code, landing pads above all, with what was executed.
func TestThrows(t *testing.T) {
	compilers := [][]string{{"g++"}}
	if os.Getenv("SPGO_LONG") != "" {
		compilers = append(compilers, []string{"clang++-19", "clang++"})
	}
	for _, compiler := range compilers {
		cc, python := corpus.Tool(t, compiler...), corpus.Tool(t, "python3")
		corpus.Tool(t, "valgrind")
		simulator := corpus.Path(t, "oracle", "lbrsim.py")
		t.Run(compiler[0], func(t *testing.T) {
			dir := t.TempDir()
			app, samples, db := filepath.Join(dir, "app"), filepath.Join(dir, "run.spt"), filepath.Join(dir, "app.spd")
			for _, args := range [][]string{
				{cc, "-O2", "-no-pie", "../../internal/build/testdata/throws.cc", "-o", app},
				{python, simulator, app, "5:997", app},
			} {
				if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			aggregateFile(t, app+".data", dir, "app", samples, false)
			succeed(t, "-q", "/build:"+app, db)
			succeed(t, "-q", db, samples)
			f, err := spd.ReadFile(db)
			if err != nil {
				t.Fatal(err)
			}
			for v := range f.Violations() {
				t.Error(v)
			}
			img, err := image.Open(app)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			compareThrows(t, f, img, executions(t, app+".truth.tsv", img.Base))
		})
	}
}

// compareThrows compares shares of counts in the functions that throw and
// catch.
func compareThrows(t *testing.T, f *spd.File, img *image.File, exact map[uint32]float64) {
	t.Helper()
	var got, want, pads, exactPads []float64
	for k := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[k]
		if name, _, _ := strings.Cut(fn.Name, "."); name != "outer" && name != "middle" && name != "risky" {
			continue
		}
		start := func(b *spd.Block) uint32 { return fn.RVA + b.Ranges[0].Start }
		for b := range fn.Blocks {
			bl := &fn.Blocks[b]
			if bl.Instructions == 0 {
				continue
			}
			got, want = append(got, float64(bl.Count)), append(want, exact[start(bl)])
			end := start(bl) + bl.Ranges[0].Length
			if len(bl.Edges) < 2 || !endsInCall(t, img, start(bl), end) {
				continue
			}
			for _, e := range bl.Edges[1:] { // behind the way on
				to := &fn.Blocks[e.To-1]
				if to.Instructions == 0 {
					continue
				}
				pads, exactPads = append(pads, float64(to.Count)), append(exactPads, exact[start(to)])
				if (exact[start(to)] > 0) != (to.Count > 0) {
					t.Errorf("%s: landing pad at %#x was executed %v times, its count is %d", fn.Name, start(to), exact[start(to)], to.Count)
				}
			}
		}
	}
	if len(pads) < 2 {
		t.Fatalf("%d landing pads", len(pads))
	}
	blocks, caught := shares(got, want), shares(append(pads, sum(got)-sum(pads)), append(exactPads, sum(want)-sum(exactPads)))
	t.Logf("%d blocks overlap by %.2f %%, %d landing pads by %.2f %%", len(got), blocks, len(pads), caught)
	if blocks < 95 || caught < 98 {
		t.Errorf("overlap of blocks %.2f %%, of landing pads %.2f %%", blocks, caught)
	}
}

func sum(list []float64) (total float64) {
	for _, x := range list {
		total += x
	}
	return total
}

// endsInCall says whether the last instruction of some code is a call.
func endsInCall(t *testing.T, img *image.File, start, end uint32) bool {
	t.Helper()
	code := make([]byte, end-start)
	if _, err := img.ReadAtRVA(code, uint64(start)); err != nil {
		t.Fatal(err)
	}
	last := disasm.Other
	for at := 0; at < len(code); {
		in, ok := disasm.AMD64.Decode(code[at:], uint64(start)+uint64(at))
		if !ok {
			break
		}
		if !in.Padding {
			last = in.Kind
		}
		at += int(in.Len)
	}
	return last == disasm.Call || last == disasm.IndirectCall
}
