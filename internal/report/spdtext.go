package report

import (
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/demangle"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// spdText prints an SPD for people.
type spdText struct {
	textWriter
	d     *SPDDump
	names map[spd.ID]string // of functions, for callees; made when needed
}

// readable is the demangled name, or the name as it is.
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
		return s + "  [" + name + "]"
	}
	return name
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
	t.line("  Binary               %s", h.Binary)
	t.line("  GUID                 %v", h.GUID)
	t.line("  Age                  %d", h.Age)
	t.line("  Hot threshold        %s", Count(h.HotThreshold))
	t.line("  Dynamic instructions %s", Count(h.DynamicInstructions))
	t.line("  Static instructions  %s", Count(uint64(h.StaticInstructions)))
}

func (t *spdText) modules() {
	for m, info := range t.d.Reader.Modules() {
		t.line("Module %d: %s", m, info.Name)
		t.line("  Flags %#x, generation %d, %d functions, %d hash buckets", info.Flags, info.Generation, info.Functions, info.HashBuckets)
		if t.d.Content != nil {
			t.moduleSummary(&t.d.Content.Modules[m])
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

func (t *spdText) moduleSummary(m *spd.Module) {
	s := m.Summary()
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
	show := func(s *spd.Symbol) {
		folded := ""
		if s.FoldedInto != 0 {
			folded = fmt.Sprintf(", folded into RVA %#x", s.FoldedInto)
		}
		t.line("    %7d %v %-18s %s%s", s.Ordinal, s.ID, symbolFlags(s.SymbolFlags), t.d.both(s.Name), folded)
	}
	if t.d.symbols != nil {
		for i := range t.d.symbols[module] {
			show(&t.d.symbols[module][i])
		}
		return
	}
	for i := range t.d.Content.Modules[module].Functions {
		if fn := &t.d.Content.Modules[module].Functions[i]; t.d.only == nil || fn == t.d.only {
			show(&fn.Symbol)
		}
	}
}

func symbolFlags(v uint32) string {
	return bits(v&^spd.SymbolAlways, "", "", "static", "", "", "folded", "address-taken")
}

func (t *spdText) functions(module int) {
	t.line("  Functions")
	fns := t.d.Content.Modules[module].Functions
	for i := range fns {
		if t.d.only == nil || &fns[i] == t.d.only {
			t.function(&fns[i])
		}
	}
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

// name is what the functions of the file say of an id.
func (t *spdText) name(id spd.ID) string {
	if t.names == nil {
		t.names = map[spd.ID]string{}
		for m := range t.d.Content.Modules {
			for i := range t.d.Content.Modules[m].Functions {
				fn := &t.d.Content.Modules[m].Functions[i]
				t.names[fn.ID] = fn.Name
			}
		}
	}
	if n, ok := t.names[id]; ok {
		return t.d.readable(n)
	}
	return id.String()
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
	extra := ""
	if b.Flags != 0 {
		extra = ", flags " + bits(uint32(b.Flags), "if-converted", "hammock", "trip-count", "", "", "duplicated")
		if b.Aux != 0 {
			extra += fmt.Sprintf(" (%d)", b.Aux)
		}
	}
	t.line("      B%d: count %s, %d instructions%s%s", i+1, Count(b.Count), b.Instructions, t.ranges(b.Ranges), extra)
	for _, e := range b.Edges {
		dead := ""
		if e.Flags&spd.EdgeDead != 0 {
			dead = ", dead"
		}
		t.line("        -> B%d: count %s (%.1f %%)%s", e.To, Count(e.Count), share(e.Count, b.Count), dead)
	}
	for k := range b.Indirect {
		s := &b.Indirect[k]
		t.line("        indirect call #%d at +%#x: %s hits", s.Ordinal, s.Offset, Count(s.Hits))
		for _, target := range s.Targets {
			if target.ID != 0 {
				t.line("          %s: %s hits", t.name(target.ID), Count(target.Hits))
			}
		}
	}
	t.inlinees(b.Inlinees, "        ")
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
			t.line("%s  B%d: %d instructions%s", indent, b.ID, b.Instructions, t.ranges(b.Ranges))
			for s := range b.Indirect {
				t.line("%s    indirect call #%d at +%#x", indent, b.Indirect[s].Ordinal, b.Indirect[s].Offset)
			}
			t.inlinees(b.Inlinees, indent+"    ")
		}
	}
}

// coverage prints the share of covered blocks as Microsoft's converter does,
// of the file and of each function that has any.
func (t *spdText) coverage() {
	s := t.d.Content.Summary()
	t.line("Block coverage           : %5.2f%% (%5d/%6d)", 100*s.BlockCoverage(), s.CoveredBlocks, s.Blocks)
	t.line("Block coverage with code : %5.2f%% (%5d/%6d)", 100*s.CodeBlockCoverage(), s.CoveredCodeBlocks, s.CodeBlocks)
	_ = t.d.eachFunction(func(fn *spd.Function, _ int) error {
		covered := 0
		for i := range fn.Blocks {
			if fn.Blocks[i].Count > 0 {
				covered++
			}
		}
		if covered > 0 || t.d.only != nil {
			t.line("  %6.2f%% (%5d/%6d) %s", share(uint64(covered), uint64(len(fn.Blocks))), covered, len(fn.Blocks), t.d.readable(fn.Name))
		}
		return t.err
	})
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
		known := ""
		if v.Known {
			known = " (real files have this too)"
		}
		t.line("%v%s", v, known)
	}
}

func (t *spdText) diff() {
	d := t.d.Diff
	t.line("Overlap of the profiles: %.2f %%", d.Overlap)
	t.line("Header")
	for _, c := range d.Header {
		t.line("  %s: %s -> %s", c.Field, c.Old, c.New)
	}
	t.line("Functions: %d the same, %d changed, %d added, %d removed", d.Same, len(d.Changed), len(d.Added), len(d.Removed))
	t.list("changed", d.Changed)
	t.list("added", d.Added)
	t.list("removed", d.Removed)
	t.line("Shares of the weight that moved most")
	for _, m := range d.Movers {
		t.line("  %6.2f %% -> %6.2f %% %s", m.OldPercent, m.NewPercent, t.d.readable(m.Name))
	}
}

func (t *spdText) stale() {
	s := t.d.Stale
	t.line("Matched functions: %.2f %% (%d of %d with counts)", s.FunctionPercent, s.MatchedFunctions, s.Functions)
	t.line("Matched weight   : %.2f %% (%s of %s instructions executed)", s.WeightPercent, Count(s.MatchedWeight), Count(s.Weight))
	if s.WeightPercent < 90 {
		t.line("Below 90 %%: profile again")
	}
	t.list("does not match", s.Worst)
}
