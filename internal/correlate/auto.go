package correlate

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Kinds are the numbers of samples that decide what Auto stands for.
type Kinds struct {
	Branches           uint64 // taken branches
	Neighbours         uint64 // of these, those in stacks of two or more
	BranchInstructions uint64 // addresses of branch instructions
	Instructions       uint64 // addresses of instructions of all kinds
}

// plenty is how many times the samples of branches those of instructions must
// be to be of instructions of all kinds, branches being a part of them. A
// recording of branches alone has as many of either.
const plenty = 2

// Mode is LBR if there are branches, else IP. But branches none of which has a
// neighbour, as of Arm SPE without previous targets, do not tell how long code
// ran between them: where instructions were sampled as well, those are the
// better measure.
func (k Kinds) Mode() Mode {
	switch {
	case k.Branches == 0:
		return IP
	case k.Neighbours == 0 && k.Instructions/plenty >= max(k.Branches, k.BranchInstructions):
		return IP
	}
	return LBR
}

// KindsOf adds up what inputs hold of the chosen programs.
func KindsOf(inputs []InputStats) Kinds {
	var k Kinds
	for _, in := range inputs {
		k.Branches = binfmt.SatAdd(k.Branches, find(in.Chosen, spt.OpLBR).Hits)
		k.Neighbours = binfmt.SatAdd(k.Neighbours, in.Neighbours)
		k.BranchInstructions = binfmt.SatAdd(k.BranchInstructions, find(in.Chosen, spt.OpRetireBrInstr).Hits)
		k.Instructions = binfmt.SatAdd(k.Instructions, find(in.Chosen, spt.OpRetireInstr).Hits)
	}
	return k
}
