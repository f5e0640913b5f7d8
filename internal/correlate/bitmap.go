package correlate

import "math/bits"

// A bitmap is a set of RVAs that are in code.
type bitmap struct {
	pages []*[pageBytes / 64]uint64
	base  uint32 // the first page
}

const pageBytes = 1 << 12

// newBitmap returns an empty set of RVAs in the pieces of a layout.
func newBitmap(l *layout) *bitmap {
	m := &bitmap{base: l.base / pageBytes}
	if n := len(l.pieces); n > 0 {
		m.pages = make([]*[pageBytes / 64]uint64, (l.pieces[n-1].end-1)/pageBytes-m.base+1)
	}
	return m
}

func (m *bitmap) set(rva uint32) {
	p := &m.pages[rva/pageBytes-m.base]
	if *p == nil {
		*p = new([pageBytes / 64]uint64)
	}
	(*p)[rva%pageBytes/64] |= 1 << (rva % 64)
}

func (m *bitmap) has(rva uint32) bool { return m.word(rva)&(1<<(rva%64)) != 0 }

// word returns the bits of the 64 RVAs around one.
func (m *bitmap) word(rva uint32) uint64 {
	p := m.pages[rva/pageBytes-m.base]
	if p == nil {
		return 0
	}
	return p[rva%pageBytes/64]
}

// next returns the first member in [rva, end), or end.
func (m *bitmap) next(rva, end uint32) uint32 {
	for at := uint64(rva); at < uint64(end); at = at&^63 + 64 {
		if w := m.word(uint32(at)) >> (at % 64); w != 0 {
			return min(uint32(at)+uint32(bits.TrailingZeros64(w)), end)
		}
	}
	return end
}

// last returns the last member in (start, rva], or start.
func (m *bitmap) last(start, rva uint32) uint32 {
	for at := int64(rva); at > int64(start); at = at&^63 - 1 {
		if w := m.word(uint32(at)) << (63 - at%64); w != 0 {
			return max(uint32(at)-uint32(bits.LeadingZeros64(w)), start)
		}
	}
	return start
}
