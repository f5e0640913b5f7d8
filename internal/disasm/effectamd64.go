package disasm

import "golang.org/x/arch/x86/x86asm"

func effectAMD64(code []byte, pc uint64) Effect {
	none := Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}
	// "notrack" before an indirect jump, and other segment prefixes, do not
	// matter, but x86asm does not take them everywhere.
	for len(code) > 0 && (code[0] == 0x3e || code[0] == 0xf2) {
		code, pc = code[1:], pc+1
	}
	in, err := x86asm.Decode(code, 64)
	if err != nil {
		return none
	}
	e := none
	e.Dst = regOf(in.Args[0])
	e.Op = Unknown
	switch in.Op {
	case x86asm.CALL, x86asm.LCALL, x86asm.SYSCALL:
		return Effect{Op: Clobber, Dst: NoReg, A: regOf(in.Args[0]), B: NoReg}
	case x86asm.JMP:
		// The operand, as if it were loaded.
		e.Dst = NoReg
		if r := regOf(in.Args[0]); r != NoReg {
			e.Op, e.A = Copy, r
			return e
		}
		return e.memory(in, 0, pc)
	case x86asm.CMP:
		e.Op, e.Dst = Nothing, NoReg
		if imm, ok := in.Args[1].(x86asm.Imm); ok {
			e.Op, e.A, e.Imm = Compare, regOf(in.Args[0]), int64(imm)
		}
		return e
	case x86asm.JA, x86asm.JBE:
		none.Op, none.Imm = Above, 1
		return none
	case x86asm.JAE, x86asm.JB:
		none.Op = Above
		return none
	case x86asm.PUSH, x86asm.TEST, x86asm.BT, x86asm.RET:
		return none
	}
	if e.Dst == NoReg {
		e.Op = Nothing
		return e
	}
	switch in.Op {
	case x86asm.LEA:
		e = e.memory(in, 1, pc)
		switch {
		case e.Op != Load:
		case e.A == NoReg && e.B == NoReg:
			e.Op = Const
		case e.B != NoReg && e.A != NoReg && e.Imm == 0:
			e.Op, e.Size = Add, 8
		case e.B == NoReg:
			e.Op = AddImm
		default:
			e.Op = Unknown
		}
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSXD, x86asm.MOVSX:
		e.Signed = in.Op == x86asm.MOVSX || in.Op == x86asm.MOVSXD
		switch arg := in.Args[1].(type) {
		case x86asm.Reg:
			if e.A = regOf(arg); e.A != NoReg {
				e.Op = Copy
				if in.Op == x86asm.MOVZX {
					e.Size = 2
					if arg <= x86asm.R15B {
						e.Size = 1
					}
				}
			}
		case x86asm.Imm:
			e.Op, e.Imm = Immediate, int64(arg)
		case x86asm.Mem:
			e = e.memory(in, 1, pc)
		}
	case x86asm.ADD:
		e.A, e.B, e.Scale, e.Size = e.Dst, regOf(in.Args[1]), 1, 8
		if imm, ok := in.Args[1].(x86asm.Imm); ok {
			e.Op, e.Imm = AddImm, int64(imm)
		} else if e.B != NoReg {
			e.Op = Add
		}
	case x86asm.AND:
		if imm, ok := in.Args[1].(x86asm.Imm); ok {
			e.Op, e.A, e.Imm = Mask, e.Dst, int64(imm)
		}
	}
	return e
}

// memory makes e the load of a memory operand.
func (e Effect) memory(in x86asm.Inst, arg int, pc uint64) Effect {
	m, ok := in.Args[arg].(x86asm.Mem)
	if !ok || m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		e.Op = Unknown
		return e
	}
	e.Op, e.A, e.B, e.Scale, e.Size, e.Imm = Load, regOf(m.Base), regOf(m.Index), max(m.Scale, 1), uint8(in.MemBytes), m.Disp
	if m.Base == x86asm.RIP || m.Base == x86asm.EIP {
		e.A, e.Imm = NoReg, int64(pc)+int64(in.Len)+m.Disp
	}
	return e
}

// regOf returns the register that arg is or is a part of, for the general ones.
func regOf(arg x86asm.Arg) Reg {
	r, ok := arg.(x86asm.Reg)
	switch {
	case !ok:
	case x86asm.RAX <= r && r <= x86asm.R15:
		return Reg(r - x86asm.RAX)
	case x86asm.EAX <= r && r <= x86asm.R15L:
		return Reg(r - x86asm.EAX)
	case x86asm.AX <= r && r <= x86asm.R15W:
		return Reg(r - x86asm.AX)
	case x86asm.AL <= r && r <= x86asm.BL:
		return Reg(r - x86asm.AL)
	case x86asm.AH <= r && r <= x86asm.BH:
		return Reg(r - x86asm.AH)
	case x86asm.SPB <= r && r <= x86asm.R15B:
		return Reg(r-x86asm.SPB) + 4
	}
	return NoReg
}
