package funcs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
)

const importerText = `int first(int), second(int); extern int (*pointer)(int);
static int pick(int x) { return x; }
static void *resolve(void) { return (void *)pick; }
int indirect(int) __attribute__((ifunc("resolve")));
int use(int x) { return first(x) + second(x) + first(x + 1) + (&second == pointer) + indirect(x); }
`

// shared links a library with imports for a machine, without a C library.
func shared(t testing.TB, target string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "importer.c"), filepath.Join(dir, "lib.so")
	if err := os.WriteFile(src, []byte(importerText), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--target=" + target + "-linux-gnu", "-O1", "-fPIC", "-shared", "-nostdlib", "-fuse-ld=lld-19", "-o", out}
	run(t, corpus.Tool(t, "clang-19", "clang"), append(append(args, flags...), src)...)
	return out
}

var stubLabel = regexp.MustCompile(`(?m)^([0-9a-f]+) <(.*)@plt>:$`)

// Stubs as objdump labels them.
func TestStubsAgainstObjdump(t *testing.T) {
	gnu, llvm := corpus.Tool(t, "objdump"), corpus.Tool(t, "llvm-objdump-19", "llvm-objdump")
	files := withLarge(programs(t))
	files["x86-64 lazy"] = shared(t, "x86_64")
	files["x86-64 ibt"] = shared(t, "x86_64", "-fcf-protection", "-Wl,-z,force-ibt")
	files["arm64"] = shared(t, "aarch64")
	files["arm64 bti"] = shared(t, "aarch64", "-mbranch-protection=standard", "-Wl,-z,force-bti", "-Wl,-z,pac-plt")
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			img, fns, _ := find(t, file, "")
			var got, want []string
			for _, f := range fns {
				if f.Source == program.PLT {
					got = append(got, strings.Fields(text(img, []program.Function{f}, nil)[0])[0])
				}
			}
			starts := map[string]bool{}
			objdump := gnu // the other one does not know stubs that begin with endbr64
			if img.Arch == image.ArchARM64 {
				objdump = llvm
			}
			for _, m := range stubLabel.FindAllStringSubmatch(run(t, objdump, "-d", "--no-show-raw-insn", file), -1) {
				want = append(want, m[2]+"@plt")
				starts[strings.TrimLeft(m[1], "0")] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("stubs (-want +got):\n%s", diff)
			}
			for _, f := range fns {
				if line := text(img, []program.Function{f}, nil)[0]; f.Source == program.PLT {
					if at, _, _ := strings.Cut(strings.Fields(line)[1], "+"); !starts[at] {
						t.Errorf("no stub starts at %s", line)
					}
				}
			}
		})
	}
}

// Stubs of indirect functions have the name of the resolver's symbol, which
// relocations lead to.
func TestIndirectStubs(t *testing.T) {
	file := built(t, corpus.Tool(t, "gcc"), "-O1", "-static")
	img, fns, _ := find(t, file, "")
	names := map[string]map[string]bool{} // by address
	for _, line := range strings.Split(run(t, corpus.Tool(t, "nm"), file), "\n") {
		if f := strings.Fields(line); len(f) == 3 {
			at := strings.TrimLeft(f[0], "0")
			if names[at] == nil {
				names[at] = map[string]bool{}
			}
			names[at][f[2]+"@plt"] = true
		}
	}
	resolver := map[string]string{} // by address of the pointer
	for _, line := range strings.Split(run(t, corpus.Tool(t, "readelf"), "-rW", file), "\n") {
		if f := strings.Fields(line); len(f) == 4 && f[2] == "R_X86_64_IRELATIVE" {
			resolver[strings.TrimLeft(f[0], "0")] = f[3]
		}
	}
	n := 0
	for _, m := range regexp.MustCompile(`(?m)^ +([0-9a-f]+):.*\bjmp +\*0x[0-9a-f]+\(%rip\) +# ([0-9a-f]+)`).FindAllStringSubmatch(run(t, corpus.Tool(t, "objdump"), "-d", "-j", ".plt", file), -1) {
		var at uint64
		fmt.Sscanf(m[1], "%x", &at)
		fn := at1(fns, uint32(at-img.Base))
		if fn == nil || fn.Source != program.PLT || fn.Ranges[0].Len() != 8 || !names[resolver[m[2]]][fn.Name] {
			t.Errorf("stub at %s: %+v, want one of %v", m[1], fn, names[resolver[m[2]]])
		}
		n++
	}
	if n < 5 {
		t.Errorf("only %d stubs", n)
	}
}
