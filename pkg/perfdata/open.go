package perfdata

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Options are the choices of a reader. The zero value means the defaults.
type Options struct {
	// Name stands in errors for an input that has no path.
	Name string
	// SpoolDir is where input that cannot be read at any offset (a stream,
	// a .gz or .zst file) is kept while it is open; by default the system's
	// folder for temporary files. The file has no name while in use where the
	// system allows that, and never outlives Close.
	SpoolDir string
	// MaxSpool bounds the bytes kept in SpoolDir, so that a small compressed
	// file cannot fill the disk without end. More is an error of kind
	// binfmt.ErrLimit. The default is 256 GiB.
	MaxSpool int64
}

func (o *Options) orDefault() Options {
	var v Options
	if o != nil {
		v = *o
	}
	if v.MaxSpool == 0 {
		v.MaxSpool = 256 << 30
	}
	return v
}

// Open opens a recording: a file in any mode, the same compressed with gzip
// or zstd as a whole, a named pipe, or a directory that `perf record
// --threads` wrote.
//
// The error is of kind binfmt.ErrMagic for what is no recording,
// binfmt.ErrTruncated or binfmt.ErrCorrupt where the header is not usable.
func Open(name string, opts *Options) (*File, error) {
	o := opts.orDefault()
	o.Name = name
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return openDir(name, o)
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		defer in.Close()
		return OpenStream(in, &o)
	}
	f, err := open(in, fi.Size(), o)
	if err != nil {
		in.Close()
		return nil, err
	}
	f.closers = append([]func() error{in.Close}, f.closers...)
	return f, nil
}

// NewReader reads a recording of size bytes from r, which must stay usable
// while the File is in use and is not closed by it. Close the File even so:
// for compressed input it owns a temporary file.
func NewReader(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	return open(r, size, opts.orDefault())
}

// OpenStream reads a recording from r to its end and keeps it in a temporary
// file, see Options.SpoolDir. The caller may close r when it returns.
func OpenStream(r io.Reader, opts *Options) (*File, error) {
	o := opts.orDefault()
	br := bufio.NewReaderSize(r, 1<<16)
	magic, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, binfmt.InFile(err, o.Name)
	}
	return openSpooled(br, compressionOf(magic), o)
}

// open reads a recording that may be compressed as a whole.
func open(r io.ReaderAt, size int64, o Options) (*File, error) {
	magic := make([]byte, min(size, 4))
	if _, err := r.ReadAt(magic, 0); err != nil && err != io.EOF {
		return nil, binfmt.InFile(err, o.Name)
	}
	if kind := compressionOf(magic); kind != uncompressed {
		return openSpooled(io.NewSectionReader(r, 0, size), kind, o)
	}
	return newFile([]segment{{name: o.Name, r: r, size: size}})
}

// openSpooled reads a recording from a stream by way of a temporary file.
func openSpooled(r io.Reader, kind compression, o Options) (*File, error) {
	sp, err := newSpool(r, kind, o)
	if err != nil {
		return nil, err
	}
	f, err := newFile([]segment{{name: o.Name, r: sp.file, size: sp.size}})
	if err != nil {
		sp.close()
		return nil, err
	}
	f.closers = append(f.closers, sp.close)
	if sp.cut != nil {
		f.Truncated = sp.cut
	}
	return f, nil
}

func newFile(segs []segment) (*File, error) {
	f := &File{segments: segs, ids: make(map[uint64]*Attr)}
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	return f, nil
}

// openDir opens a directory: the file "data", and data.0, data.1, ... which
// hold records without a header.
func openDir(dir string, o Options) (*File, error) {
	var segs []segment
	var closers []func() error
	closeAll := func() {
		for _, c := range closers {
			c()
		}
	}
	for i := 0; ; i++ {
		name := filepath.Join(dir, "data")
		if i > 0 {
			name = fmt.Sprintf("%s.%d", name, i-1)
		}
		in, err := os.Open(name)
		if os.IsNotExist(err) {
			if i > 0 {
				break
			}
			return nil, &binfmt.Error{File: dir, Part: "folder", Offset: -1, Want: `a recording, in a file "data"`, Got: "a folder without that", Err: binfmt.ErrMagic}
		}
		var fi fs.FileInfo
		if err == nil {
			closers = append(closers, in.Close)
			fi, err = in.Stat()
		}
		if err != nil {
			closeAll()
			return nil, err
		}
		segs = append(segs, segment{name: name, r: in, size: fi.Size(), end: fi.Size()})
	}
	f, err := newFile(segs)
	if err != nil {
		closeAll()
		return nil, err
	}
	f.closers = closers
	return f, nil
}

// compression is how a recording is compressed as a whole.
type compression int

const (
	uncompressed compression = iota
	gzipped
	zstandard
)

func compressionOf(magic []byte) compression {
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzipped
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstandard
	}
	return uncompressed
}
