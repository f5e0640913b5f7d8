package ingest

import (
	"context"
	"io"
	"os"

	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/pkg/image"
)

// withFiles returns options under which names are looked up on this machine and
// in disk images. The images stay open until done is called.
func (o *Options) withFiles() (with *Options, done func() error) {
	if o.files != nil {
		return o, func() error { return nil }
	}
	opened := *o
	opened.files = &ntfs.FS{}
	return &opened, opened.files.Close
}

// fs is where traces and binaries are.
func (o *Options) fs() image.FS {
	if o.files == nil {
		return image.OS
	}
	return o.files
}

// isSpecial says whether a name is that of a folder, which a recording can be,
// or of a pipe or device, which can be read but once.
func isSpecial(name string) (folder, stream bool, err error) {
	if _, ok := ntfs.Parse(name); ok {
		return false, false, nil
	}
	fi, err := os.Stat(name)
	if err != nil {
		return false, false, err
	}
	return fi.IsDir(), !fi.IsDir() && !fi.Mode().IsRegular(), nil
}

// isStream says whether a name is that of a pipe or device.
func isStream(name string) bool {
	_, stream, err := isSpecial(name)
	return err == nil && stream
}

// closeReader closes what image.FS opened.
func closeReader(r io.ReaderAt) {
	if c, ok := r.(io.Closer); ok {
		c.Close()
	}
}

// logFiles are the places where the log files of a recording are looked for.
// Reading them ends with an error when the context does: unpacking can take
// long.
type logFiles struct {
	image.FS
	ctx context.Context
}

// Open implements etl.Files.
func (f logFiles) Open(name string) (io.ReaderAt, int64, error) {
	r, size, err := f.FS.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return &cancelReader{f.ctx, r}, size, nil
}

// cancelReader reads until its context ends.
type cancelReader struct {
	ctx context.Context
	r   io.ReaderAt
}

func (c *cancelReader) ReadAt(b []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.ReadAt(b, off)
}

func (c *cancelReader) Close() error {
	closeReader(c.r)
	return nil
}

// List implements etl.Files.
func (f logFiles) List(dir string) ([]string, error) {
	entries, err := f.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.Dir {
			names = append(names, e.Name)
		}
	}
	return names, nil
}
