package spdgen

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// Fresh makes the SPD of a program as the linker leaves it: so many functions
// with so many blocks each, on average. Callees stand before their callers;
// small functions are inlined, some everywhere, a few are folded.
func Fresh(seed uint64, functions, blocks int) *spd.File {
	mk := maker{r: rand.New(rand.NewPCG(seed, 3)), rva: 0x1000}
	for k := range functions {
		size := 1
		if mk.r.IntN(6) > 0 {
			size = max(3, int(float64(blocks)*0.75*math.Exp(0.9*mk.r.NormFloat64())))
		}
		mk.function(k, size)
	}
	f := &spd.File{
		Header:  spd.Header{Flags: spd.HeaderFresh, Binary: "app.exe", Age: 1},
		Modules: []spd.Module{{Name: "* CIL module *", Flags: spd.ModuleFresh, Functions: mk.functions}},
	}
	for i := range f.Header.GUID {
		f.Header.GUID[i] = byte(mk.r.Uint32())
	}
	return f
}

// maker makes functions one after the other.
type maker struct {
	r         *rand.Rand
	rva       uint32
	sources   []*source
	functions []spd.Function
}

var (
	verbs = []string{"read", "parse", "find", "copy", "hash", "check", "update", "send", "lock", "walk", "pack", "count", "merge", "split", "flush", "match"}
	nouns = []string{"header", "record", "entry", "table", "buffer", "list", "key", "token", "queue", "tree", "index", "packet", "field", "node", "cache", "map"}
)

// function makes function k, or one that is folded into the one before it.
func (mk *maker) function(k, blocks int) {
	r := mk.r
	f := spd.Function{Symbol: spd.Symbol{
		Name:        fmt.Sprintf("%s_%s_%d", verbs[r.IntN(len(verbs))], nouns[r.IntN(len(nouns))], k),
		Ordinal:     uint32(2*k + 2),
		SymbolFlags: spd.SymbolAlways,
	}}
	f.ID = spd.FunctionID(f.Name)
	if r.IntN(5) < 2 {
		f.SymbolFlags |= spd.SymbolStatic
		f.ID = spd.StaticID(fmt.Sprintf("unit%d.obj", k/12), f.Name)
	}
	if k > 0 && r.IntN(40) == 0 && mk.functions[k-1].RVA != 0 && mk.functions[k-1].SymbolFlags&spd.SymbolFolded == 0 {
		twin := mk.functions[k-1]
		f.SymbolFlags |= spd.SymbolFolded
		f.FoldedInto = twin.RVA
		f.Flags, f.Checksum, f.Callees, f.MachineCallees = twin.Flags, twin.Checksum, twin.Callees, twin.MachineCallees
		f.Blocks = cloneBlocks(twin.Blocks)
		mk.functions = append(mk.functions, f)
		mk.sources = append(mk.sources, &source{id: f.ID, size: math.MaxInt})
		return
	}
	s := mk.write(f.ID, blocks)
	mk.sources = append(mk.sources, s)
	length := s.compile(&f)
	// What is small enough to be inlined everywhere has no code of its own.
	if s.size > tiny || r.IntN(2) == 0 {
		f.RVA, f.Length = mk.rva, length
		mk.rva += (length + 31) &^ 15
		if r.IntN(8) == 0 {
			f.SymbolFlags |= spd.SymbolAddressTaken
		}
	} else {
		s.always = true
	}
	if tuples, known := f.FlowTuples(true); known {
		f.Checksum = spd.FlowChecksum(tuples)
	} else {
		h := fnv.New32a()
		fmt.Fprint(h, f.Name, len(f.Blocks))
		f.Checksum = spd.Checksum(h.Sum32())
	}
	mk.functions = append(mk.functions, f)
}

func cloneBlocks(blocks []spd.Block) []spd.Block {
	list := slices.Clone(blocks)
	for i := range list {
		list[i].Edges = slices.Clone(list[i].Edges)
		list[i].Indirect = slices.Clone(list[i].Indirect)
	}
	return list
}

const (
	tiny  = 12 // instructions up to which a function is always inlined
	small = 40 // and up to which it may be
)

// source is a function before it is compiled.
type source struct {
	id       spd.ID
	blocks   []sourceBlock
	size     int  // instructions
	always   bool // inlined wherever it is called
	indirect int  // calls so far
	tail     bool // ends with a jump to the last callee
	r        *rand.Rand
}

type sourceBlock struct {
	own        int // instructions, 0 for a block without code
	cold       bool
	flags, aux uint16
	edges      []spd.Edge
	calls      []sourceCallee
	ordinals   []uint16 // of indirect calls
	tailJump   bool     // the last indirect call is a jump
}

type sourceCallee struct {
	id     spd.ID
	kind   uint32
	inline *source // nil for a real call
}

// writer writes statements.
type writer struct {
	*maker
	s      *source
	at     int // block that statements go to
	cold   bool
	budget int
	leave  []int // blocks that return early
}

// write makes up the source of a function with about so many blocks.
func (mk *maker) write(id spd.ID, blocks int) *source {
	s := &source{id: id, r: mk.r}
	w := &writer{maker: mk, s: s, budget: blocks}
	s.blocks = append(s.blocks, sourceBlock{})
	if mk.r.IntN(3) > 0 {
		s.blocks[0].own = 2 + mk.r.IntN(8)
	}
	w.next()
	for w.budget > 0 {
		w.statement(0)
	}
	last := w.next()
	b := &s.blocks[last]
	b.own = 2 + mk.r.IntN(5)
	switch mk.r.IntN(12) {
	case 0:
		if c, ok := w.callee(false); ok {
			b.calls = append(b.calls, c)
			s.tail = true
		}
	case 1:
		s.indirect++
		b.ordinals = append(b.ordinals, uint16(s.indirect))
		b.tailJump = true
	}
	exit := w.next()
	for _, k := range w.leave {
		s.blocks[k].edges = append(s.blocks[k].edges, spd.Edge{To: uint32(last + 1)})
	}
	s.blocks[exit].own = 0
	for i := range s.blocks {
		x := &s.blocks[i]
		s.size += x.own
		for _, c := range x.calls {
			if c.inline != nil {
				s.size += c.inline.size
			}
		}
	}
	return s
}

// open appends a block without an edge to it.
func (w *writer) open() int {
	w.s.blocks = append(w.s.blocks, sourceBlock{own: 1 + w.r.IntN(9), cold: w.cold})
	w.at = len(w.s.blocks) - 1
	w.budget--
	return w.at
}

// next appends a block that follows the one before.
func (w *writer) next() int {
	from := w.at
	to := w.open()
	w.edge(from, to)
	return to
}

func (w *writer) edge(from, to int) {
	w.s.blocks[from].edges = append(w.s.blocks[from].edges, spd.Edge{To: uint32(to + 1)})
}

func (w *writer) statement(depth int) {
	kind := w.r.IntN(20)
	if depth > 5 {
		kind = w.r.IntN(7)
	}
	switch {
	case kind < 4:
		if c, ok := w.callee(true); ok {
			w.s.blocks[w.at].calls = append(w.s.blocks[w.at].calls, c)
			w.s.blocks[w.at].own = max(2, w.s.blocks[w.at].own) + 2
		}
	case kind < 5:
		w.s.indirect++
		b := &w.s.blocks[w.at]
		b.ordinals = append(b.ordinals, uint16(w.s.indirect))
		b.own = max(2, b.own) + 3
	case kind < 7:
		w.next()
	case kind < 14:
		w.condition(depth, kind)
	case kind < 19:
		w.loop(depth, kind)
	default:
		w.choice(depth)
	}
}

func (w *writer) body(depth int) {
	for range 1 + w.r.IntN(2) {
		if w.budget > 0 {
			w.statement(depth + 1)
		}
	}
}

// condition writes an if: with a rare way that leaves the function, with an
// else, or with neither.
func (w *writer) condition(depth, kind int) {
	head := w.at
	w.s.blocks[head].own = max(2, w.s.blocks[head].own)
	w.s.blocks[head].edges = append(w.s.blocks[head].edges, spd.Edge{})
	cold := w.cold
	w.cold = cold || kind < 10
	then := w.next()
	switch {
	case kind == 7:
		w.body(depth)
		w.leave = append(w.leave, w.at)
		w.cold = cold
		w.open()
	case kind >= 12:
		w.body(depth)
		end := w.at
		w.cold = cold
		other := w.open()
		w.s.blocks[head].edges[0].To = uint32(other + 1)
		w.body(depth)
		after := w.next()
		w.edge(end, after)
		return
	default:
		if w.r.IntN(4) == 0 {
			w.s.blocks[then].own, w.s.blocks[then].flags = 0, spd.BlockIfConverted
		} else {
			w.body(depth)
		}
		w.cold = cold
		w.next()
	}
	w.s.blocks[head].edges[0].To = uint32(w.at + 1)
}

// loop writes a loop with its condition at the top or at the bottom, or a do
// once.
func (w *writer) loop(depth, kind int) {
	head := w.next()
	if kind < 16 {
		w.s.blocks[head].own = max(2, w.s.blocks[head].own)
		w.s.blocks[head].edges = append(w.s.blocks[head].edges, spd.Edge{})
		w.next()
		w.body(depth)
		w.edge(w.at, head)
		after := w.open()
		w.s.blocks[head].edges[0].To = uint32(after + 1)
		return
	}
	w.body(depth)
	end := w.next()
	b := &w.s.blocks[end]
	b.own = max(2, b.own)
	back := spd.Edge{To: uint32(head + 1)}
	switch kind {
	case 16:
		b.own, back.Flags = 0, spd.EdgeDead
	case 17:
		b.flags, b.aux = spd.BlockTripCount, uint16(2+w.r.IntN(30))
	}
	w.next()
	w.s.blocks[end].edges = append(w.s.blocks[end].edges, back)
}

// choice writes a switch.
func (w *writer) choice(depth int) {
	head := w.at
	w.s.blocks[head].own = max(4, w.s.blocks[head].own)
	var ends []int
	for range 3 + w.r.IntN(5) {
		w.edge(head, w.open())
		w.body(depth)
		ends = append(ends, w.at)
	}
	after := w.open()
	for _, end := range ends {
		w.edge(end, after)
	}
}

// callee chooses what to call: mostly one of the functions just before, so
// that chains of calls stay short.
func (w *writer) callee(inline bool) (sourceCallee, bool) {
	switch n := w.r.IntN(40); {
	case n == 0:
		return sourceCallee{id: spd.ImportID("Sleep"), kind: spd.CalleeSource | spd.CalleeImport}, true
	case n == 1:
		return sourceCallee{id: spd.FunctionID("memcpy"), kind: spd.CalleeSource}, true
	case len(w.sources) == 0:
		return sourceCallee{}, false
	}
	k := len(w.sources) - 1 - w.r.IntN(min(len(w.sources), 60))
	s := w.sources[k]
	c := sourceCallee{id: s.id, kind: spd.CalleeSource}
	if inline && (s.always || s.size <= small && w.r.IntN(2) == 0) {
		c.inline = s
	}
	if s.always && !inline {
		return c, false
	}
	return c, true
}
