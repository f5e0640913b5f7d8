package spd

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Rule names what holds in the files of Microsoft's tools; docs/format/spd.md
// has the list with the evidence.
type Rule string

// Rules of the file and its modules.
const (
	RuleStatistics Rule = "header-statistics" // header statistics follow from the counts
	RuleBuckets    Rule = "hash-buckets"      // number of buckets is the linker's
	RuleUniqueIDs  Rule = "unique-ids"        // function ids are unique in a module
	RuleOverlap    Rule = "code-overlap"      // no two functions share code
	RuleBinaryHash Rule = "binary-hash"       // the header's hash is that of the binary's name
	RuleFlags      Rule = "profile-flags"     // flags of header and modules are those of a fresh or of an imported profile
)

// Rules of a function.
const (
	RuleReserved      Rule = "reserved-zero"    // reserved fields are zero
	RuleIDOfName      Rule = "id-of-name"       // the id of a function that is not static is that of its name
	RuleSymbolFlags   Rule = "symbol-flags"     // the two constant bits are set, no unknown one is
	RuleFunctionFlags Rule = "function-flags"   // no unknown bit
	RuleFolded        Rule = "folded"           // a folded function has no code and names one that has
	RuleCode          Rule = "code-length"      // RVA and length are zero together
	RuleCold          Rule = "cold-code"        // no separated code, whose encoding is not known
	RuleEntryExit     Rule = "entry-and-exit"   // the first block alone has no predecessor, the last alone no successor
	RuleTiling        Rule = "code-tiling"      // the blocks' ranges tile the function's code
	RuleFlowThrough   Rule = "entry-exit-count" // entry and exit have the same count
	RuleFresh         Rule = "fresh-counts"     // no counts where the flags say that nothing was imported
)

// Rules of a function's callees.
const (
	RuleCalleeKind    Rule = "callee-kind"    // source, import or not
	RuleCalleeSites   Rule = "callee-sites"   // at least one, existing blocks, ascending
	RuleCalleeCount   Rule = "callee-count"   // the sum of the counts of the sites' blocks
	RuleUniqueCallees Rule = "unique-callees" // one entry per callee
	RuleMachineCallee Rule = "machine-callee" // a call with a count, or a tail jump
)

// Rules of a block.
const (
	RuleFlowOut        Rule = "flow-out"         // count is the sum of the edges out
	RuleFlowIn         Rule = "flow-in"          // count is the sum of the edges in
	RuleEdges          Rule = "edges"            // edges lead to existing blocks; dead ones have no count; a switch has distinct targets
	RuleBlockFlags     Rule = "block-flags"      // known combinations, Aux only with the flags that have it
	RuleBlockCode      Rule = "block-code"       // ranges if and only if instructions
	RuleRangeOrder     Rule = "range-order"      // ranges ascend and do not touch
	RuleInstructions   Rule = "own-instructions" // not fewer instructions than inlinees have
	RuleIndirectPlace  Rule = "indirect-place"   // the call instruction is in the block's code
	RuleIndirectKind   Rule = "indirect-kind"    // kind 1, 6 or 7 bytes
	RuleIndirectTail   Rule = "indirect-tail"    // a tail jump ends a range of a function that is marked so
	RuleIndirectHits   Rule = "indirect-hits"    // targets descend and do not exceed the total
	RuleInlineeKnown   Rule = "inlinee-function" // an inlinee is a function of the module
	RuleInlineeBlocks  Rule = "inlinee-blocks"   // its blocks ascend and exist in its own record
	RuleInlineeRange   Rule = "inlinee-range"    // inside a range of what it is inlined into
	RuleInlineeCallees Rule = "inlinee-site"     // the function has a call site of it in the block
)

// Violation is one breach of a rule.
type Violation struct {
	Rule   Rule
	Module string
	ID     ID     // of the function; 0 for a rule of the file or module
	Name   string // of the function
	Block  uint32 // id of the block; 0 for a rule of the function
	Want   string
	Got    string

	// Known marks what Microsoft's own files have as well: flow that does not
	// balance in a function without samples of late (flag 0x02) whose entry was
	// held at the floor of 16, or has been retired since.
	Known bool
}

// String prints where, which rule, and the values.
func (v Violation) String() string {
	var b strings.Builder
	if v.Module != "" {
		fmt.Fprintf(&b, "module %q: ", v.Module)
	}
	if v.ID != 0 || v.Name != "" {
		fmt.Fprintf(&b, "function %s %q: ", v.ID, v.Name)
	}
	if v.Block != 0 {
		fmt.Fprintf(&b, "block %d: ", v.Block)
	}
	fmt.Fprintf(&b, "%s: want %s, got %s", v.Rule, v.Want, v.Got)
	return b.String()
}

// Violations checks the rules that hold in the files of Microsoft's tools, in
// file order. A program that changed counts sets f.Header.Statistics to
// f.ComputeStatistics() first.
func (f *File) Violations() iter.Seq[Violation] {
	return func(yield func(Violation) bool) {
		v := validator{yield: yield}
		v.file(f)
	}
}

// validator knows where it is in the file.
type validator struct {
	yield   func(Violation) bool
	stopped bool

	fresh    bool // nothing was imported, so the header says
	module   *Module
	function *Function
	block    uint32

	byID  map[ID]*Function // first function of an id
	byRVA map[uint32]bool  // functions with code
	sites map[callSiteKey]int
	in    []uint64 // sums of edges into the blocks
}

// callSiteKey is a callee in a block.
type callSiteKey struct {
	id    ID
	block uint32
}

func (v *validator) report(rule Rule, want, got any) {
	if v.stopped {
		return
	}
	x := Violation{Rule: rule, Block: v.block, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
	if v.module != nil {
		x.Module = v.module.Name
	}
	if f := v.function; f != nil {
		x.ID, x.Name = f.ID, f.Name
		flow := rule == RuleFlowIn || rule == RuleFlowOut || rule == RuleFlowThrough
		x.Known = flow && f.Flags&FunctionNoInput != 0 && f.EntryCount() <= entryFloor
	}
	v.stopped = !v.yield(x)
}

// entryFloor is the count at which an import keeps the entry of a function
// that received samples once. Retiring takes its share of it as of all counts,
// so an entry that was held up may be lower later.
const entryFloor = 16

// equal reports a number that is not what it must be.
func (v *validator) equal(rule Rule, want, got uint64) {
	if want != got {
		v.report(rule, want, got)
	}
}

// bits reports bits outside a mask.
func (v *validator) bits(rule Rule, value, mask uint32) {
	if value&^mask != 0 {
		v.report(rule, fmt.Sprintf("bits of %#x", mask), fmt.Sprintf("%#x", value))
	}
}

func (v *validator) zero(field string, value uint32) {
	if value != 0 {
		v.report(RuleReserved, field+" 0", fmt.Sprintf("%#x", value))
	}
}

func (v *validator) file(f *File) {
	h := &f.Header
	for _, r := range []struct {
		field string
		value uint32
	}{
		{"header field 0x08", h.Reserved08}, {"header field 0x0c", h.Reserved0C}, {"header field 0x10", h.Reserved10},
		{"header field 0x1c", h.Reserved1C}, {"header field 0x24", h.Reserved24}, {"header field 0x3c", h.Reserved3C},
		{"header field 0x40", h.Reserved40}, {"header field 0x44", h.Reserved44}, {"header field 0x70", h.Reserved70},
	} {
		v.zero(r.field, r.value)
	}
	if s := f.ComputeStatistics(); s != h.Statistics {
		v.report(RuleStatistics, fmt.Sprintf("%+v", s), fmt.Sprintf("%+v", h.Statistics))
	}
	if hash := h.BinaryHash; hash != 0 && !isASCII(h.Binary) && hash != binaryHash(h.Binary) && hash != uint32(djb2(djb2Start, h.Binary)) {
		v.report(RuleBinaryHash, fmt.Sprintf("%#x", binaryHash(h.Binary)), fmt.Sprintf("%#x", hash))
	}
	v.fresh = h.Flags&HeaderProfiled == 0
	if h.Flags != HeaderFresh && h.Flags != HeaderImported {
		v.report(RuleFlags, fmt.Sprintf("header flags %#x or %#x", HeaderFresh, HeaderImported), fmt.Sprintf("%#x", h.Flags))
	}
	for k := range f.Modules {
		v.checkModule(&f.Modules[k])
	}
}

func (v *validator) checkModule(m *Module) {
	v.module = m
	want := uint32(ModuleImported)
	if v.fresh {
		want = ModuleFresh
	}
	if m.Flags != want {
		v.report(RuleFlags, fmt.Sprintf("module flags %#x", want), fmt.Sprintf("%#x", m.Flags))
	}
	v.zero("module table field 0x08", m.Reserved08)
	v.zero("number of data profile records", m.DataRecords)
	v.zero("size of the data profile", uint32(len(m.DataProfile)))
	if m.HashBuckets != 0 {
		v.equal(RuleBuckets, uint64(bucketCount(len(m.Functions))), uint64(m.HashBuckets))
	}
	v.byID = make(map[ID]*Function, len(m.Functions))
	v.byRVA = make(map[uint32]bool, len(m.Functions))
	var code []*Function
	for k := range m.Functions {
		f := &m.Functions[k]
		v.function = f
		if v.byID[f.ID] != nil {
			v.report(RuleUniqueIDs, "one function of this id", "another")
		} else {
			v.byID[f.ID] = f
		}
		if f.RVA != 0 {
			v.byRVA[f.RVA] = true
			code = append(code, f)
		}
	}
	slices.SortStableFunc(code, func(a, b *Function) int { return int(int64(a.RVA) - int64(b.RVA)) })
	for k, f := range code[:max(len(code)-1, 0)] {
		if end := uint64(f.RVA) + uint64(f.Length); end > uint64(code[k+1].RVA) {
			v.function = f
			v.report(RuleOverlap, fmt.Sprintf("an end up to %#x", code[k+1].RVA), fmt.Sprintf("%#x", end))
		}
	}
	for k := range m.Functions {
		if v.stopped {
			return
		}
		v.checkFunction(&m.Functions[k])
	}
	v.module, v.function = nil, nil
}

func (v *validator) checkFunction(f *Function) {
	v.function, v.block = f, 0
	v.zero("symbol field 0x14", f.Reserved14)
	v.zero("record field 0x08", f.Reserved08)
	v.zero("record field 0x0c", f.Reserved0C)
	v.zero("record field 0x4c", f.Reserved4C)
	v.zero("record field 0x50", f.Reserved50)
	v.bits(RuleSymbolFlags, f.SymbolFlags, SymbolAlways|SymbolStatic|SymbolFolded|SymbolAddressTaken)
	if f.SymbolFlags&SymbolAlways != SymbolAlways {
		v.report(RuleSymbolFlags, fmt.Sprintf("bits %#x", SymbolAlways), fmt.Sprintf("%#x", f.SymbolFlags))
	}
	if id := FunctionID(f.Name); f.SymbolFlags&SymbolStatic == 0 && id != f.ID {
		v.report(RuleIDOfName, id, f.ID)
	}
	v.bits(RuleFunctionFlags, f.Flags, FunctionNoInput|FunctionIndirectTail)
	if v.fresh {
		v.checkFresh(f)
	}
	v.checkFolded(f)
	if (f.RVA == 0) != (f.Length == 0) {
		v.report(RuleCode, "RVA and length both zero or neither", fmt.Sprintf("%#x, %d", f.RVA, f.Length))
	}
	if f.ColdRVA != 0 || f.ColdLength != 0 {
		v.report(RuleCold, "no cold part", fmt.Sprintf("RVA %#x, length %d", f.ColdRVA, f.ColdLength))
	}
	v.checkCallees(f)
	v.checkFlow(f)
	for k := range f.Blocks {
		v.block = uint32(k + 1)
		v.checkBlock(f, &f.Blocks[k])
	}
	v.block = 0
	v.checkTiling(f)
}

// checkFresh reports the first trace of a profile in a function. Edges and
// callees follow from the blocks by rules of their own.
func (v *validator) checkFresh(f *Function) {
	for k := range f.Blocks {
		b := &f.Blocks[k]
		hit := slices.ContainsFunc(b.Indirect, func(s IndirectSite) bool { return s.Hits != 0 || s.Targets != Targets{} })
		flow := slices.ContainsFunc(b.Edges, func(e Edge) bool { return e.Count != 0 })
		if b.Count != 0 || flow || hit || b.Flags&BlockHammock != 0 {
			v.block = uint32(k + 1)
			v.report(RuleFresh, "no counts, as the header has the flags of a fresh file", traces(b))
			v.block = 0
			return
		}
	}
	for _, c := range f.MachineCallees {
		if c.Count != 0 {
			v.report(RuleFresh, "no counts, as the header has the flags of a fresh file", fmt.Sprintf("machine callee %v with count %d", c.ID, c.Count))
			return
		}
	}
}

// traces says what of a profile a block has.
func traces(b *Block) string {
	switch {
	case b.Count != 0:
		return fmt.Sprintf("count %d", b.Count)
	case b.Flags&BlockHammock != 0:
		return fmt.Sprintf("block flags %#x, which only imports set", b.Flags)
	}
	return "counts of edges or of an indirect call"
}

func (v *validator) checkFolded(f *Function) {
	folded := f.SymbolFlags&SymbolFolded != 0
	switch {
	case folded != (f.FoldedInto != 0):
		v.report(RuleFolded, "a target if and only if the flag is set", fmt.Sprintf("flags %#x, target %#x", f.SymbolFlags, f.FoldedInto))
	case folded && f.RVA != 0:
		v.report(RuleFolded, "no code", fmt.Sprintf("RVA %#x", f.RVA))
	case folded && !v.byRVA[f.FoldedInto]:
		v.report(RuleFolded, "the RVA of a function", fmt.Sprintf("%#x", f.FoldedInto))
	}
}

func (v *validator) checkCallees(f *Function) {
	v.sites = make(map[callSiteKey]int)
	seen := make(map[ID]bool, len(f.Callees))
	for k := range f.Callees {
		c := &f.Callees[k]
		if seen[c.ID] {
			v.report(RuleUniqueCallees, "one entry for "+c.ID.String(), "another")
		}
		seen[c.ID] = true
		if c.Kind != CalleeSource && c.Kind != CalleeSource|CalleeImport {
			v.report(RuleCalleeKind, fmt.Sprintf("%d or %d for %v", CalleeSource, CalleeSource|CalleeImport, c.ID), c.Kind)
		}
		if len(c.Sites) == 0 || !slices.IsSorted(c.Sites) {
			v.report(RuleCalleeSites, fmt.Sprintf("ascending blocks for %v", c.ID), c.Sites)
		}
		var sum uint64
		for _, s := range c.Sites {
			if s == 0 || uint64(s) > uint64(len(f.Blocks)) {
				v.report(RuleCalleeSites, fmt.Sprintf("blocks from 1 to %d for %v", len(f.Blocks), c.ID), s)
				continue
			}
			sum = binfmt.SatAdd(sum, f.Blocks[s-1].Count)
			v.sites[callSiteKey{c.ID, s}]++
		}
		v.equal(RuleCalleeCount, sum, c.Count)
	}
	for _, c := range f.MachineCallees {
		call := c.Kind == CalleeMachine && c.Count > 0
		if !call && c.Kind != CalleeMachine|CalleeTail {
			v.report(RuleMachineCallee, fmt.Sprintf("kind %d with a count, or %d", CalleeMachine, CalleeMachine|CalleeTail),
				fmt.Sprintf("kind %d with count %d for %v", c.Kind, c.Count, c.ID))
		}
	}
}

func (v *validator) checkFlow(f *Function) {
	n := len(f.Blocks)
	if n == 0 {
		v.report(RuleEntryExit, "an entry and an exit", "no blocks")
		return
	}
	v.in = append(v.in[:0], make([]uint64, n+1)...)
	for k := range f.Blocks {
		b := &f.Blocks[k]
		v.block = uint32(k + 1)
		if (len(b.Edges) == 0) != (k == n-1) {
			v.report(RuleEntryExit, "successors, but none of the last block", fmt.Sprintf("%d", len(b.Edges)))
		}
		var out uint64
		targets := make(map[uint32]bool)
		for _, e := range b.Edges {
			if e.To == 0 || uint64(e.To) > uint64(n) {
				v.report(RuleEdges, fmt.Sprintf("a target from 1 to %d", n), e.To)
				continue
			}
			if e.To == 1 {
				v.report(RuleEntryExit, "no predecessor of the first block", "an edge")
			}
			if e.Flags&^EdgeDead != 0 || e.Flags != 0 && e.Count != 0 {
				v.report(RuleEdges, "flags 0, or 1 without a count", fmt.Sprintf("flags %#x, count %d", e.Flags, e.Count))
			}
			if len(b.Edges) > 2 {
				if targets[e.To] {
					v.report(RuleEdges, "distinct targets of a switch", fmt.Sprintf("two edges to %d", e.To))
				}
				targets[e.To] = true
			}
			out = binfmt.SatAdd(out, e.Count)
			v.in[e.To] = binfmt.SatAdd(v.in[e.To], e.Count)
		}
		if len(b.Edges) > 0 {
			v.equal(RuleFlowOut, out, b.Count)
		}
	}
	for k := 1; k < n; k++ {
		v.block = uint32(k + 1)
		v.equal(RuleFlowIn, v.in[k+1], f.Blocks[k].Count)
	}
	v.block = 0
	v.equal(RuleFlowThrough, f.Blocks[0].Count, f.Blocks[n-1].Count)
}

// checkTiling checks that the ranges of all blocks, one after the other, are
// the function's code. A function that is not in the image has ranges, too,
// but its length is not kept.
func (v *validator) checkTiling(f *Function) {
	var all []Range
	for k := range f.Blocks {
		all = append(all, f.Blocks[k].Ranges...)
	}
	slices.SortFunc(all, compareRanges)
	var end uint64
	for _, r := range all {
		if uint64(r.Start) != end {
			v.report(RuleTiling, fmt.Sprintf("a range from %#x", end), fmt.Sprintf("%#x", r.Start))
		}
		end = max(end, uint64(r.Start)+uint64(r.Length))
	}
	if f.RVA != 0 {
		v.equal(RuleTiling, uint64(f.Length), end)
	}
}
