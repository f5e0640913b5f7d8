package perfdata

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// spool is a temporary file that holds a stream.
type spool struct {
	file *os.File
	path string // to remove on close; empty if the file has no name any more
	size int64
	cut  *binfmt.Error // the compressed stream ended early or went bad here
}

// newSpool copies r, decompressed, to a temporary file. A compressed stream
// that breaks off gives what is there before; anything else that goes wrong
// removes the file and is returned.
func newSpool(r io.Reader, kind compression, o Options) (*spool, error) {
	file, err := os.CreateTemp(o.SpoolDir, "perfdata-*.spool")
	if err != nil {
		return nil, err
	}
	sp := &spool{file: file}
	if os.Remove(file.Name()) != nil {
		sp.path = file.Name() // systems that keep the names of open files
	}
	if err := sp.fill(r, kind, o); err != nil {
		sp.close()
		return nil, err
	}
	return sp, nil
}

func (sp *spool) close() error {
	err := sp.file.Close()
	if sp.path != "" {
		if e := os.Remove(sp.path); err == nil {
			err = e
		}
	}
	return err
}

func (sp *spool) fill(r io.Reader, kind compression, o Options) error {
	src := &source{r: r}
	in, done, err := decompressor(src, kind)
	if err == nil {
		defer done()
		// What is no recording must not fill the disk before that shows.
		head := bufio.NewReader(in)
		if start, _ := head.Peek(len(magicLittle)); len(start) == len(magicLittle) && !isMagic(start) {
			return notPerfData(o.Name, start)
		}
		sp.size, err = io.Copy(sp.file, io.LimitReader(head, max(o.MaxSpool, o.MaxSpool+1)))
	}
	if sp.size > o.MaxSpool {
		return &binfmt.Error{File: o.Name, Part: "decompressed recording", Offset: -1, Want: fmt.Sprintf("at most %d bytes", o.MaxSpool), Got: "more", Err: binfmt.ErrLimit}
	}
	if err == nil {
		return nil
	}
	var writeErr *os.PathError
	if src.err != nil || errors.As(err, &writeErr) || kind == uncompressed {
		return binfmt.InFile(err, o.Name)
	}
	sp.cut = &binfmt.Error{File: o.Name, Part: "decompressed recording", Offset: sp.size, Want: "more data", Got: err.Error(), Err: binfmt.ErrCorrupt}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		sp.cut.Got, sp.cut.Err = "the end of the compressed file", binfmt.ErrTruncated
	}
	if sp.size == 0 {
		return sp.cut
	}
	return nil
}

// source remembers an error of the input itself, to tell it from a damaged
// compressed stream.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

func decompressor(r io.Reader, kind compression) (in io.Reader, done func(), err error) {
	switch kind {
	case gzipped:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, err
		}
		return z, func() { z.Close() }, nil
	case zstandard:
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return r, func() {}, nil
}
