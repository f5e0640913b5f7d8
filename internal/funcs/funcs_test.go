package funcs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
)

// sourceText has functions that GCC splits in two, static ones, aliases, and
// calls into libraries.
const sourceText = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) int helper(int x) { return x * 3 + (x >> 2); }
__attribute__((noinline, cold)) void report(int x) { fprintf(stderr, "too large: %d\n", x); }
__attribute__((noinline)) int checked(int x) {
  if (x > 1000000) { report(x); abort(); }
  return helper(x);
}
int other_name(int) __attribute__((alias("checked")));
__attribute__((weak)) int optional(int x) { return x ^ 1; }
__asm__(".text\n.globl by_hand\nby_hand:\n ret\n");
int main(int argc, char **argv) {
  char *b = malloc(100); memset(b, argc, 100);
  int r = checked(argc) + optional(b[3]) + other_name((int)strlen(argv[0]));
  printf("%d\n", r); free(b);
  return 0;
}
`

func run(t testing.TB, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return string(out)
}

// built compiles sourceText and returns the file.
func built(t testing.TB, tool string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "source.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(src, []byte(sourceText), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, tool, append(append([]string{"-o", out}, flags...), src)...)
	return out
}

func find(t testing.TB, file, debug string) (*image.File, []program.Function, Report) {
	t.Helper()
	img, err := image.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	fns, report, err := Find(img, Options{Debug: debug})
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, img, fns, report)
	return img, fns, report
}

// checkInvariants holds for every image: functions are in order, in code, and
// share no byte; each piece is accounted for.
func checkInvariants(t testing.TB, img *image.File, fns []program.Function, report Report) {
	t.Helper()
	var all []program.Range
	bySource := map[program.Source]int{}
	covered := uint64(0)
	for i, f := range fns {
		if i > 0 && f.Entry() <= fns[i-1].Entry() {
			t.Errorf("function %d at %#x is not behind %#x", i, f.Entry(), fns[i-1].Entry())
		}
		for k, r := range f.Ranges {
			if r.Start >= r.End || k > 1 && r.Start <= f.Ranges[k-1].End {
				t.Errorf("%s: ranges %x", f.Name, f.Ranges)
			}
			covered += uint64(r.Len())
		}
		all = append(all, f.Ranges...)
		bySource[f.Source]++
	}
	union := uint64(0)
	for _, r := range program.Union(all) {
		union += uint64(r.Len())
	}
	if union != covered || covered != report.Covered || covered > report.Code {
		t.Errorf("functions have %d bytes, %d different ones, report %d of %d", covered, union, report.Covered, report.Code)
	}
	for s := range report.Pieces {
		got := report.Functions[s] + report.Joined[s]
		for _, n := range report.Skipped[s] {
			got += n
		}
		if got != report.Pieces[s] || report.Functions[s] != bySource[program.Source(s)] {
			t.Errorf("%v: %d pieces, %d accounted for; %d functions, %d counted", program.Source(s), report.Pieces[s], got, bySource[program.Source(s)], report.Functions[s])
		}
	}
	if len(report.Problems) > 0 {
		t.Errorf("problems: %v", report.Problems)
	}
}

// text prints functions, one a line, with link-time addresses.
func text(img *image.File, fns []program.Function, want func(*program.Function) bool) []string {
	var out []string
	for i := range fns {
		if f := &fns[i]; want == nil || want(f) {
			line := f.Name
			for _, r := range f.Ranges {
				line += fmt.Sprintf(" %x+%x", img.Base+uint64(r.Start), r.Len())
			}
			out = append(out, line)
		}
	}
	return out
}

func byName(fns []program.Function, name string) *program.Function {
	for i := range fns {
		if fns[i].Name == name {
			return &fns[i]
		}
	}
	return nil
}

// programs are the sample programs and builds of both compilers.
func programs(t testing.TB) map[string]string {
	gcc, clang := corpus.Tool(t, "gcc"), corpus.Tool(t, "clang-19", "clang")
	out := map[string]string{
		"gcc":   built(t, gcc, "-O2", "-g"),
		"ibt":   built(t, gcc, "-O2", "-fcf-protection", "-Wl,-z,ibtplt", "-no-pie"),
		"clang": built(t, clang, "-O2", "-fuse-ld=lld-19"),
		"bind":  built(t, clang, "-O2", "-fno-plt", "-fsplit-machine-functions", "-Wl,-z,now"),
	}
	for _, name := range []string{"minivm", "shapes", "wordstat"} {
		out[name] = corpus.Path(t, "programs", name+".elf")
	}
	return out
}

// withLarge adds programs of the system to files, where the long tests are
// asked for.
func withLarge(files map[string]string) map[string]string {
	if os.Getenv("SPGO_LONG") == "1" {
		for _, name := range []string{"git", "node", "postgres", "python3"} {
			// Some of these names lead to scripts elsewhere.
			if p := filepath.Join("/usr/bin", name); name == "postgres" {
				found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
				if len(found) > 0 {
					files[name] = found[0]
				}
			} else if _, err := os.Stat(p); err == nil {
				files[name] = p
			}
		}
	}
	return files
}

// Every function symbol that nm lists is a function or the alias of one, with
// the same size where it has one.
func TestAgainstNM(t *testing.T) {
	nm := corpus.Tool(t, "nm")
	for name, file := range programs(t) {
		t.Run(name, func(t *testing.T) {
			img, fns, _ := find(t, file, "")
			n := 0
			for _, line := range strings.Split(run(t, nm, "-S", "--defined-only", file), "\n") {
				f := strings.Fields(line)
				if len(f) < 3 || !strings.Contains("tTwW", f[len(f)-2]) {
					continue
				}
				var at, size uint64
				fmt.Sscanf(f[0], "%x", &at)
				if len(f) == 4 {
					fmt.Sscanf(f[1], "%x", &size)
				}
				symbol, _, _ := strings.Cut(f[len(f)-1], "@")
				if i := program.Containing(program.Union(codeOf(img)), uint32(at-img.Base)); i < 0 {
					continue // a mark at the end of a section
				}
				n++
				if _, cold := partOf(symbol); cold {
					if !isPart(fns, uint32(at-img.Base), uint32(size)) {
						t.Errorf("%s is no part: %q", symbol, line)
					}
					continue
				}
				fn := at1(fns, uint32(at-img.Base))
				if fn == nil || fn.Name != symbol && !strings.Contains(" "+strings.Join(fn.Aliases, " ")+" ", " "+symbol+" ") {
					t.Errorf("no function %q, but %+v", line, fn)
				} else if size != 0 && uint64(fn.Ranges[0].Len()) != size {
					t.Errorf("%s has %#x bytes, want %#x", symbol, fn.Ranges[0].Len(), size)
				}
			}
			if n < 8 {
				t.Errorf("only %d symbols", n)
			}
		})
	}
}

// Every symbol of a function with a size, of programs that have many.
func TestLargeAgainstReadelf(t *testing.T) {
	readelf := corpus.Tool(t, "readelf")
	for name, file := range withLarge(map[string]string{"shapes": corpus.Path(t, "programs", "shapes.elf")}) {
		t.Run(name, func(t *testing.T) {
			img, fns, _ := find(t, file, "")
			starts := map[uint32]*program.Function{}
			parts := map[program.Range]bool{}
			for i := range fns {
				starts[fns[i].Entry()] = &fns[i]
				for _, r := range fns[i].Ranges[1:] {
					parts[r] = true
				}
			}
			n, cut, cold := 0, 0, 0
			for _, line := range strings.Split(run(t, readelf, "-sW", file), "\n") {
				f := strings.Fields(line)
				if len(f) < 8 || f[3] != "FUNC" || f[2] == "0" || f[6] == "UND" {
					continue
				}
				at, err := strconv.ParseUint(f[1], 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				size, err := strconv.ParseUint(f[2], 0, 32)
				if err != nil {
					t.Fatal(err)
				}
				n++
				r := program.Range{Start: uint32(at - img.Base), End: uint32(at - img.Base + size)}
				fn := starts[r.Start]
				switch {
				case parts[r]:
					cold++
				case fn == nil:
					t.Errorf("no function %q", line)
				case fn.Ranges[0].Len() < r.Len():
					if cut++; cut < 20 {
						t.Logf("%s has %#x bytes, not %#x", f[7], fn.Ranges[0].Len(), size)
					}
				}
			}
			// Functions in assembly hold others, and aliases differ in size.
			if t.Logf("%d symbols of %d functions, %d separated, %d shorter", n, len(fns), cold, cut); cut > n/1000 {
				t.Errorf("%d of %d functions are shorter", cut, n)
			}
		})
	}
}

func codeOf(img *image.File) []program.Range {
	var out []program.Range
	for _, e := range img.Code() {
		out = append(out, program.Range{Start: uint32(e.Start), End: uint32(e.End)})
	}
	return out
}

func at1(fns []program.Function, rva uint32) *program.Function {
	for i := range fns {
		if fns[i].Entry() == rva {
			return &fns[i]
		}
	}
	return nil
}

func isPart(fns []program.Function, rva, size uint32) bool {
	for _, f := range fns {
		for _, r := range f.Ranges[1:] {
			if r.Start == rva && r.Len() == size {
				return true
			}
		}
	}
	return false
}

func TestProgramDetails(t *testing.T) {
	_, fns, report := find(t, built(t, corpus.Tool(t, "gcc"), "-O2"), "")
	checked := byName(fns, "checked")
	if checked == nil || len(checked.Ranges) != 2 || checked.Source != program.Symtab || checked.Local {
		t.Fatalf("checked: %+v, want a cold part", checked)
	}
	if diff := cmp.Diff([]string{"other_name"}, checked.Aliases); diff != "" {
		t.Errorf("aliases (-want +got):\n%s", diff)
	}
	if f := byName(fns, "helper"); f == nil || !f.Local || f.Unit != "source.c" {
		t.Errorf("helper: %+v, want a local function of source.c", f)
	}
	if f := byName(fns, "by_hand"); f == nil || f.Local {
		t.Errorf("by_hand: %+v, want a function from assembly", f)
	}
	if f := byName(fns, "abort@plt"); f == nil || !f.NoReturn || f.Source != program.PLT {
		t.Errorf("abort@plt: %+v, want a stub that does not return", f)
	}
	if f := byName(fns, "printf@plt"); f == nil || f.NoReturn {
		t.Errorf("printf@plt: %+v, want a stub", f)
	}
	if report.Orphans != 0 {
		t.Errorf("%d parts without function", report.Orphans)
	}
}

// Without symbols the unwind table gives the same bounds.
func TestStripped(t *testing.T) {
	strip := corpus.Tool(t, "llvm-strip-19", "strip")
	for name, file := range programs(t) {
		t.Run(name, func(t *testing.T) {
			_, full, _ := find(t, file, "")
			bare := filepath.Join(t.TempDir(), "bare")
			run(t, strip, "-o", bare, file)
			_, fns, report := find(t, bare, "")
			bounds := map[uint32]program.Range{}
			for _, f := range full {
				for _, r := range f.Ranges {
					bounds[r.Start] = r
				}
			}
			same := 0
			for _, f := range fns {
				if f.Source != program.EHFrame {
					continue
				}
				if r, ok := bounds[f.Entry()]; ok && r != f.Ranges[0] {
					t.Errorf("function at %x, want %x", f.Ranges, r)
				} else if ok {
					same++
				} else {
					t.Errorf("no symbol for the function at %x", f.Ranges)
				}
			}
			if t.Logf("%d of %d functions", same, len(full)); same < 3 {
				t.Errorf("only %d functions in the unwind table: %+v", same, report)
			}
		})
	}
}

// Frame description entries as readelf lists them.
func TestEHFrameAgainstReadelf(t *testing.T) {
	readelf := corpus.Tool(t, "readelf")
	files := withLarge(programs(t))
	files["readelf"] = readelf
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			img, err := image.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			f := &finder{img: img}
			data, rva := f.sectionData(".eh_frame")
			spans, defects := ehFrame(data, img.Base+rva)
			if len(defects) > 0 {
				t.Error(defects)
			}
			var got, want []string
			for _, s := range spans {
				got = append(got, fmt.Sprintf("%016x..%016x", s.start, s.start+s.size))
			}
			for _, line := range strings.Split(run(t, readelf, "--debug-dump=frames", file), "\n") {
				if _, pc, ok := strings.Cut(line, " pc="); ok && strings.Contains(line, " FDE ") {
					want = append(want, pc)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 4 {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			other, at := f.ehFrameOfSegment()
			if again, _ := ehFrame(other, img.Base+at); at != rva || len(again) != len(spans) {
				t.Errorf("the segment leads to %#x with %d entries, want %#x with %d", at, len(again), rva, len(spans))
			}
		})
	}
}

// A stripped program with its debug file has all functions again; one of
// another program is refused.
func TestDebugFile(t *testing.T) {
	objcopy := corpus.Tool(t, "objcopy")
	file := built(t, corpus.Tool(t, "gcc"), "-O2", "-g")
	dir := t.TempDir()
	debug, bare := filepath.Join(dir, "program.debug"), filepath.Join(dir, "bare")
	run(t, objcopy, "--only-keep-debug", file, debug)
	run(t, objcopy, "--strip-all", file, bare)
	img, want, _ := find(t, file, "")
	_, got, _ := find(t, bare, debug)
	if diff := cmp.Diff(text(img, want, nil), text(img, got, nil)); diff != "" {
		t.Errorf("with debug file (-want +got):\n%s", diff)
	}
	other := built(t, corpus.Tool(t, "gcc"), "-O1", "-g")
	_, _, err := Find(img, Options{Debug: other})
	var mismatch *debuginfo.MismatchError
	if !errors.As(err, &mismatch) || mismatch.What != "build id" {
		t.Errorf("another program's file: %v", err)
	}

	// Without build ids the checksum in .gnu_debuglink decides.
	plain := built(t, corpus.Tool(t, "gcc"), "-O2", "-g", "-Wl,--build-id=none")
	run(t, objcopy, "--only-keep-debug", plain, debug)
	run(t, objcopy, "--strip-all", "--add-gnu-debuglink="+debug, plain, bare)
	find(t, bare, debug)
	bareImage, err := image.Open(bare)
	if err != nil {
		t.Fatal(err)
	}
	defer bareImage.Close()
	if _, _, err := Find(bareImage, Options{Debug: plain}); !errors.As(err, &mismatch) || mismatch.What != "checksum" {
		t.Errorf("another file: %v", err)
	}
	if _, _, err := Find(bareImage, Options{Debug: filepath.Join(dir, "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Without a section table there are the segments, which lead to the unwind
// table.
func TestWithoutSections(t *testing.T) {
	file := corpus.Path(t, "programs", "shapes.elf")
	_, full, _ := find(t, file, "")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[0x28:0x30]) // e_shoff
	clear(data[0x3c:0x40]) // e_shnum, e_shstrndx
	bare := filepath.Join(t.TempDir(), "bare")
	if err := os.WriteFile(bare, data, 0o644); err != nil {
		t.Fatal(err)
	}
	_, fns, _ := find(t, bare, "")
	n := 0
	for _, f := range fns {
		if g := at1(full, f.Entry()); g != nil && g.Source == program.Symtab {
			if n++; g.Ranges[0] != f.Ranges[0] {
				t.Errorf("%s: %v, want %v", g.Name, f.Ranges, g.Ranges)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d functions of %d", n, len(full))
	}
}
