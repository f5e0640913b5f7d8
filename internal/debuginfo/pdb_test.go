package debuginfo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/image"
)

const windowsSource = `namespace deep { namespace er {
struct Counter { int n; inline int bump(int k); int slow(int); };
inline int Counter::bump(int k) { n += k; return n ^ 3; }
__declspec(noinline) int Counter::slow(int k) { return bump(k) * bump(k + 1); }
static inline int twice(Counter &c) {
  int x = c.bump(2);
  return x + c.bump(x) + c.slow(x);
}
} }
static inline int cold(int x) {
  while (x & 1)
    x = x * 3 + 1;
  return x / 7;
}
static __declspec(noinline) int leaf(int x) { return cold(x) * cold(x + 2); }
__declspec(noinline) int shared(int x) { return x * 7 + cold(x); }
extern "C" int entry(int a) {
  deep::er::Counter c = {a};
  int r = deep::er::twice(c);
  if (a > 100)
    r += cold(a) + cold(r);
  return r + leaf(r) + shared(a);
}
`

// builtWindows links windowsSource for a machine and returns the DLL and its
// PDB.
func builtWindows(t testing.TB, machine string) (dll, pdb string) {
	t.Helper()
	clang, link := corpus.Tool(t, "clang-19", "clang"), corpus.Tool(t, "lld-link-19", "lld-link")
	dir := t.TempDir()
	src, obj := filepath.Join(dir, "source.cpp"), filepath.Join(dir, "source.obj")
	if err := os.WriteFile(src, []byte(windowsSource), 0o644); err != nil {
		t.Fatal(err)
	}
	dll, pdb = filepath.Join(dir, "source.dll"), filepath.Join(dir, "source.pdb")
	run(t, clang, "--target="+machine+"-pc-windows-msvc", "-O2", "-g", "-gcodeview", "-ffunction-sections", "-c", "-o", obj, src)
	run(t, link, "/dll", "/noentry", "/debug", "/opt:noref", "/export:entry", "/out:"+dll, "/pdb:"+pdb, obj)
	return dll, pdb
}

func TestPDBAgainstSymbolizer(t *testing.T) {
	for _, machine := range []string{"x86_64", "aarch64"} {
		t.Run(machine, func(t *testing.T) {
			dll, pdb := builtWindows(t, machine)
			img, info := openInfo(t, dll, pdb)
			n := compareStacks(t, img, info, dll, codeAddresses(img, 1))
			if t.Logf("%d addresses", n); n < 200 {
				t.Errorf("only %d addresses with lines", n)
			}
			if len(info.Problems()) > 0 {
				t.Errorf("problems: %v", info.Problems())
			}
		})
	}
}

// The Windows programs have a PDB of their own code and DWARF of MinGW's
// runtime library. The peer reads one of them at a time.
func TestWindowsProgramsAgainstSymbolizer(t *testing.T) {
	strip := corpus.Tool(t, "llvm-strip-19", "llvm-strip")
	for _, name := range []string{"minivm", "wordstat"} {
		exe, pdb := corpus.Path(t, "programs", "pe", name+".exe"), corpus.Path(t, "programs", "pe", name+".pdb")
		dir := t.TempDir()
		stripped := filepath.Join(dir, name+".exe")
		run(t, strip, "--strip-debug", "-o", stripped, exe)
		data, err := os.ReadFile(pdb)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".pdb"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			img, both := openInfo(t, exe, pdb)
			_, onlyDWARF := openInfo(t, exe, "")
			addresses := codeAddresses(img, 3)
			fromPDB := compareStacks(t, img, both, stripped, addresses)
			fromDWARF := compareStacks(t, img, onlyDWARF, exe, addresses)
			t.Logf("%d addresses with lines in the PDB, %d in DWARF", fromPDB, fromDWARF)
			if fromPDB < 200 || fromDWARF < 2000 {
				t.Error("only few addresses have lines")
			}
			known := 0
			for _, a := range addresses {
				if len(both.Stack(uint32(a-img.Base))) > 0 {
					known++
				}
			}
			if known < fromPDB+fromDWARF {
				t.Errorf("%d addresses known from both, want at least %d and %d", known, fromPDB, fromDWARF)
			}
		})
	}
}

// TestLocatePDB finds the PDB that an image names, beside the image alone and
// only if it is of this build.
func TestLocatePDB(t *testing.T) {
	dir := t.TempDir()
	place := func(from, to string) string {
		data, err := os.ReadFile(corpus.Path(t, "programs", "pe", from))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, to)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	exe := place("minivm.exe", "renamed.exe")
	img, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	if got, unusable := Locate(img, exe); got != "" || len(unusable) != 0 {
		t.Errorf("without a PDB: %q, %v", got, unusable)
	}
	pdb := place("wordstat.pdb", "minivm.pdb")
	if got, unusable := Locate(img, exe); got != "" || len(unusable) != 1 || !errors.As(unusable[0], new(*MismatchError)) {
		t.Errorf("with the PDB of another image: %q, %v", got, unusable)
	}
	place("minivm.pdb", "minivm.pdb")
	if got, unusable := Locate(img, exe); got != pdb || len(unusable) != 0 {
		t.Errorf("found %q, %v, want %q", got, unusable, pdb)
	}
}
