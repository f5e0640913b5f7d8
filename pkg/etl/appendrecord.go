package etl

import (
	"fmt"
	"math"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// AppendRecord appends a record and the bytes up to the place of the next
// one, in a slice that starts on such a place. The header is made from the
// fields that the record's type has; those that the reader derives (Class,
// Offset, PointerSize) are not looked at. Flags has to announce what Extra
// holds; the version of a SYSTEM, COMPACT or PERFINFO record replaces the low
// byte of Flags.
//
// A record that is longer than its size field can say is ErrLimit, a header
// type whose layout is not known ErrUnsupported.
func AppendRecord(b []byte, r *Record) ([]byte, error) {
	header := r.headerSize()
	size := header + len(r.Payload)
	if size > math.MaxUint16 {
		return b, &binfmt.Error{Part: "record", Offset: -1, Want: fmt.Sprintf("at most %d bytes", math.MaxUint16), Got: fmt.Sprint(size), Err: binfmt.ErrLimit}
	}
	switch r.Type {
	case HeaderSystem32, HeaderSystem64, HeaderCompact32, HeaderCompact64, HeaderPerfInfo32, HeaderPerfInfo64:
		b = binfmt.AppendU16(b, r.Flags&^0xFF|r.Version&0xFF)
		b = append(b, byte(r.Type), markerTrace)
		b = binfmt.AppendU16(b, uint16(size))
		b = binfmt.AppendU16(b, uint16(r.Hook))
		if r.Type != HeaderPerfInfo32 && r.Type != HeaderPerfInfo64 {
			b = binfmt.AppendU32(b, r.TID)
			b = binfmt.AppendU32(b, r.PID)
		}
		b = binfmt.AppendU64(b, uint64(r.Time))
		if r.Type == HeaderSystem32 || r.Type == HeaderSystem64 {
			b = binfmt.AppendU64(b, 0) // kernel and user time
		}
	case HeaderFull32, HeaderFull64, HeaderInstance32, HeaderInstance64:
		b = binfmt.AppendU16(b, uint16(size))
		b = append(b, byte(r.Type), markerTrace, r.Opcode, r.Level)
		b = binfmt.AppendU16(b, r.Version)
		b = appendIDs(b, r)
		b = binfmt.AppendU64(b, 0) // kernel and user time
	case HeaderEvent32, HeaderEvent64:
		b = binfmt.AppendU16(b, uint16(size))
		b = append(b, byte(r.Type), markerTrace)
		b = binfmt.AppendU16(b, r.Flags)
		b = binfmt.AppendU16(b, 0) // event property
		b = appendIDs(b, r)
		b = binfmt.AppendU16(b, r.ID)
		b = append(b, byte(r.Version), 0, r.Level, r.Opcode, 0, 0)
		b = append(b, make([]byte, 8+8+16)...) // keyword, processor time, activity
	case HeaderMessage:
		b = binfmt.AppendU16(b, uint16(size))
		b = append(b, 0, markerMessage)
		b = binfmt.AppendU16(b, r.ID)
		b = binfmt.AppendU16(b, r.Flags)
	default:
		return b, &binfmt.Error{Part: "record", Offset: -1, Want: "a header type of known layout", Got: r.Type.String(), Err: binfmt.ErrUnsupported}
	}
	b = append(append(b, r.Extra...), r.Payload...)
	return binfmt.AppendPad(b, recordAlign, 0), nil
}

// appendIDs appends what FULL and EVENT headers have in common.
func appendIDs(b []byte, r *Record) []byte {
	b = binfmt.AppendU32(b, r.TID)
	b = binfmt.AppendU32(b, r.PID)
	b = binfmt.AppendU64(b, uint64(r.Time))
	return append(b, r.GUID[:]...)
}
