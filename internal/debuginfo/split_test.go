package debuginfo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// tool runs a tool in a folder.
func tool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// frames returns the frames at every address of the code of a program, by
// address and where they are new, and what was met.
func frames(t *testing.T, path, debug string) (map[uint32]string, Stats) {
	t.Helper()
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	info, err := Open(img, path, debug)
	if err != nil {
		t.Fatal(err)
	}
	defer info.Close()
	list := map[uint32]string{}
	last := ""
	for _, code := range info.code {
		for rva := code.Start; rva < code.End; rva++ {
			text := fmt.Sprintf("%+v", info.Stack(rva))
			if u, ok := info.Unit(rva); ok {
				compiler, _, _ := strings.Cut(u.Producer, " -") // options differ
				text += fmt.Sprintf(" %s %s", u.Name, compiler)
			}
			if text != last {
				list[rva], last = text, text
			}
		}
	}
	for _, p := range info.Problems() {
		t.Errorf("%s: %v", path, p)
	}
	return list, info.Stats()
}

// TestSplit compiles a program with split debug information, and compares with
// what is known where it is whole.
func TestSplit(t *testing.T) {
	source := corpus.Path(t, "programs", "shapes.cpp")
	for _, compiler := range [][]string{{"g++"}, {"clang++-19", "clang++"}} {
		for _, version := range []string{"4", "5"} {
			if (compiler[0] == "g++") != (version == "5") && os.Getenv("SPGO_LONG") == "" {
				continue
			}
			t.Run(compiler[0]+" DWARF "+version, func(t *testing.T) {
				cc := corpus.Tool(t, compiler...)
				dir := t.TempDir()
				if err := os.MkdirAll(filepath.Join(dir, "out"), 0o755); err != nil {
					t.Fatal(err)
				}
				tool(t, dir, cc, "-O2", "-g", "-gdwarf-"+version, source, "-o", "whole")
				tool(t, dir, cc, "-O2", "-g", "-gdwarf-"+version, "-gsplit-dwarf", "-c", source, "-o", "out/shapes.o")
				tool(t, dir, cc, "out/shapes.o", "-o", "app")
				want, _ := frames(t, filepath.Join(dir, "whole"), "")
				app := filepath.Join(dir, "app")
				check := func(how string, missing int) {
					t.Helper()
					got, stats := frames(t, app, "")
					if stats.Split != 1 || len(stats.Missing) != missing {
						t.Errorf("%s: %d split units, missing %q, want %d", how, stats.Split, stats.Missing, missing)
					}
					if diff := cmp.Diff(want, got); (diff == "") != (missing == 0) || len(got) < 20 {
						t.Errorf("%s: %d pieces of code (-whole +split):\n%s", how, len(got), diff)
					}
				}
				check("where the compiler left it", 0)
				dwo := filepath.Join(dir, "out", "shapes.dwo")
				if err := os.Rename(dwo, filepath.Join(dir, "shapes.dwo")); err != nil {
					t.Fatal(err)
				}
				check("beside the image", 0)
				if err := os.Rename(filepath.Join(dir, "shapes.dwo"), dwo); err != nil {
					t.Fatal(err)
				}
				tool(t, dir, corpus.Tool(t, "llvm-dwp-19", "llvm-dwp"), "-e", "app", "-o", "app.dwp")
				if err := os.Rename(dwo, filepath.Join(dir, "hidden")); err != nil {
					t.Fatal(err)
				}
				check("in a package", 0)
				if err := os.Remove(filepath.Join(dir, "app.dwp")); err != nil {
					t.Fatal(err)
				}
				check("gone", 1)
				// The description of another build is not taken.
				tool(t, dir, cc, "-O1", "-g", "-gdwarf-"+version, "-gsplit-dwarf", "-DOTHER", "-c", source, "-o", "out/shapes.o")
				img, err := image.Open(app)
				if err != nil {
					t.Fatal(err)
				}
				defer img.Close()
				info, err := Open(img, app, "")
				if err != nil {
					t.Fatal(err)
				}
				info.Stack(info.code[len(info.code)-1].Start)
				for rva := range want {
					info.Stack(rva)
				}
				if list := info.Problems(); len(list) != 1 || !errors.As(list[0], new(*MismatchError)) || !strings.Contains(list[0].Error(), "shapes.dwo is of another build") {
					t.Errorf("another build: %v", list)
				}
			})
		}
	}
}

// TestSeparate finds separate debug files, and reads sections in every way of
// compression.
func TestSeparate(t *testing.T) {
	objcopy := corpus.Tool(t, "objcopy")
	dir := t.TempDir()
	tool(t, dir, corpus.Tool(t, "g++"), "-O2", "-g", corpus.Path(t, "programs", "shapes.cpp"), "-o", "whole")
	want, _ := frames(t, filepath.Join(dir, "whole"), "")
	located := func(name string) string {
		img, err := image.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer img.Close()
		path, _ := Locate(img, filepath.Join(dir, name))
		return path
	}
	if got := located("whole"); got != "" {
		t.Errorf("whole: %q, want none", got)
	}
	for _, how := range []string{"none", "zlib", "zlib-gnu", "zstd"} {
		packed := filepath.Join(dir, how)
		if out, err := exec.Command(objcopy, "--compress-debug-sections="+how, filepath.Join(dir, "whole"), packed).CombinedOutput(); err != nil {
			t.Logf("%s: this objcopy cannot: %s", how, out)
			continue
		}
		if got, _ := frames(t, packed, ""); !cmp.Equal(want, got) {
			t.Errorf("%s:\n%s", how, cmp.Diff(want, got))
		}
		tool(t, dir, objcopy, "--only-keep-debug", how, how+".debug")
		for _, id := range []bool{true, false} { // by its name, and by the checksum alone
			args := []string{objcopy, "--strip-all", "--add-gnu-debuglink=" + how + ".debug"}
			if !id {
				args = append(args, "--remove-section=.note.gnu.build-id")
			}
			tool(t, dir, append(args, how, "stripped")...)
			found := located("stripped")
			if found != filepath.Join(dir, how+".debug") {
				t.Fatalf("%s: found %q", how, found)
			}
			if got, _ := frames(t, filepath.Join(dir, "stripped"), found); !cmp.Equal(want, got) {
				t.Errorf("%s, separate:\n%s", how, cmp.Diff(want, got))
			}
		}
		if err := os.Mkdir(filepath.Join(dir, ".debug"), 0o755); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, how+".debug"), filepath.Join(dir, ".debug", how+".debug")); err != nil {
			t.Fatal(err)
		}
		if found := located("stripped"); found != filepath.Join(dir, ".debug", how+".debug") {
			t.Errorf("%s: found %q", how, found)
		}
		// One of another build has the name.
		tool(t, dir, objcopy, "--only-keep-debug", corpus.Path(t, "programs", "minivm.elf"), filepath.Join(".debug", how+".debug"))
		if found := located("stripped"); found != "" {
			t.Errorf("%s: found %q of another build", how, found)
		}
	}
}

func TestPackageIndex(t *testing.T) {
	words := func(list ...uint32) (b []byte) {
		for _, w := range list {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	good := words(2, 2, 1, 2, 7, 0, 9, 0, 1, 0, 1, 3, 16, 32, 5, 6)
	units, err := packageIndex(good, binary.LittleEndian)
	if want := map[uint64]map[string]piece{7: {"info": {16, 5}, "abbrev": {32, 6}}}; err != nil || !cmp.Equal(units, want, cmp.AllowUnexported(piece{})) {
		t.Errorf("got %v, %v", units, err)
	}
	for n := range len(good) {
		if _, err := packageIndex(good[:n], binary.LittleEndian); !errors.Is(err, binfmt.ErrTruncated) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := packageIndex(words(3, 2, 1, 2), binary.LittleEndian); !errors.Is(err, binfmt.ErrVersion) {
		t.Errorf("version 3: %v", err)
	}
	if _, err := packageIndex(words(2, 0xffffffff, 0xffffffff, 0xffffffff), binary.LittleEndian); !errors.Is(err, binfmt.ErrTruncated) {
		t.Errorf("huge: %v", err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte{1, 0x11, 1, 0x11, 0x81, 0x3e, 0x25, 0x82, 0x3e, 0, 0, 0}, []byte{12, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0}, []byte{3, 0, 4, 0}, true)
	f.Fuzz(func(t *testing.T, abbrev, info, lists []byte, old bool) {
		s := &skeleton{version: 5}
		if old {
			s.version = 4
		}
		i := &Info{sections: map[string][]byte{"addr": make([]byte, 64), "ranges": lists}}
		d, err := i.splitOf(s, map[string][]byte{"abbrev": abbrev, "info": info, "rnglists": lists, "str": lists, "str_offsets": lists}, binary.LittleEndian)
		if err == nil {
			d.rangesOf(d.cu)
		}
		d = &splitData{version: s.version, order: binary.LittleEndian, addr: make([]byte, 64), ranges: lists}
		for _, read := range []func(*binfmt.Cursor) ([][2]uint64, error){d.oldRanges, d.rangeList} {
			if list, _ := read(binfmt.NewCursor(lists, "ranges", 0)); len(list) > len(lists) {
				t.Fatalf("%d ranges in %d bytes", len(list), len(lists))
			}
		}
		packageIndex(info, binary.LittleEndian)
	})
}
