package spt

import (
	"errors"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// WriterOptions configure a [Writer]. The zero value and nil mean the
// defaults.
type WriterOptions struct {
	RawDataId  uint32 // reserved field of the header
	TargetArch uint32 // reserved field of the header
	// SegmentBytes is the most bytes of records that a segment holds, and with
	// that the memory of the writer. 0 means 1 MiB. Where a binary has more,
	// its next segment begins. It is 2,052, the size of the largest record
	// with its REPEAT, to 1 GiB.
	SegmentBytes int
}

// Writer writes an SPT file from front to back: the tables, then records of one
// binary after the other, in any order and number. Records are written in the
// order of the calls; equal calls give equal bytes.
type Writer struct {
	enc      encoder
	programs int
	program  int // that records belong to; -1 before BeginBinary
	begun    bool
	rec      Record
	closed   bool
}

var errClosed = errors.New("spt: writer is closed")

// NewWriter returns a writer of a file with these program ids. Their Names go
// into the string table, equal ones once. The tables have the usual capacity of
// 0x4000 bytes and 0x100 entries, or as much as they need.
//
// An error that wraps binfmt.ErrLimit means that the names with their NULs are
// more than 65,535 bytes or the program ids more than 65,535, or that
// SegmentBytes is out of range; nothing is written then. A name with a NUL is
// binfmt.ErrCorrupt.
func NewWriter(w io.Writer, programs []ProgramID, opts *WriterOptions) (*Writer, error) {
	if opts == nil {
		opts = &WriterOptions{}
	}
	limit := opts.SegmentBytes
	if limit == 0 {
		limit = segmentBytes
	}
	if limit < maxSample || limit > 1<<30 {
		return nil, &binfmt.Error{Part: "SegmentBytes", Offset: -1, Want: fmt.Sprintf("%d to %d", maxSample, 1<<30),
			Got: fmt.Sprint(limit), Err: binfmt.ErrLimit}
	}
	image, err := layOut(programs, opts)
	if err != nil {
		return nil, err
	}
	return &Writer{enc: encoder{w: w, limit: limit, buf: image}, programs: len(programs), program: -1}, nil
}

// BeginBinary says which program id, from 0, the next records belong to. The
// segment itself begins with the first of them, so that none is empty.
func (w *Writer) BeginBinary(program int) error {
	if w.closed {
		return errClosed
	}
	if program < 0 || program >= w.programs {
		return &binfmt.Error{Part: "program id", Offset: -1, Want: fmt.Sprintf("an index below %d", w.programs),
			Got: fmt.Sprint(program), Err: binfmt.ErrLimit}
	}
	if program != w.program {
		w.program, w.begun = program, false
	}
	return nil
}

// IP writes samples of instruction addresses, each with the count 1 + repeat.
// op is one for which [Opcode.IsIP] holds. There may be any number of RVAs;
// they are spread over records of 255.
func (w *Writer) IP(op Opcode, rvas []uint32, repeat uint64) error {
	if !op.IsIP() {
		return &binfmt.Error{Part: "IP record", Offset: -1, Want: "an opcode of IP samples", Got: op.String(), Err: binfmt.ErrCorrupt}
	}
	for len(rvas) > 0 {
		n := min(len(rvas), MaxEntries)
		if err := w.write(op, rvas[:n], nil, repeat); err != nil {
			return err
		}
		rvas = rvas[n:]
	}
	return nil
}

// LBR writes the taken branches of one hardware stack, most recent first, each
// with the count 1 + repeat. Neighbours tell readers that the code between them
// ran straight through, so other numbers of pairs than 1 to 255 are an error
// that wraps binfmt.ErrLimit: only the caller can tell where to cut.
func (w *Writer) LBR(pairs []Pair, repeat uint64) error {
	if len(pairs) < 1 || len(pairs) > MaxEntries {
		return &binfmt.Error{Part: "LBR record", Offset: -1, Want: "1 to 255 pairs", Got: fmt.Sprint(len(pairs)), Err: binfmt.ErrLimit}
	}
	return w.write(OpLBR, nil, pairs, repeat)
}

// CallStack writes the frames of one call stack, innermost first; each arc has
// the count 1 + repeat. Other numbers of frames than 2 to 255 are an error
// that wraps binfmt.ErrLimit: one frame is no arc, and a longer stack is for
// the caller to split such that the last frame of one record is the first of
// the next.
func (w *Writer) CallStack(rvas []uint32, repeat uint64) error {
	if len(rvas) < 2 || len(rvas) > MaxEntries {
		return &binfmt.Error{Part: "ETW_CALLSTACK record", Offset: -1, Want: "2 to 255 frames", Got: fmt.Sprint(len(rvas)), Err: binfmt.ErrLimit}
	}
	return w.write(OpETWCallStack, rvas, nil, repeat)
}

func (w *Writer) write(op Opcode, rvas []uint32, pairs []Pair, repeat uint64) error {
	switch {
	case w.closed:
		return errClosed
	case w.program < 0:
		return errors.New("spt: record before BeginBinary")
	case !w.begun:
		if err := w.enc.begin(0, uint16(w.program)); err != nil {
			return err
		}
		w.begun = true
	}
	w.rec = Record{Op: op, HasRepeat: repeat > 0, Repeat: repeat, RVAs: rvas, Pairs: pairs}
	return w.enc.record(&w.rec)
}

// Close finishes the file and returns the first failure of the underlying
// writer, which it does not close. Nothing can be written afterwards.
func (w *Writer) Close() error {
	if w.closed {
		return errClosed
	}
	w.closed = true
	return w.enc.close()
}
