package ingest

import (
	"github.com/spgo-tools/spgo/pkg/spe"
)

// SPE is what the Arm SPE data of a recording hold, and how they were made.
type SPE struct {
	Bytes, Padding uint64            // of the AUX buffers
	Records        uint64            // one that stands in two AUXTRACE records counts in both
	Joined         uint64            // records that do
	Damaged        map[string]uint64 // records that were left out, by what is wrong
	Unknown        uint64            // packets of unknown kinds
	Again          uint64            // bytes that snapshots had twice
	Speculative    uint64            // records of operations that did not retire
	User, Kernel   uint64            // records by where the code is
	Other          uint64            // of EL3, secure and realm code
	Timestamps     uint64            // records with a time stamp
	Contexts       uint64            // records with a context packet
	Attribution    map[string]uint64 // usable records by how their process was found
	Groups         []SPEGroup        // of all sound records
	Branches       SPEBranches
	Sources        map[string]uint64 // of memory operations
	Written        SPEWritten
	Configs        []SPEConfig
	Counts         map[string]uint64 // of PMU events about SPE
	CPUs           []string          // kinds of processors, where they are known
	MicroOps       bool              // some of them sample micro-operations; else that is not known
	NoInstructions bool              // records are of some operations only, and so no instruction samples
}

// SPEGroup is a group of records with an event, as perf shows them. A record
// can be in several.
type SPEGroup struct {
	Name    string
	Records uint64
	Latency Latency // from dispatch to completion
}

// Latency is a distribution in cycles. All are 0 where no record tells.
type Latency struct {
	Mean                    float64
	Median, P90, P99, Worst uint64
}

// SPEBranches counts records of branches that retired.
type SPEBranches struct {
	Taken, NotTaken, Mispredicted         uint64
	Conditional, Indirect, Calls, Returns uint64
	Exceptions                            uint64 // that raised one and so made no arc
	Previous                              uint64 // records that also tell the target of the branch before
	Ranges                                uint64 // of these, how many gave a straight range
}

// SPEWritten counts AUX records with flags.
type SPEWritten struct {
	Truncated, Partial, Collision, Snapshot uint64
}

// speGroupTable has perf's groups in its order, and the event that each of
// the first ones stands for.
var speGroupTable = [speGroups]struct {
	name   string
	events spe.Events
}{
	{"l1d-miss", spe.EventL1DRefill}, {"l1d-access", spe.EventL1DAccess}, {"llc-miss", spe.EventLLCMiss}, {"llc-access", spe.EventLLCAccess},
	{"tlb-miss", spe.EventTLBWalk}, {"tlb-access", spe.EventTLBAccess}, speGroupBranch: {name: "branch"}, {"remote-access", spe.EventRemote},
	speGroupMemory: {name: "memory"}, speGroupAll: {name: "instructions"},
}

// Groups that are of operations.
const (
	speGroupBranch = 6
	speGroupMemory = 8
	speGroupAll    = 9
	speGroups      = 10
)

// speGroupEvents are the events of all groups.
const speGroupEvents = spe.EventL1DRefill | spe.EventL1DAccess | spe.EventLLCMiss | spe.EventLLCAccess | spe.EventTLBWalk | spe.EventTLBAccess |
	spe.EventRemote

// speMemory says whether a record is in the group of memory operations: loads,
// stores, and vector operations of any kind.
func speMemory(r *spe.Record) bool {
	if r.Op.Memory() {
		return true
	}
	f := r.Op.Form()
	return r.Op.Class == spe.ClassOther && (f == spe.FormSIMD || f == spe.FormSVE || f == spe.FormSME)
}

// latencies adds up latencies. Those of 12-bit counters are kept exactly,
// longer ones in steps of 16 cycles.
type latencies struct {
	records, timed, sum uint64
	worst               uint16
	counts              [latencyExact + (1<<16-latencyExact)/latencyStep]uint64
}

const (
	latencyExact = 1 << 12
	latencyStep  = 16
)

func (l *latencies) add(r *spe.Record) {
	l.records++
	if !r.Has(spe.HasTotal) {
		return
	}
	l.timed++
	l.sum += uint64(r.Total)
	l.worst = max(l.worst, r.Total)
	i := int(r.Total)
	if i >= latencyExact {
		i = latencyExact + (i-latencyExact)/latencyStep
	}
	l.counts[i]++
}

func (l *latencies) merge(o *latencies) {
	l.records += o.records
	l.timed += o.timed
	l.sum += o.sum
	l.worst = max(l.worst, o.worst)
	for i, n := range o.counts {
		l.counts[i] += n
	}
}

// latency sums up; of a step its beginning counts.
func (l *latencies) latency() Latency {
	if l.timed == 0 {
		return Latency{}
	}
	result := Latency{Mean: float64(l.sum) / float64(l.timed), Worst: uint64(l.worst)}
	seen := uint64(0)
	for i, n := range l.counts {
		if n == 0 {
			continue
		}
		cycles := uint64(i)
		if i > latencyExact {
			cycles = latencyExact + uint64(i-latencyExact)*latencyStep
		}
		for _, p := range []struct {
			field *uint64
			parts uint64 // of 100
		}{{&result.Median, 50}, {&result.P90, 90}, {&result.P99, 99}} {
			if want := (l.timed*p.parts + 99) / 100; seen < want && seen+n >= want {
				*p.field = cycles
			}
		}
		seen += n
	}
	return result
}

// speStats is the account of one worker.
type speStats struct {
	bytes, padding       uint64
	records              uint64
	states               [spe.StateCount]uint64
	unknown              uint64
	speculative          uint64
	user, kernel, other  uint64
	timestamps, contexts uint64
	attribution          [attributions]uint64
	groups               [speGroups]latencies
	branches             SPEBranches
	sources              [spe.SourceCount]uint64
}

func (s *speStats) merge(o *speStats) {
	for _, c := range []struct{ to, from *uint64 }{
		{&s.bytes, &o.bytes}, {&s.padding, &o.padding}, {&s.records, &o.records}, {&s.unknown, &o.unknown},
		{&s.speculative, &o.speculative}, {&s.user, &o.user}, {&s.kernel, &o.kernel}, {&s.other, &o.other},
		{&s.timestamps, &o.timestamps}, {&s.contexts, &o.contexts},
		{&s.branches.Taken, &o.branches.Taken}, {&s.branches.NotTaken, &o.branches.NotTaken},
		{&s.branches.Mispredicted, &o.branches.Mispredicted}, {&s.branches.Conditional, &o.branches.Conditional},
		{&s.branches.Indirect, &o.branches.Indirect}, {&s.branches.Calls, &o.branches.Calls}, {&s.branches.Returns, &o.branches.Returns},
		{&s.branches.Exceptions, &o.branches.Exceptions}, {&s.branches.Previous, &o.branches.Previous},
		{&s.branches.Ranges, &o.branches.Ranges},
	} {
		*c.to += *c.from
	}
	for i, n := range o.states {
		s.states[i] += n
	}
	for i, n := range o.attribution {
		s.attribution[i] += n
	}
	for i, n := range o.sources {
		s.sources[i] += n
	}
	for i := range o.groups {
		s.groups[i].merge(&o.groups[i])
	}
}

// count adds a sound record to the groups.
func (s *speStats) count(r *spe.Record, sources *spe.Sources) {
	if r.Events&speGroupEvents != 0 {
		for i := range speGroupTable {
			if r.Events&speGroupTable[i].events != 0 {
				s.groups[i].add(r)
			}
		}
	}
	switch {
	case r.Op.Branch():
		s.groups[speGroupBranch].add(r)
	case speMemory(r):
		s.groups[speGroupMemory].add(r)
	}
	s.groups[speGroupAll].add(r)
	switch ordinary, kernel := speLevel(r); {
	case !ordinary:
		s.other++
	case kernel:
		s.kernel++
	default:
		s.user++
	}
	if r.Has(spe.HasTimestamp) {
		s.timestamps++
	}
	if r.Fields&(spe.HasContext1|spe.HasContext2) != 0 {
		s.contexts++
	}
	if r.Op.Memory() {
		s.sources[sources.Of(r)]++
	}
	if !r.Events.Has(spe.EventRetired) {
		s.speculative++
		return
	}
	if r.Op.Branch() {
		s.countBranch(r)
	}
	if r.Has(spe.HasPreviousTarget) {
		s.branches.Previous++
	}
}

func (s *speStats) countBranch(r *spe.Record) {
	b := &s.branches
	if speTaken(r) {
		b.Taken++
	} else {
		b.NotTaken++
	}
	if r.Events.Has(spe.EventMispredicted) {
		b.Mispredicted++
	}
	if r.Op.Conditional() {
		b.Conditional++
	}
	if r.Op.Indirect() {
		b.Indirect++
	}
	switch r.Op.Link() {
	case spe.LinkCall:
		b.Calls++
	case spe.LinkReturn:
		b.Returns++
	}
	if r.Events.Has(spe.EventException) {
		b.Exceptions++
	}
}

// speLevel says whether the code of a record is of the ordinary, non-secure
// world, and whether it is of the kernel.
func speLevel(r *spe.Record) (ordinary, kernel bool) {
	level := r.PC.EL()
	ordinary = r.PC.NonSecure() && !r.PC.NSE() && level < 3
	return ordinary, ordinary && level > 0
}

// speTaken says whether a branch went elsewhere than to the next instruction.
// Of a conditional branch to the next instruction it makes no difference.
func speTaken(r *spe.Record) bool {
	const instruction = 4 // bytes
	return !r.Events.Has(spe.EventNotTaken) && !(r.Op.Conditional() && r.Has(spe.HasTarget) && r.Target.Address() == r.PC.Address()+instruction)
}

// finish turns the account into facts.
func (s *speStats) finish(t *speTrace) *SPE {
	f := &SPE{
		Bytes: s.bytes, Padding: s.padding, Records: s.records, Damaged: map[string]uint64{}, Unknown: s.unknown, Speculative: s.speculative,
		User: s.user, Kernel: s.kernel, Other: s.other, Timestamps: s.timestamps, Contexts: s.contexts,
		Attribution: map[string]uint64{}, Branches: s.branches, Sources: map[string]uint64{}, Counts: t.counts,
		Written: SPEWritten{Truncated: t.flags[speTruncated], Partial: t.flags[spePartial], Collision: t.flags[speCollision], Snapshot: t.flags[speOverwrite]},
	}
	for state, n := range s.states {
		if n > 0 && spe.State(state) != spe.StateWhole {
			f.Damaged[spe.State(state).String()] = n
		}
	}
	for how, n := range s.attribution {
		if n > 0 {
			f.Attribution[attributionNames[how]] = n
		}
	}
	for source, n := range s.sources {
		if n > 0 {
			f.Sources[spe.Source(source).String()] = n
		}
	}
	for i, row := range speGroupTable {
		f.Groups = append(f.Groups, SPEGroup{row.name, s.groups[i].records, s.groups[i].latency()})
	}
	known := map[string]bool{}
	for _, q := range t.queues {
		f.Joined += q.joined
		f.Again += q.again
		f.NoInstructions = f.NoInstructions || !q.instructions
		if name := q.midr.Name(); name != "" {
			known[name] = true
		}
		f.MicroOps = f.MicroOps || q.midr.SamplesMicroOps()
	}
	f.Records += f.Joined
	f.CPUs = sortedNames(known)
	for _, c := range t.configs {
		f.Configs = append(f.Configs, c.describe(t))
	}
	return f
}
