package perfdata

import "math/bits"

// fixedSample are the fields at the start of a sample, 8 bytes each, in
// their order.
var fixedSample = [...]SampleType{SampleIdentifier, SampleIP, SampleTID, SampleTime, SampleAddr, SampleID,
	SampleStreamID, SampleCPU, SamplePeriod}

// trailerFields are the fields of the sample id trailer in their order.
var trailerFields = [...]SampleType{SampleTID, SampleTime, SampleID, SampleStreamID, SampleCPU, SampleIdentifier}

// layout is how the samples of one attribute are laid out, and which fields
// of them are wanted.
type layout struct {
	attr *Attr
	has  SampleType // fields of the record
	set  SampleType // those to set
	// Offsets in the record of the wanted fields of fixed position; 0 for
	// fields that are absent or not wanted.
	ip, tid, time, addr, id, stream, cpu, period int
	fixed                                        int // where the other fields begin

	readSize  int // bytes of counter values without group
	readGroup int // bytes of one counter value of a group; 0 without
	hwIndex   bool
	counters  bool
	regsUser  int // bytes of the registers
	regsIntr  int
	lenient   bool // the kernel has newer fields than this package
}

func newLayout(a *Attr, want SampleType) *layout {
	if want&SampleID != 0 {
		want |= SampleIdentifier
	}
	l := &layout{attr: a, has: a.SampleType, set: a.SampleType & want & SampleAll, fixed: recordHeaderSize}
	var at [25]int
	for _, field := range fixedSample {
		if l.has&field != 0 {
			if want&field != 0 {
				at[bits.TrailingZeros64(uint64(field))] = l.fixed
			}
			l.fixed += 8
		}
	}
	pos := func(field SampleType) int { return at[bits.TrailingZeros64(uint64(field))] }
	l.ip, l.tid, l.time, l.addr = pos(SampleIP), pos(SampleTID), pos(SampleTime), pos(SampleAddr)
	l.id, l.stream, l.cpu, l.period = pos(SampleID), pos(SampleStreamID), pos(SampleCPU), pos(SamplePeriod)
	if l.id == 0 {
		l.id = pos(SampleIdentifier)
	}
	l.readSize, l.readGroup = readSizes(a.ReadFormat)
	l.hwIndex = a.BranchSampleType&BranchHWIndex != 0
	l.counters = a.BranchSampleType&BranchCounters != 0
	l.regsUser = 8 * bits.OnesCount64(a.RegsUser)
	l.regsIntr = 8 * bits.OnesCount64(a.RegsIntr)
	if l.has&^SampleAll != 0 {
		l.lenient = true
		l.set &^= SampleAux // newer fields stand before it
	}
	return l
}

// readSizes returns the size of the counter values of a sample: all of them
// without a group, else what precedes the values of the group and the size of
// each of those.
func readSizes(format uint64) (fixed, group int) {
	fixed = 8 * (1 + bits.OnesCount64(format&(readTimeEnabled|readTimeRunning)))
	each := 8 * bits.OnesCount64(format&(readID|readLost))
	if format&readGroup != 0 {
		return fixed, 8 + each
	}
	return fixed + each, 0
}

// idPosition returns where the id of a sample is in the record, by the fields
// of the first attribute, which is the same in all of them; 0 if it has none.
func idPosition(t SampleType) int {
	switch {
	case t&SampleIdentifier != 0:
		return recordHeaderSize
	case t&SampleID != 0:
		before := t & (SampleIP | SampleTID | SampleTime | SampleAddr)
		return recordHeaderSize + 8*bits.OnesCount64(uint64(before))
	}
	return 0
}
