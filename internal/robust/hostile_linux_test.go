package robust

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxMemory is what no command may need for an input that is not what it should
// be, however large it is: 256 MiB resident.
const maxMemory = 256 << 20

// resident is the most memory that a process had, in bytes.
func resident(p *os.ProcessState) int64 { return p.SysUsage().(*syscall.Rusage).Maxrss << 10 }

// readers are all ways to read a file called "in".
var readers = []job{
	{"sptaggregate", []string{"-q", "-o", "out", "in"}},
	{"sptaggregate", []string{"-q", "-o", "out", "@in"}},
	{"sptdump", []string{"in"}},
	{"sptdump", []string{"/spe-packets", "in"}},
	{"sptdump", []string{"--assemble", "in", "-o", "out"}},
	{"sptdump", []string{"/export:folded", "in", "out"}},
	{"spddump", []string{"in"}},
	{"spddump", []string{"--json", "/validate", "in"}},
	{"spddump", []string{"/diff:in", "app.spd"}},
	{"spddump", []string{"--assemble", "in", "-o", "out"}},
	{"spddump", []string{"/doctor", "in", "app.spd"}},
	{"spdconvert", []string{"-q", "-o", "out", "in", "run.spt"}},
	{"spdconvert", []string{"-q", "-o", "out", "fresh.spd", "in"}},
	{"spdconvert", []string{"-q", "-o", "out", "fresh.spd", "/sptlist:in"}},
	{"spdconvert", []string{"-q", "/merge", "out", "app.spd", "in"}},
	{"spdconvert", []string{"-q", "/extract", "in", "out"}},
	{"spdconvert", []string{"-q", "/build:in", "out"}},
	{"spdconvert", []string{"-q", "/export:bolt", "--image", "in", "app.spd", "out"}},
}

// TestInputs gives every command, as each of its inputs, what is none: devices,
// links that lead nowhere, folders, other files, bombs. It ends soon, with an
// error that is one of ours, in little memory, and writes nothing.
func TestInputs(t *testing.T) {
	w := newWorld(t)
	w.write("bomb.gz", gzipBomb(t))
	w.write("bomb.zst", zstdBomb(t))
	w.write("long", bytes.Repeat([]byte("spd "), 20<<20)) // one line of 80 MB
	w.write("empty", nil)
	for name, target := range map[string]string{"dangling": "nothing", "circle": "circle"} {
		if err := os.Symlink(target, w.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	most := int64(0)
	for _, input := range []string{"/dev/zero", "/dev/null", "/dev/full", "/dev/urandom", "/proc/self/mem", w.temp,
		"dangling", "circle", "empty", "long", "bomb.gz", "bomb.zst"} {
		for _, j := range readers {
			args := make([]string, len(j.args))
			for i, a := range j.args {
				switch {
				case a == "in" || a == "@in":
					a = strings.Replace(a, "in", input, 1)
				case strings.HasSuffix(a, ":in"):
					a = strings.TrimSuffix(a, "in") + input
				}
				args[i] = a
			}
			os.Remove(w.path("out"))
			c := w.command(j.name, args...)
			c.Stdout = io.Discard
			code, text, c := w.finish(c)
			used := resident(c.ProcessState)
			most = max(most, used)
			if code < 1 || !strings.Contains(text, ": error S") || strings.Contains(text, "SPT0001") {
				t.Errorf("%s %q: exit %d: %s", j.name, args, code, text)
			}
			if used > maxMemory {
				t.Errorf("%s %q: %d MiB", j.name, args, used>>20)
			}
			if w.read("out") != nil {
				t.Errorf("%s %q: exit %d, and an output", j.name, args, code)
			}
			if left := w.temporaries(); len(left) > 0 {
				t.Fatalf("%s %q leaves %v", j.name, args, left)
			}
		}
	}
	t.Logf("at most %d MiB", most>>20)
}

// bombSize is what the bombs unpack to.
const bombSize = 512 << 20

// bomb writes a recording of unknown records without end.
func bomb(t *testing.T, w io.Writer) {
	record := make([]byte, 32<<10)
	binary.LittleEndian.PutUint64(record, 99|uint64(len(record))<<48)
	if _, err := w.Write(append([]byte("PERFILE2"), 16, 0, 0, 0, 0, 0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	for range bombSize / len(record) {
		if _, err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
}

func gzipBomb(t *testing.T) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	bomb(t, z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdBomb(t *testing.T) []byte {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	bomb(t, z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
