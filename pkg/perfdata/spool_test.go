package perfdata_test

import (
	"errors"
	"io"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// endless is an input without end that is no recording.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	if e.read > 16<<20 {
		return 0, errors.New("read on and on")
	}
	clear(p)
	return len(p), nil
}

// TestStreamOfSomethingElse makes sure that an input that is no recording is
// refused by its first bytes, before it fills the disk.
func TestStreamOfSomethingElse(t *testing.T) {
	var e endless
	_, err := perfdata.OpenStream(io.Reader(&e), &perfdata.Options{Name: "zero", SpoolDir: t.TempDir()})
	if !errors.Is(err, binfmt.ErrMagic) {
		t.Errorf("error %v, want a wrong signature", err)
	}
	if e.read > 1<<20 {
		t.Errorf("read %d bytes before refusing", e.read)
	}
}
