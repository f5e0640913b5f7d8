package disasm

import "encoding/binary"

// form is the shape of what follows an opcode.
type form uint8

const (
	hasModRM form = 1 << iota
	imm8
	imm16
	immZ    // 4 bytes, or 2 with operand size prefix and without REX.W
	immV    // 4 bytes, or 2 with operand size prefix, or 8 with REX.W
	rel     // 4 bytes relative to the end, whatever the prefixes
	special // decided in code
	invalid
)

// Opcode maps.
const (
	mapOne    = iota // one byte
	map0F            // 0F xx
	map0F38          // 0F 38 xx
	map0F3A          // 0F 3A xx
	mapLegacy        // EVEX map 4: APX forms of the first two maps
	map5             // AVX512-FP16
	map6
	map7 // with an immediate of 4 bytes
	map8 // XOP with an immediate byte
	map9 // XOP
	mapA // XOP with an immediate of 4 bytes
)

// amd64 is a decoder in the middle of an instruction.
type amd64 struct {
	code []byte
	pos  int

	opSize bool // prefix 66
	rep    byte // F2 or F3, the last one
	addr32 bool // prefix 67
	wide   bool // REX.W or its like
	vector bool // VEX, EVEX or XOP
}

func decodeAMD64(code []byte, pc uint64) (Inst, bool) {
	if len(code) > MaxLen {
		code = code[:MaxLen]
	}
	d := amd64{code: code}
	op, opMap, ok := d.opcode()
	if !ok {
		return Inst{}, false
	}
	if opMap == mapOne && op == 0xa1 && d.vector {
		return d.jumpAbsolute()
	}
	f := d.form(opMap, op)
	if f&invalid != 0 {
		return Inst{}, false
	}
	opEnd := d.pos
	var modRM byte
	disp := -1 // where the displacement of an operand relative to the next instruction is
	if f&hasModRM != 0 {
		if d.pos >= len(code) {
			return Inst{}, false
		}
		modRM = code[d.pos]
		if modRM&0xc7 == 0x05 {
			disp = d.pos + 1
		}
		if !d.skipModRM(opMap, op) {
			return Inst{}, false
		}
	}
	d.pos += d.immediate(f, opMap, op, modRM)
	if d.pos > len(code) {
		return Inst{}, false
	}
	in := Inst{Len: uint8(d.pos)}
	if !d.vector && opMap <= map0F {
		d.classify(&in, opMap, op, modRM, opEnd, disp, pc)
	}
	return in, true
}

// opcode skips prefixes and reads the opcode.
func (d *amd64) opcode() (op byte, opMap int, ok bool) {
	code := d.code
	for ; d.pos < len(code); d.pos++ {
		b := code[d.pos]
		switch b {
		case 0x66:
			d.opSize = true
			continue
		case 0x67:
			d.addr32 = true
			continue
		case 0xf2, 0xf3:
			d.rep = b
			continue
		case 0xf0, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
			continue
		}
		break
	}
	// REX counts only directly before the opcode; of several, the last does.
	for d.pos < len(code) && code[d.pos]&0xf0 == 0x40 {
		d.wide = code[d.pos]&8 != 0
		d.pos++
		if d.pos < len(code) && isLegacyPrefix(code[d.pos]) {
			d.wide = false
			return d.opcode()
		}
	}
	if d.pos >= len(code) {
		return 0, 0, false
	}
	op = code[d.pos]
	d.pos++
	switch op {
	case 0x0f:
		return d.escaped()
	case 0xc4, 0xc5, 0x62, 0xd5:
		return d.vectorPrefix(op)
	case 0x8f:
		// The map numbers of XOP make it no ModRM byte of pop.
		if d.pos < len(code) && code[d.pos]&0x1f >= 8 {
			return d.vectorPrefix(op)
		}
	}
	return op, mapOne, true
}

func isLegacyPrefix(b byte) bool {
	switch b {
	case 0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
		return true
	}
	return false
}

// escaped reads an opcode behind 0F.
func (d *amd64) escaped() (op byte, opMap int, ok bool) {
	opMap = map0F
	for d.pos < len(d.code) {
		op = d.code[d.pos]
		d.pos++
		switch {
		case opMap == map0F && op == 0x38:
			opMap = map0F38
		case opMap == map0F && op == 0x3a:
			opMap = map0F3A
		default:
			return op, opMap, true
		}
	}
	return 0, 0, false
}

// vectorPrefix reads the rest of a VEX, EVEX, XOP or REX2 prefix and the opcode
// behind it.
func (d *amd64) vectorPrefix(first byte) (op byte, opMap int, ok bool) {
	size := 2
	switch first {
	case 0xc5, 0xd5:
		size = 1
	case 0x62:
		size = 3
	}
	if d.pos+size >= len(d.code) {
		return 0, 0, false
	}
	p := d.code[d.pos : d.pos+size]
	d.pos += size
	op = d.code[d.pos]
	d.pos++
	switch first {
	case 0xd5: // REX2
		d.wide = p[0]&8 != 0
		if p[0]&0x80 != 0 {
			return op, map0F, true
		}
		d.vector = op == 0xa1 // jmpabs is the only one that is no form of the legacy opcode
		return op, mapOne, op&0xf0 != 0x70 && op&0xf0 != 0xe0 && op != 0x0f
	case 0xc5:
		opMap = map0F
	case 0xc4:
		opMap = int(p[0] & 0x1f)
		d.wide = p[1]&0x80 != 0
	case 0x8f:
		opMap = int(p[0] & 0x1f)
		d.wide = p[1]&0x80 != 0
	case 0x62:
		opMap = int(p[0] & 7)
		d.opSize = p[1]&3 == 1
		d.wide = p[1]&0x80 != 0
	}
	d.vector = true
	return op, opMap, opMap != mapOne && opMap <= mapA
}

// form returns the shape of an instruction.
func (d *amd64) form(opMap int, op byte) form {
	switch opMap {
	case mapOne:
		return oneByte[op]
	case map0F:
		if d.vector {
			return vectorForm(op)
		}
		if op == 0x78 && (d.opSize || d.rep == 0xf2) { // extrq, insertq
			return hasModRM | imm16
		}
		return twoByte[op]
	case map0F38, map5, map6, map9:
		return hasModRM
	case map0F3A, map8:
		return hasModRM | imm8
	case map7, mapA:
		return hasModRM | rel
	case mapLegacy:
		return legacyForm(op)
	}
	return invalid
}

// vectorForm is the shape of VEX and EVEX instructions of the map 0F.
func vectorForm(op byte) form {
	switch op {
	case 0x77: // vzeroupper, vzeroall
		return 0
	case 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6:
		return hasModRM | imm8
	}
	return hasModRM
}

// legacyForm is the shape of the EVEX map 4.
func legacyForm(op byte) form {
	switch op {
	case 0x24, 0x2c, 0x6b, 0x80, 0x83, 0xc0, 0xc1: // 24, 2C: shld, shrd
		return hasModRM | imm8
	case 0x69, 0x81:
		return hasModRM | immZ
	case 0xf6, 0xf7:
		return hasModRM | special
	}
	return hasModRM
}

// skipModRM skips the ModRM byte, the SIB byte and the displacement.
func (d *amd64) skipModRM(opMap int, op byte) bool {
	modRM := d.code[d.pos]
	d.pos++
	if modRM >= 0xc0 || opMap == map0F && op&0xfc == 0x20 { // moves of control registers have no memory form
		return true
	}
	base := modRM & 7
	if base == 4 {
		if d.pos >= len(d.code) {
			return false
		}
		base = d.code[d.pos] & 7
		d.pos++
	}
	switch {
	case modRM >= 0x80, modRM < 0x40 && base == 5:
		d.pos += 4
	case modRM >= 0x40:
		d.pos++
	}
	return d.pos <= len(d.code)
}

// immediate is the size of what stands behind the operands.
func (d *amd64) immediate(f form, opMap int, op, modRM byte) (n int) {
	if f&imm8 != 0 {
		n++
	}
	if f&imm16 != 0 {
		n += 2
	}
	if f&rel != 0 {
		n += 4
	}
	z := 4
	if d.opSize && !d.wide {
		z = 2
	}
	if f&immZ != 0 {
		n += z
	}
	if f&immV != 0 {
		if d.wide {
			z = 8
		}
		n += z
	}
	if f&special == 0 {
		return n
	}
	switch {
	case op == 0xf6 && modRM&0x30 == 0: // test
		n++
	case op == 0xf7 && modRM&0x30 == 0:
		n += z
	case opMap == mapOne && op&0xfc == 0xa0: // mov to and from an absolute address
		n = 8
		if d.addr32 {
			n = 4
		}
	case op == 0xc7 && modRM == 0xf8: // xbegin
		n = 4
	case op == 0xc7:
		n = z
	}
	return n
}

// jumpAbsolute is APX's jmpabs, behind the opcode.
func (d *amd64) jumpAbsolute() (Inst, bool) {
	if d.pos+8 > len(d.code) {
		return Inst{}, false
	}
	target := binary.LittleEndian.Uint64(d.code[d.pos:])
	return Inst{Len: uint8(d.pos + 8), Kind: Jump, Target: target}, true
}

// classify fills in what an instruction of the first two opcode maps does to
// the flow of control.
func (d *amd64) classify(in *Inst, opMap int, op, modRM byte, opEnd, disp int, pc uint64) {
	next := pc + uint64(in.Len)
	short := func() uint64 { return next + uint64(int8(d.code[in.Len-1])) }
	near := func(at int) uint64 { return next + uint64(int32(binary.LittleEndian.Uint32(d.code[at:]))) }
	if opMap == map0F {
		switch {
		case op&0xf0 == 0x80:
			in.Kind, in.Target = CondJump, near(opEnd)
		case op == 0x0b, op == 0xb9, op == 0xff:
			in.Kind = Trap
		case op == 0x07, op == 0x35: // sysret, sysexit
			in.Kind = Return
		case op == 0x1f:
			in.Padding = true
		}
		return
	}
	switch op {
	case 0x00:
		in.Padding = modRM == 0 // zeros are no code
	case 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0xe0, 0xe1, 0xe2, 0xe3:
		in.Kind, in.Target = CondJump, short()
	case 0xeb:
		in.Kind, in.Target = Jump, short()
	case 0xe9:
		in.Kind, in.Target = Jump, near(opEnd)
	case 0xe8:
		in.Kind, in.Target = Call, near(opEnd)
	case 0x8d: // lea
		if disp >= 0 {
			in.Names, in.Target = true, near(disp)
		}
	case 0x68, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf: // push, mov with an immediate
		if n := int(in.Len); n >= opEnd+4 {
			in.Names, in.Absolute, in.Target = true, true, uint64(binary.LittleEndian.Uint32(d.code[opEnd:]))
			if n == opEnd+8 {
				in.Target = binary.LittleEndian.Uint64(d.code[opEnd:])
			}
		}
	case 0xc7:
		if modRM == 0xf8 { // xbegin goes to its target when the transaction aborts
			in.Kind, in.Target = CondJump, near(opEnd+1)
		} else if n := int(in.Len); n >= opEnd+5 && !(d.opSize && !d.wide) { // mov with an immediate
			in.Names, in.Absolute, in.Target = true, true, uint64(binary.LittleEndian.Uint32(d.code[n-4:]))
		}
	case 0xff:
		switch modRM >> 3 & 7 {
		case 2, 3:
			in.Kind = IndirectCall
		case 4, 5:
			in.Kind = IndirectJump
		default:
			return
		}
		if disp >= 0 {
			in.InMemory, in.Target = true, near(disp)
		}
	case 0xc2, 0xc3, 0xca, 0xcb, 0xcf:
		in.Kind = Return
	case 0xcc:
		in.Kind, in.Padding = Trap, true
	case 0xcd:
		if d.code[in.Len-1] == 0x29 { // Windows' fast fail
			in.Kind = Trap
		}
	case 0xf4:
		in.Kind = Trap
	case 0x90:
		in.Padding = d.rep == 0 // else pause
	}
}
