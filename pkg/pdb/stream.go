package pdb

import (
	"errors"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Numbers of the streams with a fixed place, and of two that have no number.
const (
	streamInfo = 1
	streamDBI  = 3

	directory    = -1
	directoryMap = -2
)

// maxLoad bounds what is read into memory at once: the module list, the lines
// of one module, the string table.
const maxLoad = 1 << 30

// Stream is one stream of a PDB, read from its blocks on demand. It is an
// io.ReaderAt; io.NewSectionReader(s, 0, s.Size()) makes it an io.Reader.
type Stream struct {
	f      *File
	index  int
	size   int64
	blocks []uint32
}

// Size is the length of the stream in bytes.
func (s *Stream) Size() int64 { return s.size }

// ReadAt implements io.ReaderAt. Neighbouring blocks are read together.
func (s *Stream) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("pdb: negative offset %d in %s", off, s.name())
	}
	block := int64(s.f.block)
	n := 0
	for n < len(p) {
		if off >= s.size {
			return n, io.EOF
		}
		first := off / block
		run := block - off%block
		for next := first + 1; next < int64(len(s.blocks)) && run < int64(len(p)-n) && s.blocks[next] == s.blocks[next-1]+1; next++ {
			run += block
		}
		want := int(min(run, s.size-off, int64(len(p)-n)))
		k, err := s.f.r.ReadAt(p[n:n+want], s.fileOffset(off))
		n += k
		off += int64(k)
		if k < want {
			if err == nil || errors.Is(err, io.EOF) {
				err = binfmt.ErrTruncated
			}
			return n, &binfmt.Error{Part: s.name(), Offset: s.fileOffset(off), Want: fmt.Sprintf("%d more bytes", want-k), Err: err}
		}
	}
	return n, nil
}

// name says which stream this is, for errors.
func (s *Stream) name() string {
	switch s.index {
	case directory:
		return "stream directory"
	case directoryMap:
		return "map of the stream directory"
	}
	return fmt.Sprintf("stream %d", s.index)
}

// fileOffset converts a position in the stream to an offset in the file. The
// end of the stream is the end of its last block at most, or -1 if the stream
// is empty.
func (s *Stream) fileOffset(pos int64) int64 {
	if len(s.blocks) == 0 || pos < 0 {
		return -1
	}
	block := int64(s.f.block)
	i := min(pos/block, int64(len(s.blocks))-1)
	return int64(s.blocks[i])*block + min(pos-i*block, block)
}

// locate turns an error of a cursor, whose offsets count in the stream, into
// one with an offset in the file and the number of the stream.
func (s *Stream) locate(err error) error {
	var e *binfmt.Error
	if !errors.As(err, &e) {
		return err
	}
	located := *e
	located.Part = s.name() + ": " + e.Part
	if e.Offset >= 0 {
		located.Part += fmt.Sprintf(" at %#x", e.Offset)
		located.Offset = s.fileOffset(e.Offset)
	}
	return &located
}

// cursor reads n bytes at pos and returns a cursor over them whose offsets
// are positions in the stream.
func (s *Stream) cursor(part string, pos, n int64) (*binfmt.Cursor, error) {
	if pos < 0 || n < 0 || pos > s.size || n > s.size-pos {
		return nil, s.locate(&binfmt.Error{Part: part, Offset: min(max(pos, 0), s.size), Want: fmt.Sprintf("%d bytes", n),
			Got: fmt.Sprintf("a stream of %d", s.size), Err: binfmt.ErrTruncated})
	}
	if n > maxLoad {
		return nil, s.locate(&binfmt.Error{Part: part, Offset: pos, Want: fmt.Sprintf("at most %d bytes", maxLoad),
			Got: fmt.Sprint(n), Err: binfmt.ErrLimit})
	}
	b := make([]byte, n)
	if _, err := s.ReadAt(b, pos); err != nil {
		return nil, err
	}
	return binfmt.NewCursor(b, part, pos), nil
}
