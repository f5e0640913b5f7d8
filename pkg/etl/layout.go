package etl

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// A layout is the table of a payload: its fields in the order of their bytes,
// each with the event versions that have it. The same rows read and write, so
// the two cannot disagree. Layouts serve the events that come by the thousand;
// samples, which come by the million, are read by hand.
type layout[T any] struct {
	name   string
	fields []field[T]
}

// field is one row: a field of T in versions from to to.
type field[T any] struct {
	name     string
	from, to uint16
	// optional marks a field that may be missing, with all that follow it,
	// because it was added without a new version.
	optional bool
	read     func(p *payload, v *T)
	write    func(b []byte, v *T, ptr int) []byte
}

// latest is the upper end of a field that later versions kept. Versions newer
// than all that are known are read by the latest layout.
const latest = math.MaxUint16

// payload is a cursor over the payload of a record of known pointer size.
type payload struct {
	*binfmt.Cursor
	ptr int
}

// pointer reads an integer of pointer size.
func (p *payload) pointer() uint64 {
	if p.ptr == 4 {
		return uint64(p.U32())
	}
	return p.U64()
}

func appendPointer(b []byte, v uint64, ptr int) []byte {
	if ptr == 4 {
		return binfmt.AppendU32(b, uint32(v))
	}
	return binfmt.AppendU64(b, v)
}

// decode reads a payload into v and returns how many bytes it left over.
func (l *layout[T]) decode(r *Record, ptr int, v *T) (rest int, err error) {
	*v = *new(T)
	p := payload{binfmt.NewCursor(r.Payload, l.name, int64(r.Offset+r.headerSize())), ptr}
	for i := range l.fields {
		f := &l.fields[i]
		if r.Version < f.from || r.Version > f.to {
			continue
		}
		if f.optional && p.Len() == 0 {
			break
		}
		p.Part(l.name + ": " + f.name)
		f.read(&p, v)
		if p.Err() != nil {
			return p.Len(), r.cursorError(p.Cursor)
		}
	}
	return p.Len(), nil
}

// cursorError is the defect of a cursor over the record's payload, with its
// place in the file.
func (r *Record) cursorError(c *binfmt.Cursor) error {
	err := c.Err()
	var e *binfmt.Error
	if errors.As(err, &e) {
		r.locate(e)
	}
	return err
}

// append writes v as the payload of an event of the given version and pointer
// size.
func (l *layout[T]) append(b []byte, v *T, version uint16, ptr int) []byte {
	for i := range l.fields {
		if f := &l.fields[i]; f.from <= version && version <= f.to {
			b = f.write(b, v, ptr)
		}
	}
	return b
}

// headerSize is the bytes before the payload of a decoded record.
func (r *Record) headerSize() int {
	switch r.Type {
	case HeaderPerfInfo32, HeaderPerfInfo64:
		return perfInfoHeader + len(r.Extra)
	case HeaderSystem32, HeaderSystem64:
		return systemHeader + len(r.Extra)
	case HeaderCompact32, HeaderCompact64:
		return compactHeader + len(r.Extra)
	case HeaderFull32, HeaderFull64, HeaderInstance32, HeaderInstance64:
		return fullHeader + len(r.Extra)
	case HeaderEvent32, HeaderEvent64:
		return eventHeader + len(r.Extra)
	}
	return messageHeader + len(r.Extra)
}

// The kinds of fields. at gives the place of the value in the struct.

func byteField[T any](name string, from, to uint16, at func(*T) *uint8) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = p.U8() },
		write: func(b []byte, v *T, _ int) []byte { return append(b, *at(v)) }}
}

func u16Field[T any](name string, from, to uint16, at func(*T) *uint16) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = p.U16() },
		write: func(b []byte, v *T, _ int) []byte { return binfmt.AppendU16(b, *at(v)) }}
}

func u32Field[T any](name string, from, to uint16, at func(*T) *uint32) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = p.U32() },
		write: func(b []byte, v *T, _ int) []byte { return binfmt.AppendU32(b, *at(v)) }}
}

func u64Field[T any](name string, from, to uint16, at func(*T) *uint64) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = p.U64() },
		write: func(b []byte, v *T, _ int) []byte { return binfmt.AppendU64(b, *at(v)) }}
}

func i64Field[T any](name string, from, to uint16, at func(*T) *int64) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = int64(p.U64()) },
		write: func(b []byte, v *T, _ int) []byte { return binfmt.AppendU64(b, uint64(*at(v))) }}
}

func pointerField[T any](name string, from, to uint16, at func(*T) *uint64) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = p.pointer() },
		write: func(b []byte, v *T, ptr int) []byte { return appendPointer(b, *at(v), ptr) }}
}

// pointer32Field is a 32-bit number that has the size of a pointer in the file.
func pointer32Field[T any](name string, from, to uint16, at func(*T) *uint32) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = uint32(p.pointer()) },
		write: func(b []byte, v *T, ptr int) []byte { return appendPointer(b, uint64(*at(v)), ptr) }}
}

func guidField[T any](name string, from, to uint16, at func(*T) *binfmt.GUID) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { copy(at(v)[:], p.Bytes(16)) },
		write: func(b []byte, v *T, _ int) []byte { return append(b, at(v)[:]...) }}
}

// textField is an 8-bit string that ends with a NUL.
func textField[T any](name string, from, to uint16, at func(*T) *string) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = utf8Text(p.CString()) },
		write: func(b []byte, v *T, _ int) []byte { return binfmt.AppendCString(b, *at(v)) }}
}

// wideField is a UTF-16 string that ends with a NUL.
func wideField[T any](name string, from, to uint16, at func(*T) *string) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, v *T) { *at(v) = p.WString() },
		write: func(b []byte, v *T, _ int) []byte { return binfmt.AppendWString(b, *at(v)) }}
}

// fixedWideField is a UTF-16 string in a place of n units, filled with NULs.
func fixedWideField[T any](name string, from, to uint16, n int, at func(*T) *string) field[T] {
	return field[T]{name: name, from: from, to: to,
		read: func(p *payload, v *T) {
			c := binfmt.NewCursor(append(p.Bytes(uint64(2*n)), 0, 0), name, 0)
			*at(v) = c.WString()
		},
		write: func(b []byte, v *T, _ int) []byte {
			units := utf16.Encode([]rune(*at(v)))
			for i := range n {
				u := uint16(0)
				if i < len(units) {
					u = units[i]
				}
				b = binfmt.AppendU16(b, u)
			}
			return b
		}}
}

// unusedField is bytes plus pointers that say nothing; they are written as
// zeros.
func unusedField[T any](name string, from, to uint16, bytes, pointers int) field[T] {
	return field[T]{name: name, from: from, to: to,
		read:  func(p *payload, _ *T) { p.Skip(uint64(bytes + pointers*p.ptr)) },
		write: func(b []byte, _ *T, ptr int) []byte { return append(b, make([]byte, bytes+pointers*ptr)...) }}
}

// asOptional marks a field that may be missing at the end of a payload.
func asOptional[T any](f field[T]) field[T] {
	f.optional = true
	return f
}

// utf8Text turns 8-bit text of an unknown code page into UTF-8: it is kept if
// it is UTF-8 already, else every byte counts as a Latin-1 letter.
func utf8Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return string(r)
}

// checkClass says whether a record is one of the events that a Decode function
// reads; another is a mistake of the caller, reported as ErrUnsupported. No
// record has class 0, so that always fails.
func checkClass(r *Record, want Class, what string) error {
	if r.Class == want {
		return nil
	}
	return r.locate(&binfmt.Error{Part: what, Offset: int64(r.Offset), Want: "an event of its class",
		Got: fmt.Sprintf("hook %#04x, %v", uint16(r.Hook), r.Type), Err: binfmt.ErrUnsupported})
}
