package disasm

// Reg is a general register whatever its width: the number of x86-64 (0 is
// RAX, 4 RSP) or AArch64. NoReg is none, also AArch64's zero register.
type Reg uint8

// NoReg is no register.
const NoReg Reg = 0xff

// Op is an operation as far as jumps through tables need it.
type Op uint8

// Operations.
const (
	Unknown   Op = iota // sets Dst to something
	Nothing             // sets no register
	Const               // Dst = Imm, an address relative to pc
	Immediate           // Dst = Imm, which the code states as it is
	Copy                // Dst = A, perhaps extended or cut
	Add                 // Dst = A + B*Scale, B extended from Size bytes
	AddImm              // Dst = A + Imm
	Load                // Dst = Size bytes at A + B*Scale + Imm
	Compare             // A, or memory if that is NoReg, with Imm
	Above               // a branch that tells values below the compared one plus Imm from others
	Mask                // Dst = A & Imm
	Clobber             // sets all registers that a called function may set
)

// Effect is what an instruction does to registers.
type Effect struct {
	Op     Op
	Dst    Reg
	A, B   Reg
	Scale  uint8 // 1, 2, 4 or 8
	Size   uint8 // bytes of a Load, of B in an Add, or of A in a Copy that extends it; 0 if unknown
	Signed bool  // the loaded value, or B in an Add, is extended with its sign
	Imm    int64
}

// EffectOf decodes the instruction at the start of code once more, for what it
// does to registers. What is no form that compilers use around jumps through
// tables is Unknown, with the register that it sets, or Nothing.
func (a Arch) EffectOf(code []byte, pc uint64) Effect {
	if a == ARM64 {
		return effectARM64(code, pc)
	}
	return effectAMD64(code, pc)
}
