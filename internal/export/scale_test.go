package export

import (
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// TestScale exports counts of a fraction of an execution: they are not lost.
func TestScale(t *testing.T) {
	in := sampledProgram(t, "minivm")
	if _, r := written(t, LLVM, in); r.Scale != 1 {
		t.Errorf("many samples: %+v", r)
	}
	in.Profile = copied(t, in.Profile)
	for m := range in.Profile.Modules {
		each(in.Profile.Modules[m].Functions, func(count *uint64) { *count /= 20000 })
	}
	for _, format := range []Format{LLVM, LLVMBinary, GCOV, BOLT} {
		_, r := written(t, format, in)
		if r.Scale != 256 || r.Exported < 3 || r.Records < 30 {
			t.Errorf("%s of few samples: %+v", format, r)
		}
	}
	text, _ := written(t, LLVM, in)
	dense, _ := written(t, LLVM, sampledProgram(t, "minivm"))
	if o := lineOverlap(readLines(t, text), readLines(t, dense)); o < 99.5 {
		t.Errorf("the profile of few samples has only %.2f %% in common with that of many", o)
	}
	if _, r := written(t, Pprof, in); r.Scale != 1 {
		t.Errorf("stacks: %+v", r)
	}
}

// each calls do for all counts of blocks and edges.
func each(functions []spd.Function, do func(*uint64)) {
	for k := range functions {
		for b := range functions[k].Blocks {
			block := &functions[k].Blocks[b]
			do(&block.Count)
			for e := range block.Edges {
				do(&block.Edges[e].Count)
			}
		}
	}
}
