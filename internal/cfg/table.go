package cfg

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/spgo-tools/spgo/internal/disasm"
)

const (
	maxEntries    = 1 << 16 // of a table
	maxSteps      = 64      // instructions to look back from a jump
	maxOutside    = 64      // entries in a row that lead out of the function
	maxRead       = 1 << 22 // entries read for one function, over all tries
	maxRounds     = 64      // of looking for all constants of a function again
	maxCandidates = 64      // addresses that a register may hold
	maxTries      = 4       // for a jump, as more of the function becomes known
)

// resolve looks for the tables of the indirect jumps that have none yet and
// queues their targets.
func (a *Analyzer) resolve() {
	rest := a.jumps[:0]
	for _, j := range a.jumps {
		if j.tries < maxTries {
			j.tries++
			if t, ok := a.tableOf(&j); ok {
				a.addTable(t)
				continue
			}
		}
		rest = append(rest, j)
	}
	a.jumps = rest
}

func (a *Analyzer) addTable(t table) {
	a.tables = append(a.tables, t)
	if pos, ok := a.pos(uint64(t.Start)); ok { // a table among the code
		for k := range t.Entries * t.Entry {
			if pos+k >= len(a.code) || a.marks[pos+k] != 0 {
				break
			}
			a.marks[pos+k] = data
		}
	}
	for _, to := range t.targets {
		a.lead(to)
	}
}

// lookup is an indexed load of a jump's target, or of what it is computed from.
type lookup struct {
	at    int // position of the load
	load  disasm.Effect
	base  []int64 // what may be added to the entries, none for pointers
	scale int64
	size  int // bytes of the entry that count
	sign  bool
}

// tableOf returns the table of a jump.
//
// The forms, of GCC, Clang, Go, Rust and MSVC, are
//
//	target = pointer[index]                  x86-64, 8 bytes
//	target = base + entry[index] * scale     4 bytes relative to the table (x86-64),
//	                                         to the image (MSVC), or 1, 2, 4 bytes relative to a
//	                                         label, in instructions (AArch64)
//
// where index may come from a table of bytes itself.
func (a *Analyzer) tableOf(j *jump) (table, bool) {
	l, ok := a.lookupOf(j)
	if !ok {
		return table{}, false
	}
	// A table of pointers at no known address, such as one of functions that
	// an argument points to, is none of this function.
	starts := a.starts(l)
	j.tab = len(starts) > 0 || l.size < 8
	limit, exact := a.bound(l)
	for _, start := range starts {
		if t, ok := a.readTable(j, start, l, limit, exact); ok {
			return t, true
		}
	}
	return table{}, false
}

// lookupOf recognizes the load before an indirect jump.
func (a *Analyzer) lookupOf(j *jump) (lookup, bool) {
	e, at := a.effect(j.pos), j.pos
	for e.Op == disasm.Copy {
		if at, e = a.definition(e.A, at); at < 0 {
			return lookup{}, false
		}
	}
	switch e.Op {
	case disasm.Load:
		if e.Size != 8 || e.B == disasm.NoReg || e.Scale != 8 {
			return lookup{}, false
		}
		return lookup{at: at, load: e, scale: 1, size: 8}, true
	case disasm.Add:
		sides := [2][2]disasm.Reg{{e.A, e.B}, {e.B, e.A}}
		if e.Scale != 1 || e.Size != 8 {
			sides[1] = sides[0]
		}
		for _, s := range sides {
			loadAt, load := a.definition(s[1], at)
			for loadAt >= 0 && load.Op == disasm.Copy { // also an extension
				loadAt, load = a.definition(load.A, loadAt)
			}
			if loadAt < 0 || load.Op != disasm.Load || load.Size > 4 || load.A == disasm.NoReg && load.B == disasm.NoReg {
				continue
			}
			l := lookup{at: loadAt, load: load, base: a.constants(s[0], at), scale: int64(e.Scale), size: int(load.Size), sign: load.Signed}
			if int(e.Size) <= l.size {
				l.size, l.sign = int(e.Size), e.Signed
			}
			if len(l.base) > 0 {
				return l, true
			}
			j.tab = true
		}
	}
	return lookup{}, false
}

// starts returns where the table of a lookup may start.
func (a *Analyzer) starts(l lookup) []int64 {
	e := l.load
	if e.A == disasm.NoReg {
		// The displacement of the instruction is an address.
		return []int64{e.Imm - int64(a.Code.Base())}
	}
	starts := a.constants(e.A, l.at)
	if e.B != disasm.NoReg && e.Scale == 1 {
		starts = append(slices.Clip(starts), a.constants(e.B, l.at)...)
	}
	starts = slices.Clone(starts)
	for k := range starts {
		starts[k] += e.Imm
	}
	return starts
}

// previous returns the instruction before the one at pos, if that goes on with
// it, or -1.
func (a *Analyzer) previous(pos int) int {
	prev := a.before(pos)
	if prev < 0 || a.marks[prev]&filler != 0 || prev+int(a.marks[prev]&lengthMask) != pos {
		return -1
	}
	if in := a.again(prev); in.Kind.Ends() {
		return -1
	}
	return prev
}

// definition looks back from pos for the instruction that sets a register. It
// returns -1 if none is found.
func (a *Analyzer) definition(r disasm.Reg, pos int) (int, disasm.Effect) {
	return a.definitionIn(maxSteps, r, pos)
}

func (a *Analyzer) definitionIn(steps int, r disasm.Reg, pos int) (int, disasm.Effect) {
	if r == disasm.NoReg {
		return -1, disasm.Effect{}
	}
	for range steps {
		if pos = a.previous(pos); pos < 0 {
			break
		}
		e := a.effect(pos)
		if e.Dst == r {
			return pos, e
		}
		if e.Op == disasm.Clobber && !a.preserved(r) {
			break
		}
	}
	return -1, disasm.Effect{}
}

// slot returns the address of the pointer that an indirect call or jump
// through a register goes through, if the instructions before it load it:
//
//	mov rax, [rip+slot]; call rax
//	adrp x16, page; ldr x17, [x16, offset]; add x16, x16, offset; br x17
func (a *Analyzer) slot(pos int) (uint32, bool) {
	const near = 8 // instructions
	at, load := a.definitionIn(near, a.effect(pos).A, pos)
	if at < 0 || load.Op != disasm.Load || load.Size != 8 || load.B != disasm.NoReg {
		return 0, false
	}
	address := load.Imm
	if load.A != disasm.NoReg {
		from, page := a.definitionIn(near, load.A, at)
		if from < 0 || page.Op != disasm.Const {
			return 0, false
		}
		address += page.Imm
	}
	return uint32(address), address >= 0 && address <= 0xffffffff
}

// preserved says whether a register keeps its value over calls, by the
// conventions that all systems have in common.
func (a *Analyzer) preserved(r disasm.Reg) bool {
	if a.arch == disasm.ARM64 {
		return r >= 19 && r <= 29
	}
	return r == 3 || r == 5 || r >= 12 // rbx, rbp, r12 to r15
}

// constant is an address that an instruction sets a register to.
type constant struct {
	pos   int
	value int64
}

// constants returns the addresses that a register may hold before pos: the one
// that the instructions before set, or else those that are set anywhere in the
// function, since compilers move them out of loops. The nearest one before pos
// comes first.
func (a *Analyzer) constants(r disasm.Reg, pos int) []int64 {
	var add int64
	for range maxSteps {
		at, e := a.definition(r, pos)
		if at < 0 {
			break
		}
		switch e.Op {
		case disasm.Const:
			return []int64{e.Imm + add}
		case disasm.Immediate:
			return []int64{e.Imm - int64(a.Code.Base()) + add}
		case disasm.Copy:
			r = e.A
		case disasm.AddImm:
			r, add = e.A, add+e.Imm
		default:
			return nil
		}
		pos = at
	}
	if r == disasm.NoReg {
		return nil
	}
	if a.consts == nil {
		a.consts = a.allConstants()
	}
	list := a.consts[r]
	behind, _ := slices.BinarySearchFunc(list, pos, func(c constant, pos int) int { return cmp.Compare(c.pos, pos) })
	var values []int64
	candidate := func(c constant) {
		if len(values) < maxCandidates && !slices.Contains(values, c.value) {
			values = append(values, c.value)
		}
	}
	for k := behind - 1; k >= 0; k-- {
		candidate(list[k])
	}
	for _, c := range list[behind:] {
		candidate(c)
	}
	return values
}

// allConstants collects the addresses that registers are set to in the
// function, in the order of the code. An address that takes two instructions
// (adrp, add) counts as a whole.
func (a *Analyzer) allConstants() map[disasm.Reg][]constant {
	m := make(map[disasm.Reg][]constant)
	for pos := 0; pos < len(a.code); pos++ {
		if a.marks[pos]&lengthMask == 0 {
			continue
		}
		e := a.effect(pos)
		v := e.Imm
		switch e.Op {
		case disasm.Const:
		case disasm.Immediate:
			v -= int64(a.Code.Base())
		case disasm.AddImm:
			at, page := a.definition(e.A, pos)
			if at < 0 || page.Op != disasm.Const {
				continue
			}
			v += page.Imm
		default:
			continue
		}
		if v >= 0 && v <= 0xffffffff {
			m[e.Dst] = append(m[e.Dst], constant{pos, v})
		}
	}
	return m
}

// bound returns how many entries the table of a lookup has by the comparison of
// its index before it. It is not exact if there is none, and then only an upper
// bound.
func (a *Analyzer) bound(l lookup) (n int, exact bool) {
	index := a.indexOf(l)
	n = maxEntries
	above, branched := int64(0), false // of the branch behind a comparison
	memory := false                    // the index was loaded; its place may be compared
	pos := l.at
	for range maxSteps {
		if pos = a.previous(pos); pos < 0 || index == disasm.NoReg {
			break
		}
		e := a.effect(pos)
		switch {
		case e.Op == disasm.Above:
			above, branched = e.Imm, true
			continue
		case e.Op == disasm.Compare && branched && (e.A == index || memory && e.A == disasm.NoReg):
			if size := e.Imm + above; size > 0 && size <= maxEntries {
				return min(n, int(size)), true
			}
		case e.Op == disasm.Clobber && !a.preserved(index) && !memory:
			return n, false
		case e.Dst != index || memory:
		case e.Op == disasm.Copy:
			// The original may be compared as well as the copy.
			index = e.A
			if e.Size == 1 && !e.Signed {
				n = 1 << 8
			}
		case e.Op == disasm.Mask && e.Imm >= 0 && e.Imm < int64(n):
			return int(e.Imm) + 1, true
		case e.Op == disasm.Load && e.Size == 1 && e.B != disasm.NoReg:
			return a.boundOfBytes(pos, e)
		case e.Op == disasm.Load && e.B == disasm.NoReg:
			memory = true
		case e.Op == disasm.Unknown && e.A == disasm.NoReg && e.B != disasm.NoReg:
			index = e.B // scaled
		default:
			return n, false
		}
		branched = false
	}
	return n, false
}

// indexOf returns the register of a lookup's index. Where nothing is scaled,
// either register may be the base.
func (a *Analyzer) indexOf(l lookup) disasm.Reg {
	if l.load.Scale == 1 {
		if at, e := a.definition(l.load.B, l.at); at >= 0 && (e.Op == disasm.Const || e.Op == disasm.Immediate) {
			return l.load.A
		}
	}
	return l.load.B
}

// boundOfBytes returns the bound of a table whose index comes from a table of
// bytes.
func (a *Analyzer) boundOfBytes(pos int, load disasm.Effect) (int, bool) {
	l := lookup{at: pos, load: load, size: 1}
	n, exact := a.bound(l)
	if !exact {
		return 256, false
	}
	for _, start := range a.starts(l) {
		if start < 0 || start > 0xffffffff {
			continue
		}
		if b := a.Code.Bytes(uint32(start), n); len(b) == n {
			return int(slices.Max(b)) + 1, true
		}
	}
	return 256, false
}

// readTable reads a table. Entries that lead out of the function are part of it
// where its size is known, and in tables of pointers, if entries behind them
// lead into it; else they end the table. A table of pointers that all lead
// elsewhere is one of functions.
func (a *Analyzer) readTable(j *jump, start int64, l lookup, limit int, exact bool) (table, bool) {
	if start < 0 || start > 0xffffffff {
		return table{}, false
	}
	step := max(int(l.load.Scale), int(l.load.Size))
	if !exact {
		limit = min(limit, a.room(start, step))
	}
	t := table{Table: Table{Jump: a.rva(j.pos), Start: uint32(start), Entry: step}, pos: j.pos}
	seen := make(map[int]bool)
	outside := 0 // number of entries since the last one that leads into the function
	for k := 0; k < limit && outside < maxOutside && a.read < maxRead; k++ {
		a.read++
		to, out, ok := a.entry(start+int64(k*step), start, l)
		if !ok && (!out || !exact && l.size != 8) {
			break // the table ended before
		}
		if ok && to == nowhere {
			continue
		}
		if !ok {
			outside++
			continue
		}
		if !seen[to] {
			seen[to] = true
			t.targets = append(t.targets, to)
		}
		t.outside = t.outside || outside > 0
		t.Entries, outside = k+1, 0
	}
	if exact && outside > 0 {
		t.outside, t.Entries = true, t.Entries+outside
	}
	if outside > 0 && len(t.targets) == 0 && l.size == 8 {
		j.tab = false
	}
	return t, len(t.targets) > 0
}

// room bounds the entries of a table without a known size by the next address
// that the function uses.
func (a *Analyzer) room(start int64, step int) int {
	next := start + int64(maxEntries*step)
	if a.consts == nil {
		a.consts = a.allConstants()
	}
	for _, list := range a.consts {
		for _, c := range list {
			if c.value > start && c.value < next {
				next = c.value
			}
		}
	}
	for _, t := range a.tables {
		if v := int64(t.Start); v > start && v < next {
			next = v
		}
	}
	return int((next - start) / int64(step))
}

// nowhere is the position of what cannot be reached: LLVM lets entries for
// values that do not occur lead to the end of the function.
const nowhere = -1

// entry reads an entry and returns the position that it leads to, or that it
// leads out of the function.
func (a *Analyzer) entry(at, start int64, l lookup) (pos int, outside, ok bool) {
	if at < 0 || at > 0xffffffff {
		return 0, false, false
	}
	var target int64
	if l.size == 8 {
		p, ok := a.Code.Pointer(uint32(at))
		if !ok {
			return 0, false, false
		}
		target = int64(p)
	} else {
		b := a.Code.Bytes(uint32(at), l.size)
		if len(b) < l.size {
			return 0, false, false
		}
		base := l.base[0]
		if slices.Contains(l.base, start) {
			base = start // relative to the table itself
		}
		target = base + l.scale*extend(b, l.sign)
		if l.size == 4 && l.scale == 1 {
			// The sign may be extended by an instruction of its own; for
			// addresses below 4 GB that does not matter.
			target = int64(uint32(target))
		}
	}
	if target < 0 || target > 0xffffffff || target%int64(a.arch.Align()) != 0 {
		return 0, false, false
	}
	if l.size != 8 && slices.ContainsFunc(a.parts, func(p part) bool { return target == int64(p.rva)+int64(p.end-p.start) }) {
		return nowhere, false, true
	}
	if pos, ok := a.pos(uint64(target)); ok {
		if a.marks[pos]&(inside|data) != 0 {
			return 0, false, false
		}
		return pos, false, true
	}
	return 0, true, false
}

// extend reads a little endian number of 1, 2 or 4 bytes.
func extend(b []byte, sign bool) int64 {
	switch {
	case len(b) == 1 && sign:
		return int64(int8(b[0]))
	case len(b) == 1:
		return int64(b[0])
	case len(b) == 2 && sign:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case len(b) == 2:
		return int64(binary.LittleEndian.Uint16(b))
	case sign:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint32(b))
}
