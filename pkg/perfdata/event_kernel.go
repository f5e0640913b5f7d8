package perfdata

import "bytes"

// Lost says that records of any kind did not fit into a ring buffer.
type Lost struct {
	ID    uint64 // of the event whose buffer it was
	Count uint64
}

func (m *Lost) accepts(t Type) bool { return t == TypeLost }

func (m *Lost) decode(c *eventCursor, r *Record) { *m = Lost{c.U64(), c.U64()} }

func (m *Lost) encode(e *encoder) (Type, uint16) {
	e.u64(m.ID)
	e.u64(m.Count)
	return TypeLost, 0
}

// LostSamples says that the hardware dropped samples, or with Filtered that a
// BPF filter did.
type LostSamples struct {
	Count    uint64
	Filtered bool
}

func (m *LostSamples) accepts(t Type) bool { return t == TypeLostSamples }

func (m *LostSamples) decode(c *eventCursor, r *Record) {
	*m = LostSamples{c.U64(), r.Misc&MiscLostSamplesBPF != 0}
}

func (m *LostSamples) encode(e *encoder) (Type, uint16) {
	e.u64(m.Count)
	return TypeLostSamples, flag(m.Filtered, MiscLostSamplesBPF)
}

// Throttle says that the kernel stopped (THROTTLE) or restarted (UNTHROTTLE)
// an event because of its sample rate.
type Throttle struct {
	End      bool
	Time     uint64
	ID       uint64
	StreamID uint64
}

func (m *Throttle) accepts(t Type) bool { return t == TypeThrottle || t == TypeUnthrottle }

func (m *Throttle) decode(c *eventCursor, r *Record) {
	*m = Throttle{r.Type == TypeUnthrottle, c.U64(), c.U64(), c.U64()}
}

func (m *Throttle) encode(e *encoder) (Type, uint16) {
	e.u64(m.Time)
	e.u64(m.ID)
	e.u64(m.StreamID)
	if m.End {
		return TypeUnthrottle, 0
	}
	return TypeThrottle, 0
}

// Read has the counter values of a task at its end, laid out by
// Attr.ReadFormat of its event.
type Read struct {
	PID, TID int32
	Values   []uint64
}

func (m *Read) accepts(t Type) bool { return t == TypeRead }

func (m *Read) decode(c *eventCursor, r *Record) {
	*m = Read{}
	m.PID, m.TID = c.pids()
	m.Values = c.u64s(uint64(c.Len() / 8))
}

func (m *Read) encode(e *encoder) (Type, uint16) {
	e.pids(m.PID, m.TID)
	e.u64s(m.Values)
	return TypeRead, 0
}

// Aux says that new trace data are in the AUX area of an event.
type Aux struct {
	Offset, Size uint64
	Flags        uint64 // AuxTruncated and others
}

// Flags of Aux. Bits 8 to 15 are a format number of the PMU.
const (
	AuxTruncated uint64 = 1 << iota // data were lost before these
	AuxOverwrite                    // a snapshot from a circular buffer
	AuxPartial                      // the trace has gaps
	AuxCollision                    // records were lost because they came too fast
)

func (m *Aux) accepts(t Type) bool { return t == TypeAux }

func (m *Aux) decode(c *eventCursor, r *Record) { *m = Aux{c.U64(), c.U64(), c.U64()} }

func (m *Aux) encode(e *encoder) (Type, uint16) {
	e.u64(m.Offset)
	e.u64(m.Size)
	e.u64(m.Flags)
	return TypeAux, 0
}

// AuxOutputHWID maps a hardware id in a trace to the event of the trailer.
type AuxOutputHWID struct{ HWID uint64 }

func (m *AuxOutputHWID) accepts(t Type) bool { return t == TypeAuxOutputHWID }

func (m *AuxOutputHWID) decode(c *eventCursor, r *Record) { m.HWID = c.U64() }

func (m *AuxOutputHWID) encode(e *encoder) (Type, uint16) {
	e.u64(m.HWID)
	return TypeAuxOutputHWID, 0
}

// Ksymbol is code that the kernel made or dropped at run time.
type Ksymbol struct {
	Addr       uint64
	Len        uint32
	Kind       uint16 // 1 BPF program, 2 out-of-line code
	Unregister bool   // it is gone
	Name       string
}

func (m *Ksymbol) accepts(t Type) bool { return t == TypeKsymbol }

func (m *Ksymbol) decode(c *eventCursor, r *Record) {
	*m = Ksymbol{c.U64(), c.U32(), c.U16(), c.U16()&1 != 0, c.name()}
}

func (m *Ksymbol) encode(e *encoder) (Type, uint16) {
	e.u64(m.Addr)
	e.u32(m.Len)
	e.u16(m.Kind)
	e.u16(flag(m.Unregister, 1))
	e.name(m.Name)
	return TypeKsymbol, 0
}

// BPFEvent is the load or unload of a BPF program.
type BPFEvent struct {
	Kind  uint16 // 1 load, 2 unload
	Flags uint16
	ID    uint32
	Tag   [8]byte
}

func (m *BPFEvent) accepts(t Type) bool { return t == TypeBPFEvent }

func (m *BPFEvent) decode(c *eventCursor, r *Record) {
	*m = BPFEvent{Kind: c.U16(), Flags: c.U16(), ID: c.U32()}
	copy(m.Tag[:], c.Bytes(8))
}

func (m *BPFEvent) encode(e *encoder) (Type, uint16) {
	e.u16(m.Kind)
	e.u16(m.Flags)
	e.u32(m.ID)
	e.bytes(m.Tag[:])
	return TypeBPFEvent, 0
}

// TextPoke is a change of kernel code; an empty Old means new code, an empty
// New that it is gone.
type TextPoke struct {
	Addr     uint64
	Old, New []byte
}

func (m *TextPoke) accepts(t Type) bool { return t == TypeTextPoke }

func (m *TextPoke) decode(c *eventCursor, r *Record) {
	*m = TextPoke{Addr: c.U64()}
	oldLen, newLen := c.U16(), c.U16()
	m.Old = bytes.Clone(c.Bytes(uint64(oldLen)))
	m.New = bytes.Clone(c.Bytes(uint64(newLen)))
}

func (m *TextPoke) encode(e *encoder) (Type, uint16) {
	e.u64(m.Addr)
	e.u16(uint16(len(m.Old)))
	e.u16(uint16(len(m.New)))
	e.bytes(m.Old)
	e.bytes(m.New)
	e.pad(8)
	return TypeTextPoke, 0
}

// CallchainDeferred has the user part of the call chains that end in
// ContextUserDeferred and the same cookie.
type CallchainDeferred struct {
	Cookie uint64
	IPs    []uint64
}

func (m *CallchainDeferred) accepts(t Type) bool { return t == TypeCallchainDeferred }

func (m *CallchainDeferred) decode(c *eventCursor, r *Record) {
	*m = CallchainDeferred{Cookie: c.U64()}
	m.IPs = c.u64s(c.U64())
}

func (m *CallchainDeferred) encode(e *encoder) (Type, uint16) {
	e.u64(m.Cookie)
	e.u64(uint64(len(m.IPs)))
	e.u64s(m.IPs)
	return TypeCallchainDeferred, 0
}
