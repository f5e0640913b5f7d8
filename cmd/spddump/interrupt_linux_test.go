package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// TestInterrupt: a signal ends the command while it waits for its input, and
// leaves no output behind.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound.spd")
	f, err := os.Create(sound)
	if err != nil {
		t.Fatal(err)
	}
	if err := spd.Write(f, &spd.File{Modules: []spd.Module{{Name: "m"}}}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, args := range [][]string{{"-"}, {"--json", "/validate", "-"}, {"/stale:-", sound}, {"--assemble", "-", "-o", "out.spd"}} {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "SPDDUMP=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// More than a pipe holds: when it is written, the command reads.
		if _, err := stdin.Write(bytes.Repeat([]byte("\n"), 1<<20)); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 1 || !bytes.Contains(stderr.Bytes(), []byte("SPT0006")) {
			t.Errorf("%q: exit %d: %s", args, code, stderr.Bytes())
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files, want the input alone", len(left))
	}
}
