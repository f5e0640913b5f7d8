package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/compare"
	"github.com/spgo-tools/spgo/internal/demangle"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// spdText prints an SPD for people.
type spdText struct {
	textWriter
	d *SPDDump
}

// readable is the demangled name, or the name as it is. Like the name it can
// have any characters.
func (d *SPDDump) readable(name string) string {
	if !d.Plain {
		if s, ok := demangle.Name(name); ok {
			return s
		}
	}
	return name
}

// both is the demangled name with the decorated one beside it.
func (d *SPDDump) both(name string) string {
	if s := d.readable(name); s != name {
		return printable(s) + "  [" + printable(name) + "]"
	}
	return printable(name)
}

// bits names the bits of a flag word: names in the order of rising bits.
func bits(v uint32, names ...string) string {
	var parts []string
	rest := v
	for i, n := range names {
		if n != "" && v>>i&1 != 0 {
			parts = append(parts, n)
			rest &^= 1 << i
		}
	}
	if rest != 0 {
		parts = append(parts, fmt.Sprintf("%#x", rest))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, "|")
}

func (t *spdText) header() {
	h := t.d.Reader.Header()
	t.line("Header")
	t.line("  Version              %#x", spd.Version)
	state := "fresh from the linker"
	if h.Flags&spd.HeaderProfiled != 0 {
		state = "profile imported"
	}
	t.line("  Flags                %#x (%s)", h.Flags, state)
	t.line("  Binary               %s", printable(h.Binary))
	t.line("  GUID                 %v", h.GUID)
	t.line("  Age                  %d", h.Age)
	t.line("  Hot threshold        %s", Count(h.HotThreshold))
	t.line("  Dynamic instructions %s", Count(h.DynamicInstructions))
	t.line("  Static instructions  %s", Count(uint64(h.StaticInstructions)))
}

func (t *spdText) modules() {
	for m, info := range t.d.Reader.Modules() {
		t.line("Module %d: %s", m, printable(info.Name))
		t.line("  Flags %#x, generation %d, %s, %s", info.Flags, info.Generation, counted(uint64(info.Functions), "function"), counted(uint64(info.HashBuckets), "hash bucket"))
		if t.d.counted != nil {
			t.moduleSummary(&t.d.counted[m])
		}
		if t.d.Symbols {
			t.symbols(m)
		}
		if t.d.Functions {
			t.functions(m)
		}
		if t.d.Data {
			t.line("  Data profile: %d records, %d bytes", info.DataRecords, info.DataBytes)
		}
	}
}

func (t *spdText) moduleSummary(s *spd.Summary) {
	t.line("  Functions: %d, with code %d, folded %d, profiled %d", s.Functions, s.CodeFunctions, s.FoldedFunctions, s.ProfiledFunctions)
	t.line("  Blocks: %d, covered %d (%.2f %%); with code %d, covered %d (%.2f %%)",
		s.Blocks, s.CoveredBlocks, 100*s.BlockCoverage(), s.CodeBlocks, s.CoveredCodeBlocks, 100*s.CodeBlockCoverage())
	t.line("  Edges: %d, dead %d", s.Edges, s.DeadEdges)
	t.line("  Callees: %d at %d call sites; machine callees %d; inlinees %d; indirect sites %d, hit %d",
		s.Callees, s.CallSites, s.MachineCallees, s.Inlinees, s.IndirectSites, s.HitIndirectSites)
}

func (t *spdText) symbols(module int) {
	t.line("  Symbols")
	t.line("    ordinal id                 flags              name")
	t.d.eachSymbol(module, func(s *spd.Symbol) {
		folded := ""
		if s.FoldedInto != 0 && !t.d.Mini {
			folded = fmt.Sprintf(", folded into RVA %#x", s.FoldedInto)
		}
		t.line("    %7d %v %-18s %s%s", s.Ordinal, s.ID, symbolFlags(s.SymbolFlags), t.d.both(s.Name), folded)
	})
}

func symbolFlags(v uint32) string {
	return bits(v&^spd.SymbolAlways, "", "", "static", "", "", "folded", "address-taken")
}

func (t *spdText) functions(module int) {
	t.line("  Functions")
	err := t.d.each(module, func(fn *spd.Function) error {
		t.function(fn)
		return t.err
	})
	t.err = cmp.Or(t.err, err)
}

func (t *spdText) function(fn *spd.Function) {
	t.line("    %s", t.d.both(fn.Name))
	t.line("      id %v, ordinal %d, flags %s, checksum %v", fn.ID, fn.Ordinal, bits(fn.Flags, "", "no-input-profile", "", "indirect-tail"), fn.Checksum)
	if !t.d.Mini {
		t.line("      RVA %#x, length %d bytes", fn.RVA, fn.Length)
	}
	t.line("      entry count %s, weight %s, %d blocks", Count(fn.EntryCount()), Count(fn.Weight()), len(fn.Blocks))
	if t.d.Callees {
		t.callees(fn)
	}
	if t.d.FlowGraphs {
		for i := range fn.Blocks {
			t.block(fn, i)
		}
	}
}

// name is what the symbols of the file say of an id. Functions are named by
// many others, so that each is demangled once.
func (t *spdText) name(id spd.ID) string {
	d := t.d
	if d.names == nil {
		d.names, d.texts = map[spd.ID]string{}, map[spd.ID]string{}
		for m := range d.symbols {
			for k := range d.symbols[m] {
				d.names[d.symbols[m][k].ID] = d.symbols[m][k].Name
			}
		}
	}
	text, ok := d.texts[id]
	if !ok {
		text = id.String()
		if n, known := d.names[id]; known {
			text = d.both(n)
		}
		d.texts[id] = text
	}
	return text
}

func (t *spdText) callees(fn *spd.Function) {
	for i := range fn.Callees {
		c := &fn.Callees[i]
		t.line("      calls %s: count %s, %s, blocks %v", t.name(c.ID), Count(c.Count), bits(c.Kind, "source", "import"), c.Sites)
	}
	for i := range fn.MachineCallees {
		c := &fn.MachineCallees[i]
		t.line("      final code calls %s: count %s, %s", t.name(c.ID), Count(c.Count), bits(c.Kind, "", "", "machine", "tail"))
	}
}

func (t *spdText) block(fn *spd.Function, i int) {
	b := &fn.Blocks[i]
	t.line("      B%d: count %s, %d instructions%s%s", i+1, Count(b.Count), b.Instructions, t.ranges(b.Ranges), blockFlags(b.Flags, b.Aux))
	for _, e := range b.Edges {
		dead := ""
		if e.Flags&spd.EdgeDead != 0 {
			dead = ", dead"
		}
		t.line("        -> B%d: count %s (%.1f %%)%s", e.To, Count(e.Count), share(e.Count, b.Count), dead)
	}
	for k := range b.Indirect {
		s := &b.Indirect[k]
		t.line("        indirect call #%d%s: %s hits", s.Ordinal, t.offset(&s.CallSite), Count(s.Hits))
		for _, target := range s.Targets {
			if target.ID != 0 {
				t.line("          %s: %s hits", t.name(target.ID), Count(target.Hits))
			}
		}
	}
	t.inlinees(b.Inlinees, "        ")
}

// blockFlags prints the flags of a block with the number that belongs to them.
func blockFlags(flags, aux uint16) string {
	if flags == 0 && aux == 0 {
		return ""
	}
	text := ", flags " + bits(uint32(flags), "if-converted", "hammock", "trip-count", "", "", "duplicated")
	if aux != 0 {
		text += fmt.Sprintf(" (%d)", aux)
	}
	return text
}

// offset is where an indirect call is in the function's code.
func (t *spdText) offset(s *spd.CallSite) string {
	if t.d.Mini {
		return ""
	}
	return fmt.Sprintf(" at +%#x", s.Offset)
}

// ranges prints code ranges as [start,end) from the start of the function; a
// star marks cold code.
func (t *spdText) ranges(list []spd.Range) string {
	if t.d.Mini || len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(", code")
	for _, r := range list {
		cold := ""
		if r.Cold {
			cold = "*"
		}
		fmt.Fprintf(&b, " [%#x,%#x)%s", r.Start, uint64(r.Start)+uint64(r.Length), cold)
	}
	return b.String()
}

func (t *spdText) inlinees(list []spd.Inlinee, indent string) {
	for i := range list {
		t.line("%sinlined %s", indent, t.name(list[i].ID))
		for k := range list[i].Blocks {
			b := &list[i].Blocks[k]
			t.line("%s  B%d: %d instructions%s%s", indent, b.ID, b.Instructions, t.ranges(b.Ranges), blockFlags(b.Flags, b.Aux))
			for s := range b.Indirect {
				t.line("%s    indirect call #%d%s", indent, b.Indirect[s].Ordinal, t.offset(&b.Indirect[s]))
			}
			t.inlinees(b.Inlinees, indent+"    ")
		}
	}
}

// coverage prints the share of covered blocks as Microsoft's converter does,
// of the file and of each function that has any.
func (t *spdText) coverage() {
	c := t.d.coverage()
	print := func(what string, covered, blocks int) {
		t.line("Block coverage%-11s: %5.2f%% (%5d/%6d)", what, share(uint64(covered), uint64(blocks)), covered, blocks)
	}
	print("", c.Covered, c.Blocks)
	print(" with code", c.CoveredCode, c.CodeBlocks)
	for _, f := range c.Functions {
		t.line("  %6.2f%% (%5d/%6d) %s", share(uint64(f.Covered), uint64(f.Blocks)), f.Covered, f.Blocks, t.d.both(f.Name))
	}
}

func (t *spdText) dynamicInstructions() {
	t.line("Dynamic instructions of the functions: share, sum of shares, estimate, entries")
	for _, f := range t.d.dynamic() {
		t.line("  %6.2f %% %6.2f %% %20s %16s %s", f.Percent, f.Cumulative, Count(f.Instructions), Count(f.Entries), t.d.both(f.Name))
	}
}

func (t *spdText) validation() {
	if len(t.d.violations) == 0 {
		t.line("All rules hold")
		return
	}
	for _, v := range t.d.violations {
		kind := "broken"
		if v.Known {
			kind = "remark"
		}
		t.line("%s: %v", kind, v)
	}
	broken := t.d.CountViolations()
	t.line("Broken: %d, exit code 6 if any; remarks: %d, flow that does not balance where files of Microsoft's tools have that too",
		broken, len(t.d.violations)-broken)
}

func (t *spdText) diff() {
	d := t.d.Diff
	if d.OldCounted && d.NewCounted {
		t.line("Overlap of the profiles: %s %%", Percent(d.Overlap))
	} else {
		t.line("Overlap of the profiles: none, as there are no counts in %s", uncounted(d))
	}
	t.line("Header")
	for _, c := range d.Header {
		t.line("  %s: %s -> %s", c.Field, printable(c.Old), printable(c.New))
	}
	t.line("Functions: %d the same, %d changed, %d added, %d removed", d.Same, len(d.Changed), len(d.Added), len(d.Removed))
	t.list("changed", d.Changed)
	t.list("added", d.Added)
	t.list("removed", d.Removed)
	t.line("Shares of the weight that moved most")
	for _, m := range d.Movers {
		t.line("  %6.2f %% -> %6.2f %% %s", m.OldPercent, m.NewPercent, t.d.both(m.Name))
	}
}

func (t *spdText) stale() {
	s := t.d.Stale
	if s.Functions == 0 {
		t.line("The profile has no counts: nothing can be stale")
		return
	}
	t.line("Matched functions: %s %% (%d of %d with counts)", Percent(s.FunctionPercent), s.MatchedFunctions, s.Functions)
	t.line("Matched weight   : %s %% (%s of %s instructions executed)", Percent(s.WeightPercent), Count(s.MatchedWeight), Count(s.Weight))
	if s.WeightPercent < 90 {
		t.line("Below 90 %%: profile again")
	}
	t.list("does not match", s.Worst)
}

// uncounted says which of two files have no counts.
func uncounted(d *compare.Diff) string {
	switch {
	case d.OldCounted:
		return "the new file"
	case d.NewCounted:
		return "the old file"
	}
	return "either file"
}
