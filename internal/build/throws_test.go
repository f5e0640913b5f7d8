package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/cfg"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

func compile(t *testing.T, compiler string, args ...string) {
	t.Helper()
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
}

// caught are the ways in which programs with exceptions are made, and how many
// edges to landing pads there are at least.
var caught = []struct {
	name  string
	make  func(t *testing.T, output string)
	edges int
}{
	{"gcc", func(t *testing.T, out string) {
		compile(t, corpus.Tool(t, "g++"), "-O2", "testdata/throws.cc", "-o", out)
	}, 2},
	{"gcc without optimization", func(t *testing.T, out string) {
		compile(t, corpus.Tool(t, "g++"), "-O0", "-no-pie", "testdata/throws.cc", "-o", out)
	}, 2},
	{"clang", func(t *testing.T, out string) {
		compile(t, corpus.Tool(t, "clang++-19", "clang++"), "-O2", "testdata/throws.cc", "-o", out)
	}, 2},
	{"clang without optimization", func(t *testing.T, out string) {
		compile(t, corpus.Tool(t, "clang++-19", "clang++"), "-O0", "testdata/throws.cc", "-o", out)
	}, 2},
	{"clang, parts", func(t *testing.T, out string) {
		compile(t, corpus.Tool(t, "clang++-19", "clang++"), "-O2", "-fuse-ld=lld", "-fbasic-block-sections=all", "testdata/throws.cc", "-o", out)
	}, 2},
	{"clang, arm64", func(t *testing.T, out string) {
		compile(t, corpus.Tool(t, "clang++-19", "clang++"), "--target=aarch64-linux-gnu", "-O2", "-fPIC", "-c", "testdata/throws.cc", "-o", out+".o")
		compile(t, corpus.Tool(t, "ld.lld-19", "ld.lld"), "-shared", out+".o", "-o", out)
	}, 2},
	{"mingw", func(t *testing.T, out string) {
		compile(t, corpus.Tool(t, "x86_64-w64-mingw32-g++"), "-O2", "testdata/throws.cc", "-o", out+".exe")
		if err := os.Rename(out+".exe", out); err != nil {
			t.Fatal(err)
		}
	}, 2},
	{"scopes, x64", func(t *testing.T, out string) { scopes(t, "x86_64", out) }, 2},
	{"scopes, arm64", func(t *testing.T, out string) { scopes(t, "aarch64", out) }, 2},
}

func scopes(t *testing.T, machine, out string) {
	compile(t, corpus.Tool(t, "clang-19", "clang"), "--target="+machine+"-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-c", "testdata/scopes.c", "-o", out+".obj")
	compile(t, corpus.Tool(t, "lld-link-19", "lld-link"), "/dll", "/noentry", "/debug", "/out:"+out, "/pdb:"+out+".pdb", out+".obj")
}

// TestLandingPads builds databases of programs that catch exceptions: all of
// their code that is not behind a call that never returns is reached.
func TestLandingPads(t *testing.T) {
	for _, x := range caught {
		t.Run(x.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "app")
			x.make(t, path)
			f, r := build(t, path, "")
			t.Logf("%d edges to landing pads, unreached %v", r.Throws, r.Unreached)
			if r.Throws < x.edges {
				t.Errorf("%d edges to landing pads, want at least %d", r.Throws, x.edges)
			}
			for v := range f.Violations() {
				t.Error(v)
			}
			for k := range f.Modules[0].Functions {
				switch fn := &f.Modules[0].Functions[k]; fn.Name {
				case "outer", "middle", "main", "risky":
					if lost := unreached(fn); lost >= 0 {
						t.Errorf("%s: nothing leads to block %d, at %+v", fn.Name, lost+1, fn.Blocks[lost].Ranges)
					}
				}
			}
			if r.Unreached[cfg.BehindReturn] > 0 {
				t.Errorf("unreached: %v", r.Unreached)
			}
		})
	}
}

// unreached returns the first block with code, but for padding, that no way
// leads to, or -1.
func unreached(fn *spd.Function) int {
	seen := make([]bool, len(fn.Blocks))
	for work := []int{0}; len(work) > 0; {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[k] {
			continue
		}
		seen[k] = true
		for _, e := range fn.Blocks[k].Edges {
			work = append(work, int(e.To)-1)
		}
	}
	for k := range seen {
		if !seen[k] && len(fn.Blocks[k].Ranges) > 0 && !isGap(fn, k) {
			return k
		}
	}
	return -1
}
