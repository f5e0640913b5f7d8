package sample

import "github.com/spgo-tools/spgo/pkg/binfmt"

// Reason says why a sample, branch or frame was not used.
type Reason uint8

// Reasons. Used is the absence of one.
const (
	Used           Reason = iota
	Unmapped              // no map of the process covers the address
	UnknownProcess        // the process of the sample is not known
	JIT                   // code made at run time: anonymous executable memory
	Vsyscall              // the kernel's vsyscall page
	KernelUnmapped        // a kernel address outside every known module
	KernelHidden          // the kernel's load address was hidden (kptr_restrict)
	KernelLeftOut         // kernel code, and /nokernel was given
	Guest                 // code of a virtual machine's guest
	Hypervisor            // code of the hypervisor
	Idle                  // the idle thread
	OtherProcess          // not of the processes asked for
	OtherBinary           // not of the binaries asked for
	OtherTime             // outside the time asked for
	OtherEvent            // not of the events asked for
	UnknownEvent          // an event that has no opcode
	Malformed             // the record does not follow its layout
	FarAddress            // an RVA of 4 GiB or more has no place in an SPT
	NoAddress             // the sample has no address
	ZeroEntry             // a branch entry of zeros
	WrongPath             // a branch that ran only speculatively
	NotTaken              // a branch that was not taken
	CrossBinary           // a branch from one binary into another
	SingleFrame           // a frame without a caller in the same binary
	Speculative           // an operation that did not retire
	Exception             // a branch that raised an exception
	Thinned               // left out because only one in so many was asked for
	reasonCount
)

var reasonNames = [reasonCount]string{
	"used", "unmapped", "unknown_process", "jit", "vsyscall", "kernel_unmapped", "kernel_hidden", "kernel",
	"guest", "hypervisor", "idle", "process_filter", "binary_filter", "time_filter", "event_filter",
	"unknown_event", "malformed", "rva_over_4gib", "no_address", "zero_entry", "wrong_path", "not_taken",
	"cross_binary", "single_frame", "speculative", "exception", "spe_period",
}

// String is the name in summaries and JSON.
func (r Reason) String() string { return reasonNames[r] }

// Account counts items by what became of them.
type Account [reasonCount]uint64

// Add counts n items.
func (a *Account) Add(r Reason, n uint64) { a[r] = binfmt.SatAdd(a[r], n) }

// Merge adds another account.
func (a *Account) Merge(b *Account) {
	for r, n := range b {
		a.Add(Reason(r), n)
	}
}

// Used is the number of items used.
func (a *Account) Used() uint64 { return a[Used] }

// Total is the number of items seen.
func (a *Account) Total() uint64 {
	var t uint64
	for _, n := range a {
		t = binfmt.SatAdd(t, n)
	}
	return t
}

// Dropped lists the counts that are not zero, by reason.
func (a *Account) Dropped() map[string]uint64 {
	m := map[string]uint64{}
	for r := Used + 1; r < reasonCount; r++ {
		if a[r] != 0 {
			m[r.String()] = a[r]
		}
	}
	return m
}

// Kind groups samples as the summary of Microsoft's tool does.
type Kind uint8

// Kinds of samples.
const (
	LBR   Kind = iota // a branch stack
	PMC               // an address at a counter's overflow
	Stack             // a call stack
	Timer             // an address at a timer's tick
	KindCount
)

// Stats is the account of one trace. One sample may be of several kinds.
type Stats struct {
	Samples  Account            // every sample record
	Kinds    [KindCount]Account // the samples that have data of the kind
	Branches Account            // every entry of a branch stack
	Frames   Account            // every frame of a call stack

	SPERecords  Account // every record of Arm SPE, none of which is a sample record
	SPEBranches Account // those of branches

	Events    map[string]*EventStats // by name of the event
	Processes map[string]uint64      // samples by process name, before any filter
	Hits      map[int32]uint64       // samples by registered binary, before any filter
}

// EventStats is the account of one event.
type EventStats struct {
	Opcode    byte // 0: none
	Samples   uint64
	MinPeriod uint64
	MaxPeriod uint64
}

// Period notes the period of one sample.
func (e *EventStats) Period(p uint64) {
	if p == 0 {
		return
	}
	if e.MinPeriod == 0 || p < e.MinPeriod {
		e.MinPeriod = p
	}
	e.MaxPeriod = max(e.MaxPeriod, p)
}

// Merge adds the account of another part of the same event.
func (e *EventStats) Merge(o *EventStats) {
	e.Opcode = max(e.Opcode, o.Opcode)
	e.Samples += o.Samples
	e.Period(o.MinPeriod)
	e.Period(o.MaxPeriod)
}

// NewStats returns an empty account.
func NewStats() *Stats {
	return &Stats{Events: map[string]*EventStats{}, Processes: map[string]uint64{}, Hits: map[int32]uint64{}}
}

// Event returns the account of an event, and makes it if there is none.
func (s *Stats) Event(name string) *EventStats {
	e := s.Events[name]
	if e == nil {
		e = &EventStats{}
		s.Events[name] = e
	}
	return e
}

// Merge adds the account of another part.
func (s *Stats) Merge(o *Stats) {
	s.Samples.Merge(&o.Samples)
	s.Branches.Merge(&o.Branches)
	s.Frames.Merge(&o.Frames)
	s.SPERecords.Merge(&o.SPERecords)
	s.SPEBranches.Merge(&o.SPEBranches)
	for k := range s.Kinds {
		s.Kinds[k].Merge(&o.Kinds[k])
	}
	for name, e := range o.Events {
		s.Event(name).Merge(e)
	}
	for name, n := range o.Processes {
		s.Processes[name] += n
	}
	for b, n := range o.Hits {
		s.Hits[b] += n
	}
}
