package spd

import "github.com/spgo-tools/spgo/pkg/binfmt"

// File is a whole SPD. It holds no offsets, sizes or hash links: [Write]
// computes them. Fields named ReservedXX are at offset XX of their structure,
// are zero in every file seen and are kept as they are.
type File struct {
	Header  Header
	Modules []Module // one in every file seen
}

// Header describes the binary that the profile belongs to.
type Header struct {
	Flags  uint32      `json:"flags"`  // HeaderFresh, HeaderImported
	Binary string      `json:"binary"` // file name of the image, such as "EbpfCore.sys"
	GUID   binfmt.GUID `json:"-"`
	Age    uint32      `json:"age"` // GUID and Age are those of the image's PDB

	// Statistics is what the file that was read says of itself. Write does
	// not use it: it writes what File.ComputeStatistics returns.
	Statistics

	// BinaryHash is the stated hash of a Binary that is not ASCII, whose rule
	// is not known; zero stands for the hash over UTF-16 units. For an ASCII
	// name it is not used.
	BinaryHash uint32 `json:"binary_hash,omitempty"`

	Reserved08 uint32 `json:"reserved_08,omitempty"`
	Reserved0C uint32 `json:"reserved_0c,omitempty"`
	Reserved10 uint32 `json:"reserved_10,omitempty"`
	Reserved1C uint32 `json:"reserved_1c,omitempty"`
	Reserved24 uint32 `json:"reserved_24,omitempty"`
	Reserved3C uint32 `json:"reserved_3c,omitempty"`
	Reserved40 uint32 `json:"reserved_40,omitempty"`
	Reserved44 uint32 `json:"reserved_44,omitempty"`
	Reserved70 uint32 `json:"reserved_70,omitempty"`
}

// Values of Header.Flags. The meaning of the single bits is not known; a file
// has statistics if a bit of HeaderProfiled is set.
const (
	HeaderFresh    = 0x4 // from the linker, nothing imported
	HeaderImported = 0x7 // counts were imported
	HeaderProfiled = 0x3
)

// Values of Module.Flags. The meaning of the single bits is not known.
const (
	ModuleFresh    = 0x1
	ModuleImported = 0x7
)

// Names of modules.
const (
	// ModuleCIL is the module in every file of Microsoft's linker.
	ModuleCIL = "* CIL module *"
	// ModuleMachine is the module in files that are made of machine code. The
	// indirect call sites in it have the lengths of the instructions.
	ModuleMachine = "* machine code *"
)

// Module is the code of one link, ModuleCIL in every file seen.
type Module struct {
	Name  string `json:"name"`
	Flags uint32 `json:"flags"` // ModuleFresh, ModuleImported

	// Generation is one more than that of the SPD that the link was given as
	// input, and 0 without an input.
	Generation uint32 `json:"generation"`

	// HashBuckets is the number of hash buckets of the symbol table; zero lets
	// Write choose it as the linker does.
	HashBuckets uint32 `json:"hash_buckets"`

	// DataProfile holds the bytes of the data profile and DataRecords its
	// number of records. No file seen has one, so its encoding is unknown.
	DataProfile []byte `json:"data_profile,omitempty"`
	DataRecords uint32 `json:"data_records,omitempty"`

	Reserved08 uint32 `json:"reserved_08,omitempty"` // of the module table entry

	Functions []Function `json:"-"` // in compile order, callees mostly before callers
}

// Symbol is a function's entry in the symbol table.
type Symbol struct {
	ID          ID     `json:"id"`
	Name        string `json:"name"` // decorated, as in the object file; bytes as they are
	Ordinal     uint32 `json:"ordinal"`
	SymbolFlags uint32 `json:"symbol_flags"`
	// FoldedInto is the RVA of the function that identical code folding kept
	// instead of this one, or 0.
	FoldedInto uint32 `json:"folded_into,omitempty"`
	Reserved14 uint32 `json:"symbol_reserved_14,omitempty"`
}

// Bits of Symbol.SymbolFlags.
const (
	SymbolAlways       = 0x09 // two bits that every symbol has; meaning unknown
	SymbolStatic       = 0x04 // file-local: the id is a StaticID
	SymbolFolded       = 0x20 // FoldedInto is set and there is no own code
	SymbolAddressTaken = 0x40 // address taken, or an entry point
)

// Function is a function of the intermediate language with its flow graph.
// Block k of Blocks has the id k+1, by which edges, call sites and inlined
// blocks name it; the first block is the entry and the last one the exit.
type Function struct {
	Symbol
	Flags    uint32   `json:"flags"`
	Checksum Checksum `json:"checksum"` // over the control flow of the source

	// RVA and Length in bytes are the function's code in the image; both are 0
	// if there is none because it was inlined everywhere, dropped or folded.
	RVA    uint32 `json:"rva"`
	Length uint32 `json:"length"`

	// ColdRVA and ColdLength probably are a separated cold part. They are 0 in
	// every file seen.
	ColdRVA    uint32 `json:"cold_rva,omitempty"`
	ColdLength uint32 `json:"cold_length,omitempty"`

	Reserved08 uint32 `json:"reserved_08,omitempty"`
	Reserved0C uint32 `json:"reserved_0c,omitempty"`
	Reserved4C uint32 `json:"reserved_4c,omitempty"`
	Reserved50 uint32 `json:"reserved_50,omitempty"`

	Callees        []Callee        `json:"callees"` // calls of the source, one entry per callee
	Blocks         []Block         `json:"blocks"`
	MachineCallees []MachineCallee `json:"machine_callees"`
}

// Bits of Function.Flags.
const (
	FunctionNoInput      = 0x02 // the link's input SPD had no function of this id
	FunctionIndirectTail = 0x08 // ends in a jump to an import or through a pointer
)

// Callee is a function that is called directly, inlined or not.
type Callee struct {
	ID    ID       `json:"id"`
	Count uint64   `json:"count"` // sum of the counts of the blocks in Sites
	Kind  uint32   `json:"kind"`
	Sites []uint32 `json:"sites"` // block ids, ascending, one per call
}

// MachineCallee is a call of the final code, after inlining. The linker writes
// these from its input SPD; imports leave them alone.
type MachineCallee struct {
	ID    ID     `json:"id"`
	Count uint64 `json:"count"`
	Kind  uint32 `json:"kind"`
}

// Bits of Callee.Kind and MachineCallee.Kind.
const (
	CalleeSource  = 0x1 // called by the source
	CalleeImport  = 0x2 // through the import table: the id is an ImportID
	CalleeMachine = 0x4 // called by the final code
	CalleeTail    = 0x8 // by a jump
)

// Block is a basic block.
type Block struct {
	Count        uint64         `json:"count"`        // executions
	Instructions uint32         `json:"instructions"` // machine instructions, inlined ones included
	Flags        uint16         `json:"flags"`
	Aux          uint16         `json:"aux"` // for BlockTripCount and BlockDuplicated
	Ranges       []Range        `json:"ranges"`
	Indirect     []IndirectSite `json:"indirect_sites"`
	Inlinees     []Inlinee      `json:"inlinees"` // one per inlined call
	Edges        []Edge         `json:"edges"`
}

// Bits of Block.Flags and InlinedBlock.Flags.
const (
	BlockIfConverted = 0x01 // merged into straight code
	BlockHammock     = 0x02 // split measured on the arms alone; set by imports
	BlockTripCount   = 0x04 // loop condition with the constant trip count Aux
	BlockUnknown08   = 0x08
	BlockUnknown10   = 0x10
	BlockDuplicated  = 0x20 // tail-duplicated Aux times
)

// Range is a piece of machine code, in bytes from the function's start.
type Range struct {
	Start  uint32
	Length uint32 // below 1<<31
	Cold   bool   // probably in the separated part; false in every file seen
}

// Edge leads to a successor of a block. Of two edges the first is the branch
// target and the second the fall through, but a loop condition at the bottom
// has its back edge second.
type Edge struct {
	Count uint64
	To    uint32 // block id
	Flags uint32
}

// EdgeDead is a bit of Edge.Flags: the edge's condition is constant, the edge
// is never taken.
const EdgeDead = 0x1

// CallSite is an indirect call in the machine code.
type CallSite struct {
	Offset  uint32 `json:"offset"`  // of the instruction from the function's start, in bytes, below 1<<28
	Length  uint8  `json:"length"`  // of the instruction in bytes: 6 a call, 7 a tail jump
	Ordinal uint16 `json:"ordinal"` // number of the indirect call in its source function, from 1
	Kind    uint16 `json:"kind"`    // 1 in every file seen
}

// IndirectSite is an indirect call of a block with the targets seen.
type IndirectSite struct {
	CallSite
	Hits    uint64  `json:"hits"` // raw samples, of all targets
	Targets Targets `json:"targets"`
}

// Targets are the most frequent targets of an indirect call, descending;
// unused ones are zero.
type Targets [3]Target

// Target is a function reached by an indirect call.
type Target struct {
	ID   ID     `json:"id"`
	Hits uint64 `json:"hits"` // raw samples
}

// Inlinee is a call that was inlined into a block.
type Inlinee struct {
	ID         ID             `json:"id"`
	Reserved08 uint32         `json:"reserved_08,omitempty"`
	Blocks     []InlinedBlock `json:"blocks"` // those with code or flags, ascending by id
}

// InlinedBlock is the copy of a block of the inlinee. It has no count: the
// inlinee's own function record has.
type InlinedBlock struct {
	ID           uint32     `json:"id"`           // block id in the inlinee's own flow graph
	Instructions uint32     `json:"instructions"` // nested inlinees included
	Flags        uint16     `json:"flags"`
	Aux          uint16     `json:"aux"`
	Ranges       []Range    `json:"ranges"` // offsets in the function that has the code
	Indirect     []CallSite `json:"indirect_sites"`
	Inlinees     []Inlinee  `json:"inlinees"`
}

// EntryCount is the number of executions of the function, that of its first
// block.
func (f *Function) EntryCount() uint64 {
	if len(f.Blocks) == 0 {
		return 0
	}
	return f.Blocks[0].Count
}
