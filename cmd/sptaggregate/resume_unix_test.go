//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestResume kills a run that waits for its last input and goes on: what was
// read is not read again, and the bytes are those of one run.
func TestResume(t *testing.T) {
	recording, err := filepath.Abs("../../testdata/demo/collatz.data")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(corpus.Path(t, "corpus", "perf", "google+autofdo__test.lbr"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string][]byte{"a.data": data, "b.data": other, "c.data": data, "list": []byte("a.data\nb.data@3\npipe\nnone.data\n"), "none.data": []byte("nothing")} {
		if err := os.WriteFile(in(name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(in("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		c := exec.Command("sptaggregate", args...) // testscript.Main puts it into the path
		c.Dir = dir
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, &out
	}
	feed := func() {
		f, err := os.OpenFile(in("pipe"), os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		f.Write(data)
		f.Close()
	}
	exit := func(c *exec.Cmd) int {
		c.Wait()
		return c.ProcessState.ExitCode()
	}

	c, out := start("@list", "-o", "want.spt", "-j1")
	feed()
	if code := exit(c); code != 6 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	want, err := os.ReadFile(in("want.spt"))
	if err != nil {
		t.Fatal(err)
	}

	c, out = start("--resume", "@list", "-o", "got.spt", "-j2")
	state := in("got.spt.partial")
	for range 500 {
		if _, err := os.Stat(state); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.Process.Kill()
	if code := exit(c); code != -1 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	saved, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}

	refused := func(what, text string, args ...string) {
		t.Helper()
		c, out := start(append([]string{"--resume", "-o", "got.spt"}, args...)...)
		if code := exit(c); code != 2 || !strings.Contains(out.String(), "SPT0007: got.spt.partial") || !strings.Contains(out.String(), text) {
			t.Errorf("%s: exit code %d: %s", what, code, out)
		}
	}
	refused("other options", "--nokernel", "@list", "--nokernel")
	refused("other inputs", "4 inputs instead of 3", "a.data", "b.data@3", "pipe")
	refused("other weights", "without the input b.data", "a.data", "b.data@4", "pipe", "none.data")
	for _, at := range []int{0, 30, len(saved) / 2, len(saved) - 1} {
		damaged := bytes.Clone(saved)
		damaged[at] ^= 1
		if err := os.WriteFile(state, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		refused("damage", "", "@list")
	}
	if err := os.WriteFile(state, saved, 0o644); err != nil {
		t.Fatal(err)
	}
	// What was read may not change, but is not read again: with its size and
	// time a file of zeros is as good.
	fi, err := os.Stat(in("b.data"))
	if err == nil {
		err = os.WriteFile(in("b.data"), make([]byte, len(other)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	os.Chtimes(in("b.data"), fi.ModTime(), fi.ModTime().Add(-time.Second))
	refused("an input that changed", "b.data changed", "@list")
	os.Chtimes(in("b.data"), fi.ModTime(), fi.ModTime())

	// Another order of the same inputs is the same run.
	c, out = start("--resume", "-o", "got.spt", "none.data", "pipe", "b.data@3", "a.data")
	feed()
	if code := exit(c); code != 6 || !strings.Contains(out.String(), "3 inputs were read by an interrupted run") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if got, err := os.ReadFile(in("got.spt")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes than those of one run (%v)", err)
	}
	if left, _ := filepath.Glob(in("*.partial*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if left, _ := filepath.Glob(in("*.run")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
