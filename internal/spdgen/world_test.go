package spdgen

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// corpusPrograms returns the six real SPDs without their counts.
func corpusPrograms(t *testing.T) []*spd.File {
	t.Helper()
	var list []*spd.File
	for _, row := range corpus.Files(t, "spd") {
		f, err := spd.ReadFile(row.File)
		if err != nil {
			t.Fatal(err)
		}
		Reset(f)
		list = append(list, f)
	}
	if len(list) != 6 {
		t.Fatalf("%d SPDs in the corpus", len(list))
	}
	return list
}

// checkFlow checks that what happened is a flow: what enters a block leaves it.
func checkFlow(t *testing.T, w *World) {
	t.Helper()
	for k := range w.Functions {
		f, x := &w.functions[k], &w.Functions[k]
		in := make([]uint64, len(x.Blocks))
		in[0] = x.Blocks[0]
		for i := range x.Blocks {
			out := uint64(0)
			for e, n := range x.Edges[i] {
				out += n
				in[f.Blocks[i].Edges[e].To-1] += n
				if n > 0 && f.Blocks[i].Edges[e].Flags&spd.EdgeDead != 0 {
					t.Fatalf("%s B%d: %d executions of a dead edge", f.Name, i+1, n)
				}
			}
			if i < len(x.Blocks)-1 && out != x.Blocks[i] {
				t.Fatalf("%s B%d: %d executions, %d leave", f.Name, i+1, x.Blocks[i], out)
			}
		}
		for i, n := range in {
			if n != x.Blocks[i] {
				t.Fatalf("%s B%d: %d executions, %d enter", f.Name, i+1, x.Blocks[i], n)
			}
		}
	}
}

// checkStacks checks that a branch arrives where the code leads on to the next
// one: forward, in one function, over code without a gap.
func checkStacks(t *testing.T, w *World) {
	t.Helper()
	c := newCounter(w.Program)
	isStart := map[uint32]bool{}
	for _, s := range w.starts {
		isStart[s] = true
	}
	runs := 0
	for _, stack := range w.Stacks(Sampling{Kind: LBR, PerFunction: 20, Depth: 32}) {
		for k := range len(stack) - 1 {
			from, to := stack[k+1].To, stack[k].From
			if from == Outside && to == Outside || from >= w.library && to >= w.library {
				continue
			}
			i, j := c.find(from), c.find(to)
			if i < 0 || j < i || to < from || !isStart[from] || !isStart[to] {
				t.Fatalf("no run from %#x to %#x", from, to)
			}
			for n := i; n < j; n++ {
				if c.pieces[c.order[n]].end != c.pieces[c.order[n+1]].start {
					t.Fatalf("the run from %#x to %#x has a gap", from, to)
				}
			}
			runs++
		}
	}
	if runs < 1000 {
		t.Errorf("only %d runs", runs)
	}
}

// TestRun executes real and made programs and checks that what is recorded
// could have happened.
func TestRun(t *testing.T) {
	programs := corpusPrograms(t)
	for seed := range uint64(4) {
		programs = append(programs, Fresh(seed, 120, 20))
	}
	for n, f := range programs {
		p := NewProgram(f)
		if x := p.placed; x.hidden > x.calls+x.inlined {
			t.Errorf("%d: most calls have no place: %+v", n, x)
		}
		w := p.Run(uint64(n), 30)
		checkFlow(t, w)
		checkStacks(t, w)
		var instructions uint64
		for k := range w.Functions {
			if p.keeper[k] < 0 || p.keeper[k] == int32(k) {
				for _, x := range w.Functions[k].Instructions {
					instructions += x
				}
			}
		}
		if instructions != w.Instructions {
			t.Errorf("%d: blocks have %d instructions of %d", n, instructions, w.Instructions)
		}
		// Addresses are random: those of a function are about as many as its
		// share of the instructions says.
		if rate := float64(len(w.addresses)) * ipPeriod / float64(w.Instructions); rate < 0.97 || rate > 1.03 {
			t.Errorf("%d: %.3f addresses in a period", n, rate)
		}
		if rate := float64(len(w.stacks)/maxDepthLBR) * branchPeriod / float64(w.Branches); rate < 0.98 || rate > 1.02 {
			t.Errorf("%d: %.3f stacks in a period", n, rate)
		}
		if 2*w.Ran < len(p.functions) {
			t.Errorf("%d: only %d of %d functions ran", n, w.Ran, len(p.functions))
		}
	}
}

// TestAddresses checks that addresses are spread like the instructions that
// were executed: with many of them, plain counting is close to the truth.
func TestAddresses(t *testing.T) {
	p := NewProgram(Fresh(5, 60, 20))
	w := p.Run(5, 2000)
	c := newCounter(p)
	o := overlap(w, c.countIP(w.addresses))
	if o.blocks < 0.985 {
		t.Errorf("overlap %.4f of the blocks", o.blocks)
	}
}

// TestSame checks that a world depends on its seed alone.
func TestSame(t *testing.T) {
	write := func(seed uint64) (all []byte) {
		f := Fresh(1, 40, 20)
		w := NewProgram(f).Run(seed, 20)
		var b bytes.Buffer
		lbr := Sampling{Kind: LBR, PerFunction: 10, Depth: 16}
		err := errors.Join(w.WriteSPT(&b, lbr), w.WriteSPT(&b, Sampling{Kind: IP, PerFunction: 10}), w.WriteTruth(&b),
			etl.WriteTrace(&b, w.Trace(lbr)))
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	one := write(1)
	if !bytes.Equal(one, write(1)) {
		t.Error("the same seed gives two worlds")
	}
	if bytes.Equal(one, write(2)) {
		t.Error("two seeds give the same world")
	}
}

// TestWriteSPT reads samples back: all branches are there, as often as they
// were recorded.
func TestWriteSPT(t *testing.T) {
	f := Fresh(2, 60, 20)
	w := NewProgram(f).Run(2, 50)
	s := Sampling{Kind: LBR, PerFunction: 50, Depth: 32}
	want := map[spt.Pair]uint64{}
	for _, stack := range w.Stacks(s) {
		for _, b := range stack {
			want[spt.Pair{To: endOf(b.To), From: endOf(b.From)}]++
		}
	}
	var b bytes.Buffer
	if err := w.WriteSPT(&b, s); err != nil {
		t.Fatal(err)
	}
	r, err := spt.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if id := r.Programs()[0]; id.GUID != f.Header.GUID || id.Age != f.Header.Age || id.Name != f.Header.Binary {
		t.Errorf("program id %+v", id)
	}
	for r.Next() {
		for _, p := range r.Record().Pairs {
			want[p] -= r.Record().Hits()
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for p, n := range want {
		if n != 0 {
			t.Fatalf("%#x to %#x: %d branches too many or too few", p.From, p.To, int64(n))
		}
	}
}

// TestWriteArcs checks that the branches are different and as many as asked
// for.
func TestWriteArcs(t *testing.T) {
	p := NewProgram(Fresh(3, 100, 25))
	const n = 50_000
	var b bytes.Buffer
	if err := p.WriteArcs(&b, 1, n); err != nil {
		t.Fatal(err)
	}
	r, err := spt.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[spt.Pair]bool{}
	records := 0
	for r.Next() {
		records++
		for _, x := range r.Record().Pairs {
			if seen[x] {
				t.Fatalf("%+v twice", x)
			}
			seen[x] = true
		}
	}
	if r.Err() != nil || len(seen) != n || records > n/2 {
		t.Errorf("%d branches in %d records, %v", len(seen), records, r.Err())
	}
	if err := p.WriteArcs(io.Discard, 1, 1<<40); err == nil {
		t.Error("branches without end from a small program")
	}
}

// TestReset checks that a file whose counts were taken out keeps all rules.
func TestReset(t *testing.T) {
	for _, f := range corpusPrograms(t) {
		for v := range f.Violations() {
			t.Errorf("%s: %v", filepath.Base(f.Header.Binary), v)
		}
		if s := f.Summary(); s.CoveredBlocks != 0 || s.HitIndirectSites != 0 {
			t.Errorf("%+v", s)
		}
	}
}
