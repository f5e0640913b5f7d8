package perfdata

import (
	"strconv"
	"strings"
)

// Type is the type of a record. Types below 64 come from the kernel, those
// from 64 on from the perf tool, those from 32768 on from simpleperf.
type Type uint32

// Types of records, from include/uapi/linux/perf_event.h and
// tools/lib/perf/include/perf/event.h of Linux.
const (
	TypeMmap              Type = 1
	TypeLost              Type = 2
	TypeComm              Type = 3
	TypeExit              Type = 4
	TypeThrottle          Type = 5
	TypeUnthrottle        Type = 6
	TypeFork              Type = 7
	TypeRead              Type = 8
	TypeSample            Type = 9
	TypeMmap2             Type = 10
	TypeAux               Type = 11
	TypeItraceStart       Type = 12
	TypeLostSamples       Type = 13
	TypeSwitch            Type = 14
	TypeSwitchCPUWide     Type = 15
	TypeNamespaces        Type = 16
	TypeKsymbol           Type = 17
	TypeBPFEvent          Type = 18
	TypeCgroup            Type = 19
	TypeTextPoke          Type = 20
	TypeAuxOutputHWID     Type = 21
	TypeCallchainDeferred Type = 22

	TypeHeaderAttr      Type = 64
	TypeEventType       Type = 65
	TypeTracingData     Type = 66
	TypeBuildID         Type = 67
	TypeFinishedRound   Type = 68
	TypeIDIndex         Type = 69
	TypeAuxtraceInfo    Type = 70
	TypeAuxtrace        Type = 71
	TypeAuxtraceError   Type = 72
	TypeThreadMap       Type = 73
	TypeCPUMap          Type = 74
	TypeStatConfig      Type = 75
	TypeStat            Type = 76
	TypeStatRound       Type = 77
	TypeEventUpdate     Type = 78
	TypeTimeConv        Type = 79
	TypeHeaderFeature   Type = 80
	TypeCompressed      Type = 81
	TypeFinishedInit    Type = 82
	TypeCompressed2     Type = 83
	TypeBPFMetadata     Type = 84
	TypeSchedstatCPU    Type = 85
	TypeSchedstatDomain Type = 86

	typeFirstUser       Type = 64    // types below end with the sample id trailer
	typeFirstSimpleperf Type = 32768 // types from here on have sizes of 32 bits
)

var typeNames = map[Type]string{
	TypeMmap: "MMAP", TypeLost: "LOST", TypeComm: "COMM", TypeExit: "EXIT", TypeThrottle: "THROTTLE",
	TypeUnthrottle: "UNTHROTTLE", TypeFork: "FORK", TypeRead: "READ", TypeSample: "SAMPLE", TypeMmap2: "MMAP2",
	TypeAux: "AUX", TypeItraceStart: "ITRACE_START", TypeLostSamples: "LOST_SAMPLES", TypeSwitch: "SWITCH",
	TypeSwitchCPUWide: "SWITCH_CPU_WIDE", TypeNamespaces: "NAMESPACES", TypeKsymbol: "KSYMBOL",
	TypeBPFEvent: "BPF_EVENT", TypeCgroup: "CGROUP", TypeTextPoke: "TEXT_POKE",
	TypeAuxOutputHWID: "AUX_OUTPUT_HW_ID", TypeCallchainDeferred: "CALLCHAIN_DEFERRED",
	TypeHeaderAttr: "ATTR", TypeEventType: "EVENT_TYPE", TypeTracingData: "TRACING_DATA", TypeBuildID: "BUILD_ID",
	TypeFinishedRound: "FINISHED_ROUND", TypeIDIndex: "ID_INDEX", TypeAuxtraceInfo: "AUXTRACE_INFO",
	TypeAuxtrace: "AUXTRACE", TypeAuxtraceError: "AUXTRACE_ERROR", TypeThreadMap: "THREAD_MAP",
	TypeCPUMap: "CPU_MAP", TypeStatConfig: "STAT_CONFIG", TypeStat: "STAT", TypeStatRound: "STAT_ROUND",
	TypeEventUpdate: "EVENT_UPDATE", TypeTimeConv: "TIME_CONV", TypeHeaderFeature: "FEATURE",
	TypeCompressed: "COMPRESSED", TypeFinishedInit: "FINISHED_INIT", TypeCompressed2: "COMPRESSED2",
	TypeBPFMetadata: "BPF_METADATA", TypeSchedstatCPU: "SCHEDSTAT_CPU", TypeSchedstatDomain: "SCHEDSTAT_DOMAIN",
}

// String returns the name that `perf report --stats` prints, or the number of
// a type that this package does not know.
func (t Type) String() string {
	if s, ok := typeNames[t]; ok {
		return s
	}
	return strconv.FormatUint(uint64(t), 10)
}

// Known says whether the type has a name, so that its records are understood.
func (t Type) Known() bool {
	_, ok := typeNames[t]
	return ok
}

// SampleType is the set of fields that the samples of an attribute hold, and
// the set of fields that a caller wants (PERF_SAMPLE_... of the kernel).
type SampleType uint64

// Fields of a sample, by bit.
const (
	SampleIP SampleType = 1 << iota
	SampleTID
	SampleTime
	SampleAddr
	SampleRead
	SampleCallChain
	SampleID
	SampleCPU
	SamplePeriod
	SampleStreamID
	SampleRaw
	SampleBranchStack
	SampleRegsUser
	SampleStackUser
	SampleWeight
	SampleDataSrc
	SampleIdentifier
	SampleTransaction
	SampleRegsIntr
	SamplePhysAddr
	SampleAux
	SampleCgroup
	SampleDataPageSize
	SampleCodePageSize
	SampleWeightStruct

	// SampleAll is every field that this package knows.
	SampleAll SampleType = 1<<25 - 1
)

var sampleTypeNames = []string{
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW", "BRANCH_STACK",
	"REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX",
	"CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT",
}

// String lists the fields as "IP|TID|TIME"; bits without a name follow as one
// hexadecimal number.
func (t SampleType) String() string {
	var parts []string
	for i, name := range sampleTypeNames {
		if t>>i&1 != 0 {
			parts = append(parts, name)
		}
	}
	if rest := t &^ SampleAll; rest != 0 || t == 0 {
		parts = append(parts, "0x"+strconv.FormatUint(uint64(rest), 16))
	}
	return strings.Join(parts, "|")
}

// Bits of Attr.BranchSampleType that change what a branch stack is or holds.
const (
	BranchCallStack uint64 = 1 << 11 // the stack is a call stack, not the branches last taken
	BranchHWIndex   uint64 = 1 << 17 // the index of the newest entry precedes the entries
	BranchCounters  uint64 = 1 << 19 // one event counter word per entry follows them
)

// Bits of Attr.ReadFormat.
const (
	readTimeEnabled uint64 = 1
	readTimeRunning uint64 = 2
	readID          uint64 = 4
	readGroup       uint64 = 8
	readLost        uint64 = 16
)

// CPUMode is the mode that the CPU was in, or that the mapping is of.
type CPUMode uint8

// Modes of the CPU, from the low bits of the misc field.
const (
	ModeUnknown CPUMode = iota
	ModeKernel
	ModeUser
	ModeHypervisor
	ModeGuestKernel
	ModeGuestUser
)

// Bits of the misc field of a record. Their meaning depends on the type.
const (
	miscModeMask uint16 = 7

	MiscProcMapTimeout uint16 = 1 << 12 // MMAP, MMAP2: /proc/PID/maps was not read to its end
	MiscMmapData       uint16 = 1 << 13 // MMAP, MMAP2: a mapping without execute permission
	MiscCommExec       uint16 = 1 << 13 // COMM: the name changed because of exec
	MiscForkExec       uint16 = 1 << 13 // FORK: made up by perf for a task that ran already
	MiscSwitchOut      uint16 = 1 << 13 // SWITCH...: the task stops running
	MiscExactIP        uint16 = 1 << 14 // SAMPLE: IP is the instruction that caused the event
	MiscMmapBuildID    uint16 = 1 << 14 // MMAP2: holds a build id in place of device and inode
	MiscSwitchPreempt  uint16 = 1 << 14 // SWITCH...: the task could have gone on
	MiscBuildIDSize    uint16 = 1 << 15 // BUILD_ID: the length of the id is given
	MiscLostSamplesBPF uint16 = 1 << 15 // LOST_SAMPLES: a filter dropped them on purpose
)
