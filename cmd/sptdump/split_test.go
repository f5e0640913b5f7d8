package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// TestExportWithoutSplit warns where names and lines lie in a file that is not
// there, if the format has any.
func TestExportWithoutSplit(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	cmd := exec.Command(corpus.Tool(t, "gcc"), "-g", "-gsplit-dwarf", "-Wl,--build-id=none", corpus.Path(t, "programs", "minivm.c"), "-o", "app")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var file bytes.Buffer
	text := "spt 1\nprogram 0 {00112233-4455-6677-8899-AABBCCDDEEFF} age 1 \"app\"\nbinary 0\n  LBR 0x1020->0x1040 0x1050->0x1010\n"
	if err := spt.ParseText(&file, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("app.spt"), file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	check := func(format string, want bool) {
		t.Helper()
		var out, notes bytes.Buffer
		code := command().Execute([]string{"/export:" + format, "--image", in("app"), in("app.spt"), in("out")}, cli.Streams{Out: &out, Err: &notes})
		if warned := strings.Contains(notes.String(), "SPD1008"); code != 0 || warned != want {
			t.Errorf("%s: exit code %d, want the warning: %v\n%s", format, code, want, notes.String())
		}
	}
	check("folded", false)
	list, err := filepath.Glob(in("*.dwo"))
	if err != nil || len(list) != 1 {
		t.Fatalf("the compiler left %q: %v", list, err)
	}
	if err := os.Remove(list[0]); err != nil {
		t.Fatal(err)
	}
	check("folded", true)
	check("pprof", true)
	check("perfscript", false)
}
