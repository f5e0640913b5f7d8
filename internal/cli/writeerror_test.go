package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// TestWhatStopsAnOutput: a defect of what an output is made from is that of the
// input, all else a failure to write. Either way nothing is written.
func TestWhatStopsAnOutput(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		code diag.Code
		file string
	}{
		{"damaged input", &binfmt.Error{File: "in", Offset: 1, Err: binfmt.ErrCorrupt}, diag.Corrupt, "in"},
		{"input of another format", &binfmt.Error{File: "in", Err: binfmt.ErrMagic}, diag.UnknownFormat, "in"},
		{"broken disk of the input", &os.PathError{Op: "read", Path: "in", Err: syscall.EIO}, diag.CannotRead, "in"},
		{"full disk", &os.PathError{Op: "write", Path: "tmp", Err: syscall.ENOSPC}, diag.CannotWrite, "out"},
		{"a limit of the output", &binfmt.Error{Err: binfmt.ErrLimit}, diag.CannotWrite, "out"},
	} {
		dir := t.TempDir()
		err := WriteFile(context.Background(), filepath.Join(dir, "out"), func(io.Writer) error { return tc.err })
		got := diag.Of(err)
		if got.Code != tc.code || filepath.Base(got.File) != tc.file {
			t.Errorf("%s: %v", tc.name, got)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", tc.name, left, err)
		}
	}
}

// TestPanicLeavesNothing: a bug met while an output is written leaves what was
// there, and nothing beside it.
func TestPanicLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(out, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		WriteFile(context.Background(), out, func(io.Writer) error { panic("a bug") })
	}()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	if data, err := os.ReadFile(out); err != nil || string(data) != "old" {
		t.Errorf("the output is %q, %v", data, err)
	}
}
