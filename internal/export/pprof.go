package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// writePprof writes a CPU profile with call stacks as callGraph finds them. A
// sample is an executed instruction.
func (p *program) writePprof(w io.Writer) error {
	b := pprofBuilder{program: p, graph: &callGraph{}, functions: make(map[string]*profile.Function)}
	b.build()
	stacks := b.graph.stacks()
	slices.SortStableFunc(stacks, func(x, y stack) int { return cmp.Compare(y.weight, x.weight) })
	weights := make([]uint64, len(stacks))
	for k, s := range stacks {
		weights[k] = s.weight
	}
	stacks = stacks[:p.heaviest(weights)]
	out := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}},
		PeriodType: &profile.ValueType{Type: "instructions", Unit: "count"},
		Period:     1,
		Mapping:    []*profile.Mapping{b.mapping()},
	}
	used := make(map[*profile.Location]bool)
	leaves := make(map[int]bool)
	for _, s := range stacks {
		sample := &profile.Sample{Value: []int64{int64(min(s.weight, 1<<62))}}
		sample.Location = append(sample.Location, b.locations[s.leaf][s.place])
		for _, a := range slices.Backward(s.arcs) {
			sample.Location = append(sample.Location, b.locations[a.from][a.place])
			leaves[a.from] = true
		}
		leaves[s.leaf] = true
		for _, l := range sample.Location {
			used[l] = true
		}
		out.Sample = append(out.Sample, sample)
	}
	p.report.Records, p.report.Exported = len(out.Sample), len(leaves)
	known := make(map[*profile.Function]bool)
	for _, list := range b.locations {
		for _, l := range list {
			if !used[l] {
				continue
			}
			l.Mapping = out.Mapping[0]
			l.ID = uint64(len(out.Location) + 1)
			out.Location = append(out.Location, l)
			for _, line := range l.Line {
				if !known[line.Function] {
					known[line.Function] = true
					line.Function.ID = uint64(len(out.Function) + 1)
					out.Function = append(out.Function, line.Function)
				}
			}
		}
	}
	return out.Write(w)
}

// pprofBuilder makes the call graph and the locations of its places.
type pprofBuilder struct {
	*program
	graph     *callGraph
	locations [][]*profile.Location // of each function, by place
	functions map[string]*profile.Function
}

func (b *pprofBuilder) mapping() *profile.Mapping {
	m := &profile.Mapping{ID: 1, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	for k, e := range b.img.Code() {
		if k == 0 {
			m.Start = b.img.Base + e.Start
		}
		m.Limit = b.img.Base + e.End
	}
	return m
}

// build goes through all functions with code.
func (b *pprofBuilder) build() {
	n := len(b.program.functions)
	g := b.graph
	g.own, g.entries = make([]float64, n), make([]uint64, n)
	g.places, g.out, g.in = make([][]cost, n), make([][]*arc, n), make([][]*arc, n)
	b.locations = make([][]*profile.Location, n)
	for k := range b.program.functions {
		f := &b.program.functions[k]
		if f.weight == 0 || f.blocks == nil {
			continue
		}
		if !f.part() {
			g.entries[k] = f.EntryCount()
		}
		b.function(k, f)
	}
	for k := range g.out {
		slices.SortStableFunc(g.out[k], func(x, y *arc) int { return cmp.Compare(y.count, x.count) })
		slices.SortStableFunc(g.places[k], func(x, y cost) int { return cmp.Compare(y.own, x.own) })
	}
	g.solve()
}

// function finds the places of a function and what they cost, and its calls.
func (b *pprofBuilder) function(k int, f *function) {
	g := b.graph
	index := make(map[string]int)   // place by its frames
	placeOf := make(map[uint32]int) // of instructions
	lined := false
	for n := range f.blocks {
		for _, i := range f.blocks[n].code {
			frames := b.debug.Stack(i.rva)
			if len(frames) == 0 {
				frames = []debuginfo.Frame{{Function: f.Name}}
			}
			lined = lined || frames[len(frames)-1].StartLine > 0
			key := fmt.Sprint(frames)
			at, known := index[key]
			if !known {
				at = len(b.locations[k])
				index[key] = at
				b.locations[k] = append(b.locations[k], b.location(i.rva, frames))
				g.places[k] = append(g.places[k], cost{place: at})
			}
			placeOf[i.rva] = at
			executed := float64(f.blocks[n].Count) / unit
			g.places[k][at].own += executed
			g.own[k] += executed
		}
	}
	if !lined && !f.stub() {
		b.lose(f, &b.report.WithoutLines)
	}
	byPlace := make(map[[2]int]*arc)
	for _, c := range b.calls(f) {
		to := &b.program.functions[c.to]
		if c.count == 0 || to.weight == 0 || to.blocks == nil || to.part() {
			continue
		}
		id := [2]int{placeOf[c.from.rva], c.to}
		if a := byPlace[id]; a != nil {
			a.count = binfmt.SatAdd(a.count, c.count)
			continue
		}
		a := &arc{from: k, to: c.to, place: id[0], count: c.count}
		byPlace[id] = a
		g.out[k] = append(g.out[k], a)
		g.in[c.to] = append(g.in[c.to], a)
	}
}

// location makes the location of an instruction with the functions that are
// inlined there, the innermost one first.
func (b *pprofBuilder) location(rva uint32, frames []debuginfo.Frame) *profile.Location {
	l := &profile.Location{Address: b.img.Base + uint64(rva)}
	for _, f := range frames {
		name := f.Function
		if name == "" {
			name = "?"
		}
		key := strings.Join([]string{name, f.File, fmt.Sprint(f.StartLine)}, "\x00")
		fn := b.functions[key]
		if fn == nil {
			fn = &profile.Function{Name: name, SystemName: name, Filename: f.File, StartLine: int64(f.StartLine)}
			b.functions[key] = fn
		}
		l.Line = append(l.Line, profile.Line{Function: fn, Line: int64(f.Line)})
	}
	return l
}
