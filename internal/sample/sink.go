package sample

// Branch is a taken branch inside one binary.
type Branch struct{ To, From uint32 }

// Outside stands for the end of a branch that lies outside of the binary, such
// as in a library that was called. RVA 0 is never code of an image: its headers
// are there. Such a branch tells where code of the binary was entered or left.
const Outside uint32 = 0

// Sink takes hits. Each worker has a sink of its own; a sink is not safe for
// concurrent use. Binaries are indices that a [Registry] gave out.
type Sink interface {
	// IP adds n hits of an address, of the event that the SPT opcode names.
	IP(binary int32, opcode byte, rva uint32, n uint64)
	// Branches adds n traversals of a piece of a branch stack, newest branch
	// first, that has no gap: the code from To of each branch up to From of
	// the one before it ran straight through.
	Branches(binary int32, stack []Branch, n uint64)
	// Calls adds n walks up a call stack, innermost frame first, all in one
	// binary. Frames behind the first are return addresses.
	Calls(binary int32, frames []uint32, n uint64)
}

// Registry gives the binaries of all traces their indices. It is safe for
// concurrent use.
type Registry interface {
	// Register returns the index of the binary with b's key.
	Register(b Binary) int32
}
