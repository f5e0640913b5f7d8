package debuginfo

import (
	"encoding/binary"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// A package of .dwo files (.dwp) has the sections of all behind each other. An
// index says for the id of each unit where its parts are:
//
//	version, columns, units, slots   4 bytes each; in DWARF 5 the version has 2, and 2 of padding
//	ids                              8 bytes for each slot of a hash table
//	rows                             4 bytes for each slot, 0 for none
//	kinds of sections                4 bytes for each column
//	offsets                          4 bytes for each column of each unit
//	sizes                            likewise
//
// Source: DWARF 5, section 7.3.5.
type dwoPackage struct {
	path     string
	sections map[string][]byte
	order    binary.ByteOrder
	units    map[uint64]map[string]piece // by id and section
	used     bool                        // a unit of the image is in it
}

// piece is a part of a section.
type piece struct{ offset, size uint32 }

// columnNames are the sections by the number that stands for them, in version 2
// of the index, which comes before DWARF 5, and in version 5.
var columnNames = map[uint32]map[uint32]string{
	2: {1: "info", 3: "abbrev", 6: "str_offsets"},
	5: {1: "info", 3: "abbrev", 6: "str_offsets", 8: "rnglists"},
}

// openPackage reads the index of a package, and its sections.
func openPackage(path string) (*dwoPackage, error) {
	f, err := openELFFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &dwoPackage{path: path, order: f.ByteOrder}
	if p.sections, err = dwoSections(f); err != nil {
		return nil, err
	}
	index, err := sectionOf(f, ".debug_cu_index")
	if err != nil {
		return nil, err
	}
	if p.units, err = packageIndex(index, p.order); err != nil {
		return nil, err
	}
	return p, nil
}

// packageIndex reads an index.
func packageIndex(data []byte, order binary.ByteOrder) (map[uint64]map[string]piece, error) {
	c := binfmt.NewCursor(data, ".debug_cu_index", 0).BigEndian(order == binary.BigEndian)
	version := c.U32()
	if columnNames[version] == nil {
		version &= 0xffff // of 2 bytes
	}
	names := columnNames[version]
	if c.Err() == nil && names == nil {
		c.FailAt(0, binfmt.ErrVersion, "2 or 5", fmt.Sprint(version))
	}
	columns, units, slots := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	n := c.Count(slots, 12, "slots")
	ids, rows := c.Bytes(8*uint64(n)), c.Bytes(4*uint64(n))
	width := c.Count(columns, 4, "columns")
	kinds := make([]string, width)
	for k := range kinds {
		kinds[k] = names[c.U32()]
	}
	cells := uint64(width) * units // both have 32 bits
	count := c.Count(cells, 8, "parts of units")
	offsets, sizes := c.Bytes(4*uint64(count)), c.Bytes(4*uint64(count))
	if c.Err() != nil {
		return nil, c.Err()
	}
	list := make(map[uint64]map[string]piece)
	for k := range n {
		row := uint64(order.Uint32(rows[4*k:]))
		if row == 0 || row > units {
			continue
		}
		parts := make(map[string]piece)
		for col, name := range kinds {
			at := 4 * ((row-1)*uint64(width) + uint64(col))
			if name != "" {
				parts[name] = piece{order.Uint32(offsets[at:]), order.Uint32(sizes[at:])}
			}
		}
		list[order.Uint64(ids[8*k:])] = parts
	}
	return list, nil
}

// parts returns the sections of a unit. Strings are those of all units.
func (p *dwoPackage) parts(id uint64) map[string][]byte {
	out := map[string][]byte{"str": p.sections["str"]}
	for name, at := range p.units[id] {
		whole := p.sections[name]
		start := min(uint64(at.offset), uint64(len(whole)))
		out[name] = whole[start:min(start+uint64(at.size), uint64(len(whole)))]
	}
	return out
}
