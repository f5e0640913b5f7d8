package perfdata

import "encoding/binary"

// byteOrder appends and loads integers in the byte order of a file. The hot
// path of sample decoding does not go through it.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func orderOf(bigEndian bool) byteOrder {
	if bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// encoder builds structures of a file: fields are appended in its byte order.
type encoder struct {
	byteOrder
	b []byte
}

func newEncoder(bigEndian bool) *encoder { return &encoder{byteOrder: orderOf(bigEndian)} }

func (e *encoder) u8(v uint8)      { e.b = append(e.b, v) }
func (e *encoder) u16(v uint16)    { e.b = e.AppendUint16(e.b, v) }
func (e *encoder) u32(v uint32)    { e.b = e.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64)    { e.b = e.AppendUint64(e.b, v) }
func (e *encoder) bytes(b []byte)  { e.b = append(e.b, b...) }
func (e *encoder) zeros(n int)     { e.b = append(e.b, make([]byte, n)...) }
func (e *encoder) pad(align int)   { e.zeros((align - len(e.b)%align) % align) }
func (e *encoder) pids(a, b int32) { e.u32(uint32(a)); e.u32(uint32(b)) }

func (e *encoder) u64s(v []uint64) {
	for _, x := range v {
		e.u64(x)
	}
}

// name appends a NUL-terminated string, padded to a multiple of 8.
func (e *encoder) name(s string) {
	e.b = append(append(e.b, s...), 0)
	e.pad(8)
}

// str appends a string as header sections hold it: length, then the bytes
// with a NUL, padded to a multiple of 64.
func (e *encoder) str(s string) {
	n := (len(s) + 64) &^ 63
	e.u32(uint32(n))
	e.b = append(e.b, s...)
	e.zeros(n - len(s))
}
