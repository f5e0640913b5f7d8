// Package cfg makes the flow graphs of functions from their machine code.
//
// It follows the control flow from the entry, looks up the targets of jumps
// through tables, and then decodes what nothing known leads to (the targets of jumps that stay
// unresolved, dead code). What is no
// instruction is left as data. The package knows no file format: Code is the
// image, and functions are intervals of it.
//
// Blocks end behind every branch and before every branch target. Calls end a
// block only if they never return, or if an exception in them leads to a landing
// pad of the function: that is an edge behind all others. NeverReturning finds the functions of a
// program for which that holds.
//
// # Normal form
//
// Graphs have the form of those in sample profile databases: the first block is
// the entry and has no predecessor, the last one is the exit and the only one
// without successors. Where the machine code is not so, blocks without code are
// added: an entry before a loop at the first instruction, and an exit behind
// several returns, tail calls or no-return calls. From a loop without a way out a
// dead edge leads to the exit. Blocks and gaps tile the function.
package cfg

import (
	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
)

// Code is an image.
type Code interface {
	Arch() disasm.Arch

	// Base is the link-time address of RVA 0.
	Base() uint64

	// Bytes returns the n bytes at rva as they are in the file, or as many
	// as there are. They are not changed.
	Bytes(rva uint32, n int) []byte

	// Pointer returns what the 8 bytes at rva point to in the image when it
	// is loaded. It is false for no pointer into the image.
	Pointer(rva uint32) (uint32, bool)
}

// Graph is the flow graph of a function in normal form.
type Graph struct {
	Blocks []Block
	Tables []Table

	// Gaps are the code of the function that is in no block: padding, data
	// and what cannot be decoded. They do not touch each other.
	Gaps []program.Range

	// Taken are the functions whose address the code makes, in the order of
	// the code, which suggests that they are called through pointers.
	Taken []uint32

	// Unresolved are the addresses of indirect jumps inside the function
	// whose targets are not known. Their blocks lead to where they were seen to
	// lead, to all blocks that nothing else leads to, and to the exit. Seen
	// counts the edges of the first kind.
	Unresolved []uint32
	Seen       int

	// Throws counts the edges to landing pads.
	Throws int

	// Unreached counts the blocks with code that no way of known edges leads
	// to from the entry, by reason.
	Unreached [NumUnreached]int

	// Overlaps counts branches into the middle of instructions, Undecoded
	// the bytes that are neither instructions nor a known table.
	Overlaps, Undecoded int
}

// Block is a basic block. One without code has an empty range.
type Block struct {
	Range        program.Range
	Instructions uint32
	Edges        []Edge
	Calls        []Call  // in the order of addresses
	Leaves       []Leave // ways out of the function

	// Reached says that a path of known edges leads here from the entry.
	Reached bool
}

// Edge leads to a successor, of two first to the branch target, then to the
// next instruction. A switch has one edge per distinct target.
type Edge struct {
	To     int  // index into Blocks
	Dead   bool // never taken
	Throws bool // taken by exceptions
}

// CallKind tells what a call goes through.
type CallKind uint8

// Kinds of calls.
const (
	Direct   CallKind = iota // Target is the address of the callee
	Slot                     // Target is the address of a pointer to it, such as an import
	Computed                 // Target is 0
)

// Call is a call or tail call.
type Call struct {
	At     uint32 // address of the instruction
	Len    uint8  // of the instruction
	Kind   CallKind
	Target uint32

	// Tail says that it is a jump; Never, that it does not return.
	Tail, Never bool
}

// Leave is a way out of the function.
type Leave uint8

// Ways out of a function.
const (
	Returns   Leave = iota
	TailCalls       // the last of Calls
	Ends            // with a trap or a call that does not return
	Falls           // into what follows the function, or code that cannot be decoded
	Jumps           // through a pointer that is not resolved
)

// Table is a jump table.
type Table struct {
	Jump    uint32 // address of the jump
	Start   uint32 // address of the table
	Entries int
	Entry   int // bytes of an entry
}
