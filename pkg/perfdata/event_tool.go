package perfdata

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// EventUpdate gives an event of a pipe its name, unit, scale or CPUs.
type EventUpdate struct {
	What UpdateKind
	ID   uint64 // of the event
	Data []byte
}

// UpdateKind is what an EventUpdate changes.
type UpdateKind uint64

// Kinds of updates; the data of the first and the third are text.
const (
	UpdateUnit UpdateKind = iota
	UpdateScale
	UpdateName
	UpdateCPUs
)

func (m *EventUpdate) accepts(t Type) bool { return t == TypeEventUpdate }

func (m *EventUpdate) decode(c *eventCursor, r *Record) {
	*m = EventUpdate{UpdateKind(c.U64()), c.U64(), bytes.Clone(c.rest())}
}

func (m *EventUpdate) encode(e *encoder) (Type, uint16) {
	e.u64(uint64(m.What))
	e.u64(m.ID)
	e.bytes(m.Data)
	e.pad(8)
	return TypeEventUpdate, 0
}

// IDIndex tells where each id of an event counts.
type IDIndex struct{ Entries []IDEntry }

// IDEntry is one id.
type IDEntry struct {
	ID, Index  uint64
	CPU, TID   int64 // -1 for all
	MachinePID int64 // of a virtual machine; 0 for the host
	VCPU       int64
}

func (m *IDIndex) accepts(t Type) bool { return t == TypeIDIndex }

func (m *IDIndex) decode(c *eventCursor, r *Record) {
	*m = IDIndex{}
	for range c.Count(c.U64(), 32, "ids") {
		m.Entries = append(m.Entries, IDEntry{ID: c.U64(), Index: c.U64(), CPU: int64(c.U64()), TID: int64(c.U64())})
	}
	if c.Len() < 16*len(m.Entries) {
		return // written by perf before 6.0
	}
	for i := range m.Entries {
		m.Entries[i].MachinePID, m.Entries[i].VCPU = int64(c.U64()), int64(c.U64())
	}
}

func (m *IDIndex) encode(e *encoder) (Type, uint16) {
	e.u64(uint64(len(m.Entries)))
	guests := false
	for _, x := range m.Entries {
		e.u64(x.ID)
		e.u64(x.Index)
		e.u64(uint64(x.CPU))
		e.u64(uint64(x.TID))
		guests = guests || x.MachinePID != 0
	}
	if guests {
		for _, x := range m.Entries {
			e.u64(uint64(x.MachinePID))
			e.u64(uint64(x.VCPU))
		}
	}
	return TypeIDIndex, 0
}

// AuxKind is the kind of a hardware trace.
type AuxKind uint32

// Kinds of hardware traces.
const (
	AuxIntelPT AuxKind = 1 + iota
	AuxIntelBTS
	AuxCoreSightETM
	AuxArmSPE
	AuxS390
	AuxHisiPTT
	AuxVPADTL
)

var auxKindNames = [...]string{AuxIntelPT: "Intel PT", AuxIntelBTS: "Intel BTS", AuxCoreSightETM: "CoreSight ETM", AuxArmSPE: "Arm SPE",
	AuxS390: "s390 CPU-MF", AuxHisiPTT: "HiSilicon PTT", AuxVPADTL: "PowerPC VPA DTL"}

// String is the name of the kind, or its number.
func (k AuxKind) String() string {
	if k < AuxKind(len(auxKindNames)) && auxKindNames[k] != "" {
		return auxKindNames[k]
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// AuxtraceInfo describes the hardware trace of the recording.
type AuxtraceInfo struct {
	Kind AuxKind
	Priv []uint64 // depends on Kind; for Arm SPE and others it begins with Attr.Type of the PMU
}

func (m *AuxtraceInfo) accepts(t Type) bool { return t == TypeAuxtraceInfo }

func (m *AuxtraceInfo) decode(c *eventCursor, r *Record) {
	*m = AuxtraceInfo{Kind: AuxKind(c.U32())}
	c.Skip(4)
	m.Priv = c.u64s(uint64(c.Len() / 8))
}

func (m *AuxtraceInfo) encode(e *encoder) (Type, uint16) {
	e.u32(uint32(m.Kind))
	e.u32(0)
	e.u64s(m.Priv)
	return TypeAuxtraceInfo, 0
}

// Auxtrace announces Size bytes of hardware trace, which are the record's
// Trail.
type Auxtrace struct {
	Size      uint64
	Offset    uint64 // of these bytes in the whole trace of the buffer
	Reference uint64
	Index     uint32 // of the buffer
	TID       int32  // -1 for a buffer of a CPU
	CPU       int32  // -1 for a buffer of a thread
}

func (m *Auxtrace) accepts(t Type) bool { return t == TypeAuxtrace }

func (m *Auxtrace) decode(c *eventCursor, r *Record) {
	*m = Auxtrace{c.U64(), c.U64(), c.U64(), c.U32(), int32(c.U32()), int32(c.U32())}
}

func (m *Auxtrace) encode(e *encoder) (Type, uint16) {
	e.u64(m.Size)
	e.u64(m.Offset)
	e.u64(m.Reference)
	e.u32(m.Index)
	e.u32(uint32(m.TID))
	e.u32(uint32(m.CPU))
	e.u32(0)
	return TypeAuxtrace, 0
}

// AuxtraceError is a place where perf found a trace broken.
type AuxtraceError struct {
	Kind, Code uint32
	CPU        int32
	PID, TID   int32
	IP         uint64
	Time       uint64
	Message    string
}

func (m *AuxtraceError) accepts(t Type) bool { return t == TypeAuxtraceError }

func (m *AuxtraceError) decode(c *eventCursor, r *Record) {
	*m = AuxtraceError{Kind: c.U32(), Code: c.U32(), CPU: int32(c.U32())}
	m.PID, m.TID = c.pids()
	format := c.U32()
	m.IP = c.U64()
	if format >= 1 {
		m.Time = c.U64()
	}
	m.Message = cString(c.Bytes(uint64(min(64, c.Len()))))
}

func (m *AuxtraceError) encode(e *encoder) (Type, uint16) {
	e.u32(m.Kind)
	e.u32(m.Code)
	e.u32(uint32(m.CPU))
	e.pids(m.PID, m.TID)
	e.u32(1)
	e.u64(m.IP)
	e.u64(m.Time)
	text := m.Message[:min(63, len(m.Message))]
	e.bytes([]byte(text))
	e.zeros(64 - len(text))
	return TypeAuxtraceError, 0
}

// ThreadMap lists the threads that were recorded.
type ThreadMap struct{ Threads []Thread }

// Thread is a thread and its name at the start.
type Thread struct {
	PID  int64
	Name string
}

const commSize = 16

func (m *ThreadMap) accepts(t Type) bool { return t == TypeThreadMap }

func (m *ThreadMap) decode(c *eventCursor, r *Record) {
	*m = ThreadMap{}
	for range c.Count(c.U64(), 8+commSize, "threads") {
		m.Threads = append(m.Threads, Thread{int64(c.U64()), cString(c.Bytes(commSize))})
	}
}

func (m *ThreadMap) encode(e *encoder) (Type, uint16) {
	e.u64(uint64(len(m.Threads)))
	for _, t := range m.Threads {
		name := t.Name[:min(commSize-1, len(t.Name))]
		e.u64(uint64(t.PID))
		e.bytes([]byte(name))
		e.zeros(commSize - len(name))
	}
	return TypeThreadMap, 0
}

// CPUMap lists the CPUs that were recorded.
type CPUMap struct {
	CPUs []uint32 // ascending as the recording has them
	Any  bool     // also threads that are bound to no CPU
}

func (m *CPUMap) accepts(t Type) bool { return t == TypeCPUMap }

func (m *CPUMap) decode(c *eventCursor, r *Record) {
	*m = CPUMap{}
	switch kind := c.U16(); kind {
	case 0: // list; 0xffff stands for "any"
		for range c.Count(uint64(c.U16()), 2, "CPUs") {
			if n := c.U16(); n == 1<<16-1 {
				m.Any = true
			} else {
				m.CPUs = append(m.CPUs, uint32(n))
			}
		}
	case 1: // bit mask of 32-bit or 64-bit words
		n, size := c.U16(), c.U16()
		load := c.U64
		switch size {
		case 4:
			load = func() uint64 { return uint64(c.U32()) }
		case 8:
			c.Skip(4)
		default:
			c.Fail(binfmt.ErrCorrupt, "words of 4 or 8 bytes", fmt.Sprint(size))
		}
		for i := range c.Count(uint64(n), int(size), "words of the mask") {
			for word := load(); word != 0; word &= word - 1 {
				m.CPUs = append(m.CPUs, uint32(i)*8*uint32(size)+uint32(bits.TrailingZeros64(word)))
			}
		}
	case 2: // range
		m.Any = c.U8() != 0
		c.Skip(1)
		for first, last := uint32(c.U16()), uint32(c.U16()); first <= last && c.Err() == nil; first++ {
			m.CPUs = append(m.CPUs, first)
		}
	default:
		c.Fail(binfmt.ErrUnsupported, "a list, mask or range", fmt.Sprintf("kind %d", kind))
	}
}

func (m *CPUMap) encode(e *encoder) (Type, uint16) {
	n := len(m.CPUs)
	e.u16(0)
	if m.Any {
		e.u16(uint16(n + 1))
		e.u16(1<<16 - 1)
	} else {
		e.u16(uint16(n))
	}
	for _, cpu := range m.CPUs {
		e.u16(uint16(cpu))
	}
	e.pad(8)
	return TypeCPUMap, 0
}

// TimeConv converts the time stamps of a hardware trace to times of the
// recording: time = Zero + (stamp * Mult >> Shift). Older recordings have
// these three only.
type TimeConv struct {
	Shift, Mult, Zero uint64
	Cycles, Mask      uint64
	CapZero, CapShort bool // Zero, and Cycles with Mask, are valid
}

func (m *TimeConv) accepts(t Type) bool { return t == TypeTimeConv }

func (m *TimeConv) decode(c *eventCursor, r *Record) {
	*m = TimeConv{Shift: c.U64(), Mult: c.U64(), Zero: c.U64(), CapZero: true}
	if c.Len() >= 18 {
		m.Cycles, m.Mask, m.CapZero, m.CapShort = c.U64(), c.U64(), c.U8() != 0, c.U8() != 0
	}
}

func (m *TimeConv) encode(e *encoder) (Type, uint16) {
	e.u64(m.Shift)
	e.u64(m.Mult)
	e.u64(m.Zero)
	e.u64(m.Cycles)
	e.u64(m.Mask)
	e.u8(uint8(flag(m.CapZero, 1)))
	e.u8(uint8(flag(m.CapShort, 1)))
	e.pad(8)
	return TypeTimeConv, 0
}
