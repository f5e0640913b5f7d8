package spt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Options configure a [Reader]. The zero value and nil mean the defaults.
type Options struct {
	// Tolerate makes the reader step over damage in the data stream instead of
	// stopping at it: from the first [Defect] in a segment it skips to the
	// segment's end and counts what it skipped in [Stats]. The records of a
	// segment that the end of the file cuts are still read.
	Tolerate bool
}

// Reader reads one SPT file. Facts about the file are there as soon as it is
// open; its records follow as a stream in the order of the file:
//
//	for r.Next() {
//		rec := r.Record()
//	}
//	err := r.Err()
type Reader struct {
	*tables
	src       source
	file      *os.File // what Close closes
	name      string   // of file, for errors
	tolerate  bool
	indexBase int // what program id indices count from

	seg      Segment
	segments uint64
	started  bool  // a BINARY_ID has been met, sound or not
	left     int64 // bytes of the segment that are not read yet
	cut      bool  // DefectSegmentCut is counted for the segment

	rec      Record
	rvas     [MaxEntries]uint32
	pairs    [MaxEntries]Pair
	records  uint64
	singles  uint64
	skipped  [numDefects]Skipped
	finished bool
	err      error
}

// IsSPT says whether a file begins as an SPT does.
func IsSPT(r io.ReaderAt) bool {
	var head [4]byte
	n, _ := r.ReadAt(head[:], 0)
	return n == len(head) && binary.LittleEndian.Uint32(head[:]) == Signature
}

// Open opens the named file. The caller closes the reader. Errors are those of
// [NewReader] with the name filled in, and *fs.PathError.
func Open(name string, opts *Options) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := openFile(f, opts)
	if err != nil {
		f.Close()
		return nil, binfmt.InFile(err, name)
	}
	r.file, r.name = f, name
	return r, nil
}

func openFile(f *os.File, opts *Options) (*Reader, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() { // a pipe has no size and cannot seek
		return NewStreamReader(f, opts)
	}
	return NewReader(f, fi.Size(), opts)
}

// NewReader reads a file of size bytes. It never closes r. Errors are a
// *[binfmt.Error] that wraps binfmt.ErrMagic, ErrVersion, ErrTruncated,
// ErrCorrupt, ErrLimit or the failure of r.
//
// It walks over the BINARY_IDs of the file, without reading what is between
// them, as far as it takes to tell whether program id indices count from 0 or
// from 1: a file in which index 0 never occurs and the greatest is equal to
// ProgramIdsUsed counts from 1. [Reader.Warnings] then says so.
func NewReader(r io.ReaderAt, size int64, opts *Options) (*Reader, error) {
	if size < 0 {
		return nil, &binfmt.Error{Part: "size", Offset: -1, Want: "at least 0", Got: fmt.Sprint(size), Err: binfmt.ErrLimit}
	}
	return newReader(newSource(io.NewSectionReader(r, 0, size), size, bufferSize), r, opts)
}

// NewStreamReader is [NewReader] for an input that can be read only once, such
// as a pipe. Two things differ. Where program id indices count from is decided
// by the segments that start in the first MiB of the data stream; an index
// that contradicts the decision later is a [DefectProgramRange]. And a segment
// that runs past the end of the file is found there, not where it starts, so a
// strict reader has returned its records before it returns the error.
func NewStreamReader(r io.Reader, opts *Options) (*Reader, error) {
	return newReader(newSource(r, -1, bufferSize), nil, opts)
}

// newReader opens src; at is the same input for random access, or nil.
func newReader(src source, at io.ReaderAt, opts *Options) (*Reader, error) {
	if opts == nil {
		opts = &Options{}
	}
	r := &Reader{src: src, tolerate: opts.Tolerate}
	var err error
	if r.tables, err = readTables(&r.src); err != nil {
		return nil, err
	}
	start, size := r.src.offset(), r.src.size
	if at == nil {
		seen := r.src.peek(len(r.src.buf))
		at, start, size = bytes.NewReader(seen), 0, int64(len(seen))
	}
	if r.indexBase = findIndexBase(at, start, size, int(r.header.ProgramIdsUsed)); r.indexBase == 1 {
		r.warn("data stream", r.header.dataOffset(), "program id indices that count from 0",
			fmt.Sprintf("indices up to %d and no 0: read as counting from 1", r.header.ProgramIdsUsed))
	}
	return r, nil
}

// Close closes the file that [Open] opened. Readers from [NewReader] and
// [NewStreamReader] need no Close.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Header returns the header as stored.
func (r *Reader) Header() Header { return r.header }

// Programs returns the used entries of the program id table.
func (r *Reader) Programs() []ProgramID { return r.programs }

// Strings returns the strings of the used part of the string table.
func (r *Reader) Strings() []String { return r.strings }

// Warnings returns what was odd about the tables and the program id indices,
// and how it was read. Each is a *[binfmt.Error] without kind.
func (r *Reader) Warnings() []error { return r.warnings }

// Segment returns the segment of the current record or BINARY_ID.
func (r *Reader) Segment() Segment { return r.seg }

// Record returns the record that [Reader.Next] or [Reader.NextItem] has
// reached. It and its slices are valid until the next call of either.
func (r *Reader) Record() *Record { return &r.rec }

// Err returns what ended the stream, nil at the end of the file. It is a
// *[binfmt.Error] that wraps a [Defect] or the failure of the input; a
// tolerant reader returns failures alone.
func (r *Reader) Err() error {
	if r.name != "" {
		return binfmt.InFile(r.err, r.name)
	}
	return r.err
}

// Stats returns the counts up to now.
func (r *Reader) Stats() Stats {
	s := Stats{Segments: r.segments, Records: r.records, SingleFrames: r.singles,
		Bytes: uint64(r.src.offset() - r.header.dataOffset())}
	for d, k := range r.skipped {
		if k.Times > 0 {
			k.Defect = Defect(d)
			s.Skipped = append(s.Skipped, k)
		}
	}
	return s
}

// Next advances to the next record and returns whether there is one.
func (r *Reader) Next() bool {
	for r.NextItem() {
		if r.rec.Op != OpBinaryID {
			return true
		}
	}
	return false
}

// NextItem advances to the next record or BINARY_ID and returns whether there
// is one. It shows the file as it is cut into segments, empty ones included: at
// a BINARY_ID the opcode of [Reader.Record] is OpBinaryID and
// [Reader.Segment] has its fields.
func (r *Reader) NextItem() bool {
	for !r.finished && r.err == nil {
		if r.left == 0 {
			if r.nextSegment() {
				return true
			}
		} else if r.nextRecord() {
			return true
		}
	}
	return false
}

// nextSegment reads a BINARY_ID.
func (r *Reader) nextSegment() bool {
	b := r.src.peek(maxSample)
	if len(b) == 0 {
		r.finished = true
		if r.src.failed() {
			r.err = r.src.readError()
		}
		return false
	}
	off := r.src.offset()
	if Opcode(b[0]) != OpBinaryID {
		r.outside(b, off)
		return false
	}
	r.started = true
	if len(b) < binaryIDSize {
		if r.src.failed() {
			r.err = r.src.readError()
		} else if k := r.defect(DefectBinaryIDCut, off, "8 bytes", "%d", len(b)); k != nil {
			k.Bytes += uint64(r.src.skip(int64(len(b))))
		}
		return false
	}
	r.src.pos += binaryIDSize
	r.seg = Segment{Offset: off, Pad: b[1], Index: binary.LittleEndian.Uint16(b[2:]), Length: binary.LittleEndian.Uint32(b[4:])}
	r.seg.Program = int(r.seg.Index) - r.indexBase
	r.cut = false
	if r.seg.Length < lengthSize {
		if k := r.defect(DefectSegmentLength, off+4, "at least 4", "%d", r.seg.Length); k != nil {
			k.Bytes += binaryIDSize
		}
		return false
	}
	r.left = int64(r.seg.Length) - lengthSize
	if r.src.size >= 0 && r.left > r.src.size-r.src.offset() && r.segmentCut(r.src.size) == nil {
		return false
	}
	if r.seg.Program < 0 || r.seg.Program >= len(r.programs) {
		r.skipForeign()
		return false
	}
	r.segments++
	r.rec = Record{Op: OpBinaryID, Program: r.seg.Program, Offset: off}
	return true
}

// nextRecord reads a record and its REPEAT. There is at least one byte left in
// the segment. It consumes nothing before the record is known to be sound, so
// that a defect finds its REPEAT still unread.
func (r *Reader) nextRecord() bool {
	b := r.src.buf[r.src.pos:r.src.end]
	if len(b) < maxSample {
		b = r.src.peek(maxSample)
	}
	if int64(len(b)) > r.left {
		b = b[:r.left]
	}
	rec := &r.rec
	rec.HasRepeat, rec.RepeatPad, rec.Repeat = false, 0, 0
	at := 0 // where the record begins in b
	if len(b) > 0 && Opcode(b[0]) == OpRepeat {
		if len(b) < repeatSize {
			return r.recordCut(0, repeatSize)
		}
		at = repeatSize
		if r.left == repeatSize {
			return r.damaged(DefectRepeatAtEnd, 0, "a record behind it", "the end of the segment")
		}
		rec.HasRepeat, rec.RepeatPad, rec.Repeat = true, b[1], binary.LittleEndian.Uint64(b[2:])
	}
	if len(b) <= at {
		return r.recordCut(at, at+1)
	}
	op := Opcode(b[at])
	width := int(entrySize[op])
	if width == 0 {
		return r.badOpcode(at, op)
	}
	if len(b) < at+recordHead {
		return r.recordCut(at, at+recordHead)
	}
	n := int(b[at+1])
	if n == 0 {
		return r.damaged(DefectNoEntries, at+1, "1 to 255 entries", "0")
	}
	size := at + recordHead + n*width
	if size > len(b) {
		return r.recordCut(at, size)
	}
	rec.Op = op
	rec.Offset = r.src.base + int64(r.src.pos+at)
	data := b[at+recordHead : size]
	if width == 8 {
		rec.RVAs, rec.Pairs = nil, r.pairs[:n]
		for i := range rec.Pairs {
			v := binary.LittleEndian.Uint64(data)
			rec.Pairs[i] = Pair{To: uint32(v), From: uint32(v >> 32)}
			data = data[8:]
		}
	} else {
		rec.RVAs, rec.Pairs = r.rvas[:n], nil
		for i := range rec.RVAs {
			rec.RVAs[i] = binary.LittleEndian.Uint32(data)
			data = data[4:]
		}
		if n == 1 && op == OpETWCallStack {
			r.singles++
		}
	}
	r.records++
	r.src.pos += size
	r.left -= int64(size)
	return true
}
