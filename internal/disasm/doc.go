// Package disasm tells where machine instructions end and where they lead, for
// x86-64 and AArch64 code.
//
// Flow graphs need the length of every instruction and the kind and target of
// branches; nothing else of an instruction matters for them. Decode therefore
// knows only the shape of an encoding (prefixes, opcode map, ModRM, immediate)
// and is an order of magnitude faster than a full disassembler. It also
// knows the encodings that golang.org/x/arch/x86/x86asm gets wrong or does not
// know: endbr64, vzeroupper, rdpkru, AMX, XOP, APX and so on.
//
// EffectOf looks closer at the few instructions around a jump through a table.
//
// Sources: Intel's Software Developer's Manual, volume 2, chapter 2 and
// appendix A; the Intel AVX-512 and APX architecture specifications; AMD's
// Architecture Programmer's Manual, volume 6 (XOP); the Arm Architecture
// Reference Manual for A-profile, chapter C4.
package disasm

// Arch is an instruction set.
type Arch uint8

// Instruction sets.
const (
	AMD64 Arch = iota + 1
	ARM64
)

// Kind is what an instruction does to the flow of control.
type Kind uint8

// Kinds of instructions.
const (
	Other        Kind = iota // goes on with the next one
	Jump                     // to Target
	CondJump                 // to Target or the next one
	IndirectJump             // through a register or memory
	Call                     // of Target
	IndirectCall             // through a register or memory
	Return                   // to the caller or to what was interrupted
	Trap                     // stops the program: ud2, int3, hlt, brk, udf
)

var kindNames = [...]string{"other", "jump", "conditional jump", "indirect jump", "call", "indirect call", "return", "trap"}

// String returns a name such as "conditional jump".
func (k Kind) String() string { return kindNames[k] }

// Ends says whether the next instruction is not reached from this one.
func (k Kind) Ends() bool {
	return k == Jump || k == IndirectJump || k == Return || k == Trap
}

// Inst is what Decode knows of an instruction.
type Inst struct {
	Len  uint8 // in bytes
	Kind Kind

	// InMemory says that an indirect jump or call goes through the pointer at
	// a constant address, which is Target then.
	InMemory bool

	// Padding says that the instruction is one of those that fill the space
	// before aligned code: nop, int3, zeros.
	Padding bool

	// Names says that an instruction of kind Other makes an address: Target
	// relative to the same zero as pc, or the link-time address Target if
	// Absolute. On AArch64 addresses take two instructions and are not found.
	Names, Absolute bool

	// Target is the address that a direct branch leads to, see also InMemory
	// and Names.
	Target uint64
}

// MaxLen is the length of the longest instruction.
const MaxLen = 15

// Decode decodes the instruction at the start of code, which lies at address
// pc. It returns false if code is too short or no instruction; it cannot tell
// all bytes that are no instructions.
func (a Arch) Decode(code []byte, pc uint64) (Inst, bool) {
	if a == ARM64 {
		return decodeARM64(code, pc)
	}
	return decodeAMD64(code, pc)
}

// Align is the unit of instruction addresses.
func (a Arch) Align() uint32 {
	if a == ARM64 {
		return 4
	}
	return 1
}
