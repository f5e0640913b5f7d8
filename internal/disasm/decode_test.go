package disasm

import (
	"encoding/hex"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// TestAMD64 holds encodings that are rare in programs. The lengths are those
// that the manuals give; objdump agrees where it knows the instruction.
func TestAMD64(t *testing.T) {
	for _, x := range []struct {
		text, code string
		kind       Kind
		target     uint64
	}{
		{"endbr64", "f30f1efa", Other, 0},
		{"rdsspq rax", "f3480f1ec8", Other, 0},
		{"vzeroupper", "c5f877", Other, 0},
		{"vzeroall", "c5fc77", Other, 0},
		{"rdseed eax", "0fc7f8", Other, 0},
		{"rdpkru", "0f01ee", Other, 0},
		{"wrpkru", "0f01ef", Other, 0},
		{"nop", "90", Other, 0},
		{"pause", "f390", Other, 0},
		{"data16 cs nopw 0(rax,rax)", "66662e0f1f840000000000", Other, 0},
		{"movabs rax, imm64", "48b80102030405060708", Other, 0},
		{"mov ax, imm16", "66b80102", Other, 0},
		{"mov al, moffs", "a00102030405060708", Other, 0},
		{"addr32 mov al, moffs", "67a001020304", Other, 0},
		{"test cl, imm8", "f6c101", Other, 0},
		{"not cl", "f6d1", Other, 0},
		{"test ecx, imm32", "f7c101020304", Other, 0},
		{"test cx, imm16", "66f7c10102", Other, 0},
		{"test rcx, imm32 with 66", "6648f7c101020304", Other, 0},
		{"enter", "c8100000", Other, 0},
		{"mov cr3, rax", "0f22d8", Other, 0},
		{"mov cr0 with a memory form of ModRM", "0f2200", Other, 0},
		{"extrq", "660f78c00102", Other, 0},
		{"insertq", "f20f78c10102", Other, 0},
		{"vmread", "0f78c1", Other, 0},
		{"movbe", "0f38f007", Other, 0},
		{"pclmulqdq", "660f3a44c100", Other, 0},
		{"3dnow pfadd", "0f0fc19e", Other, 0},
		{"vpshufd with imm8", "c5f970c11b", Other, 0},
		{"vpblendd map 0F3A", "c4e37102c20f", Other, 0},
		{"andn map 0F38", "c4e278f2c1", Other, 0},
		{"xop vpcmov imm8", "8fe878a2c230", Other, 0},
		{"xop blcfill", "8fe97801c8", Other, 0},
		{"xop bextr imm32", "8fea7810c101020304", Other, 0},
		{"pop [rax]", "8f00", Other, 0},
		{"evex vpternlogd imm8", "62f1750840c1", Other, 0},
		{"evex vpternlogd map 3", "62f3750825c2ff", Other, 0},
		{"evex disp8", "62f17c48104001", Other, 0},
		{"evex fp16 map 5", "62f5740858c2", Other, 0},
		{"apx add with new destination", "62f47c1801c8", Other, 0},
		{"apx add imm8", "62f47c1883c001", Other, 0},
		{"apx imul imm16", "62f47d0869c00102", Other, 0},
		{"apx rex2 mov", "d5188bc1", Other, 0},
		{"apx rex2 imul of map 0F", "d580afc1", Other, 0},
		{"apx jmpabs", "d500a10000400000000000", Jump, 0x400000},
		{"kmovq", "c4e1fb92c8", Other, 0},
		{"tdpbssd", "c4e2735ec2", Other, 0},

		{"jmp short", "ebfe", Jump, 0x1000},
		{"jmp near", "e9fb0f0000", Jump, 0x2000},
		{"jmp near with 66", "66e9fa0f0000", Jump, 0x2000},
		{"jne near", "0f85fa0f0000", CondJump, 0x2000},
		{"jne short, predicted", "3e75fd", CondJump, 0x1000},
		{"jrcxz", "e3fe", CondJump, 0x1000},
		{"addr32 jecxz", "67e3fd", CondJump, 0x1000},
		{"loop", "e2fe", CondJump, 0x1000},
		{"xbegin", "c7f8fa0f0000", CondJump, 0x2000},
		{"call", "e8fb0f0000", Call, 0x2000},
		{"tls call", "666648e8f80f0000", Call, 0x2000},
		{"bnd call", "f2e8fa0f0000", Call, 0x2000},
		{"jmp [rip]", "ff25fa0f0000", IndirectJump, 0x2000},
		{"rex jmp [rip]", "48ff25f90f0000", IndirectJump, 0x2000},
		{"bnd jmp [rip]", "f2ff25f90f0000", IndirectJump, 0x2000},
		{"notrack jmp rax", "3effe0", IndirectJump, 0},
		{"jmp [rax*8+disp32]", "ff24c500204000", IndirectJump, 0},
		{"call [rip]", "ff15fa0f0000", IndirectCall, 0x2000},
		{"call rax", "ffd0", IndirectCall, 0},
		{"call r12", "41ffd4", IndirectCall, 0},
		{"push [rip]", "ff35fa0f0000", Other, 0},
		{"ret", "c3", Return, 0},
		{"rep ret", "f3c3", Return, 0},
		{"ret imm16", "c20800", Return, 0},
		{"iretq", "48cf", Return, 0},
		{"ud2", "0f0b", Trap, 0},
		{"ud1", "670fb94002", Trap, 0},
		{"int3", "cc", Trap, 0},
		{"int 29h", "cd29", Trap, 0},
		{"int 80h", "cd80", Other, 0},
		{"hlt", "f4", Trap, 0},
		{"syscall", "0f05", Other, 0},
	} {
		code, err := hex.DecodeString(x.code)
		if err != nil {
			t.Fatal(err)
		}
		in, ok := AMD64.Decode(append(code, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90), 0x1000)
		if in.Names {
			in.Target = 0 // see TestNames
		}
		if !ok || int(in.Len) != len(code) || in.Kind != x.kind || in.Target != x.target {
			t.Errorf("%s (%s): got %+v, %v; want length %d, %v, target %#x", x.text, x.code, in, ok, len(code), x.kind, x.target)
		}
		for n := range code {
			if in, ok := AMD64.Decode(code[:n], 0x1000); ok && int(in.Len) > n {
				t.Errorf("%s cut to %d bytes: got length %d", x.text, n, in.Len)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, x := range []struct {
		text, code string
		absolute   bool
		target     uint64
	}{
		{"lea rax, [rip]", "488d05f90f0000", false, 0x2000},
		{"mov edi, imm32", "bf00204000", true, 0x402000},
		{"mov r8d, imm32", "41b800204000", true, 0x402000},
		{"movabs rax, imm64", "48b80020400001000000", true, 0x100402000},
		{"push imm32", "6800204000", true, 0x402000},
		{"mov qword [rax], imm32", "48c70000204000", true, 0x402000},
		{"mov dword [rsp+8], imm32", "c744240800204000", true, 0x402000},
	} {
		code, err := hex.DecodeString(x.code)
		if err != nil {
			t.Fatal(err)
		}
		in, ok := AMD64.Decode(code, 0x1000)
		if want := (Inst{Len: uint8(len(code)), Names: true, Absolute: x.absolute, Target: x.target}); !ok || in != want {
			t.Errorf("%s: got %+v, want %+v", x.text, in, want)
		}
	}
	for _, code := range []string{"488d4708", "66b80020", "66c7000020", "b001", "6a01"} {
		b, _ := hex.DecodeString(code)
		if in, ok := AMD64.Decode(b, 0x1000); !ok || in.Names {
			t.Errorf("%s: got %+v, want no address", code, in)
		}
	}
}

func TestAMD64Invalid(t *testing.T) {
	for _, code := range []string{"", "06", "d6", "ea00000000000000", "0f04", "62", "c4", "c5f8", "d5", "8fe8", "0f38", "66666666666666666666666666666690",
		"c4e000c000000000", "48", "f0", "9a0000000000", "d50f", "d57000"} {
		b, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if in, ok := AMD64.Decode(b, 0); ok {
			t.Errorf("%q: got %+v, want nothing", code, in)
		}
	}
}

func TestARM64(t *testing.T) {
	for _, x := range []struct {
		text   string
		word   uint32
		kind   Kind
		target uint64
	}{
		{"b", 0x14000400, Jump, 0x2000},
		{"b back", 0x17fffc00, Jump, 0},
		{"bl", 0x94000400, Call, 0x2000},
		{"b.ne", 0x54008001, CondJump, 0x2000},
		{"b.al", 0x5400800e, Jump, 0x2000},
		{"bc.eq", 0x54008010, CondJump, 0x2000},
		{"cbz x0", 0xb4008000, CondJump, 0x2000},
		{"cbnz w3", 0x35008003, CondJump, 0x2000},
		{"tbz w1, #3", 0x36188001, CondJump, 0x2000},
		{"tbnz x1, #63 back", 0xb7ffffe1, CondJump, 0xffc},
		{"cbgt w0, w1", 0x74010400, CondJump, 0x1080},
		{"br x16", 0xd61f0200, IndirectJump, 0},
		{"braa x0, x1", 0xd71f0801, IndirectJump, 0},
		{"blr x8", 0xd63f0100, IndirectCall, 0},
		{"blraaz x8", 0xd63f091f, IndirectCall, 0},
		{"ret", 0xd65f03c0, Return, 0},
		{"retaa", 0xd65f0bff, Return, 0},
		{"eret", 0xd69f03e0, Return, 0},
		{"brk #1", 0xd4200020, Trap, 0},
		{"hlt #0", 0xd4400000, Trap, 0},
		{"udf #0", 0, Trap, 0},
		{"svc #0", 0xd4000001, Other, 0},
		{"nop", 0xd503201f, Other, 0},
		{"bti c", 0xd503245f, Other, 0},
		{"add x0, x0, #1", 0x91000400, Other, 0},
	} {
		code := []byte{byte(x.word), byte(x.word >> 8), byte(x.word >> 16), byte(x.word >> 24)}
		in, ok := ARM64.Decode(code, 0x1000)
		if !ok || in.Len != 4 || in.Kind != x.kind || in.Target != x.target {
			t.Errorf("%s: got %+v, %v; want %v, target %#x", x.text, in, ok, x.kind, x.target)
		}
		if _, ok := ARM64.Decode(code[:3], 0x1000); ok {
			t.Errorf("%s: decoded 3 bytes", x.text)
		}
	}
}

// FuzzDecode looks for panics, lengths beyond the code, and disagreement with
// x86asm where that is known to be right.
func FuzzDecode(f *testing.F) {
	for _, s := range strings.Fields("f30f1efa c5f877 ff24c500204000 e9fb0f0000 62f1750840c1 d500a10000400000000000 48b80102030405060708 8fea7810c101020304") {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		for _, a := range []Arch{AMD64, ARM64} {
			in, ok := a.Decode(code, 0x1000)
			if ok && (in.Len == 0 || int(in.Len) > len(code) || in.Len > MaxLen) {
				t.Errorf("%x: length %d", code, in.Len)
			}
			a.EffectOf(code, 0x1000)
		}
		// Without prefixes and outside 0F, x86asm is right.
		if len(code) < MaxLen || code[0] == 0x0f || isPrefix(code[0]) {
			return
		}
		want, err := x86asm.Decode(code, 64)
		if in, ok := AMD64.Decode(code, 0); err == nil && ok && int(in.Len) != want.Len {
			t.Errorf("%x: length %d, x86asm has %d (%v)", code, in.Len, want.Len, want)
		}
	})
}

func isPrefix(b byte) bool {
	return isLegacyPrefix(b) || b&0xf0 == 0x40 || b == 0xc4 || b == 0xc5 || b == 0x62 || b == 0xd5 || b == 0x8f
}

func BenchmarkDecode(b *testing.B) {
	var code []byte
	for _, s := range strings.Fields("4889e5 488b4708 e9fb0f0000 7502 0f1f840000000000 c5f970c11b 48b80102030405060708 ffd0 c3") {
		c, _ := hex.DecodeString(s)
		code = append(code, c...)
	}
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		for at := 0; at < len(code); {
			in, ok := AMD64.Decode(code[at:], uint64(at))
			if !ok {
				b.Fatal("not decoded")
			}
			at += int(in.Len)
		}
	}
}
