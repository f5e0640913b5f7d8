package ingest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/spt"
)

// eventOpcodes maps the names of events to opcodes. Names are lower case and
// without PMU and modifiers; see normalizeEvent. Sources: perf-list(1), the
// event lists of Intel and AMD, the Arm architecture's PMU events, and the
// profile sources of Windows.
var eventOpcodes = map[string]spt.Opcode{
	// Cycles.
	"cycles": spt.OpUnhaltCycle, "cpu-cycles": spt.OpUnhaltCycle, "ref-cycles": spt.OpUnhaltCycle, "cpu_cycles": spt.OpUnhaltCycle,
	"cpu_clk_unhalted.thread": spt.OpUnhaltCycle, "cpu_clk_unhalted.thread_p": spt.OpUnhaltCycle,
	"cpu_clk_unhalted.core": spt.OpUnhaltCycle, "cpu_clk_unhalted.core_p": spt.OpUnhaltCycle,
	"cpu_clk_unhalted.ref_tsc": spt.OpUnhaltCycle, "cpu_clk_unhalted": spt.OpUnhaltCycle,
	"inst_retired.total_cycles": spt.OpUnhaltCycle, "inst_retired.total_cycles_ps": spt.OpUnhaltCycle,
	"ls_not_halted_cyc": spt.OpUnhaltCycle,
	"totalcycles":       spt.OpUnhaltCycle, "unhaltedcorecycles": spt.OpUnhaltCycle, "unhaltedreferencecycles": spt.OpUnhaltCycle,

	// Instructions retired.
	"instructions": spt.OpRetireInstr, "inst_retired": spt.OpRetireInstr, "inst_retired.any": spt.OpRetireInstr,
	"inst_retired.any_p": spt.OpRetireInstr, "inst_retired.prec_dist": spt.OpRetireInstr,
	"ex_ret_instr": spt.OpRetireInstr, "retired_instructions": spt.OpRetireInstr,
	"instructionretired": spt.OpRetireInstr, "totalissues": spt.OpRetireInstr,

	// Branches retired.
	"branches": spt.OpRetireBrInstr, "branch-instructions": spt.OpRetireBrInstr,
	"br_inst_retired": spt.OpRetireBrInstr, "br_inst_retired.all_branches": spt.OpRetireBrInstr,
	"br_inst_retired.all_branches_pebs": spt.OpRetireBrInstr, "br_inst_retired.near_taken": spt.OpRetireBrInstr,
	"br_inst_retired.near_taken_pebs": spt.OpRetireBrInstr, "br_inst_exec": spt.OpRetireBrInstr, "br_inst_exec.taken": spt.OpRetireBrInstr,
	"br_inst_exec.all_branches": spt.OpRetireBrInstr, "br_inst_exec.all_taken_branches": spt.OpRetireBrInstr,
	"ex_ret_brn": spt.OpRetireBrInstr, "ex_ret_brn_tkn": spt.OpRetireBrInstr, "br_retired": spt.OpRetireBrInstr,
	"retired_taken_branch_instructions": spt.OpRetireBrInstr, "br_immed_retired": spt.OpRetireBrInstr,
	"branchinstructionretired": spt.OpRetireBrInstr, "branchinstructions": spt.OpRetireBrInstr,

	// Cache misses.
	"l1-icache-load-misses": spt.OpL1ICacheMiss, "l1-icache-misses": spt.OpL1ICacheMiss, "icache.misses": spt.OpL1ICacheMiss,
	"icache_64b.iftag_miss": spt.OpL1ICacheMiss, "icache_data.stalls": spt.OpL1ICacheMiss,
	"frontend_retired.l1i_miss": spt.OpL1ICacheMiss, "l1i_cache_refill": spt.OpL1ICacheMiss, "icachemisses": spt.OpL1ICacheMiss,
	"l1-dcache-load-misses": spt.OpL1DCacheMiss, "l1-dcache-misses": spt.OpL1DCacheMiss, "l1d.replacement": spt.OpL1DCacheMiss,
	"mem_load_retired.l1_miss": spt.OpL1DCacheMiss, "mem_load_uops_retired.l1_miss": spt.OpL1DCacheMiss,
	"l1d_cache_refill": spt.OpL1DCacheMiss, "dcachemisses": spt.OpL1DCacheMiss,

	// Timers.
	"cpu-clock": spt.OpETWInstr, "task-clock": spt.OpETWInstr, "timer": spt.OpETWInstr,
}

// normalizeEvent brings the name of an event to the form of the table:
// "cpu_core/cycles/pp", "BR_INST_RETIRED.NEAR_TAKEN:u" and "cycles:P" become
// "cycles", "br_inst_retired.near_taken" and "cycles".
func normalizeEvent(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if pmu, rest, ok := strings.Cut(name, "/"); ok && !strings.ContainsAny(pmu, ":,") {
		rest, _, _ = strings.Cut(rest, "/")
		name = rest
	}
	if first, _, _ := strings.Cut(name, ","); !strings.Contains(first, "=") {
		name = first // the rest are settings; codes such as event=0xc4,umask=0x20 are the event itself
	}
	if head, modifiers, ok := strings.Cut(name, ":"); ok {
		if isModifiers(modifiers) {
			return head
		}
		// libpfm4 writes masks behind colons: br_inst_exec:taken:u.
		parts := strings.Split(modifiers, ":")
		for len(parts) > 1 && isModifiers(parts[len(parts)-1]) {
			parts = parts[:len(parts)-1]
		}
		name = head + "." + strings.Join(parts, ".")
	}
	return name
}

// isModifiers says whether all letters of s are modifiers of events.
func isModifiers(s string) bool { return strings.Trim(s, "ukhpgsdiwebrx") == "" }

// perf's numbers of attr.type and attr.config.
const (
	perfTypeHardware = 0
	perfTypeSoftware = 1
	perfTypeCache    = 3
	perfTypeRaw      = 4
)

// opcodeByNumber recognises an event by the numbers of its attribute, for
// recordings that have no names. Vendor is the x86 vendor string, or "arm".
func opcodeByNumber(kind uint32, config uint64, vendor string) (spt.Opcode, bool) {
	switch kind {
	case perfTypeHardware:
		switch config & 0xffffffff { // the upper half is the PMU of a hybrid CPU
		case 0, 9:
			return spt.OpUnhaltCycle, true
		case 1:
			return spt.OpRetireInstr, true
		case 4:
			return spt.OpRetireBrInstr, true
		}
	case perfTypeSoftware:
		if config == 0 || config == 1 {
			return spt.OpETWInstr, true
		}
	case perfTypeCache:
		switch config & 0xffffff {
		case 0x010000: // L1D, read, miss
			return spt.OpL1DCacheMiss, true
		case 0x010001: // L1I, read, miss
			return spt.OpL1ICacheMiss, true
		}
	default:
		if kind == perfTypeRaw || vendor == "arm" {
			return opcodeOfRaw(config, vendor)
		}
	}
	return 0, false
}

// Fields of a raw x86 event that change what its code means: edge detection,
// inversion and threshold make it count cycles with or without something, and
// AMD has four more bits of the code at 32.
const (
	rawConditions = 1<<18 | 1<<23 | 0xff<<24
	rawExtended   = 0xf << 32
)

// opcodeOfRaw knows the event codes of the retirement and cycle counters.
func opcodeOfRaw(config uint64, vendor string) (spt.Opcode, bool) {
	code := config & 0xffff
	if vendor != "arm" && config&(rawConditions|rawExtended) != 0 {
		return 0, false
	}
	switch vendor {
	case "GenuineIntel":
		switch code & 0xff {
		case 0x3c:
			return spt.OpUnhaltCycle, true
		case 0xc0:
			return spt.OpRetireInstr, true
		case 0xc4, 0x88:
			return spt.OpRetireBrInstr, true
		}
	case "AuthenticAMD", "HygonGenuine":
		switch code & 0xff {
		case 0x76:
			return spt.OpUnhaltCycle, true
		case 0xc0:
			return spt.OpRetireInstr, true
		case 0xc2, 0xc4:
			return spt.OpRetireBrInstr, true
		}
	case "arm":
		switch code {
		case 0x11:
			return spt.OpUnhaltCycle, true
		case 0x08:
			return spt.OpRetireInstr, true
		case 0x0c, 0x0d, 0x21:
			return spt.OpRetireBrInstr, true
		case 0x01:
			return spt.OpL1ICacheMiss, true
		case 0x03:
			return spt.OpL1DCacheMiss, true
		}
	}
	return 0, false
}

// isArmPMU says whether a PMU counts the events of the Arm architecture.
func isArmPMU(name string) bool {
	return strings.HasPrefix(name, "armv8_") || strings.HasPrefix(name, "armv9_")
}

// EventMap turns the names of events into opcodes: first as the user says,
// then by the table. A nil map is one without settings.
type EventMap struct {
	given map[string]spt.Opcode
	only  map[string]bool
}

// NewEventMap makes a map from settings NAME=OPCODE, where OPCODE is one of the
// numbers 0x01 to 0x05 and 0x41, and the names of the only events to read; none
// means all.
func NewEventMap(settings, only []string) (*EventMap, error) {
	m := &EventMap{given: map[string]spt.Opcode{}}
	for _, s := range settings {
		i := strings.LastIndexByte(s, '=')
		if i <= 0 {
			return nil, fmt.Errorf("event %q is not of the form NAME=OPCODE", s)
		}
		op, err := strconv.ParseUint(strings.TrimSpace(s[i+1:]), 0, 8)
		if err != nil || !spt.Opcode(op).IsIP() {
			return nil, fmt.Errorf("opcode %q of event %q is none of 0x01 to 0x05 and 0x41", s[i+1:], s[:i])
		}
		m.given[strings.ToLower(s[:i])] = spt.Opcode(op)
		m.given[normalizeEvent(s[:i])] = spt.Opcode(op)
	}
	if len(only) > 0 {
		m.only = map[string]bool{}
		for _, n := range only {
			m.only[strings.ToLower(n)] = true
			m.only[normalizeEvent(n)] = true
		}
	}
	return m, nil
}

// Opcode returns the opcode of an event by name.
func (m *EventMap) Opcode(name string) (spt.Opcode, bool) {
	if m != nil {
		for _, n := range []string{strings.ToLower(name), normalizeEvent(name)} {
			if op, ok := m.given[n]; ok {
				return op, true
			}
		}
	}
	op, ok := eventOpcodes[normalizeEvent(name)]
	return op, ok
}

// Wanted says whether the user asked for the event.
func (m *EventMap) Wanted(name string) bool {
	return m == nil || m.only == nil || m.only[strings.ToLower(name)] || m.only[normalizeEvent(name)]
}
