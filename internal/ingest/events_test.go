package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spt"
)

const none = spt.Opcode(0)

func TestEventNames(t *testing.T) {
	for _, tc := range []struct {
		opcode spt.Opcode
		names  string
	}{
		{spt.OpUnhaltCycle, "cycles cycles:P cycles:pp cycles:u cycles:Pu cycles:ppuk cycles:HG cycles:ue cycles:b cpu-cycles ref-cycles CYCLES " +
			"cpu/cycles/ cpu/cycles/pp cpu_core/cycles/ cpu_atom/cycles/u cpu_core/cpu-cycles/ppp cpu/cycles,period=100000/u " +
			"armv8_pmuv3/cpu_cycles/ armv8_cortex_a72/cpu_cycles/k CPU_CLK_UNHALTED.THREAD CPU_CLK_UNHALTED.THREAD_P:u " +
			"cpu_clk_unhalted:thread_p:u CPU_CLK_UNHALTED.REF_TSC INST_RETIRED.TOTAL_CYCLES_PS ls_not_halted_cyc TotalCycles UnhaltedCoreCycles"},
		{spt.OpRetireInstr, "instructions instructions:u instructions:uH cpu_core/instructions/ INST_RETIRED.ANY INST_RETIRED.PREC_DIST:pp " +
			"inst_retired:any_p ex_ret_instr armv8_pmuv3_0/inst_retired/u InstructionRetired"},
		{spt.OpRetireBrInstr, "branches branches:u branch-instructions:pp BR_INST_RETIRED.NEAR_TAKEN:u BR_INST_RETIRED.NEAR_TAKEN:upp " +
			"br_inst_retired:near_taken br_inst_retired:near_taken:u cpu/br_inst_retired.near_taken/ppp BR_INST_RETIRED.ALL_BRANCHES_PEBS " +
			"br_inst_exec:taken br_inst_exec:taken:u BR_INST_EXEC.ALL_TAKEN_BRANCHES ex_ret_brn_tkn ex_ret_brn_tkn:u br_retired BranchInstructionRetired"},
		{spt.OpL1ICacheMiss, "L1-icache-load-misses L1-icache-load-misses:u ICACHE.MISSES FRONTEND_RETIRED.L1I_MISS:pp l1i_cache_refill ICacheMisses"},
		{spt.OpL1DCacheMiss, "L1-dcache-load-misses L1D.REPLACEMENT MEM_LOAD_RETIRED.L1_MISS:pp l1d_cache_refill DcacheMisses"},
		{spt.OpETWInstr, "cpu-clock cpu-clock:u cpu-clock:ppp task-clock task-clock:u Timer"},
		{none, "cache-misses branch-misses page-faults context-switches sched:sched_switch dummy:u cycles_not:u LLC-load-misses " +
			"L1-dcache-loads cs_etm/autofdo/k arm_spe_0/branch_filter=1/ probe:cycles cyclesx x/y:z/"},
	} {
		for _, name := range strings.Fields(tc.names) {
			op, ok := (*EventMap)(nil).Opcode(name)
			if op != tc.opcode || ok != (tc.opcode != none) {
				t.Errorf("%s: %v, %v; want %v", name, op, ok, tc.opcode)
			}
		}
	}
}

func TestEventNumbers(t *testing.T) {
	const intel, amd, hygon, arm = "GenuineIntel", "AuthenticAMD", "HygonGenuine", "arm"
	for _, tc := range []struct {
		kind   uint32
		config uint64
		vendor string
		want   spt.Opcode
	}{
		{0, 0, "", spt.OpUnhaltCycle},
		{0, 9, "", spt.OpUnhaltCycle},
		{0, 1, "", spt.OpRetireInstr},
		{0, 4, "", spt.OpRetireBrInstr},
		{0, 4 << 32, intel, spt.OpUnhaltCycle}, // of the performance cores
		{0, 10<<32 | 1, intel, spt.OpRetireInstr},
		{0, 3, "", none}, // cache misses
		{0, 5, "", none}, // branch misses
		{1, 0, "", spt.OpETWInstr},
		{1, 1, "", spt.OpETWInstr},
		{1, 2, "", none},                     // page faults
		{2, 0, intel, none},                  // a tracepoint
		{3, 0x10000, "", spt.OpL1DCacheMiss}, // data, read, miss
		{3, 0x10001, "", spt.OpL1ICacheMiss},
		{3, 0x00000, "", none}, // accesses
		{3, 0x10002, "", none}, // last level
		{3, 0x10100, "", none}, // writes
		{4, 0x003c, intel, spt.OpUnhaltCycle},
		{4, 0x00c0, intel, spt.OpRetireInstr},
		{4, 0x20c4, intel, spt.OpRetireBrInstr}, // near taken
		{4, 0x8888, intel, spt.OpRetireBrInstr}, // executed, taken
		{4, 0x20c5, intel, none},                // mispredicted
		{4, 0x0076, intel, none},
		{4, 0x0076, amd, spt.OpUnhaltCycle},
		{4, 0x00c0, amd, spt.OpRetireInstr},
		{4, 0x00c4, amd, spt.OpRetireBrInstr},
		{4, 0x00c2, hygon, spt.OpRetireBrInstr},
		{4, 0x00c3, amd, none},
		{4, 0x003c, amd, none},
		{4, 0x1000000c4, amd, none},  // event 0x1c4
		{4, 0x108001c0, intel, none}, // cycles in which no 16 instructions retired
		{4, 0x4003c, intel, none},    // transitions
		{4, 0x11, arm, spt.OpUnhaltCycle},
		{8, 0x11, arm, spt.OpUnhaltCycle},
		{8, 0x08, arm, spt.OpRetireInstr},
		{4, 0x21, arm, spt.OpRetireBrInstr},
		{4, 0x0c, arm, spt.OpRetireBrInstr},
		{4, 0x01, arm, spt.OpL1ICacheMiss},
		{4, 0x03, arm, spt.OpL1DCacheMiss},
		{4, 0x10, arm, none},
		{4, 0x3c, "", none},
		{8, 0x3c, intel, none}, // a PMU outside the cores
	} {
		if op, _ := opcodeByNumber(tc.kind, tc.config, tc.vendor); op != tc.want {
			t.Errorf("type %d config %#x of %q: %v, want %v", tc.kind, tc.config, tc.vendor, op, tc.want)
		}
	}
}

// TestVendors checks which numbers are trusted on which machine.
func TestVendors(t *testing.T) {
	for _, tc := range []struct {
		kind     uint32
		features perfdata.Features
		want     string
	}{
		{4, perfdata.Features{CPUID: "GenuineIntel,6,85,7", Arch: "x86_64"}, "GenuineIntel"},
		{4, perfdata.Features{CPUID: "AuthenticAMD,25,17,1"}, "AuthenticAMD"},
		{4, perfdata.Features{CPUID: "HygonGenuine,24,0,1"}, "HygonGenuine"},
		{4, perfdata.Features{CPUID: "0x00000000410fd0c0", Arch: "aarch64"}, "arm"},
		{8, perfdata.Features{Arch: "aarch64", PMUs: []perfdata.PMU{{Type: 8, Name: "armv8_pmuv3_0"}}}, "arm"},
		{8, perfdata.Features{Arch: "aarch64", PMUs: []perfdata.PMU{{Type: 8, Name: "arm_spe_0"}}}, ""},
		{4, perfdata.Features{Arch: "x86_64"}, ""},
		{4, perfdata.Features{}, ""},
	} {
		trace := &perfTrace{file: &perfdata.File{Features: tc.features}}
		if got := trace.vendor(&perfdata.Attr{Type: tc.kind}); got != tc.want {
			t.Errorf("type %d on %s %s: %q, want %q", tc.kind, tc.features.Arch, tc.features.CPUID, got, tc.want)
		}
	}
}

func TestEventMap(t *testing.T) {
	m, err := NewEventMap([]string{"Page-Faults=0x01", "cpu/event=0xc5,umask=0x20/=3", "cycles=0x02", "r1c4 = 65", "lsm:u=0x41"},
		[]string{"page-faults", "Cycles:P"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]spt.Opcode{
		"page-faults": 1, "page-faults:u": 1, "cpu/event=0xc5,umask=0x20/": 3, "cpu/event=0xc5,umask=0x20/u": 3, "cpu/event=0xc5,umask=0x11/": 0, "cpu/event=0xc5/": 0, "cycles": 2, "cycles:P": 2, "r1c4": 0x41, "lsm:u": 0x41, "lsm": 0x41,
		"instructions": 2, "cache-misses": 0,
	} {
		if op, _ := m.Opcode(name); op != want {
			t.Errorf("%s: %v, want %v", name, op, want)
		}
	}
	for name, want := range map[string]bool{"page-faults": true, "page-faults:u": true, "cycles:P": true, "cycles": true, "cpu_core/cycles/": true, "instructions": false} {
		if m.Wanted(name) != want {
			t.Errorf("%s is wanted: %v", name, !want)
		}
	}
	for _, s := range []string{"cycles", "=1", "", "x=", "x=0", "x=0x10", "x=0x42", "x=0x81", "x=999", "x=-1", "x=0x01z", "x=1 2"} {
		if _, err := NewEventMap([]string{s}, nil); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

// severalEvents has four events, of which the last two have no opcode.
func severalEvents() recording {
	var r recording
	for i, e := range []struct {
		kind   uint32
		config uint64
		name   string
	}{{0, 0, "cycles:u"}, {0, 1, ""}, {0, 3, "cache-misses"}, {4, 0x1234, ""}} {
		a := cycles()
		a.SampleType |= perfdata.SampleIdentifier
		a.Type, a.Config, a.Name, a.IDs = e.kind, e.config, e.name, []uint64{uint64(i + 1)}
		r.attrs = append(r.attrs, a)
	}
	return r
}

func TestEvents(t *testing.T) {
	const script = `
		1 map 10 1000+1000 0 /t/app
		2 sample 10 1010 event=0 period=100
		2 sample 10 1020 event=1 period=100
		2 sample 10 1030 event=2 period=100
		2 sample 10 1040 event=3 period=100
		3 sample 10 1050 event=0 period=250
		3 sample 10 1060 event=1 period=200
		3 sample 10 1070 event=2 period=900
	`
	path := severalEvents().write(t, script)
	for _, tc := range []struct {
		name, settings, only string
		options              Options
		want, codes          string
	}{
		{name: "all", want: `ip app+10
			ip app+20 op=02
			ip app+50
			ip app+60 op=02
			samples: used:4 unknown_event:3`, codes: "SPT1001 SPT1002 SPT1004 SPT1005 SPT1005"},
		{name: "mapped", settings: "cache-misses=0x05", want: `ip app+10
			ip app+20 op=02
			ip app+30 op=05
			ip app+50
			ip app+60 op=02
			ip app+70 op=05
			samples: used:6 unknown_event:1`, codes: "SPT1001 SPT1002 SPT1004 SPT1004 SPT1005"},
		{name: "only", only: "instructions", want: `ip app+20 op=02
			ip app+60 op=02
			samples: used:2 event_filter:5`, codes: "SPT1001 SPT1002"},
		{name: "only one without opcode", only: "raw:0x1234", want: `samples: event_filter:6 unknown_event:1`, codes: "SPT1001 SPT1002 SPT1005"},
		{name: "weights", options: Options{WeighByPeriod: true}, want: `ip app+10 x100
			ip app+20 op=02 x100
			ip app+50 x250
			ip app+60 op=02 x200
			samples: used:4 unknown_event:3`, codes: "SPT1001 SPT1002 SPT1005 SPT1005"},
	} {
		var settings, only []string
		if tc.settings != "" {
			settings = []string{tc.settings}
		}
		if tc.only != "" {
			only = []string{tc.only}
		}
		var err error
		if tc.options.Events, err = NewEventMap(settings, only); err != nil {
			t.Fatal(err)
		}
		got, facts, _ := outcome(t, path, tc.options)
		if want := strings.ReplaceAll(tc.want, "\t", "") + "\n"; got != want {
			t.Errorf("%s: got\n%swant\n%s", tc.name, got, want)
		}
		if codes(facts) != tc.codes {
			t.Errorf("%s: warnings %s, want %s", tc.name, codes(facts), tc.codes)
		}
		var events []string
		for _, name := range sortedNames(facts.Stats.Events) {
			e := facts.Stats.Events[name]
			events = append(events, fmt.Sprintf("%s:%d:%d-%d", name, e.Samples, e.MinPeriod, e.MaxPeriod))
		}
		const want = "cache-misses:2:100-900 cycles:u:2:100-250 instructions:2:100-200 raw:0x1234:1:100-100"
		if got := strings.Join(events, " "); got != want {
			t.Errorf("%s: events %s, want %s", tc.name, got, want)
		}
	}
}

// TestUnknownEventCount checks that unrecognised events are counted by name.
func TestUnknownEventCount(t *testing.T) {
	_, facts, _ := outcome(t, severalEvents().write(t, `
		1 map 10 1000+1000 0 /t/app
		2 sample 10 1030 event=2
		2 sample 10 1030 event=2
		2 sample 10 1040 event=3`), Options{})
	var got []string
	for _, w := range facts.Warnings {
		if w.Count > 0 && strings.Contains(w.Message, "opcode") {
			got = append(got, fmt.Sprintf("%s x%d", w.Message, w.Count))
		}
	}
	const want = "event cache-misses has no opcode x2, event raw:0x1234 has no opcode x1"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("warnings %s, want %s", s, want)
	}
}
