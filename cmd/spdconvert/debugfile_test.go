package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestDebugFiles makes SPDs of programs whose debug information lies elsewhere
// and is whole, damaged, of another build or missing.
func TestDebugFiles(t *testing.T) {
	cc, objcopy, source := corpus.Tool(t, "gcc"), corpus.Tool(t, "objcopy"), corpus.Path(t, "programs", "minivm.c")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	cut := func(name string) {
		t.Helper()
		if err := os.Truncate(in(name), 2000); err != nil {
			t.Fatal(err)
		}
	}
	// build holds the exit code and what of the output and of the warnings.
	build := func(image string, want int, output, warning string, args ...string) {
		t.Helper()
		code, out, errors := execute(append([]string{"/build:" + in(image), in("out.spd")}, args...)...)
		if code != want || !strings.Contains(out, output) || !strings.Contains(errors, warning) || warning == "" && errors != "" {
			t.Errorf("%s %v: exit code %d, want %d, with %q and %q:\n%s%s", image, args, code, want, output, warning, out, errors)
		}
	}
	run(cc, "-O2", "-g", "-Wl,--build-id", source, "-o", "app")
	run(objcopy, "--only-keep-debug", "app", "app.debug")
	run(objcopy, "--strip-all", "--add-gnu-debuglink=app.debug", "app")
	build("app", 0, "\ndebug file     "+in("app.debug")+"\n", "")
	cut("app.debug")
	build("app", 0, "\nfunctions ", "SPD1009: "+in("app.debug")+": section table: the debug file is not used: the input ends too early")
	build("app", 6, "", "SPT0112: "+in("app.debug"), "/pdb:"+in("app.debug"))

	run(cc, "-O1", "-g", "-gsplit-dwarf", "-c", source, "-o", "split.o")
	run("mv", "split.dwo", "other.dwo")
	run(cc, "-O2", "-g", "-gsplit-dwarf", "-c", source, "-o", "split.o")
	run(cc, "split.o", "-o", "split")
	build("split", 0, "\nfunctions ", "")
	cut("split.dwo")
	build("split", 0, "\nfunctions ", "SPD1008: "+in("split.dwo")+": section table: 1 of 1 files with split debug information cannot be used, such as this: the input ends too early")
	run("mv", "other.dwo", "split.dwo")
	build("split", 0, "\nfunctions ", "SPD1008: "+in("split.dwo")+": 1 of 1 files with split debug information cannot be used, such as this: it is of another build")
	run("rm", "split.dwo")
	build("split", 0, "\nfunctions ", "SPD1008: "+in("split")+": 1 of 1 files with split debug information are missing, such as split.dwo")
	run("cp", "app", "split.dwp")
	build("split", 0, "\nfunctions ", "SPD1008: "+in("split.dwp")+": .debug_cu_index: offset 0x0: the package of split debug information cannot be used: ")
}
