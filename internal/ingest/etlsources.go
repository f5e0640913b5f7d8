package ingest

import (
	"fmt"
	"sort"

	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// profileSource is what workers must know of a source of samples.
type profileSource struct {
	name      string
	opcode    spt.Opcode // 0: none
	wanted    bool
	intervals []interval // in the order of time
}

// interval is how often a source samples from a time on: 100 ns for the timer,
// events for a counter.
type interval struct{ from, length uint64 }

// sourceNames are the names of the sources whose numbers mean the same on all
// machines, for recordings that do not name them.
var sourceNames = map[uint16]string{
	etl.SourceTimer: "Timer", etl.SourceTotalIssues: "TotalIssues", etl.SourceBranchInstructions: "BranchInstructions",
	etl.SourceDataCacheMisses: "DcacheMisses", etl.SourceInstrCacheMisses: "IcacheMisses", etl.SourceCacheMisses: "CacheMisses",
	etl.SourceBranchMispredicts: "BranchMispredictions", etl.SourceTotalCycles: "TotalCycles",
}

// profileSources are the sources of a recording, by number.
type profileSources struct {
	options  *Options
	byNumber map[uint16]*profileSource
	// configured are the numbers that the recording names, in their order.
	configured []uint16
}

// sourceSet is a set of numbers of sources.
type sourceSet [1 << 16 / 64]uint64

func (s *sourceSet) add(o *sourceSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

// newProfileSources makes the sources of the interval events, which are in the
// order of time, and of the samples.
func newProfileSources(o *Options, events []stamped[etl.Interval], sampled sourceSet) *profileSources {
	s := &profileSources{options: o, byNumber: map[uint16]*profileSource{}}
	for i := range events {
		e := &events[i].event
		if e.Source>>16 != 0 {
			continue // no sample can have it
		}
		n := uint16(e.Source)
		src := s.byNumber[n]
		if src == nil {
			src = &profileSource{name: sourceNames[n]}
			s.byNumber[n] = src
			s.configured = append(s.configured, n)
		}
		if e.Name != "" {
			src.name = e.Name
		}
		src.note(events[i].time, uint64(e.New))
	}
	sort.Slice(s.configured, func(i, j int) bool { return s.configured[i] < s.configured[j] })
	for _, n := range s.configured {
		s.finish(n, s.byNumber[n])
	}
	for n := range 1 << 16 {
		if n := uint16(n); sampled[n/64]>>(n%64)&1 != 0 && s.byNumber[n] == nil {
			s.byNumber[n] = &profileSource{name: sourceNames[n]}
			s.finish(n, s.byNumber[n])
		}
	}
	return s
}

// note takes an interval that holds from a time on, and before it as well if
// it is the first.
func (s *profileSource) note(time, length uint64) {
	if n := len(s.intervals); n == 0 || s.intervals[n-1].length != length {
		s.intervals = append(s.intervals, interval{time, length})
	}
}

// finish gives a source what its name says.
func (s *profileSources) finish(n uint16, src *profileSource) {
	if src.name == "" {
		src.name = fmt.Sprintf("source %d", n)
	}
	src.opcode, _ = s.options.Events.Opcode(src.name)
	src.wanted = s.options.Events.Wanted(src.name)
}

// period is the interval of the source at a time; 0 if it is not known.
func (s *profileSource) period(time uint64) uint64 {
	if len(s.intervals) == 0 {
		return 0
	}
	next := 1 + sort.Search(len(s.intervals)-1, func(i int) bool { return s.intervals[i+1].from > time })
	return s.intervals[next-1].length
}
