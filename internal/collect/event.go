package collect

import (
	"fmt"
	"strings"
)

// An event is a way to sample.
type event struct {
	name     string
	typ      uint32
	config   uint64
	period   uint64 // prime, so that it does not beat with loops of the program
	branches bool   // with branch stacks
	biased   bool   // not triggered by taken branches alone
	precise  bool   // can be asked for the exact instruction
}

// Types of events, as in struct perf_event_attr.
const (
	typeHardware = 0
	typeSoftware = 1
	typeRaw      = 4
)

// Periods give about a thousand samples a second of a busy processor.
const (
	cyclePeriod  = 2_000_003
	instrPeriod  = 2_000_003
	branchPeriod = 400_009
	clockPeriod  = 999_983 // ns
)

// takenBranches are the events that count taken branches and nothing else, by
// vendor of the processor: BR_INST_RETIRED.NEAR_TAKEN of Intel,
// retired taken branches of AMD (Zen 3 and later have branch records).
var takenBranches = map[string]event{
	"GenuineIntel": {name: "br_inst_retired.near_taken:u", typ: typeRaw, config: 0x20c4, period: branchPeriod, branches: true, precise: true},
	"AuthenticAMD": {name: "ex_ret_brn_tkn:u", typ: typeRaw, config: 0xc4, period: branchPeriod, branches: true},
}

var (
	cycles       = event{name: "cycles:u", typ: typeHardware, config: 0, period: cyclePeriod, precise: true}
	instructions = event{name: "instructions:u", typ: typeHardware, config: 1, period: instrPeriod, precise: true}
	branchEvents = event{name: "branches:u", typ: typeHardware, config: 4, period: branchPeriod, biased: true, precise: true}
	cpuClock     = event{name: "cpu-clock:u", typ: typeSoftware, config: 0, period: clockPeriod}
	taskClock    = event{name: "task-clock:u", typ: typeSoftware, config: 1, period: clockPeriod}
)

// named are the events that a user can ask for.
var named = []event{cycles, instructions, branchEvents, cpuClock, taskClock}

// candidates lists the events to try, the best first.
func candidates(o *Options, vendor string) ([]event, error) {
	if o.Event != "" {
		e, err := find(o.Event, vendor)
		if err != nil {
			return nil, err
		}
		return withBranches(o.Branches, e), nil
	}
	var list []event
	if o.Branches != No {
		if e, ok := takenBranches[vendor]; ok {
			list = append(list, e)
		}
		biased := cycles
		biased.branches, biased.biased = true, true
		list = append(list, biased)
	}
	if o.Branches != Yes {
		list = append(list, instructions, cycles, cpuClock)
	}
	return list, nil
}

// withBranches lists an event with and without branch stacks, as wanted.
func withBranches(want Want, e event) []event {
	with := e
	with.branches = true
	e.branches = false
	switch want {
	case Yes:
		return []event{with}
	case No:
		return []event{e}
	}
	if e.typ == typeSoftware {
		return []event{e}
	}
	return []event{with, e}
}

// find returns the event of a name: one of the list, "taken-branches", or rXXXX
// for a raw number in hexadecimal.
func find(name, vendor string) (event, error) {
	plain := strings.TrimSuffix(strings.ToLower(name), ":u")
	for _, e := range named {
		if plain == strings.TrimSuffix(e.name, ":u") {
			return e, nil
		}
	}
	taken, known := takenBranches[vendor]
	if known && (plain == "taken-branches" || plain == strings.TrimSuffix(taken.name, ":u")) {
		return taken, nil
	}
	var raw uint64
	if n, err := fmt.Sscanf(plain, "r%x", &raw); n == 1 && err == nil && plain == fmt.Sprintf("r%x", raw) {
		return event{name: plain + ":u", typ: typeRaw, config: raw, period: branchPeriod, biased: true}, nil
	}
	return event{}, fmt.Errorf("event %q: want taken-branches, cycles, instructions, branches, cpu-clock, task-clock, or r and a raw number in hexadecimal", name)
}
