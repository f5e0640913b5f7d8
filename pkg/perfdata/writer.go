package perfdata

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Packing is how a Writer stores kernel records.
type Packing int

// Kinds of packing. perf reads PackZstd since 5.2 and PackZstd2 since 6.16.
const (
	PackNone  Packing = iota
	PackZstd          // in COMPRESSED records
	PackZstd2         // in COMPRESSED2 records
)

// WriterOptions say what to write.
type WriterOptions struct {
	BigEndian bool
	Pipe      bool // a stream that no header is patched in
	Packing   Packing
	// Attrs are the events. At least one is needed; several need ids, and the
	// same place for the id in their samples and trailers.
	Attrs []*Attr
	// Features become header sections where they are not empty. In a file they
	// are written by Close, so that fields may still be set until then, in a
	// pipe by NewWriter. Sections is ignored; EVENT_DESC and BRANCH_STACK come
	// from Attrs.
	Features *Features
}

// Writer writes a recording.
type Writer struct {
	w        *bufio.Writer
	seek     io.WriteSeeker // nil in a pipe
	opts     WriterOptions
	e        *encoder // scratch for one record
	attrs    Extent
	dataOff  int64
	written  int64 // all bytes so far
	packer   *packer
	closed   bool
	byID     map[uint64]*Attr
	firstErr error
}

// NewWriter starts a recording on w, which has to be an io.WriteSeeker at
// offset 0 unless it is a pipe.
func NewWriter(w io.Writer, opts WriterOptions) (*Writer, error) {
	wr := &Writer{w: bufio.NewWriterSize(w, 1<<18), opts: opts, e: newEncoder(opts.BigEndian), byID: make(map[uint64]*Attr)}
	if wr.opts.Features == nil {
		wr.opts.Features = new(Features)
	}
	if len(opts.Attrs) == 0 {
		return nil, errors.New("perfdata: a recording needs an attribute")
	}
	for _, a := range opts.Attrs {
		first := opts.Attrs[0].SampleType
		if idPosition(a.SampleType) != idPosition(first) || trailerIDPosition(a.SampleType) != trailerIDPosition(first) ||
			len(opts.Attrs) > 1 && len(a.IDs) == 0 {
			return nil, errors.New("perfdata: several attributes need ids in the same place")
		}
		for _, id := range a.IDs {
			wr.byID[id] = a
		}
	}
	if opts.Packing != PackNone {
		p, err := newPacker(wr)
		if err != nil {
			return nil, err
		}
		wr.packer = p
	}
	if opts.Pipe {
		wr.startPipe()
	} else {
		s, ok := w.(io.WriteSeeker)
		if !ok {
			return nil, errors.New("perfdata: a recording in a file needs an io.WriteSeeker")
		}
		wr.seek = s
		wr.startFile()
	}
	return wr, wr.firstErr
}

// startFile leaves room for the header and writes the attributes.
func (w *Writer) startFile() {
	e := newEncoder(w.opts.BigEndian)
	e.zeros(fileHeaderSize)
	idsAt := make([]int, len(w.opts.Attrs))
	for i, a := range w.opts.Attrs {
		idsAt[i] = len(e.b)
		e.u64s(a.IDs)
	}
	w.attrs.Offset = int64(len(e.b))
	size := w.attrSize()
	for i, a := range w.opts.Attrs {
		e.attr(a, size)
		e.u64(uint64(idsAt[i]))
		e.u64(uint64(8 * len(a.IDs)))
	}
	w.attrs.Size = int64(len(e.b)) - w.attrs.Offset
	w.write(e.b)
	w.dataOff = w.written
}

// attrSize is the size that all attributes are written with.
func (w *Writer) attrSize() uint32 {
	var n uint32
	for _, a := range w.opts.Attrs {
		n = max(n, a.wireSize())
	}
	return n
}

// startPipe writes the header of a pipe and the records that stand for the
// rest of a file header.
func (w *Writer) startPipe() {
	e := newEncoder(w.opts.BigEndian)
	e.bytes([]byte(magic(w.opts.BigEndian)))
	e.u64(pipeHeaderSize)
	w.write(e.b)
	for _, a := range w.opts.Attrs {
		e.b = e.b[:0]
		e.attr(a, w.attrSize())
		e.u64s(a.IDs)
		w.WriteRecord(TypeHeaderAttr, 0, e.b)
		if a.Name != "" && len(a.IDs) > 0 {
			w.WriteEvent(&EventUpdate{UpdateName, a.IDs[0], append([]byte(a.Name), 0)}, SampleIDs{})
		}
	}
	for _, s := range w.sections() {
		if len(s.data) == 0 {
			continue // in a pipe that means "no more features"
		}
		e.b = e.b[:0]
		e.u64(uint64(s.id))
		e.bytes(s.data)
		e.pad(8)
		w.WriteRecord(TypeHeaderFeature, 0, e.b)
	}
}

func magic(bigEndian bool) string {
	if bigEndian {
		return magicBig
	}
	return magicLittle
}

// WriteRecord writes a record with this body. Kernel records need the trailer
// in their body if the events have FlagSampleIDAll.
func (w *Writer) WriteRecord(t Type, misc uint16, body []byte) error {
	w.begin()
	w.e.bytes(body)
	return w.finish(t, misc)
}

// WriteRaw writes a record with its header as the kernel made it, in the byte
// order of the recording.
func (w *Writer) WriteRaw(rec []byte) error {
	if len(rec) < recordHeaderSize || parseHeader(rec, w.opts.BigEndian).size != int64(len(rec)) {
		return &binfmt.Error{Part: "record to write", Offset: -1, Want: "one whole record", Got: fmt.Sprintf("%d bytes", len(rec)), Err: binfmt.ErrCorrupt}
	}
	return w.store(parseHeader(rec, w.opts.BigEndian).typ, rec)
}

// WriteEvent writes a record other than a sample, with ids as its trailer if
// the event that ids.ID names, else the first, has FlagSampleIDAll.
func (w *Writer) WriteEvent(ev Event, ids SampleIDs) error {
	w.begin()
	t, misc := ev.encode(w.e)
	if t < typeFirstUser {
		a := w.attrOf(ids.ID)
		if a.Flags&FlagSampleIDAll != 0 {
			w.e.trailer(a.SampleType, ids)
		}
	}
	return w.finish(t, misc)
}

// WriteAuxtrace writes trace bytes with the record that announces them.
func (w *Writer) WriteAuxtrace(m Auxtrace, trace []byte) error {
	m.Size = uint64(len(trace))
	if err := w.WriteEvent(&m, SampleIDs{}); err != nil {
		return err
	}
	return w.write(trace)
}

// WriteTracingData writes the formats of tracepoints as a pipe has them.
func (w *Writer) WriteTracingData(data []byte) error {
	padded := binfmt.AppendPad(slices.Clone(data), 8, 0)
	w.begin()
	w.e.u32(uint32(len(padded)))
	if err := w.finish(TypeTracingData, 0); err != nil {
		return err
	}
	return w.write(padded)
}

// WriteSample writes a sample of the event s.Attr, or if that is nil of the
// event with the id s.ID. All fields of its SampleType are written: registers
// as absent, the user stack as empty, counter values as zero.
func (w *Writer) WriteSample(s *Sample) error {
	a := s.Attr
	if a == nil {
		a = w.attrOf(s.ID)
	}
	w.begin()
	w.e.sample(a, s)
	return w.finish(TypeSample, s.Misc)
}

// attrOf is the event with an id, else the first.
func (w *Writer) attrOf(id uint64) *Attr {
	if a := w.byID[id]; a != nil {
		return a
	}
	return w.opts.Attrs[0]
}

// begin starts a record in the scratch encoder.
func (w *Writer) begin() {
	w.e.b = w.e.b[:0]
	w.e.zeros(recordHeaderSize)
}

// finish fills in the header of the record that begin started, and stores it.
func (w *Writer) finish(t Type, misc uint16) error {
	b := w.e.b
	if len(b) > maxRecord {
		return &binfmt.Error{Part: t.String() + " record to write", Offset: -1, Want: fmt.Sprintf("at most %d bytes", maxRecord), Got: fmt.Sprint(len(b)), Err: binfmt.ErrLimit}
	}
	w.e.PutUint32(b, uint32(t))
	w.e.PutUint16(b[4:], misc)
	w.e.PutUint16(b[6:], uint16(len(b)))
	return w.store(t, b)
}

// store writes a record. As perf does, only what the kernel wrote is
// compressed.
func (w *Writer) store(t Type, rec []byte) error {
	if w.packer == nil {
		return w.write(rec)
	}
	if t < typeFirstUser {
		return w.note(w.packer.add(rec))
	}
	if err := w.note(w.packer.flush()); err != nil {
		return err
	}
	return w.write(rec)
}

func (w *Writer) write(b []byte) error {
	if w.firstErr == nil {
		var n int
		n, w.firstErr = w.w.Write(b)
		w.written += int64(n)
	}
	return w.firstErr
}

func (w *Writer) note(err error) error {
	if w.firstErr == nil {
		w.firstErr = err
	}
	return w.firstErr
}

// Close completes the recording: it writes what is still buffered, and in a
// file the header sections and the header. It does not close the underlying
// writer.
func (w *Writer) Close() error {
	if w.closed {
		return w.firstErr
	}
	w.closed = true
	if w.packer != nil {
		w.note(w.packer.flush())
		w.note(w.packer.z.Close()) // what it would write now, the end of the frame, perf never writes
	}
	if w.seek == nil {
		return w.note(w.w.Flush())
	}
	if w.written == w.dataOff {
		w.WriteRecord(TypeFinishedRound, 0, nil) // no data at all would mean "not closed"
	}
	dataEnd := w.written
	sections := w.sections()
	e := newEncoder(w.opts.BigEndian)
	at := dataEnd + int64(16*len(sections))
	for _, s := range sections {
		e.u64(uint64(at))
		e.u64(uint64(len(s.data)))
		at += int64(len(s.data))
	}
	for _, s := range sections {
		e.bytes(s.data)
	}
	w.write(e.b)
	w.note(w.w.Flush())
	w.note(w.patchHeader(sections, dataEnd))
	return w.firstErr
}

func (w *Writer) patchHeader(sections []section, dataEnd int64) error {
	if _, err := w.seek.Seek(0, io.SeekStart); err != nil {
		return err
	}
	e := newEncoder(w.opts.BigEndian)
	e.bytes([]byte(magic(w.opts.BigEndian)))
	e.u64(fileHeaderSize)
	e.u64(uint64(w.attrSize()) + 16)
	e.u64(uint64(w.attrs.Offset))
	e.u64(uint64(w.attrs.Size))
	e.u64(uint64(w.dataOff))
	e.u64(uint64(dataEnd - w.dataOff))
	e.zeros(16)
	var bitmap [maxFeatures / 64]uint64
	for _, s := range sections {
		bitmap[s.id/64] |= 1 << (s.id % 64)
	}
	e.u64s(bitmap[:])
	if _, err := w.seek.Write(e.b); err != nil {
		return err
	}
	_, err := w.seek.Seek(0, io.SeekEnd)
	return err
}

// packer compresses records into one zstd stream and stores it in pieces.
type packer struct {
	w   *Writer
	z   *zstd.Encoder
	raw []byte // waits for compression
	out []byte // compressed, waits for flush
}

const (
	// packPiece is how much goes into a piece: what comes out always fits
	// into one record, and records straddle pieces as they do in perf's files.
	packPiece   = 60000
	packMmapLen = 512 << 10 // claim of the header; perf's reader provides so much room
	packWindow  = 512 << 10 // of level 1, the default of perf record -z
)

func newPacker(w *Writer) (*packer, error) {
	p := &packer{w: w}
	z, err := zstd.NewWriter(p, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(packWindow))
	p.z = z
	return p, err
}

// Write takes compressed bytes.
func (p *packer) Write(b []byte) (int, error) {
	p.out = append(p.out, b...)
	return len(b), nil
}

func (p *packer) add(rec []byte) error {
	p.raw = append(p.raw, rec...)
	if len(p.raw) < packPiece {
		return nil
	}
	if err := p.piece(p.raw[:packPiece]); err != nil {
		return err
	}
	p.raw = p.raw[:copy(p.raw, p.raw[packPiece:])]
	return nil
}

func (p *packer) flush() error {
	for len(p.raw) > 0 {
		n := min(packPiece, len(p.raw))
		if err := p.piece(p.raw[:n]); err != nil {
			return err
		}
		p.raw = p.raw[:copy(p.raw, p.raw[n:])]
	}
	return nil
}

// piece compresses b and stores the outcome as one record.
func (p *packer) piece(b []byte) error {
	p.out = p.out[:0]
	if _, err := p.z.Write(b); err != nil {
		return err
	}
	if err := p.z.Flush(); err != nil {
		return err
	}
	e := newEncoder(p.w.opts.BigEndian)
	t := TypeCompressed
	head := recordHeaderSize
	if p.w.opts.Packing == PackZstd2 {
		t, head = TypeCompressed2, recordHeaderSize+8
	}
	size := head + len(p.out)
	if t == TypeCompressed2 {
		size = (size + 7) &^ 7
	}
	if size > maxRecord {
		panic("perfdata: a compressed piece outgrew its record")
	}
	e.u32(uint32(t))
	e.u16(0)
	e.u16(uint16(size))
	if t == TypeCompressed2 {
		e.u64(uint64(len(p.out)))
	}
	e.bytes(p.out)
	e.zeros(size - len(e.b))
	return p.w.write(e.b)
}
