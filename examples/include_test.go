//go:build linux

package examples

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// makefile includes spgo.mk in front of its first rule.
const makefile = `SPGO_BIN := app
SPGO_SAMPLING := --event=task-clock
include spgo.mk

app: app.c
	$(CC) -O2 $(SPGO_CFLAGS) $(SPGO_LDFLAGS) -o $@ $<
`

// source spends its time in one function.
const source = `#include <stdio.h>
int main(void) {
	unsigned long h = 7;
	for (unsigned long i = 0; i < 200000000; i++) {
		if (i & 1 << i % 8) h = h * 31 + i;
		else h ^= h >> 3;
	}
	printf("%lu\n", h);
	return 0;
}
`

// included makes a folder with a program and a Makefile that includes spgo.mk.
func included(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	copyFile(t, "../scripts/spgo.mk", filepath.Join(dir, "spgo.mk"))
	write(t, filepath.Join(dir, "Makefile"), makefile)
	write(t, filepath.Join(dir, "app.c"), source)
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runMake returns what make prints, and whether all went well.
func runMake(t *testing.T, dir string, args ...string) (out string, ok bool) {
	t.Helper()
	b, err := exec.Command("make", append([]string{"-C", dir, "CC=" + corpus.Tool(t, "gcc"), "SPGO_KIND=gcc"}, args...)...).CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(b), err == nil
}

// TestDefaultGoal has the program built alone if no goal is named.
func TestDefaultGoal(t *testing.T) {
	dir := included(t)
	if out, ok := runMake(t, dir); !ok || strings.Contains(out, "spgo-") {
		t.Errorf("make:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "app")); err != nil {
		t.Error(err)
	}
}

// TestRefused has settings that cannot work refused before anything is built.
func TestRefused(t *testing.T) {
	tools := t.TempDir() + string(filepath.Separator)
	for _, name := range []string{"sptcollect", "spdconvert", "spddump"} {
		copyFile(t, "/bin/true", tools+name)
		if err := os.Chmod(tools+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, set, want string }{
		{"kind", "SPGO_KIND=llvm", "clang gcc go bolt"},
		{"tools", "SPGO_TOOLS=/missing/", "there is no /missing/sptcollect"},
		{"bolt", "SPGO_KIND=bolt SPGO_BOLT= SPGO_TOOLS=" + tools, "there is no llvm-bolt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := included(t)
			if out, ok := runMake(t, dir, append(strings.Fields(c.set), "spgo")...); ok || !strings.Contains(out, c.want) {
				t.Errorf("%q is missing in\n%s", c.want, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "app")); err == nil {
				t.Error("the program was built")
			}
		})
	}
}

// TestCheck checks a profile right after the program was built with it, and
// again when the source is another one. The program stays as it is.
func TestCheck(t *testing.T) {
	if !corpus.CanSample() {
		t.Skip("the kernel does not let this process sample its children")
	}
	dir, app := included(t), ""
	tools := builtTools(t)
	check := func(want bool, settings ...string) string {
		t.Helper()
		out, ok := runMake(t, dir, append(settings, "SPGO_TOOLS="+tools, "spgo-check")...)
		if ok != want {
			t.Errorf("make spgo-check %v: passed %v, want %v\n%s", settings, ok, want, out)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "app")); err != nil || string(b) != app {
			t.Error("the program is not what it was")
		}
		return out
	}
	build := func(goal string) {
		t.Helper()
		if out, ok := runMake(t, dir, "SPGO_TOOLS="+tools, goal); !ok {
			t.Fatalf("make %s:\n%s", goal, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, "app"))
		if err != nil {
			t.Fatal(err)
		}
		app = string(b)
	}
	build("spgo")
	check(true)
	if out := check(false, "SPGO_MIN_COVERAGE=100"); !strings.Contains(out, "SPD0205") {
		t.Errorf("coverage:\n%s", out)
	}
	if out := check(false, "SPGO_MIN_SAMPLES=1000000000"); !strings.Contains(out, "SPD0206") {
		t.Errorf("samples:\n%s", out)
	}
	if out := check(false, "SPGO_MIN_DENSITY=1000000000"); !strings.Contains(out, "--min-density") {
		t.Errorf("of density:\n%s", out)
	}

	write(t, filepath.Join(dir, "app.c"), strings.Replace(source, "h ^= h >> 3", "for (int k = i % 3; k > 0; k--) h ^= h << k", 1))
	if out := check(false); !strings.Contains(out, "SPD0106") {
		t.Errorf("edited:\n%s", out)
	}
	build("app")
	if out := check(false); !strings.Contains(out, "SPD0106") {
		t.Errorf("edited and built:\n%s", out)
	}
	build("spgo")
	check(true)
}
