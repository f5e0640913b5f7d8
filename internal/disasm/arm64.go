package disasm

import "encoding/binary"

func decodeARM64(code []byte, pc uint64) (Inst, bool) {
	if len(code) < 4 {
		return Inst{}, false
	}
	w := binary.LittleEndian.Uint32(code)
	in := Inst{Len: 4}
	// branch sets a target that is counted in instructions, in n bits from
	// bit lsb on.
	branch := func(k Kind, lsb, n uint) {
		offset := int64(w) << (64 - lsb - n) >> (64 - n)
		in.Kind, in.Target = k, pc+uint64(offset*4)
	}
	switch {
	case w>>26 == 0b000101: // b
		branch(Jump, 0, 26)
	case w>>26 == 0b100101: // bl
		branch(Call, 0, 26)
	case w>>24 == 0x54: // b.cond, bc.cond
		branch(CondJump, 5, 19)
		if w&0xe == 0xe { // always
			in.Kind = Jump
		}
	case w>>25&0x3f == 0b011010: // cbz, cbnz
		branch(CondJump, 5, 19)
	case w>>25&0x3f == 0b011011: // tbz, tbnz
		branch(CondJump, 5, 14)
	case w>>25&0x3f == 0b111010: // compare and branch, FEAT_CMPBR
		branch(CondJump, 5, 9)
	case w>>25 == 0b1101011:
		in.Kind = branchRegister(w)
	case w&0xffc0001f == 0x5500001f: // retaasppc, retabsppc
		in.Kind = Return
	case w&0xffe0001f == 0xd4200000, // brk
		w&0xffe0001f == 0xd4400000: // hlt
		in.Kind = Trap
	case w>>16 == 0: // udf
		in.Kind, in.Padding = Trap, true
	case w == 0xd503201f: // nop
		in.Padding = true
	}
	return in, true
}

// branchRegister classifies the unconditional branches to a register, with and
// without pointer authentication.
func branchRegister(w uint32) Kind {
	if w>>16&0x1f != 0x1f {
		return Other
	}
	switch w >> 21 & 0xf { // opc; bit 3 is set in the forms with two registers
	case 0, 8:
		return IndirectJump
	case 1, 9:
		return IndirectCall
	case 2, 4: // ret, eret
		return Return
	}
	return Other
}
