package funcs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/program"
)

const goText = `package main

type shape interface{ area() int }
type square struct{ n int }

//go:noinline
func (s *square) area() int { return s.n * s.n }

//go:noinline
func generic[T int | float64](v T) T { return v + v }

func main() {
	var s shape = &square{3}
	f := func(x int) int { return generic(x) + s.area() }
	println(f(4), generic(2.5))
}
`

// goProgram builds goText for a system and machine.
func goProgram(t testing.TB, goos, goarch string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(src, []byte(goText), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(corpus.Tool(t, "go"), append(append([]string{"build", "-o", out}, flags...), src)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

// The function table of the runtime as "go tool nm" lists the symbols, from
// programs that have none. Names of generic functions are shorter in it, and
// those of functions in assembly lack the ABI.
func TestPclntabAgainstNM(t *testing.T) {
	type build struct {
		goos, goarch string
		flags        []string
	}
	builds := []build{{"linux", "amd64", nil}, {"linux", "arm64", nil}, {"windows", "amd64", nil}}
	if os.Getenv("SPGO_LONG") == "1" { // builds the runtime once more
		builds = append(builds, build{"linux", "amd64", []string{"-buildmode=pie"}})
	}
	for _, tc := range builds {
		t.Run(strings.Join(append([]string{tc.goos, tc.goarch}, tc.flags...), " "), func(t *testing.T) {
			full := goProgram(t, tc.goos, tc.goarch, tc.flags...)
			bare := goProgram(t, tc.goos, tc.goarch, append([]string{"-ldflags=-s -w"}, tc.flags...)...)
			img, fns, report := find(t, bare, "")
			starts := map[uint64]string{}
			for _, f := range fns {
				if f.Source == program.Pclntab {
					starts[img.Base+uint64(f.Entry())] = f.Name
				}
			}
			n, missing := 0, 0
			for _, line := range strings.Split(run(t, corpus.Tool(t, "go"), "tool", "nm", "-sort", "address", full), "\n") {
				f := strings.SplitN(strings.TrimSpace(line), " ", 3)
				if len(f) != 3 || f[1] != "T" && f[1] != "t" {
					continue
				}
				var at uint64
				fmt.Sscanf(f[0], "%x", &at)
				name, ok := starts[at]
				if n++; !ok {
					missing++
					if symbol := f[2]; !strings.HasPrefix(symbol, "runtime.text") && !strings.HasPrefix(symbol, "runtime.etext") && !strings.HasPrefix(symbol, "go:") && !strings.HasPrefix(symbol, "_rt0_") && !strings.HasPrefix(symbol, "type:") {
						t.Errorf("no function %q", line)
					}
					continue
				}
				name, symbol := asPrinted(name), strings.TrimSuffix(asPrinted(f[2]), ".abi0")
				if name != symbol && symbol != "runtime.text" && !sameGeneric(name, symbol) {
					t.Errorf("%#x is %q, want %q", at, name, symbol)
				}
			}
			if t.Logf("%d symbols, %d of no function; %d functions, %d bytes of %d", n, missing, len(starts), report.Covered, report.Code); len(starts) < 1000 || n-missing < 1000 {
				t.Errorf("%d functions for %d symbols", len(starts), n)
			}
		})
	}
}

// asPrinted replaces the dot of the compiler's own names, which not all linkers
// keep.
func asPrinted(name string) string { return strings.ReplaceAll(name, "·", ".") }

// sameGeneric says whether a name is that of a generic function's symbol: it
// has "[...]" in place of the types.
func sameGeneric(name, symbol string) bool {
	before, after, ok := strings.Cut(name, "[...]")
	return ok && strings.HasPrefix(symbol, before+"[") && strings.HasSuffix(symbol, "]"+after)
}
