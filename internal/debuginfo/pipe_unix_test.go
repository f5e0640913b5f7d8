//go:build unix

package debuginfo

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/image"
)

// TestPipes does not wait for writers of pipes that have the names of files with
// debug information.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	tool(t, dir, corpus.Tool(t, "g++"), "-g", "-gsplit-dwarf", "-c", corpus.Path(t, "programs", "shapes.cpp"), "-o", "shapes.o")
	tool(t, dir, corpus.Tool(t, "g++"), "shapes.o", "-o", "app")
	tool(t, dir, "rm", "shapes.dwo")
	path := filepath.Join(dir, "app")
	for _, name := range []string{"app.dwp", "shapes.dwo", "other"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	if s := used(t, path); len(s.BadPackages) != 1 || len(s.Missing) != 1 {
		t.Errorf("%+v", s)
	}
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	if _, err := OpenDebugFile(img, filepath.Join(dir, "other")); err == nil {
		t.Error("a pipe is a debug file")
	}
	if _, err := OpenPDB(img, filepath.Join(dir, "other")); err == nil {
		t.Error("a pipe is a PDB")
	}
}
