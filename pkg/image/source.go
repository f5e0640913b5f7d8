package image

import (
	"errors"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// source reads parts of a file whose size is known.
type source struct {
	r    io.ReaderAt
	size uint64
}

// bytes reads n bytes at off. A part that reaches beyond the file is a
// truncation and one above limit is refused, both before allocation.
func (s source) bytes(part string, off, n, limit uint64) ([]byte, error) {
	if n > limit {
		return nil, &binfmt.Error{Part: part, Offset: int64(off), Want: fmt.Sprintf("at most %d bytes", limit),
			Got: fmt.Sprint(n), Err: binfmt.ErrLimit}
	}
	if off > s.size || n > s.size-off {
		return nil, &binfmt.Error{Part: part, Offset: int64(min(off, s.size)), Want: fmt.Sprintf("%d bytes at %#x", n, off),
			Got: fmt.Sprintf("a file of %d bytes", s.size), Err: binfmt.ErrTruncated}
	}
	b := make([]byte, n)
	if k, err := s.r.ReadAt(b, int64(off)); k < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = binfmt.ErrTruncated
		}
		return nil, &binfmt.Error{Part: part, Offset: int64(off) + int64(k), Want: fmt.Sprintf("%d bytes", n),
			Got: fmt.Sprint(k), Err: err}
	}
	return b, nil
}

// cursor is bytes with a cursor over the result.
func (s source) cursor(part string, off, n, limit uint64) (*binfmt.Cursor, error) {
	b, err := s.bytes(part, off, n, limit)
	if err != nil {
		return nil, err
	}
	return binfmt.NewCursor(b, part, int64(off)), nil
}
