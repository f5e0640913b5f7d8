package profile

import (
	"context"
	"slices"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/flow"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// EntryFloor is the least count of the entry of a function that received
// samples.
const EntryFloor = 16

// Addition says what Add did.
type Addition struct {
	Touched int // functions that received samples
	// Raised is how many of them got a greater entry to reach EntryFloor.
	Raised int
	// Repaired is how many of them had counts before that were no flow.
	Repaired int
	// Endless is how many of them have no way from the entry to the exit: flow
	// can only go round in them, so that the entry has no count to raise.
	Endless int
}

// Add adds to the counts of f the new ones of its functions, which are in file
// order over all modules. Retire the counts before, if they are to be. Sums
// stay at the maximum. The header and the modules are marked as imported.
func Add(f *spd.File, functions []correlate.Function) Addition {
	var a Addition
	next := 0
	for m := range f.Modules {
		f.Modules[m].Flags |= spd.ModuleImported
		for i := range f.Modules[m].Functions {
			if n := &functions[next]; n.Touched {
				a.function(&f.Modules[m].Functions[i], n)
			}
			next++
		}
	}
	f.Header.Flags |= spd.HeaderImported
	f.Header.Statistics = f.ComputeStatistics()
	return a
}

func (a *Addition) function(f *spd.Function, n *correlate.Function) {
	a.Touched++
	if len(f.Blocks) == 0 {
		return
	}
	if !whole(f) && repair(f) {
		a.Repaired++
	}
	for k := range f.Blocks {
		b := &f.Blocks[k]
		b.Count = binfmt.SatAdd(b.Count, n.Blocks[k])
		for e := range b.Edges {
			b.Edges[e].Count = binfmt.SatAdd(b.Edges[e].Count, n.Edges[k][e])
		}
		if n.Indirect == nil {
			continue
		}
		for s := range b.Indirect {
			addHits(&b.Indirect[s], n.Indirect[k][s].Hits, n.Indirect[k][s].Targets)
		}
	}
	if entry := f.EntryCount(); entry < EntryFloor {
		if path := widestPath(f); path != nil {
			raise(f, path, EntryFloor-entry)
			a.Raised++
		} else {
			a.Endless++
		}
	}
	sumCallees(f)
}

// addHits adds the hits of a call site and keeps the three most frequent
// targets.
func addHits(s *spd.IndirectSite, hits uint64, targets spd.Targets) {
	s.Hits = binfmt.SatAdd(s.Hits, hits)
	all := make([]spd.Target, 0, 2*len(targets))
	for _, t := range slices.Concat(s.Targets[:], targets[:]) {
		if t.Hits == 0 {
			continue
		}
		if i := slices.IndexFunc(all, func(x spd.Target) bool { return x.ID == t.ID }); i >= 0 {
			all[i].Hits = binfmt.SatAdd(all[i].Hits, t.Hits)
		} else {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, byHits)
	s.Targets = spd.Targets{}
	copy(s.Targets[:], all)
}

// repair turns the counts of a function into the flow that is nearest to them.
// Old profiles have functions whose entry was kept at the floor while the rest
// decayed; adding to them as they are would carry that on for ever.
func repair(f *spd.Function) bool {
	g := &flow.Graph{Exit: len(f.Blocks) - 1, Blocks: make([]flow.Obs, len(f.Blocks)), Unit: 256}
	for k := range f.Blocks {
		b := &f.Blocks[k]
		g.Blocks[k] = flow.Obs{Count: b.Count, N: 1}
		for _, e := range b.Edges {
			g.Edges = append(g.Edges, flow.Edge{From: k, To: int(e.To - 1), Dead: e.Flags&spd.EdgeDead != 0, Obs: flow.Obs{Count: e.Count, N: 1}})
		}
	}
	r, err := flow.Infer(context.Background(), g)
	if err != nil {
		return false
	}
	full := r.Full()
	edges := full.Edges
	for k := range f.Blocks {
		b := &f.Blocks[k]
		b.Count = full.Blocks[k]
		for e := range b.Edges {
			b.Edges[e].Count = edges[e]
		}
		edges = edges[len(b.Edges):]
	}
	return true
}
