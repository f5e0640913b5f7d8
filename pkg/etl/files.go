package etl

import (
	"io"
	"os"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Files is where [Open] finds log files: the operating system's files by
// default, or for example a disk image.
type Files interface {
	// Open opens a regular file of the returned size in bytes. If the reader
	// is an io.Closer, closing the log file closes it.
	Open(path string) (r io.ReaderAt, size int64, err error)
	// List returns the names of the regular files in a folder, in order.
	List(dir string) ([]string, error)
}

func (o *Options) files() Files {
	if o == nil || o.Files == nil {
		return osFiles{}
	}
	return o.Files
}

func closeReader(r io.ReaderAt) error {
	if c, ok := r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// osFiles are the operating system's files.
type osFiles struct{}

func (osFiles) Open(path string) (io.ReaderAt, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &binfmt.Error{File: path, Offset: -1, Want: "a regular file", Got: fi.Mode().Type().String(), Err: binfmt.ErrUnsupported}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, fi.Size(), nil
}

func (osFiles) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
