package cfg

import (
	"slices"

	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
)

// Analyzer makes graphs. It keeps its buffers between functions and so serves
// one goroutine at a time.
type Analyzer struct {
	Code Code

	// Never says whether a call does not return; nil stands for calls that
	// all return.
	Never func(kind CallKind, target uint32) bool

	// Entry says whether a function starts at an address, for Graph.Taken; nil
	// stands for none.
	Entry func(rva uint32) bool

	// Seen returns where an indirect jump was seen to lead, ascending; nil
	// stands for nowhere.
	Seen func(rva uint32) []uint32

	arch   disasm.Arch
	more   []uint32 // additional entries
	parts  []part
	code   []byte // of all parts, one behind the other
	marks  []mark // one per byte of code
	work   []int  // positions in code to go on from
	jumps  []jump // indirect jumps that are not resolved
	tables []table
	guards []guarded
	consts map[disasm.Reg][]constant

	read   int // table entries that were read
	rounds int // of resolve

	overlaps int
}

// part is an interval of the function's code.
type part struct {
	rva   uint32
	start int // position in code
	end   int
}

// mark tells what a byte of code is.
type mark uint8

const (
	lengthMask mark = 0x0f // length of the instruction that starts here
	inside     mark = 0x10 // in an instruction, not its start
	leader     mark = 0x20 // starts a block
	filler     mark = 0x40 // padding that nothing leads to
	data       mark = 0x80 // no instruction
)

// jump is an indirect jump.
type jump struct {
	pos   int
	tab   bool // it looks like one through a table
	tries int
	seen  []int // positions that it was seen to lead to
}

// table is a resolved jump table.
type table struct {
	Table
	pos     int // of the jump
	targets []int
	outside bool // some entries lead out of the function
}

// MaxFunction is the size of the largest function that is analyzed, in bytes.
const MaxFunction = 1 << 28

// Function returns the graph of the function whose code lies in the ranges, the
// first of which starts with its entry. Code outside jumps to the additional
// entries. Guards tell where exceptions in the code lead. The function must have
// code; bytes that the image does not hold count as zero.
func (a *Analyzer) Function(ranges []program.Range, entries []uint32, guards []program.Guard) *Graph {
	a.load(ranges)
	a.more = entries
	a.mark(0, leader)
	a.work = append(a.work, 0)
	a.follow()
	for _, e := range entries {
		if pos, ok := a.pos(uint64(e)); ok {
			a.lead(pos)
		}
	}
	a.catch(guards)
	a.follow()
	for _, p := range a.parts[1:] {
		a.lead(p.start)
	}
	a.follow()
	a.observe()
	a.fillGaps()
	a.invoke()
	return a.graph()
}

// load fetches the code.
func (a *Analyzer) load(ranges []program.Range) {
	a.arch = a.Code.Arch()
	a.parts, a.code, a.work, a.jumps, a.tables, a.guards = a.parts[:0], a.code[:0], a.work[:0], a.jumps[:0], a.tables[:0], a.guards[:0]
	a.consts, a.read, a.rounds, a.overlaps = nil, 0, 0, 0
	for _, r := range ranges {
		start, n := len(a.code), int(min(r.End-r.Start, MaxFunction))
		a.code = append(a.code, a.Code.Bytes(r.Start, n)...)
		if missing := start + n - len(a.code); missing > 0 {
			a.code = append(a.code, make([]byte, missing)...)
		}
		a.parts = append(a.parts, part{r.Start, start, start + n})
	}
	a.marks = slices.Grow(a.marks[:0], len(a.code))[:len(a.code)]
	clear(a.marks)
}

func (a *Analyzer) mark(pos int, m mark) { a.marks[pos] |= m }

// partOf returns the part that holds a position.
func (a *Analyzer) partOf(pos int) *part {
	k := 0
	for pos >= a.parts[k].end {
		k++
	}
	return &a.parts[k]
}

func (a *Analyzer) rva(pos int) uint32 {
	p := a.partOf(pos)
	return p.rva + uint32(pos-p.start)
}

// pos returns the position of an address in the function.
func (a *Analyzer) pos(rva uint64) (int, bool) {
	for _, p := range a.parts {
		if uint64(p.rva) <= rva && rva < uint64(p.rva)+uint64(p.end-p.start) {
			return p.start + int(rva-uint64(p.rva)), true
		}
	}
	return 0, false
}

// decode decodes the instruction at a position. An instruction does not go
// beyond its part.
func (a *Analyzer) decode(pos int) (disasm.Inst, bool) {
	p := a.partOf(pos)
	return a.arch.Decode(a.code[pos:min(p.end, pos+disasm.MaxLen)], uint64(p.rva)+uint64(pos-p.start))
}

// again decodes an instruction that is marked. It is shorter than it was where
// a branch leads behind its prefix.
func (a *Analyzer) again(pos int) disasm.Inst {
	in, _ := a.decode(pos)
	if n := a.marks[pos] & lengthMask; uint8(n) != in.Len {
		return disasm.Inst{Len: uint8(n)}
	}
	return in
}

func (a *Analyzer) effect(pos int) disasm.Effect {
	p := a.partOf(pos)
	return a.arch.EffectOf(a.code[pos:min(p.end, pos+disasm.MaxLen)], uint64(p.rva)+uint64(pos-p.start))
}

// lead makes a position the start of a block and queues it.
func (a *Analyzer) lead(pos int) {
	m := a.marks[pos]
	switch {
	case m&inside != 0:
		a.split(pos)
	case m&leader == 0:
		a.mark(pos, leader)
		if m&lengthMask == 0 {
			a.work = append(a.work, pos)
		}
	}
}

// split handles a branch into an instruction. One that goes behind a prefix,
// such as lock, makes the prefix an instruction of its own. Others are not
// followed.
func (a *Analyzer) split(pos int) {
	start := a.before(pos + 1)
	end := start + int(a.marks[start]&lengthMask)
	in, ok := a.decode(pos)
	if !ok || pos+int(in.Len) != end {
		a.overlaps++
		return
	}
	a.marks[start] = a.marks[start]&^lengthMask | mark(pos-start)
	a.marks[pos] = mark(in.Len) | leader
}

// before returns the start of the last instruction that starts before pos, or
// -1.
func (a *Analyzer) before(pos int) int {
	for pos--; pos >= 0; pos-- {
		if a.marks[pos]&lengthMask != 0 {
			return pos
		}
		if a.marks[pos]&inside == 0 {
			break
		}
	}
	return -1
}

// observe follows indirect jumps whose targets the code does not tell to where
// they were seen to lead.
func (a *Analyzer) observe() {
	if a.Seen == nil {
		return
	}
	for again := true; again; {
		again = false
		for k := range a.jumps {
			j := &a.jumps[k]
			if len(j.seen) > 0 {
				continue
			}
			for _, rva := range a.Seen(a.rva(j.pos)) {
				if to, ok := a.pos(uint64(rva)); ok {
					j.seen, j.tab, again = append(j.seen, to), true, true
					a.lead(to)
				}
			}
		}
		a.follow() // may find more jumps, or tables
	}
}

// follow decodes what the queued positions lead to, jump tables included.
func (a *Analyzer) follow() {
	for len(a.work) > 0 {
		for len(a.work) > 0 {
			pos := a.work[len(a.work)-1]
			a.work = a.work[:len(a.work)-1]
			a.straight(pos)
		}
		if a.rounds++; a.rounds < maxRounds {
			a.consts = nil // there may be new ones
		}
		a.resolve()
	}
}

// straight decodes from pos until the flow of control ends or meets what is
// decoded.
func (a *Analyzer) straight(pos int) {
	end := a.partOf(pos).end
	for pos < end && a.marks[pos]&lengthMask == 0 {
		if a.marks[pos]&inside != 0 {
			return // it was split, or could not be
		}
		in, ok := a.decode(pos)
		if !ok {
			a.mark(pos, data)
			return
		}
		if k := a.meets(pos, int(in.Len)); k > 0 {
			if a.marks[pos+k]&data != 0 || k+int(a.marks[pos+k]&lengthMask) != int(in.Len) {
				a.overlaps++
				a.mark(pos, data)
				return
			}
			// A branch leads behind the prefix.
			a.mark(pos+k, leader)
			in = disasm.Inst{Len: uint8(k)}
		}
		a.enter(pos, in)
		next := pos + int(in.Len)
		switch in.Kind {
		case disasm.CondJump, disasm.Jump:
			if to, ok := a.pos(in.Target); ok {
				a.lead(to)
			}
			if next < end && in.Kind == disasm.CondJump {
				a.mark(next, leader)
			}
		case disasm.IndirectJump:
			if !in.InMemory {
				a.jumps = append(a.jumps, jump{pos: pos})
			}
		case disasm.Call:
			// A call into the function itself pushes an address.
			if to, ok := a.pos(in.Target); ok && to != 0 {
				a.lead(to)
			}
		}
		if in.Kind.Ends() || a.never(in) {
			return
		}
		pos = next
	}
}

// enter marks an instruction.
func (a *Analyzer) enter(pos int, in disasm.Inst) {
	a.marks[pos] = a.marks[pos]&leader | mark(in.Len)
	target := 0
	for k := 1; k < int(in.Len); k++ {
		if a.marks[pos+k]&leader != 0 && target == 0 {
			target = k
		}
		a.marks[pos+k] = inside
	}
	if target > 0 {
		a.split(pos + target)
	}
}

// meets returns the distance from pos to the first byte of an instruction of
// n bytes there that is the start of another one or known data, or 0.
func (a *Analyzer) meets(pos, n int) int {
	for k := 1; k < n; k++ {
		if a.marks[pos+k]&(lengthMask|data) != 0 {
			return k
		}
	}
	return 0
}

// never says whether in is a call that does not return.
func (a *Analyzer) never(in disasm.Inst) bool {
	if a.Never == nil {
		return false
	}
	switch {
	case in.Kind == disasm.Call && in.Target <= 0xffffffff:
		return a.Never(Direct, uint32(in.Target))
	case in.Kind == disasm.IndirectCall && in.InMemory && in.Target <= 0xffffffff:
		return a.Never(Slot, uint32(in.Target))
	}
	return false
}

// fillGaps decodes what nothing leads to.
func (a *Analyzer) fillGaps() {
	for pos := 0; pos < len(a.code); {
		if m := a.marks[pos]; m != 0 && m != leader {
			pos++
			continue
		}
		in, ok := a.decode(pos)
		switch {
		case !ok, a.meets(pos, int(in.Len)) > 0:
			a.marks[pos] = data
			pos++
		case in.Padding && a.marks[pos] == 0:
			for k := range int(in.Len) {
				a.marks[pos+k] = filler
			}
			pos += int(in.Len)
		default:
			a.mark(pos, leader)
			a.work = append(a.work, pos)
			a.follow()
			pos++
		}
	}
}
