//go:build linux

// Package examples tests the examples.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestMake has each example sampled and built again with its profile, by
// scripts/spgo.mk and the tools of this tree.
func TestMake(t *testing.T) {
	if !corpus.CanSample() {
		t.Skip("the kernel does not let this process sample its children")
	}
	tools := builtTools(t)
	for _, c := range []struct {
		kind, folder string
		needs        []string // programs, any of which will do
		compiler     string
		prints       string // by the program that was built at last
	}{
		{"go", "wordscan", nil, "", "20000000 words"},
		{"clang", "messages", []string{"clang-19", "clang"}, "CC", "12000000 messages"},
		{"gcc", "messages", []string{"gcc"}, "CC", "12000000 messages"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			if c.kind == "go" && os.Getenv("SPGO_LONG") == "" {
				t.Skip("builds the standard library with the profile: set SPGO_LONG=1")
			}
			var args []string
			if c.needs != nil {
				args = append(args, c.compiler+"="+corpus.Tool(t, c.needs...))
			}
			dir := copied(t, c.folder)
			args = append(args, "-C", dir, "spgo", "SPGO_KIND="+c.kind, "SPGO_TOOLS="+tools, "SPGO_SAMPLING=--event=task-clock")
			out, err := exec.Command("make", args...).CombinedOutput()
			if err != nil {
				t.Fatalf("make %s: %v\n%s", strings.Join(args, " "), err, out)
			}
			for _, want := range []string{"Samples used", "Verdict: All files belong to one build", "Matched functions: 100.00 %", ".profile"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is missing in\n%s", want, out)
				}
			}
			ran, err := exec.Command(filepath.Join(dir, c.folder)).Output()
			if err != nil || !strings.HasPrefix(string(ran), c.prints) {
				t.Errorf("the program with the profile: %v, %q", err, ran)
			}
		})
	}
}

// builtTools builds the tools of this tree and returns their folder as a prefix.
func builtTools(t *testing.T) string {
	t.Helper()
	tools := t.TempDir() + string(filepath.Separator)
	if out, err := exec.Command("go", "build", "-o", tools, "../cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return tools
}

// copied copies an example and the include to a folder of the same depth.
func copied(t *testing.T, folder string) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "examples", folder)
	for _, pattern := range []string{"*", "gen/*"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if fi, err := os.Stat(f); err == nil && fi.Mode().IsRegular() {
				copyFile(t, f, filepath.Join(root, "examples", f))
			}
		}
	}
	copyFile(t, "../scripts/spgo.mk", filepath.Join(root, "scripts", "spgo.mk"))
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/copied\n\ngo 1.24\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
