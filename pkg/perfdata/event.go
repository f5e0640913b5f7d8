package perfdata

import (
	"fmt"
	"math/bits"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Event is a decoded record other than a sample: *Mmap, *Comm, *Task and so
// on.
type Event interface {
	// accepts says whether records of the type decode into the event.
	accepts(t Type) bool
	// decode reads the body of a record, without header and trailer.
	decode(c *eventCursor, r *Record)
	// encode appends the body and returns the type and misc field to write.
	encode(e *encoder) (Type, uint16)
}

// SampleIDs is the trailer that kernel records end with: when and where it
// happened. In records that perf made up itself all fields are 0.
type SampleIDs struct {
	Fields   SampleType // fields that the trailer has; none if there is no trailer
	PID, TID int32
	Time     uint64
	ID       uint64
	StreamID uint64
	CPU      uint32
}

// Decode decodes a record into ev, overwriting all of it, and returns the
// trailer of the record. An error is a [binfmt.Error] of kind ErrTruncated or
// ErrCorrupt, or ErrUnsupported if records of this type do not decode into ev.
func (f *File) Decode(r *Record, ev Event) (SampleIDs, error) {
	if !ev.accepts(r.Type) {
		return SampleIDs{}, f.defect(r.Segment, "record type", r.Offset, binfmt.ErrUnsupported, fmt.Sprintf("one for %T", ev), r.Type.String())
	}
	body, ids := f.splitTrailer(r)
	c := &eventCursor{binfmt.NewCursor(body, r.Type.String()+" record", r.Offset+recordHeaderSize).BigEndian(f.Header.BigEndian)}
	ev.decode(c, r)
	return ids, binfmt.InFile(c.Err(), f.segments[r.Segment].name)
}

// SampleIDs returns the trailer of a record alone.
func (f *File) SampleIDs(r *Record) SampleIDs {
	_, ids := f.splitTrailer(r)
	return ids
}

// splitTrailer returns the body of a record, without header and trailer, and
// the decoded trailer.
func (f *File) splitTrailer(r *Record) ([]byte, SampleIDs) {
	body := r.Data[recordHeaderSize:]
	if r.Type >= typeFirstUser || r.Type == TypeSample {
		return body, SampleIDs{}
	}
	a := f.attrOf(body)
	if a == nil || a.Flags&FlagSampleIDAll == 0 {
		return body, SampleIDs{}
	}
	n := 8 * bits.OnesCount64(uint64(a.SampleType&trailerMask))
	if n > len(body) {
		return body, SampleIDs{}
	}
	return body[:len(body)-n], f.decodeTrailer(a.SampleType, body[len(body)-n:])
}

const trailerMask = SampleTID | SampleTime | SampleID | SampleStreamID | SampleCPU | SampleIdentifier

func (f *File) decodeTrailer(t SampleType, b []byte) SampleIDs {
	ids := SampleIDs{Fields: t & trailerMask}
	c := binfmt.NewCursor(b, "", 0).BigEndian(f.Header.BigEndian)
	for _, field := range trailerFields {
		if t&field == 0 {
			continue
		}
		switch field {
		case SampleTID:
			ids.PID, ids.TID = int32(c.U32()), int32(c.U32())
		case SampleTime:
			ids.Time = c.U64()
		case SampleStreamID:
			ids.StreamID = c.U64()
		case SampleCPU:
			ids.CPU = c.U32()
			c.Skip(4)
		default:
			ids.ID = c.U64()
		}
	}
	return ids
}

// trailer appends the trailer for the fields of t.
func (e *encoder) trailer(t SampleType, ids SampleIDs) {
	for _, field := range trailerFields {
		if t&field == 0 {
			continue
		}
		switch field {
		case SampleTID:
			e.pids(ids.PID, ids.TID)
		case SampleTime:
			e.u64(ids.Time)
		case SampleStreamID:
			e.u64(ids.StreamID)
		case SampleCPU:
			e.u32(ids.CPU)
			e.u32(0)
		default:
			e.u64(ids.ID)
		}
	}
}

// attrOf returns the attribute of a record that is no sample, by the id in
// its trailer. All attributes have the id in the same place, counted from the
// end. No id means the first attribute; for an unknown one the result is nil.
func (f *File) attrOf(body []byte) *Attr {
	if len(f.Attrs) == 0 {
		return nil
	}
	first := f.Attrs[0]
	if len(f.Attrs) == 1 || first.Flags&FlagSampleIDAll == 0 {
		return first
	}
	back := trailerIDPosition(first.SampleType)
	if back == 0 || back > len(body) {
		return first
	}
	id := orderOf(f.Header.BigEndian).Uint64(body[len(body)-back:])
	if id == 0 {
		return first
	}
	return f.ids[id]
}

// trailerIDPosition returns how far from the end of a record the id in its
// trailer is; 0 if there is none.
func trailerIDPosition(t SampleType) int {
	switch {
	case t&SampleIdentifier != 0:
		return 8
	case t&SampleID != 0:
		return 8 + 8*bits.OnesCount64(uint64(t&(SampleStreamID|SampleCPU)))
	}
	return 0
}

// eventCursor adds what bodies of records are made of.
type eventCursor struct{ *binfmt.Cursor }

// pids reads two process or thread ids.
func (c *eventCursor) pids() (int32, int32) { return int32(c.U32()), int32(c.U32()) }

// rest returns what is left.
func (c *eventCursor) rest() []byte { return c.Bytes(uint64(c.Len())) }

// name reads text up to a NUL or the end.
func (c *eventCursor) name() string { return cString(c.rest()) }

// u64s reads n words.
func (c *eventCursor) u64s(n uint64) []uint64 {
	var v []uint64
	for range c.Count(n, 8, "words") {
		v = append(v, c.U64())
	}
	return v
}
