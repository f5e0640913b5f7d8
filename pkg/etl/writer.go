package etl

import (
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// WriterOptions says how a log file is written.
type WriterOptions struct {
	// Header is written as it is, but for the bits of Mode that say whether
	// the file is compressed. BufferSize, PointerSize and Time also govern the
	// file.
	Header LogFile
	// Compress packs every buffer but the first with XPRESS. A buffer that
	// does not get smaller is stored as it is.
	Compress bool
}

// Writer writes a log file as a session would: records go into the buffer of
// their processor, and a buffer that is full goes to the file. It is made for
// tests, examples and benchmarks, and writes files of any size.
type Writer struct {
	w        io.Writer
	header   LogFile
	compress bool
	buffers  []writerBuffer // by processor
	sequence int64
	record   []byte // scratch for one record
	packed   []byte
	xpress   xpressEncoder
	err      error
	closed   bool
}

// writerBuffer is the buffer that a processor fills.
type writerBuffer struct {
	data []byte // from the buffer's start
	time int64  // of the last record
}

// maxProcessors is what the processor field of a buffer header can say.
const maxProcessors = 1 << 11

// NewWriter writes the header buffer to w and returns a writer for the rest.
// It does not close w.
func NewWriter(w io.Writer, opt *WriterOptions) (*Writer, error) {
	wr := &Writer{w: w, header: opt.Header, compress: opt.Compress}
	h := &wr.header
	if h.PointerSize != 4 && h.PointerSize != 8 {
		return nil, &binfmt.Error{Part: "etl.LogFile.PointerSize", Offset: -1, Want: "4 or 8", Got: fmt.Sprint(h.PointerSize), Err: binfmt.ErrUnsupported}
	}
	if h.BufferSize < 1024 || h.BufferSize > defaultMaxBuffer || h.BufferSize%recordAlign != 0 {
		return nil, &binfmt.Error{Part: "etl.LogFile.BufferSize", Offset: -1, Want: fmt.Sprintf("a multiple of %d from 1024 to %d", recordAlign, defaultMaxBuffer),
			Got: fmt.Sprint(h.BufferSize), Err: binfmt.ErrLimit}
	}
	h.Mode &^= ModeCompressed
	if wr.compress {
		h.Mode |= ModeCompressed
	}
	rec := Record{Type: HeaderSystem64, Version: 2, Hook: HookLogFile, Time: h.Time, TID: NoThread, PID: NoThread,
		Payload: logFileLayout.append(nil, h, 0, int(h.PointerSize))}
	if h.PointerSize == 4 {
		rec.Type = HeaderSystem32
	}
	data, err := AppendRecord(make([]byte, bufferHeaderSize), &rec)
	if err != nil {
		return nil, err
	}
	size := int(h.BufferSize)
	if wr.compress { // the first buffer is not compressed, but small
		size = (len(data) + 511) &^ 511
	}
	if len(data) > size {
		return nil, &binfmt.Error{Part: "log file header", Offset: -1, Want: fmt.Sprintf("at most %d bytes", size), Got: fmt.Sprint(len(data)), Err: binfmt.ErrLimit}
	}
	wr.emit(data, size, 0, BufferFlush, BufferHeader)
	return wr, wr.err
}

// Write adds a record to the buffer of a processor. Times must not run
// backwards on a processor.
func (w *Writer) Write(processor int, r *Record) error {
	if w.err != nil {
		return w.err
	}
	if w.closed || processor < 0 || processor >= maxProcessors {
		return w.fail(&binfmt.Error{Part: "etl.Writer", Offset: -1, Want: fmt.Sprintf("an open writer and a processor below %d", maxProcessors),
			Got: fmt.Sprintf("closed %v, processor %d", w.closed, processor), Err: binfmt.ErrLimit})
	}
	var err error
	if w.record, err = AppendRecord(w.record[:0], r); err != nil {
		return w.fail(err)
	}
	for len(w.buffers) <= processor {
		w.buffers = append(w.buffers, writerBuffer{})
	}
	b := &w.buffers[processor]
	if b.data != nil && r.Time < b.time {
		return w.fail(&binfmt.Error{Part: "record time", Offset: -1, Want: fmt.Sprintf("at least %d", b.time), Got: fmt.Sprint(r.Time), Err: binfmt.ErrCorrupt})
	}
	room := int(w.header.BufferSize)
	if len(w.record) > room-bufferHeaderSize {
		return w.fail(&binfmt.Error{Part: "record", Offset: -1, Want: fmt.Sprintf("at most %d bytes", room-bufferHeaderSize), Got: fmt.Sprint(len(w.record)), Err: binfmt.ErrLimit})
	}
	if len(b.data)+len(w.record) > room {
		w.flush(processor, 0)
	}
	if b.data == nil {
		b.data = make([]byte, bufferHeaderSize, room)
	}
	b.data, b.time = append(b.data, w.record...), r.Time
	return w.err
}

// lastTime is the time of the last record of a processor, 0 if it has none.
func (w *Writer) lastTime(processor int) int64 {
	if processor < 0 || processor >= len(w.buffers) {
		return 0
	}
	return w.buffers[processor].time
}

// Close writes the buffers that are not full, in the order of their
// processors. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil || w.closed {
		return w.err
	}
	w.closed = true
	for i := range w.buffers {
		if len(w.buffers[i].data) > bufferHeaderSize {
			w.flush(i, BufferFlush)
		}
	}
	return w.err
}

// flush writes the buffer of a processor and empties it.
func (w *Writer) flush(processor int, flags BufferFlags) {
	b := &w.buffers[processor]
	w.sequence++
	w.emit(b.data, int(w.header.BufferSize), processor, flags|BufferWideProcessor, BufferGeneric)
	b.data = b.data[:bufferHeaderSize]
}

// emit writes one buffer, whose records are in data behind the place of the
// header. size is what it takes in an uncompressed file.
func (w *Writer) emit(data []byte, size, processor int, flags BufferFlags, typ uint16) {
	if w.err != nil {
		return
	}
	out, filled := data, len(data)
	if w.compress && typ != BufferHeader {
		w.packed = w.xpress.compress(append(w.packed[:0], data[:bufferHeaderSize]...), data[bufferHeaderSize:])
		if size = len(data); len(w.packed) < len(data) {
			out, size = w.packed, len(w.packed)
			flags |= BufferCompressed
		}
	}
	putBufferHeader(out, &Buffer{Size: uint32(size), Filled: uint32(filled), Sequence: w.sequence, Processor: uint16(processor), Flags: flags, Type: typ})
	if _, err := w.w.Write(out); err != nil {
		w.err = err
		return
	}
	if fill := size - len(out); fill > 0 {
		w.packed = grow(w.packed, fill)
		for i := range w.packed {
			w.packed[i] = 0xFF
		}
		_, w.err = w.w.Write(w.packed)
	}
}

func (w *Writer) fail(err error) error {
	w.err = err
	return err
}

// putBufferHeader writes a buffer header to the start of h.
func putBufferHeader(h []byte, b *Buffer) {
	const stateFlush = 3 // also the number of XPRESS
	out := binfmt.AppendU32(h[:0], b.Size)
	out = binfmt.AppendU32(out, b.Filled)
	out = binfmt.AppendU32(out, b.Filled)
	out = binfmt.AppendU32(out, 0) // reference count
	out = binfmt.AppendU64(out, 0) // time of the flush
	out = binfmt.AppendU64(out, uint64(b.Sequence))
	out = binfmt.AppendU64(out, 0) // clock
	out = binfmt.AppendU16(out, b.Processor)
	out = binfmt.AppendU16(out, b.Logger)
	out = binfmt.AppendU32(out, stateFlush)
	out = binfmt.AppendU32(out, b.Filled)
	out = binfmt.AppendU16(out, uint16(b.Flags))
	out = binfmt.AppendU16(out, b.Type)
	binfmt.AppendU64(binfmt.AppendU64(out, 0), 0)
}
