package funcs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

const windowsText = `static __declspec(noinline) int helper(int x) { return x * 3 + (x >> 2); }
namespace n { __declspec(noinline) int big(int *p, int x) { int a[40]; for (int i = 0; i < 40; i++) a[i] = p[i] * x; int s = 0; for (int i = 0; i < x; i++) s += a[i % 40]; return s; } }
extern "C" int entry(int a, int *p) { return n::big(p, a) + helper(a); }
extern "C" void *memset(void *p, int c, unsigned long long n) { volatile char *q = (volatile char *)p; while (n--) *q++ = (char)c; return p; }
extern "C" void __chkstk() {}
`

// windowsDLL links windowsText and returns the DLL and its PDB.
func windowsDLL(t testing.TB, machine string) (dll, pdb string) {
	t.Helper()
	dir := t.TempDir()
	src, obj := filepath.Join(dir, "source.cpp"), filepath.Join(dir, "source.obj")
	if err := os.WriteFile(src, []byte(windowsText), 0o644); err != nil {
		t.Fatal(err)
	}
	dll, pdb = filepath.Join(dir, "source.dll"), filepath.Join(dir, "source.pdb")
	run(t, corpus.Tool(t, "clang-19", "clang"), "--target="+machine+"-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-c", "-o", obj, src)
	run(t, corpus.Tool(t, "lld-link-19", "lld-link"), "/dll", "/noentry", "/debug", "/opt:noref", "/export:entry", "/out:"+dll, "/pdb:"+pdb, obj)
	return dll, pdb
}

func TestPDBFunctions(t *testing.T) {
	for _, machine := range []string{"x86_64", "aarch64"} {
		t.Run(machine, func(t *testing.T) {
			dll, pdb := windowsDLL(t, machine)
			_, fns, _ := find(t, dll, pdb)
			for name, want := range map[string]program.Function{
				"entry":              {Source: program.PDB},
				"?big@n@@YAHPEAHH@Z": {Source: program.PDB},
				"helper":             {Source: program.PDB, Local: true, Unit: "source.obj"},
			} {
				f := byName(fns, name)
				if f == nil || f.Source != want.Source || f.Local != want.Local || f.Unit != want.Unit {
					t.Errorf("%s: %+v, want %+v", name, f, want)
				}
			}
			// Without PDB there are exports and the unwind table, with the same
			// bounds.
			_, bare, _ := find(t, dll, "")
			if f := byName(bare, "entry"); f == nil || f.Source != program.Dynsym {
				t.Errorf("entry: %+v, want an export", f)
			}
			for _, f := range bare {
				full := at1(fns, f.Entry())
				if full == nil {
					t.Errorf("function at %x is not in the PDB", f.Ranges)
				} else if f.Ranges[0] != full.Ranges[0] {
					t.Errorf("%s at %x, want %x", full.Name, f.Ranges, full.Ranges)
				}
			}
			if len(bare) < 2 {
				t.Errorf("%d functions without PDB", len(bare))
			}
			other, _ := windowsDLL(t, machine)
			img, err := image.Open(other)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			var mismatch *debuginfo.MismatchError
			if _, _, err := Find(img, Options{Debug: corpus.Path(t, "programs", "pe", "minivm.pdb")}); !errors.As(err, &mismatch) || mismatch.What != "GUID and age" {
				t.Errorf("PDB of another program: %v", err)
			}
		})
	}
}

// Entries of the exception directory as llvm-readobj lists them.
func TestPdataAgainstReadobj(t *testing.T) {
	readobj := corpus.Tool(t, "llvm-readobj-19", "llvm-readobj")
	arm, _ := windowsDLL(t, "aarch64")
	x64, _ := windowsDLL(t, "x86_64")
	for name, file := range map[string]string{
		"minivm": corpus.Path(t, "programs", "pe", "minivm.exe"), "wordstat": corpus.Path(t, "programs", "pe", "wordstat.exe"), "arm64": arm, "x64": x64,
	} {
		t.Run(name, func(t *testing.T) {
			img, err := image.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			dir := img.PE.Directory(image.DirectoryException)
			data := (&finder{img: img}).bytesAt("pdata", uint64(dir.RVA), uint64(dir.Size))
			decode := pdataAMD64
			if img.Arch == image.ArchARM64 {
				decode = pdataARM64
			}
			list, defects := decode(data, img.ReadAtRVA)
			if len(defects) > 0 {
				t.Error(defects)
			}
			var got, want []string
			for _, u := range list {
				size := fmt.Sprintf("%d", u.end-u.start)
				got = append(got, fmt.Sprintf("%X %s", img.Base+uint64(u.start), size))
			}
			out := run(t, readobj, "--unwind", file)
			if img.Arch == image.ArchARM64 {
				for _, m := range regexp.MustCompile(`(?s)Function: (?:[^\n]*\()?0x([0-9A-F]+)\)?\n.*?FunctionLength: (\d+)`).FindAllStringSubmatch(out, -1) {
					want = append(want, m[1]+" "+m[2])
				}
			} else {
				for _, m := range regexp.MustCompile(`StartAddress: .*\(0x([0-9A-F]+)\)\n *EndAddress: .*\(0x([0-9A-F]+)\)`).FindAllStringSubmatch(out, -1) {
					var start, end uint64
					fmt.Sscanf(m[1]+" "+m[2], "%X %X", &start, &end)
					want = append(want, fmt.Sprintf("%X %d", start, end-start))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 2 {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// MinGW programs have COFF symbols: each function that nm lists is one.
func TestCOFFAgainstNM(t *testing.T) {
	gcc, nm := corpus.Tool(t, "x86_64-w64-mingw32-gcc"), corpus.Tool(t, "x86_64-w64-mingw32-nm")
	file := built(t, gcc, "-O2") + ".exe"
	img, fns, _ := find(t, file, "")
	n := 0
	for _, line := range strings.Split(run(t, nm, file), "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "T" {
			continue
		}
		var at uint64
		fmt.Sscanf(f[0], "%x", &at)
		if program.Containing(codeOf(img), uint32(at-img.Base)) < 0 {
			continue // a mark behind the code
		}
		n++
		fn := at1(fns, uint32(at-img.Base))
		if fn == nil || fn.Name != f[2] && !slices.Contains(fn.Aliases, f[2]) {
			t.Errorf("no function %q, but %+v", line, fn)
		}
	}
	if n < 50 {
		t.Errorf("only %d symbols", n)
	}
	if f := byName(fns, "checked"); f == nil || len(f.Ranges) != 2 || f.Source != program.COFF {
		t.Errorf("checked: %+v, want two parts", f)
	}
	if f := byName(fns, "helper"); f == nil || !f.Local || f.Unit != "source.c" {
		t.Errorf("helper: %+v, want a local function of source.c", f)
	}
}

// unwindImage is unwind data at an RVA.
func unwindImage(rva uint64, data []byte) readAt {
	return func(p []byte, at uint64) (int, error) {
		if at < rva || at-rva > uint64(len(data)) {
			return 0, io.EOF
		}
		return copy(p, data[at-rva:]), nil
	}
}

func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestChainedEntries(t *testing.T) {
	// At 0x100 plain data, at 0x104 data with 3 codes that are chained to the
	// entry (10, 20, 0x100), at 0x11c data without codes chained to that one.
	data := words(0x00000001, 0x00030021, 0, 0, 0x10, 0x20, 0x100, 0x00000021, 0x30, 0x40, 0x104)
	// Behind that is an entry that another one refers to.
	indirect := 0x100 + uint32(len(data)) | indirectUnwind
	data = append(data, words(0x10, 0x20, 0x100)...)
	entries := words(0x10, 0x20, 0x100, 0x20, 0x28, 0x104, 0x30, 0x40, 0x104, 0x50, 0x60, 0x11c, 0, 0, 0, 0x90, 0xa0, indirect)
	list, defects := pdataAMD64(entries, unwindImage(0x100, data))
	if len(defects) > 0 {
		t.Fatal(defects)
	}
	got := joinFragments(list)
	want := []unwound{{0x10, 0x28, 0x10}, {0x30, 0x40, 0x10}, {0x50, 0x60, 0x10}, {0x90, 0xa0, 0x10}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(unwound{})); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestPdataDefects(t *testing.T) {
	loop := words(0x00000021, 0x10, 0x20, 0x100)
	for _, tc := range []struct {
		name    string
		decode  func([]byte, readAt) ([]unwound, []error)
		entries []byte
		want    int // entries that stay
	}{
		{"endless chain", pdataAMD64, words(0x10, 0x20, 0x100), 1},
		{"end before start", pdataAMD64, words(0x20, 0x10, 0x100), 0},
		{"no unwind data", pdataAMD64, words(0x10, 0x20, 0x900), 1},
		{"no indirect entry", pdataAMD64, words(0x10, 0x20, 0x901), 1},
		{"reserved kind", pdataARM64, words(0x10, 3), 0},
		{"empty packed", pdataARM64, words(0x10, 1), 0},
		{"no record", pdataARM64, words(0x10, 0x900), 0},
	} {
		list, defects := tc.decode(tc.entries, unwindImage(0x100, loop))
		if len(defects) != 1 || len(list) != tc.want {
			t.Errorf("%s: %d entries, defects %v; want %d and one", tc.name, len(list), defects, tc.want)
		}
	}
}

func TestARM64Fragments(t *testing.T) {
	// A record of 0x20 bytes with end_c first, one epilog scope in between.
	const codeWords, scopes = 1 << 27, 1 << 22
	data := words(8|codeWords|scopes, 0, 0x000000e5, 8|codeWords|1<<21, 0x000000e4)
	packed := func(size uint32, kind uint32) uint32 { return size/4<<2 | kind }
	list, defects := pdataARM64(words(
		0x1000, packed(0x40, packedARM64),
		0x1040, packed(0x10, fragmentARM64), // goes on
		0x1050, 0x100, // goes on
		0x2000, 0x100, // a fragment of something unknown
		0x2020, 0x10c, // a function
		0x2050, packed(0x10, fragmentARM64), // does not touch
	), unwindImage(0x100, data))
	if len(defects) > 0 {
		t.Fatal(defects)
	}
	got := joinFragments(list)
	want := []unwound{{0x1000, 0x1070, 0x1000}, {0x2000, 0x2020, 0x2000}, {0x2020, 0x2040, 0x2020}, {0x2050, 0x2060, 0x2050}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(unwound{})); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// A PDB made for a real image: separated code, a public symbol without
// procedure that ends with its module, code that the linker left out, and data.
func TestPDBPieces(t *testing.T) {
	exe := corpus.Path(t, "programs", "pe", "minivm.exe")
	img, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	id, _ := img.ID()
	const gproc, lproc, function = 0x1110, 0x110f, pdb.PublicCode | pdb.PublicFunction
	symbols := msftest.Proc(4, gproc, 1, 0x100, 0x40, "n::f")
	symbols = append(symbols, msftest.SepCode(1, 0x900, 0x20, 1, 0x100)...)
	symbols = append(symbols, msftest.SepCode(1, 0xa00, 0x20, 9, 0x100)...) // of nothing
	symbols = append(symbols, msftest.Proc(4+len(symbols), lproc, 1, 0x200, 0x10, "n::g")...)
	symbols = append(symbols, msftest.Proc(4+len(symbols), lproc, 0, 0x300, 0x10, "gone")...)
	var globals []byte
	for _, p := range []struct {
		section       uint16
		offset, flags uint32
		name          string
	}{{1, 0x100, function, "?f@n@@YAXXZ"}, {1, 0x400, function, "assembly"}, {2, 0x10, 0, "data"}} {
		globals = append(globals, msftest.Public(p.section, p.offset, p.flags, p.name)...)
	}
	path := filepath.Join(t.TempDir(), "made.pdb")
	made := msftest.PDB{GUID: id.GUID, Age: id.Age, DBIAge: id.Age, Globals: globals,
		Sections:      []msftest.Section{{Name: ".text", VirtualSize: 0x70c0, VirtualAddress: 0x1000}, {Name: ".rdata", VirtualSize: 0x1a50, VirtualAddress: 0x9000}},
		Modules:       []msftest.Module{{Name: `c:\obj\a.obj`, Symbols: symbols}, {Name: "b.obj"}},
		Contributions: []msftest.Contribution{{Section: 1, Offset: 0x100, Size: 0x200}, {Section: 1, Offset: 0x400, Size: 0x28, Module: 1}}}
	if err := os.WriteFile(path, made.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	_, fns, report := find(t, exe, path)
	var got []string
	for _, f := range fns {
		if f.Source == program.PDB {
			got = append(got, fmt.Sprintf("%s %x %v %s", f.Name, f.Ranges, f.Local, f.Unit))
		}
	}
	want := []string{"?f@n@@YAXXZ [{1100 1140} {1900 1920}] false ", "n::g [{1200 1210}] true a.obj", "assembly [{1400 1428}] false ", " [{1a00 1a20}] false "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	if report.Skipped[program.PDB][OutsideCode] != 1 || report.Skipped[program.PDB][InsideFunction] != 0 {
		t.Errorf("report %+v", report)
	}
}
