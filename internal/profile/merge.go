package profile

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// Merger adds databases up, from the oldest to the newest: what was added
// before is retired, then the counts of the next one are added. The code that
// the result describes is that of the newest one.
//
// Functions are the same if they have the same id, checksum and flow graph;
// blocks of such functions have the same numbers in all builds. What a
// function had that the next database lacks, or has in another form, is kept
// and retired on, because a later one may have it again.
type Merger struct {
	retirement *retirement
	newest     *spd.File
	imported   bool
	functions  map[functionKey][]*spd.Function // forms of a function with counts, in the order of the files
}

type functionKey struct {
	module string
	id     spd.ID
}

// MergeStep says how a database fits what was added before it.
type MergeStep struct {
	Functions int `json:"functions"` // of this database
	// Matched functions got counts from before; Weight is what all functions
	// before had, MatchedWeight what the matched ones had.
	Matched       int    `json:"matched"`
	Weight        uint64 `json:"weight"`
	MatchedWeight uint64 `json:"matched_weight"`
	Changed       int    `json:"changed"`  // known with another checksum alone
	Reshaped      int    `json:"reshaped"` // known with this checksum, but another flow graph
	OnlyOlder     int    `json:"only_older"`
	OnlyNewer     int    `json:"only_newer"`
	// LostSites is the number of indirect call sites with hits that matched
	// functions do not have any more.
	LostSites int `json:"lost_sites"`
}

// NewMerger returns a merger that retires amount/16 before each addition.
func NewMerger(amount int) *Merger {
	return &Merger{retirement: newRetirement(amount), functions: map[functionKey][]*spd.Function{}}
}

// Add adds the next newer database. The merger changes it and keeps it.
func (g *Merger) Add(f *spd.File) MergeStep {
	var s MergeStep
	before := g.functions
	for _, forms := range before {
		for _, fn := range forms {
			s.Weight = binfmt.SatAdd(s.Weight, fn.Weight())
		}
	}
	g.functions = map[functionKey][]*spd.Function{}
	for m := range f.Modules {
		for i := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[i]
			s.Functions++
			key := functionKey{f.Modules[m].Name, fn.ID}
			known := before[key]
			delete(before, key)
			g.functions[key] = append(g.functions[key], g.next(fn, known, &s)...)
		}
	}
	for key, forms := range before {
		s.OnlyOlder++
		if kept := g.retire(forms); len(kept) > 0 {
			g.functions[key] = kept
		}
	}
	g.imported = g.imported || f.Header.Flags&spd.HeaderProfiled != 0
	g.newest = f
	return s
}

// next adds to a function what its known forms had, and returns the forms to
// keep, itself last.
func (g *Merger) next(fn *spd.Function, known []*spd.Function, s *MergeStep) []*spd.Function {
	var match *spd.Function
	var others []*spd.Function
	reshaped := false
	for _, old := range known {
		switch {
		case old.Checksum != fn.Checksum:
			others = append(others, old)
		case !sameGraph(old, fn):
			reshaped = true
			others = append(others, old)
		default:
			match = old
		}
	}
	switch {
	case match != nil:
		s.Matched++
		s.MatchedWeight = binfmt.SatAdd(s.MatchedWeight, match.Weight())
		g.retirement.function(match)
		s.LostSites += addCounts(fn, match)
	case reshaped:
		s.Reshaped++
	case len(others) > 0:
		s.Changed++
	default:
		s.OnlyNewer++
	}
	return append(g.retire(others), fn)
}

// retire retires functions and returns those that have counts left.
func (g *Merger) retire(forms []*spd.Function) (kept []*spd.Function) {
	for _, fn := range forms {
		g.retirement.function(fn)
		if hasCounts(fn) {
			kept = append(kept, fn)
		}
	}
	return kept
}

func hasCounts(f *spd.Function) bool {
	for k := range f.Blocks {
		if f.Blocks[k].Count != 0 {
			return true
		}
	}
	return false
}

// Result returns the newest database with all counts.
func (g *Merger) Result() *spd.File {
	f := g.newest
	if g.imported {
		f.Header.Flags |= spd.HeaderImported
		for m := range f.Modules {
			f.Modules[m].Flags |= spd.ModuleImported
		}
	}
	f.Header.Statistics = f.ComputeStatistics()
	return f
}

// sameGraph says whether blocks and edges of two functions correspond.
func sameGraph(a, b *spd.Function) bool {
	if len(a.Blocks) != len(b.Blocks) {
		return false
	}
	for k := range a.Blocks {
		x, y := a.Blocks[k].Edges, b.Blocks[k].Edges
		if len(x) != len(y) {
			return false
		}
		for e := range x {
			if x[e].To != y[e].To || x[e].Flags != y[e].Flags {
				return false
			}
		}
	}
	return true
}

// addCounts adds the counts of an older form of a function and returns how
// many indirect call sites with hits it has no place for.
func addCounts(f, old *spd.Function) (lost int) {
	for k := range f.Blocks {
		b, o := &f.Blocks[k], &old.Blocks[k]
		b.Count = binfmt.SatAdd(b.Count, o.Count)
		for e := range b.Edges {
			b.Edges[e].Count = binfmt.SatAdd(b.Edges[e].Count, o.Edges[e].Count)
		}
		lost += addSites(b.Indirect, o.Indirect)
	}
	sumCallees(f)
	return lost
}

// addSites adds the hits of older call sites of a block. Another build may
// have inlined other functions into it, so sites are matched by their ordinal
// and, among those of one ordinal, by their order.
func addSites(sites, old []spd.IndirectSite) (lost int) {
	taken := make([]bool, len(sites))
	for i := range old {
		partner := -1
		for k := range sites {
			if !taken[k] && sites[k].Ordinal == old[i].Ordinal {
				partner = k
				break
			}
		}
		switch {
		case partner >= 0:
			taken[partner] = true
			addHits(&sites[partner], old[i].Hits, old[i].Targets)
		case old[i].Hits > 0:
			lost++
		}
	}
	return lost
}
