package etl

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Interval tells how often a profile source samples: an event at the start
// and end of the session for each source that is used, and whenever one is
// changed.
type Interval struct {
	Source uint32 // number that PMCSample.Source gives; 0 is the timer
	New    uint32 // in 100 ns for the timer, in events for a counter
	Old    uint32
	Name   string // of the source, such as "Timer"; empty before version 3
}

// Numbers of profile sources that mean the same on all machines; larger ones
// belong to the machine and are named by Interval alone.
const (
	SourceTimer              = 0
	SourceTotalIssues        = 2
	SourceBranchInstructions = 6
	SourceDataCacheMisses    = 8
	SourceInstrCacheMisses   = 9
	SourceCacheMisses        = 10
	SourceBranchMispredicts  = 11
	SourceTotalCycles        = 19
)

// maxCounters is how many names a HookCounterNames event may have; a record
// carries at most 7 values.
const maxCounters = 64

var intervalLayout = layout[Interval]{"interval", []field[Interval]{
	u32Field("Source", 0, latest, func(i *Interval) *uint32 { return &i.Source }),
	u32Field("NewInterval", 0, latest, func(i *Interval) *uint32 { return &i.New }),
	u32Field("OldInterval", 0, latest, func(i *Interval) *uint32 { return &i.Old }),
	asOptional(wideField("SourceName", 3, latest, func(i *Interval) *string { return &i.Name })),
}}

// DecodeInterval reads a record of ClassInterval other than HookCounterNames.
func DecodeInterval(r *Record, i *Interval) error {
	if r.Hook == HookCounterNames {
		return checkClass(r, 0, intervalLayout.name)
	}
	if err := checkClass(r, ClassInterval, intervalLayout.name); err != nil {
		return err
	}
	_, err := intervalLayout.decode(r, int(r.PointerSize), i)
	return err
}

// AppendInterval appends the payload of an interval event.
func AppendInterval(b []byte, i *Interval, version uint16, pointerSize int) []byte {
	return intervalLayout.append(b, i, version, pointerSize)
}

// DecodeCounterNames reads a record of HookCounterNames: the counters whose
// values Record.Counters gives, in that order. They are no sampling sources.
func DecodeCounterNames(r *Record) ([]string, error) {
	const part = "counter names"
	if r.Hook != HookCounterNames {
		return nil, checkClass(r, 0, part)
	}
	c := binfmt.NewCursor(r.Payload, part, int64(r.Offset+r.headerSize()))
	n := c.U32()
	if n > maxCounters {
		c.FailAt(c.Offset()-4, binfmt.ErrCorrupt, fmt.Sprintf("at most %d names", maxCounters), fmt.Sprint(n))
	}
	var names []string
	for range c.Count(uint64(n), 2, "names") {
		names = append(names, c.WString())
	}
	if c.Err() != nil {
		return nil, r.cursorError(c)
	}
	return names, nil
}

// AppendCounterNames appends the payload of a HookCounterNames event.
func AppendCounterNames(b []byte, names []string) []byte {
	b = binfmt.AppendU32(b, uint32(len(names)))
	for _, s := range names {
		b = binfmt.AppendWString(b, s)
	}
	return b
}
