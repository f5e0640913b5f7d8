package spt

import (
	"encoding/binary"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	// Signature is the first word of a file; its bytes are 3A 54 50 53.
	Signature uint32 = 0x5350543A
	// Version is the only version of the format that is known.
	Version uint32 = 1
	// MaxEntries is the most RVAs or pairs that one record holds.
	MaxEntries = 255

	headerSize   = 32
	programSize  = 24 // an entry of the program id table
	binaryIDSize = 8
	lengthSize   = 4 // the length field of BINARY_ID, which counts itself
	repeatSize   = 10
	recordHead   = 2                                      // opcode and N
	maxSample    = repeatSize + recordHead + MaxEntries*8 // REPEAT and the largest record
	maxTable     = 0xFFFF                                 // of string bytes and of program ids
	maxPreamble  = 16 << 20                               // bytes before the data stream; the tables take at most 1.7 MB of them
	maxLength    = 0xFFFFFFFF                             // of a segment, counted as its length field counts
	defStrings   = 0x4000                                 // usual StringTableCapacity, bytes
	defPrograms  = 0x100                                  // usual ProgramIdCapacity, entries
)

// Offsets of the header's fields, for errors.
const (
	offVersion       = 0x04
	offStringOffset  = 0x10
	offProgramOffset = 0x14
	offStringsUsed   = 0x18
	offProgramsUsed  = 0x1C
)

// Opcode is the first byte of an item of the data stream.
type Opcode uint8

// The opcodes of version 1. The documentation puts SPT_OP_ before each name.
const (
	OpUnhaltCycle   Opcode = 0x01 // UNHALT_CYCLE: IP samples, cycles
	OpRetireInstr   Opcode = 0x02 // RETIRE_INSTR: IP samples, instructions retired
	OpRetireBrInstr Opcode = 0x03 // RETIRE_BR_INSTR: IP samples, branches retired
	OpL1ICacheMiss  Opcode = 0x04 // L1_ICACHE_MISS: IP samples
	OpL1DCacheMiss  Opcode = 0x05 // L1_DCACHE_MISS: IP samples
	OpLBR           Opcode = 0x10 // LBR: taken branches
	OpETWInstr      Opcode = 0x41 // ETW_INSTR: IP samples, timer of the operating system
	OpETWCallStack  Opcode = 0x42 // ETW_CALLSTACK: frames of one call stack
	OpBinaryID      Opcode = 0x81 // BINARY_ID: start of a segment
	OpRepeat        Opcode = 0x82 // REPEAT: count of the next record
)

// sampleOpcodes are the opcodes of records with entries.
var sampleOpcodes = []Opcode{
	OpUnhaltCycle, OpRetireInstr, OpRetireBrInstr, OpL1ICacheMiss,
	OpL1DCacheMiss, OpLBR, OpETWInstr, OpETWCallStack,
}

// entrySize is the size in bytes of an entry of a record, 0 for opcodes that
// are no records with entries.
var entrySize = [256]uint8{
	OpUnhaltCycle: 4, OpRetireInstr: 4, OpRetireBrInstr: 4, OpL1ICacheMiss: 4,
	OpL1DCacheMiss: 4, OpLBR: 8, OpETWInstr: 4, OpETWCallStack: 4,
}

// String returns the documented name without its prefix, such as
// "UNHALT_CYCLE", or the number of an unknown opcode, such as "0x07".
func (op Opcode) String() string {
	switch op {
	case OpUnhaltCycle:
		return "UNHALT_CYCLE"
	case OpRetireInstr:
		return "RETIRE_INSTR"
	case OpRetireBrInstr:
		return "RETIRE_BR_INSTR"
	case OpL1ICacheMiss:
		return "L1_ICACHE_MISS"
	case OpL1DCacheMiss:
		return "L1_DCACHE_MISS"
	case OpLBR:
		return "LBR"
	case OpETWInstr:
		return "ETW_INSTR"
	case OpETWCallStack:
		return "ETW_CALLSTACK"
	case OpBinaryID:
		return "BINARY_ID"
	case OpRepeat:
		return "REPEAT"
	}
	return fmt.Sprintf("0x%02X", uint8(op))
}

// IsIP says whether records of this opcode hold sampled instruction
// addresses.
func (op Opcode) IsIP() bool {
	return entrySize[op] == 4 && op != OpETWCallStack
}

// Header is the header of a file as stored.
type Header struct {
	RawDataId            uint32 // reserved, 0; kept
	TargetArch           uint32 // reserved, 0; kept
	StringTableOffset    uint32 // absolute, usually 0x20
	ProgramIdTableOffset uint32 // absolute, usually where the string table ends
	StringTableUsed      uint16 // bytes
	StringTableCapacity  uint16 // bytes, usually 0x4000
	ProgramIdsUsed       uint16 // entries
	ProgramIdCapacity    uint16 // entries, usually 0x100
}

// dataOffset is the absolute offset of the data stream.
func (h *Header) dataOffset() int64 {
	return int64(h.ProgramIdTableOffset) + int64(h.ProgramIdCapacity)*programSize
}

// strings is the absolute range of the used part of the string table. An empty table may claim to lie anywhere; it is taken to lie behind the
// header.
func (h *Header) strings() (start, end int64) {
	if h.StringTableCapacity == 0 {
		return headerSize, headerSize
	}
	start = int64(h.StringTableOffset)
	return start, start + int64(h.StringTableUsed)
}

// programs is the absolute range of the used part of the program id table.
func (h *Header) programs() (start, end int64) {
	start = int64(h.ProgramIdTableOffset)
	return start, start + int64(h.ProgramIdsUsed)*programSize
}

func appendHeader(b []byte, h *Header) []byte {
	b = binfmt.AppendU32(b, Signature)
	b = binfmt.AppendU32(b, Version)
	b = binfmt.AppendU32(b, h.RawDataId)
	b = binfmt.AppendU32(b, h.TargetArch)
	b = binfmt.AppendU32(b, h.StringTableOffset)
	b = binfmt.AppendU32(b, h.ProgramIdTableOffset)
	b = binfmt.AppendU16(b, h.StringTableUsed)
	b = binfmt.AppendU16(b, h.StringTableCapacity)
	b = binfmt.AppendU16(b, h.ProgramIdsUsed)
	return binfmt.AppendU16(b, h.ProgramIdCapacity)
}

// decodeHeader reads the header at the start of b and checks what can be
// checked without knowing the size of the file.
func decodeHeader(b []byte) (Header, error) {
	var h Header
	c := binfmt.NewCursor(b, "header", 0)
	if sig := c.U32(); sig != Signature {
		c.FailAt(0, binfmt.ErrMagic, fmt.Sprintf("%#x", Signature), fmt.Sprintf("%#x", sig))
	}
	if v := c.U32(); v != Version {
		c.Part("header: Version").FailAt(offVersion, binfmt.ErrVersion, fmt.Sprint(Version), fmt.Sprint(v))
	}
	c.Part("header")
	h.RawDataId = c.U32()
	h.TargetArch = c.U32()
	h.StringTableOffset = c.U32()
	h.ProgramIdTableOffset = c.U32()
	h.StringTableUsed = c.U16()
	h.StringTableCapacity = c.U16()
	h.ProgramIdsUsed = c.U16()
	h.ProgramIdCapacity = c.U16()
	if c.Err() != nil {
		return h, c.Err()
	}
	return h, h.check()
}

// check finds contradictions between the fields. The data stream begins where
// the program id table ends, so the only order without overlap is header,
// string table, program id table.
func (h *Header) check() error {
	fail := func(field string, off int64, want, got string) error {
		return &binfmt.Error{Part: "header: " + field, Offset: off, Want: want, Got: got, Err: binfmt.ErrCorrupt}
	}
	if h.ProgramIdTableOffset < headerSize {
		return fail("ProgramIdTableOffset", offProgramOffset, "a table behind the header, from 0x20",
			fmt.Sprintf("%#x", h.ProgramIdTableOffset))
	}
	if h.StringTableCapacity > 0 {
		start := int64(h.StringTableOffset)
		end := start + int64(h.StringTableCapacity)
		if start < headerSize || end > int64(h.ProgramIdTableOffset) {
			return fail("StringTableOffset", offStringOffset,
				fmt.Sprintf("a table between the header and the program id table, 0x20 to %#x", h.ProgramIdTableOffset),
				fmt.Sprintf("%#x to %#x", start, end))
		}
	}
	if h.StringTableUsed > h.StringTableCapacity {
		return fail("StringTableUsed", offStringsUsed,
			fmt.Sprintf("at most the capacity, %d", h.StringTableCapacity), fmt.Sprint(h.StringTableUsed))
	}
	if h.ProgramIdsUsed > h.ProgramIdCapacity {
		return fail("ProgramIdsUsed", offProgramsUsed,
			fmt.Sprintf("at most the capacity, %d", h.ProgramIdCapacity), fmt.Sprint(h.ProgramIdsUsed))
	}
	return nil
}

// ProgramID identifies a binary and the program database that belongs to it.
type ProgramID struct {
	GUID binfmt.GUID
	Age  uint32
	Name string // file name of the binary; UTF-8 unless the file is at fault
	// StringIndex is the string index as stored. A [Writer] ignores it.
	StringIndex uint32
}

// Pair is a taken branch, in the order of the file.
type Pair struct {
	To   uint32 // RVA of the target
	From uint32 // RVA of the branch instruction
}

// Record is one record of the data stream, with its REPEAT if it has one.
//
// Entries are given as stored. The documentation does not say which end of an
// LBR record or call stack is the most recent one. This module writes the most
// recent branch and the innermost frame first; who derives something from the
// order has to check it against the code and detect a file of the other order.
type Record struct {
	Op      Opcode
	Program int   // index into Reader.Programs, from 0 whatever the file counts from
	Offset  int64 // absolute offset of the opcode; a REPEAT stands 10 bytes before

	HasRepeat bool   // a REPEAT stands before the record, perhaps of count 0
	RepeatPad uint8  // its padding byte
	Repeat    uint64 // its count, else 0

	RVAs  []uint32 // IP samples or frames; nil for LBR
	Pairs []Pair   // LBR; nil for all others
}

// Hits is the count of each RVA, pair or arc of the record: 1 + Repeat, but at
// most the greatest uint64.
func (r *Record) Hits() uint64 { return binfmt.SatAdd(r.Repeat, 1) }

// Samples is how many samples the record stands for, at most the greatest
// uint64: Hits for each address or branch, or for its call stack as a whole.
func (r *Record) Samples() uint64 {
	if r.Op == OpETWCallStack {
		return r.Hits()
	}
	return binfmt.SatMul(uint64(len(r.RVAs)+len(r.Pairs)), r.Hits())
}

// size is the number of bytes of the record and its REPEAT.
func (r *Record) size() int {
	n := recordHead + (len(r.RVAs)+2*len(r.Pairs))*4
	if r.HasRepeat {
		n += repeatSize
	}
	return n
}

// appendRecord appends the record and its REPEAT. It has 1 to 255 entries.
func appendRecord(b []byte, r *Record) []byte {
	if r.HasRepeat {
		b = append(b, byte(OpRepeat), r.RepeatPad)
		b = binfmt.AppendU64(b, r.Repeat)
	}
	b = append(b, byte(r.Op), byte(len(r.RVAs)+len(r.Pairs)))
	for _, v := range r.RVAs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, p := range r.Pairs {
		b = binary.LittleEndian.AppendUint64(b, uint64(p.From)<<32|uint64(p.To))
	}
	return b
}

// Segment is a BINARY_ID: the start of the records of one binary.
type Segment struct {
	Offset  int64  // absolute offset of the opcode
	Pad     uint8  // padding byte
	Index   uint16 // program id index as stored
	Program int    // index into Reader.Programs, from 0
	Length  uint32 // as stored: 4 + the bytes of the records
}

func appendSegment(b []byte, pad uint8, index uint16, length uint32) []byte {
	b = append(b, byte(OpBinaryID), pad)
	b = binfmt.AppendU16(b, index)
	return binfmt.AppendU32(b, length)
}
