package perfdata

import "math/bits"

// sample appends the body of a SAMPLE record with all fields of a's samples,
// in the order of the kernel.
func (e *encoder) sample(a *Attr, s *Sample) {
	t := a.SampleType
	word := func(field SampleType, v uint64) {
		if t&field != 0 {
			e.u64(v)
		}
	}
	word(SampleIdentifier, s.ID)
	word(SampleIP, s.IP)
	if t&SampleTID != 0 {
		e.pids(s.PID, s.TID)
	}
	word(SampleTime, s.Time)
	word(SampleAddr, s.Addr)
	word(SampleID, s.ID)
	word(SampleStreamID, s.StreamID)
	if t&SampleCPU != 0 {
		e.u32(s.CPU)
		e.u32(0)
	}
	word(SamplePeriod, s.Period)
	if t&SampleRead != 0 {
		e.emptyRead(a.ReadFormat)
	}
	if t&SampleCallChain != 0 {
		e.u64(uint64(len(s.CallChain)))
		e.u64s(s.CallChain)
	}
	if t&SampleRaw != 0 {
		// The size covers the padding, so that size and bytes end at a
		// multiple of 8.
		n := len(s.Raw) + (-(len(s.Raw) + 4) & 7)
		e.u32(uint32(n))
		e.bytes(s.Raw)
		e.zeros(n - len(s.Raw))
	}
	if t&SampleBranchStack != 0 {
		e.branches(a.BranchSampleType, s)
	}
	word(SampleRegsUser, 0)
	word(SampleStackUser, 0)
	switch {
	case t&SampleWeightStruct != 0:
		e.u64(s.Weight&0xffffffff | uint64(s.Weight2)<<32 | uint64(s.Weight3)<<48)
	case t&SampleWeight != 0:
		e.u64(s.Weight)
	}
	word(SampleDataSrc, s.DataSrc)
	word(SampleTransaction, s.Transaction)
	word(SampleRegsIntr, 0)
	word(SamplePhysAddr, s.PhysAddr)
	word(SampleCgroup, s.Cgroup)
	word(SampleDataPageSize, s.DataPageSize)
	word(SampleCodePageSize, s.CodePageSize)
	if t&SampleAux != 0 {
		e.u64(uint64(len(s.Aux)))
		e.bytes(s.Aux)
	}
}

// emptyRead appends counter values of zero, and for a group one counter.
func (e *encoder) emptyRead(format uint64) {
	times := bits.OnesCount64(format & (readTimeEnabled | readTimeRunning))
	each := 8 * (1 + bits.OnesCount64(format&(readID|readLost)))
	if format&readGroup != 0 {
		e.u64(1)
	}
	e.zeros(8*times + each)
}

// branches appends a branch stack. Missing counters are zero.
func (e *encoder) branches(format uint64, s *Sample) {
	e.u64(uint64(len(s.Branches)))
	if format&BranchHWIndex != 0 {
		e.u64(s.HWIndex)
	}
	big := orderOf(true) == e.byteOrder
	for _, b := range s.Branches {
		e.u64(b.From)
		e.u64(b.To)
		if big {
			e.u64(b.Flags.toBig())
		} else {
			e.u64(uint64(b.Flags))
		}
	}
	if format&BranchCounters != 0 {
		n := min(len(s.Counters), len(s.Branches))
		e.u64s(s.Counters[:n])
		e.zeros(8 * (len(s.Branches) - n))
	}
}
