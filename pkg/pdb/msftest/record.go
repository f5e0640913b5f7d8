package msftest

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Record makes a symbol record, padded to 4 bytes.
func Record(kind uint16, data []byte) []byte {
	b := le.AppendUint16(make([]byte, 2), kind)
	b = binfmt.AppendPad(append(b, data...), 4, 0)
	le.PutUint16(b, uint16(len(b)-2))
	return b
}

// Proc makes a function record of a kind (0x1110 for S_GPROC32) and the end
// record that closes it. At is where the function record will stand in the
// symbols of its module, behind their signature: 4 for the first.
func Proc(at int, kind, section uint16, offset, length uint32, name string) []byte {
	b := make([]byte, 12)
	for _, v := range []uint32{length, 1, length - 1, 0, offset} {
		b = le.AppendUint32(b, v)
	}
	b = binfmt.AppendCString(append(le.AppendUint16(b, section), 0), name)
	b = Record(kind, b)
	const end, endID = 0x0006, 0x114f
	closing := uint16(end)
	if kind == 0x1146 || kind == 0x1147 || kind == 0x1156 {
		closing = endID
	}
	le.PutUint32(b[8:], uint32(at+len(b)))
	return append(b, Record(closing, nil)...)
}

// Public makes an S_PUB32 record.
func Public(section uint16, offset, flags uint32, name string) []byte {
	b := le.AppendUint32(le.AppendUint32(nil, flags), offset)
	return Record(0x110e, binfmt.AppendCString(le.AppendUint16(b, section), name))
}

// SepCode makes an S_SEPCODE record.
func SepCode(section uint16, offset, length uint32, parentSection uint16, parentOffset uint32) []byte {
	b := make([]byte, 8)
	for _, v := range []uint32{length, 0, offset, parentOffset} {
		b = le.AppendUint32(b, v)
	}
	return Record(0x1132, le.AppendUint16(le.AppendUint16(b, section), parentSection))
}

// NewNames makes a "/names" table and returns the offset of each string. The
// hash table behind the strings has one bucket more than strings.
func NewNames(names ...string) (table []byte, offsets []uint32) {
	text := []byte{0}
	buckets := make([]uint32, len(names)+1)
	for _, n := range names {
		off := uint32(len(text))
		offsets = append(offsets, off)
		text = binfmt.AppendCString(text, n)
		i := int(hashV1(n)) % len(buckets)
		for buckets[i] != 0 {
			i = (i + 1) % len(buckets)
		}
		buckets[i] = off
	}
	table = le.AppendUint32(nil, 0xeffeeffe)
	table = le.AppendUint32(table, 1)
	table = append(le.AppendUint32(table, uint32(len(text))), text...)
	table = le.AppendUint32(table, uint32(len(buckets)))
	for _, b := range buckets {
		table = le.AppendUint32(table, b)
	}
	return le.AppendUint32(table, uint32(len(names))), offsets
}

// Checksums makes the list of source files of a module, without checksums:
// file i is at offset 8*i.
func Checksums(names ...uint32) []byte {
	var b []byte
	for _, off := range names {
		b = append(le.AppendUint32(b, off), 0, 0, 0, 0)
	}
	return subsection(0xf4, b)
}

// LineBlock holds the lines of one source file in a function.
type LineBlock struct {
	File  uint32 // offset in Checksums
	Lines []LineEntry
}

// LineEntry is a line that begins at an offset in its function.
type LineEntry struct {
	Offset, Line uint32
	Column       uint16
}

// Lines makes the line information of a function; with columns if asked for.
func Lines(section uint16, offset, size uint32, columns bool, blocks ...LineBlock) []byte {
	b := le.AppendUint16(le.AppendUint32(nil, offset), section)
	if columns {
		b = le.AppendUint16(b, 1)
	} else {
		b = le.AppendUint16(b, 0)
	}
	b = le.AppendUint32(b, size)
	for _, k := range blocks {
		n := len(k.Lines)
		blockSize := 12 + 8*n
		if columns {
			blockSize += 4 * n
		}
		b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, k.File), uint32(n)), uint32(blockSize))
		for _, l := range k.Lines {
			b = le.AppendUint32(le.AppendUint32(b, l.Offset), l.Line|1<<31)
		}
		if columns {
			for _, l := range k.Lines {
				b = le.AppendUint16(le.AppendUint16(b, l.Column), 0)
			}
		}
	}
	return subsection(0xf2, b)
}

func subsection(kind uint32, data []byte) []byte {
	b := le.AppendUint32(le.AppendUint32(nil, kind), uint32(len(data)))
	return binfmt.AppendPad(append(b, data...), 4, 0)
}

// InlineSite makes the record of an inlined call, of kind 0x114d, or 0x115d
// with a count, and the end record that closes it when nothing is inside.
func InlineSite(kind uint16, inlinee uint32, annotations ...byte) (site, end []byte) {
	b := le.AppendUint32(make([]byte, 8), inlinee)
	if kind == 0x115d {
		b = le.AppendUint32(b, 1)
	}
	return Record(kind, append(b, annotations...)), Record(0x114e, nil)
}

// Inlinee says where an inlined function begins.
type Inlinee struct {
	ID, File, Line uint32 // File is an offset in Checksums
}

// Inlinees makes the list of inlined functions of a module.
func Inlinees(list ...Inlinee) []byte {
	b := le.AppendUint32(nil, 0)
	for _, i := range list {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, i.ID), i.File), i.Line)
	}
	return subsection(0xf6, b)
}
