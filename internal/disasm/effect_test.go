package disasm

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

const (
	rax = iota
	rcx
	rdx
	_
	_
	_
	_
	rdi
	r15 = 15
)

func TestEffectAMD64(t *testing.T) {
	for _, x := range []struct {
		text, code string
		want       Effect
	}{
		{"lea r15, [rip+0xd38]", "4c8d3d380d0000", Effect{Op: Const, Dst: r15, A: NoReg, B: NoReg, Scale: 1, Imm: 0x1d3f}},
		{"movsxd rax, dword [r15+rax*4]", "49630487", Effect{Op: Load, Dst: rax, A: r15, B: rax, Scale: 4, Size: 4, Signed: true}},
		{"add rax, r15", "4c01f8", Effect{Op: Add, Dst: rax, A: rax, B: r15, Scale: 1, Size: 8}},
		{"jmp rax", "ffe0", Effect{Op: Copy, Dst: NoReg, A: rax, B: NoReg}},
		{"notrack jmp rax", "3effe0", Effect{Op: Copy, Dst: NoReg, A: rax, B: NoReg}},
		{"jmp [rax*8+0x402000]", "ff24c500204000", Effect{Op: Load, Dst: NoReg, A: NoReg, B: rax, Scale: 8, Size: 8, Imm: 0x402000}},
		{"notrack jmp [rax*8+0x402000]", "3eff24c500204000", Effect{Op: Load, Dst: NoReg, A: NoReg, B: rax, Scale: 8, Size: 8, Imm: 0x402000}},
		{"cmp eax, 8", "83f808", Effect{Op: Compare, Dst: NoReg, A: rax, B: NoReg, Imm: 8}},
		{"cmp al, 8", "3c08", Effect{Op: Compare, Dst: NoReg, A: rax, B: NoReg, Imm: 8}},
		{"mov eax, eax", "89c0", Effect{Op: Copy, Dst: rax, A: rax, B: NoReg}},
		{"movzx eax, dl", "0fb6c2", Effect{Op: Copy, Dst: rax, A: rdx, B: NoReg, Size: 1}},
		{"movzx eax, sil", "400fb6c6", Effect{Op: Copy, Dst: rax, A: 6, B: NoReg, Size: 1}},
		{"lea rdx, [rax*4]", "488d148500000000", Effect{Op: Unknown, Dst: rdx, A: NoReg, B: rax, Scale: 4}},
		{"movzx eax, byte [rdx+rax+0x1234]", "0fb6840234120000", Effect{Op: Load, Dst: rax, A: rdx, B: rax, Scale: 1, Size: 1, Imm: 0x1234}},
		{"mov ecx, [rdx+rax*4+0x1234]", "8b8c8234120000", Effect{Op: Load, Dst: rcx, A: rdx, B: rax, Scale: 4, Size: 4, Imm: 0x1234}},
		{"and eax, 7", "83e007", Effect{Op: Mask, Dst: rax, A: rax, B: NoReg, Imm: 7}},
		{"lea eax, [rdi-5]", "8d47fb", Effect{Op: AddImm, Dst: rax, A: rdi, B: NoReg, Scale: 1, Imm: -5}},
		{"sub eax, 5", "83e805", Effect{Op: Unknown, Dst: rax, A: NoReg, B: NoReg}},
		{"mov [rax], rcx", "488908", Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}},
		{"push rax", "50", Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}},
		{"cmp dword [rbp-20], 8", "837dec08", Effect{Op: Compare, Dst: NoReg, A: NoReg, B: NoReg, Imm: 8}},
		{"ja", "7710", Effect{Op: Above, Dst: NoReg, A: NoReg, B: NoReg, Imm: 1}},
		{"jae near", "0f8300000000", Effect{Op: Above, Dst: NoReg, A: NoReg, B: NoReg}},
		{"jne", "7510", Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}},
		{"mov edx, 0x402000", "ba00204000", Effect{Op: Immediate, Dst: rdx, A: NoReg, B: NoReg, Imm: 0x402000}},
		{"call rax", "ffd0", Effect{Op: Clobber, Dst: NoReg, A: rax, B: NoReg}},
		{"call", "e800000000", Effect{Op: Clobber, Dst: NoReg, A: NoReg, B: NoReg}},
		{"mov rax, fs:[0]", "64488b042500000000", Effect{Op: Unknown, Dst: rax, A: NoReg, B: NoReg}},
	} {
		code, err := hex.DecodeString(x.code)
		if err != nil {
			t.Fatal(err)
		}
		if got := AMD64.EffectOf(code, 0x1000); got != x.want {
			t.Errorf("%s: got %+v, want %+v", x.text, got, x.want)
		}
	}
}

func TestEffectARM64(t *testing.T) {
	for _, x := range []struct {
		text string
		word uint32
		want Effect
	}{
		{"adr x2, +8", 0x10000042, Effect{Op: Const, Dst: 2, A: NoReg, B: NoReg, Scale: 1, Size: 8, Imm: 0x1008}},
		{"adrp x1, +1 page", 0xb0000001, Effect{Op: Const, Dst: 1, A: NoReg, B: NoReg, Scale: 1, Size: 8, Imm: 0x2000}},
		{"add x1, x1, #0x10", 0x91004021, Effect{Op: AddImm, Dst: 1, A: 1, B: NoReg, Scale: 1, Size: 8, Imm: 16}},
		{"add x1, x1, #1, lsl 12", 0x91400421, Effect{Op: AddImm, Dst: 1, A: 1, B: NoReg, Scale: 1, Size: 8, Imm: 4096}},
		{"ldrb w1, [x1, w0, uxtw]", 0x38604821, Effect{Op: Load, Dst: 1, A: 1, B: 0, Scale: 1, Size: 1}},
		{"ldrh w1, [x1, w0, uxtw #1]", 0x78605821, Effect{Op: Load, Dst: 1, A: 1, B: 0, Scale: 2, Size: 2}},
		{"ldrsw x10, [x8, x0, lsl #2]", 0xb8a0790a, Effect{Op: Load, Dst: 10, A: 8, B: 0, Scale: 4, Size: 4, Signed: true}},
		{"ldr x3, [x2, x1, lsl #3]", 0xf8617843, Effect{Op: Load, Dst: 3, A: 2, B: 1, Scale: 8, Size: 8}},
		{"add x1, x2, w1, sxtb #2", 0x8b218841, Effect{Op: Add, Dst: 1, A: 2, B: 1, Scale: 4, Size: 1, Signed: true}},
		{"add x9, x9, x10, lsl #2", 0x8b0a0929, Effect{Op: Add, Dst: 9, A: 9, B: 10, Scale: 4, Size: 8}},
		{"cmp w0, #8", 0x7100201f, Effect{Op: Compare, Dst: NoReg, A: 0, B: NoReg, Scale: 1, Size: 8, Imm: 8}},
		{"and w0, w1, #7", 0x12000820, Effect{Op: Mask, Dst: 0, A: 1, B: NoReg, Scale: 1, Size: 8, Imm: 7}},
		{"mov w3, w4", 0x2a0403e3, Effect{Op: Copy, Dst: 3, A: 4, B: NoReg, Scale: 1, Size: 8}},
		{"br x1", 0xd61f0020, Effect{Op: Copy, Dst: NoReg, A: 1, B: NoReg, Scale: 1, Size: 8}},
		{"b.hi", 0x54008008, Effect{Op: Above, Dst: NoReg, A: NoReg, B: NoReg, Imm: 1}},
		{"b.lo", 0x54008003, Effect{Op: Above, Dst: NoReg, A: NoReg, B: NoReg}},
		{"blr x8", 0xd63f0100, Effect{Op: Clobber, Dst: NoReg, A: 8, B: NoReg}},
		{"bl", 0x94000001, Effect{Op: Clobber, Dst: NoReg, A: NoReg, B: NoReg}},
		{"str x0, [sp]", 0xf90003e0, Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg, Scale: 1, Size: 8}},
		{"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}},
		{"fadd d0, d1, d2", 0x1e622820, Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}},
		{"ldr q0, [x1]", 0x3dc00020, Effect{Op: Nothing, Dst: NoReg, A: NoReg, B: NoReg}},
		{"sub x0, x1, #4", 0xd1001020, Effect{Op: Unknown, Dst: 0, A: 1, B: NoReg, Scale: 1, Size: 8}},
	} {
		got := ARM64.EffectOf(binary.LittleEndian.AppendUint32(nil, x.word), 0x1000)
		if got.Op == Nothing { // the rest does not matter
			got, x.want = Effect{Op: got.Op, Dst: got.Dst}, Effect{Op: x.want.Op, Dst: x.want.Dst}
		}
		if got != x.want {
			t.Errorf("%s: got %+v, want %+v", x.text, got, x.want)
		}
	}
}
