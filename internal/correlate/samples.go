package correlate

import (
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Samples are the sums of the samples of one binary over all inputs.
type Samples struct {
	file *spd.File
}

// OpcodeCount counts the records of one opcode.
type OpcodeCount struct {
	Op      spt.Opcode
	Records uint64
	Hits    uint64 // addresses, branches or call arcs, REPEATs included, without weight
}

// InputStats says what an input holds, each list ascending by opcode.
type InputStats struct {
	Chosen []OpcodeCount // of the program ids that were asked for
	Other  []OpcodeCount // of all others
	// Reversed says that the branch stacks had the oldest branch first.
	Reversed bool
}

// Hits returns the sum of the hits of all opcodes.
func Hits(counts []OpcodeCount) uint64 {
	return 0
}

// NewSamples returns empty sums for the binary of an SPD. f must not change as
// long as the sums are in use, except for its counts.
func NewSamples(f *spd.File) *Samples { return &Samples{file: f} }

// Add reads an input to its end and adds the records of the program ids for
// which program returns true, each hit with the given weight. What is damaged
// is left to the options of r; the error is that of r.Err, and what was read
// before it is added.
//
// Weights are whole numbers. To weigh by fractions give every input a multiple
// and say in Options.Scale of what.
func (s *Samples) Add(r *spt.Reader, program func(spt.ProgramID) bool, weight uint64) (InputStats, error) {
	return InputStats{}, r.Err()
}

// Survey counts what Add would add.
func Survey(r *spt.Reader, program func(spt.ProgramID) bool) (InputStats, error) {
	return InputStats{}, r.Err()
}
