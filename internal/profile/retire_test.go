package profile

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

func read(t testing.TB, name string) *spd.File {
	t.Helper()
	f, err := spd.ReadFile(corpus.Path(t, "corpus", "spd", name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// violated lists the places of broken rules, without the values.
func violated(f *spd.File) map[spd.Violation]bool {
	places := map[spd.Violation]bool{}
	for v := range f.Violations() {
		places[spd.Violation{Rule: v.Rule, Module: v.Module, ID: v.ID, Name: v.Name, Block: v.Block}] = true
	}
	return places
}

// checkViolations reports rules that the output breaks where the input did not.
func checkViolations(t testing.TB, what string, before map[spd.Violation]bool, after *spd.File) {
	t.Helper()
	for v := range violated(after) {
		if !before[v] {
			t.Errorf("%s: new violation: %v", what, v)
		}
	}
}

func eachBlock(f *spd.File, call func(fn *spd.Function, b *spd.Block, m, i, k int)) {
	for m := range f.Modules {
		for i := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[i]
			for k := range fn.Blocks {
				call(fn, &fn.Blocks[k], m, i, k)
			}
		}
	}
}

// withoutCounts is the database with everything taken away that an import may
// change, in bytes.
func withoutCounts(t testing.TB, f *spd.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	r, err := spd.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	bare.Header.Flags, bare.Header.Statistics = 0, spd.Statistics{}
	for m := range bare.Modules {
		bare.Modules[m].Flags = 0
		for i := range bare.Modules[m].Functions {
			for c := range bare.Modules[m].Functions[i].Callees {
				bare.Modules[m].Functions[i].Callees[c].Count = 0
			}
		}
	}
	eachBlock(bare, func(_ *spd.Function, b *spd.Block, _, _, _ int) {
		b.Count = 0
		for e := range b.Edges {
			b.Edges[e].Count = 0
		}
		for s := range b.Indirect {
			b.Indirect[s].Hits, b.Indirect[s].Targets = 0, spd.Targets{}
		}
	})
	b.Reset()
	if err := spd.Write(&b, bare); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRetireRealFile compares with what Microsoft's tool made of the same file.
func TestRetireRealFile(t *testing.T) {
	before, f, real := read(t, "EbpfCore-b29b5e08.spd"), read(t, "EbpfCore-b29b5e08.spd"), read(t, "EbpfCore-8f1fae3b.spd")
	Retire(f, 8)
	checkViolations(t, "/retire:8", violated(before), f)
	equal, floors := 0, 0
	eachBlock(f, func(fn *spd.Function, b *spd.Block, m, i, k int) {
		old := before.Modules[m].Functions[i].Blocks[k].Count
		if b.Count < old/2 || b.Count > old/2+old%2 {
			t.Errorf("%s block %d: %d of %d", fn.Name, k+1, b.Count, old)
		}
		if b.Count == old/2 {
			floors++
		}
		if b.Count == real.Modules[m].Functions[i].Blocks[k].Count {
			equal++
		}
	})
	if equal < 17600 {
		t.Errorf("%d blocks are as in the real file, want 17,600 at least", equal)
	}
	if f.Header.Statistics != f.ComputeStatistics() || f.Header.Statistics == before.Header.Statistics {
		t.Error("statistics do not follow from the counts")
	}
	if !bytes.Equal(withoutCounts(t, f), withoutCounts(t, before)) {
		t.Error("more than counts changed")
	}
	t.Logf("%d of 17,684 blocks as in the real file, %d are halves rounded down", equal, floors)
}

// TestRetireCorpus retires all real files by all amounts.
func TestRetireCorpus(t *testing.T) {
	for _, row := range corpus.Files(t, "spd") {
		name := filepath.Base(row.File)
		before := read(t, name)
		broken := violated(before)
		for amount := 0; amount <= MaxRetire; amount++ {
			f := read(t, name)
			Retire(f, amount)
			checkViolations(t, name, broken, f)
			checkBounds(t, f, before, amount)
		}
	}
}

// checkBounds checks that every count is its exact value rounded up or down.
func checkBounds(t *testing.T, f, before *spd.File, amount int) {
	t.Helper()
	within := func(old, now uint64) bool {
		exact := old * uint64(16-amount)
		return now == exact/16 || exact%16 != 0 && now == exact/16+1
	}
	eachBlock(f, func(fn *spd.Function, b *spd.Block, m, i, k int) {
		old := &before.Modules[m].Functions[i].Blocks[k]
		if !within(old.Count, b.Count) {
			t.Errorf("/retire:%d: %s block %d: %d of %d", amount, fn.Name, k+1, b.Count, old.Count)
		}
		for e := range b.Edges {
			if !within(old.Edges[e].Count, b.Edges[e].Count) {
				t.Errorf("/retire:%d: %s block %d edge %d: %d of %d", amount, fn.Name, k+1, e, b.Edges[e].Count, old.Edges[e].Count)
			}
		}
		for s := range b.Indirect {
			if want := old.Indirect[s].Hits * uint64(16-amount) / 16; b.Indirect[s].Hits != want {
				t.Errorf("/retire:%d: %s block %d: %d hits, want %d", amount, fn.Name, k+1, b.Indirect[s].Hits, want)
			}
		}
	})
}

// walk makes a function of n blocks and lets random executions run through it.
func walk(rnd *rand.Rand, n, runs int) *spd.File {
	fn := spd.Function{Symbol: spd.Symbol{ID: spd.FunctionID("f"), Name: "f", SymbolFlags: spd.SymbolAlways}, Blocks: make([]spd.Block, n)}
	for k := range n - 1 {
		b := &fn.Blocks[k]
		b.Edges = append(b.Edges, spd.Edge{To: uint32(k + 2)})
		for range rnd.IntN(3) {
			b.Edges = append(b.Edges, spd.Edge{To: uint32(2 + rnd.IntN(n-1))})
		}
	}
	for range runs {
		k, weight := 0, rnd.Uint64N(1<<36)
		for {
			b := &fn.Blocks[k]
			b.Count += weight
			if len(b.Edges) == 0 {
				break
			}
			e := &b.Edges[min(rnd.IntN(len(b.Edges)+1), len(b.Edges)-1)*rnd.IntN(2)]
			e.Count += weight
			k = int(e.To - 1)
		}
	}
	return &spd.File{Header: spd.Header{Flags: spd.HeaderImported, Binary: "a.exe"}, Modules: []spd.Module{{Name: "m", Flags: spd.ModuleImported, Functions: []spd.Function{fn}}}}
}

// flowViolations counts broken rules of the flow.
func flowViolations(f *spd.File) (n int) {
	for v := range f.Violations() {
		switch v.Rule {
		case spd.RuleFlowIn, spd.RuleFlowOut, spd.RuleFlowThrough:
			n++
		}
	}
	return n
}

// TestRetireKeepsFlow retires random flows again and again.
func TestRetireKeepsFlow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		f := walk(rnd, 1+rnd.IntN(30), 1+rnd.IntN(5))
		for flowViolations(f) == 0 && f.Modules[0].Functions[0].EntryCount() > 0 {
			before := clone(f)
			amount := 1 + rnd.IntN(MaxRetire)
			Retire(f, amount)
			if n := flowViolations(f); n > 0 {
				t.Fatalf("%d violations", n)
			}
			eachBlock(f, func(_ *spd.Function, b *spd.Block, m, i, k int) {
				r := newRetirement(amount)
				low, rest := r.scale(before.Modules[m].Functions[i].Blocks[k].Count)
				if b.Count != low && (rest == 0 || b.Count != low+1) {
					t.Fatalf("block %d: %d, want %d and %d/16", k+1, b.Count, low, rest)
				}
			})
		}
	}
}

func clone(f *spd.File) *spd.File {
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		panic(err)
	}
	r, err := spd.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		panic(err)
	}
	c, err := r.Read()
	if err != nil {
		panic(err)
	}
	return c
}

// TestRetireExtremes retires what does not fit a smaller number.
func TestRetireExtremes(t *testing.T) {
	for amount := 0; amount <= MaxRetire; amount++ {
		r := newRetirement(amount)
		for _, c := range []uint64{0, 1, 15, 16, 17, 1<<64 - 1} {
			whole, rest := r.scale(c)
			// c*(16-amount) = 16*whole + rest, in 128 bits by the remainders modulo 2^64 and the size.
			if c*uint64(16-amount) != 16*whole+uint64(rest) || whole > c || rest > 15 {
				t.Errorf("/retire:%d of %d: %d and %d/16", amount, c, whole, rest)
			}
		}
	}
}

// BenchmarkRetireLarge retires one function of 50,000 blocks.
func BenchmarkRetireLarge(b *testing.B) {
	f := walk(rand.New(rand.NewPCG(3, 4)), 50000, 20)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		c := clone(f)
		b.StartTimer()
		Retire(c, 5)
	}
}
