package build

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// instruction is a line of a truth file: how often an instruction was executed.
type instruction struct {
	rva    uint32
	length uint32
	count  uint64
}

// truth reads the counts of a program that is linked for address base.
func truth(t testing.TB, path string, base uint64) []instruction {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []instruction
	s := bufio.NewScanner(f)
	for s.Scan() {
		w := strings.Fields(s.Text())
		if len(w) < 3 || w[0] == "address" {
			continue
		}
		addr, err1 := strconv.ParseUint(w[0], 0, 64)
		size, err2 := strconv.ParseUint(w[1], 10, 32)
		count, err3 := strconv.ParseUint(w[2], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("%s: %q", path, s.Text())
		}
		list = append(list, instruction{uint32(addr - base), uint32(size), count})
	}
	return list
}

// TestTruth compares blocks with exact counts of the instructions: each one
// that was executed is in a block, counts in a block are equal, and the block
// has as many instructions.
func TestTruth(t *testing.T) {
	for _, name := range []string{"wordstat", "minivm", "shapes"} {
		f, _ := build(t, corpus.Path(t, "programs/"+name+".elf"), "")
		type block struct{ function, block int }
		start := make(map[uint32]block)
		owner := make(map[uint32]block)
		for i, fn := range f.Modules[0].Functions {
			for k, b := range fn.Blocks {
				for _, r := range b.Ranges {
					start[fn.RVA+r.Start] = block{i, k}
					for x := range r.Length {
						owner[fn.RVA+r.Start+x] = block{i, k}
					}
				}
			}
		}
		counts := make(map[block]uint64)
		sizes := make(map[block]uint32)
		var outside, equal, different int
		for _, in := range truth(t, corpus.Path(t, "programs/"+name+".truth.tsv"), 0x400000) {
			b, ok := owner[in.rva]
			if !ok {
				if in.count > 0 {
					outside++
					t.Errorf("%s: %#x was executed, but is in no block", name, in.rva)
				}
				continue
			}
			if _, isStart := start[in.rva]; isStart {
				counts[b] = in.count
			}
			sizes[b]++
			if counts[b] == in.count {
				equal++
			} else {
				different++
				t.Errorf("%s: %#x was executed %d times, its block %d", name, in.rva, in.count, counts[b])
			}
		}
		for b, n := range sizes {
			if got := f.Modules[0].Functions[b.function].Blocks[b.block].Instructions; counts[b] > 0 && got != n {
				t.Errorf("%s: block %d of %s has %d instructions, %d were executed", name, b.block+1, f.Modules[0].Functions[b.function].Name, got, n)
			}
		}
		t.Logf("%s: %d instructions outside, %d equal to their block, %d not, %d blocks", name, outside, equal, different, len(sizes))
	}
}

// TestFlow checks that the edges explain the exact counts: no block with one
// way in or out was executed more often than what is at the other end.
func TestFlow(t *testing.T) {
	for _, name := range []string{"wordstat", "minivm", "shapes"} {
		f, _ := build(t, corpus.Path(t, "programs/"+name+".elf"), "")
		exact := make(map[uint32]uint64)
		for _, in := range truth(t, corpus.Path(t, "programs/"+name+".truth.tsv"), 0x400000) {
			exact[in.rva] = in.count
		}
		for _, fn := range f.Modules[0].Functions {
			in := make([]uint64, len(fn.Blocks)) // what the predecessors allow
			known := make([]bool, len(fn.Blocks))
			for k, b := range fn.Blocks {
				count := blockCount(&fn, k, exact)
				var out uint64
				all := true
				for _, e := range b.Edges {
					c := blockCount(&fn, int(e.To-1), exact)
					in[e.To-1] += count
					known[e.To-1] = true
					out += c
					all = all && len(fn.Blocks[e.To-1].Ranges) > 0
				}
				if all && len(b.Edges) > 0 && len(b.Ranges) > 0 && out < count {
					t.Errorf("%s %s: block %d was executed %d times, what follows %d", name, fn.Name, k+1, count, out)
				}
			}
			for k := range fn.Blocks {
				if c := blockCount(&fn, k, exact); known[k] && len(fn.Blocks[k].Ranges) > 0 && c > in[k] && !fromCodeless(&fn, k) {
					t.Errorf("%s %s: block %d was executed %d times, what precedes %d", name, fn.Name, k+1, c, in[k])
				}
			}
		}
	}
}

func blockCount(fn *spd.Function, k int, exact map[uint32]uint64) uint64 {
	if r := fn.Blocks[k].Ranges; len(r) > 0 {
		return exact[fn.RVA+r[0].Start]
	}
	return 0
}

// fromCodeless says whether a block without code, whose count is not known,
// leads to block k.
func fromCodeless(fn *spd.Function, k int) bool {
	for _, b := range fn.Blocks {
		for _, e := range b.Edges {
			if int(e.To-1) == k && len(b.Ranges) == 0 {
				return true
			}
		}
	}
	return false
}
