package correlate

import (
	"bytes"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// file is an SPD of these functions.
func file(functions ...spd.Function) *spd.File {
	return &spd.File{Modules: []spd.Module{{Functions: functions}}}
}

// function is a function whose length is that of its code.
func function(id spd.ID, rva uint32, blocks ...spd.Block) spd.Function {
	f := spd.Function{Symbol: spd.Symbol{ID: id}, RVA: rva, Blocks: blocks}
	for _, b := range blocks {
		for _, r := range b.Ranges {
			if rva != 0 {
				f.Length = max(f.Length, r.Start+r.Length)
			}
		}
	}
	return f
}

// ranges is the ranges from and to each of these pairs of offsets.
func ranges(bounds ...uint32) []spd.Range {
	var list []spd.Range
	for k := 0; k < len(bounds); k += 2 {
		list = append(list, spd.Range{Start: bounds[k], Length: bounds[k+1] - bounds[k]})
	}
	return list
}

func edges(to ...uint32) []spd.Edge {
	var list []spd.Edge
	for _, x := range to {
		list = append(list, spd.Edge{To: x})
	}
	return list
}

// block has an instruction for each 4 bytes of its code.
func block(code []spd.Range, to ...uint32) spd.Block {
	b := spd.Block{Ranges: code, Edges: edges(to...)}
	for _, r := range code {
		b.Instructions += r.Length / 4
	}
	return b
}

func calling(b spd.Block, inlinees ...spd.Inlinee) spd.Block {
	b.Inlinees = inlinees
	return b
}

func indirect(b spd.Block, sites ...spd.CallSite) spd.Block {
	for _, s := range sites {
		b.Indirect = append(b.Indirect, spd.IndirectSite{CallSite: s})
	}
	return b
}

func copied(id uint32, code []spd.Range, inlinees ...spd.Inlinee) spd.InlinedBlock {
	b := block(code)
	return spd.InlinedBlock{ID: id, Instructions: b.Instructions, Ranges: code, Inlinees: inlinees}
}

func static(f spd.Function) spd.Function {
	f.SymbolFlags |= spd.SymbolStatic
	return f
}

// A trace is an SPT in the making.
type trace struct {
	testing.TB
	w   *spt.Writer
	out *bytes.Buffer
}

func newTrace(t testing.TB) *trace {
	tr := &trace{TB: t, out: &bytes.Buffer{}}
	var err error
	tr.w, err = spt.NewWriter(tr.out, []spt.ProgramID{{Name: "a.exe"}, {Name: "b.dll", Age: 1}}, nil)
	tr.must(err)
	tr.must(tr.w.BeginBinary(0))
	return tr
}

func (tr *trace) must(err error) {
	tr.Helper()
	if err != nil {
		tr.Fatal(err)
	}
}

func (tr *trace) ip(op spt.Opcode, hits uint64, rvas ...uint32) *trace {
	tr.must(tr.w.IP(op, rvas, hits-1))
	return tr
}

// stack adds branches given as From and To, the newest first.
func (tr *trace) stack(hits uint64, ends ...uint32) *trace {
	var pairs []spt.Pair
	for k := 0; k < len(ends); k += 2 {
		pairs = append(pairs, spt.Pair{From: ends[k], To: ends[k+1]})
	}
	tr.must(tr.w.LBR(pairs, hits-1))
	return tr
}

func (tr *trace) frames(hits uint64, rvas ...uint32) *trace {
	tr.must(tr.w.CallStack(rvas, hits-1))
	return tr
}

func (tr *trace) other() *trace {
	tr.must(tr.w.BeginBinary(1))
	return tr
}

func (tr *trace) bytes() []byte {
	tr.must(tr.w.Close())
	return tr.out.Bytes()
}

func isA(id spt.ProgramID) bool { return id.Name == "a.exe" }

func add(t testing.TB, s *Samples, trace []byte, weight uint64) InputStats {
	t.Helper()
	r, err := spt.NewReader(bytes.NewReader(trace), int64(len(trace)), nil)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := s.Add(r, isA, weight)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func infer(t testing.TB, s *Samples, o Options) *Result {
	t.Helper()
	r, err := Infer(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
