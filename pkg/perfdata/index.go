package perfdata

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Index is what a walk over all records finds out: how many there are, what
// was lost, and where the samples are.
type Index struct {
	Counts Counts
	Nested uint64 // records that came out of compressed ones; Counts has them too

	Lost        uint64 // records of any kind that the kernel dropped (LOST)
	LostSamples uint64 // samples that it dropped (LOST_SAMPLES)
	Filtered    uint64 // samples that a BPF filter dropped on purpose
	AuxBytes    uint64 // trace bytes behind AUXTRACE records
	LostPieces  uint64 // compressed records that could not be decompressed, or not to their end

	// Stops tells where records end before they should: ErrTruncated where a
	// file was cut, ErrCorrupt where a record or a compressed stream makes no
	// sense. All records before are delivered.
	Stops []*binfmt.Error

	ranges  []sampleRange
	streams []int // segments with compressed records, ascending
}

// sampleRange is a range of whole records of one segment, samples among them.
type sampleRange struct {
	off, end int64
	seg      int32
	closed   bool
}

const (
	// A range is closed when it is that long: what is read into a second-level
	// cache is decoded from there, which is a third faster than from memory.
	chunkSize = 256 << 10
	chunkGap  = 64 << 10 // it is also closed when that many bytes without a sample follow
)

// sample counts a sample that stands in the file itself and adds it to the
// ranges.
func (ix *Index) sample(seg int, off, size int64) {
	ix.Counts.known[TypeSample]++
	if n := len(ix.ranges); n > 0 {
		r := &ix.ranges[n-1]
		if !r.closed && int(r.seg) == seg && off-r.end <= chunkGap {
			r.end = off + size
			r.closed = r.end-r.off >= chunkSize
			return
		}
	}
	ix.ranges = append(ix.ranges, sampleRange{seg: int32(seg), off: off, end: off + size})
}

// note counts any other record.
func (ix *Index) note(r *Record, bigEndian bool) {
	ix.Counts.add(r.Type)
	if r.Nested {
		ix.Nested++
	}
	if n := len(ix.ranges); n > 0 && r.Trail.Size > 0 {
		ix.ranges[n-1].closed = true // a range holds nothing but records
	}
	switch r.Type {
	case TypeLost:
		if len(r.Data) >= 24 {
			ix.Lost = binfmt.SatAdd(ix.Lost, orderOf(bigEndian).Uint64(r.Data[16:]))
		}
	case TypeLostSamples:
		if len(r.Data) >= 16 {
			n := orderOf(bigEndian).Uint64(r.Data[8:])
			if r.Misc&MiscLostSamplesBPF != 0 {
				ix.Filtered = binfmt.SatAdd(ix.Filtered, n)
			} else {
				ix.LostSamples = binfmt.SatAdd(ix.LostSamples, n)
			}
		}
	case TypeAuxtrace:
		ix.AuxBytes += uint64(r.Trail.Size)
	case TypeCompressed, TypeCompressed2:
		if n := len(ix.streams); n == 0 || ix.streams[n-1] != r.Segment {
			ix.streams = append(ix.streams, r.Segment)
		}
	}
}

// Throttled is how often the kernel throttled an event because samples came
// too fast.
func (ix *Index) Throttled() uint64 { return ix.Counts.Of(TypeThrottle) }

// Counts has the number of records of each type.
type Counts struct {
	known [128]uint64
	other map[Type]uint64 // all other types
}

// maxOtherTypes bounds the memory for types that nobody defined. What only
// damage can bring, still more of them, counts as TypeOther.
const maxOtherTypes = 4096

// TypeOther stands in Counts for unknown types beyond the first 4096.
const TypeOther Type = 1<<32 - 1

// TypeCount is the number of records of one type.
type TypeCount struct {
	Type  Type
	Count uint64
}

func (c *Counts) add(t Type) {
	if int64(t) < int64(len(c.known)) {
		c.known[t]++
		return
	}
	if c.other == nil {
		c.other = make(map[Type]uint64)
	}
	if _, ok := c.other[t]; !ok && len(c.other) >= maxOtherTypes {
		t = TypeOther
	}
	c.other[t]++
}

// Of returns the number of records of a type.
func (c *Counts) Of(t Type) uint64 {
	if int64(t) < int64(len(c.known)) {
		return c.known[t]
	}
	return c.other[t]
}

// All returns the types that occur, ascending, those without a name included.
func (c *Counts) All() []TypeCount {
	var list []TypeCount
	for t, n := range c.known {
		if n > 0 {
			list = append(list, TypeCount{Type(t), n})
		}
	}
	for t, n := range c.other {
		list = append(list, TypeCount{t, n})
	}
	slices.SortFunc(list, func(a, b TypeCount) int { return cmp.Compare(a.Type, b.Type) })
	return list
}
