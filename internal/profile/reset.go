package profile

import "github.com/spgo-tools/spgo/pkg/spd"

// Reset takes all counts away, so that f is as the linker made it without an
// input profile. What describes the code stays, and so do the generation and
// the function flags, which tell what the link was given.
func Reset(f *spd.File) {
	f.Header.Flags = f.Header.Flags&^spd.HeaderProfiled | spd.HeaderFresh
	for m := range f.Modules {
		f.Modules[m].Flags = f.Modules[m].Flags&^spd.ModuleImported | spd.ModuleFresh
		for i := range f.Modules[m].Functions {
			resetFunction(&f.Modules[m].Functions[i])
		}
	}
	f.Header.Statistics = f.ComputeStatistics()
}

func resetFunction(f *spd.Function) {
	for k := range f.Callees {
		f.Callees[k].Count = 0
	}
	for k := range f.Blocks {
		b := &f.Blocks[k]
		b.Count = 0
		b.Flags &^= spd.BlockHammock
		for e := range b.Edges {
			b.Edges[e].Count = 0
		}
		for s := range b.Indirect {
			b.Indirect[s].Hits, b.Indirect[s].Targets = 0, spd.Targets{}
		}
	}
	// Calls of the final code are listed for their counts alone; tail calls
	// always.
	var tails []spd.MachineCallee
	for _, c := range f.MachineCallees {
		if c.Kind&spd.CalleeTail != 0 {
			c.Count = 0
			tails = append(tails, c)
		}
	}
	f.MachineCallees = tails
}

// Empty is a database without functions for a binary of that file name. Its
// identity is zero: the next link replaces it.
func Empty(binary string) *spd.File {
	return &spd.File{
		Header:  spd.Header{Flags: spd.HeaderFresh, Binary: binary},
		Modules: []spd.Module{{Name: "* CIL module *", Flags: spd.ModuleFresh}},
	}
}
