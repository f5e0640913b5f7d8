package spt

import (
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// source hands out the bytes of a file or stream from a buffer. Its memory is
// the buffer, whatever the input claims.
type source struct {
	in       io.Reader
	seek     io.Seeker // of in; nil for a plain stream
	size     int64     // bytes of the input; -1 for a plain stream
	buf      []byte
	pos, end int   // the unread part of buf
	base     int64 // absolute offset of buf[0]
	err      error // why in gives no more bytes: io.EOF or a failure
}

// bufferSize is the size of one read.
const bufferSize = 1 << 20

func newSource(in io.Reader, size int64, buffer int) source {
	s := source{in: in, size: size}
	if size >= 0 {
		s.seek = in.(io.Seeker)
		buffer = int(min(int64(buffer), max(size, maxSample)))
	}
	s.buf = make([]byte, buffer)
	return s
}

// offset is the absolute offset of the next byte.
func (s *source) offset() int64 { return s.base + int64(s.pos) }

// peek returns the unread bytes of the buffer: at least n, which the buffer
// has to hold, unless the input ends before.
func (s *source) peek(n int) []byte {
	if s.end-s.pos < n && s.err == nil {
		s.fill(n)
	}
	return s.buf[s.pos:s.end]
}

func (s *source) fill(n int) {
	s.base += int64(s.pos)
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	idle := 0
	for s.end < n && s.err == nil {
		var m int
		m, s.err = s.in.Read(s.buf[s.end:])
		s.end += m
		if m > 0 {
			idle = 0
		} else if idle++; idle == 100 && s.err == nil {
			s.err = io.ErrNoProgress
		}
	}
}

// skip steps over n bytes, or to the end of the input, and returns over how
// many.
func (s *source) skip(n int64) int64 {
	if s.seek != nil {
		n = min(n, s.size-s.offset())
		if n > int64(s.end-s.pos) && s.err == nil {
			to := s.offset() + n
			if _, s.err = s.seek.Seek(to, io.SeekStart); s.err != nil {
				return 0
			}
			s.base, s.pos, s.end = to, 0, 0
			return n
		}
	}
	left := n
	for left > 0 {
		m := min(left, int64(len(s.peek(1))))
		if m == 0 {
			break
		}
		s.pos += int(m)
		left -= m
	}
	return n - left
}

// failed says whether the bytes ended for another reason than the end of the
// input.
func (s *source) failed() bool { return s.err != nil && s.err != io.EOF }

// readError is the failure with the offset of the first byte that is missing.
func (s *source) readError() error {
	return &binfmt.Error{Part: "read", Offset: s.base + int64(s.end), Err: s.err}
}
