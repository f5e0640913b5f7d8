package perfdata

import (
	"encoding/binary"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	recordHeaderSize = 8
	maxRecord        = 1<<16 - 1 // longest record with a size of 16 bits
)

// Record is one record as it stands in the recording.
type Record struct {
	Type Type
	Misc uint16
	// Offset is the absolute offset of the record in its segment; for a
	// nested record that of the compressed record that completed it.
	Offset  int64
	Segment int  // 0 is the main file, N+1 is data.N of a directory
	Nested  bool // it came out of a compressed record
	// Data is the whole record with its header of 8 bytes.
	Data []byte
	// Trail is what belongs to the record but is not in Data: the trace
	// behind an AUXTRACE record, the formats behind TRACING_DATA, the body of a
	// simpleperf record of 64 KiB and more.
	Trail Extent
}

// Mode returns the CPU mode of a sample or the kind of address space of a
// mapping.
func (r *Record) Mode() CPUMode { return CPUMode(r.Misc & miscModeMask) }

// header is a record header in native form.
type header struct {
	typ  Type
	misc uint16
	size int64
}

// parseHeader reads the first 8 bytes of a record.
func parseHeader(b []byte, bigEndian bool) header {
	var h header
	if bigEndian {
		w := binary.BigEndian.Uint64(b)
		h = header{Type(w >> 32), uint16(w >> 16), int64(w & 0xffff)}
	} else {
		w := binary.LittleEndian.Uint64(b)
		h = header{Type(w & 0xffffffff), uint16(w >> 32), int64(w >> 48)}
	}
	if h.typ >= typeFirstSimpleperf {
		// Simpleperf's own records use the room of misc for a longer size.
		h.size |= int64(h.misc) << 16
		h.misc = 0
	}
	return h
}

// trailSize returns how many bytes follow a record that are not in its size.
// Data is the record, as far as it is in memory.
func trailSize(h header, data []byte, order binary.ByteOrder) uint64 {
	switch {
	case h.typ == TypeAuxtrace && len(data) >= 16:
		return order.Uint64(data[8:])
	case h.typ == TypeTracingData && len(data) >= 12:
		n := uint64(order.Uint32(data[8:]))
		if uint64(h.size) >= 12+n {
			return 0 // simpleperf has the payload inside
		}
		return (n + 7) &^ 7
	}
	return 0
}

// badSize builds the error for a record that cannot be where it seems to be:
// without a usable size there is no way to the next one.
func (f *File) badSize(seg int, off int64, b []byte, h header) *binfmt.Error {
	if binary.LittleEndian.Uint64(b) == 0 {
		return f.defect(seg, "record", off, binfmt.ErrTruncated, "a record", "zeros, as in a file that was not written to its end")
	}
	return f.defect(seg, "record size", off+6, binfmt.ErrCorrupt, fmt.Sprintf("at least %d", recordHeaderSize), fmt.Sprint(h.size))
}
