package spd

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

func TestMadeFilesBreakNoRule(t *testing.T) {
	for name, f := range map[string]*File{"fresh": freshFile(), "profiled": profiledFile()} {
		for v := range f.Violations() {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// TestRecordedFilesBreakKnownRulesOnly: the numbers are those of the reference
// decoder, and all of them are in functions that decayed to the entry floor.
func TestRecordedFilesBreakKnownRulesOnly(t *testing.T) {
	want := map[string]map[Rule]int{
		"EbpfCore-1bbd8b19.spd": {RuleFlowOut: 8, RuleFlowIn: 6, RuleFlowThrough: 3},
		"EbpfCore-3349d0ac.spd": {RuleFlowOut: 10, RuleFlowThrough: 10},
		"EbpfCore-8f1fae3b.spd": {RuleFlowOut: 2, RuleFlowThrough: 2},
		"EbpfCore-b29b5e08.spd": {RuleFlowOut: 13, RuleFlowIn: 12, RuleFlowThrough: 2},
	}
	for name, data := range recorded(t) {
		got := map[Rule]int{}
		for v := range decode(t, data).Violations() {
			if !v.Known {
				t.Errorf("%s: %v", name, v)
			}
			got[v.Rule]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want[name]) {
			t.Errorf("%s: %v, want %v", name, got, want[name])
		}
	}
}

// TestHeldEntriesAreKnown: an import leaves 16 at the entry, and retiring takes
// its share of that.
func TestHeldEntriesAreKnown(t *testing.T) {
	for _, c := range []struct {
		entry uint64
		flags uint32
		known bool
	}{
		{17, FunctionNoInput, false},
		{16, FunctionNoInput, true},
		{8, FunctionNoInput, true},
		{1, FunctionNoInput, true},
		{16, 0, false},
		{8, 0, false},
	} {
		f := profiledFile()
		twin := &f.Modules[0].Functions[2]
		twin.Blocks[0].Count, twin.Flags = c.entry, c.flags
		f.Header.Statistics = f.ComputeStatistics()
		rules := map[Rule]int{}
		for v := range f.Violations() {
			rules[v.Rule]++
			if v.Known != c.known {
				t.Errorf("entry %d, flags %#x: %v: known is %v", c.entry, c.flags, v, v.Known)
			}
		}
		if want := map[Rule]int{RuleFlowOut: 1, RuleFlowThrough: 1}; !maps.Equal(rules, want) {
			t.Errorf("entry %d, flags %#x: %v, want %v", c.entry, c.flags, rules, want)
		}
	}
}

func TestEachRuleIsFound(t *testing.T) {
	const mid, twin, dispatch = 1, 2, 3
	for _, c := range []struct {
		rule     Rule
		function string // empty for a rule of the file
		block    uint32
		spoil    func(*File)
	}{
		{RuleStatistics, "", 0, func(f *File) { f.Header.HotThreshold++ }},
		{RuleReserved, "", 0, func(f *File) { f.Header.Reserved44 = 1 }},
		{RuleReserved, "", 0, func(f *File) { f.Modules[0].DataProfile = []byte{1} }},
		{RuleBuckets, "", 0, func(f *File) { f.Modules[0].HashBuckets = 31 }},
		{RuleFlags, "", 0, func(f *File) { f.Header.Flags = 5 }},
		{RuleFlags, "", 0, func(f *File) { f.Modules[0].Flags = ModuleFresh }},
		{RuleBinaryHash, "", 0, func(f *File) { f.Header.Binary, f.Header.BinaryHash = "gemäß.sys", 1 }},
		{RuleUniqueIDs, "tiny5", 0, func(f *File) { f.Modules[0].Functions[9].ID = FunctionID("tiny4") }},
		{RuleOverlap, "mid", 0, func(f *File) { f.Modules[0].Functions[dispatch].RVA = 0x101f }},
		{RuleReserved, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Reserved50 = 1 }},
		{RuleIDOfName, "Mid", 0, func(f *File) { f.Modules[0].Functions[mid].Name = "Mid" }},
		{RuleSymbolFlags, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].SymbolFlags = 1 }},
		{RuleSymbolFlags, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].SymbolFlags |= 0x80 }},
		{RuleFunctionFlags, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Flags = 1 }},
		{RuleFolded, "twin", 0, func(f *File) { f.Modules[0].Functions[twin].FoldedInto = 0x1001 }},
		{RuleFolded, "twin", 0, func(f *File) { f.Modules[0].Functions[twin].FoldedInto = 0 }},
		{RuleCode, "tiny0", 0, func(f *File) { f.Modules[0].Functions[4].RVA = 0 }},
		{RuleCold, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].ColdRVA = 9 }},
		{RuleCold, "mid", 3, func(f *File) { f.Modules[0].Functions[mid].Blocks[2].Ranges[0].Cold = true }},
		{RuleEntryExit, "mid", 3, func(f *File) { f.Modules[0].Functions[mid].Blocks[2].Edges[0].To = 1 }},
		{RuleEntryExit, "mid", 4, func(f *File) { f.Modules[0].Functions[mid].Blocks[3].Edges = nil }},
		{RuleEntryExit, "twin", 0, func(f *File) { f.Modules[0].Functions[twin].Blocks = nil }},
		{RuleTiling, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Length++ }},
		{RuleTiling, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Blocks[2].Ranges[0].Length-- }},
		{RuleFlowThrough, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Blocks[4].Count-- }},
		{RuleCalleeKind, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Callees[0].Kind = 2 }},
		{RuleCalleeSites, "dispatch", 0, func(f *File) { f.Modules[0].Functions[dispatch].Callees[0].Sites = nil }},
		{RuleCalleeSites, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Callees[1].Sites[1] = 2 }},
		{RuleCalleeSites, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Callees[1].Sites[1] = 6 }},
		{RuleCalleeCount, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Callees[0].Count++ }},
		{RuleUniqueCallees, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].Callees[1].ID = leafID }},
		{RuleMachineCallee, "mid", 0, func(f *File) { f.Modules[0].Functions[mid].MachineCallees[0].Count = 0 }},
		{RuleFlowOut, "mid", 2, func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Edges[0].Count++ }},
		{RuleFlowIn, "mid", 4, func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Edges[0].Count++ }},
		{RuleEdges, "mid", 2, func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Edges[0].To = 7 }},
		{RuleEdges, "mid", 2, func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Edges[0].Flags = EdgeDead }},
		{RuleEdges, "dispatch", 2, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[1].Edges[1].To = 3 }},
		{RuleBlockFlags, "mid", 3, func(f *File) { f.Modules[0].Functions[mid].Blocks[2].Flags = 0x40 }},
		{RuleBlockFlags, "mid", 3, func(f *File) { f.Modules[0].Functions[mid].Blocks[2].Aux = 1 }},
		{RuleBlockFlags, "mid", 3, func(f *File) { f.Modules[0].Functions[mid].Blocks[2].Flags = BlockTripCount }},
		{RuleBlockCode, "mid", 3, func(f *File) { f.Modules[0].Functions[mid].Blocks[2].Instructions = 0 }},
		{RuleRangeOrder, "dispatch", 7, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[6].Ranges[1].Start = 0x50 }},
		{RuleInstructions, "mid", 2, func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Instructions = 2 }},
		{RuleIndirectPlace, "dispatch", 3, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[2].Indirect[0].Offset = 0x13 }},
		{RuleIndirectKind, "dispatch", 3, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[2].Indirect[0].Kind = 2 }},
		{RuleIndirectTail, "dispatch", 6, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[5].Indirect[0].Offset-- }},
		{RuleIndirectTail, "dispatch", 6, func(f *File) { f.Modules[0].Functions[dispatch].Flags = 0 }},
		{RuleIndirectHits, "dispatch", 3, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[2].Indirect[0].Hits-- }},
		{RuleIndirectHits, "dispatch", 3, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[2].Indirect[0].Targets[1].Hits = 1296 }},
		{RuleInlineeKnown, "dispatch", 4, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[3].Inlinees[0].ID = 1 }},
		{RuleInlineeBlocks, "dispatch", 4, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[3].Inlinees[0].Blocks[1].ID = 2 }},
		{RuleInlineeBlocks, "dispatch", 4, func(f *File) { f.Modules[0].Functions[dispatch].Blocks[3].Inlinees[0].Blocks[2].ID = 6 }},
		{RuleInlineeRange, "dispatch", 4, func(f *File) {
			f.Modules[0].Functions[dispatch].Blocks[3].Inlinees[0].Blocks[0].Inlinees[0].Blocks[0].Ranges[0].Start = 0x25
		}},
		{RuleInlineeCallees, "dispatch", 4, func(f *File) { f.Modules[0].Functions[dispatch].Callees[0].Sites[0] = 5 }},
	} {
		f := profiledFile()
		c.spoil(f)
		all := slices.Collect(f.Violations())
		i := slices.IndexFunc(all, func(v Violation) bool { return v.Rule == c.rule })
		if i < 0 {
			t.Errorf("%s in %q: not found in %v", c.rule, c.function, all)
			continue
		}
		if v := all[i]; v.Name != c.function || v.Block != c.block || v.Known || v.Want == "" || v.Got == "" || v.Want == v.Got {
			t.Errorf("%s: got %v (known %v), want it in function %q, block %d", c.rule, v, v.Known, c.function, c.block)
		}
	}
}

func TestFreshFilesHaveNoTraceOfAProfile(t *testing.T) {
	const mid, dispatch = 1, 3
	for name, spoil := range map[string]func(*File){
		"count":      func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Count = 1 },
		"edge":       func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Edges[0].Count = 1 },
		"hits":       func(f *File) { f.Modules[0].Functions[dispatch].Blocks[2].Indirect[0].Hits = 1 },
		"block flag": func(f *File) { f.Modules[0].Functions[mid].Blocks[1].Flags |= BlockHammock },
		"machine callee": func(f *File) {
			f.Modules[0].Functions[mid].MachineCallees = []MachineCallee{{ID: 1, Kind: CalleeMachine, Count: 1}}
		},
	} {
		f := freshFile()
		spoil(f)
		if !slices.ContainsFunc(slices.Collect(f.Violations()), func(v Violation) bool { return v.Rule == RuleFresh }) {
			t.Errorf("%s: not found", name)
		}
	}
	// Flags that were changed back after an import.
	f := profiledFile()
	f.Header.Flags, f.Header.Statistics, f.Modules[0].Flags = HeaderFresh, Statistics{}, ModuleFresh
	if !slices.ContainsFunc(slices.Collect(f.Violations()), func(v Violation) bool { return v.Rule == RuleFresh }) {
		t.Error("a profile with the flags of a fresh file: not found")
	}
}

// TestHashOfBinaryNameThatIsNotASCII: the rule is not known, so the hashes over
// UTF-16 units and over UTF-8 bytes both pass.
func TestHashOfBinaryNameThatIsNotASCII(t *testing.T) {
	f := profiledFile()
	f.Header.Binary = "gemäß.sys"
	for _, hash := range []uint32{0, binaryHash(f.Header.Binary), uint32(FunctionID(f.Header.Binary))} {
		f.Header.BinaryHash = hash
		for v := range f.Violations() {
			t.Errorf("%#x: %v", hash, v)
		}
	}
}

func TestViolationsCanStop(t *testing.T) {
	f := profiledFile()
	for k := range f.Modules[0].Functions {
		f.Modules[0].Functions[k].Reserved08 = 1
	}
	n := 0
	for range f.Violations() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d violations seen", n)
	}
}

func TestViolationText(t *testing.T) {
	f := profiledFile()
	f.Modules[0].Functions[1].Blocks[1].Edges[0].Count++
	for v := range f.Violations() {
		const want = `module "* CIL module *": function 0x000000000b88907f "mid": block 2: flow-out: want 101, got 100`
		if v.String() != want {
			t.Errorf("got  %s\nwant %s", v, want)
		}
		break
	}
}
