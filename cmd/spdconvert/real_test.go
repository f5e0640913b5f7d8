package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// walks makes an SPT of random walks through the functions of an SPD: branch
// stacks, or addresses on the way.
func walks(t *testing.T, f *spd.File, branches bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := spt.NewWriter(&b, []spt.ProgramID{{GUID: f.Header.GUID, Age: f.Header.Age, Name: f.Header.Binary}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.BeginBinary(0); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for i := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[i]
		if fn.RVA == 0 || rnd.IntN(3) == 0 {
			continue
		}
		for range 1 + rnd.IntN(20) {
			pairs, rvas := walk(rnd, fn)
			if branches && len(pairs) > 0 {
				err = w.LBR(pairs, rnd.Uint64N(100))
			}
			if !branches && len(rvas) > 0 {
				err = w.IP(spt.OpRetireInstr, rvas, rnd.Uint64N(100))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// walk follows up to 32 edges from the entry and returns the branches, newest
// first, and an address in each block.
func walk(rnd *rand.Rand, fn *spd.Function) (pairs []spt.Pair, rvas []uint32) {
	k := 0
	for range 32 {
		b := &fn.Blocks[k]
		if len(b.Edges) == 0 {
			break
		}
		next := int(b.Edges[rnd.IntN(len(b.Edges))].To - 1)
		if len(b.Ranges) > 0 {
			last := b.Ranges[len(b.Ranges)-1]
			rvas = append(rvas, fn.RVA+b.Ranges[0].Start+rnd.Uint32N(b.Ranges[0].Length))
			if to := &fn.Blocks[next]; len(to.Ranges) > 0 && to.Ranges[0].Start != last.Start+last.Length {
				pairs = append([]spt.Pair{{From: fn.RVA + last.Start + last.Length - 1, To: fn.RVA + to.Ranges[0].Start}}, pairs...)
			}
		}
		k = next
	}
	return pairs, rvas
}

// TestImportRealFiles imports into all real SPDs, twice: no rule is broken that
// was kept before, and nothing but counts changes.
func TestImportRealFiles(t *testing.T) {
	for _, row := range corpus.Files(t, "spd") {
		before, err := spd.ReadFile(row.File)
		if err != nil {
			t.Fatal(err)
		}
		broken := places(before)
		for _, branches := range []bool{false, true} {
			dir := t.TempDir()
			data, err := os.ReadFile(row.File)
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string][]byte{"app.spd": data, "run.spt": walks(t, before, branches)} {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				mustConvert(t, dir, "-q", "app.spd", "run.spt")
				after, err := spd.ReadFile(filepath.Join(dir, "app.spd"))
				if err != nil {
					t.Fatal(err)
				}
				for place := range places(after) {
					if !broken[place] {
						t.Errorf("%s: new violation: %v", row.File, place)
					}
				}
				if after.Header.Flags != spd.HeaderImported || after.Modules[0].Flags != spd.ModuleImported || after.Header.StaticInstructions == 0 {
					t.Errorf("%s: header %+v", row.File, after.Header)
				}
				if !bytes.Equal(bare(t, after), bare(t, before)) {
					t.Errorf("%s: more than counts changed", row.File)
				}
			}
		}
	}
}

// places lists broken rules without their values.
func places(f *spd.File) map[spd.Violation]bool {
	all := map[spd.Violation]bool{}
	for v := range f.Violations() {
		all[spd.Violation{Rule: v.Rule, ID: v.ID, Name: v.Name, Block: v.Block}] = true
	}
	return all
}

// bare is an SPD in bytes without what an import may change.
func bare(t *testing.T, f *spd.File) []byte {
	t.Helper()
	f.Header.Flags, f.Header.Statistics = 0, spd.Statistics{}
	for m := range f.Modules {
		f.Modules[m].Flags = 0
		for i := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[i]
			for c := range fn.Callees {
				fn.Callees[c].Count = 0
			}
			for k := range fn.Blocks {
				b := &fn.Blocks[k]
				b.Count = 0
				for e := range b.Edges {
					b.Edges[e].Count = 0
				}
				for s := range b.Indirect {
					b.Indirect[s].Hits, b.Indirect[s].Targets = 0, spd.Targets{}
				}
			}
		}
	}
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
