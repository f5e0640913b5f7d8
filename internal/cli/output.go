package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/filelock"
)

// WriteFile makes the file at path by calling write. The file appears whole
// or not at all: it is written beside the target and renamed after it was
// flushed to disk, so an existing file survives every failure, and nothing is
// left behind when ctx is cancelled. A symbolic link is followed, even to a
// file that is not there yet; a device or pipe is written directly.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	return replace(ctx, path, func(f *os.File) error {
		buffered := bufio.NewWriterSize(&cancelWriter{ctx, f}, 128<<10)
		if err := write(buffered); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// WriteSeekableFile is WriteFile for what cannot be written from its start to
// its end; the output has to be a file.
func WriteSeekableFile(ctx context.Context, path string, write func(io.WriteSeeker) error) error {
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		return diag.New(diag.CannotWrite, "is no file").In(path)
	}
	return replace(ctx, path, func(f *os.File) error { return write(f) })
}

// replace has fill write the file at path anew, or what is no regular file
// directly.
func replace(ctx context.Context, path string, fill func(*os.File) error) error {
	mode := os.FileMode(0o644)
	if fi, err := os.Stat(path); err == nil {
		if fi.IsDir() {
			return diag.New(diag.CannotWrite, "is a folder").In(path)
		}
		if !fi.Mode().IsRegular() {
			return writeDirect(ctx, path, fill)
		}
		mode = fi.Mode().Perm()
	}
	target, err := followLinks(path)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(target)
	if dir == "" {
		dir = "." // CreateTemp would take the system's folder
	}
	tmp, err := filelock.CreateTemp(dir, base)
	if err != nil {
		return writeError(path, err)
	}
	placed := false
	defer func() {
		if !placed { // for an error, or a panic of ours
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := fill(tmp); err != nil {
		return writeError(path, err)
	}
	if err := errors.Join(tmp.Chmod(mode), tmp.Sync()); err != nil {
		return writeError(path, err)
	}
	if runtime.GOOS == "windows" { // which renames no open file
		if err := tmp.Close(); err != nil {
			return writeError(path, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return writeError(path, err)
	}
	placed = true
	tmp.Close() // all of it was written before
	if runtime.GOOS != "windows" {
		filelock.RemoveTemporaries(target) // of runs that were killed; the output is there without that
	}
	return nil
}

// followLinks is the file that a symbolic link leads to, whether it exists or
// not. Names are not simplified on the way: a .. behind a link is the parent
// of where it leads.
func followLinks(path string) (string, error) {
	const most = 40 // links; systems allow about as many
	target := path
	for range most {
		link, err := os.Readlink(target)
		if err != nil {
			return target, nil // no link, or nothing there
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(target)
			link = dir + link
		}
		target = link
	}
	return "", diag.New(diag.CannotWrite, "a symbolic link that leads in a circle, or through more than %d links", most).In(path)
}

// writeDirect writes what is no regular file. Opening a pipe waits for a
// reader, but not beyond ctx.
func writeDirect(ctx context.Context, path string, fill func(*os.File) error) error {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	var f *os.File
	select {
	case <-ctx.Done():
		return ctx.Err()
	case o := <-done:
		if o.err != nil {
			return writeError(path, o.err)
		}
		f = o.f
	}
	if err := fill(f); err != nil {
		f.Close()
		return writeError(path, err)
	}
	if err := f.Close(); err != nil {
		return writeError(path, err)
	}
	return nil
}

// writeError presents what stopped the output; errors that have a code of
// their own, and those of what the output is made from, pass unchanged.
func writeError(path string, err error) error {
	var coded *diag.Error
	if errors.As(err, &coded) || errors.Is(err, context.Canceled) || isOfInput(err) {
		return err
	}
	e := diag.New(diag.CannotWrite, "%v", err).In(path)
	e.Err = err
	return e
}

// isOfInput says whether an error is a defect of a file that was read while
// the output was written.
func isOfInput(err error) bool {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Op == "read"
	}
	e := diag.Of(err)
	switch e.Code {
	case diag.UnknownFormat, diag.BadVersion, diag.Unsupported, diag.TooLarge, diag.Truncated, diag.Corrupt:
		return e.File != ""
	}
	return false
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

// Replaceable makes sure that writing an output destroys nothing: it must not
// be one of the inputs, and not exist unless as a file of its kind, which is
// tells. What is no regular file, and standard output (-), is written to, not
// replaced.
func Replaceable(output, kind string, is func(io.ReaderAt) bool, inputs ...os.FileInfo) error {
	if output == "-" {
		return nil
	}
	fi, err := os.Stat(output)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return diag.New(diag.CannotWrite, "%v", err).In(output)
	case fi.IsDir():
		return diag.New(diag.WouldReplace, "the output is a folder").In(output)
	}
	for _, input := range inputs {
		if input != nil && os.SameFile(fi, input) {
			return diag.New(diag.WouldReplace, "the output is the input").In(output).
				Because("The same file is named twice.").Do("Give the output a new name.")
		}
	}
	if !fi.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(output)
	if err != nil {
		return err
	}
	defer f.Close()
	if !is(f) {
		return diag.New(diag.WouldReplace, "the output exists and is no %s", kind).In(output).
			Because("The name is that of another file.").Do("Give the output a new name, or remove the file first.")
	}
	return nil
}

// WriteOutput is WriteFile, or standard output for -. Result and warnings of
// the command then go to standard error.
func (c *Context) WriteOutput(output string, write func(io.Writer) error) error {
	if output != "-" {
		return WriteFile(c.Context.Context, output, write)
	}
	c.ResultToErr = true
	return write(&cancelWriter{c.Context.Context, c.Out})
}
