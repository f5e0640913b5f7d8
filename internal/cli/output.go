package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spgo-tools/spgo/internal/diag"
)

// WriteFile makes the file at path by calling write. The file appears whole
// or not at all: it is written beside the target and renamed after it was
// flushed to disk, so an existing file survives every failure, and nothing is
// left behind when ctx is cancelled. A symbolic link is followed; a device or
// pipe is written directly.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) (err error) {
	target := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		target = resolved
	}
	mode := os.FileMode(0o644)
	if fi, err := os.Stat(target); err == nil {
		if fi.IsDir() {
			return diag.New(diag.CannotWrite, "is a folder").In(path)
		}
		if !fi.Mode().IsRegular() {
			return writeDirect(target, write)
		}
		mode = fi.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".tmp-*")
	if err != nil {
		return writeError(path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	buffered := bufio.NewWriterSize(&cancelWriter{ctx, tmp}, 1<<20)
	if err := write(buffered); err != nil {
		return writeError(path, err)
	}
	if err := errors.Join(buffered.Flush(), tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return writeError(path, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return writeError(path, err)
	}
	return nil
}

func writeDirect(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return writeError(path, err)
	}
	buffered := bufio.NewWriterSize(f, 1<<20)
	if err := write(buffered); err != nil {
		f.Close()
		return writeError(path, err)
	}
	if err := errors.Join(buffered.Flush(), f.Close()); err != nil {
		return writeError(path, err)
	}
	return nil
}

// writeError presents what stopped the output; errors that have a code of
// their own pass unchanged.
func writeError(path string, err error) error {
	var coded *diag.Error
	if errors.As(err, &coded) || errors.Is(err, context.Canceled) {
		return err
	}
	e := diag.New(diag.CannotWrite, "%v", err).In(path)
	e.Err = err
	return e
}

// cancelWriter stops a long output when the command is interrupted.
type cancelWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *cancelWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
