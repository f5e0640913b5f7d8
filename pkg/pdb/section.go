package pdb

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	sectionHeaderSize = 40
	maxSections       = 0xffff

	contributionSize = 28
	// Versions of the section contributions.
	contributionsV60 = 0xeffe0000 + 19970605
	contributionsV2  = 0xeffe0000 + 20140516 // each is followed by the section of the object file
)

// Section is a section header of the image, as the linker wrote it.
type Section struct {
	Name             string
	VirtualSize      uint32
	VirtualAddress   uint32 // RVA
	SizeOfRawData    uint32
	PointerToRawData uint32
	Characteristics  uint32
}

// AddressMap converts the addresses of a PDB, section and offset, to RVAs.
type AddressMap struct {
	// Sections of the image; address 1:0 is the start of the first. Empty if
	// the PDB has none.
	Sections []Section
	// omap holds pairs of RVAs, before and after a tool rearranged the linked
	// image, in order. The addresses of the PDB are those from before.
	omap []omapEntry
	// linked are the sections from before, the same as Sections without omap.
	linked []Section
}

type omapEntry struct {
	from, to uint32
}

// Addresses reads the section headers. The result is shared, not to be
// changed.
func (f *File) Addresses() (*AddressMap, error) { return f.addresses() }

// Rearranged says that the code was moved after linking, so that the PDB
// holds a map from old to new addresses. RVA applies it.
func (m *AddressMap) Rearranged() bool { return len(m.omap) > 0 }

// RVA converts an address. It is false if the section does not exist (0 is
// what link.exe gives to code that it left out, the number behind the last
// section stands for absolute values), if the offset is outside of the
// section, or if the code there was removed after linking.
func (m *AddressMap) RVA(section uint16, offset uint32) (uint32, bool) {
	if section == 0 || int(section) > len(m.linked) {
		return 0, false
	}
	s := &m.linked[section-1]
	// A symbol may stand at the very end of its section.
	if offset > max(s.VirtualSize, s.SizeOfRawData) || s.VirtualAddress+offset < offset {
		return 0, false
	}
	rva := s.VirtualAddress + offset
	if !m.Rearranged() {
		return rva, true
	}
	i, found := slices.BinarySearchFunc(m.omap, rva, func(e omapEntry, rva uint32) int {
		return cmp.Compare(e.from, rva)
	})
	if !found {
		i--
	}
	if i < 0 || m.omap[i].to == 0 {
		return 0, false
	}
	return m.omap[i].to + (rva - m.omap[i].from), true
}

func (f *File) readAddresses() (*AddressMap, error) {
	d, err := f.dbi()
	if err != nil {
		return nil, err
	}
	m := &AddressMap{}
	if m.Sections, err = f.readSectionHeaders(d, debugSectionHdr); err != nil {
		return nil, err
	}
	m.linked = m.Sections
	omap, err := f.debugStream(d, debugOmapFromSrc)
	if err != nil || omap == nil || omap.size == 0 {
		return m, err
	}
	if m.linked, err = f.readSectionHeaders(d, debugSectionHdrOrig); err != nil {
		return nil, err
	}
	c, err := omap.cursor("address map", 0, omap.size)
	if err != nil {
		return nil, err
	}
	for c.Len() >= 8 {
		e := omapEntry{c.U32(), c.U32()}
		if n := len(m.omap); n > 0 && e.from < m.omap[n-1].from {
			c.FailAt(c.Offset()-8, binfmt.ErrCorrupt, "addresses in order", fmt.Sprintf("%#x behind %#x", e.from, m.omap[n-1].from))
			return nil, omap.locate(c.Err())
		}
		m.omap = append(m.omap, e)
	}
	return m, nil
}

func (f *File) readSectionHeaders(d *DBI, index int) ([]Section, error) {
	s, err := f.debugStream(d, index)
	if err != nil || s == nil {
		return nil, err
	}
	c, err := s.cursor("section headers", 0, min(s.size, maxSections*sectionHeaderSize))
	if err != nil {
		return nil, err
	}
	var out []Section
	for c.Len() >= sectionHeaderSize {
		h := Section{Name: strings.TrimRight(string(c.Bytes(8)), "\x00")}
		h.VirtualSize, h.VirtualAddress = c.U32(), c.U32()
		h.SizeOfRawData, h.PointerToRawData = c.U32(), c.U32()
		c.Skip(12) // relocations and line numbers, which images do not have
		h.Characteristics = c.U32()
		out = append(out, h)
	}
	return out, nil
}

// Contribution is a piece of a section that one module brought.
type Contribution struct {
	Section         uint16
	Offset          uint32
	Size            uint32
	Characteristics uint32
	Module          int // index into Modules
	DataCRC         uint32
	RelocCRC        uint32
}

// Contributions yields the pieces that the sections are made of, in file
// order, which linkers keep ascending. After an error there are no more.
func (f *File) Contributions() iter.Seq2[Contribution, error] {
	return func(yield func(Contribution, error) bool) {
		d, err := f.dbi()
		if err != nil {
			yield(Contribution{}, err)
			return
		}
		pos, left := d.contributions.pos, d.contributions.size
		if left == 0 {
			return
		}
		c, err := d.stream.cursor("section contributions", pos, min(left, 4))
		if err != nil {
			yield(Contribution{}, err)
			return
		}
		size := int64(contributionSize)
		switch version := c.U32(); {
		case c.Err() != nil:
		case version == contributionsV2:
			size += 4
		case version != contributionsV60:
			c.FailAt(pos, binfmt.ErrVersion, fmt.Sprintf("%#x or %#x", uint32(contributionsV60), uint32(contributionsV2)), fmt.Sprintf("%#x", version))
		}
		if c.Err() != nil {
			yield(Contribution{}, d.stream.locate(c.Err()))
			return
		}
		const chunk = 1024
		for pos, left = pos+4, left-4; left >= size; {
			n := min(left/size, chunk)
			c, err := d.stream.cursor("section contributions", pos, n*size)
			if err != nil {
				yield(Contribution{}, err)
				return
			}
			for range n {
				if !yield(contribution(c, size), nil) {
					return
				}
			}
			pos += n * size
			left -= n * size
		}
	}
}

func contribution(c *binfmt.Cursor, size int64) Contribution {
	var s Contribution
	s.Section = c.U16()
	c.U16()
	s.Offset, s.Size, s.Characteristics = c.U32(), c.U32(), c.U32()
	s.Module = int(c.U16())
	c.U16()
	s.DataCRC, s.RelocCRC = c.U32(), c.U32()
	c.Skip(uint64(size - contributionSize))
	return s
}
