package perfdata

// Sample is one decoded sample. Fields that the event does not record, or
// that the caller did not ask for, are zero; Fields tells which are set.
//
// The slices are reused or alias the decoded record: they are valid until the
// next sample is decoded.
type Sample struct {
	Fields SampleType // fields of the record that are set here
	Attr   *Attr      // the event
	Misc   uint16
	Offset int64 // where the record is, as Record.Offset
	// Segment is the data file, as Record.Segment.
	Segment int

	IP       uint64
	PID, TID int32 // -1 if the task is gone, 0 for the idle task or one of another PID namespace
	Time     uint64
	Addr     uint64 // data address
	ID       uint64 // of Attr.IDs
	StreamID uint64
	CPU      uint32
	Period   uint64 // events that the sample stands for; the attribute's period or 1 if not recorded

	// CallChain has the call stack, innermost address first, with markers
	// between its parts; see ContextMarker.
	CallChain []uint64
	Raw       []byte // tracepoint fields, or data of the PMU
	// HWIndex is the position of the newest entry in the CPU's branch
	// records, all ones if unknown. It is set with BranchHWIndex only.
	HWIndex  uint64
	Branches []Branch // newest first
	// Counters has event counts for each branch, with BranchCounters only.
	Counters []uint64

	Weight           uint64 // cost of the access, such as its latency; variable 1 of WEIGHT_STRUCT
	Weight2, Weight3 uint16 // variables 2 and 3 of WEIGHT_STRUCT
	DataSrc          uint64
	Transaction      uint64
	PhysAddr         uint64
	Cgroup           uint64
	DataPageSize     uint64
	CodePageSize     uint64
	Aux              []byte // snapshot of a hardware trace

	layout *layout // that the fields were set by
}

// Mode returns the CPU mode at the sampled instruction.
func (s *Sample) Mode() CPUMode { return CPUMode(s.Misc & miscModeMask) }

// Markers in a call chain. Each says where the addresses that follow it are
// from. UserDeferred is followed by one word, the cookie of the
// CallchainDeferred record that has the rest.
const (
	ContextHypervisor   = ^uint64(32 - 1)
	ContextKernel       = ^uint64(128 - 1)
	ContextUser         = ^uint64(512 - 1)
	ContextUserDeferred = ^uint64(640 - 1)
	ContextGuest        = ^uint64(2048 - 1)
	ContextGuestKernel  = ^uint64(2176 - 1)
	ContextGuestUser    = ^uint64(2560 - 1)

	contextMax = ^uint64(4095 - 1) // this and above are no addresses
)

// ContextMarker says whether a word of a call chain is a marker.
func ContextMarker(ip uint64) bool { return ip >= contextMax }

// Defect is why a sample could not be decoded.
type Defect uint8

// Reasons why a sample is not usable.
const (
	DefectNone     Defect = iota
	DefectNoAttr          // no attribute has the id of the sample
	DefectShort           // the record ends inside a field of fixed size
	DefectRead            // the counter values do not fit
	DefectChain           // the call chain does not fit
	DefectRaw             // the raw data do not fit
	DefectBranches        // the branch stack does not fit
	DefectStack           // the copy of the user stack does not fit
	DefectAux             // the trace snapshot does not fit
	DefectLeftover        // bytes are left behind the last field
	NumDefects
)

var defectTexts = [NumDefects]string{"none", "unknown event id", "record too short", "counter values too long",
	"call chain too long", "raw data too long", "branch stack too long", "user stack too long",
	"trace snapshot too long", "bytes left over"}

// String describes the defect in a few words.
func (d Defect) String() string { return defectTexts[d] }

// Error makes a Defect other than DefectNone an error.
func (d Defect) Error() string { return "perfdata: sample: " + d.String() }
