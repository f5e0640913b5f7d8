// Package compare tells how two sample profile databases differ: what changed
// between two builds, how far two profiles agree, and how much of a profile
// still fits other code.
//
// Functions are matched by id, which is a hash of the name, and by the checksum
// over their control flow; blocks of functions that match have the same
// numbers. The overlap of two profiles is the sum over all blocks of the
// smaller of the two shares that the block has in the counts of its profile.
package compare

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// Diff is the difference between two databases, from an old to a new one.
type Diff struct {
	Header  []FieldChange `json:"header"`
	Added   []Function    `json:"added"`   // only in the new one
	Removed []Function    `json:"removed"` // only in the old one
	Changed []Function    `json:"changed"` // in both, with another checksum or graph
	Same    int           `json:"same"`    // functions in both with the same flow graph

	// Overlap of the counts of all blocks, in percent; 0 if one of the
	// profiles is empty.
	Overlap    float64 `json:"overlap_percent"`
	OldCounted bool    `json:"old_counted"` // the old one has counts
	NewCounted bool    `json:"new_counted"`
	// Movers are the functions whose share of the weight changed most.
	Movers []Mover `json:"movers"`
}

// FieldChange is a field of the header that differs.
type FieldChange struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Function names a function with its weight and what share of all weight of
// its database that is.
type Function struct {
	ID      spd.ID  `json:"id"`
	Name    string  `json:"name"`
	Weight  uint64  `json:"weight"`
	Percent float64 `json:"percent"`
	Reason  string  `json:"reason,omitempty"`
}

// Mover is a function with its share of the weight in both databases.
type Mover struct {
	ID         spd.ID  `json:"id"`
	Name       string  `json:"name"`
	OldPercent float64 `json:"old_percent"`
	NewPercent float64 `json:"new_percent"`
}

// side is a database with its functions by id.
type side struct {
	file   *spd.File
	byID   map[spd.ID]*spd.Function
	order  []*spd.Function
	weight float64  // of all functions
	counts *big.Int // of all blocks
}

func newSide(f *spd.File) *side {
	s := &side{file: f, byID: map[spd.ID]*spd.Function{}, counts: new(big.Int)}
	for m := range f.Modules {
		for i := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[i]
			if _, ok := s.byID[fn.ID]; ok {
				continue // ids are unique in sound files; the first counts
			}
			s.byID[fn.ID] = fn
			s.order = append(s.order, fn)
			s.weight += float64(fn.Weight())
			for b := range fn.Blocks {
				s.counts.Add(s.counts, new(big.Int).SetUint64(fn.Blocks[b].Count))
			}
		}
	}
	return s
}

// counted says whether a block of fn has a count.
func counted(fn *spd.Function) bool {
	return slices.ContainsFunc(fn.Blocks, func(b spd.Block) bool { return b.Count > 0 })
}

// function describes fn of this side.
func (s *side) function(fn *spd.Function, reason string) Function {
	return Function{ID: fn.ID, Name: fn.Name, Weight: fn.Weight(), Percent: percent(float64(fn.Weight()), s.weight), Reason: reason}
}

func percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// mismatch says why the counts of a do not fit b, or "".
func mismatch(a, b *spd.Function) string {
	switch {
	case b == nil:
		return "no such function"
	case a.Checksum != b.Checksum:
		return fmt.Sprintf("checksum %v, was %v", b.Checksum, a.Checksum)
	case len(a.Blocks) != len(b.Blocks):
		return fmt.Sprintf("%d blocks, was %d", len(b.Blocks), len(a.Blocks))
	}
	return ""
}

// Files compares an old database with a new one and lists at most top movers.
func Files(oldFile, newFile *spd.File, top int) *Diff {
	a, b := newSide(oldFile), newSide(newFile)
	d := &Diff{Header: headerChanges(oldFile, newFile), Added: []Function{}, Removed: []Function{}, Changed: []Function{}, Movers: []Mover{}}
	shared := new(big.Int)
	for _, fn := range a.order {
		other := b.byID[fn.ID]
		switch reason := mismatch(fn, other); {
		case other == nil:
			d.Removed = append(d.Removed, a.function(fn, ""))
		case reason != "":
			d.Changed = append(d.Changed, a.function(fn, reason))
		default:
			d.Same++
			addOverlap(shared, fn, other, a.counts, b.counts)
		}
		d.mover(fn, a, fn, other, b)
	}
	for _, fn := range b.order {
		if a.byID[fn.ID] == nil {
			d.Added = append(d.Added, b.function(fn, ""))
			d.mover(fn, a, nil, fn, b)
		}
	}
	if all := new(big.Int).Mul(a.counts, b.counts); all.Sign() > 0 {
		d.Overlap, _ = new(big.Rat).SetFrac(shared.Mul(shared, big.NewInt(100)), all).Float64()
	}
	d.OldCounted, d.NewCounted = a.counts.Sign() > 0, b.counts.Sign() > 0
	byWeight(d.Added)
	byWeight(d.Removed)
	byWeight(d.Changed)
	slices.SortFunc(d.Movers, func(x, y Mover) int {
		return cmp.Or(-cmp.Compare(x.move(), y.move()), cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID))
	})
	d.Movers = d.Movers[:min(top, len(d.Movers))]
	return d
}

func byWeight(list []Function) {
	slices.SortFunc(list, func(x, y Function) int {
		return cmp.Or(-cmp.Compare(x.Weight, y.Weight), cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID))
	})
}

func (m Mover) move() float64 {
	if m.NewPercent > m.OldPercent {
		return m.NewPercent - m.OldPercent
	}
	return m.OldPercent - m.NewPercent
}

// mover adds a function if its share changed. One of x and y may be nil.
func (d *Diff) mover(named *spd.Function, a *side, x, y *spd.Function, b *side) {
	m := Mover{ID: named.ID, Name: named.Name}
	if x != nil {
		m.OldPercent = percent(float64(x.Weight()), a.weight)
	}
	if y != nil {
		m.NewPercent = percent(float64(y.Weight()), b.weight)
	}
	if m.OldPercent != m.NewPercent {
		d.Movers = append(d.Movers, m)
	}
}

// addOverlap adds the smaller share of each block, times both totals: in whole
// numbers, so that a profile overlaps with itself by exactly 100 %.
func addOverlap(sum *big.Int, x, y *spd.Function, xTotal, yTotal *big.Int) {
	var inX, inY big.Int
	for i := range x.Blocks {
		inX.SetUint64(x.Blocks[i].Count)
		inY.SetUint64(y.Blocks[i].Count)
		inX.Mul(&inX, yTotal)
		inY.Mul(&inY, xTotal)
		if inX.Cmp(&inY) > 0 {
			sum.Add(sum, &inY)
		} else {
			sum.Add(sum, &inX)
		}
	}
}

// headerChanges lists the fields of the header and of the modules that differ.
func headerChanges(a, b *spd.File) []FieldChange {
	changes := []FieldChange{}
	add := func(field string, x, y any) {
		if x != y {
			changes = append(changes, FieldChange{field, fmt.Sprint(x), fmt.Sprint(y)})
		}
	}
	x, y := a.Header, b.Header
	add("binary", x.Binary, y.Binary)
	add("guid", x.GUID, y.GUID)
	add("age", x.Age, y.Age)
	add("flags", x.Flags, y.Flags)
	add("hot_threshold", x.HotThreshold, y.HotThreshold)
	add("dynamic_instructions", x.DynamicInstructions, y.DynamicInstructions)
	add("static_instructions", x.StaticInstructions, y.StaticInstructions)
	add("modules", len(a.Modules), len(b.Modules))
	for i := range min(len(a.Modules), len(b.Modules)) {
		add(fmt.Sprintf("module %d name", i), a.Modules[i].Name, b.Modules[i].Name)
		add(fmt.Sprintf("module %d generation", i), a.Modules[i].Generation, b.Modules[i].Generation)
		add(fmt.Sprintf("module %d functions", i), len(a.Modules[i].Functions), len(b.Modules[i].Functions))
	}
	return changes
}

// Staleness tells how much of a profile fits other code.
type Staleness struct {
	Functions        int        `json:"functions"` // with counts
	MatchedFunctions int        `json:"matched_functions"`
	Weight           uint64     `json:"weight"`
	MatchedWeight    uint64     `json:"matched_weight"`
	FunctionPercent  float64    `json:"matched_functions_percent"`
	WeightPercent    float64    `json:"matched_weight_percent"`
	Worst            []Function `json:"worst"` // the heaviest that do not match
}

// Stale tells how much of the profile of one database fits the code that
// another one describes, with the heaviest top functions that do not.
func Stale(profile, code *spd.File, top int) *Staleness {
	a, b := newSide(profile), newSide(code)
	s := &Staleness{Worst: []Function{}}
	for _, fn := range a.order {
		weight := fn.Weight()
		if !counted(fn) {
			continue
		}
		s.Functions++
		s.Weight = binfmt.SatAdd(s.Weight, weight)
		if reason := mismatch(fn, b.byID[fn.ID]); reason != "" {
			s.Worst = append(s.Worst, a.function(fn, reason))
			continue
		}
		s.MatchedFunctions++
		s.MatchedWeight = binfmt.SatAdd(s.MatchedWeight, weight)
	}
	s.FunctionPercent = percent(float64(s.MatchedFunctions), float64(s.Functions))
	s.WeightPercent = percent(float64(s.MatchedWeight), float64(s.Weight))
	byWeight(s.Worst)
	s.Worst = s.Worst[:min(top, len(s.Worst))]
	return s
}
