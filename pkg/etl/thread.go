package etl

// Thread is a thread event: start, end or rundown.
type Thread struct {
	PID, TID              uint32
	StackBase, StackLimit uint64 // in the kernel
	UserStackBase         uint64
	UserStackLimit        uint64
	StartAddress          uint64 // or the affinity, in newer systems
	Win32StartAddress     uint64
	TEB                   uint64
	SubProcessTag         uint32
	BasePriority          uint8
	PagePriority          uint8
	IOPriority            uint8
	Flags                 uint8
	WaitMode              uint8 // version 1 alone
	Name                  string
}

var threadLayout = layout[Thread]{"thread", []field[Thread]{
	u32Field("ThreadId", 0, 0, func(t *Thread) *uint32 { return &t.TID }),
	u32Field("ProcessId", 0, latest, func(t *Thread) *uint32 { return &t.PID }),
	u32Field("ThreadId", 1, latest, func(t *Thread) *uint32 { return &t.TID }),
	asOptional(pointerField("StackBase", 1, latest, func(t *Thread) *uint64 { return &t.StackBase })),
	pointerField("StackLimit", 1, latest, func(t *Thread) *uint64 { return &t.StackLimit }),
	pointerField("UserStackBase", 1, latest, func(t *Thread) *uint64 { return &t.UserStackBase }),
	pointerField("UserStackLimit", 1, latest, func(t *Thread) *uint64 { return &t.UserStackLimit }),
	pointerField("StartAddr", 1, latest, func(t *Thread) *uint64 { return &t.StartAddress }),
	pointerField("Win32StartAddr", 1, latest, func(t *Thread) *uint64 { return &t.Win32StartAddress }),
	asOptional(byteField("WaitMode", 1, 1, func(t *Thread) *uint8 { return &t.WaitMode })),
	pointerField("TebBase", 2, latest, func(t *Thread) *uint64 { return &t.TEB }),
	u32Field("SubProcessTag", 2, latest, func(t *Thread) *uint32 { return &t.SubProcessTag }),
	asOptional(byteField("BasePriority", 3, latest, func(t *Thread) *uint8 { return &t.BasePriority })),
	byteField("PagePriority", 3, latest, func(t *Thread) *uint8 { return &t.PagePriority }),
	byteField("IoPriority", 3, latest, func(t *Thread) *uint8 { return &t.IOPriority }),
	byteField("Flags", 3, latest, func(t *Thread) *uint8 { return &t.Flags }),
	asOptional(wideField("ThreadName", 3, latest, func(t *Thread) *string { return &t.Name })),
}}

// DecodeThread reads a record of ClassThread.
func DecodeThread(r *Record, t *Thread) error {
	_, err := decodeEither(&threadLayout, r, ClassThread, t)
	return err
}

// AppendThread appends the payload of a thread event.
func AppendThread(b []byte, t *Thread, version uint16, pointerSize int) []byte {
	return threadLayout.append(b, t, version, pointerSize)
}
