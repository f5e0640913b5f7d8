package spt

import "github.com/spgo-tools/spgo/pkg/binfmt"

// Defect is a way in which a data stream is damaged. It is the Err of a
// [binfmt.Error], so errors.Is finds it, and it wraps binfmt.ErrCorrupt or
// binfmt.ErrTruncated.
type Defect uint8

// The defects, in the order in which [Stats] lists them.
const (
	// DefectOutsideSegment is a record or an unknown opcode where a BINARY_ID
	// has to stand: before the first segment or after the end of another.
	DefectOutsideSegment Defect = iota
	// DefectRepeatOutside is a REPEAT in front of a BINARY_ID, in no segment.
	DefectRepeatOutside
	// DefectRepeatAtEnd is a REPEAT with no record left in its segment.
	DefectRepeatAtEnd
	// DefectRepeatTwice is a REPEAT that follows a REPEAT.
	DefectRepeatTwice
	// DefectNoEntries is a record of N = 0.
	DefectNoEntries
	// DefectUnknownOpcode is an opcode of no known layout. The rest of the
	// segment cannot be read.
	DefectUnknownOpcode
	// DefectNestedSegment is a BINARY_ID before the end of the last segment.
	DefectNestedSegment
	// DefectRecordCut is a record that runs past the end of its segment.
	DefectRecordCut
	// DefectProgramRange is a program id index that is not in the table.
	DefectProgramRange
	// DefectSegmentLength is a length of less than the 4 bytes of the length
	// field itself.
	DefectSegmentLength
	// DefectSegmentCut is a segment that runs past the end of the file.
	DefectSegmentCut
	// DefectBinaryIDCut is a file that ends inside a BINARY_ID.
	DefectBinaryIDCut

	numDefects
)

var defectText = [numDefects]string{
	DefectOutsideSegment: "data outside of a segment",
	DefectRepeatOutside:  "REPEAT outside of a segment",
	DefectRepeatAtEnd:    "REPEAT at the end of a segment",
	DefectRepeatTwice:    "two REPEATs in a row",
	DefectNoEntries:      "record without entries",
	DefectUnknownOpcode:  "unknown opcode",
	DefectNestedSegment:  "BINARY_ID inside a segment",
	DefectRecordCut:      "record past the end of its segment",
	DefectProgramRange:   "program id out of range",
	DefectSegmentLength:  "segment length too small",
	DefectSegmentCut:     "segment past the end of the file",
	DefectBinaryIDCut:    "BINARY_ID past the end of the file",
}

// Error names the defect.
func (d Defect) Error() string { return defectText[d] }

// Unwrap returns the kind of the defect.
func (d Defect) Unwrap() error {
	if d == DefectSegmentCut || d == DefectBinaryIDCut {
		return binfmt.ErrTruncated
	}
	return binfmt.ErrCorrupt
}

// Stats counts what a [Reader] has met so far.
type Stats struct {
	Segments     uint64 // read; those that were skipped whole are not among them
	Records      uint64 // read, REPEATs not counted
	SingleFrames uint64 // call stacks of one frame among them, which hold no arc
	Bytes        uint64 // of the data stream, read or skipped
	// Skipped lists the defects that a tolerant reader has stepped over, in
	// the order of the constants, none twice.
	Skipped []Skipped
}

// Skipped says what one kind of defect has cost.
type Skipped struct {
	Defect  Defect
	Times   uint64
	Records uint64 // skipped records whose bounds were certain
	Bytes   uint64 // skipped bytes, those of the records included
	First   error  // a *binfmt.Error: where it happened first
}
