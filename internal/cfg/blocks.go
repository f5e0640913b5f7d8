package cfg

import (
	"slices"

	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
)

// builder cuts a function's code into blocks.
type builder struct {
	*Analyzer
	g      *Graph
	starts []int       // position of each block
	index  map[int]int // of the block that starts at a position
	open   []int       // blocks that end in an unresolved jump
}

// exit stands for the exit in edges until the normal form gives it a number.
const exit = -1

// graph makes the graph of the decoded code.
func (a *Analyzer) graph() *Graph {
	b := builder{Analyzer: a, g: &Graph{Overlaps: a.overlaps}, index: make(map[int]int)}
	b.cut()
	for k := range b.starts {
		b.connect(k)
	}
	b.close()
	entries := b.entries()
	b.g.reach(entries)
	b.g.tellUnreached()
	b.g.normalize(entries)
	for _, t := range a.tables {
		b.g.Tables = append(b.g.Tables, t.Table)
	}
	return b.g
}

// cut makes the blocks with their ranges, and the gaps. The first byte of every
// part starts a block.
func (b *builder) cut() {
	for _, p := range b.parts {
		afterBranch := true
		for pos := p.start; pos < p.end; {
			n := int(b.marks[pos] & lengthMask)
			first := pos == p.start
			if n == 0 && !first {
				if b.marks[pos]&data != 0 {
					b.g.Undecoded++
				}
				b.gap(p.rva + uint32(pos-p.start))
				pos++
				afterBranch = true
				continue
			}
			rva := p.rva + uint32(pos-p.start)
			in := disasm.Inst{Len: 1}
			if n > 0 {
				in = b.again(pos)
			}
			if first || afterBranch || b.marks[pos]&leader != 0 {
				b.index[pos] = len(b.g.Blocks)
				b.starts = append(b.starts, pos)
				b.g.Blocks = append(b.g.Blocks, Block{Range: program.Range{Start: rva, End: rva}})
			}
			block := &b.g.Blocks[len(b.g.Blocks)-1]
			block.Range.End += uint32(in.Len)
			block.Instructions++
			b.call(block, pos, in)
			b.take(pos, in)
			pos += int(in.Len)
			afterBranch = in.Kind.Ends() || in.Kind == disasm.CondJump || b.never(in)
		}
	}
	for _, t := range b.tables {
		if _, ok := b.pos(uint64(t.Start)); ok {
			b.g.Undecoded -= min(b.g.Undecoded, t.Entries*t.Entry)
		}
	}
}

// gap adds a byte to the gaps.
func (b *builder) gap(rva uint32) {
	if n := len(b.g.Gaps); n > 0 && b.g.Gaps[n-1].End == rva {
		b.g.Gaps[n-1].End++
	} else {
		b.g.Gaps = append(b.g.Gaps, program.Range{Start: rva, End: rva + 1})
	}
}

// call notes a call of a block. Whether a jump is a tail call, connect decides.
func (b *builder) call(block *Block, pos int, in disasm.Inst) {
	c := Call{At: b.rva(pos), Len: in.Len, Never: b.never(in)}
	switch {
	case in.Kind == disasm.Call && in.Target <= 0xffffffff:
		if to, ok := b.pos(in.Target); ok && to != 0 {
			return // pushes an address
		}
		c.Target = uint32(in.Target)
	case in.Kind == disasm.IndirectCall && in.InMemory && in.Target <= 0xffffffff:
		c.Kind, c.Target = Slot, uint32(in.Target)
	case in.Kind == disasm.IndirectCall:
		c.Kind = Computed
		if slot, ok := b.slot(pos); ok {
			c.Kind, c.Target = Slot, slot
		}
	default:
		return
	}
	block.Calls = append(block.Calls, c)
}

// take notes the function whose address an instruction makes.
func (b *builder) take(pos int, in disasm.Inst) {
	if b.Entry == nil || in.Kind != disasm.Other {
		return
	}
	address := int64(in.Target)
	switch {
	case in.Names && in.Absolute:
		address -= int64(b.Code.Base())
	case in.Names:
	case b.arch == disasm.ARM64:
		e := b.effect(pos)
		address = e.Imm
		if e.Op == disasm.AddImm {
			at, page := b.definitionIn(4, e.A, pos)
			if at < 0 || page.Op != disasm.Const {
				return
			}
			address += page.Imm
		} else if e.Op != disasm.Const {
			return
		}
	default:
		return
	}
	if address > 0 && address <= 0xffffffff && b.Entry(uint32(address)) {
		b.g.Taken = append(b.g.Taken, uint32(address))
	}
}

// last returns the last instruction of a block.
func (b *builder) last(k int) (pos int, in disasm.Inst) {
	pos = b.before(b.starts[k] + int(b.g.Blocks[k].Range.Len()))
	if pos < b.starts[k] {
		return b.starts[k], disasm.Inst{Len: 1}
	}
	return pos, b.again(pos)
}

// connect finds the edges of a block.
func (b *builder) connect(k int) {
	block := &b.g.Blocks[k]
	pos, in := b.last(k)
	switch in.Kind {
	case disasm.Return:
		b.leave(block, Returns)
	case disasm.Trap:
		b.leave(block, Ends)
	case disasm.Jump:
		b.jump(block, pos, in)
	case disasm.CondJump:
		b.jump(block, pos, in)
		b.next(&b.g.Blocks[k], pos+int(in.Len))
	case disasm.IndirectJump:
		b.indirect(k, pos, in)
	default:
		if b.never(in) {
			b.leave(block, Ends)
		} else {
			b.next(block, pos+int(in.Len))
		}
	}
	b.throw(k, pos, in)
}

func (b *builder) leave(block *Block, how Leave) {
	block.Leaves = append(block.Leaves, how)
	block.Edges = append(block.Edges, Edge{To: exit})
}

// jump adds the edge of a direct jump.
func (b *builder) jump(block *Block, pos int, in disasm.Inst) {
	if to, ok := b.pos(in.Target); ok {
		if k, ok := b.index[to]; ok {
			block.Edges = append(block.Edges, Edge{To: k})
		} else {
			b.leave(block, Falls) // into an instruction
		}
		return
	}
	if in.Target > 0xffffffff {
		b.leave(block, Falls)
		return
	}
	c := Call{At: b.rva(pos), Len: in.Len, Target: uint32(in.Target)}
	if in.Kind == disasm.Jump {
		b.tail(block, c)
		return
	}
	// A block of its own holds the tail call, which happens less often than
	// the code of this one is executed.
	block.Edges = append(block.Edges, Edge{To: len(b.g.Blocks)})
	var only Block
	b.tail(&only, c)
	b.g.Blocks = append(b.g.Blocks, only)
}

func (b *builder) tail(block *Block, c Call) {
	c.Tail = true
	block.Calls = append(block.Calls, c)
	b.leave(block, TailCalls)
}

// next adds the edge to the next instruction.
func (b *builder) next(block *Block, pos int) {
	p := b.partOf(pos - 1)
	if pos < p.end {
		if k, ok := b.index[pos]; ok {
			block.Edges = append(block.Edges, Edge{To: k})
			return
		}
	}
	b.leave(block, Falls)
}

// indirect adds the edges of an indirect jump.
func (b *builder) indirect(k, pos int, in disasm.Inst) {
	block := &b.g.Blocks[k]
	c := Call{At: b.rva(pos), Len: in.Len, Kind: Computed}
	if in.InMemory && in.Target <= 0xffffffff {
		c.Kind, c.Target = Slot, uint32(in.Target)
		b.tail(block, c)
		b.bind(block, c.Target)
		return
	}
	for _, t := range b.tables {
		if t.pos != pos {
			continue
		}
		seen := make(map[int]bool)
		for _, to := range t.targets {
			if k, ok := b.index[to]; ok && !seen[k] {
				seen[k] = true
				block.Edges = append(block.Edges, Edge{To: k})
			}
		}
		if t.outside || len(block.Edges) == 0 {
			b.leave(block, Jumps)
		}
		return
	}
	for _, j := range b.jumps {
		if j.pos == pos && j.tab {
			b.g.Unresolved = append(b.g.Unresolved, c.At)
			b.open = append(b.open, k)
			for _, to := range j.seen {
				if k, ok := b.index[to]; ok {
					block.Edges = append(block.Edges, Edge{To: k})
					b.g.Seen++
				}
			}
			return
		}
	}
	if slot, ok := b.slot(pos); ok {
		c.Kind, c.Target = Slot, slot
	}
	b.tail(block, c)
}

// bind adds the edge of a stub to its half that has the pointer bound: until
// then, it is where the pointer leads.
func (b *builder) bind(block *Block, slot uint32) {
	to, ok := b.Code.Pointer(slot)
	if !ok {
		return
	}
	if pos, ok := b.pos(uint64(to)); ok && pos > 0 {
		if k, ok := b.index[pos]; ok {
			block.Edges = append(block.Edges, Edge{To: k})
		}
	}
}

// close lets unresolved jumps lead to all blocks that nothing else leads to,
// and out of the function.
func (b *builder) close() {
	if len(b.open) == 0 {
		return
	}
	entered := make([]bool, len(b.g.Blocks))
	entered[0] = true
	for k := range b.g.Blocks {
		for _, e := range b.g.Blocks[k].Edges {
			if e.To != exit {
				entered[e.To] = true
			}
		}
	}
	for _, i := range b.open {
		block := &b.g.Blocks[i]
		for k := range entered {
			if !entered[k] {
				block.Edges = append(block.Edges, Edge{To: k})
			}
		}
		b.leave(block, Jumps)
	}
}

// entries returns the blocks that are entered from outside, ascending: the
// first one, and those of the additional entries.
func (b *builder) entries() []int {
	list := []int{0}
	for _, rva := range b.more {
		if pos, ok := b.pos(uint64(rva)); ok {
			if k, ok := b.index[pos]; ok {
				list = append(list, k)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// reach marks the blocks that known edges lead to.
func (g *Graph) reach(entries []int) {
	work := slices.Clone(entries)
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		if g.Blocks[k].Reached {
			continue
		}
		g.Blocks[k].Reached = true
		for _, e := range g.Blocks[k].Edges {
			if e.To != exit {
				work = append(work, e.To)
			}
		}
	}
}
