package collect

import (
	"time"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Options say what to sample and how.
type Options struct {
	// Command is run and sampled with all its children. Else PIDs are
	// sampled, with the children that they start, or if there are none either
	// all processes.
	Command []string
	PIDs    []int

	Event      string // name of an event, or "" for the best one that works
	Period     uint64 // events between samples; 0 for the event's own
	Frequency  uint64 // samples per second instead of a period, if not 0
	Branches   Want   // branch stacks
	CallChains Want

	Duration  time.Duration // 0: until the program ends or ctx is done
	RingPages int           // of 4 KiB per processor, a power of two; 0 for the default
}

// Want says whether something should be recorded.
type Want uint8

// Wishes: Auto takes what works.
const (
	Auto Want = iota
	Yes
	No
)

// Sink takes what is sampled. Its methods are called by one goroutine.
type Sink interface {
	// Start is called once, before any record, with the event sampled.
	Start(a *perfdata.Attr) error
	// Record takes one record of the kernel. Body does not live on.
	Record(t perfdata.Type, misc uint16, body []byte) error
	// Event takes a record that describes what was there before the start.
	Event(ev perfdata.Event) error
	// Round says that all rings were read up to a common moment.
	Round() error
}

// Result is what was collected.
type Result struct {
	Event       string `json:"event"`
	Period      uint64 `json:"period,omitempty"`    // events between samples
	Frequency   uint64 `json:"frequency,omitempty"` // samples per second
	Branches    bool   `json:"branch_stacks"`
	CallChains  bool   `json:"call_chains"`
	CPUs        int    `json:"cpus"`
	Threads     int    `json:"threads"` // attached to at the start; 0 for a command or the whole system
	Samples     uint64 `json:"samples"`
	Lost        uint64 `json:"lost"`      // records that the kernel had no room for
	Throttled   uint64 `json:"throttled"` // times that the kernel paused an event
	Bytes       uint64 `json:"bytes"`     // of all records
	Command     string `json:"command,omitempty"`
	ExitStatus  int    `json:"exit_status"` // of the command; 128 + signal if it was killed
	Interrupted bool   `json:"interrupted"` // ended by a signal to the collector
	TimeOver    bool   `json:"time_over"`   // ended by the duration
	Running     bool   `json:"running"`     // the command has not ended though it was asked to

	// Tried says why each better event is not the one sampled.
	Tried []Attempt `json:"tried"`
}

// Attempt is an event that could not be opened.
type Attempt struct {
	Event  string `json:"event"`
	Reason string `json:"reason"`
}
