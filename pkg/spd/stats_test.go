package spd

import (
	"math"
	"testing"
)

func TestOwnInstructions(t *testing.T) {
	inlined := func(n ...uint32) []Inlinee {
		blocks := make([]InlinedBlock, len(n))
		for k := range n {
			blocks[k] = InlinedBlock{ID: uint32(k + 1), Instructions: n[k]}
		}
		return []Inlinee{{Blocks: blocks}}
	}
	for _, c := range []struct {
		block Block
		want  uint32
	}{
		{Block{}, 0},
		{Block{Inlinees: inlined(3)}, 0},
		{Block{Instructions: 7}, 7},
		{Block{Instructions: 7, Inlinees: inlined(2, 3)}, 2},
		{Block{Instructions: 7, Inlinees: inlined(7)}, 1},
		{Block{Instructions: 7, Inlinees: inlined(math.MaxUint32, math.MaxUint32)}, 1},
	} {
		if got := c.block.OwnInstructions(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.block, got, c.want)
		}
	}
}

// weights makes a profiled file with functions of some weights.
func weights(ws ...uint64) *File {
	f := &File{Header: Header{Flags: HeaderImported}, Modules: make([]Module, 1)}
	for k, w := range ws {
		f.Modules[0].Functions = append(f.Modules[0].Functions, Function{
			Symbol: Symbol{ID: ID(k + 1)},
			Blocks: []Block{{Count: w, Instructions: 1}},
		})
	}
	return f
}

func TestHotThreshold(t *testing.T) {
	for _, c := range []struct {
		name    string
		weights []uint64
		want    Statistics
	}{
		{"none", nil, Statistics{}},
		{"no counts", []uint64{0, 0}, Statistics{0, 0, 2}},
		{"one", []uint64{5}, Statistics{5, 5, 1}},
		{"exactly 99 %", []uint64{1, 90, 9}, Statistics{9, 100, 3}},
		{"less than 99 %", []uint64{2, 90, 8}, Statistics{2, 100, 3}},
		{"beyond 64 bits", []uint64{1, math.MaxUint64, math.MaxUint64}, Statistics{math.MaxUint64, math.MaxUint64, 3}},
		{"products beyond 64 bits", []uint64{1 << 62, 1 << 54, 1}, Statistics{1 << 62, 1<<62 + 1<<54 + 1, 3}},
	} {
		f := weights(c.weights...)
		if got := f.ComputeStatistics(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		f.Header.Flags = HeaderFresh
		if got := f.ComputeStatistics(); got != (Statistics{}) {
			t.Errorf("%s, nothing imported: %+v", c.name, got)
		}
	}
}

func TestRanking(t *testing.T) {
	ranking := weights(3, 9, 3, 0).Ranking()
	for k, want := range []struct {
		id     ID
		weight uint64
	}{{2, 9}, {1, 3}, {3, 3}, {4, 0}} {
		if ranking[k].ID != want.id || ranking[k].Weight != want.weight {
			t.Errorf("place %d: %v with %d, want %+v", k+1, ranking[k].ID, ranking[k].Weight, want)
		}
	}
}

func TestSummaryOfMadeFile(t *testing.T) {
	f := profiledFile()
	want := Summary{Functions: 40, CodeFunctions: 38, FoldedFunctions: 1, ProfiledFunctions: 38, Blocks: 126, CoveredBlocks: 121,
		CodeBlocks: 47, CoveredCodeBlocks: 46, Edges: 92, DeadEdges: 1, Callees: 3, CallSites: 4, MachineCallees: 2, Inlinees: 3,
		IndirectSites: 2, HitIndirectSites: 1, CodeBytes: 0x20 + 0x60 + 36}
	if got := f.Summary(); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := f.Modules[0].Summary(); got != want {
		t.Errorf("module: got %+v", got)
	}
	empty := Summary{}
	if empty.BlockCoverage() != 0 || empty.CodeBlockCoverage() != 0 {
		t.Error("nothing is covered")
	}
}
