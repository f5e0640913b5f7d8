package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spgo-tools/spgo/internal/diag"
)

// maxStream is how much of standard input or a pipe is kept in a temporary
// file.
const maxStream = 4 << 30

// File is an input that can be read at any place. Reading ends with an error
// when the command is interrupted.
type File struct {
	io.ReaderAt
	Size int64
	Info os.FileInfo // of what was named
}

// noDevice refuses character devices such as /dev/zero, which need not end:
// what a command line names by mistake shall not fill the disk.
func noDevice(name string, fi os.FileInfo) error {
	if fi.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return diag.New(diag.CannotRead, "is a device").In(name).Because("A file or a pipe is wanted.").
		Do("Name a file, or - for standard input.")
}

// Open opens a file of the command line. The name - is standard input; that
// and a pipe are copied into a temporary file first. The file is closed when
// the result was printed.
func (c *Context) Open(name string) (*File, error) {
	ctx := c.Context.Context
	if name == "-" {
		return c.spool(name, c.Input())
	}
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch mode := fi.Mode(); {
	case mode.IsDir():
		return nil, diag.New(diag.CannotRead, "is a folder").In(name).Because("A file is wanted.").Do("Name a file in it.")
	case mode.IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		c.atExit(func() { f.Close() })
		return &File{&cancelReaderAt{ctx, f}, fi.Size(), fi}, nil
	}
	if err := noDevice(name, fi); err != nil {
		return nil, err
	}
	stream, err := openStream(ctx, name)
	if err != nil {
		return nil, err
	}
	file, err := c.spool(name, untilCancelled(ctx, stream))
	if err == nil {
		file.Info = fi
	}
	return file, err
}

// openStream opens a pipe, which waits for its writer, unless ctx ends first.
func openStream(ctx context.Context, name string) (io.Reader, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// spool copies a stream into a temporary file.
func (c *Context) spool(name string, stream io.Reader) (*File, error) {
	tmp, err := os.CreateTemp("", "spgo-*")
	if err != nil {
		return nil, diag.New(diag.CannotWrite, "a temporary file for %s: %v", name, err)
	}
	c.atExit(func() {
		tmp.Close()
		os.Remove(tmp.Name())
	})
	os.Remove(tmp.Name()) // where the system can, now: nothing is left behind whatever happens
	n, err := io.Copy(tmp, io.LimitReader(stream, maxStream+1))
	var path *os.PathError
	switch {
	case err != nil && c.Context.Err() != nil:
		return nil, c.Context.Err()
	case errors.As(err, &path) && path.Op == "write":
		return nil, diag.New(diag.CannotWrite, "a temporary file for %s: %v", name, path.Err)
	case err != nil:
		return nil, diag.New(diag.CannotRead, "%v", err).In(name)
	case n > maxStream:
		return nil, diag.New(diag.TooLarge, "more than %d bytes arrive", int64(maxStream)).In(name).
			Because("A stream is kept in a temporary file, whose size is limited.").Do("Save it to a file and name that.")
	}
	return &File{ReaderAt: &cancelReaderAt{c.Context.Context, tmp}, Size: n}, nil
}

// Stream opens a file of the command line to be read once from the start to
// the end; - is standard input. It is closed when the result was printed.
func (c *Context) Stream(name string) (io.Reader, error) {
	if name == "-" {
		return c.Input(), nil
	}
	if fi, err := os.Stat(name); err == nil {
		if err := noDevice(name, fi); err != nil {
			return nil, err
		}
	}
	f, err := openStream(c.Context.Context, name)
	if err != nil {
		return nil, err
	}
	if closer, ok := f.(io.Closer); ok {
		c.atExit(func() { closer.Close() })
	}
	return untilCancelled(c.Context.Context, f), nil
}

// Do calls work and returns when it is done or the command is interrupted,
// which then ends with the work half done.
func (c *Context) Do(work func()) error {
	ctx := c.Context.Context
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		work()
	}()
	select {
	case p := <-done:
		if p != nil {
			panic(p)
		}
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// atExit has f called when the result was printed, last things first.
func (c *Context) atExit(f func()) { c.closers = append(c.closers, f) }

func (c *Context) close() {
	for i := len(c.closers) - 1; i >= 0; i-- {
		c.closers[i]()
	}
}

// cancelReaderAt stops a long read when the command is interrupted.
type cancelReaderAt struct {
	ctx context.Context
	r   io.ReaderAt
}

func (c *cancelReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.ReadAt(p, off)
}

// untilCancelled is r, which ends with an error when ctx does, even while
// nothing arrives.
func untilCancelled(ctx context.Context, r io.Reader) io.Reader {
	pr, pw := io.Pipe()
	go func() {
		_, err := io.Copy(pw, r)
		pw.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
	return pr
}
