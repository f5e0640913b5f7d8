package etl

import (
	"encoding/binary"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Records walks the records of one buffer. It makes no allocation unless it
// meets damage.
type Records struct {
	dec  *Decoder
	data []byte // the used part of the buffer, from its start
	pos  int    // where the next record starts
	time int64  // of the last record that has one
	want Class
	rec  Record
	err  error
}

// Record returns the current record. It and the bytes that it refers to are
// valid until the next call of Next.
func (it *Records) Record() *Record { return &it.rec }

// Err returns what ended the buffer before its end, an error for which
// [IsDamage] holds and which the decoder has counted, or the failure to read
// it.
func (it *Records) Err() error { return it.err }

// Next steps to the next record of a wanted class. It returns false at the
// end of the buffer and after an error.
func (it *Records) Next() bool {
	le := binary.LittleEndian
	for {
		pos := it.pos
		if len(it.data)-pos < recordAlign {
			return false
		}
		b := it.data[pos:]
		marker := le.Uint32(b)
		if marker>>24 != markerTrace {
			if marker>>24 == markerMessage {
				if it.message(b) {
					return true
				}
				if it.err != nil {
					return false
				}
				continue
			}
			it.endMark(marker)
			return false
		}
		typ := HeaderType(marker >> 16)
		size, sizeAt := int(marker&0xFFFF), 0
		hook, header := NoHook, unknownHeader
		switch typ {
		case HeaderPerfInfo32, HeaderPerfInfo64:
			size, sizeAt, header = int(le.Uint16(b[4:])), 4, perfInfoHeader
			hook = Hook(le.Uint16(b[6:]))
		case HeaderSystem32, HeaderSystem64:
			size, sizeAt, header = int(le.Uint16(b[4:])), 4, systemHeader
			hook = Hook(le.Uint16(b[6:]))
		case HeaderCompact32, HeaderCompact64:
			size, sizeAt, header = int(le.Uint16(b[4:])), 4, compactHeader
			hook = Hook(le.Uint16(b[6:]))
		case HeaderFull32, HeaderFull64:
			header = fullHeader
		case HeaderInstance32, HeaderInstance64:
			header = instanceHeader
		case HeaderEvent32, HeaderEvent64:
			header = eventHeader
		}
		if size < header || size > len(b) {
			it.fail(BadSize, "record size", sizeAt, fmt.Sprintf("%d to %d (%v)", header, len(b), typ), fmt.Sprint(size))
			return false
		}
		b = b[:size:size]
		it.pos = pos + (size+recordAlign-1)&^(recordAlign-1)

		r := &it.rec
		class := ClassOther
		switch header {
		case perfInfoHeader:
			it.time = int64(le.Uint64(b[8:]))
			class = classOfHook(hook)
			r.TID, r.PID = NoThread, NoThread
		case unknownHeader:
			it.dec.Damage.count(UnknownType, 0)
			header = min(recordAlign, size)
			r.TID, r.PID = NoThread, NoThread
		default: // all others have ids and time in the same place
			r.TID, r.PID = le.Uint32(b[8:]), le.Uint32(b[12:])
			it.time = int64(le.Uint64(b[16:]))
			switch header {
			case systemHeader, compactHeader:
				class = classOfHook(hook)
			case fullHeader:
				class, hook = classOfGUID(b[24:40], b[4])
			case eventHeader:
				if it.want&(ClassCLR|ClassOther) != 0 {
					class = classOfEvent(b[24:40], le.Uint16(b[40:]))
				}
			}
		}
		if class&it.want == 0 {
			continue
		}
		r.Time, r.Offset, r.Class, r.Type, r.Hook = it.time, pos, class, typ, hook
		if it.fill(b, header) {
			return true
		}
	}
}

// fill sets what depends on the header type. It returns false for a record
// whose extra items do not fit, which is then counted.
func (it *Records) fill(b []byte, header int) bool {
	le := binary.LittleEndian
	r := &it.rec
	r.GUID, r.ID, r.Level, r.Flags, r.Extra = binfmt.GUID{}, 0, 0, 0, nil
	r.PointerSize = it.pointerSize(r.Type)
	switch r.Type {
	case HeaderPerfInfo32, HeaderPerfInfo64, HeaderSystem32, HeaderSystem64, HeaderCompact32, HeaderCompact64:
		r.Flags = le.Uint16(b)
		r.Version, r.Opcode = r.Flags&0xFF, b[6]
		if n := extraSize(r.Flags); n > 0 {
			if header+n > len(b) {
				it.dec.Damage.count(BadItems, int64(len(b)))
				return false
			}
			r.Extra = b[header : header+n]
			header += n
		}
	case HeaderFull32, HeaderFull64, HeaderInstance32, HeaderInstance64:
		r.Version, r.Opcode, r.Level = le.Uint16(b[6:]), b[4], b[5]
		r.GUID = binfmt.GUID(b[24:40])
		if header == instanceHeader {
			r.Extra = b[fullHeader:instanceHeader]
		}
	case HeaderEvent32, HeaderEvent64:
		r.Flags, r.ID = le.Uint16(b[4:]), le.Uint16(b[40:])
		r.Version, r.Level, r.Opcode = uint16(b[42]), b[44], b[45]
		r.GUID = binfmt.GUID(b[24:40])
		if r.Flags&eventItems != 0 {
			items, payload, ok := splitItems(b[header:])
			if !ok {
				it.dec.Damage.count(BadItems, int64(len(b)))
				return false
			}
			r.Extra, r.Payload = items, payload
			return true
		}
	default:
		r.Version, r.Opcode = 0, 0
	}
	r.Payload = b[header:]
	return true
}

// Options of a WPP message: which fields follow its header, in this order.
const (
	messageSequence  = 0x01 // u32
	messageGUID      = 0x02 // 16 bytes
	messageComponent = 0x04 // u32, in place of the GUID
	messageTime      = 0x08 // i64
	messageIDs       = 0x20 // u32 thread, u32 process
)

// message reads a WPP message and says whether it is wanted.
func (it *Records) message(b []byte) bool {
	le := binary.LittleEndian
	size, pos := int(le.Uint16(b)), it.pos
	if size < messageHeader || size > len(b) {
		it.fail(BadSize, "record size", 0, fmt.Sprintf("%d to %d (%v)", messageHeader, len(b), HeaderMessage), fmt.Sprint(size))
		return false
	}
	it.pos = pos + (size+recordAlign-1)&^(recordAlign-1)
	b = b[:size:size]
	r := Record{
		Offset: pos, TID: NoThread, PID: NoThread, Class: ClassOther, Type: HeaderMessage,
		PointerSize: it.pointerSize(HeaderMessage), Hook: NoHook, buffer: it.rec.buffer, ID: le.Uint16(b[4:]), Flags: le.Uint16(b[6:]),
	}
	c := binfmt.NewCursor(b, "message", 0)
	c.Skip(messageHeader)
	if r.Flags&messageSequence != 0 {
		c.Skip(4)
	}
	if r.Flags&messageGUID != 0 {
		copy(r.GUID[:], c.Bytes(16))
	} else if r.Flags&messageComponent != 0 {
		c.Skip(4)
	}
	if r.Flags&messageTime != 0 {
		if t := int64(c.U64()); c.Err() == nil {
			it.time = t
		}
	}
	if r.Flags&messageIDs != 0 {
		r.TID, r.PID = c.U32(), c.U32()
	}
	if c.Err() != nil {
		it.dec.Damage.count(BadItems, int64(size))
		return false
	}
	if ClassOther&it.want == 0 {
		return false
	}
	r.Time = it.time
	r.Extra, r.Payload = b[messageHeader:c.Pos()], b[c.Pos():]
	it.rec = r
	return true
}

// endMark judges what stands where no record starts: the filling of a buffer
// that was not full, or damage.
func (it *Records) endMark(marker uint32) {
	switch left := int64(len(it.data) - it.pos); marker {
	case 0, 0xFFFFFFFF:
		it.dec.Damage.count(EarlyEnd, left)
		it.pos = len(it.data)
	default:
		it.fail(BadMarker, "record marker", 3, "byte 3 of 0xc0 or 0x90", fmt.Sprintf("%#08x", marker))
	}
}

// fail records damage at the current record and ends the buffer.
func (it *Records) fail(reason Reason, part string, field int, want, got string) {
	it.dec.Damage.count(reason, int64(len(it.data)-it.pos))
	it.err = it.rec.locate(&binfmt.Error{File: it.dec.f.name, Part: part, Offset: int64(it.pos + field), Want: want, Got: got, Err: binfmt.ErrCorrupt})
	it.pos = len(it.data)
}

// pointerSize gives the size of pointers in the payload of a record; header
// types that do not say it have the file's.
func (it *Records) pointerSize(t HeaderType) uint8 {
	switch t {
	case HeaderSystem32, HeaderCompact32, HeaderFull32, HeaderInstance32, HeaderPerfInfo32, HeaderEvent32:
		return 4
	case HeaderSystem64, HeaderCompact64, HeaderFull64, HeaderInstance64, HeaderPerfInfo64, HeaderEvent64:
		return 8
	}
	return it.dec.f.pointerSize
}
