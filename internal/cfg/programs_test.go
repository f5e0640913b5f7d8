package cfg

import (
	"os"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/program"
)

// check tests what every graph must be.
func check(t testing.TB, name string, ranges []program.Range, g *Graph) {
	t.Helper()
	n := len(g.Blocks)
	next := make(map[uint32]uint32)
	for k, b := range g.Blocks {
		if (len(b.Edges) == 0) != (k == n-1) {
			t.Errorf("%s: block %d of %d has %d edges", name, k, n, len(b.Edges))
		}
		for _, e := range b.Edges {
			if e.To <= 0 || e.To >= n {
				t.Errorf("%s: block %d has an edge to %d of %d", name, k, e.To, n)
			}
		}
		if (b.Instructions == 0) != (b.Range.Len() == 0) {
			t.Errorf("%s: block %d has %d instructions in %d bytes", name, k, b.Instructions, b.Range.Len())
		}
		if b.Range.Len() > 0 {
			if next[b.Range.Start] != 0 {
				t.Errorf("%s: two blocks at %#x", name, b.Range.Start)
			}
			next[b.Range.Start] = b.Range.End
		}
	}
	for i, r := range g.Gaps {
		if next[r.Start] != 0 || r.Len() == 0 || i > 0 && g.Gaps[i-1].End == r.Start {
			t.Errorf("%s: gap %+v", name, r)
		}
		next[r.Start] = r.End
	}
	used := 0
	for _, r := range ranges {
		for at := r.Start; at != r.End; used++ {
			if next[at] <= at || next[at] > r.End {
				t.Errorf("%s: no block at %#x of %+v", name, at, r)
				return
			}
			at = next[at]
		}
	}
	if used != len(next) {
		t.Errorf("%s: %d blocks are not in the ranges", name, len(next)-used)
	}
}

func TestGraphs(t *testing.T) {
	for _, name := range []string{"wordstat.elf", "minivm.elf", "shapes.elf"} {
		c := openELF(t, corpus.Path(t, "programs/"+name))
		a := Analyzer{Code: c}
		for _, f := range c.funcs {
			g := a.Function(f.Ranges, nil, nil)
			check(t, f.Name, f.Ranges, g)
			if g.Overlaps+g.Undecoded+len(g.Unresolved) > 0 {
				t.Errorf("%s %s: %d overlaps, %d bytes undecoded, unresolved %x", name, f.Name, g.Overlaps, g.Undecoded, g.Unresolved)
			}
			if name == "minivm.elf" && f.Name == "main" {
				if want := (Table{Jump: 0x130f, Start: 0x2004, Entries: 9, Entry: 4}); len(g.Tables) != 1 || g.Tables[0] != want {
					t.Errorf("minivm: tables %+v, want %+v", g.Tables, want)
				}
			}
		}
	}
}

func TestLargePrograms(t *testing.T) {
	if os.Getenv("SPGO_LONG") == "" {
		t.Skip("set SPGO_LONG=1 to make graphs of large programs")
	}
	for _, name := range strings.Fields("/usr/bin/python3 /usr/bin/git /usr/bin/perl /usr/bin/gdb /usr/bin/node /lib/x86_64-linux-gnu/libc.so.6 /usr/local/go/bin/go") {
		if _, err := os.Stat(name); err != nil {
			t.Logf("%s is not installed", name)
			continue
		}
		c := openELF(t, name)
		a := Analyzer{Code: c}
		var blocks, tables, entries, unresolved, overlaps, undecoded, size int
		for _, f := range c.funcs {
			g := a.Function(f.Ranges, nil, nil)
			check(t, f.Name, f.Ranges, g)
			blocks += len(g.Blocks)
			tables += len(g.Tables)
			for _, t := range g.Tables {
				entries += t.Entries
			}
			unresolved += len(g.Unresolved)
			overlaps += g.Overlaps
			undecoded += g.Undecoded
			size += int(f.Ranges[0].Len())
		}
		t.Logf("%s: %d functions of %d bytes, %d blocks, %d tables with %d entries, %d unresolved, %d branches into instructions, %d bytes undecoded",
			name, len(c.funcs), size, blocks, tables, entries, unresolved, overlaps, undecoded)
		if unresolved*50 > tables {
			t.Errorf("%s: %d jumps unresolved, %d resolved", name, unresolved, tables)
		}
		if undecoded*10000 > size {
			t.Errorf("%s: %d of %d bytes are not decoded", name, undecoded, size)
		}
	}
}
