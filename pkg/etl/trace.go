package etl

import (
	"iter"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Trace describes a recording as xperf makes it for a profile: the processes
// and images of a machine, and the samples of a session. WriteTrace turns it
// into a file. All times are ticks from the start of the session.
type Trace struct {
	PointerSize int // 4 or 8; 0 means 8
	Processors  int // 0 means 1
	BufferSize  int // of a buffer, in bytes; 0 means 64 KiB
	// Compress packs the buffers.
	Compress bool
	// Merged adds what xperf's merge adds: ImageID records and the mapping of
	// volumes.
	Merged bool
	// EndRundown tells of the processes and images that are there from the
	// start by a rundown at the end of the session instead of the start.
	EndRundown bool
	// StackKeys writes stacks as keys that are defined at the end, instead of
	// whole. The distinct stacks are kept in memory.
	StackKeys bool

	Arch      Arch  // of the processors; without a CPU configuration if zero
	Frequency int64 // ticks a second; 0 means 10,000,000
	Start     int64 // FILETIME; 0 means a day in 2024
	Duration  int64 // must not be less than the times below
	FirstTick int64 // time stamp of the log file header; 0 means 5,000,000

	// EventsLost and BuffersLost go to the log file header.
	EventsLost, BuffersLost uint32

	Sources   []Interval // profile sources
	Volumes   []Volume   // of a merged file
	Kernel    []TraceImage
	Processes []TraceProcess
	// Events are other events, in order of time.
	Events []TraceEvent
	// Samples yields the samples in order of time. Those of one processor
	// have to be at least SampleSpacing ticks apart.
	Samples iter.Seq[TraceSample]
}

// SampleSpacing is how many ticks a sample takes with the records that belong
// to it: the last branch record comes one tick after the sample, the kernel
// part of the stack two and the user part three.
const SampleSpacing = 4

// TraceProcess is a process of a Trace.
type TraceProcess struct {
	PID, ParentPID uint32
	Name           string // file name
	CommandLine    string
	Threads        []uint32
	Images         []TraceImage
	// Start and End are when it started and ended. 0 means that it ran
	// already, or still runs.
	Start, End int64
}

// TraceImage is an image of a process or of the kernel.
type TraceImage struct {
	Path          string // NT path
	Base, Size    uint64
	Checksum      uint32
	TimeDateStamp uint32
	// PDB identifies its symbols in a merged file; an empty name means an
	// image without debug data.
	PDB     string
	PDBGUID binfmt.GUID
	PDBAge  uint32
	// Load and Unload are as Start and End of a process; 0 means with the
	// process.
	Load, Unload int64
}

// TraceSample is a sample with what was recorded along with it.
type TraceSample struct {
	Time      int64
	Processor int
	PID, TID  uint32
	IP        uint64
	Source    uint16 // SourceTimer makes a sampled profile event, another a PMC sample
	Branches  []Branch
	LBROption uint32
	// Stack is the whole call stack, innermost first, the sample's own
	// address included; nil if none was recorded. It is split where it passes
	// from kernel to user addresses.
	Stack []uint64
}

// TraceEvent is a record at a time, such as one of the CLR.
type TraceEvent struct {
	Time      int64
	Processor int
	Record    Record // its Time is not looked at
}

// withDefaults fills in the fields that are zero.
func (t Trace) withDefaults() Trace {
	set := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	if t.PointerSize == 0 {
		t.PointerSize = 8
	}
	if t.Processors == 0 {
		t.Processors = 1
	}
	if t.BufferSize == 0 {
		t.BufferSize = 64 << 10
	}
	set(&t.Frequency, 10_000_000)
	set(&t.Start, 133_500_000_000_000_000)
	set(&t.FirstTick, 5_000_000)
	return t
}

// header is the log file header of the trace.
func (t *Trace) header() LogFile {
	h := LogFile{
		BufferSize: uint32(t.BufferSize), Version: [4]uint8{10, 0, 1, 5}, Build: 19045, Processors: uint32(t.Processors),
		TimerResolution: 156_250, Mode: ModeSequential, StartBuffers: 1, PointerSize: uint32(t.PointerSize),
		EventsLost: t.EventsLost, BuffersLost: t.BuffersLost, CPUMHz: 3000,
		BootTime: t.Start - 600_000_000, PerfFreq: t.Frequency, StartTime: t.Start, Clock: ClockQPC,
		Session: "NT Kernel Logger", FileName: `C:\kernel.etl`, Time: t.FirstTick,
	}
	h.EndTime = h.FileTime(t.FirstTick + t.Duration)
	if t.Merged {
		h.Mode |= ModeRelogged
		h.Session, h.FileName = "Relogger", "[multiple files]"
	}
	if t.Compress {
		h.Version[2] = 2
	}
	return h
}

// isKernel says whether an address is in the kernel's half.
func (t *Trace) isKernel(addr uint64) bool {
	if t.PointerSize == 4 {
		return addr >= 1<<31
	}
	return addr>>63 != 0
}
