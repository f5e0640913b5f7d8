package correlate

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// loops is a function with a loop, an arm without code, blocks whose way there
// is not the only one, and one inlined function; and a function that calls.
//
//	1: 1000-1010  to 2
//	2: 1010-1020  to 4, 3; the loop
//	3: -          to 5
//	4: 1020-1030  to 2, 5; and to itself
//	5: 1030-1040  to 6, 7, 8; half of it is 3's block 2
//	6: -          to 8
//	7: 1040-1044  to 8
//	8: 1050-1058
func loops() *spd.File {
	in := spd.Inlinee{ID: 3, Blocks: []spd.InlinedBlock{copied(2, ranges(0x30, 0x34)), copied(3, ranges(0x34, 0x38))}}
	return file(
		function(1, 0x1000,
			block(ranges(0, 0x10), 2),
			block(ranges(0x10, 0x20), 4, 3),
			block(nil, 5),
			block(ranges(0x20, 0x30), 2, 5, 4),
			calling(block(ranges(0x30, 0x40), 6, 7, 8), in),
			block(nil, 8),
			block(ranges(0x40, 0x44), 8),
			block(ranges(0x50, 0x58))),
		function(2, 0x2000, block(ranges(0, 0x20), 2), block(ranges(0x20, 0x24))),
		function(3, 0, block(nil, 2), block(ranges(0, 4), 3, 4), block(ranges(4, 8), 4, 2), block(nil)),
	)
}

// credits lists the edges that have hits: function, block, block, hits.
func credits(l *layout, counts []uint64) []string {
	list := []string{}
	for f, fn := range l.functions {
		for b := range fn.Blocks {
			first := l.firstEdge[l.firstBlock[f]+int32(b)]
			for k, e := range fn.Blocks[b].Edges {
				if n := counts[first+int32(k)]; n > 0 {
					list = append(list, fmt.Sprintf("%d: %d-%d %d", fn.ID, b+1, e.To, n))
				}
			}
		}
	}
	return list
}

func TestBranches(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to uint32
		kind     BranchKind
		edges    []string
		unsure   []string
	}{
		{name: "edge", from: 0x101E, to: 0x1020, kind: BranchEdge, edges: []string{"1: 2-4 5"}},
		{name: "back", from: 0x102C, to: 0x1010, kind: BranchEdge, edges: []string{"1: 4-2 5"}},
		{name: "block to itself", from: 0x102C, to: 0x1020, kind: BranchEdge, edges: []string{"1: 4-4 5"}},
		{name: "into the same block", from: 0x102C, to: 0x1024, kind: BranchInside},
		{name: "no edge to itself", from: 0x101C, to: 0x1010, kind: BranchInside},
		{name: "through a block without code", from: 0x101C, to: 0x1030, kind: BranchEdge, edges: []string{"1: 2-3 5", "1: 3-5 5"}},
		{name: "two ways", from: 0x103C, to: 0x1050, kind: BranchEdge, unsure: []string{"1: 5-6 5", "1: 5-8 5", "1: 6-8 5"}},
		{name: "from the middle of a block", from: 0x1010, to: 0x1020, kind: BranchInside},
		{name: "to the middle of a block", from: 0x101C, to: 0x1024, kind: BranchInside},
		{name: "no edge", from: 0x100C, to: 0x1040, kind: BranchUnexplained},
		{name: "inlined", from: 0x1037, to: 0x1030, kind: BranchEdge, edges: []string{"3: 3-2 5"}},
		{name: "out of inlined code into its host", from: 0x1033, to: 0x1038, kind: BranchInside},
		{name: "out of inlined code", from: 0x1034, to: 0x1040, kind: BranchEdge, edges: []string{"1: 5-7 5"}},
		{name: "into inlined code", from: 0x102C, to: 0x1030, kind: BranchEdge, edges: []string{"1: 4-5 5"}},
		{name: "call", from: 0x1004, to: 0x2000, kind: BranchEntry},
		{name: "call from outside", from: 0x10, to: 0x2000, kind: BranchEntry},
		{name: "recursion", from: 0x2004, to: 0x2000, kind: BranchEntry},
		{name: "return", from: 0x2020, to: 0x1008, kind: BranchReturn},
		{name: "return from outside", from: 0x10, to: 0x1008, kind: BranchReturn},
		{name: "call outside", from: 0x1008, to: 0x10, kind: BranchOut},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSamples(loops())
			add(t, s, newTrace(t).stack(5, c.from, c.to).bytes(), 1)
			e := newEvidence(s.layout)
			s.weighBranches(e)
			for k, n := range e.kinds {
				if want := uint64(0); BranchKind(k) == c.kind && n != 5 || BranchKind(k) != c.kind && n != want {
					t.Errorf("%d branches are %v", n, BranchKind(k))
				}
			}
			if got := credits(s.layout, e.taken); !slices.Equal(got, c.edges) {
				t.Errorf("edges %q, want %q", got, c.edges)
			}
			if got := credits(s.layout, e.unsure); !slices.Equal(got, c.unsure) {
				t.Errorf("unsure edges %q, want %q", got, c.unsure)
			}
			if e.used != 5 || e.dropped != [numReasons]uint64{} {
				t.Errorf("used %d, dropped %v", e.used, e.dropped)
			}
			entered := uint64(0)
			if c.kind == BranchEntry {
				entered = 5
			}
			if e.entered[1] != entered {
				t.Errorf("entered %d times, want %d", e.entered[1], entered)
			}
		})
	}
}

// TestRuns checks what two neighbouring branches say of the code between them.
// The younger one leaves the binary, so that all branches inside have a run.
// Where the code between is none, half of what ran at either end is known.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name       string
		start, end uint32          // To of the older, From of the younger
		blocks     map[int]float64 // of function 1, by id: how often it was executed
		inlined    map[int]float64 // of function 3
		fallen     []string
	}{
		{name: "one block", start: 0x1000, end: 0x100F, blocks: map[int]float64{1: 1}},
		{name: "last instruction", start: 0x1000, end: 0x100A, blocks: map[int]float64{1: 1}},
		{name: "half a block", start: 0x1008, end: 0x100C, blocks: map[int]float64{1: .5}},
		{name: "call in a block", start: 0x2000, end: 0x2008},
		{name: "three blocks", start: 0x1000, end: 0x102C, blocks: map[int]float64{1: 1, 2: 1, 4: 1}, fallen: []string{"1: 1-2 1", "1: 2-4 1"}},
		{name: "into the next", start: 0x1018, end: 0x1021, blocks: map[int]float64{2: .5, 4: 1}, fallen: []string{"1: 2-4 1"}},
		{name: "inlined", start: 0x1030, end: 0x1043, blocks: map[int]float64{5: 1, 7: 1}, inlined: map[int]float64{2: 1, 3: 1},
			fallen: []string{"1: 5-7 1", "3: 2-3 1"}},
		{name: "backward", start: 0x1010, end: 0x100F, blocks: map[int]float64{1: .5, 2: .5}},
		{name: "two functions", start: 0x1050, end: 0x2004, blocks: map[int]float64{8: .5}},
		{name: "from outside", start: 0x10, end: 0x1004, blocks: map[int]float64{1: .5}},
		{name: "through a gap", start: 0x1040, end: 0x1056, blocks: map[int]float64{7: 1, 8: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSamples(loops())
			add(t, s, newTrace(t).stack(1, c.end, outside, 0x14, c.start).bytes(), 1)
			e := newEvidence(s.layout)
			s.weighBranches(e)
			sv := newSurvey(e, LBR, 256, 1)
			check := func(f int32, want map[int]float64) {
				g := sv.graph(f)
				for b := range g.Blocks {
					if got := float64(g.Blocks[b].Count) / 256; got != want[b+1] {
						t.Errorf("function %d: block %d executed %v times, want %v", f+1, b+1, got, want[b+1])
					}
				}
			}
			check(0, c.blocks)
			check(2, c.inlined)
			if got := credits(s.layout, e.fallen); !slices.Equal(got, c.fallen) {
				t.Errorf("edges %q, want %q", got, c.fallen)
			}
		})
	}
}

// TestReturnAddress checks that a call's length is known where the return
// from it was seen.
func TestReturnAddress(t *testing.T) {
	f := file(function(1, 0x1000, block(ranges(0, 0x20))), function(2, 0x2000, block(ranges(0, 0x10))))
	for _, c := range []struct {
		name  string
		trace []byte
		want  float64 // executions of block 1
	}{
		// The call is at 1014 and 5 bytes long, 12 are left of the block.
		{"not seen", newTrace(t).stack(8, 0x1014, outside, 0x10, 0x1000).bytes(), 8},
		{"seen", newTrace(t).stack(8, 0x1014, outside, 0x10, 0x1000).stack(2, outside, 0x1019).bytes(), (8*0x19 + 7) / 32.},
	} {
		s := NewSamples(f)
		add(t, s, c.trace, 1)
		if got := float64(s.survey(LBR).graph(0).Blocks[0].Count) / 256; got != c.want {
			t.Errorf("%s: %v executions, want %v", c.name, got, c.want)
		}
	}
}

// TestReversed reads the same stacks both ways round.
func TestReversed(t *testing.T) {
	stacks := [][]uint32{
		{0x101C, 0x1020, 0x102C, 0x1010, 0x101C, 0x1020, 0x10, 0x1000},
		{0x1056, 0x10, 0x1043, 0x1050, 0x101C, 0x1030, 0x102C, 0x1010, 0x101C, 0x1020},
	}
	var results []*Result
	for _, reversed := range []bool{false, true} {
		tr := newTrace(t)
		for _, ends := range stacks {
			if reversed {
				ends = slices.Clone(ends)
				slices.Reverse(ends)
				for k := 0; k < len(ends); k += 2 {
					ends[k], ends[k+1] = ends[k+1], ends[k]
				}
			}
			tr.stack(3, ends...)
		}
		s := NewSamples(loops())
		if stats := add(t, s, tr.bytes(), 1); stats.Reversed != reversed {
			t.Errorf("reversed %v, want %v", stats.Reversed, reversed)
		}
		results = append(results, infer(t, s, Options{}))
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("results differ:\n%+v\n%+v", results[0], results[1])
	}
	if results[0].Functions[0].Blocks[3] == 0 {
		t.Error("no counts")
	}
}

// TestBranchesAlone checks records of one pair each: edges and entries are
// known, and blocks follow from them.
func TestBranchesAlone(t *testing.T) {
	s := NewSamples(loops())
	tr := newTrace(t).stack(20, 0x10, 0x1000).stack(30, 0x102C, 0x1010).stack(40, 0x101C, 0x1020).stack(10, 0x101C, 0x1030)
	add(t, s, tr.bytes(), 1)
	g := s.survey(LBR).graph(0)
	for b, o := range g.Blocks {
		if o.Known() {
			t.Errorf("block %d was not observed, but is known", b+1)
		}
	}
	if g.EntryObs.Count != 20*256 {
		t.Errorf("entry %d, want %d", g.EntryObs.Count, 20*256)
	}
	r := infer(t, s, Options{})
	var got []uint64
	for _, x := range r.Functions[0].Blocks {
		got = append(got, x/256)
	}
	if want := []uint64{20, 50, 10, 40, 20}; !slices.Equal(got[:5], want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
	// Branches speak of both ends, but one starts outside and one arrives in
	// inlined code.
	if r.Functions[0].Hits != 20+2*70+10 {
		t.Errorf("%d hits", r.Functions[0].Hits)
	}
}
