//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipesAsOutput writes into a pipe without a name, as a shell hands it
// over, and into a named one that nobody reads.
func TestPipesAsOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/proc/self/fd/%d", w.Fd())
	if _, err := os.Stat(name); err != nil {
		name = fmt.Sprintf("/dev/fd/%d", w.Fd())
	}
	if err := WriteFile(context.Background(), name, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if b, err := io.ReadAll(r); string(b) != "text" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}

	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := WriteFile(ctx, fifo, func(io.Writer) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe that nobody reads: %v", err)
	}
}
