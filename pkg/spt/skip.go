package spt

import (
	"fmt"
	"math"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// defect reports d in the field at off. A strict reader ends with an error; a
// tolerant one counts d and gets the counter for what it is going to skip. Of a
// defect that occurs often only the first text is made.
func (r *Reader) defect(d Defect, off int64, want, format string, args ...any) *Skipped {
	k := &r.skipped[d]
	if !r.tolerate || k.Times == 0 {
		err := &binfmt.Error{Part: "data stream", Offset: off, Want: want, Got: fmt.Sprintf(format, args...), Err: d}
		if !r.tolerate {
			r.err = err
			return nil
		}
		k.First = err
	}
	k.Times++
	return k
}

// damaged reports d in the field that lies at bytes into the unread part of
// the segment, and skips the rest of the segment. It returns false.
func (r *Reader) damaged(d Defect, at int, want, format string, args ...any) bool {
	if k := r.defect(d, r.src.offset()+int64(at), want, format, args...); k != nil {
		r.skipSegment(k)
	}
	return false
}

// badOpcode reports an opcode that begins no record.
func (r *Reader) badOpcode(at int, op Opcode) bool {
	const want = "the opcode of a record"
	switch op {
	case OpRepeat:
		return r.damaged(DefectRepeatTwice, at, want, "a second REPEAT")
	case OpBinaryID:
		return r.damaged(DefectNestedSegment, at, want, "BINARY_ID, %d bytes before the segment's end", r.left-int64(at))
	}
	return r.damaged(DefectUnknownOpcode, at, want, "%v", op)
}

// recordCut reports a record that begins at bytes into the unread part of the
// segment and would end at size: either the segment is too short for it, or
// the bytes of the file end before.
func (r *Reader) recordCut(at, size int) bool {
	if r.left < int64(size) {
		return r.damaged(DefectRecordCut, at, fmt.Sprintf("%d bytes", size-at), "%d to the segment's end", r.left-int64(at))
	}
	if r.src.failed() {
		r.err = r.src.readError()
		return false
	}
	rest := r.src.peek(maxSample)
	if k := r.segmentCut(r.src.offset() + int64(len(rest))); k != nil {
		k.Bytes += uint64(len(rest))
		r.src.pos += len(rest)
	}
	r.left = 0
	return false
}

// segmentCut reports that the segment runs past the end of the file, once.
func (r *Reader) segmentCut(end int64) *Skipped {
	if r.cut {
		return &r.skipped[DefectSegmentCut]
	}
	r.cut = true
	return r.defect(DefectSegmentCut, r.seg.Offset+4, fmt.Sprintf("a segment of %d bytes", r.seg.Length),
		"%d to the end of the file", end-r.seg.Offset-4)
}

// skipSegment skips the rest of the segment. It counts records one by one as
// long as their bounds are certain, which is no longer than up to an unknown
// opcode.
func (r *Reader) skipSegment(k *Skipped) {
	for r.left > 0 {
		b := r.src.peek(maxSample)
		b = b[:min(int64(len(b)), r.left)]
		size := itemSize(b)
		if size == 0 {
			break
		}
		if Opcode(b[0]) != OpRepeat {
			k.Records++
		}
		k.Bytes += uint64(size)
		r.src.pos += size
		r.left -= int64(size)
	}
	n := r.src.skip(r.left)
	k.Bytes += uint64(n)
	r.left -= n
	if r.left > 0 {
		if r.src.failed() {
			r.err = r.src.readError()
		} else {
			r.segmentCut(r.src.offset())
		}
		r.left = 0
	}
}

// itemSize is the size of the record or REPEAT at the start of b, or 0 if it is
// unknown or does not lie in b.
func itemSize(b []byte) int {
	size := 0
	switch {
	case len(b) < recordHead:
	case Opcode(b[0]) == OpRepeat:
		size = repeatSize
	case entrySize[b[0]] != 0:
		size = recordHead + int(b[1])*int(entrySize[b[0]])
	}
	if size > len(b) {
		return 0
	}
	return size
}

// skipForeign reports a program id that is out of range and skips the segment.
func (r *Reader) skipForeign() {
	used := len(r.programs)
	want := fmt.Sprintf("an index of %d to %d", r.indexBase, used-1+r.indexBase)
	if used == 0 {
		want = "no segment, as the file has no program ids"
	}
	if r.src.size < 0 && r.indexBase == 0 && r.seg.Program == used {
		want += " (indices may count from 1; reading from a file instead of a stream finds out)"
	}
	if k := r.defect(DefectProgramRange, r.seg.Offset+2, want, "%d", r.seg.Index); k != nil {
		k.Bytes += binaryIDSize
		r.skipSegment(k)
	}
}

// outside reports an item that stands where a BINARY_ID has to, at off, and
// skips it. If its size is unknown, nothing tells where the next segment
// begins, so the rest of the file is skipped.
func (r *Reader) outside(b []byte, off int64) {
	d, got := DefectOutsideSegment, "before the first segment"
	if Opcode(b[0]) == OpRepeat {
		d = DefectRepeatOutside
	}
	if r.started {
		got = "after the end of a segment"
	}
	k := r.defect(d, off, "BINARY_ID", "%v %s", Opcode(b[0]), got)
	if k == nil {
		return
	}
	n := itemSize(b)
	if n == 0 {
		k.Bytes += uint64(r.src.skip(math.MaxInt64))
		return
	}
	if d == DefectOutsideSegment {
		k.Records++
	}
	k.Bytes += uint64(n)
	r.src.pos += n
}
