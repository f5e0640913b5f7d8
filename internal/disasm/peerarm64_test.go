package disasm

import (
	"bufio"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// armKind tells the kind of an instruction and its direct target by the text
// of llvm-objdump.
func armKind(words []string) (k Kind, target uint64) {
	op := words[0]
	switch {
	case op == "b":
		k = Jump
	case strings.HasPrefix(op, "b."), op == "cbz", op == "cbnz", op == "tbz", op == "tbnz":
		k = CondJump
	case op == "bl":
		k = Call
	case op == "blr":
		return IndirectCall, 0
	case op == "br":
		return IndirectJump, 0
	case op == "ret":
		return Return, 0
	case op == "brk", op == "udf", op == "hlt":
		return Trap, 0
	default:
		return Other, 0
	}
	for _, w := range words[1:] {
		if hex, ok := strings.CutPrefix(w, "0x"); ok {
			target, _ = strconv.ParseUint(strings.TrimSuffix(hex, ","), 16, 64)
		}
	}
	return k, target
}

// TestLargeARM64 compares the decoder with llvm-objdump on a Go program for
// AArch64.
func TestLargeARM64(t *testing.T) {
	if os.Getenv("SPGO_LONG") == "" {
		t.Skip("set SPGO_LONG=1 to compare with llvm-objdump on a program for AArch64")
	}
	tool := corpus.Tool(t, "llvm-objdump", "llvm-objdump-19")
	folder := t.TempDir()
	source, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "main")
	if err := os.WriteFile(source, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "-d", "--no-show-raw-insn", "-j", ".text", program)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	total := 0
	for s.Scan() {
		addr, rest, ok := strings.Cut(s.Text(), ":")
		at, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64)
		words := strings.Fields(rest)
		if !ok || err != nil || len(words) == 0 || at < text.Addr || at >= text.Addr+text.Size {
			continue
		}
		total++
		in, ok := ARM64.Decode(code[at-text.Addr:], at)
		if kind, target := armKind(words); !ok || in.Kind != kind || in.Target != target {
			t.Errorf("%s: got %+v", s.Text(), in)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if total < 100000 {
		t.Errorf("only %d instructions", total)
	}
	t.Logf("%d instructions agree", total)
}
