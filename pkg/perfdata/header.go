package perfdata

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	magicLittle = "PERFILE2"
	magicBig    = "2ELIFREP"
	magicV1     = "PERFFILE" // no byte-order mark

	pipeHeaderSize = 16
	oldHeaderSize  = 72 // before feature sections
	fileHeaderSize = 104

	minAttrEntry = attrSizeV0 + 16 // an attribute, and where its ids are
	maxAttrEntry = 4096 + 16       // the kernel takes no attribute beyond a page
	maxAttrs     = 1 << 16
	maxIDs       = 1 << 24 // of all attributes together
)

// Header is what the first bytes of a recording say.
type Header struct {
	BigEndian bool   // byte order of everything in the recording
	Pipe      bool   // a stream: attributes and features are records
	Version   int    // 2, or 1 for the time before perf 2.6.32's byte-order mark
	Size      uint64 // bytes of the header: 104, 72 or 16
	AttrEntry uint64 // bytes of one entry of the attribute section; 0 in a pipe
	Data      Extent // records; to the end of the input if the recording was not closed
	Closed    bool   // the recorder finished the header; without that there are no features

	attrs    Extent
	features uint64 // offset of the feature table
	bitmap   []byte // which features the table lists
}

// Extent is a range of bytes of one data file of a recording.
type Extent struct {
	Segment int   // 0 is the main file, N+1 is data.N of a directory
	Offset  int64 // absolute offset in that file
	Size    int64 // in bytes
}

// end is the offset after the last byte.
func (e Extent) end() int64 { return e.Offset + e.Size }

// File is an opened recording. The facts in its fields are complete once it
// is open, except that in a pipe more of them may come with the records: then
// they are complete after the first walk over all records.
//
// After that walk, all methods may be used by several goroutines at once.
type File struct {
	Header   Header
	Attrs    []*Attr
	Features Features

	// Warnings are defects in optional parts, in the order found: the first
	// thousand, and how many more there were.
	Warnings     []*binfmt.Error
	MoreWarnings int
	// Truncated tells that the input ends before the recording does, as far
	// as that shows without reading the records; see also Index.Stops.
	Truncated *binfmt.Error

	segments []segment
	ids      map[uint64]*Attr
	factsEnd int64 // header records before this offset are already in the facts
	closers  []func() error
}

// segment is one input of records.
type segment struct {
	name       string // for errors; may be empty
	r          io.ReaderAt
	size       int64 // of the whole input
	start, end int64 // where the records are
}

// defect builds an error at a place of a segment.
func (f *File) defect(seg int, part string, off int64, kind error, want, got string) *binfmt.Error {
	return &binfmt.Error{File: f.segments[seg].name, Part: part, Offset: off, Want: want, Got: got, Err: kind}
}

// maxWarnings keeps a recording that is damaged all over from filling the
// memory with complaints.
const maxWarnings = 1000

func (f *File) warn(part string, off int64, kind error, want, got string) {
	f.warnOf(f.defect(0, part, off, kind, want, got))
}

// warnOf takes a defect in an optional part of the main file.
func (f *File) warnOf(err error) {
	var e *binfmt.Error
	if !errors.As(binfmt.InFile(err, f.segments[0].name), &e) {
		return
	}
	if len(f.Warnings) < maxWarnings {
		f.Warnings = append(f.Warnings, e)
	} else {
		f.MoreWarnings++
	}
}

// readHeader reads what stands before and after the records of segment 0.
func (f *File) readHeader() error {
	s := &f.segments[0]
	head := make([]byte, min(s.size, fileHeaderSize))
	if _, err := s.r.ReadAt(head, 0); err != nil && err != io.EOF {
		return binfmt.InFile(err, s.name)
	}
	if err := f.parseHeader(head); err != nil {
		return err
	}
	f.factsEnd = s.start
	if f.Header.Pipe {
		return f.readLeadingFacts()
	}
	if err := f.readAttrs(); err != nil {
		return err
	}
	if f.Header.Closed {
		f.readFeatures()
	}
	return nil
}

// notPerfData is the error for an input that begins with other bytes than a
// recording.
func notPerfData(name string, start []byte) error {
	return &binfmt.Error{File: name, Part: "signature", Want: fmt.Sprintf("%q or %q", magicLittle, magicBig),
		Got: fmt.Sprintf("%q", start), Err: binfmt.ErrMagic}
}

func isMagic(start []byte) bool {
	return string(start) == magicLittle || string(start) == magicBig || string(start) == magicV1
}

func (f *File) parseHeader(b []byte) error {
	s, h := &f.segments[0], &f.Header
	if len(b) < pipeHeaderSize {
		return f.defect(0, "file header", int64(len(b)), binfmt.ErrTruncated, "at least 16 bytes", fmt.Sprint(s.size))
	}
	h.Version = 2
	switch string(b[:8]) {
	case magicLittle:
	case magicBig:
		h.BigEndian = true
	case magicV1:
		// The header size is a small number in the right byte order only.
		h.Version = 1
		h.BigEndian = binary.LittleEndian.Uint64(b[8:]) > 1<<32
	default:
		return notPerfData(s.name, b[:8])
	}
	c := binfmt.NewCursor(b, "file header", 0).BigEndian(h.BigEndian)
	c.Skip(8)
	h.Size = c.U64()
	if h.Size == pipeHeaderSize {
		h.Pipe, h.Closed = true, true
		h.Data = Extent{Offset: pipeHeaderSize, Size: s.size - pipeHeaderSize}
		s.start, s.end = h.Data.Offset, s.size
		return nil
	}
	if h.Size < oldHeaderSize {
		return f.defect(0, "header size", 8, binfmt.ErrCorrupt, "16, 72 or 104", fmt.Sprint(h.Size))
	}
	h.AttrEntry = c.U64()
	attrOff, attrSize := c.U64(), c.U64()
	dataOff, dataSize := c.U64(), c.U64()
	c.Skip(16) // event types, which nothing reads any more
	if h.Size >= fileHeaderSize {
		h.bitmap = c.Bytes(32)
	}
	if err := c.Err(); err != nil {
		return binfmt.InFile(err, s.name)
	}
	total := uint64(s.size)
	if h.AttrEntry < minAttrEntry || h.AttrEntry > maxAttrEntry {
		return f.defect(0, "attribute entry size", 16, binfmt.ErrCorrupt, fmt.Sprintf("%d to %d", minAttrEntry, maxAttrEntry), fmt.Sprint(h.AttrEntry))
	}
	if n := attrSize / h.AttrEntry; n > maxAttrs {
		return f.defect(0, "attribute section size", 32, binfmt.ErrLimit, fmt.Sprintf("at most %d attributes", maxAttrs), fmt.Sprint(n))
	}
	if attrOff > total || attrSize > total-attrOff {
		return f.defect(0, "attribute section", 24, binfmt.ErrTruncated, extentText(attrOff, attrSize), fmt.Sprintf("%#x bytes", total))
	}
	h.attrs = Extent{Offset: int64(attrOff), Size: int64(attrSize)}
	return f.placeData(dataOff, dataSize)
}

// placeData sets where the records are. Without a size the recorder was
// killed or still runs: the records then go on to the end of the input.
func (f *File) placeData(off, size uint64) error {
	s, h := &f.segments[0], &f.Header
	total := uint64(s.size)
	if off > total {
		return f.defect(0, "data section offset", 40, binfmt.ErrTruncated, fmt.Sprintf("at most %#x", total), fmt.Sprintf("%#x", off))
	}
	left := total - off
	h.Closed = size != 0
	switch {
	case !h.Closed:
		f.warn("data section size", 48, binfmt.ErrTruncated, "a size", "0, as in a recording that was not finished")
		size = left
	case size > left:
		f.Truncated = f.defect(0, "data section", s.size, binfmt.ErrTruncated, extentText(off, size), fmt.Sprintf("%#x bytes", total))
		size = left
	}
	h.Data = Extent{Offset: int64(off), Size: int64(size)}
	s.start, s.end = h.Data.Offset, h.Data.end()
	h.features = uint64(s.end)
	return nil
}

func extentText(off, size uint64) string {
	return fmt.Sprintf("%#x bytes at %#x", size, off)
}

// readAttrs reads the attribute section and the ids that it refers to.
func (f *File) readAttrs() error {
	s, h := &f.segments[0], &f.Header
	in := bufio.NewReader(f.Section(h.attrs))
	entry := make([]byte, h.AttrEntry)
	// Sections of ids can overlap in a damaged file, so that together they
	// claim more than is there.
	budget := uint64(maxIDs)
	order := orderOf(h.BigEndian)
	for i := range uint64(h.attrs.Size) / h.AttrEntry {
		if _, err := io.ReadFull(in, entry); err != nil {
			return binfmt.InFile(err, s.name)
		}
		where := entry[len(entry)-16:]
		a := decodeAttr(entry[:len(entry)-16], h.BigEndian)
		off, n := order.Uint64(where), order.Uint64(where[8:])/8
		at := h.attrs.Offset + int64((i+1)*h.AttrEntry) - 16
		part := fmt.Sprintf("attribute %d: ids", i)
		switch {
		case off > uint64(s.size) || n > (uint64(s.size)-off)/8:
			f.warn(part, at, binfmt.ErrTruncated, extentText(off, 8*n), fmt.Sprintf("%#x bytes", s.size))
		case n > budget:
			f.warn(part, at, binfmt.ErrLimit, fmt.Sprintf("at most %d ids in all", maxIDs), fmt.Sprintf("%d more", n))
		default:
			budget -= n
			ids, err := f.readU64s(int64(off), int(n))
			if err != nil {
				return err
			}
			a.IDs = ids
		}
		f.addAttr(a)
	}
	return nil
}

// readU64s reads n words that are known to be in the file.
func (f *File) readU64s(off int64, n int) ([]uint64, error) {
	raw := make([]byte, 8*n)
	if _, err := f.segments[0].r.ReadAt(raw, off); err != nil && err != io.EOF {
		return nil, binfmt.InFile(err, f.segments[0].name)
	}
	order := orderOf(f.Header.BigEndian)
	v := make([]uint64, n)
	for i := range v {
		v[i] = order.Uint64(raw[8*i:])
	}
	return v, nil
}

// Section returns the bytes of an extent, such as the trace of an AUXTRACE
// record or a feature section.
func (f *File) Section(e Extent) *io.SectionReader {
	return io.NewSectionReader(f.segments[e.Segment].r, e.Offset, e.Size)
}

// Size is the number of bytes of all data files together, after
// decompression of the whole file if it was compressed.
func (f *File) Size() int64 {
	var n int64
	for _, s := range f.segments {
		n += s.size
	}
	return n
}

// Close closes what Open or OpenStream opened and removes temporary files.
func (f *File) Close() error {
	var first error
	for i := len(f.closers) - 1; i >= 0; i-- {
		if err := f.closers[i](); err != nil && first == nil {
			first = err
		}
	}
	f.closers = nil
	return first
}
