package perfdata

// Branch is one entry of a branch stack. Entry 0 is the branch taken last;
// between entry i+1 and entry i the code ran straight on from To of entry i+1
// to From of entry i.
type Branch struct {
	From, To uint64
	Flags    BranchFlags
}

// BranchFlags is the third word of an entry in the layout of little-endian
// recordings, whatever the byte order of the file. Which fields are set
// depends on the CPU and on Attr.BranchSampleType.
type BranchFlags uint64

// BranchType is the kind of a branch instruction.
type BranchType uint8

// Kinds of branches. BranchExtended means that NewType has the kind.
const (
	BranchUnknown BranchType = iota
	BranchCond
	BranchUncond
	BranchInd
	BranchCall
	BranchIndCall
	BranchRet
	BranchSyscall
	BranchSysret
	BranchCondCall
	BranchCondRet
	BranchEret
	BranchIRQ
	BranchSError
	BranchNoTx
	BranchExtended
)

// Values of BranchFlags.Spec.
const (
	SpecNA        = 0 // the CPU does not tell
	SpecWrongPath = 1 // executed speculatively, then undone
	NonSpecRight  = 2 // not speculative
	SpecRightPath = 3 // speculative and found right
)

// Mispred says that the branch was mispredicted.
func (f BranchFlags) Mispred() bool { return f&1 != 0 }

// Predicted says that the branch was predicted. If Mispred is false too, the
// CPU does not tell.
func (f BranchFlags) Predicted() bool { return f>>1&1 != 0 }

// InTx says that the branch was inside a memory transaction.
func (f BranchFlags) InTx() bool { return f>>2&1 != 0 }

// Abort says that the entry is the abort of a transaction.
func (f BranchFlags) Abort() bool { return f>>3&1 != 0 }

// Cycles is the time since the branch before, in core cycles; 0 if unknown.
func (f BranchFlags) Cycles() uint16 { return uint16(f >> 4) }

// Type is the kind of the branch.
func (f BranchFlags) Type() BranchType { return BranchType(f >> 20 & 15) }

// Spec tells what became of a speculative branch, see SpecWrongPath.
func (f BranchFlags) Spec() uint8 { return uint8(f >> 24 & 3) }

// NewType is the kind of the branch if Type is BranchExtended: 0 to 2 faults,
// from 3 on kinds of the architecture.
func (f BranchFlags) NewType() uint8 { return uint8(f >> 26 & 15) }

// Priv is the privilege level at the target: 0 unknown, 1 user, 2 kernel, 3
// hypervisor.
func (f BranchFlags) Priv() uint8 { return uint8(f >> 30 & 7) }

// NotTaken says that the branch was not taken; only tools that turn other
// traces into branch stacks set it.
func (f BranchFlags) NotTaken() bool { return f>>33&1 != 0 }

// branchFields are the widths of the fields in their order. Little-endian
// compilers lay them out from the lowest bit of the word up, big-endian ones
// from the highest down.
var branchFields = [...]uint{1, 1, 1, 1, 16, 4, 2, 4, 3, 1}

// toBig returns the word of a big-endian recording.
func (f BranchFlags) toBig() uint64 {
	var v uint64
	low, high := uint(0), uint(64)
	for _, width := range branchFields {
		high -= width
		v |= uint64(f) >> low & (1<<width - 1) << high
		low += width
	}
	return v
}

// flagsFromBig is the inverse of toBig, unrolled.
func flagsFromBig(w uint64) BranchFlags {
	return BranchFlags(w>>63&1 | w>>62&1<<1 | w>>61&1<<2 | w>>60&1<<3 | w>>44&0xffff<<4 | w>>40&15<<20 |
		w>>38&3<<24 | w>>34&15<<26 | w>>31&7<<30 | w>>30&1<<33)
}
