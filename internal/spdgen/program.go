package spdgen

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// Program is the machine code of a module with its flow graphs.
type Program struct {
	File      *spd.File
	functions []spd.Function // of the first module, in file order
	keeper    []int32        // per function: the one whose code it runs, -1 if none

	bodies []body
	nodes  []node
	pieces []piece
	starts []uint32 // RVAs of instructions; those of a piece are neighbours

	alone []int32 // per function: body of its own code, -1 if none
	byID  map[spd.ID]int32
	exits [][]int32 // per function and block: number of the edge on a shortest way to the exit, -1 if there is none
	sites int       // indirect calls in all code
	// library is the RVA of static libraries, behind all functions.
	library uint32
	placed  placement
}

// placement counts the calls that have a place in the code.
type placement struct {
	calls, inlined int
	// hidden calls are in blocks without an instruction that could be the
	// call: of functions whose inlined code vanished, mostly.
	hidden int
}

// body is a copy of a function's code: its own, or an inlined one.
type body struct {
	function int32
	nodes    []int32 // per block, -1 for blocks without code
}

// node is a block of a body, as it is executed: pieces of code, and inlined
// bodies at the place of their calls.
type node struct {
	function, block int32
	items           []item
	// copies says that each item is a copy of the same code, which was
	// duplicated into its predecessors: an execution is one of them.
	copies bool
	// near are nodes some of whose code lies between pieces of this one.
	near []int32
}

// item is a piece, or the body of an inlined call. The other one is -1.
type item struct{ piece, body int32 }

// piece is a run of instructions of one block, without a gap.
type piece struct {
	start, end  uint32 // RVAs
	first, last int32  // of starts, last excluded
	node        int32
	calls       []call // in the order of instructions
}

// call is a call instruction.
type call struct {
	instruction int32 // of starts
	kind        callKind
	target      int32 // a function, the number of an indirect site, or an offset in the libraries
	tail        bool
}

type callKind uint8

const (
	callDirect callKind = iota
	callIndirect
	callLibrary // of the image, but without a record
	callOutside // through the import table
)

// NewProgram lays out the code of the first module of f, which it keeps.
func NewProgram(f *spd.File) *Program {
	p := &Program{File: f, functions: f.Modules[0].Functions, byID: map[spd.ID]int32{}}
	byRVA := map[uint32]int32{}
	for k := range p.functions {
		p.byID[p.functions[k].ID] = int32(k)
		if rva := p.functions[k].RVA; rva != 0 {
			byRVA[rva] = int32(k)
		}
	}
	p.alone = make([]int32, len(p.functions))
	p.keeper = make([]int32, len(p.functions))
	sites := int32(0)
	for k := range p.functions {
		fn := &p.functions[k]
		p.exits = append(p.exits, waysOut(fn))
		p.alone[k], p.keeper[k] = -1, -1
		p.library = max(p.library, (fn.RVA+fn.Length+0x1FFF)&^0xFFF)
		if to, ok := byRVA[fn.FoldedInto]; ok && fn.FoldedInto != 0 {
			p.keeper[k] = to
		}
		if fn.RVA != 0 && p.exits[k][0] >= 0 {
			p.keeper[k] = int32(k)
			c := coder{Program: p, rva: fn.RVA, outer: fn, first: int32(len(p.pieces)), sites: sites}
			p.alone[k] = c.function(int32(k))
			c.relate()
			sites = c.sites
		}
	}
	p.sites = int(sites)
	return p
}

// waysOut finds for each block the edge that starts a shortest way to the
// exit.
func waysOut(f *spd.Function) []int32 {
	n := len(f.Blocks)
	before := make([][]int32, n)
	for k := range f.Blocks {
		for _, e := range f.Blocks[k].Edges {
			if e.Flags&spd.EdgeDead == 0 {
				before[e.To-1] = append(before[e.To-1], int32(k))
			}
		}
	}
	way := make([]int32, n)
	for k := range way {
		way[k] = -1
	}
	way[n-1] = 0
	queue := []int32{int32(n - 1)}
	for len(queue) > 0 {
		to := queue[0]
		queue = queue[1:]
		for _, from := range before[to] {
			if way[from] >= 0 {
				continue
			}
			way[from] = int32(slices.IndexFunc(f.Blocks[from].Edges, func(e spd.Edge) bool {
				return int32(e.To) == to+1 && e.Flags&spd.EdgeDead == 0
			}))
			queue = append(queue, from)
		}
	}
	return way
}

// coder lays out the code of one function and of all that is inlined there.
type coder struct {
	*Program
	rva   uint32
	outer *spd.Function
	first int32 // the function's first piece
	sites int32 // indirect sites so far, in the whole program
}

// part is a block of a body with code, from the function's own record or
// inlined.
type part struct {
	instructions uint32
	ranges       []spd.Range
	indirect     []spd.CallSite
	inlinees     []spd.Inlinee
	copies       int
}

// copies is how often the code of a block stands in the function.
func copies(flags, aux uint16) int {
	if flags == spd.BlockDuplicated {
		return int(aux) + 1
	}
	return 1
}

func (c *coder) function(k int32) int32 {
	parts := make(map[uint32]part)
	for i := range c.outer.Blocks {
		b := &c.outer.Blocks[i]
		if len(b.Ranges) == 0 {
			continue
		}
		x := part{instructions: b.Instructions, ranges: b.Ranges, inlinees: b.Inlinees, copies: copies(b.Flags, b.Aux)}
		for _, s := range b.Indirect {
			x.indirect = append(x.indirect, s.CallSite)
		}
		parts[uint32(i+1)] = x
	}
	return c.body(k, parts)
}

func (c *coder) inlined(x *spd.Inlinee) int32 {
	parts := make(map[uint32]part)
	for i := range x.Blocks {
		if b := &x.Blocks[i]; len(b.Ranges) > 0 {
			parts[b.ID] = part{b.Instructions, b.Ranges, b.Indirect, b.Inlinees, copies(b.Flags, b.Aux)}
		}
	}
	c.placed.inlined++
	return c.body(c.byID[x.ID], parts)
}

func (c *coder) body(function int32, parts map[uint32]part) int32 {
	n := len(c.functions[function].Blocks)
	b := body{function: function, nodes: make([]int32, n)}
	at := int32(len(c.bodies))
	c.bodies = append(c.bodies, b)
	for k := range b.nodes {
		b.nodes[k] = -1
		x, ok := parts[uint32(k+1)]
		calls := callsOf(&c.functions[function], uint32(k+1))
		if ok {
			b.nodes[k] = c.node(node{function: function, block: int32(k)}, x, calls, leadsOut(&c.functions[function], k, parts))
		} else {
			c.placed.hidden += len(calls)
		}
	}
	return at
}

// sourceCall is a direct call of the source.
type sourceCall struct {
	id       spd.ID
	imported bool
}

// callsOf lists the direct calls of a block, in the order of the callees.
func callsOf(f *spd.Function, block uint32) []sourceCall {
	var calls []sourceCall
	for i := range f.Callees {
		c := &f.Callees[i]
		for _, s := range c.Sites {
			if s == block {
				calls = append(calls, sourceCall{c.ID, c.Kind&spd.CalleeImport != 0})
			}
		}
	}
	return calls
}

// leadsOut says whether nothing but blocks without code follows block k.
func leadsOut(f *spd.Function, k int, parts map[uint32]part) bool {
	for range f.Blocks {
		if k == len(f.Blocks)-1 {
			return true
		}
		if len(f.Blocks[k].Edges) != 1 {
			return false
		}
		k = int(f.Blocks[k].Edges[0].To) - 1
		if _, code := parts[uint32(k+1)]; code {
			return false
		}
	}
	return false
}

// node lays out a block.
func (c *coder) node(n node, x part, calls []sourceCall, last bool) int32 {
	at := int32(len(c.nodes))
	c.nodes = append(c.nodes, n)

	var taken []spd.Range
	own := x.instructions
	for i := range x.inlinees {
		for k := range x.inlinees[i].Blocks {
			b := &x.inlinees[i].Blocks[k]
			taken = append(taken, b.Ranges...)
			own -= min(own, b.Instructions)
		}
		calls = removeFirst(calls, x.inlinees[i].ID)
	}
	pieces := c.cut(at, subtract(x.ranges, taken), max(own, 1), x.indirect)
	c.place(pieces, calls, x.indirect, last)

	type entry struct {
		item
		order uint32
	}
	var list []entry
	main := mainEnd(x.ranges, taken)
	var remote []int32
	for _, p := range pieces {
		r := rangeOf(x.ranges, c.pieces[p].start-c.rva)
		if c.pieces[p].start-c.rva >= main && holdsAny(r, taken) {
			remote = append(remote, p)
			continue
		}
		list = append(list, entry{item{p, -1}, c.pieces[p].start - c.rva})
	}
	for i := range x.inlinees {
		// What lies between the pieces of the callee's first block was
		// scheduled into it and comes before.
		order := uint32(0)
		if b := x.inlinees[i].Blocks; len(b) > 0 && len(b[0].Ranges) > 0 {
			r := b[0].Ranges[len(b[0].Ranges)-1]
			order = r.Start + r.Length
		}
		list = append(list, entry{item{-1, c.inlined(&x.inlinees[i])}, order})
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.order, b.order) })
	for _, e := range list {
		c.nodes[at].items = append(c.nodes[at].items, e.item)
	}
	c.attach(at, remote)
	c.nodes[at].copies = x.copies == len(x.ranges) && len(x.inlinees) == 0
	return at
}

// attach has pieces of a node run along with the inlined code beside which
// they lie: code that is needed on one way alone is moved there.
func (c *coder) attach(at int32, remote []int32) {
	for _, p := range remote {
		host, found := at, false
		for q := int32(len(c.pieces)) - 1; q >= c.first && !found; q-- {
			x := &c.pieces[q]
			if x.node > at && (x.start == c.pieces[p].end || x.end == c.pieces[p].start) {
				host, found = x.node, true
			}
		}
		items := &c.nodes[host].items
		i, _ := slices.BinarySearchFunc(*items, c.pieces[p].start, func(e item, start uint32) int {
			if e.piece < 0 {
				return -1
			}
			return cmp.Compare(c.pieces[e.piece].start, start)
		})
		*items = slices.Insert(*items, i, item{p, -1})
	}
}

// mainEnd is the end of the largest range: later ranges that have inlined code
// are ways that are taken rarely.
func mainEnd(ranges, taken []spd.Range) uint32 {
	var end, most uint32
	for _, r := range ranges {
		own := r.Length
		for _, t := range taken {
			if t.Start >= r.Start && t.Start < r.Start+r.Length {
				own -= min(own, t.Length)
			}
		}
		if own > most || end == 0 {
			end, most = r.Start+r.Length, own
		}
	}
	return end
}

func rangeOf(ranges []spd.Range, offset uint32) spd.Range {
	for _, r := range ranges {
		if offset >= r.Start && offset < r.Start+r.Length {
			return r
		}
	}
	return spd.Range{}
}

func holdsAny(r spd.Range, taken []spd.Range) bool {
	return slices.ContainsFunc(taken, func(t spd.Range) bool { return t.Start >= r.Start && t.Start < r.Start+r.Length })
}

func removeFirst(calls []sourceCall, id spd.ID) []sourceCall {
	if i := slices.IndexFunc(calls, func(c sourceCall) bool { return c.id == id }); i >= 0 {
		return slices.Delete(calls, i, i+1)
	}
	return calls
}

// subtract returns what of some ascending ranges no other range takes.
func subtract(ranges, taken []spd.Range) []spd.Range {
	slices.SortFunc(taken, func(a, b spd.Range) int { return cmp.Compare(a.Start, b.Start) })
	var rest []spd.Range
	for _, r := range ranges {
		at, end := r.Start, r.Start+r.Length
		for _, t := range taken {
			if t.Start >= end || t.Start+t.Length <= at {
				continue
			}
			if t.Start > at {
				rest = append(rest, spd.Range{Start: at, Length: t.Start - at})
			}
			at = t.Start + t.Length
		}
		if at < end {
			rest = append(rest, spd.Range{Start: at, Length: end - at})
		}
	}
	return rest
}

// nearBytes is how far apart pieces of a node may lie for what is between them
// to count as scheduled into it.
const nearBytes = 256

// relate finds the nodes of the function whose code is interleaved.
func (c *coder) relate() {
	var order []int32
	for k := c.first; k < int32(len(c.pieces)); k++ {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(c.pieces[a].start, c.pieces[b].start) })
	last := map[int32]int{}
	for i, k := range order {
		x := &c.pieces[k]
		if j, seen := last[x.node]; seen && x.start-c.pieces[order[j]].end <= nearBytes {
			n := &c.nodes[x.node]
			for _, between := range order[j+1 : i] {
				if other := c.pieces[between].node; !slices.Contains(n.near, other) {
					n.near = append(n.near, other)
				}
			}
		}
		last[x.node] = i
	}
}
