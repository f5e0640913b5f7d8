package spd

// Version is the only version of the format that is known; the files of
// linkers from 2023 to 2026 all have it.
const Version = 0x100c

const magic = 0x5f515f48 // the bytes "H_Q_"

// Sizes of the structures on disk, in bytes. Everything is aligned to 4, so
// 64-bit fields are not aligned to their size.
const (
	headerSize             = 0x74
	moduleEntrySize        = 12
	moduleHeaderSize       = 0x38
	symbolEntrySize        = 36
	functionHeaderSize     = 0x54
	calleeHeaderSize       = 24
	blockHeaderSize        = 36
	rangeSize              = 8
	callSiteSize           = 8
	indirectSiteSize       = 64
	edgeSize               = 16
	inlineeHeaderSize      = 16
	inlinedBlockHeaderSize = 24
)

// Widths of packed fields.
const (
	maxRangeLength    = 1<<31 - 1 // the low bit of a range's length word is Cold
	maxCallSiteOffset = 1<<28 - 1
	maxCallSiteLength = 1<<4 - 1
)

// maxInlineDepth bounds the nesting of inlinees, which is a recursion for the
// reader. The linker's files reach 8.
const maxInlineDepth = 256

// maxBuckets bounds the hash table that a writer is asked for: the rule gives
// this many buckets to 16 million functions, in 600 MB.
const maxBuckets = 1 << 24

func align4(n uint64) uint64 { return (n + 3) &^ 3 }
