package etl

import "fmt"

// Sizes of the container's fixed parts, in bytes.
const (
	bufferHeaderSize = 0x48
	recordAlign      = 8 // records start on multiples of this from the buffer's start
)

// BufferFlags is the flag word of a buffer header.
type BufferFlags uint16

// Flags of a buffer.
const (
	BufferFlush         BufferFlags = 0x01 // written by a flush
	BufferEventsLost    BufferFlags = 0x02 // events were lost while this buffer was filled
	BufferBufferLost    BufferFlags = 0x04 // a whole buffer was lost before this one
	BufferBackupCorrupt BufferFlags = 0x08
	BufferBackup        BufferFlags = 0x10
	BufferWideProcessor BufferFlags = 0x20 // the processor field holds 11 bits instead of 8
	BufferCompressed    BufferFlags = 0x40 // what follows the buffer header is compressed
)

// Types of buffers that matter to a reader.
const (
	BufferGeneric uint16 = 0
	BufferHeader  uint16 = 4 // the first buffer of a file, with the log file header
	lastBuffer    uint16 = 7
)

// Compression is the number, in the numbering of RtlCompressBuffer, that the
// header buffer of a compressed file carries.
type Compression uint16

// Compression algorithms. Only XPRESS has been seen in a file that Windows
// wrote.
const (
	LZNT1      Compression = 2
	XPRESS     Compression = 3
	XPRESSHuff Compression = 4
)

// String names the algorithm.
func (c Compression) String() string {
	switch c {
	case LZNT1:
		return "LZNT1"
	case XPRESS:
		return "XPRESS"
	case XPRESSHuff:
		return "XPRESS_HUFF"
	}
	return fmt.Sprintf("compression %d", uint16(c))
}

// LogFileMode bits of the log file header.
const (
	ModeSequential uint32 = 0x00000001
	ModeCircular   uint32 = 0x00000002
	ModeAppend     uint32 = 0x00000004
	ModeRelogged   uint32 = 0x00010000 // rewritten or merged by a tool
	ModeSystem     uint32 = 0x02000000
	ModeCompressed uint32 = 0x04000000
	ModeOneSet     uint32 = 0x10000000 // one set of buffers for all processors
)

// HeaderType is the kind of a record's header, which also gives the pointer
// size of its payload.
type HeaderType uint8

// Header types.
const (
	HeaderSystem32   HeaderType = 1
	HeaderSystem64   HeaderType = 2
	HeaderCompact32  HeaderType = 3
	HeaderCompact64  HeaderType = 4
	HeaderFull32     HeaderType = 10
	HeaderInstance32 HeaderType = 11
	HeaderTimed      HeaderType = 12
	HeaderError      HeaderType = 13
	HeaderWNode      HeaderType = 14
	HeaderMessage    HeaderType = 15
	HeaderPerfInfo32 HeaderType = 16
	HeaderPerfInfo64 HeaderType = 17
	HeaderEvent32    HeaderType = 18
	HeaderEvent64    HeaderType = 19
	HeaderFull64     HeaderType = 20
	HeaderInstance64 HeaderType = 21
)

// Bytes of the fixed part of each header, and the last byte of a record's
// marker.
const (
	systemHeader   = 32
	compactHeader  = 24
	perfInfoHeader = 16
	fullHeader     = 48
	instanceHeader = 72
	eventHeader    = 80
	messageHeader  = 8
	unknownHeader  = 4 // the marker, which all types have

	markerTrace   = 0xC0
	markerMessage = 0x90
)

var headerNames = map[HeaderType]string{
	HeaderSystem32: "SYSTEM32", HeaderSystem64: "SYSTEM64", HeaderCompact32: "COMPACT32", HeaderCompact64: "COMPACT64",
	HeaderFull32: "FULL32", HeaderInstance32: "INSTANCE32", HeaderTimed: "TIMED", HeaderError: "ERROR", HeaderWNode: "WNODE",
	HeaderMessage: "MESSAGE", HeaderPerfInfo32: "PERFINFO32", HeaderPerfInfo64: "PERFINFO64",
	HeaderEvent32: "EVENT32", HeaderEvent64: "EVENT64", HeaderFull64: "FULL64", HeaderInstance64: "INSTANCE64",
}

// String gives the name of the header type, or its number.
func (t HeaderType) String() string {
	if s, ok := headerNames[t]; ok {
		return s
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Hook identifies a kernel event: the event group in the high byte and the
// event type, also called opcode, in the low byte.
type Hook uint16

// Group is the event group.
func (h Hook) Group() uint8 { return uint8(h >> 8) }

// Opcode is the event type within the group.
func (h Hook) Opcode() uint8 { return uint8(h) }

// NoHook stands in records that are no kernel events.
const NoHook Hook = 0xFFFF

// Groups of kernel events that this package looks into.
const (
	groupEventTrace uint8 = 0x00
	groupProcess    uint8 = 0x03
	groupThread     uint8 = 0x05
	groupConfig     uint8 = 0x0B
	groupBranch     uint8 = 0x0C
	groupPerfInfo   uint8 = 0x0F
	groupImage      uint8 = 0x14
	groupStackWalk  uint8 = 0x18
)

// Hooks of the events that a sample profile is made of.
const (
	HookLogFile Hook = 0x0000 // the log file header, first record of a file

	HookProcessStart    Hook = 0x0301
	HookProcessEnd      Hook = 0x0302
	HookProcessDCStart  Hook = 0x0303 // rundown at the start of the session: it ran already
	HookProcessDCEnd    Hook = 0x0304 // rundown at the end: it still runs
	HookProcessDefunct  Hook = 0x0327 // its last handle was closed
	HookThreadStart     Hook = 0x0501
	HookThreadEnd       Hook = 0x0502
	HookThreadDCStart   Hook = 0x0503
	HookThreadDCEnd     Hook = 0x0504
	HookImageLoad       Hook = 0x030A // in the process group, unlike the others
	HookImageUnload     Hook = 0x1402
	HookImageDCStart    Hook = 0x1403
	HookImageDCEnd      Hook = 0x1404
	HookImageLoadByGUID Hook = 0x140A // the load event of user-mode writers

	HookSample          Hook = 0x0F2E // sampled profile: the interval timer
	HookPMCSample       Hook = 0x0F2F // a performance counter overflowed
	HookCounterNames    Hook = 0x0F30 // names of the counters in counting mode
	HookSampleCache     Hook = 0x0F37
	HookSampleNMI       Hook = 0x0F47
	HookIntervalSet     Hook = 0x0F48
	HookCollectionStart Hook = 0x0F49
	HookCollectionEnd   Hook = 0x0F4A

	HookStackWalk      Hook = 0x1820
	HookStackKeyCreate Hook = 0x1822
	HookStackKeyDelete Hook = 0x1823
	HookStackKeyDCEnd  Hook = 0x1824
	HookStackKeyKernel Hook = 0x1825
	HookStackKeyUser   Hook = 0x1826

	HookLBR       Hook = 0x0C20 // last branch record
	HookCPUConfig Hook = 0x0B0A
)

// NoThread stands in the process and thread ids of records that have none:
// rundown records, records that a merge added, and PERFINFO records.
const NoThread = 0xFFFFFFFF
