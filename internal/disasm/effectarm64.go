package disasm

import "encoding/binary"

// effectARM64 knows the forms that compilers use for jumps through tables:
// adr, adrp, add, loads with register offset, cmp, and.
func effectARM64(code []byte, pc uint64) Effect {
	none := Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}
	if len(code) < 4 {
		return none
	}
	w := binary.LittleEndian.Uint32(code)
	d, n, m := armReg(w), armReg(w>>5), armReg(w>>16)
	e := Effect{Op: Unknown, Dst: d, A: n, B: NoReg, Scale: 1, Size: 8}
	switch {
	case w>>24&0x9f == 0x10, w>>24&0x9f == 0x90: // adr, adrp
		imm := int64(int32(w<<8)>>13)<<2 | int64(w>>29&3)
		e.Op, e.A, e.Imm = Const, NoReg, int64(pc)+imm
		if w>>31 == 1 {
			e.Imm = int64(pc&^0xfff) + imm<<12
		}
	case w>>23&0xff == 0x22: // add immediate
		e.Op, e.Imm = AddImm, int64(w>>10&0xfff)<<(12*(w>>22&1))
	case w&0x7f80001f == 0x7100001f: // cmp immediate
		e.Op, e.Dst, e.Imm = Compare, NoReg, int64(w>>10&0xfff)
	case w>>21&0x3ff == 0x59: // add extended register
		option := w >> 13 & 7
		e.Op, e.B, e.Scale, e.Size, e.Signed = Add, m, 1<<(w>>10&7), 1<<(option&3), option&4 != 0
	case w>>24&0x7f == 0x0b && w>>21&7 == 0: // add shifted register, lsl
		if w>>10&0x3f <= 4 {
			e.Op, e.B, e.Scale = Add, m, 1<<(w>>10&0x3f)
		}
	case w>>24&0x7f == 0x2a && w>>10&0x3f == 0 && n == NoReg: // mov register
		e.Op, e.A = Copy, m
	case w>>23&0xff == 0x24: // and immediate
		if mask, ok := lowMask(w); ok {
			e.Op, e.Imm = Mask, mask
		}
	case w>>24&0x3f == 0x38 && w>>21&1 == 1 && w>>10&3 == 2: // load, store with register offset
		e = armLoad(w, e)
		e.B = m
		if w>>12&1 == 1 {
			e.Scale = e.Size
		}
	case w>>24&0x3f == 0x39: // load, store with unsigned offset
		e = armLoad(w, e)
		e.Imm = int64(w>>10&0xfff) * int64(e.Size)
	case w>>25&7 == 7: // vector operations
		return none
	case w>>25&5 == 4 && (w>>26&1 == 1 || w>>22&1 == 0): // vector loads and stores; other stores
		return none
	case w>>26&7 == 5: // branches and system
		switch {
		case w>>26 == 0b100101:
			return Effect{Op: Clobber, Dst: NoReg, A: NoReg, B: NoReg}
		case w>>25 == 0b1101011 && w>>21&7 == 1:
			return Effect{Op: Clobber, Dst: NoReg, A: n, B: NoReg}
		case w>>25 == 0b1101011:
			e.Op, e.Dst, e.A = Copy, NoReg, n
			return e
		case w>>24 == 0x54 && (w&0xf == 8 || w&0xf == 9): // b.hi, b.ls
			none.Op, none.Imm = Above, 1
		case w>>24 == 0x54 && (w&0xf == 2 || w&0xf == 3): // b.hs, b.lo
			none.Op = Above
		}
		return none
	}
	return e
}

// armLoad sets size and sign of a load, or makes it a store, which sets no
// register.
func armLoad(w uint32, e Effect) Effect {
	e.Op, e.Size = Load, 1<<(w>>30)
	opc := w >> 22 & 3
	e.Signed = opc >= 2
	if opc == 0 || w>>30 == 3 && opc == 2 { // store, prefetch
		e.Op, e.Dst = Nothing, NoReg
	}
	return e
}

// lowMask decodes the immediate of a logical instruction if it is a run of low
// bits.
func lowMask(w uint32) (int64, bool) {
	n, immr, imms := w>>22&1, w>>16&0x3f, w>>10&0x3f
	if immr != 0 || n == 0 && imms >= 0x20 || imms >= 0x3f {
		return 0, false
	}
	return int64(1)<<(imms+1) - 1, true
}

func armReg(bits uint32) Reg {
	if r := bits & 0x1f; r != 31 {
		return Reg(r)
	}
	return NoReg
}
