package binfmt

import (
	"encoding/binary"
	"unicode/utf16"
)

// AppendU16 appends v in little-endian order.
func AppendU16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }

// AppendU32 appends v in little-endian order.
func AppendU32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// AppendU64 appends v in little-endian order.
func AppendU64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// AppendCString appends s and a NUL.
func AppendCString(b []byte, s string) []byte { return append(append(b, s...), 0) }

// AppendWString appends s as UTF-16 in little-endian order, and a NUL unit.
func AppendWString(b []byte, s string) []byte {
	for _, u := range utf16.Encode([]rune(s)) {
		b = AppendU16(b, u)
	}
	return AppendU16(b, 0)
}

// AppendPad appends bytes of value fill until len(b) is a multiple of align.
func AppendPad(b []byte, align int, fill byte) []byte {
	for len(b)%align != 0 {
		b = append(b, fill)
	}
	return b
}
