package ingest

import (
	"strings"

	"github.com/spgo-tools/spgo/pkg/spe"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// speKind is a kind of samples that is made of SPE records.
type speKind uint8

const (
	speInstructions speKind = iota
	speBranches
	speL1DMiss
	speLLCMiss
	speTLBMiss
	speRemote
	speKinds
)

// speKindTable has the word of each kind in the option, the events that a
// record of it has, and the opcode it has by default; 0 where the SPT has
// none.
var speKindTable = [speKinds]struct {
	word   string
	events spe.Events
	opcode spt.Opcode
}{
	{"instructions", 0, spt.OpRetireInstr},
	{"branches", 0, spt.OpRetireBrInstr},
	{"l1d-miss", spe.EventL1DRefill, spt.OpL1DCacheMiss},
	{"llc-miss", spe.EventLLCMiss, 0},
	{"tlb-miss", spe.EventTLBWalk, 0},
	{"remote", spe.EventRemote, 0},
}

// SPEKinds is the set of kinds of samples to make of Arm SPE records. The zero
// value stands for instructions, branches and misses of the level 1 data
// cache: those that have an opcode.
type SPEKinds uint8

const speDefaultKinds SPEKinds = 1<<speInstructions | 1<<speBranches | 1<<speL1DMiss

// ParseSPEKinds reads a list of the words instructions, branches, l1d-miss,
// llc-miss, tlb-miss and remote.
func ParseSPEKinds(words []string) (SPEKinds, bool) {
	var set SPEKinds
words:
	for _, w := range words {
		for k, row := range speKindTable {
			if strings.EqualFold(w, row.word) {
				set |= 1 << k
				continue words
			}
		}
		return 0, false
	}
	return set, true
}

func (k SPEKinds) has(kind speKind) bool {
	if k == 0 {
		k = speDefaultKinds
	}
	return k>>kind&1 != 0
}

// newEvents makes the events that the samples are of. Their names have the form of
// perf's events, so that --event and --events apply to them.
func (s *speTrace) newEvents() {
	t := s.trace
	for kind, row := range speKindTable {
		if !t.options.SPEKinds.has(speKind(kind)) {
			continue
		}
		e := &perfEvent{name: "arm_spe/" + row.word + "/", opcode: row.opcode}
		if op, ok := t.options.Events.Opcode(e.name); ok {
			e.opcode = op
		}
		e.wanted = t.options.Events.Wanted(e.name)
		s.events[kind] = e
	}
}
