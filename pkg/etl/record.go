package etl

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Record is one event as it stands in a buffer. Which fields hold something
// depends on its header type.
type Record struct {
	// Time is the time stamp in ticks of the file's clock. Records without
	// one (header types that are not known, messages that leave it out) get
	// the time of the record before them in the buffer.
	Time int64
	// Payload is what follows the header and its extra items.
	Payload []byte
	// Extra holds what stands between the fixed header and the payload:
	// counter values, for which see Counters, or extended items, for which
	// see Items.
	Extra []byte
	// GUID is the class or provider of FULL, INSTANCE, EVENT and some
	// MESSAGE records.
	GUID binfmt.GUID
	// Offset is the position of the record in its unpacked buffer, in bytes
	// from the buffer's start.
	Offset int
	// TID and PID are the header's thread and process, NoThread if it names
	// none.
	TID, PID uint32
	Class    Class
	Type     HeaderType
	// PointerSize is 4 or 8, as this record's header type says; it may differ
	// from the file's.
	PointerSize uint8
	// Hook is the kernel event's hook id, also where the event came under the
	// GUID of its group; NoHook for all others.
	Hook    Hook
	Version uint16
	Opcode  uint8
	Level   uint8
	// ID is the event id of an EVENT record or the number of a message.
	ID uint16
	// Flags is the version word of a SYSTEM, COMPACT or PERFINFO record, the
	// flag word of an EVENT record or the options of a message.
	Flags uint16

	buffer *Buffer // that the record comes from; nil for one made by hand
}

// locate gives an error at a position of the record's unpacked buffer its
// place in the file. In a compressed buffer only the buffer has one.
func (r *Record) locate(e *binfmt.Error) *binfmt.Error {
	switch {
	case r.buffer == nil:
	case r.buffer.Compressed():
		e.Part = fmt.Sprintf("byte %#x of the unpacked buffer: %s", e.Offset, e.Part)
		e.Offset = r.buffer.Offset
	default:
		e.Offset += r.buffer.Offset
	}
	return e
}

// Bits of the version word of SYSTEM, COMPACT and PERFINFO records.
const (
	versionPEBS     = 0x8000 // a PEBS index follows the header
	versionCounters = 8      // shift of the number of counter values, 3 bits
)

// eventItems is the flag of an EVENT record that has extended items.
const eventItems = 0x0001

// extraSize is how many bytes of counter values the version word announces.
func extraSize(version uint16) int {
	return 8 * int(version>>15+version>>versionCounters&7)
}

// PEBSIndex returns the index of a PEBS record that a kernel event carries
// behind its header.
func (r *Record) PEBSIndex() (index uint64, ok bool) {
	if !r.hasVersionWord() || r.Flags&versionPEBS == 0 || len(r.Extra) < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(r.Extra), true
}

// Counters appends the values of the counters that the session attached to
// this kernel event, in the order of the session's CounterNames. They are
// running totals.
func (r *Record) Counters(dst []uint64) []uint64 {
	if !r.hasVersionWord() {
		return dst
	}
	b := r.Extra
	if r.Flags&versionPEBS != 0 && len(b) >= 8 {
		b = b[8:]
	}
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(b))
	}
	return dst
}

func (r *Record) hasVersionWord() bool {
	switch r.Type {
	case HeaderSystem32, HeaderSystem64, HeaderCompact32, HeaderCompact64, HeaderPerfInfo32, HeaderPerfInfo64:
		return true
	}
	return false
}

// ItemType is the kind of an extended item of an EVENT record.
type ItemType uint16

// Kinds of extended items that have been seen in files.
const (
	ItemRelatedActivity ItemType = 1
	ItemStack32         ItemType = 5
	ItemStack64         ItemType = 6
	ItemSchema          ItemType = 11 // TraceLogging: the event describes itself
	ItemTraits          ItemType = 12
)

// itemHeader is the size of the fixed part of an extended item: u16 size,
// u16 type, u16 flags, u16 data length.
const itemHeader = 8

// Items yields the extended items of an EVENT record. The data is valid as
// long as the record is.
func (r *Record) Items() iter.Seq2[ItemType, []byte] {
	return func(yield func(ItemType, []byte) bool) {
		if r.Type != HeaderEvent32 && r.Type != HeaderEvent64 {
			return
		}
		for b := r.Extra; len(b) >= itemHeader; {
			size, _ := itemSize(b)
			n := int(binary.LittleEndian.Uint16(b[6:]))
			if !yield(ItemType(binary.LittleEndian.Uint16(b[2:])), b[itemHeader:itemHeader+n]) {
				return
			}
			b = b[size:]
		}
	}
}

// itemSize gives the size of the extended item at the start of b and whether
// another follows it. The size is 0 if the item does not fit.
func itemSize(b []byte) (size int, more bool) {
	if len(b) < itemHeader {
		return 0, false
	}
	size = int(binary.LittleEndian.Uint16(b))
	data := itemHeader + int(binary.LittleEndian.Uint16(b[6:]))
	if size < itemHeader { // some writers leave the size to the data length
		size = (data + recordAlign - 1) &^ (recordAlign - 1)
	}
	if size > len(b) || data > size {
		return 0, false
	}
	return size, binary.LittleEndian.Uint16(b[4:])&1 != 0
}

// splitItems cuts the extended items off the start of b. ok is false if one
// of them does not fit.
func splitItems(b []byte) (items, payload []byte, ok bool) {
	for end := 0; ; {
		size, more := itemSize(b[end:])
		if size == 0 {
			return nil, b, false
		}
		end += size
		if !more {
			return b[:end], b[end:], true
		}
	}
}
