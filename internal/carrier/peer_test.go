package carrier

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestPeers lets LLVM's tools make each kind of carrier.
func TestPeers(t *testing.T) {
	clang := corpus.Tool(t, "clang-19", "clang")
	linker := corpus.Tool(t, "lld-link-19", "lld-link")
	librarian := corpus.Tool(t, "llvm-lib-19", "llvm-lib")
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name, where string, want []byte) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		found, err := find(data)
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Where, where) {
			t.Errorf("%s: %v, %v; want one in %s", name, found, err, where)
			return
		}
		t.Logf("%s: %s", name, found[0].Where)
		if !bytes.Equal(read(t, found[0]), want) {
			t.Errorf("%s: the SPD came out changed", name)
		}
	}

	profile := smallSPD(t, "app.exe", 2)
	put("app.spd", profile)
	put("app.s", []byte(`
 .text
 .globl start
start:
 ret
 .section .a_profile_section,"dr"
 .incbin "app.spd"
`))
	put("plain.s", []byte(" .text\n .globl start\nstart:\n ret\n"))
	for _, machine := range []string{"x86_64", "i686", "aarch64"} {
		run(clang, "--target="+machine+"-pc-windows-msvc", "-c", "app.s", "-o", machine+".obj")
		check(machine+".obj", ".a_profile_section", profile)
	}
	run(clang, "--target=x86_64-pc-windows-msvc", "-c", "plain.s", "-o", "plain.obj")

	// More sections than 16 bits count make the assembler take the big header.
	var sections strings.Builder
	for i := range 70000 {
		fmt.Fprintf(&sections, " .section .s%d,\"dr\"\n .byte 1\n", i)
	}
	put("big.s", []byte(sections.String()+" .section .a_profile_section,\"dr\"\n .incbin \"app.spd\"\n"))
	run(clang, "--target=x86_64-pc-windows-msvc", "-c", "big.s", "-o", "big.obj")
	check("big.obj", ".a_profile_section", profile)

	run(clang, "--target=x86_64-pc-windows-msvc", "-c", "app.s", "-o", "a_long_name_for_a_member.obj")
	run(librarian, "/out:app.lib", "plain.obj", "a_long_name_for_a_member.obj")
	check("app.lib", "a_long_name_for_a_member.obj: section", profile)

	run(linker, "/entry:start", "/subsystem:console", "/nodefaultlib", "/out:app.exe", "x86_64.obj")
	check("app.exe", "section .a_profi", profile) // the linker cuts names
	run(linker, "/entry:start", "/subsystem:console", "/nodefaultlib", "/debug", "/pdbstream:profile=app.spd", "/out:plain.exe", "/pdb:plain.pdb", "plain.obj")
	check("plain.pdb", `"profile"`, profile)
}
