package perfdata

import (
	"errors"
	"io"
)

// memFile is an io.WriteSeeker in memory.
type memFile struct {
	b   []byte
	pos int
}

func (m *memFile) Write(p []byte) (int, error) {
	n := copy(m.b[m.pos:], p)
	m.b = append(m.b, p[n:]...)
	m.pos += len(p)
	return len(p), nil
}

func (m *memFile) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		m.pos = int(off)
	case io.SeekEnd:
		m.pos = len(m.b) + int(off)
	default:
		return 0, errors.New("not needed")
	}
	return int64(m.pos), nil
}

// memReader is an io.ReaderAt in memory that accepts an empty input.
type memReader struct{ b []byte }

func (m *memReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m.b)) {
		return 0, io.EOF
	}
	n := copy(p, m.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
