package build

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/spgo-tools/spgo/internal/cfg"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// file makes the database.
func (b *builder) file() *spd.File {
	id, _ := b.img.ID()
	f := &spd.File{Header: spd.Header{Flags: spd.HeaderFresh, Binary: b.opts.Name, GUID: id.GUID, Age: id.Age}}
	m := spd.Module{Name: spd.ModuleMachine, Flags: spd.ModuleFresh}
	for k := range b.parts {
		m.Functions = append(m.Functions, b.record(k))
	}
	b.report.Functions = len(m.Functions)
	for _, s := range b.aliases() {
		m.Functions = append(m.Functions, codeless(s))
		b.report.Folded++
	}
	for _, s := range b.inlinedOnly() {
		m.Functions = append(m.Functions, codeless(s))
		b.report.Inlined++
	}
	for k := range m.Functions {
		// The linker counts in steps of two.
		m.Functions[k].Ordinal = uint32(2 * (k + 1))
	}
	f.Modules = []spd.Module{m}
	return f
}

// codeless is the record of a function without code of its own: an entry and
// an exit.
func codeless(s spd.Symbol) spd.Function {
	f := spd.Function{Symbol: s, Blocks: make([]spd.Block, 2)}
	f.Blocks[0].Edges = []spd.Edge{{To: 2}}
	f.Checksum = checksum(&f)
	return f
}

// record makes the record of a part.
func (b *builder) record(k int) spd.Function {
	p := &b.parts[k]
	f := spd.Function{Symbol: p.symbol, RVA: p.code.Start, Length: p.code.Len(), Blocks: make([]spd.Block, len(p.graph.Blocks))}
	calls := callees{builder: b, part: k, function: &f, index: make(map[spd.ID]int)}
	for i := range p.graph.Blocks {
		from, to := &p.graph.Blocks[i], &f.Blocks[i]
		to.Instructions = from.Instructions
		if from.Instructions > 0 {
			to.Ranges = []spd.Range{{Start: from.Range.Start - p.code.Start, Length: from.Range.Len()}}
		} else {
			b.report.CodelessBlocks++
		}
		for _, e := range from.Edges {
			edge := spd.Edge{To: uint32(e.To + 1)}
			if e.Dead {
				edge.Flags = spd.EdgeDead
			}
			to.Edges = append(to.Edges, edge)
		}
		for _, c := range from.Calls {
			calls.add(uint32(i+1), c)
		}
		b.report.Instructions += int(from.Instructions)
	}
	b.report.InlinedCalls += len(p.used)
	for _, x := range p.inlined {
		to := &f.Blocks[x.block]
		to.Inlinees = append(to.Inlinees, x.inlinee)
		calls.callee(uint32(x.block+1), cfg.Call{}, x.inlinee.ID, spd.CalleeSource)
	}
	for k := range f.Callees {
		slices.Sort(f.Callees[k].Sites)
	}
	f.Checksum = checksum(&f)
	fill(&f, p.graph.Gaps)

	b.report.Blocks += len(p.graph.Blocks)
	b.report.Bytes += int(f.Length)
	b.report.Undecoded += p.graph.Undecoded
	b.report.Overlaps += p.graph.Overlaps
	b.report.Throws += p.graph.Throws
	for why, n := range p.graph.Unreached {
		b.report.Unreached[why] += n
	}
	b.report.Unresolved += len(p.graph.Unresolved)
	b.report.Seen += p.graph.Seen
	b.report.Tables += len(p.graph.Tables)
	for _, t := range p.graph.Tables {
		b.report.TableEntries += t.Entries
	}
	return f
}

// fill adds a block of what lies between the others, since the ranges of blocks
// tile a function: it is never executed. A part of each other block it must
// not be, or counts of these would be means over code and padding. The block
// comes before the exit, and counts one instruction per range.
func fill(f *spd.Function, gaps []program.Range) {
	if len(gaps) == 0 {
		return
	}
	exit := uint32(len(f.Blocks))
	b := spd.Block{Instructions: uint32(len(gaps)), Edges: []spd.Edge{{To: exit + 1}}}
	for _, r := range gaps {
		b.Ranges = append(b.Ranges, spd.Range{Start: r.Start - f.RVA, Length: r.Len()})
	}
	if exit == 1 {
		// The only block is the entry as well and stays the first.
		f.Blocks[0].Edges = []spd.Edge{{To: 3}}
		b.Edges[0].To = 3
		f.Blocks = append(f.Blocks, b, spd.Block{})
		return
	}
	f.Blocks = slices.Insert(f.Blocks, int(exit-1), b)
	for k := range f.Blocks[:exit-1] {
		for i := range f.Blocks[k].Edges {
			if e := &f.Blocks[k].Edges[i]; e.To == exit {
				e.To++
			}
		}
	}
	for k := range f.Callees {
		for i, s := range f.Callees[k].Sites {
			if s == exit {
				f.Callees[k].Sites[i]++
			}
		}
	}
}

// callees collects the calls of a function.
type callees struct {
	*builder
	part     int
	function *spd.Function
	index    map[spd.ID]int // into Callees
	ordinal  uint16         // of the last indirect call
}

// add adds a call of a block.
func (c *callees) add(block uint32, call cfg.Call) {
	if call.Tail {
		c.report.TailCalls++
		if call.Kind != cfg.Direct {
			c.function.Flags |= spd.FunctionIndirectTail
		}
	}
	switch call.Kind {
	case cfg.Direct:
		to := c.at(call.Target)
		if name := c.imports[c.stub(call.Target)]; to < 0 && name != "" {
			c.report.ImportCalls++
			c.callee(block, call, spd.ImportID(name), spd.CalleeSource|spd.CalleeImport)
			return
		}
		if to < 0 || !call.Tail && c.parts[to].code.Start != call.Target {
			c.report.UnknownCalls++
			return
		}
		c.report.Calls++
		c.callee(block, call, c.parts[to].symbol.ID, spd.CalleeSource)
	case cfg.Slot:
		if name, ok := c.imports[call.Target]; ok {
			c.report.ImportCalls++
			c.callee(block, call, spd.ImportID(name), spd.CalleeSource|spd.CalleeImport)
			return
		}
		c.indirect(block, call)
	default:
		c.indirect(block, call)
	}
}

// callee notes a call of a known function. A tail call is one of the machine
// code as well.
func (c *callees) callee(block uint32, call cfg.Call, id spd.ID, kind uint32) {
	k, ok := c.index[id]
	if !ok {
		k = len(c.function.Callees)
		c.index[id] = k
		c.function.Callees = append(c.function.Callees, spd.Callee{ID: id, Kind: kind})
	}
	sites := &c.function.Callees[k].Sites
	*sites = append(*sites, block)
	if call.Tail {
		m := spd.MachineCallee{ID: id, Kind: spd.CalleeMachine | spd.CalleeTail}
		if !slices.Contains(c.function.MachineCallees, m) {
			c.function.MachineCallees = append(c.function.MachineCallees, m)
		}
	}
}

// maxOffset is the largest offset that an indirect call site can have.
const maxOffset = 1<<28 - 1

// indirect notes a call through a pointer.
func (c *callees) indirect(block uint32, call cfg.Call) {
	c.report.IndirectCalls++
	offset := call.At - c.function.RVA
	if offset > maxOffset || c.ordinal == 1<<16-1 {
		return
	}
	c.ordinal++
	to := &c.function.Blocks[block-1]
	to.Indirect = append(to.Indirect, spd.IndirectSite{CallSite: spd.CallSite{Offset: offset, Length: call.Len, Ordinal: c.ordinal, Kind: 1}})
}

// checksum is computed over the kinds of the blocks and their edges, not over
// addresses, so that it stays the same when the code moves.
func checksum(f *spd.Function) spd.Checksum {
	h := fnv.New32a()
	word := func(v uint32) {
		h.Write(binary.LittleEndian.AppendUint32(nil, v))
	}
	for k := range f.Blocks {
		b := &f.Blocks[k]
		kind := uint32(0)
		if b.Instructions > 0 {
			kind = 1
		}
		word(kind | uint32(len(b.Edges))<<1)
		for _, e := range b.Edges {
			word(e.To<<1 | e.Flags&spd.EdgeDead)
		}
	}
	if s := h.Sum32(); s != 0 {
		return spd.Checksum(s)
	}
	return 0xffffffff
}
