package perfdata

import (
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// walkBuffer is the size of the reads of a walk. It has room for the longest
// record several times over and still fits a second-level cache.
const walkBuffer = 256 << 10

// Records walks the records of a recording in the order of the file: all of
// the main file, then all of data.0, data.1, ... of a directory. The order is
// not that of time.
type Records struct {
	f   *File
	ix  *Index // nil: the walk only delivers
	rec Record
	err error

	seg, lastSeg int
	buf          []byte
	pos, n       int   // the unread part of buf
	base         int64 // offset of buf[0] in the segment
	end          int64 // where the records of the segment end

	z       *inflater // the zstd stream of the segment, if it has one
	taken   int       // how much of z.out was delivered
	inPiece bool      // nested records come next
	lost    bool      // the zstd stream is damaged
}

// Records starts a walk over all records. Walks must not overlap as long as
// none has reached the end.
func (f *File) Records() *Records {
	return f.walk(0, len(f.segments), new(Index))
}

// walk starts a walk over the segments from first up to but not including end.
func (f *File) walk(first, end int, ix *Index) *Records {
	longest := int64(0)
	for _, s := range f.segments[first:end] {
		longest = max(longest, s.end-s.start)
	}
	rs := &Records{f: f, ix: ix, lastSeg: end, seg: first, buf: make([]byte, min(longest, walkBuffer))}
	rs.enterSegment()
	return rs
}

// Record returns the record that Next found. It and its data are valid until
// the next call of Next.
func (rs *Records) Record() *Record { return &rs.rec }

// Err returns the error of reading the input that ended the walk. Damage in
// the recording is no error of the walk: it ends there, or goes on behind the
// damage where it can, and Index.Stops tells.
func (rs *Records) Err() error { return rs.err }

// Index returns what the walk found so far. It is complete when Next has
// returned false.
func (rs *Records) Index() *Index { return rs.ix }

// Close releases what a walk needs that is not followed to its end.
func (rs *Records) Close() {
	if rs.z != nil {
		rs.z.stop()
		rs.z = nil
	}
	rs.inPiece = false
	rs.seg = rs.lastSeg
}

// Next steps to the next record and says whether there is one.
func (rs *Records) Next() bool {
	if rs.inPiece && rs.nextNested() {
		return true
	}
	for rs.seg < rs.lastSeg {
		if rs.nextOuter() {
			return true
		}
		rs.leaveSegment()
	}
	return false
}

// nextOuter delivers the next record of the segment that stands in the file
// itself.
func (rs *Records) nextOuter() bool {
	big := rs.f.Header.BigEndian
	b := rs.buf[rs.pos:rs.n]
	off := rs.base + int64(rs.pos)
	if len(b) < recordHeaderSize {
		if b = rs.fill(recordHeaderSize); len(b) < recordHeaderSize {
			if len(b) > 0 && rs.err == nil {
				rs.stop(rs.f.defect(rs.seg, "record", off, binfmt.ErrTruncated, "8 bytes of header", fmt.Sprint(len(b))))
			}
			return false
		}
	}
	h := parseHeader(b, big)
	if h.size < recordHeaderSize {
		rs.stop(rs.f.badSize(rs.seg, off, b, h))
		return false
	}
	data := b[:recordHeaderSize]
	trail := uint64(0)
	switch {
	case h.size <= int64(len(b)):
		data = b[:h.size]
	case h.size > rs.end-off:
		rs.stop(rs.f.defect(rs.seg, h.typ.String()+" record", off, binfmt.ErrTruncated, fmt.Sprintf("%d bytes", h.size), fmt.Sprint(rs.end-off)))
		return false
	case h.size > maxRecord:
		trail = uint64(h.size) - recordHeaderSize
	default:
		if data = rs.fill(int(h.size)); int64(len(data)) < h.size {
			if rs.err == nil {
				rs.stop(rs.f.defect(rs.seg, h.typ.String()+" record", off, binfmt.ErrTruncated, fmt.Sprintf("%d bytes", h.size), fmt.Sprint(len(data))))
			}
			return false
		}
		data = data[:h.size]
	}
	// One field after the other: the copy of a Record made of narrow fields
	// would cost more than all the rest of the walk.
	r := &rs.rec
	r.Type, r.Misc, r.Offset, r.Segment, r.Nested, r.Data = h.typ, h.misc, off, rs.seg, false, data
	r.Trail.Segment, r.Trail.Offset, r.Trail.Size = 0, 0, 0
	rs.pos += len(data)
	if h.typ == TypeSample { // by far the most frequent type
		if rs.ix != nil {
			rs.ix.sample(rs.seg, off, h.size)
		}
		return true
	}
	rs.finishOuter(h, trail)
	return true
}

// finishOuter does what records other than samples need: step over what
// follows the record, prepare a compressed piece, and keep the books.
func (rs *Records) finishOuter(h header, trail uint64) {
	r := &rs.rec
	if trail == 0 {
		trail = trailSize(h, r.Data, orderOf(rs.f.Header.BigEndian))
	}
	if trail > 0 {
		at := r.Offset + int64(len(r.Data))
		if left := uint64(rs.end - at); trail > left {
			rs.stop(rs.f.defect(rs.seg, "data of "+h.typ.String()+" record", at, binfmt.ErrTruncated, fmt.Sprintf("%d bytes", trail), fmt.Sprint(left)))
			trail = left
		}
		r.Trail = Extent{rs.seg, at, int64(trail)}
		rs.skip(int64(trail))
	}
	if h.typ == TypeCompressed || h.typ == TypeCompressed2 {
		rs.startPiece()
	}
	if rs.ix != nil {
		rs.ix.note(r, rs.f.Header.BigEndian)
		rs.f.takeFact(r)
	}
}

// fill makes at least want bytes available behind pos, if the segment has
// them, and returns what is there.
func (rs *Records) fill(want int) []byte {
	rs.n = copy(rs.buf, rs.buf[rs.pos:rs.n])
	rs.base += int64(rs.pos)
	rs.pos = 0
	for rs.n < want {
		room := int(min(int64(len(rs.buf)-rs.n), rs.end-rs.base-int64(rs.n)))
		if room == 0 {
			break
		}
		n, err := rs.f.segments[rs.seg].r.ReadAt(rs.buf[rs.n:rs.n+room], rs.base+int64(rs.n))
		rs.n += n
		if n < room {
			if err != nil && err != io.EOF {
				rs.err = binfmt.InFile(err, rs.f.segments[rs.seg].name)
			}
			rs.end = rs.base + int64(rs.n) // the file became shorter
			break
		}
	}
	return rs.buf[:rs.n]
}

// skip steps over n bytes that need not be in the buffer.
func (rs *Records) skip(n int64) {
	if n <= int64(rs.n-rs.pos) {
		rs.pos += int(n)
		return
	}
	rs.base += int64(rs.pos) + n
	rs.pos, rs.n = 0, 0
}

// stop notes where the records of a segment, or its compressed stream, end
// before they should.
func (rs *Records) stop(e *binfmt.Error) {
	if rs.ix != nil {
		rs.ix.Stops = append(rs.ix.Stops, e)
	}
}

func (rs *Records) enterSegment() {
	if rs.seg < rs.lastSeg {
		s := rs.f.segments[rs.seg]
		rs.base, rs.end = s.start, s.end
		rs.pos, rs.n = 0, 0
	}
}

func (rs *Records) leaveSegment() {
	if rs.err != nil {
		rs.Close()
		return
	}
	if rs.z != nil {
		if left := len(rs.z.out) - rs.taken; left > 0 && !rs.lost {
			rs.stop(rs.f.defect(rs.seg, "compressed records", rs.end, binfmt.ErrTruncated, "the rest of a record", fmt.Sprintf("%d bytes of it", left)))
		}
		rs.z.stop()
		rs.z = nil
	}
	rs.lost, rs.taken = false, 0
	rs.seg++
	rs.enterSegment()
}

// startPiece makes the compressed record the source of the next records.
func (rs *Records) startPiece() {
	if rs.lost {
		rs.losePiece()
		return
	}
	r := &rs.rec
	piece := r.Data[recordHeaderSize:]
	if r.Type == TypeCompressed2 {
		if len(piece) < 8 {
			rs.loseStream("compressed record", r.Offset, binfmt.ErrTruncated, "a size of 8 bytes", r.sizeText())
			return
		}
		n := orderOf(rs.f.Header.BigEndian).Uint64(piece)
		piece = piece[8:]
		if n > uint64(len(piece)) {
			rs.loseStream("compressed record", r.Offset+recordHeaderSize, binfmt.ErrCorrupt, fmt.Sprintf("at most %d bytes", len(piece)), fmt.Sprint(n))
			return
		}
		piece = piece[:n]
	}
	if rs.z == nil {
		rs.z = newInflater()
	}
	rs.z.in = piece
	rs.inPiece = true
}

// nextNested delivers the next whole record of the decompressed stream, if
// the current piece completes one.
func (rs *Records) nextNested() bool {
	for {
		b := rs.z.out[rs.taken:]
		if len(b) >= recordHeaderSize {
			h := parseHeader(b, rs.f.Header.BigEndian)
			switch {
			case h.size < recordHeaderSize || h.size > maxRecord:
				rs.loseStream("size of a compressed record", rs.rec.Offset, binfmt.ErrCorrupt, "8 to 65535", fmt.Sprint(h.size))
				return false
			case h.typ == TypeAuxtrace || h.typ == TypeCompressed || h.typ == TypeCompressed2:
				rs.loseStream("type of a compressed record", rs.rec.Offset, binfmt.ErrCorrupt, "a record that can be compressed", h.typ.String())
				return false
			case h.size <= int64(len(b)):
				rs.taken += int(h.size)
				rs.deliverNested(h, b[:h.size])
				return true
			}
		}
		n := copy(rs.z.out, b)
		rs.z.out, rs.taken = rs.z.out[:n], 0
		if !rs.z.more() {
			rs.inPiece = false
			if rs.z.err != nil {
				rs.loseStream("compressed records", rs.rec.Offset, binfmt.ErrCorrupt, "zstd data", rs.z.err.Error())
			}
			return false
		}
	}
}

func (rs *Records) deliverNested(h header, data []byte) {
	r := &rs.rec // Offset stays that of the compressed record
	r.Type, r.Misc, r.Segment, r.Nested, r.Data = h.typ, h.misc, rs.seg, true, data
	r.Trail.Segment, r.Trail.Offset, r.Trail.Size = 0, 0, 0
	if rs.ix != nil {
		rs.ix.note(r, rs.f.Header.BigEndian)
	}
}

// loseStream notes damage in the decompressed stream. There is no way to find
// back into it, so its later pieces are lost.
func (rs *Records) loseStream(part string, off int64, kind error, want, got string) {
	rs.stop(rs.f.defect(rs.seg, part, off, kind, want, got))
	rs.inPiece, rs.lost = false, true
	rs.losePiece()
}

func (rs *Records) losePiece() {
	if rs.ix != nil {
		rs.ix.LostPieces++
	}
}

// sizeText is the length of the record as text, for errors.
func (r *Record) sizeText() string { return fmt.Sprintf("a record of %d bytes", len(r.Data)) }
