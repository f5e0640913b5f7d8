package etl

import (
	"encoding/binary"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Sample is a sampled profile event: where the interval timer found a
// processor.
type Sample struct {
	IP    uint64
	TID   uint32 // 0 is the idle loop of the processor
	Count uint16 // how many samples this stands for
	Flags uint8  // SampleDPC, SampleISR; priority above them
	Rank  uint8
}

// Flags of a sample.
const (
	SampleDPC uint8 = 1 // in a deferred procedure call
	SampleISR uint8 = 2 // in an interrupt service routine
)

// Idle says whether the sample hit the idle loop.
func (s *Sample) Idle() bool { return s.TID == 0 && s.Flags&(SampleDPC|SampleISR) == 0 }

// PMCSample is a counter overflow: where a performance counter interrupted a
// processor.
type PMCSample struct {
	IP     uint64
	TID    uint32
	Source uint16 // number of the counter; see Interval for its name
}

// sampleTail is the size of a sample's fields after its instruction pointer,
// in both kinds of samples.
const sampleTail = 8

// DecodeSample reads a record of ClassSample other than HookSampleCache.
func DecodeSample(r *Record, s *Sample) error {
	b, ptr := r.Payload, int(r.PointerSize)
	if len(b) < ptr+sampleTail || r.Class != ClassSample || r.Hook == HookSampleCache {
		return wrongSample(r, ClassSample, "sample", ptr+sampleTail)
	}
	takeSample(b, ptr, s)
	return nil
}

func takeSample(b []byte, ptr int, s *Sample) {
	s.IP = loadPointer(b, ptr)
	b = b[ptr : ptr+sampleTail]
	s.TID = binary.LittleEndian.Uint32(b)
	s.Count = binary.LittleEndian.Uint16(b[4:])
	s.Flags, s.Rank = b[6], b[7]
}

// DecodePMCSample reads a record of ClassPMC.
func DecodePMCSample(r *Record, s *PMCSample) error {
	b, ptr := r.Payload, int(r.PointerSize)
	if len(b) < ptr+sampleTail || r.Class != ClassPMC {
		return wrongSample(r, ClassPMC, "PMC sample", ptr+sampleTail)
	}
	s.IP = loadPointer(b, ptr)
	b = b[ptr : ptr+sampleTail]
	s.TID = binary.LittleEndian.Uint32(b)
	s.Source = binary.LittleEndian.Uint16(b[4:])
	return nil
}

// DecodeSampleCache reads a record of HookSampleCache and appends its samples
// to dst. The layout is only read about.
func DecodeSampleCache(r *Record, dst []Sample) ([]Sample, error) {
	const part = "sample cache"
	b, ptr := r.Payload, int(r.PointerSize)
	if r.Hook != HookSampleCache || len(b) < ptr {
		return dst, wrongSample(r, ClassSample, part, ptr)
	}
	n := binary.LittleEndian.Uint32(b)
	b = b[ptr:] // on 64 bits the count is padded
	if size := ptr + sampleTail; uint64(n)*uint64(size) > uint64(len(b)) {
		return dst, wrongSample(r, ClassSample, part, ptr+int(n)*size)
	}
	for range n {
		var s Sample
		takeSample(b, ptr, &s)
		dst = append(dst, s)
		b = b[ptr+sampleTail:]
	}
	return dst, nil
}

// wrongSample says why a record of fixed layout cannot be read: its class or
// its size.
func wrongSample(r *Record, class Class, part string, size int) error {
	if err := checkClass(r, class, part); err != nil {
		return err
	}
	return r.locate(&binfmt.Error{Part: part, Offset: int64(r.Offset + r.headerSize()), Want: fmt.Sprintf("%d bytes", size),
		Got: fmt.Sprint(len(r.Payload)), Err: binfmt.ErrTruncated})
}

// AppendSample appends the payload of a sampled profile event.
func AppendSample(b []byte, s *Sample, pointerSize int) []byte {
	b = appendPointer(b, s.IP, pointerSize)
	b = binfmt.AppendU32(b, s.TID)
	b = binfmt.AppendU16(b, s.Count)
	return append(b, s.Flags, s.Rank)
}

// AppendPMCSample appends the payload of a counter overflow.
func AppendPMCSample(b []byte, s *PMCSample, pointerSize int) []byte {
	b = appendPointer(b, s.IP, pointerSize)
	b = binfmt.AppendU32(b, s.TID)
	return binfmt.AppendU32(b, uint32(s.Source)) // and two reserved bytes
}

// AppendSampleCache appends the payload of a sample cache.
func AppendSampleCache(b []byte, samples []Sample, pointerSize int) []byte {
	b = appendPointer(b, uint64(len(samples)), pointerSize)
	for i := range samples {
		b = AppendSample(b, &samples[i], pointerSize)
	}
	return b
}
