package ingest

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// groupMask says which groups of kernel events a session had enabled.
type groupMask [8]uint32

// Hooks of the events that tell it, when a session begins and ends and when
// groups change.
const (
	hookMasksStart etl.Hook = 0x0005
	hookMasksEnd   etl.Hook = 0x0020
)

// groupMaskOf reads such an event: eight words and the version of the kernel's
// events.
func groupMaskOf(r *etl.Record) (m groupMask, ok bool) {
	if r.Hook != hookMasksStart && r.Hook != hookMasksEnd || len(r.Payload) < 4*len(m) {
		return m, false
	}
	for i := range m {
		m[i] = binary.LittleEndian.Uint32(r.Payload[4*i:])
	}
	return m, true
}

// kernelFlags are the names, as xperf has them, of the groups that matter here.
var kernelFlags = []struct {
	word int
	bits uint32
	name string
}{
	{0, 0x00000003, "PROC_THREAD"}, {0, 0x00000001, "PROCESS"}, {0, 0x00000002, "THREAD"}, {0, 0x00000004, "LOADER"},
	{0, 0x00000008, "PERF_COUNTER"}, {0, 0x00000010, "CSWITCH"}, {1, 0x00000004, "CSWITCH"},
	{0, 0x01000000, "PROFILE"}, {1, 0x00000002, "PROFILE"}, {1, 0x00000400, "PMC_PROFILE"},
	{0, 0x00000300, "DISK_IO"}, {0, 0x00000400, "DISK_IO_INIT"}, {0, 0x00002000, "HARD_FAULTS"}, {0, 0x00010000, "NETWORKTRACE"}, {0, 0x00020000, "REGISTRY"},
	{0, 0x02000000, "FILE_IO"},
}

// names lists the groups of a mask, those without a name here by their bits.
func (m groupMask) names() []string {
	var names []string
	rest := m
	for _, f := range kernelFlags {
		if rest[f.word]&f.bits != f.bits {
			continue // not on, or named by a group before
		}
		rest[f.word] &^= f.bits
		if n := len(names); n == 0 || names[n-1] != f.name {
			names = append(names, f.name)
		}
	}
	for i, bits := range rest {
		if bits != 0 {
			names = append(names, fmt.Sprintf("%#x of mask %d", bits, i))
		}
	}
	return names
}

// What to record for which samples.
const (
	recordLBR = "xperf -on LOADER+PROC_THREAD+PMC_PROFILE -MinBuffers 4096 -MaxBuffers 4096 -BufferSize 4096 " +
		"-pmcprofile BranchInstructionRetired -LastBranch PmcInterrupt -setProfInt BranchInstructionRetired 16384"
	recordPMC = "xperf -on LOADER+PROC_THREAD+PMC_PROFILE+PROFILE -MinBuffers 4096 -MaxBuffers 4096 -BufferSize 4096 " +
		"-pmcprofile InstructionRetired -setProfInt InstructionRetired 16384 -stackwalk profile"
	recordEnd = "run the workload, then xperf -stop -d run.etl"
)

// explainMissing warns of a recording without last branch records or counter
// samples, which make the better profiles, and says why it has none.
func (t *etlTrace) explainMissing(masks []stamped[groupMask]) {
	counters, branches := t.count(etl.ClassPMC), t.count(etl.ClassLBR)
	foreign := uint64(0)
	for _, f := range t.files {
		foreign += f.facts.Records[className(etl.ClassLBR)+foreignSuffix]
	}
	if counters > 0 && branches > foreign {
		return
	}
	// Sessions switch groups on and off at their ends; all that were on count.
	var on groupMask
	for _, m := range masks {
		for i := range on {
			on[i] |= m.event[i]
		}
	}
	code, what := diag.NoCounterData, "neither last branch records (LBR) nor counter samples (PMC)"
	if counters > 0 {
		code, what = diag.NoBranchData, "no last branch records (LBR)"
	}
	w := diag.New(code, "%s; the trace has %d counter samples, %d timer samples, %d call stacks and %d branch records; %s; %s", what,
		counters, t.count(etl.ClassSample), t.count(etl.ClassStack|etl.ClassStackKey), branches, t.sources, flagText(masks, on))
	pmc := on[1]&0x400 != 0
	switch {
	case branches > 0:
		w.Because("Branches were recorded with events other than counter samples.")
	case counters > 0:
		w.Because("The session was started without -LastBranch, or the processor or virtual machine has no branch registers.")
	case len(masks) > 0 && !pmc:
		w.Because("The session was started without PMC_PROFILE.")
	case pmc:
		w.Because("PMC_PROFILE was on, but no counter was chosen with -pmcprofile, or the virtual machine has no counters.")
	default:
		w.Because("The session did not record them, or the kernel's part of the recording is in another file.")
	}
	if counters > 0 {
		w.Do("For branches: %s; %s. Without them use /mode:IP in the next step.", recordLBR, recordEnd)
	} else {
		w.Do("For branches: %s; %s. For counters on machines without branch registers: %s; %s. Timer samples give /mode:IP.",
			recordLBR, recordEnd, recordPMC, recordEnd)
	}
	t.main.warn(w)
}

// flagText says which kernel flags were on.
func flagText(masks []stamped[groupMask], on groupMask) string {
	switch {
	case len(masks) == 0:
		return "kernel flags are not recorded"
	case on == groupMask{}:
		return "no kernel flags"
	}
	return "kernel flags " + strings.Join(on.names(), "+")
}

// String lists the sources that the recording configures.
func (s *profileSources) String() string {
	if len(s.configured) == 0 {
		return "no profile sources"
	}
	var list []string
	for _, n := range s.configured {
		src := s.byNumber[n]
		unit := " events"
		if n == etl.SourceTimer {
			unit = " x 100 ns"
		}
		list = append(list, fmt.Sprintf("%s every %d%s", src.name, src.period(0), unit))
	}
	return "profile sources " + strings.Join(list, ", ")
}
