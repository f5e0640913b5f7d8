package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// failing runs an import that cannot write, and checks that nothing changed.
func failing(t *testing.T, dir string, c *exec.Cmd) {
	t.Helper()
	old := content(t, dir, "app.spd")
	out, err := c.CombinedOutput()
	if err == nil || c.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte("SPT0103: app.spd")) {
		t.Errorf("%v: %s", err, out)
	}
	if !bytes.Equal(content(t, dir, "app.spd"), old) {
		t.Error("the SPD changed")
	}
	if names := leftovers(t, dir, "app.spd", "a.spt", "b.spt"); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// TestFullDisk imports where the new SPD does not fit beside the old one.
func TestFullDisk(t *testing.T) {
	from := folder(t)
	disk := t.TempDir()
	size := int64(0)
	for _, name := range []string{"app.spd", "a.spt", "b.spt"} {
		size += int64(len(content(t, from, name)))
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", size+size/2)); err != nil {
		t.Skipf("a small file system cannot be mounted: %v (needs root)", err)
	}
	defer syscall.Unmount(disk, 0)
	for _, name := range []string{"app.spd", "a.spt", "b.spt"} {
		if err := os.WriteFile(filepath.Join(disk, name), content(t, from, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	failing(t, disk, convert(disk, "app.spd", "a.spt"))
}

// TestReadOnlyFolder imports into a folder where nothing can be made. Who may
// do everything runs it as somebody who may not.
func TestReadOnlyFolder(t *testing.T) {
	dir := folder(t)
	c := convert(dir, "app.spd", "a.spt")
	if os.Geteuid() == 0 {
		bin, err := os.MkdirTemp("", "spdconvert-*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(bin)
		if c.Path, err = copyProgram(c.Path, bin); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir, err = moveTo(dir, bin); err != nil {
			t.Fatal(err)
		}
		c.Dir = dir
		const nobody = 65534
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	failing(t, dir, c)
}

// copyProgram copies the program to where everybody can run it.
func copyProgram(program, dir string) (string, error) {
	in, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer in.Close()
	name := filepath.Join(dir, "spdconvert")
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(out, in); err != nil {
		return "", err
	}
	return name, out.Close()
}

func moveTo(dir, parent string) (string, error) {
	to := filepath.Join(parent, "work")
	return to, os.Rename(dir, to)
}

// TestPipeInPlace names a pipe as the SPD: what was read from it cannot be
// replaced.
func TestPipeInPlace(t *testing.T) {
	dir := folder(t)
	pipe := filepath.Join(dir, "pipe.spd")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c := convert(dir, "pipe.spd", "a.spt")
	out, _ := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 2 || !bytes.Contains(out, []byte("an SPD from a pipe or device needs -o FILE")) {
		t.Errorf("exit code %d: %s", c.ProcessState.ExitCode(), out)
	}
}
