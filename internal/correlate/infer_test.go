package correlate

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

const unit = 256

// straight is a function of two blocks, of 4 instructions and 1.
func straight(id spd.ID, rva uint32) spd.Function {
	return function(id, rva, block(ranges(0, 0x10), 2), block(ranges(0x10, 0x14)))
}

func TestAddresses(t *testing.T) {
	fork := function(1, 0x1000,
		block(ranges(0, 0x10), 3, 2), block(ranges(0x10, 0x18), 3), block(ranges(0x18, 0x20), 4), block(ranges(0x20, 0x28)))
	fork.Blocks[2].Edges = append(fork.Blocks[2].Edges, spd.Edge{To: 3, Flags: spd.EdgeDead})
	trace := newTrace(t).
		ip(spt.OpRetireInstr, 40, 0x1000).ip(spt.OpRetireInstr, 10, 0x1010, 0x1014).ip(spt.OpRetireInstr, 30, 0x1018).
		ip(spt.OpRetireInstr, 3, 0x1029).ip(spt.OpRetireInstr, 4, 0x900).
		ip(spt.OpUnhaltCycle, 5, 0x1000).
		ip(spt.OpRetireBrInstr, 7, 0x1000).ip(spt.OpRetireBrInstr, 2, 0x1010).ip(spt.OpRetireBrInstr, 1, 0x1018).
		ip(spt.OpL1ICacheMiss, 6, 0x1000).ip(spt.OpL1DCacheMiss, 6, 0x1000).
		other().ip(spt.OpRetireInstr, 11, 0x1000).bytes()
	for _, c := range []struct {
		event   spt.Opcode
		used    uint64
		dropped []Loss
		blocks  []float64 // observed
	}{
		{0, 90, []Loss{{OutsideFunctions, 4}, {InPadding, 3}, {OtherEvent, 27}}, []float64{10, 10, 15, 0}},
		{spt.OpUnhaltCycle, 5, []Loss{{OtherEvent, 119}}, []float64{1.25, 0, 0, 0}},
		{spt.OpRetireBrInstr, 7, []Loss{{OtherEvent, 114}, {NoBranch, 3}}, []float64{1.75, 0, 0, 0}},
	} {
		s := NewSamples(file(fork, straight(2, 0x1030)))
		stats := add(t, s, trace, 1)
		chosen := []OpcodeCount{{spt.OpUnhaltCycle, 1, 5}, {spt.OpRetireInstr, 5, 97}, {spt.OpRetireBrInstr, 3, 10}, {spt.OpL1ICacheMiss, 1, 6}, {spt.OpL1DCacheMiss, 1, 6}}
		if !slices.Equal(stats.Chosen, chosen) {
			t.Errorf("the binary: got %v, want %v", stats.Chosen, chosen)
		}
		if want := []OpcodeCount{{spt.OpRetireInstr, 1, 11}}; !slices.Equal(stats.Other, want) {
			t.Errorf("other binaries: got %v, want %v", stats.Other, want)
		}
		r := infer(t, s, Options{IPEvent: c.event})
		if r.Mode != IP || r.Used != c.used || !slices.Equal(r.Dropped, c.dropped) {
			t.Errorf("%v: %v, used %d, dropped %v; want %d, %v", c.event, r.Mode, r.Used, r.Dropped, c.used, c.dropped)
		}
		e := newEvidence(s.layout)
		s.weighAddresses(e, &Result{IPEvent: r.IPEvent}, 1)
		g := newSurvey(e, IP, unit, 1).graph(0)
		for b, o := range g.Blocks {
			if got := float64(o.Count) / unit; got != c.blocks[b] || o.N != float64(fork.Blocks[b].Instructions) {
				t.Errorf("%v: block %d: %v of confidence %v, want %v", c.event, b+1, got, o.N, c.blocks[b])
			}
		}
		f := r.Functions[0]
		if !f.Touched || f.Hits != c.used || f.Blocks[0] == 0 || f.Edges[2][1] != 0 || len(f.Edges) != 4 {
			t.Errorf("%v: got %+v", c.event, f)
		}
		if !reflect.DeepEqual(r.Functions[1], Function{}) {
			t.Errorf("%v: a function without samples: %+v", c.event, r.Functions[1])
		}
	}
}

func TestEventChoice(t *testing.T) {
	for _, c := range []struct {
		ops  []spt.Opcode
		want spt.Opcode // 0: an error
	}{
		{[]spt.Opcode{0x01, 0x02, 0x03, 0x41}, 0x02},
		{[]spt.Opcode{0x01, 0x03, 0x41}, 0x01},
		{[]spt.Opcode{0x03, 0x04, 0x41}, 0x41},
		{[]spt.Opcode{0x42}, 0x42},
		{[]spt.Opcode{0x42, 0x41}, 0x41},
		{[]spt.Opcode{0x03, 0x04, 0x05}, 0},
		{[]spt.Opcode{0x42, 0x03}, 0},
		{nil, 0},
	} {
		s := NewSamples(file(straight(1, 0x1000)))
		tr := newTrace(t)
		for _, op := range c.ops {
			if op == spt.OpETWCallStack {
				tr.frames(1, 0x1000, 0x1008)
				continue
			}
			tr.ip(op, 1, 0x1000)
		}
		add(t, s, tr.bytes(), 1)
		r, err := Infer(t.Context(), s, Options{})
		switch {
		case c.want == 0:
			var wrong *WrongModeError
			if !errors.As(err, &wrong) || wrong.HasMode() != Auto && len(c.ops) != 2 {
				t.Errorf("%v: got %v", c.ops, err)
			}
		case err != nil || r.IPEvent != c.want:
			t.Errorf("%v: got %v, %v, want %v", c.ops, r, err, c.want)
		}
	}
}

func TestModes(t *testing.T) {
	lbr := newTrace(t).stack(1, 0x10, 0x1000).bytes()
	ip := newTrace(t).ip(spt.OpETWInstr, 2, 0x1000).bytes()
	both := newTrace(t).ip(spt.OpETWInstr, 2, 0x1000).stack(1, 0x10, 0x1000).bytes()
	none := newTrace(t).other().ip(spt.OpETWInstr, 1, 0x1000).bytes()
	for _, c := range []struct {
		name   string
		inputs [][]byte
		o      Options
		mode   Mode
		err    string
		has    Mode
	}{
		{name: "branches", inputs: [][]byte{lbr, none}, mode: LBR},
		{name: "addresses", inputs: [][]byte{ip, none}, mode: IP},
		{name: "both in one file", inputs: [][]byte{both, lbr}, mode: LBR},
		{name: "both asked for IP", inputs: [][]byte{both}, o: Options{Mode: IP}, mode: IP},
		{name: "kinds", inputs: [][]byte{lbr, ip, none}, err: "1 inputs have branches (LBR) and 1 only instruction addresses (IP)"},
		{name: "kinds asked for IP", inputs: [][]byte{lbr, ip}, o: Options{Mode: IP}, mode: IP},
		{name: "kinds asked for LBR", inputs: [][]byte{lbr, ip}, o: Options{Mode: LBR}, mode: LBR},
		{name: "no branches", inputs: [][]byte{ip}, o: Options{Mode: LBR}, err: "want branches (LBR), got 2 of ETW_INSTR", has: IP},
		{name: "only branches", inputs: [][]byte{lbr}, o: Options{Mode: IP}, err: "want instruction addresses (IP), got 1 of LBR", has: LBR},
		{name: "no such event", inputs: [][]byte{ip}, o: Options{Mode: IP, IPEvent: spt.OpRetireInstr}, err: "want samples of RETIRE_INSTR, got 2 of ETW_INSTR", has: IP},
		{name: "nothing", inputs: [][]byte{none}, err: "want usable samples, got no samples of this binary"},
		{name: "no input", err: "want usable samples, got no samples of this binary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSamples(file(straight(1, 0x1000)))
			for _, in := range c.inputs {
				add(t, s, in, 1)
			}
			r, err := Infer(t.Context(), s, c.o)
			if c.err == "" {
				if err != nil || r.Mode != c.mode || r.Used == 0 {
					t.Fatalf("got %+v, %v", r, err)
				}
				return
			}
			if err == nil || err.Error() != c.err {
				t.Fatalf("got %v, want %s", err, c.err)
			}
			var wrong *WrongModeError
			if errors.As(err, &wrong) && wrong.HasMode() != c.has {
				t.Errorf("has %v, want %v", wrong.HasMode(), c.has)
			}
			var mixed *MixedKindsError
			if errors.As(err, &mixed) && (!slices.Equal(mixed.LBR, []int{0}) || !slices.Equal(mixed.IP, []int{1})) {
				t.Errorf("got %+v", mixed)
			}
		})
	}
}

// TestWeights checks that a file given three times, one of weight 3 and one
// of three times the scale are the same.
func TestWeights(t *testing.T) {
	f := loops()
	for _, trace := range [][]byte{
		newTrace(t).stack(2, 0x1056, 0x10, 0x102C, 0x1050, 0x101C, 0x1020, 0x102C, 0x1010, 0x101C, 0x1020, 0x10, 0x1000).bytes(),
		newTrace(t).ip(spt.OpRetireInstr, 5, 0x1000, 0x1010, 0x1014, 0x1032, 0x1050).frames(2, 0x2000, 0x1008).bytes(),
	} {
		once, twice, weighty, thrice := NewSamples(f), NewSamples(f), NewSamples(f), NewSamples(f)
		add(t, once, trace, 1)
		for range 3 {
			add(t, thrice, trace, 1)
			add(t, twice, trace, 7)
		}
		add(t, weighty, trace, 3)
		want := infer(t, thrice, Options{})
		if got := infer(t, weighty, Options{}); !reflect.DeepEqual(got, want) {
			t.Errorf("weight 3: got %+v, want %+v", got, want)
		}
		if got := infer(t, twice, Options{Scale: 7}); !reflect.DeepEqual(got, want) {
			t.Errorf("weight 21 of scale 7: got %+v, want %+v", got, want)
		}
		if got := infer(t, once, Options{}); got.Used*3 != want.Used {
			t.Errorf("%d used once, %d three times", got.Used, want.Used)
		}
	}
}

// TestInlined checks counts of functions that have no code of their own.
func TestInlined(t *testing.T) {
	s := NewSamples(nested())
	add(t, s, newTrace(t).ip(spt.OpRetireInstr, 8, 0x1000, 0x1010, 0x1014, 0x1018, 0x1024).bytes(), 1)
	g := s.survey(IP)
	for _, c := range []struct {
		f, b int32
		want float64
	}{{0, 0, 2}, {0, 1, 4}, {0, 2, 0}, {1, 1, 4}, {2, 0, 4}} {
		if got := float64(g.graph(c.f).Blocks[c.b].Count) / unit; got != c.want {
			t.Errorf("function %d, block %d: %v, want %v", c.f+1, c.b+1, got, c.want)
		}
	}
	if o := g.graph(1).Blocks[0]; o.Known() {
		t.Errorf("a block that left no code is observed: %v", o)
	}
	r := infer(t, s, Options{})
	for f, want := range []bool{true, true, true, false, false} {
		if r.Functions[f].Touched != want {
			t.Errorf("function %d: touched %v", f+1, !want)
		}
	}
}

// TestCopies adds up the copies of a function, one of which lacks a block.
func TestCopies(t *testing.T) {
	twice := block(ranges(0, 0x10), 2)
	twice.Inlinees = []spd.Inlinee{
		{ID: 2, Blocks: []spd.InlinedBlock{copied(1, ranges(0, 4)), copied(2, ranges(4, 8))}},
		{ID: 2, Blocks: []spd.InlinedBlock{copied(2, ranges(8, 0x10))}},
	}
	f := file(function(1, 0x1000, twice, block(ranges(0x10, 0x14))), straight(2, 0x2000))
	s := NewSamples(f)
	// The copies are executed 10, 20 and 5 times.
	add(t, s, newTrace(t).ip(spt.OpRetireInstr, 10, 0x1000, 0x1004).ip(spt.OpRetireInstr, 20, 0x1008, 0x100C).
		ip(spt.OpRetireInstr, 5, 0x2000, 0x2004, 0x2008, 0x200C, 0x2010).bytes(), 1)
	sv := s.survey(IP)
	g := sv.graph(1)
	if got := float64(g.Blocks[1].Count) / unit; got != 35 {
		t.Errorf("block of all copies: %v, want 35", got)
	}
	if got := float64(g.Blocks[0].Count) / unit; got != 35 {
		t.Errorf("block that one copy lacks: %v, want 35", got)
	}
	if a, b := g.Blocks[0].N, g.Blocks[1].N; a <= 0 || a >= b {
		t.Errorf("confidence %v in a block that one copy lacks, %v in the other", a, b)
	}
	// All code of block 1 of function 1 is inlined.
	if got := float64(sv.graph(0).Blocks[0].Count) / unit; got != 10 {
		t.Errorf("block of inlined code alone: %v, want 10", got)
	}
}

func TestFolded(t *testing.T) {
	same, other := straight(2, 0), straight(3, 0)
	same.FoldedInto, other.FoldedInto = 0x1000, 0x1000
	other.Checksum = 7
	kept := straight(1, 0x1000)
	site := spd.CallSite{Offset: 0x8, Length: 6, Ordinal: 1}
	kept.Blocks[0], same.Blocks[0] = indirect(kept.Blocks[0], site), indirect(same.Blocks[0], site)
	for _, trace := range [][]byte{
		newTrace(t).stack(4, 0x1008, 0x1000, 0x1012, 0x1000).bytes(),
		newTrace(t).ip(spt.OpRetireInstr, 4, 0x1000, 0x1010).frames(3, 0x1000, 0x100E).bytes(),
	} {
		s := NewSamples(file(kept, same, other))
		add(t, s, trace, 1)
		r := infer(t, s, Options{})
		if !r.Functions[0].Touched || !reflect.DeepEqual(r.Functions[0], r.Functions[1]) || r.Functions[2].Touched {
			t.Errorf("got %+v", r.Functions)
		}
		if got := r.Functions[1].Indirect; got == nil || got[0][0].Targets[0].ID != 1 {
			t.Errorf("indirect calls of the folded function: %v", got)
		}
	}
}

func TestIndirectCalls(t *testing.T) {
	caller := function(1, 0x1000,
		indirect(calling(block(ranges(0, 0x20), 2), spd.Inlinee{ID: 2, Blocks: []spd.InlinedBlock{{
			ID: 1, Instructions: 2, Ranges: ranges(0x10, 0x18), Indirect: []spd.CallSite{{Offset: 0x11, Length: 6, Ordinal: 1}},
		}}}), spd.CallSite{Offset: 0x4, Length: 6, Ordinal: 1}),
		block(ranges(0x20, 0x24)))
	inlined := function(2, 0, indirect(block(ranges(0, 8), 2), spd.CallSite{Offset: 2, Length: 6, Ordinal: 1}), block(nil))
	f := file(caller, inlined, straight(0x13, 0x2000), straight(0x12, 0x2100), straight(0x11, 0x2200), straight(0x10, 0x2300))

	s := NewSamples(f)
	const stub = 0x5000
	add(t, s, newTrace(t).
		stack(3, 0x1004, 0x2000).stack(3, 0x1004, 0x2100).stack(9, 0x1004, 0x2200).stack(1, 0x1004, 0x2300).
		stack(5, 0x1004, 0x100). // anywhere
		stack(6, stub+6, 0x2000, 0x1011, stub).stack(2, 0x1011, stub).
		bytes(), 1)
	r := infer(t, s, Options{})
	want := SiteHits{Hits: 21, Targets: spd.Targets{{ID: 0x11, Hits: 9}, {ID: 0x12, Hits: 3}, {ID: 0x13, Hits: 3}}}
	if got := r.Functions[0].Indirect; got == nil || got[0][0] != want || got[1] != nil {
		t.Errorf("got %v, want %v", got, want)
	}
	want = SiteHits{Hits: 8, Targets: spd.Targets{{ID: 0x13, Hits: 6}}}
	if got := r.Functions[1].Indirect; got == nil || got[0][0] != want {
		t.Errorf("inlined, through a dispatch: got %v, want %v", got, want)
	}
	if r.Functions[2].Indirect != nil {
		t.Errorf("no call: got %v", r.Functions[2].Indirect)
	}

	s = NewSamples(f)
	add(t, s, newTrace(t).ip(spt.OpETWInstr, 1, 0x1000).
		frames(4, 0x2004, 0x100A).frames(3, 0x2104, 0x1017, 0x9000).frames(2, 0x8000, 0x100A).bytes(), 10)
	r = infer(t, s, Options{Scale: 10})
	want = SiteHits{Hits: 6, Targets: spd.Targets{{ID: 0x13, Hits: 4}}}
	if got := r.Functions[0].Indirect; got == nil || got[0][0] != want {
		t.Errorf("call stacks: got %v, want %v", got, want)
	}
	want = SiteHits{Hits: 3, Targets: spd.Targets{{ID: 0x12, Hits: 3}}}
	if got := r.Functions[1].Indirect; got == nil || got[0][0] != want {
		t.Errorf("call stacks, inlined: got %v, want %v", got, want)
	}
}

// TestCallStacks checks what call stacks add in mode IP.
func TestCallStacks(t *testing.T) {
	caller := straight(1, 0x1000)
	caller.Callees = []spd.Callee{{ID: 2, Sites: []uint32{1}}}
	f := file(caller, straight(2, 0x2000))
	observed := func(s *Samples, event spt.Opcode, f int32) float64 {
		e := newEvidence(s.layout)
		s.weighAddresses(e, &Result{IPEvent: event}, 1)
		return float64(newSurvey(e, IP, unit, 1).graph(f).Blocks[0].Count) / unit
	}
	for _, c := range []struct {
		name           string
		trace          []byte
		event          spt.Opcode
		caller, callee float64 // executions of the first blocks
		reversed       bool
		used           uint64
	}{
		{"frames alone", newTrace(t).frames(8, 0x2004, 0x1008).bytes(), spt.OpETWCallStack, .25, 2, false, 8},
		{"with addresses", newTrace(t).frames(8, 0x2004, 0x1008).ip(spt.OpETWInstr, 4, 0x2004).bytes(), spt.OpETWInstr, .25, 1, false, 4},
		{"caller first", newTrace(t).frames(8, 0x1008, 0x2004).bytes(), spt.OpETWCallStack, .25, 2, true, 8},
		{"entry not sampled", newTrace(t).frames(8, 0x2010, 0x1008).ip(spt.OpETWInstr, 4, 0x2010).bytes(), spt.OpETWInstr, .25, .25, false, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSamples(f)
			add(t, s, c.trace, 1)
			r := infer(t, s, Options{})
			if r.IPEvent != c.event || r.StacksReversed != c.reversed || r.Used != c.used {
				t.Errorf("%v, reversed %v, used %d", r.IPEvent, r.StacksReversed, r.Used)
			}
			if a, b := observed(s, c.event, 0), observed(s, c.event, 1); a != c.caller || b != c.callee {
				t.Errorf("caller %v, callee %v; want %v, %v", a, b, c.caller, c.callee)
			}
		})
	}
	// A file of call stacks alone joins one of addresses of the same timer.
	s := NewSamples(f)
	add(t, s, newTrace(t).frames(8, 0x2004, 0x1008).bytes(), 1)
	add(t, s, newTrace(t).ip(spt.OpETWInstr, 4, 0x2004).bytes(), 1)
	if r := infer(t, s, Options{}); r.Used != 12 {
		t.Errorf("used %d of two files, want 12", r.Used)
	}
}

// TestCalls checks that the calls of a file-local function tell how often it
// was entered.
func TestCalls(t *testing.T) {
	caller := straight(1, 0x1000)
	caller.Callees = []spd.Callee{{ID: 2, Sites: []uint32{1}}}
	var entries []uint64
	for _, callee := range []spd.Function{straight(2, 0x2000), static(straight(2, 0x2000))} {
		s := NewSamples(file(caller, callee))
		add(t, s, newTrace(t).ip(spt.OpRetireInstr, 4000, 0x1000).ip(spt.OpRetireInstr, 1000, 0x1010).ip(spt.OpRetireInstr, 2, 0x2010).bytes(), 1)
		entries = append(entries, infer(t, s, Options{}).Functions[1].Blocks[0]/unit)
	}
	if entries[0] > 10 || entries[1] < 20*max(1, entries[0]) {
		t.Errorf("entered %d times by the samples alone, %d with the 1000 calls", entries[0], entries[1])
	}
}

// TestLostWeight checks blocks that no flow can pass: they have no counts, and
// what was measured there is told by reason.
func TestLostWeight(t *testing.T) {
	for _, c := range []struct {
		name               string
		f                  spd.Function
		unreached, trapped float64
	}{
		{"no way to the exit", function(1, 0x1000, block(ranges(0, 8)), block(ranges(8, 0x10))), 0, 1},
		{"no way to the block", function(1, 0x1000, block(nil, 3), block(ranges(0, 8), 2, 3), block(nil)), 1, 0},
	} {
		s := NewSamples(file(c.f))
		add(t, s, newTrace(t).ip(spt.OpRetireInstr, 6, 0x1000).bytes(), 1)
		r := infer(t, s, Options{})
		if r.Unreached != c.unreached || r.Trapped != c.trapped || r.Correction != 1 || r.Used != 6 {
			t.Errorf("%s: not reached %v, no way on %v, correction %v, used %d", c.name, r.Unreached, r.Trapped, r.Correction, r.Used)
		}
		checkFlow(t, file(c.f), r)
		for b, x := range r.Functions[0].Blocks {
			if x != 0 {
				t.Errorf("%s: block %d has %d", c.name, b+1, x)
			}
		}
	}
}

// TestFellBack gives samples of other code.
func TestFellBack(t *testing.T) {
	f := function(1, 0x1000, block(ranges(0, 8), 2), block(ranges(8, 0x10), 3), block(ranges(0x10, 0x18)))
	s := NewSamples(file(f))
	add(t, s, newTrace(t).ip(spt.OpRetireInstr, 100000, 0x1000).ip(spt.OpRetireInstr, 10, 0x1008).ip(spt.OpRetireInstr, 70000, 0x1010).bytes(), 1)
	r := infer(t, s, Options{})
	if !slices.Equal(r.FellBack, []int{0}) || r.Correction < .2 {
		t.Errorf("fell back %v, correction %v", r.FellBack, r.Correction)
	}
}

// TestFellBackTime gives samples of other code, and of slow instructions, with
// and without an event that counts time.
func TestFellBackTime(t *testing.T) {
	for _, c := range []struct {
		op    spt.Opcode
		hits  [3]uint64 // of three blocks that follow each other
		doubt bool
	}{
		{spt.OpRetireInstr, [3]uint64{100000, 10, 70000}, true},
		{spt.OpUnhaltCycle, [3]uint64{100000, 10, 70000}, false},
		{spt.OpETWInstr, [3]uint64{100000, 10, 70000}, false},
		{spt.OpETWInstr, [3]uint64{1000000, 10, 10}, true},
	} {
		f := function(1, 0x1000, block(ranges(0, 8), 2), block(ranges(8, 0x10), 3), block(ranges(0x10, 0x18)))
		s := NewSamples(file(f))
		add(t, s, newTrace(t).ip(c.op, c.hits[0], 0x1000).ip(c.op, c.hits[1], 0x1008).ip(c.op, c.hits[2], 0x1010).bytes(), 1)
		r := infer(t, s, Options{})
		if doubt := len(r.FellBack) > 0; doubt != c.doubt {
			t.Errorf("%v with hits %v, which overlap by %.2f: doubted %v, want %v", c.op, c.hits, r.Functions[0].Quality.Overlap, doubt, c.doubt)
		}
		if r.SampledTime() != (c.op != spt.OpRetireInstr) {
			t.Errorf("%v counts time: %v", c.op, r.SampledTime())
		}
	}
}

func TestDensity(t *testing.T) {
	f := file(straight(1, 0x1000), straight(2, 0x2000), straight(3, 0x3000))
	s := NewSamples(f)
	// 8, 0.8 and few hits of a block; the last is outside of the 99 % set.
	add(t, s, newTrace(t).ip(spt.OpRetireInstr, 800, 0x1000).ip(spt.OpRetireInstr, 200, 0x1010).
		ip(spt.OpRetireInstr, 320, 0x2000).ip(spt.OpRetireInstr, 80, 0x2010).ip(spt.OpRetireInstr, 1, 0x3000).bytes(), 1)
	r := infer(t, s, Options{})
	if r.Density != (Density{Hot: 2, Hits: 200, Factor: 1}) {
		t.Errorf("got %+v", r.Density)
	}
	s = NewSamples(f)
	add(t, s, newTrace(t).ip(spt.OpRetireInstr, 4, 0x1000).ip(spt.OpRetireInstr, 1, 0x1010).bytes(), 1)
	if r := infer(t, s, Options{}); r.Density != (Density{Hot: 1, Hits: 2.5, Factor: 4}) {
		t.Errorf("got %+v", r.Density)
	}
}

// TestShortStacks samples a function by a single branch beside one with runs:
// that hardly any code between branches is known of it does not mean that it has
// no samples.
func TestShortStacks(t *testing.T) {
	s := NewSamples(loops())
	add(t, s, newTrace(t).stack(1, 0x102e, 0x1010).stack(1, 0x2022, 0x5000, 0x5000, 0x2000).bytes(), 1)
	r := infer(t, s, Options{})
	if hits := r.Functions[0].Hits; hits != 2 { // both ends of the branch
		t.Errorf("got %d hits", hits)
	}
	if r.Density.Hits == 0 || r.Density.Factor == 1 {
		t.Errorf("got density %+v", r.Density)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := NewSamples(loops())
	add(t, s, newTrace(t).ip(spt.OpETWInstr, 1, 0x1000).bytes(), 1)
	if _, err := Infer(ctx, s, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestDamaged checks that what stands before damage is used, and Survey sees
// the same as Add.
func TestDamaged(t *testing.T) {
	b := newTrace(t).ip(spt.OpETWInstr, 3, 0x1000).bytes()
	b = append(b, 0x55)
	open := func() *spt.Reader {
		r, err := spt.NewReader(bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	s := NewSamples(loops())
	stats, err := s.Add(open(), isA, 1)
	surveyed, again := Survey(open(), isA)
	if !errors.Is(err, spt.DefectOutsideSegment) || !errors.Is(again, spt.DefectOutsideSegment) {
		t.Errorf("got %v and %v", err, again)
	}
	if want := []OpcodeCount{{spt.OpETWInstr, 1, 3}}; !slices.Equal(stats.Chosen, want) || !reflect.DeepEqual(stats, surveyed) {
		t.Errorf("got %v and %v, want %v", stats, surveyed, want)
	}
	if r := infer(t, s, Options{}); r.Used != 3 {
		t.Errorf("used %d, want 3", r.Used)
	}
}

// TestOrder checks that neither the order of inputs nor the number of jobs
// nor a second run has any influence.
func TestOrder(t *testing.T) {
	f, err := spd.ReadFile(filepath.Join(corpus.Path(t, "corpus", "spd"), "EbpfCore-3349d0ac.spd"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWalker(f, 1)
	r := rand.New(rand.NewPCG(1, 1))
	for len(w.branches) < 20000 {
		if i := r.IntN(len(w.funcs)); w.codes[i] != nil {
			w.call(i)
		}
	}
	for _, inputs := range [][][]byte{
		{w.stacks(t, 300, 32), w.stacks(t, 200, 16), w.stacks(t, 20, 1)},
		{w.addresses(t, 3000), w.addresses(t, 500), w.addresses(t, 5)},
	} {
		var first *Result
		for k := range len(inputs) {
			s := NewSamples(f)
			for i := range inputs {
				add(t, s, inputs[(i+k)%len(inputs)], uint64(1+(i+k)%len(inputs)))
			}
			for _, jobs := range []int{1, 3} {
				got := infer(t, s, Options{Jobs: jobs})
				if first == nil {
					first = got
				}
				if !reflect.DeepEqual(got, first) {
					t.Errorf("%v: another result from input %d on with %d jobs", got.Mode, k, jobs)
				}
			}
		}
		checkFlow(t, f, first)
	}
}

// checkFlow checks that counts are consistent.
func checkFlow(t testing.TB, f *spd.File, r *Result) {
	t.Helper()
	touched := 0
	for i := range f.Modules[0].Functions {
		fn, c := &f.Modules[0].Functions[i], r.Functions[i]
		if !c.Touched {
			if !reflect.DeepEqual(c, Function{}) {
				t.Errorf("function %d: not touched, but %+v", i, c)
			}
			continue
		}
		touched++
		in := make([]uint64, len(fn.Blocks))
		for b := range fn.Blocks {
			var out uint64
			for k, e := range fn.Blocks[b].Edges {
				out += c.Edges[b][k]
				in[e.To-1] += c.Edges[b][k]
				if e.Flags&spd.EdgeDead != 0 && c.Edges[b][k] != 0 {
					t.Errorf("%s: dead edge of block %d has %d", fn.Name, b+1, c.Edges[b][k])
				}
			}
			if b < len(fn.Blocks)-1 && out != c.Blocks[b] {
				t.Errorf("%s: block %d has %d, its out-edges %d", fn.Name, b+1, c.Blocks[b], out)
			}
		}
		for b := range in {
			if b > 0 && in[b] != c.Blocks[b] {
				t.Errorf("%s: block %d has %d, its in-edges %d", fn.Name, b+1, c.Blocks[b], in[b])
			}
		}
		if last := len(fn.Blocks) - 1; c.Blocks[0] != c.Blocks[last] {
			t.Errorf("%s: entry %d, exit %d", fn.Name, c.Blocks[0], c.Blocks[last])
		}
	}
	if touched == 0 {
		t.Error("no function touched")
	}
}

func TestNames(t *testing.T) {
	for r := range numReasons {
		if r.String() == "" {
			t.Errorf("reason %d has no name", r)
		}
	}
	for k := range numBranchKinds {
		if k.String() == "" {
			t.Errorf("branch kind %d has no name", k)
		}
	}
	if got := strings.Join([]string{Auto.String(), IP.String(), LBR.String()}, " "); got != "AUTO IP LBR" {
		t.Errorf("modes %s", got)
	}
}
