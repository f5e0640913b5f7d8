package debias

import "strings"

// Unit is what an event counts, as far as it matters for the branch stacks
// that it triggers.
type Unit uint8

// Units of events.
const (
	Unknown      Unit = iota
	Taken             // taken branches: the stacks are unbiased
	Instructions      // instructions retired
	Branches          // branches, taken or not
	Cycles            // core cycles
)

var unitNames = [...]string{"unknown", "taken branches", "instructions", "branches", "cycles"}

// String returns the name in the plural, such as "taken branches".
func (u Unit) String() string { return unitNames[u] }

// Types of perf events.
const (
	perfHardware = 0
	perfRaw      = 4
)

// UnitOf tells what an event of Linux counts, from its name and numbers and
// the vendor of the processor ("GenuineIntel", "AuthenticAMD", "arm").
func UnitOf(name string, typ uint32, config uint64, vendor string) Unit {
	switch {
	case typ == perfHardware:
		switch config & 0xffffffff { // above it stands the PMU of hybrid processors
		case 0, 9:
			return Cycles
		case 1:
			return Instructions
		case 4:
			return Branches
		}
		return Unknown
	case typ == perfRaw:
		if u := rawUnits[vendor][config&0xffff]; u != Unknown {
			return u
		}
	}
	return UnitOfName(name)
}

// rawUnits are event and unit mask in the low 16 bits of a raw event. Of an
// unknown vendor, 0x20c4 is believed to be what guides to profiling tell to
// record on Intel; AMD counts taken branches with it too.
var rawUnits = map[string]map[uint64]Unit{
	"":             {0x20c4: Taken},
	"GenuineIntel": {0x20c4: Taken, 0x00c4: Branches, 0x00c0: Instructions, 0x01c0: Instructions, 0x003c: Cycles},
	"AuthenticAMD": {0x00c4: Taken, 0x00c2: Branches, 0x00c0: Instructions, 0x0076: Cycles},
	"HygonGenuine": {0x00c4: Taken, 0x00c2: Branches, 0x00c0: Instructions, 0x0076: Cycles},
	"arm":          {0x0021: Branches, 0x0008: Instructions, 0x0011: Cycles},
}

// UnitOfName tells what an event counts from its name on Linux or Windows.
func UnitOfName(name string) Unit {
	name = strings.ToLower(name)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("mispred", "miss"):
		return Unknown
	case has("near_taken", "brn_tkn", "taken-branch", "takenbranch"):
		return Taken
	case has("all_branches", "ex_ret_brn", "branches", "branch-instructions", "branchinstruction", "br_retired"):
		return Branches
	case has("instructions", "inst_retired", "ex_ret_instr", "instructionretired"):
		return Instructions
	case has("cycles", "cpu_clk", "unhalted", "cpu-cycles"):
		return Cycles
	}
	return Unknown
}
