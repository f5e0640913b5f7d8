package spe

import "math/bits"

// Events is the payload of an events packet: a bit set means that the event
// happened to the operation.
type Events uint64

// Events of the architecture. Bits 12 to 15 and 48 to 63 are implementation
// defined, 32 to 47 reserved. 24 to 31 are implementation defined before
// SPEv1p4.
const (
	EventException       Events = 1 << 0  // exception generated
	EventRetired         Events = 1 << 1  // architecturally retired, not speculative
	EventL1DAccess       Events = 1 << 2  // level 1 data cache access
	EventL1DRefill       Events = 1 << 3  // level 1 data cache miss
	EventTLBAccess       Events = 1 << 4  // translation buffer access
	EventTLBWalk         Events = 1 << 5  // translation table walk
	EventNotTaken        Events = 1 << 6  // the condition failed
	EventMispredicted    Events = 1 << 7  // mispredicted branch
	EventLLCAccess       Events = 1 << 8  // last level cache access
	EventLLCMiss         Events = 1 << 9  // last level cache miss
	EventRemote          Events = 1 << 10 // access to another socket
	EventMisaligned      Events = 1 << 11 // misaligned access
	EventLatePrefetch    Events = 1 << 12 // of Neoverse N1
	EventTransaction     Events = 1 << 16 // in a transaction (TME)
	EventPartialPred     Events = 1 << 17 // partial or empty predicate
	EventEmptyPred       Events = 1 << 18 // empty predicate
	EventL2DAccess       Events = 1 << 19 // level 2 data cache access
	EventL2DMiss         Events = 1 << 20 // level 2 data cache miss
	EventModified        Events = 1 << 21 // hit a modified line
	EventRecentlyFetched Events = 1 << 22 // line fill buffer
	EventSnooped         Events = 1 << 23 // data snooped
	EventStreaming       Events = 1 << 24 // streaming SVE mode
	EventCoprocessor     Events = 1 << 25 // SMCU or external coprocessor
)

// Has says whether all of the events happened.
func (e Events) Has(all Events) bool { return e&all == all }

// Version is a version of the extension, such as SPEv1p2.
type Version uint8

// Versions, and other answers to what version an event filter needs.
const (
	VersionNone Version = iota // cannot be filtered in any version
	Version1p0
	Version1p1
	Version1p2
	Version1p3
	Version1p4
	VersionSME       // FEAT_SPE_SME, or implementation defined before SPEv1p4
	VersionImpDef    // implementation defined
	VersionImpDefOld // implementation defined before SPEv1p4
)

// String is the name of the version.
func (v Version) String() string {
	return [...]string{"in no version", "SPE", "SPEv1p1", "SPEv1p2", "SPEv1p3", "SPEv1p4",
		"FEAT_SPE_SME, or implementation defined before SPEv1p4", "implementation defined", "implementation defined, before SPEv1p4"}[v]
}

// EventInfo describes a bit of an events packet.
type EventInfo struct {
	Name   string  // as perf prints it; empty for bits without a name
	Filter Version // what the filters on the bit need
}

var eventInfos = [64]EventInfo{
	0: {"EXCEPTION-GEN", VersionNone}, 1: {"RETIRED", Version1p0}, 2: {"L1D-ACCESS", Version1p4}, 3: {"L1D-REFILL", Version1p0},
	4: {"TLB-ACCESS", Version1p4}, 5: {"TLB-REFILL", Version1p0}, 6: {"NOT-TAKEN", Version1p2}, 7: {"MISPRED", Version1p0},
	8: {"LLC-ACCESS", Version1p4}, 9: {"LLC-REFILL", Version1p4}, 10: {"REMOTE-ACCESS", Version1p4}, 11: {"ALIGNMENT", Version1p1},
	12: {"", VersionImpDef}, 13: {"", VersionImpDef}, 14: {"", VersionImpDef}, 15: {"", VersionImpDef},
	16: {"TXN", VersionNone}, 17: {"SVE-PARTIAL-PRED", Version1p1}, 18: {"SVE-EMPTY-PRED", Version1p1}, 19: {"L2D-ACCESS", Version1p4},
	20: {"L2D-MISS", Version1p4}, 21: {"HITM", Version1p4}, 22: {"LFB", Version1p4}, 23: {"SNOOPED", Version1p4},
	24: {"STREAMING-SVE", VersionSME}, 25: {"SMCU", VersionSME},
	26: {"", VersionImpDefOld}, 27: {"", VersionImpDefOld}, 28: {"", VersionImpDefOld},
	29: {"", VersionImpDefOld}, 30: {"", VersionImpDefOld}, 31: {"", VersionImpDefOld},
	48: {"", VersionImpDef}, 49: {"", VersionImpDef}, 50: {"", VersionImpDef}, 51: {"", VersionImpDef}, 52: {"", VersionImpDef},
	53: {"", VersionImpDef}, 54: {"", VersionImpDef}, 55: {"", VersionImpDef}, 56: {"", VersionImpDef}, 57: {"", VersionImpDef},
	58: {"", VersionImpDef}, 59: {"", VersionImpDef}, 60: {"", VersionImpDef}, 61: {"", VersionImpDef}, 62: {"", VersionImpDef},
	63: {"", VersionImpDef},
}

// Event describes bit n, 0 to 63.
func Event(n int) EventInfo { return eventInfos[n&63] }

// unnamed are the bits that have no name on a processor.
func (e Events) unnamed(cpu MIDR) Events {
	for rest := e; rest != 0; rest &= rest - 1 {
		n := bits.TrailingZeros64(uint64(rest))
		if eventInfos[n].Name != "" || 1<<n == EventLatePrefetch && cpu.Is(neoverseN1) {
			e &^= 1 << n
		}
	}
	return e
}
