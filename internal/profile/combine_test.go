package profile

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/pkg/spd"
)

func encode(t testing.TB, f *spd.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// counts takes the counts of all functions of a database as new ones.
func counts(f *spd.File) []correlate.Function {
	var all []correlate.Function
	for m := range f.Modules {
		for i := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[i]
			n := correlate.Function{Touched: fn.EntryCount() > 0}
			for k := range fn.Blocks {
				n.Blocks = append(n.Blocks, fn.Blocks[k].Count)
				var edges []uint64
				for _, e := range fn.Blocks[k].Edges {
					edges = append(edges, e.Count)
				}
				n.Edges = append(n.Edges, edges)
			}
			all = append(all, n)
		}
	}
	return all
}

// TestAddKeepsFlow adds flows of any size to flows of any size.
func TestAddKeepsFlow(t *testing.T) {
	for seed := range uint64(300) {
		old := walk(rand.New(rand.NewPCG(seed, 1)), 12, int(seed%4))
		f := walk(rand.New(rand.NewPCG(seed, 1)), 12, int(seed%4))
		fresh := walk(rand.New(rand.NewPCG(seed, 1)), 12, 4)
		if seed%3 == 0 {
			Retire(fresh, 15)
			for range 11 {
				Retire(fresh, 14)
			}
		}
		n := counts(fresh)
		n[0].Touched = true
		a := Add(f, n)
		fn := &f.Modules[0].Functions[0]
		if bad := flowViolations(f); bad > 0 {
			t.Fatalf("seed %d: %d violations", seed, bad)
		}
		if fn.EntryCount() < EntryFloor || a.Touched != 1 {
			t.Fatalf("seed %d: entry %d, %+v", seed, fn.EntryCount(), a)
		}
		if a.Raised == 0 && fn.EntryCount() != old.Modules[0].Functions[0].EntryCount()+fresh.Modules[0].Functions[0].EntryCount() {
			t.Fatalf("seed %d: entry %d is no sum", seed, fn.EntryCount())
		}
	}
}

// chain makes a function from the targets of its blocks with counts of 0.
func chain(targets ...[]uint32) *spd.Function {
	fn := &spd.Function{}
	for _, to := range targets {
		var b spd.Block
		for _, x := range to {
			b.Edges = append(b.Edges, spd.Edge{To: x})
		}
		fn.Blocks = append(fn.Blocks, b)
	}
	return fn
}

func TestWidestPath(t *testing.T) {
	for _, tc := range []struct {
		name string
		fn   *spd.Function
		set  func(fn *spd.Function)
		want []pathStep
	}{
		{"one block", chain(nil), nil, []pathStep{}},
		{"lowest", chain([]uint32{3, 2}, []uint32{4}, []uint32{4}, nil), nil, []pathStep{{0, 1}, {1, 0}}},
		{"shortest", chain([]uint32{2, 3}, []uint32{3}, nil), nil, []pathStep{{0, 1}}},
		{"widest", chain([]uint32{2, 3}, []uint32{3}, nil),
			func(fn *spd.Function) {
				fn.Blocks[0].Edges[0].Count, fn.Blocks[1].Edges[0].Count, fn.Blocks[0].Edges[1].Count = 5, 5, 4
			}, []pathStep{{0, 0}, {1, 0}}},
		{"live", chain([]uint32{2, 3}, []uint32{3}, nil),
			func(fn *spd.Function) { fn.Blocks[0].Edges[1].Flags = spd.EdgeDead }, []pathStep{{0, 0}, {1, 0}}},
		{"none", chain([]uint32{2}, []uint32{2}, nil), nil, nil},
		{"no blocks", chain(), nil, nil},
	} {
		if tc.set != nil {
			tc.set(tc.fn)
		}
		if got := widestPath(tc.fn); !slices.Equal(got, tc.want) || (got == nil) != (tc.want == nil) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestAddToEndless adds to a function that never returns, in which flow goes
// round.
func TestAddToEndless(t *testing.T) {
	f := &spd.File{Modules: []spd.Module{{Functions: []spd.Function{*chain([]uint32{2}, []uint32{2}, nil)}}}}
	n := []correlate.Function{{Touched: true, Blocks: []uint64{0, 5, 0}, Edges: [][]uint64{{0}, {5}, nil}}}
	Add(f, n)
	a := Add(f, n)
	got := f.Modules[0].Functions[0].Blocks
	if a != (Addition{Touched: 1, Endless: 1}) || got[0].Count != 0 || got[1].Count != 10 || got[1].Edges[0].Count != 10 {
		t.Errorf("%+v: %+v", a, got)
	}
}

// TestAddRepairs adds to a function whose old counts are no flow.
func TestAddRepairs(t *testing.T) {
	f := read(t, "EbpfCore-b29b5e08.spd")
	broken := 0
	n := counts(f)
	i := 0
	for m := range f.Modules {
		for k := range f.Modules[m].Functions {
			if n[i].Touched = !whole(&f.Modules[m].Functions[k]); n[i].Touched {
				broken++
				for b := range n[i].Blocks {
					n[i].Blocks[b] = 0
					clear(n[i].Edges[b])
				}
			}
			i++
		}
	}
	a := Add(f, n)
	if broken == 0 || a.Repaired != broken || flowViolations(f) > 0 {
		t.Errorf("%d functions were no flow; %+v; %d violations are left", broken, a, flowViolations(f))
	}
}

// TestAddTouchesNothingElse checks that a database changes only where it has to.
func TestAddTouchesNothingElse(t *testing.T) {
	f := read(t, "map-9ad16a75.spd")
	before := withoutCounts(t, f)
	n := make([]correlate.Function, 0)
	for m := range f.Modules {
		n = append(n, make([]correlate.Function, len(f.Modules[m].Functions))...)
	}
	if a := Add(f, n); a != (Addition{}) {
		t.Errorf("%+v without samples", a)
	}
	if f.Header.Flags != spd.HeaderImported || f.Modules[0].Flags != spd.ModuleImported || f.Header.StaticInstructions == 0 {
		t.Errorf("header %+v", f.Header)
	}
	fn := &f.Modules[0].Functions[0]
	n[0] = correlate.Function{Touched: true, Blocks: make([]uint64, len(fn.Blocks)), Edges: make([][]uint64, len(fn.Blocks)), Indirect: make([][]correlate.SiteHits, len(fn.Blocks))}
	for k := range fn.Blocks {
		n[0].Edges[k] = make([]uint64, len(fn.Blocks[k].Edges))
		n[0].Indirect[k] = make([]correlate.SiteHits, len(fn.Blocks[k].Indirect))
	}
	if a := Add(f, n); a != (Addition{Touched: 1, Raised: 1}) || fn.EntryCount() != EntryFloor {
		t.Errorf("%+v, entry %d", a, fn.EntryCount())
	}
	if !bytes.Equal(withoutCounts(t, f), before) {
		t.Error("more than counts changed")
	}
	checkViolations(t, "import", nil, f)
}

func TestAddHits(t *testing.T) {
	s := spd.IndirectSite{Hits: 100, Targets: spd.Targets{{ID: 1, Hits: 50}, {ID: 2, Hits: 40}}}
	addHits(&s, 60, spd.Targets{{ID: 3, Hits: 40}, {ID: 2, Hits: 15}, {ID: 4, Hits: 5}})
	if want := (spd.Targets{{ID: 2, Hits: 55}, {ID: 1, Hits: 50}, {ID: 3, Hits: 40}}); s.Targets != want || s.Hits != 160 {
		t.Errorf("%d hits of %v, want %v", s.Hits, s.Targets, want)
	}
}

// TestReset makes files as the linker makes them, and leaves such as they are.
func TestReset(t *testing.T) {
	fresh := read(t, "map-9ad16a75.spd")
	want := encode(t, fresh)
	Reset(fresh)
	if !bytes.Equal(encode(t, fresh), want) {
		t.Error("a file of the linker changed")
	}
	f := read(t, "EbpfCore-3349d0ac.spd")
	Reset(f)
	eachBlock(f, func(fn *spd.Function, b *spd.Block, _, _, k int) {
		sum := b.Count + uint64(b.Flags&spd.BlockHammock)
		for _, e := range b.Edges {
			sum += e.Count
		}
		for _, s := range b.Indirect {
			sum += s.Hits + s.Targets[0].Hits + uint64(s.Targets[0].ID)
		}
		if sum != 0 {
			t.Errorf("%s block %d is not as the linker makes it", fn.Name, k+1)
		}
	})
	for _, fn := range f.Modules[0].Functions {
		for _, c := range fn.MachineCallees {
			if c.Count != 0 || c.Kind != spd.CalleeMachine|spd.CalleeTail {
				t.Errorf("%s calls %v %d times", fn.Name, c.ID, c.Count)
			}
		}
	}
	if f.Header.Flags != spd.HeaderFresh || f.Header.Statistics != (spd.Statistics{}) || f.Modules[0].Flags != spd.ModuleFresh {
		t.Errorf("header %+v", f.Header)
	}
	checkViolations(t, "/reset", nil, f)
	empty := Empty("app.exe")
	checkViolations(t, "empty", nil, clone(empty))
}

// TestMergeSameBuild merges block by block.
func TestMergeSameBuild(t *testing.T) {
	older, newer := "EbpfCore-b29b5e08.spd", "EbpfCore-8f1fae3b.spd"
	a, b := read(t, older), read(t, newer)
	g := NewMerger(8)
	g.Add(read(t, older))
	s := g.Add(read(t, newer))
	f := g.Result()
	if s.Matched != s.Functions || s.Matched != 693 || s.MatchedWeight != s.Weight || s.OnlyOlder+s.OnlyNewer+s.Changed+s.Reshaped+s.LostSites != 0 {
		t.Errorf("%+v", s)
	}
	Retire(a, 8)
	eachBlock(f, func(fn *spd.Function, x *spd.Block, m, i, k int) {
		if want := a.Modules[m].Functions[i].Blocks[k].Count + b.Modules[m].Functions[i].Blocks[k].Count; x.Count != want {
			t.Errorf("%s block %d: %d, want %d", fn.Name, k+1, x.Count, want)
		}
	})
	broken := violated(a)
	for v := range violated(b) {
		broken[v] = true
	}
	checkViolations(t, "/merge", broken, f)
	if !bytes.Equal(withoutCounts(t, f), withoutCounts(t, b)) {
		t.Error("the result is not of the newest build")
	}
}

// TestMergeBuilds merges different builds in order of time.
func TestMergeBuilds(t *testing.T) {
	names := []string{"EbpfCore-0a43f877.spd", "EbpfCore-b29b5e08.spd", "EbpfCore-1bbd8b19.spd", "EbpfCore-3349d0ac.spd"}
	for _, amount := range []int{0, 8, 16} {
		g := NewMerger(amount)
		broken := map[spd.Violation]bool{}
		for _, name := range names {
			f := read(t, name)
			for v := range violated(f) {
				broken[v] = true
			}
			functions := len(f.Modules[0].Functions)
			s := g.Add(f)
			if s.Matched+s.Changed+s.Reshaped+s.OnlyNewer != functions {
				t.Errorf("%s: %+v", name, s)
			}
			if name != names[0] && (s.Matched == 0 || s.OnlyNewer == 0 || s.MatchedWeight == 0) {
				t.Errorf("%s: %+v", name, s)
			}
			t.Logf("/retire:%d %s: %+v", amount, name, s)
		}
		f := g.Result()
		checkViolations(t, "/merge", broken, f)
		last := read(t, names[3])
		if !bytes.Equal(withoutCounts(t, f), withoutCounts(t, last)) {
			t.Error("the result is not of the newest build")
		}
		if amount == MaxRetire && !bytes.Equal(encode(t, f), encode(t, last)) {
			t.Error("/retire:16 keeps older counts")
		}
	}
}

// TestMergeCarries gives counts of a form of a function back to a later
// database that has it again.
func TestMergeCarries(t *testing.T) {
	version := func(checksum spd.Checksum, count uint64) *spd.File {
		f := walk(rand.New(rand.NewPCG(1, 1)), 4, 0)
		fn := &f.Modules[0].Functions[0]
		fn.Checksum = checksum
		for k := range fn.Blocks {
			fn.Blocks[k].Count = count
			if len(fn.Blocks[k].Edges) > 0 {
				fn.Blocks[k].Edges[0].Count = count
			}
		}
		return f
	}
	g := NewMerger(8)
	g.Add(version(1, 100))
	if s := g.Add(version(2, 1000)); s.Changed != 1 || s.Matched != 0 {
		t.Errorf("%+v", s)
	}
	if s := g.Add(&spd.File{Modules: []spd.Module{{Name: "m"}}}); s.OnlyOlder != 1 || s.Functions != 0 {
		t.Errorf("%+v", s)
	}
	if s := g.Add(version(1, 3)); s.Matched != 1 || s.MatchedWeight != 0 {
		t.Errorf("%+v", s) // without instructions there is no weight
	}
	if got := g.Result().Modules[0].Functions[0].EntryCount(); got != 100/8+3 {
		t.Errorf("entry %d, want %d", got, 100/8+3)
	}
}
