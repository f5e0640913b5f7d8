package perfdata

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Attr is one event of a recording: struct perf_event_attr with the ids and
// the name that belong to it.
type Attr struct {
	Type             uint32 // 0 hardware, 1 software, 2 tracepoint, 3 cache, 4 raw, 5 breakpoint, else see Features.PMUs
	Size             uint32 // bytes of the structure that the recorder filled in
	Config           uint64 // the event within its type
	SamplePeriod     uint64 // events between samples, or samples per second with FlagFreq
	SampleType       SampleType
	ReadFormat       uint64
	Flags            AttrFlags
	Wakeup           uint32
	BPType           uint32
	Config1          uint64
	Config2          uint64
	BranchSampleType uint64 // what branch stacks hold, see BranchCallStack
	RegsUser         uint64 // mask of the user registers in a sample
	StackUser        uint32 // bytes of user stack asked for
	ClockID          int32  // clock of all times, with FlagUseClockID
	RegsIntr         uint64 // mask of the registers at the interrupt
	AuxWatermark     uint32
	MaxStack         uint16
	AuxSampleSize    uint32
	AuxAction        uint32
	SigData          uint64
	Config3          uint64
	Config4          uint64

	IDs  []uint64 // one per CPU or task that the event was opened for; empty in old files with one event
	Name string   // such as "cycles:u"; empty if the recording does not tell
}

// AttrFlags are the flag bits of an attribute, as on little-endian machines.
type AttrFlags uint64

// Flags that matter to readers of a recording.
const (
	FlagInherit        AttrFlags = 1 << 1
	FlagExcludeUser    AttrFlags = 1 << 4
	FlagExcludeKernel  AttrFlags = 1 << 5
	FlagMmap           AttrFlags = 1 << 8
	FlagComm           AttrFlags = 1 << 9
	FlagFreq           AttrFlags = 1 << 10 // SamplePeriod is a frequency
	FlagTask           AttrFlags = 1 << 13
	FlagMmapData       AttrFlags = 1 << 17
	FlagSampleIDAll    AttrFlags = 1 << 18 // kernel records end with the sample id trailer
	FlagMmap2          AttrFlags = 1 << 23
	FlagCommExec       AttrFlags = 1 << 24
	FlagUseClockID     AttrFlags = 1 << 25
	FlagContextSwitch  AttrFlags = 1 << 26
	FlagBuildID        AttrFlags = 1 << 34
	FlagDeferCallchain AttrFlags = 1 << 38
)

const (
	attrSizeV0  = 64  // what size 0 means
	attrSizeMax = 144 // end of the fields known here
)

// attrSizes are the sizes that kernels have published, ascending, each with
// the fields that it added.
var attrSizes = []struct {
	size uint32
	used func(a *Attr) bool
}{
	{72, func(a *Attr) bool { return a.Config2 != 0 }},
	{80, func(a *Attr) bool { return a.BranchSampleType != 0 }},
	{96, func(a *Attr) bool { return a.RegsUser != 0 || a.StackUser != 0 || a.ClockID != 0 }},
	{104, func(a *Attr) bool { return a.RegsIntr != 0 }},
	{112, func(a *Attr) bool { return a.AuxWatermark != 0 || a.MaxStack != 0 }},
	{120, func(a *Attr) bool { return a.AuxSampleSize != 0 || a.AuxAction != 0 }},
	{128, func(a *Attr) bool { return a.SigData != 0 }},
	{136, func(a *Attr) bool { return a.Config3 != 0 }},
	{attrSizeMax, func(a *Attr) bool { return a.Config4 != 0 }},
}

// wireSize is the size to write: Size if that holds all fields in use, else
// the smallest published one that does. What a larger Size adds is zero.
func (a *Attr) wireSize() uint32 {
	n := max(a.Size, attrSizeV0)
	for _, v := range attrSizes {
		if v.used(a) {
			n = max(n, v.size)
		}
	}
	return min(n, 4096) &^ 7
}

// attrSizeIn returns how much of b, which begins with an attribute, its own size
// field says belongs to it.
func attrSizeIn(b []byte, bigEndian bool) int {
	if len(b) < 8 {
		return 0
	}
	n := orderOf(bigEndian).Uint32(b[4:])
	if n == 0 {
		n = attrSizeV0
	}
	return int(min(uint64(n), uint64(len(b))))
}

// decodeAttr reads an attribute from b. A shorter or longer structure than
// the known ones is fine: missing fields are zero, unknown ones are ignored.
func decodeAttr(b []byte, bigEndian bool) *Attr {
	var full [attrSizeMax]byte
	copy(full[:], b[:attrSizeIn(b, bigEndian)])
	c := binfmt.NewCursor(full[:], "attribute", 0).BigEndian(bigEndian)
	a := &Attr{Type: c.U32(), Size: c.U32(), Config: c.U64(), SamplePeriod: c.U64()}
	a.SampleType = SampleType(c.U64())
	a.ReadFormat = c.U64()
	a.Flags = decodeFlags(c.Bytes(8), bigEndian)
	a.Wakeup, a.BPType = c.U32(), c.U32()
	a.Config1, a.Config2, a.BranchSampleType = c.U64(), c.U64(), c.U64()
	a.RegsUser, a.StackUser, a.ClockID, a.RegsIntr = c.U64(), c.U32(), int32(c.U32()), c.U64()
	a.AuxWatermark, a.MaxStack = c.U32(), c.U16()
	c.Skip(2)
	a.AuxSampleSize, a.AuxAction = c.U32(), c.U32()
	a.SigData, a.Config3, a.Config4 = c.U64(), c.U64(), c.U64()
	return a
}

// attr appends the first size bytes of a.
func (e *encoder) attr(a *Attr, size uint32) {
	start := len(e.b)
	e.u32(a.Type)
	e.u32(size)
	e.u64(a.Config)
	e.u64(a.SamplePeriod)
	e.u64(uint64(a.SampleType))
	e.u64(a.ReadFormat)
	flags := binary.LittleEndian.AppendUint64(nil, uint64(a.Flags))
	if e.byteOrder == binary.BigEndian {
		reverseBits(flags)
	}
	e.bytes(flags)
	e.u32(a.Wakeup)
	e.u32(a.BPType)
	e.u64(a.Config1)
	e.u64(a.Config2)
	e.u64(a.BranchSampleType)
	e.u64(a.RegsUser)
	e.u32(a.StackUser)
	e.u32(uint32(a.ClockID))
	e.u64(a.RegsIntr)
	e.u32(a.AuxWatermark)
	e.u16(a.MaxStack)
	e.u16(0)
	e.u32(a.AuxSampleSize)
	e.u32(a.AuxAction)
	e.u64(a.SigData)
	e.u64(a.Config3)
	e.u64(a.Config4)
	e.zeros(max(0, int(size)-attrSizeMax))
	e.b = e.b[:start+int(size)]
}

// decodeFlags reads the flag word. It is made of C bit-fields, which a
// big-endian compiler lays out from the top bit of each byte down.
func decodeFlags(b []byte, bigEndian bool) AttrFlags {
	w := [8]byte(b)
	if bigEndian {
		reverseBits(w[:])
	}
	return AttrFlags(binary.LittleEndian.Uint64(w[:]))
}

func reverseBits(b []byte) {
	for i := range b {
		b[i] = bits.Reverse8(b[i])
	}
}

// period is the weight of a sample that does not tell its own.
func (a *Attr) period() uint64 {
	if a.Flags&FlagFreq != 0 || a.SamplePeriod == 0 {
		return 1
	}
	return a.SamplePeriod
}

var (
	hardwareEvents = []string{"cycles", "instructions", "cache-references", "cache-misses", "branches",
		"branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	softwareEvents = []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
		"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output",
		"cgroup-switches"}
	attrTypeNames = []string{"hardware", "software", "tracepoint", "cache", "raw", "breakpoint"}
)

// String returns the name of the event: the recorded one, else the usual name
// of a generic event, else type and config in numbers.
func (a *Attr) String() string {
	low := a.Config & 0xffffffff // above it stands the PMU type on hybrid CPUs
	switch {
	case a.Name != "":
		return a.Name
	case a.Type == 0 && low < uint64(len(hardwareEvents)):
		return hardwareEvents[low]
	case a.Type == 1 && low < uint64(len(softwareEvents)):
		return softwareEvents[low]
	case a.Type < uint32(len(attrTypeNames)):
		return fmt.Sprintf("%s:%#x", attrTypeNames[a.Type], a.Config)
	}
	return fmt.Sprintf("type%d:%#x", a.Type, a.Config)
}

// addAttr adds an attribute and its ids. The first attribute to claim an id
// keeps it.
func (f *File) addAttr(a *Attr) {
	if rest := a.SampleType &^ SampleAll; rest != 0 {
		f.warn(fmt.Sprintf("attribute %d: sample type", len(f.Attrs)), -1, binfmt.ErrUnsupported, "known fields", rest.String())
	}
	f.Attrs = append(f.Attrs, a)
	f.addIDs(a, a.IDs)
}

func (f *File) addIDs(a *Attr, ids []uint64) {
	for _, id := range ids {
		if _, ok := f.ids[id]; !ok {
			f.ids[id] = a
		}
	}
}
