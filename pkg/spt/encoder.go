package spt

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// encoder writes a data stream. A segment's length stands before its records,
// so a segment of unknown length is kept in memory up to a limit, and a new
// one with the same fields begins where it would grow beyond. A segment of
// given length is passed on as it comes.
//
// Failures of w stick: after the first, nothing is written and every method
// returns it.
type encoder struct {
	w     io.Writer
	limit int    // bytes of records in a segment of unknown length
	buf   []byte // not yet written
	err   error

	open  bool
	exact bool  // the length of the open segment was given
	left  int64 // bytes of records that it still lacks, if exact
	head  int   // where it begins in buf, if not exact
	pad   uint8
	index uint16
}

const (
	// segmentBytes is the usual limit of an encoder.
	segmentBytes = 1 << 20
	// flushBytes is the size from which on finished bytes are written.
	flushBytes = 1 << 18
)

// begin starts a segment of unknown length.
func (e *encoder) begin(pad uint8, index uint16) error {
	if err := e.end(); err != nil {
		return err
	}
	e.open, e.exact, e.head, e.pad, e.index = true, false, len(e.buf), pad, index
	e.buf = appendSegment(e.buf, pad, index, 0)
	return nil
}

// beginExact starts a segment of a length as BINARY_ID counts it, at least 4.
func (e *encoder) beginExact(pad uint8, index uint16, length uint32) error {
	if err := e.end(); err != nil {
		return err
	}
	e.open, e.exact, e.left = true, true, int64(length)-lengthSize
	e.buf = appendSegment(e.buf, pad, index, length)
	return nil
}

// record adds a record of 1 to 255 entries to the open segment.
func (e *encoder) record(rec *Record) error {
	if e.err != nil {
		return e.err
	}
	size := rec.size()
	if e.exact {
		if int64(size) > e.left {
			return &binfmt.Error{Part: "segment", Offset: -1, Want: fmt.Sprintf("records of %d more bytes", e.left),
				Got: fmt.Sprintf("a record of %d", size), Err: binfmt.ErrCorrupt}
		}
		e.left -= int64(size)
		e.buf = appendRecord(e.buf, rec)
		return e.flush(flushBytes)
	}
	if len(e.buf)-e.head-binaryIDSize+size > e.limit {
		if err := e.begin(e.pad, e.index); err != nil {
			return err
		}
	}
	e.buf = appendRecord(e.buf, rec)
	return nil
}

// end finishes the open segment, if there is one.
func (e *encoder) end() error {
	switch {
	case e.err != nil:
		return e.err
	case !e.open:
	case !e.exact:
		length := len(e.buf) - e.head - binaryIDSize + lengthSize
		binary.LittleEndian.PutUint32(e.buf[e.head+4:], uint32(length))
	case e.left > 0:
		return &binfmt.Error{Part: "segment", Offset: -1, Want: fmt.Sprintf("records of %d more bytes", e.left),
			Got: "its end", Err: binfmt.ErrCorrupt}
	}
	e.open = false
	return e.flush(flushBytes)
}

// close finishes the data stream.
func (e *encoder) close() error {
	if err := e.end(); err != nil {
		return err
	}
	return e.flush(1)
}

// flush writes the buffer if it holds enough. What it holds is finished.
func (e *encoder) flush(enough int) error {
	if len(e.buf) >= enough {
		_, e.err = e.w.Write(e.buf)
		e.buf = e.buf[:0]
	}
	return e.err
}

// Copy writes what r reads to w. From a sound file it gives the same bytes. If
// r tolerates damage, the copy holds what r does not skip: the tables, and the
// same segments with new lengths, cut where they outgrow 1 MiB.
//
// r has to be new. Copy returns r.Err() or the failure of w.
func Copy(w io.Writer, r *Reader) error {
	e := encoder{w: w, limit: segmentBytes, buf: append([]byte(nil), r.image...)}
	for r.NextItem() {
		var err error
		switch s := r.Segment(); {
		case r.rec.Op != OpBinaryID:
			err = e.record(&r.rec)
		case r.tolerate:
			err = e.begin(s.Pad, s.Index)
		default:
			err = e.beginExact(s.Pad, s.Index, s.Length)
		}
		if err != nil {
			return err
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	return e.close()
}
