package disasm

import (
	"bufio"
	"debug/elf"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// line is an instruction as objdump shows it.
type line struct {
	addr uint64
	text string
}

// objdump calls visit for every instruction of a program.
func objdump(t *testing.T, program string, visit func(line)) {
	t.Helper()
	tool := corpus.Tool(t, "objdump")
	cmd := exec.Command(tool, "-d", "--no-show-raw-insn", "-w", program)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		addr, text, ok := strings.Cut(s.Text(), ":\t")
		if !ok {
			visit(line{}) // the end of a function or section
			continue
		}
		if v, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64); err == nil {
			visit(line{v, strings.TrimSpace(text)})
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// kindOf tells the kind of an instruction and its direct target by the text of
// objdump.
func kindOf(text string) (Kind, uint64) {
	words := strings.Fields(text)
	op := ""
	arg := ""
	for i, w := range words {
		switch w {
		case "bnd", "notrack", "rep", "repz", "repnz", "data16", "addr32", "cs", "ds", "es", "fs", "gs", "ss", "lock":
			continue
		}
		if strings.HasPrefix(w, "rex") {
			continue
		}
		op, _, _ = strings.Cut(w, ",")
		if i+1 < len(words) {
			arg = words[i+1]
		}
		break
	}
	target, _ := strconv.ParseUint(strings.TrimPrefix(arg, "0x"), 16, 64)
	indirect := strings.HasPrefix(arg, "*")
	switch op {
	case "jmp", "jmpq", "ljmp":
		if indirect {
			return IndirectJump, 0
		}
		return Jump, target
	case "call", "callq", "lcall":
		if indirect {
			return IndirectCall, 0
		}
		return Call, target
	case "ret", "retq", "lret", "lretq", "iretq", "iret", "sysretl", "sysretq", "sysexitq", "sysexitl", "iretl", "iretw", "lretw", "retw", "sysret", "sysexit":
		return Return, 0
	case "ud2", "int3", "hlt", "ud1", "ud1l", "ud0", "ud1q", "ud1w":
		return Trap, 0
	case "xbegin", "xbeginq":
		return CondJump, target
	}
	if strings.HasPrefix(op, "j") || strings.HasPrefix(op, "loop") {
		return CondJump, target
	}
	return Other, 0
}

// strayREX says that objdump shows a REX prefix that belongs to no instruction,
// which is what data looks like.
func strayREX(text string) bool {
	return strings.HasPrefix(text, "rex") && len(strings.Fields(text)) == 1
}

// compare decodes what objdump decodes and returns the number of instructions,
// and those that differ in length or kind.
func compare(t *testing.T, program string) (total int, differ []string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var code []byte
	var base uint64
	bad := 0
	var prev line
	check := func(next uint64) {
		if prev.text == "" {
			return
		}
		n := next - prev.addr
		if strings.Contains(prev.text, "(bad)") || strings.HasPrefix(prev.text, ".") || strayREX(prev.text) || n == 0 || n > MaxLen {
			bad++
			return
		}
		if prev.addr < base || prev.addr-base >= uint64(len(code)) {
			for _, s := range f.Sections {
				if s.Flags&elf.SHF_EXECINSTR != 0 && s.Addr <= prev.addr && prev.addr < s.Addr+s.Size {
					code, err = s.Data()
					base = s.Addr
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		total++
		in, ok := AMD64.Decode(code[prev.addr-base:], prev.addr)
		kind, target := kindOf(prev.text)
		if in.InMemory || in.Names {
			in.Target = 0
		}
		if ok && uint64(in.Len) == n && in.Kind == kind && in.Target == target {
			return
		}
		differ = append(differ, strconv.FormatUint(prev.addr, 16)+": "+prev.text+": want length "+strconv.Itoa(int(n))+" "+kind.String()+
			", got "+strconv.Itoa(int(in.Len))+" "+in.Kind.String()+" "+strconv.FormatUint(in.Target, 16))
	}
	objdump(t, program, func(l line) {
		if prev.text != "" && l.addr > prev.addr {
			check(l.addr)
		}
		prev = l
	})
	t.Logf("%s: %d instructions, %d differ, %d not decoded by objdump", program, total, len(differ), bad)
	return total, differ
}

// TestPrograms compares the decoder with objdump on small programs.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"wordstat.elf", "minivm.elf", "shapes.elf"} {
		total, differ := compare(t, corpus.Path(t, "programs/"+name))
		if total < 250 {
			t.Errorf("%s: only %d instructions", name, total)
		}
		for _, d := range differ {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestLargePrograms compares the decoder with objdump on what the machine has
// of some large programs.
func TestLargePrograms(t *testing.T) {
	if os.Getenv("SPGO_LONG") == "" {
		t.Skip("set SPGO_LONG=1 to compare with objdump on large programs")
	}
	found := 0
	for _, name := range strings.Fields("/usr/bin/python3 /usr/bin/git /usr/bin/perl /usr/bin/gdb /usr/bin/node /lib/x86_64-linux-gnu/libc.so.6 /lib/x86_64-linux-gnu/libcrypto.so.3") {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		found++
		total, differ := compare(t, name)
		for i, d := range differ {
			if i == 20 {
				break
			}
			t.Logf("%s: %s", name, d)
		}
		// The rest is data between functions.
		if len(differ)*1000 > total {
			t.Errorf("%s: %d of %d instructions differ", name, len(differ), total)
		}
	}
	if found == 0 {
		corpus.Unavailable(t, "none of the large programs is installed")
	}
}
