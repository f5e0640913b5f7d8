package image

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// FS is where a [Finder] looks for images: the operating system's files by
// default, or for example a disk image. Names are joined with "/".
type FS interface {
	// ReadDir lists a folder in the order of names. An entry that is a
	// symbolic link shows what it leads to.
	ReadDir(name string) ([]DirEntry, error)
	// Open opens a regular file of the returned size in bytes. If the reader
	// is an io.Closer, closing the image closes it.
	Open(name string) (r io.ReaderAt, size int64, err error)
	// RealPath returns the name without symbolic links, by which a folder
	// that is reached twice is known.
	RealPath(name string) (string, error)
}

// DirEntry is a file or folder in a folder.
type DirEntry struct {
	Name string
	Dir  bool
}

// OS is the operating system's file system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) ReadDir(name string) ([]DirEntry, error) {
	list, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	out := make([]DirEntry, 0, len(list))
	for _, e := range list {
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			fi, err := os.Stat(filepath.Join(name, e.Name()))
			if err != nil {
				continue // leads nowhere
			}
			mode = fi.Mode()
		}
		if mode.IsDir() || mode.IsRegular() {
			out = append(out, DirEntry{Name: e.Name(), Dir: mode.IsDir()})
		}
	}
	return out, nil
}

// Open checks the kind of file first, since opening a pipe would wait for its
// writer.
func (osFS) Open(name string) (io.ReaderAt, int64, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !fi.Mode().IsRegular() {
		return nil, 0, &binfmt.Error{File: name, Offset: -1, Want: "a regular file", Got: fi.Mode().String(), Err: binfmt.ErrUnsupported}
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return file, fi.Size(), nil
}

func (osFS) RealPath(name string) (string, error) { return filepath.EvalSymlinks(name) }
