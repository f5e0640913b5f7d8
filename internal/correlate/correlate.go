package correlate

import (
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/flow"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Mode says which kind of samples counts are made from.
type Mode uint8

const (
	// Auto is what suits the inputs, see Kinds.Mode.
	Auto Mode = iota
	// IP makes counts from sampled instruction addresses.
	IP
	// LBR makes counts from taken branches and the code between them.
	LBR
)

// String returns the mode as the option /mode spells it.
func (m Mode) String() string {
	switch m {
	case IP:
		return "IP"
	case LBR:
		return "LBR"
	}
	return "AUTO"
}

// Options control Infer. The zero value means the defaults.
type Options struct {
	Mode Mode
	// IPEvent is the opcode whose samples are execution counts in mode IP; 0
	// takes the first of RETIRE_INSTR, UNHALT_CYCLE and ETW_INSTR that the
	// inputs hold, then the first frames of call stacks.
	IPEvent spt.Opcode
	// Unit is the count that one execution seen is worth; 0 means 256.
	Unit uint64
	// Scale is the sum of weights that is one hit, see Samples.Add; 0 means 1.
	Scale uint64
	// Consume has Infer give back the memory of the sums as soon as they are
	// used; the Samples must not be used again.
	Consume bool
	// Jobs is the number of functions inferred at a time; 0 means 1. It has no
	// influence on the result.
	Jobs int
}

// Result is what samples say about the functions of an SPD.
type Result struct {
	Mode    Mode       // IP or LBR
	IPEvent spt.Opcode // the opcode that was counted in mode IP, else 0
	// SingleBranches says that Auto became IP though there are branches, since
	// none has a neighbour.
	SingleBranches bool

	// Functions stand for those of the SPD, over all modules in file order.
	Functions []Function

	// Used is the weighted number of samples that were credited: addresses in
	// mode IP, branches in mode LBR. Dropped are the others of the same
	// binary, in the order of the reasons, none of 0.
	Used    uint64
	Dropped []Loss
	// Branches tells the branches that were used apart, by kind. It is empty
	// in mode IP.
	Branches []BranchCount
	// StacksReversed says that call stacks had the outermost frame first.
	StacksReversed bool

	// Correction is how much inference changed, as a share of the measured
	// weight: 0.05 is five per cent.
	Correction float64
	// FellBack lists the functions, by index into Functions, whose counts are
	// further from the samples than chance explains: the code is not that of
	// the SPD, or edges are missing in its flow graph. Their counts are
	// consistent but to be mistrusted. Where time was sampled, only those are
	// listed whose misfit slow instructions cannot explain.
	FellBack []int
	// Unreached and Trapped are what was measured in blocks that no flow can
	// pass, so that they got no count, as shares of the measured weight:
	// Unreached where no way leads from the entry to the block, Trapped where
	// none leads on from it to the exit or round a loop. Correction contains
	// them.
	Unreached, Trapped float64
	// Density says whether the hot functions have samples enough.
	Density Density
}

// Function is what the samples say about a function.
type Function struct {
	// Touched says that samples fell into the function's code, or into that
	// of a function that it is inlined in. All else is empty if not.
	Touched bool
	// Hits is the weighted number of samples that speak of the function's
	// blocks: addresses in mode IP; in mode LBR blocks passed, or ends of
	// branches if no input shows the code between them.
	Hits uint64
	// Blocks and Edges are the counts, in the shape of the function's record.
	Blocks []uint64
	Edges  [][]uint64
	// Indirect has an element per indirect call site of each block, in the
	// shape of the function's record. It is nil if no site was hit.
	Indirect [][]SiteHits
	Quality  flow.Quality
}

// SiteHits are the calls seen at an indirect call site, in samples.
type SiteHits struct {
	Hits    uint64      // of all targets, known and unknown
	Targets spd.Targets // the most frequent known ones, descending, then by id
}

// Reason is why samples were not used.
type Reason uint8

const (
	// OutsideFunctions: the code belongs to no function of the SPD.
	OutsideFunctions Reason = iota
	// InPadding: in a gap of less than 32 bytes between two functions.
	InPadding
	// OtherMode: of the kind that the other mode uses.
	OtherMode
	// OtherEvent: addresses of events that were not chosen.
	OtherEvent
	// NoBranch: of RETIRE_BR_INSTR, in a block that ends in no branch.
	NoBranch

	numReasons
)

var reasonText = [numReasons]string{
	OutsideFunctions: "outside any function",
	InPadding:        "in padding",
	OtherMode:        "of the other mode",
	OtherEvent:       "of other events",
	NoBranch:         "in blocks without a branch",
}

// String says the reason in words.
func (r Reason) String() string { return reasonText[r] }

// Loss is a number of samples that were not used for one reason.
type Loss struct {
	Reason Reason
	Hits   uint64
}

// BranchKind is what a branch is by the flow graphs.
type BranchKind uint8

const (
	// BranchEdge follows an edge of a flow graph.
	BranchEdge BranchKind = iota
	// BranchEntry arrives at the first byte of a function: a call or a tail call.
	BranchEntry
	// BranchReturn arrives in the middle of another function.
	BranchReturn
	// BranchOut leaves for code that is in no function of the SPD.
	BranchOut
	// BranchInside starts or arrives in the middle of a block, as between the
	// pieces of inlined code.
	BranchInside
	// BranchUnexplained joins two blocks of a function that share no edge.
	BranchUnexplained

	numBranchKinds
)

var branchText = [numBranchKinds]string{
	BranchEdge:        "edge",
	BranchEntry:       "entry",
	BranchReturn:      "return",
	BranchOut:         "out of all functions",
	BranchInside:      "inside a block",
	BranchUnexplained: "unexplained",
}

// String says the kind in words.
func (k BranchKind) String() string { return branchText[k] }

// BranchCount is the weighted number of branches of a kind.
type BranchCount struct {
	Kind BranchKind
	Hits uint64
}

// Density says how well the hot functions are sampled, see density.go.
type Density struct {
	Hot int // functions in the 99 % set of this import's weight
	// Hits is the number of samples per covered code block that functions of
	// 90 % of the hot weight reach.
	Hits float64
	// Factor is how many times more samples are wanted, at least 1.
	Factor float64
}

// WrongModeError says that the inputs have nothing that the mode can use.
type WrongModeError struct {
	Mode    Mode       // what was asked for; Auto if nothing is usable at all
	IPEvent spt.Opcode // what was asked for, or 0
	Has     []OpcodeCount
}

func (e *WrongModeError) Error() string {
	var has []string
	for _, c := range e.Has {
		has = append(has, fmt.Sprintf("%d of %v", c.Hits, c.Op))
	}
	what := "usable samples"
	switch {
	case e.Mode == LBR:
		what = "branches (LBR)"
	case e.IPEvent != 0:
		what = fmt.Sprintf("samples of %v", e.IPEvent)
	case e.Mode == IP:
		what = "instruction addresses (IP)"
	}
	if len(has) == 0 {
		return fmt.Sprintf("want %s, got no samples of this binary", what)
	}
	return fmt.Sprintf("want %s, got %s", what, strings.Join(has, ", "))
}

// HasMode is the mode that the inputs would serve, or Auto if none.
func (e *WrongModeError) HasMode() Mode {
	has := Auto
	for _, c := range e.Has {
		switch {
		case c.Op == spt.OpLBR:
			return LBR
		case executes(c.Op):
			has = IP
		}
	}
	return has
}

// MixedKindsError says that some inputs have branches and others only
// instruction addresses. Both lists hold numbers of calls of Samples.Add.
type MixedKindsError struct {
	LBR, IP []int
}

func (e *MixedKindsError) Error() string {
	return fmt.Sprintf("%d inputs have branches (LBR) and %d only instruction addresses (IP)", len(e.LBR), len(e.IP))
}
