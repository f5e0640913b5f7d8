//go:build unix

package robust

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bin is the folder with the commands, built from this source.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "robust-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = dir
		build := exec.Command("go", "build", "-o", dir, "github.com/spgo-tools/spgo/cmd/...")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the commands: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// world is a folder with inputs of every kind, and one for temporary files.
type world struct {
	t    testing.TB
	dir  string
	temp string
}

// newWorld makes the inputs: a recording, the image it is of, its SPT and SPDs,
// their text forms.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), temp: t.TempDir()}
	for _, name := range []string{"collatz", "collatz.data"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "demo", name))
		if err != nil {
			t.Fatal(err)
		}
		w.write(name, data)
	}
	w.must("sptaggregate", "-q", "--image-path", ".", "-o", "run.spt", "collatz.data")
	w.must("spdconvert", "-q", "/build:collatz", "fresh.spd")
	w.must("spdconvert", "-q", "-o", "app.spd", "fresh.spd", "run.spt")
	w.write("spd.txt", w.must("spddump", "--text", "app.spd"))
	w.write("spt.txt", w.must("sptdump", "run.spt"))
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name string, data []byte) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), data, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// read returns what a file holds, nil if it does not exist.
func (w *world) read(name string) []byte {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return data
}

// command is a run in the folder that has not begun.
func (w *world) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(bin, name), args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "TMPDIR="+w.temp)
	return c
}

// run gives a command a minute, and returns its exit code (-1: ended by a
// signal) and what it printed on standard error.
func (w *world) run(name string, args ...string) (code int, stderr string, c *exec.Cmd) {
	w.t.Helper()
	return w.finish(w.command(name, args...))
}

func (w *world) finish(c *exec.Cmd) (code int, stderr string, done *exec.Cmd) {
	w.t.Helper()
	var out bytes.Buffer
	c.Stderr = &out
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	c.Wait()
	if !timer.Stop() {
		w.t.Errorf("%q did not end within a minute", c.Args[1:])
	}
	return c.ProcessState.ExitCode(), out.String(), c
}

func (w *world) must(name string, args ...string) []byte {
	w.t.Helper()
	c := w.command(name, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		w.t.Fatalf("%s %q: %v\n%s", name, args, err, stderr.Bytes())
	}
	return out
}

// temporaries are files that no run shall leave: in the folder for temporary
// files, and beside the output.
func (w *world) temporaries() (names []string) {
	w.t.Helper()
	for _, dir := range []string{w.dir, w.temp} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range entries {
			if dir == w.temp || strings.Contains(e.Name(), ".tmp-") {
				names = append(names, e.Name())
			}
		}
	}
	return names
}

// job is a command that writes the file "out".
type job struct {
	name string
	args []string
}

func (j job) String() string { return j.name + " " + strings.Join(j.args, " ") }

// to is the job with another output.
func (j job) to(output string) []string {
	args := make([]string, len(j.args))
	for i, a := range j.args {
		if args[i] = a; a == "out" {
			args[i] = output
		}
	}
	return args
}

// jobs are all ways to write a file.
var jobs = []job{
	{"sptaggregate", []string{"-q", "--image-path", ".", "-o", "out", "collatz.data"}},
	{"sptaggregate", []string{"-q", "-o", "out", "run.spt", "run.spt@3"}},
	{"sptdump", []string{"-q", "--assemble", "spt.txt", "-o", "out"}},
	{"sptdump", []string{"-q", "/export:bolt-preagg", "run.spt", "out"}},
	{"spddump", []string{"-q", "--assemble", "spd.txt", "-o", "out"}},
	{"spdconvert", []string{"-q", "-o", "out", "fresh.spd", "run.spt"}},
	{"spdconvert", []string{"-q", "/merge", "out", "fresh.spd", "app.spd"}},
	{"spdconvert", []string{"-q", "/build:collatz", "out"}},
	{"spdconvert", []string{"-q", "/extract", "app.spd", "out"}},
	{"spdconvert", []string{"-q", "/export:bolt", "--image", "collatz", "app.spd", "out"}},
}
