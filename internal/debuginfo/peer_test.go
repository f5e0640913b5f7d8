package debuginfo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/image"
)

// peerFrame is a frame as llvm-symbolizer gives it.
type peerFrame struct {
	FunctionName  string
	StartLine     uint32
	FileName      string
	Line          uint32
	Discriminator uint32
}

// symbolize asks llvm-symbolizer for link-time addresses.
func symbolize(t testing.TB, file string, addresses []uint64) [][]peerFrame {
	t.Helper()
	tool := corpus.Tool(t, "llvm-symbolizer-19", "llvm-symbolizer")
	var in strings.Builder
	for _, a := range addresses {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(tool, "--inlines", "--no-demangle", "--output-style=JSON", "-e", file)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var list [][]peerFrame
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var row struct{ Symbol []peerFrame }
		if err := dec.Decode(&row); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, row.Symbol)
	}
	if len(list) != len(addresses) {
		t.Fatalf("%d answers for %d addresses", len(list), len(addresses))
	}
	return list
}

// truthAddresses are all instructions of a program that valgrind saw.
func truthAddresses(t testing.TB, program string) []uint64 {
	data, err := os.ReadFile(corpus.Path(t, "programs", program+".truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []uint64
	for _, line := range strings.Split(string(data), "\n")[1:] {
		if line == "" {
			continue
		}
		v, err := strconv.ParseUint(strings.SplitN(line, "\t", 2)[0], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func openInfo(t testing.TB, file, debug string) (*image.File, *Info) {
	t.Helper()
	img, err := image.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	info, err := Open(img, "", debug)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { info.Close() })
	return img, info
}

// compareStacks compares all frames of addresses where the peer knows a line;
// it returns how many were compared. Elsewhere the peer falls back to symbols
// and the names of their source files.
func compareStacks(t *testing.T, img *image.File, info *Info, file string, addresses []uint64) int {
	t.Helper()
	n, bad := 0, 0
	for i, want := range symbolize(t, file, addresses) {
		if len(want) == 0 || want[0].FileName == "" || len(want) == 1 && want[0].Line == 0 && want[0].StartLine == 0 {
			continue
		}
		n++
		got := info.Stack(uint32(addresses[i] - img.Base))
		if info.pdb != nil { // where functions start the peer does not read from PDBs
			for k := range got {
				got[k].StartLine = 0
			}
		}
		if w, g := peerText(want), stackText(got, want); w != g {
			if bad++; bad <= 5 {
				t.Errorf("%#x:\nwant %s\ngot  %s", addresses[i], w, g)
			}
		}
	}
	if bad > 5 {
		t.Errorf("%d of %d addresses differ", bad, n)
	}
	return n
}

func peerText(frames []peerFrame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s (%d) %s:%d.%d; ", f.FunctionName, f.StartLine, filepath.Clean(f.FileName), f.Line, f.Discriminator)
	}
	return b.String()
}

// stackText prints our frames as the peer does. The peer takes the name of the
// outermost function from the symbols, which says more in two cases: clones of
// GCC (foo.cold, foo.constprop.0), and what it gave no linkage name.
func stackText(frames []Frame, peer []peerFrame) string {
	var b strings.Builder
	for i, f := range frames {
		if i == len(frames)-1 && i == len(peer)-1 {
			symbol := peer[i].FunctionName
			if strings.HasPrefix(symbol, f.Function+".") || strings.HasPrefix(symbol, "_Z") && !strings.HasPrefix(f.Function, "_Z") {
				f.Function = symbol
			}
		}
		fmt.Fprintf(&b, "%s (%d) %s:%d.%d; ", f.Function, f.StartLine, filepath.Clean(f.File), f.Line, f.Discriminator)
	}
	return b.String()
}

const sourceText = `#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>
namespace {
struct Local { int v; explicit Local(int x) : v(x * 3) {} int get() const { return v ^ 5; } };
inline int helper(int x) { return x > 3 ? Local(x).get() : -x; }
}
static int unlikely(int x) { if (x > 1000000) throw std::runtime_error("large"); return x; }
template <class T> __attribute__((noinline)) T sum(const std::vector<T> &v) {
  T s{};
  for (const auto &x : v) { if (x & 1) s += x; else s -= helper(x); }
  return s;
}
extern "C" __attribute__((noinline)) int c_name(int x) { int r = 0; for (int i = 0; i < x; i++) { r += helper(i) + unlikely(i); } return r; }
int main(int argc, char **) {
  std::vector<int> v;
  for (int i = 0; i < argc * 50; i++) v.push_back(i * 7);
  std::sort(v.begin(), v.end(), [](int a, int b) { return (a ^ 3) < (b ^ 3); });
  std::printf("%d %d\n", sum(v), c_name(argc * 10));
  return 0;
}
`

// built compiles sourceText and returns the file.
func built(t testing.TB, tool string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "source.cpp"), filepath.Join(dir, "program")
	if err := os.WriteFile(src, []byte(sourceText), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, tool, append(flags, "-o", out, src)...)
	return out
}

func run(t testing.TB, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return string(out)
}

// codeAddresses are link-time addresses in all code of an image.
func codeAddresses(img *image.File, step uint64) []uint64 {
	var out []uint64
	for _, e := range img.Code() {
		for at := e.Start; at < e.End; at += step {
			out = append(out, img.Base+at)
		}
	}
	return out
}

// Both compilers, DWARF 4 and 5, compressed, moved and with cold parts.
func TestBuildsAgainstSymbolizer(t *testing.T) {
	gcc, clang := corpus.Tool(t, "g++"), corpus.Tool(t, "clang++-19", "clang++")
	for _, tc := range []struct {
		name, tool string
		flags      []string
	}{
		{"clang-5", clang, []string{"-O2", "-gdwarf-5", "-fdebug-info-for-profiling"}},
		{"clang-4", clang, []string{"-O2", "-gdwarf-4", "-no-pie", "-gz", "-ffunction-sections"}},
		{"clang-lines", clang, []string{"-O2", "-gmlt", "-fdebug-info-for-profiling", "-fuse-ld=lld-19"}},
		{"gcc-5", gcc, []string{"-O2", "-gdwarf-5"}},
		{"gcc-4", gcc, []string{"-O3", "-gdwarf-4", "-no-pie", "-gz"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := built(t, tc.tool, tc.flags...)
			img, info := openInfo(t, file, "")
			n := compareStacks(t, img, info, file, codeAddresses(img, 3))
			if t.Logf("%d addresses", n); n < 500 {
				t.Errorf("only %d addresses with lines", n)
			}
			if len(info.Problems()) > 0 || info.Stats().Broken > 0 {
				t.Errorf("problems: %v", info.Problems())
			}
		})
	}
}

func TestProgramsAgainstSymbolizer(t *testing.T) {
	for _, name := range []string{"minivm", "shapes", "wordstat"} {
		t.Run(name, func(t *testing.T) {
			file := corpus.Path(t, "programs", name+".elf")
			img, info := openInfo(t, file, "")
			addresses := truthAddresses(t, name)
			n := compareStacks(t, img, info, file, addresses)
			t.Logf("%d of %d addresses have lines", n, len(addresses))
			if n < 100 {
				t.Errorf("only %d addresses with lines", n)
			}
			if len(info.Problems()) > 0 {
				t.Errorf("problems: %v", info.Problems())
			}
		})
	}
}
