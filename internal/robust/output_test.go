//go:build unix

package robust

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// expected runs a job and returns what it writes.
func (w *world) expected(j job) []byte {
	w.t.Helper()
	os.Remove(w.path("out"))
	w.must(j.name, j.args...)
	data := w.read("out")
	if len(data) == 0 {
		w.t.Fatalf("%v writes nothing", j)
	}
	return data
}

// TestOutputs names devices, links, folders and pipes as the output: links are
// followed, pipes get it all, and what cannot take it is an error that names it.
func TestOutputs(t *testing.T) {
	w := newWorld(t)
	for _, j := range jobs {
		want := w.expected(j)
		os.Remove(w.path("out"))
		for _, output := range []string{"/dev/full", "/dev/null"} {
			if _, err := os.Stat(output); err != nil {
				continue // no such device on this system
			}
			code, text, _ := w.run(j.name, j.to(output)...)
			full := output == "/dev/full"
			if full != (code == 1) || full != strings.Contains(text, output) || !full && code != 0 {
				t.Errorf("%v to %s: exit %d: %s", j, output, code, text)
			}
		}
		if code, text, _ := w.run(j.name, j.to(w.temp)...); code == 0 || !strings.Contains(text, w.temp) {
			t.Errorf("%v to a folder: exit %d: %s", j, code, text)
		}
		if code, text, _ := w.run(j.name, j.to("none/out")...); code == 0 || !strings.Contains(text, "none") {
			t.Errorf("%v to a folder that is not there: exit %d: %s", j, code, text)
		}
		for _, target := range []string{"target", "missing"} {
			os.Remove(w.path("link"))
			os.Remove(w.path(target))
			if target == "target" {
				w.write(target, want)
			}
			if err := os.Symlink(target, w.path("link")); err != nil {
				t.Fatal(err)
			}
			code, text, _ := w.run(j.name, j.to("link")...)
			if link, err := os.Readlink(w.path("link")); code != 0 || err != nil || link != target {
				t.Errorf("%v through a link: exit %d, %v: %s", j, code, err, text)
			}
			if target == "missing" && !bytes.Equal(w.read(target), want) {
				t.Errorf("%v through a link: other bytes", j)
			}
		}
		w.checkPipe(j, want)
		if left := w.temporaries(); len(left) > 0 {
			t.Errorf("%v leaves %v", j, left)
		}
	}
}

// checkPipe has a job write into a named pipe.
func (w *world) checkPipe(j job, want []byte) {
	w.t.Helper()
	os.Remove(w.path("pipe"))
	if err := syscall.Mkfifo(w.path("pipe"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	var got []byte
	var reader sync.WaitGroup
	reader.Go(func() {
		f, err := os.Open(w.path("pipe"))
		if err != nil {
			return
		}
		got, _ = io.ReadAll(f)
		f.Close()
	})
	code, text, _ := w.run(j.name, j.to("pipe")...)
	if code != 0 { // wake the reader
		if f, err := os.OpenFile(w.path("pipe"), os.O_RDWR, 0); err == nil {
			defer f.Close()
		}
	}
	reader.Wait()
	if code != 0 || !bytes.Equal(got, want) {
		w.t.Errorf("%v into a pipe: exit %d, %d bytes of %d: %s", j, code, len(got), len(want), text)
	}
}

// TestNoSpace lets no file become larger than a few blocks: the output that was
// there stays, and nothing else is left.
func TestNoSpace(t *testing.T) {
	w := newWorld(t)
	for _, j := range jobs {
		want := w.expected(j)
		blocks := "0"
		if len(want) > 1024 {
			blocks = "1"
		}
		for _, old := range [][]byte{nil, want} {
			os.Remove(w.path("out"))
			if old != nil {
				w.write("out", old)
			}
			c := w.command(j.name, j.args...)
			c.Args = append([]string{"sh", "-c", "ulimit -f " + blocks + "; exec \"$0\" \"$@\"", c.Path}, j.args...)
			c.Path = "/bin/sh"
			code, text, _ := w.finish(c)
			if code != 1 || !strings.Contains(text, "SPT0103") || !strings.Contains(text, "out") {
				t.Errorf("%v: exit %d: %s", j, code, text)
			}
			if !bytes.Equal(w.read("out"), old) {
				t.Errorf("%v: the output changed", j)
			}
			if left := w.temporaries(); len(left) > 0 {
				t.Errorf("%v leaves %v", j, left)
			}
		}
	}
}

// TestConcurrentWriters has several runs write one file: each succeeds, and it
// is whole.
func TestConcurrentWriters(t *testing.T) {
	w := newWorld(t)
	for _, j := range jobs {
		want := w.expected(j)
		os.Remove(w.path("out"))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if code, text, _ := w.run(j.name, j.args...); code != 0 {
					t.Errorf("%v: exit %d: %s", j, code, text)
				}
			})
		}
		all.Wait()
		if got := w.read("out"); !bytes.Equal(got, want) && !strings.Contains(j.String(), "/merge") {
			t.Errorf("%v: %d bytes, want %d", j, len(got), len(want))
		}
		if left := w.temporaries(); len(left) > 0 {
			t.Errorf("%v leaves %v", j, left)
		}
	}
}
