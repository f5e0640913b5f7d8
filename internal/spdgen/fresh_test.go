package spdgen

import (
	"bytes"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// TestFresh checks that what the generator makes is what a linker could have
// made, has a bit of everything, and is the same each time.
func TestFresh(t *testing.T) {
	var folded, inlined, bodiless, indirect, tails, switches, dead, static int
	for seed := range uint64(20) {
		f := Fresh(seed, 150, 20)
		n := 0
		for v := range f.Violations() {
			if n++; n < 5 {
				t.Errorf("seed %d: %v", seed, v)
			}
		}
		s := f.Summary()
		folded += s.FoldedFunctions
		inlined += s.Inlinees
		bodiless += s.Functions - s.CodeFunctions - s.FoldedFunctions
		indirect += s.IndirectSites
		tails += s.MachineCallees
		dead += s.DeadEdges
		for k := range f.Modules[0].Functions {
			fn := &f.Modules[0].Functions[k]
			if fn.SymbolFlags&spd.SymbolStatic != 0 {
				static++
			}
			for i := range fn.Blocks {
				if len(fn.Blocks[i].Edges) > 2 {
					switches++
				}
			}
		}
		if s.Functions != 150 || s.Blocks < 150*10 || s.Blocks > 150*40 {
			t.Errorf("seed %d: %d functions with %d blocks", seed, s.Functions, s.Blocks)
		}
		var one, two bytes.Buffer
		if err := spd.Write(&one, f); err != nil {
			t.Fatal(err)
		}
		if err := spd.Write(&two, Fresh(seed, 150, 20)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("seed %d: two files", seed)
		}
	}
	for name, n := range map[string]int{"folded": folded, "inlined": inlined, "inlined everywhere": bodiless,
		"indirect": indirect, "tail calls": tails, "switches": switches, "dead edges": dead, "static": static} {
		if n < 20 {
			t.Errorf("only %d %s", n, name)
		}
	}
}
