package debuginfo

import (
	"bytes"
	"compress/zlib"
	"debug/dwarf"
	"debug/elf"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// Attributes that debug/dwarf has no names for.
const (
	attrLinkageNameMIPS  dwarf.Attr = 0x2007 // before DWARF 4
	attrDwoName          dwarf.Attr = 0x2130 // before DWARF 5
	attrGNUDiscriminator dwarf.Attr = 0x2136 // of the line of an inlined call
	attrDwoName5         dwarf.Attr = 0x76
)

// openDWARF reads the sections of a file and notes where the code of each unit
// lies. A file without DWARF leaves nothing; defects are problems.
func (i *Info) openDWARF(file *image.File) {
	data, sections, err := dwarfData(file)
	if err != nil {
		i.problem(&binfmt.Error{Part: "DWARF", Offset: -1, Err: err})
		return
	}
	if data == nil {
		return
	}
	i.dwarf = data
	r := data.Reader()
	i.sections = map[string][]byte{"addr": sections["addr"], "ranges": sections["ranges"], "line": sections["line"]}
	for _, h := range unitHeaders(sections["info"], r.ByteOrder()) {
		r.Seek(h.entry)
		cu, err := r.Next()
		if err != nil {
			i.problem(&binfmt.Error{Part: "DWARF units", Offset: int64(h.entry), Err: err})
			continue
		}
		if cu != nil && (cu.Tag == dwarf.TagCompileUnit || cu.Tag == dwarf.TagSkeletonUnit) {
			i.addUnit(cu, skeletonOf(cu, h))
		}
	}
}

// unitHeader is what the header of a unit of .debug_info says.
type unitHeader struct {
	entry   dwarf.Offset // of the first entry
	version int
	id      uint64 // of a split unit since DWARF 5
}

// unitHeaders returns where the first entry of each unit stands, by the headers
// of the units alone: a reader of debug/dwarf gets from one unit to the next only
// through all entries of the first.
func unitHeaders(info []byte, order binary.ByteOrder) []unitHeader {
	var out []unitHeader
	const (
		typeUnit, skeleton, split, splitType = 2, 4, 5, 6 // of DWARF 5
		idSize                               = 8
	)
	for at := uint64(0); at+4 <= uint64(len(info)); {
		offsetSize, start := uint64(4), at+4
		size := uint64(order.Uint32(info[at:]))
		if size == 0xFFFFFFFF && at+12 <= uint64(len(info)) {
			offsetSize, start = 8, at+12
			size = order.Uint64(info[at+4:])
		}
		rest := uint64(len(info)) - start
		if size > rest {
			break
		}
		// The version, where the abbreviations are, and the size of an address;
		// since DWARF 5 the type of the unit, and what goes with it.
		var h unitHeader
		header := 2 + offsetSize + 1
		if size >= 3 {
			h.version = int(order.Uint16(info[start:]))
		}
		if h.version >= 5 {
			header++
			switch info[start+2] {
			case skeleton, split:
				if header+idSize <= size {
					h.id = order.Uint64(info[start+header:])
				}
				header += idSize
			case typeUnit, splitType:
				header += idSize + offsetSize
			}
		}
		if header < size {
			h.entry = dwarf.Offset(start + header)
			out = append(out, h)
		}
		at = start + size
	}
	return out
}

// dwarfSections are those that lines and functions need. The largest of the
// others, the places of variables, stay on disk.
var dwarfSections = []string{"abbrev", "addr", "info", "line", "line_str", "ranges", "rnglists", "str", "str_offsets"}

// dwarfData loads the sections, and returns them by their names as well; nil if
// there are none.
func dwarfData(file *image.File) (*dwarf.Data, map[string][]byte, error) {
	prefix := ".debug_"
	var load func(name string) ([]byte, error) // nil without the section
	if file.Kind == image.KindELF {
		f, err := elf.NewFile(file.Reader())
		if err != nil {
			return nil, nil, err
		}
		unpack := func(b []byte) ([]byte, error) { return b, nil }
		if f.Section(".zdebug_info") != nil { // compressed in the old way
			prefix, unpack = ".zdebug_", inflate
		}
		load = func(name string) ([]byte, error) {
			s := f.Section(name)
			if s == nil || s.Type == elf.SHT_NOBITS {
				return nil, nil
			}
			b, err := s.Data()
			if err != nil {
				return nil, err
			}
			return unpack(b)
		}
	} else {
		f, err := pe.NewFile(file.Reader())
		if err != nil {
			return nil, nil, err
		}
		load = func(name string) ([]byte, error) {
			s := f.Section(name)
			if s == nil {
				return nil, nil
			}
			b, err := s.Data()
			if s.VirtualSize != 0 { // the rest is padding
				b = b[:min(uint64(len(b)), uint64(s.VirtualSize))]
			}
			return b, err
		}
	}
	data := map[string][]byte{}
	for _, name := range dwarfSections {
		b, err := load(prefix + name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%s: %w", prefix, name, err)
		}
		if b == nil && name == "info" {
			return nil, nil, nil
		}
		data[name] = b
	}
	d, err := dwarf.New(data["abbrev"], nil, nil, data["info"], data["line"], nil, data["ranges"], data["str"])
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"addr", "line_str", "rnglists", "str_offsets"} {
		if data[name] != nil {
			if err := d.AddSection(".debug_"+name, data[name]); err != nil {
				return nil, nil, err
			}
		}
	}
	return d, data, nil
}

// inflate unpacks a section that was compressed before ELF had a way of its
// own: "ZLIB", the size of the data in 8 bytes, high ones first, and the data.
func inflate(b []byte) ([]byte, error) {
	if len(b) < 12 || string(b[:4]) != "ZLIB" {
		return b, nil
	}
	r, err := zlib.NewReader(bytes.NewReader(b[12:]))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(r)
	if want := binary.BigEndian.Uint64(b[4:]); err == nil && uint64(len(out)) != want {
		err = &binfmt.Error{Part: "size of the data", Offset: -1, Want: fmt.Sprint(want), Got: fmt.Sprint(len(out)), Err: binfmt.ErrCorrupt}
	}
	return out, err
}

// addUnit notes a unit with its code. One that does not say where its code is
// gets asked: its functions say.
func (i *Info) addUnit(cu *dwarf.Entry, split *skeleton) {
	u := unitOf(cu)
	name := u.Name
	ranges, err := i.dwarf.Ranges(cu)
	if err != nil {
		i.problem(fmt.Errorf("DWARF unit %s: %w", name, err))
	}
	code := i.codeOf(ranges)
	n := len(i.sources)
	load := func() (*unit, error) { return i.loadDWARF(n, cu, split) }
	if len(ranges) == 0 && cu.Children {
		decoded, err := load()
		i.problem(err)
		for _, p := range decoded.procs.list {
			code = append(code, p.Range)
		}
	}
	if len(code) == 0 {
		return
	}
	i.stats.Units++
	if split != nil {
		i.stats.Split++
		if i.packageOf(split) == nil && len(i.splitFiles(split)) == 0 {
			i.stats.Missing = append(i.stats.Missing, split.name)
		}
	}
	for _, r := range program.Union(code) {
		i.index.add(r, n)
	}
	i.sources = append(i.sources, source{u, split, load})
}

// unitOf returns what the first entry of a unit says of it.
func unitOf(cu *dwarf.Entry) Unit {
	var u Unit
	u.Name, _ = cu.Val(dwarf.AttrName).(string)
	u.Producer, _ = cu.Val(dwarf.AttrProducer).(string)
	u.Language, _ = cu.Val(dwarf.AttrLanguage).(int64)
	return u
}

// codeOf converts link-time addresses to ranges of code.
func (i *Info) codeOf(list [][2]uint64) []program.Range {
	var out []program.Range
	for _, r := range list {
		if r, ok := i.codeRange(r[0], r[1]); ok {
			out = append(out, r)
		}
	}
	return program.Union(out)
}

// codeRange is false for what is no code: functions that the linker left out
// stand at 0 or at the end of the address space.
func (i *Info) codeRange(low, high uint64) (program.Range, bool) {
	if low < i.img.Base || high <= low || high-i.img.Base > math.MaxUint32 {
		return program.Range{}, false
	}
	r := program.Range{Start: uint32(low - i.img.Base), End: uint32(high - i.img.Base)}
	return r, program.Containing(i.code, r.Start) >= 0
}
