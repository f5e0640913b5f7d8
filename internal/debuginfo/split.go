package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Split DWARF leaves a skeleton of each unit in the image, with its code and
// lines, and has the functions in a file of their own (.dwo), or the files of
// all units in a package (.dwp). Before version 5 of DWARF it was an extension
// of GNU with other numbers.
//
// Sources: DWARF 5, sections 3.1.2, 3.1.3 and 7.3; "DebugFission" of the GCC
// wiki.

// Attributes of the extension.
const (
	attrGNUDwoID      dwarf.Attr = 0x2131
	attrGNURangesBase dwarf.Attr = 0x2132
	attrGNUAddrBase   dwarf.Attr = 0x2133
)

// skeleton is what a unit of the image says of its description elsewhere.
type skeleton struct {
	name, folder string // of the file; the folder that the compiler worked in
	id           uint64
	version      int
	low          uint64 // address that ranges count from
	addr, ranges uint64 // where its part of .debug_addr and .debug_ranges begins
}

// skeletonOf returns what the first entry of a unit says; nil if the unit is
// whole. Head is the header of the unit.
func skeletonOf(cu *dwarf.Entry, h unitHeader) *skeleton {
	s := &skeleton{version: h.version, id: h.id}
	name, old := cu.Val(attrDwoName).(string)
	if !old {
		if name, _ = cu.Val(attrDwoName5).(string); name == "" {
			return nil
		}
	}
	s.name = name
	s.folder, _ = cu.Val(dwarf.AttrCompDir).(string)
	s.low, _ = cu.Val(dwarf.AttrLowpc).(uint64)
	offset := func(a dwarf.Attr) uint64 {
		v, _ := cu.Val(a).(int64)
		return uint64(v)
	}
	if old {
		s.id, s.addr, s.ranges = offset(attrGNUDwoID), offset(attrGNUAddrBase), offset(attrGNURangesBase)
	} else {
		s.addr = offset(dwarf.AttrAddrBase)
	}
	return s
}

// packageOf returns the package beside the image that has a unit; nil if there
// is none.
func (i *Info) packageOf(s *skeleton) *dwoPackage {
	if i.packages == nil {
		i.packages = make(map[string]*dwoPackage)
	}
	for _, near := range i.near {
		p, known := i.packages[near]
		if !known {
			path := near + ".dwp"
			var err error
			if p, err = openPackage(path); err != nil && !os.IsNotExist(err) {
				err = inFile(err, path)
				i.problem(err)
				i.stats.BadPackages = append(i.stats.BadPackages, err)
			}
			i.packages[near] = p
		}
		if p != nil && p.units[s.id] != nil {
			p.used = true
			return p
		}
	}
	return nil
}

// judgePackages notes packages without any unit of the image.
func (i *Info) judgePackages() {
	for _, near := range i.near {
		if p := i.packages[near]; p != nil && !p.used {
			i.stats.BadPackages = append(i.stats.BadPackages, &MismatchError{p.path, "units", "those of the image", "others"})
		}
	}
}

// splitFiles returns the files that may have the description of a unit, the
// likeliest first.
func (i *Info) splitFiles(s *skeleton) (found []string) {
	list := []string{s.name}
	if !isAbsolute(s.name) {
		list = []string{filepath.Join(s.folder, s.name)}
		for _, near := range i.near {
			list = append(list, filepath.Join(filepath.Dir(near), s.name))
		}
	}
	for _, near := range i.near {
		list = append(list, filepath.Join(filepath.Dir(near), baseName(s.name)))
	}
	for _, path := range list {
		if regular(path) == nil && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found
}

// splitData is the description of a unit.
type splitData struct {
	data    *dwarf.Data
	cu      *dwarf.Entry
	version int
	order   binary.ByteOrder
	low     uint64
	addr    []byte // from the unit's part on
	ranges  []byte // .debug_ranges of the image from the unit's part on, or the lists of the description
}

// openSplit reads the description of a skeleton's unit, nil if there is none.
// An error is that of the first file that should have it.
func (i *Info) openSplit(s *skeleton) (*splitData, error) {
	var errs []error
	if p := i.packageOf(s); p != nil {
		d, err := i.splitOf(s, p.parts(s.id), p.order)
		if err == nil {
			return d, nil
		}
		errs = append(errs, inFile(err, p.path))
	}
	for _, path := range i.splitFiles(s) {
		d, err := i.openDWO(s, path)
		if err == nil {
			return d, nil
		}
		errs = append(errs, inFile(err, path))
	}
	if len(errs) == 0 {
		return nil, nil
	}
	i.stats.Unusable = append(i.stats.Unusable, errs[0])
	return nil, errs[0]
}

func (i *Info) openDWO(s *skeleton, path string) (*splitData, error) {
	f, err := openELFFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	parts, err := dwoSections(f)
	if err != nil {
		return nil, err
	}
	return i.splitOf(s, parts, f.ByteOrder)
}

// openELFFile opens a regular ELF file. One that ends too early is
// [binfmt.ErrTruncated], and one with defects, or of another kind,
// [binfmt.ErrCorrupt].
func openELFFile(path string) (*elf.File, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := elf.Open(path)
	return f, elfError(err)
}

// elfError says by its kind why debug/elf cannot read the headers of a file.
func elfError(err error) error {
	var format *elf.FormatError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &binfmt.Error{Part: "section table", Offset: -1, Want: "a whole ELF file", Got: "its end", Err: binfmt.ErrTruncated}
	case errors.As(err, &format):
		return &binfmt.Error{Part: "section table", Offset: -1, Want: "an ELF file", Got: format.Error(), Err: binfmt.ErrCorrupt}
	}
	return err
}

// inFile names the file that an error is about.
func inFile(err error, path string) error {
	var mismatch *MismatchError
	if errors.As(err, &mismatch) {
		mismatch.Path = path
		return err
	}
	return binfmt.InFile(err, path)
}

// dwoNames are the sections of a .dwo file that functions need, without
// ".debug_" and ".dwo".
var dwoNames = []string{"abbrev", "info", "rnglists", "str", "str_offsets"}

// dwoSections reads the sections of a .dwo file, or of a package of them.
func dwoSections(f *elf.File) (parts map[string][]byte, err error) {
	parts = make(map[string][]byte)
	for _, name := range dwoNames {
		if parts[name], err = sectionOf(f, ".debug_"+name+".dwo"); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// sectionOf returns the bytes of a section, nil if there is none.
func sectionOf(f *elf.File, name string) ([]byte, error) {
	s := f.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	b, err := s.Data()
	if err != nil {
		return nil, &binfmt.Error{Part: name, Offset: -1, Err: err}
	}
	return b, nil
}

// Bytes in front of the offsets in .debug_str_offsets and .debug_rnglists,
// which a description counts from without saying so.
const (
	strOffsetsHeader = 8
	rnglistsHeader   = 12
)

// splitOf makes a reader of a description. It has no bases of its own, so that
// the sections that it counts in are cut to begin there.
func (i *Info) splitOf(s *skeleton, parts map[string][]byte, order binary.ByteOrder) (*splitData, error) {
	noUnit := &binfmt.Error{Part: ".debug_info.dwo", Offset: -1, Want: "a unit", Got: "none", Err: binfmt.ErrCorrupt}
	if len(parts["info"]) == 0 {
		return nil, noUnit
	}
	from := func(b []byte, n uint64) []byte { return b[min(n, uint64(len(b))):] }
	d := &splitData{version: s.version, order: order, low: s.low, addr: from(i.sections["addr"], s.addr)}
	abbrev, strOffsets, lists := parts["abbrev"], parts["str_offsets"], parts["rnglists"]
	if s.version < 5 {
		var err error
		if abbrev, err = modernForms(abbrev); err != nil {
			return nil, err
		}
		d.ranges = from(i.sections["ranges"], s.ranges)
	} else {
		strOffsets = from(strOffsets, strOffsetsHeader)
		d.ranges = lists
		lists = from(lists, rnglistsHeader)
	}
	var err error
	if d.data, err = dwarf.New(abbrev, nil, nil, parts["info"], nil, nil, nil, parts["str"]); err != nil {
		return nil, &binfmt.Error{Part: ".debug_info.dwo", Offset: -1, Err: err}
	}
	for name, b := range map[string][]byte{".debug_addr": d.addr, ".debug_str_offsets": strOffsets, ".debug_rnglists": lists} {
		if b == nil {
			b = []byte{}
		}
		if err := d.data.AddSection(name, b); err != nil {
			return nil, &binfmt.Error{Part: name, Offset: -1, Err: err}
		}
	}
	r := d.data.Reader()
	other := ""
	for _, h := range unitHeaders(parts["info"], order) {
		r.Seek(h.entry)
		cu, err := r.Next()
		if err != nil {
			return nil, &binfmt.Error{Part: ".debug_info.dwo", Offset: int64(h.entry), Err: err}
		}
		if cu == nil || cu.Tag != dwarf.TagCompileUnit {
			continue
		}
		if id, ok := cu.Val(attrGNUDwoID).(int64); ok {
			h.id = uint64(id)
		}
		if h.id == s.id {
			d.cu = cu
			return d, nil
		}
		other = fmt.Sprintf("%016x", h.id)
	}
	if other == "" {
		return nil, noUnit
	}
	return nil, &MismatchError{What: "id of the unit", Want: fmt.Sprintf("%016x", s.id), Got: other}
}

// modernForms replaces the forms of attributes in abbreviations that DWARF 5
// has other numbers for, by these, as long as the old ones.
func modernForms(abbrev []byte) ([]byte, error) {
	const (
		gnuAddrIndex, gnuStrIndex = 0x1f01, 0x1f02
		implicitConst             = 0x21
	)
	out := bytes.Clone(abbrev)
	at := 0
	number := func() (v uint64) {
		for shift := uint(0); at < len(out); shift += 7 {
			b := out[at]
			at++
			v |= uint64(b&0x7f) << shift
			if b&0x80 == 0 {
				break
			}
		}
		return v
	}
	for at < len(out) {
		if number() == 0 {
			continue // the end of a table
		}
		number() // tag
		at++     // whether there are children
		for {
			attr, start := number(), at
			form := number()
			if form == implicitConst {
				number()
			}
			if at >= len(out) {
				return nil, &binfmt.Error{Part: ".debug_abbrev.dwo", Offset: int64(len(out)), Want: "the end of an abbreviation", Got: "the end of the section", Err: binfmt.ErrTruncated}
			}
			if attr == 0 && form == 0 {
				break
			}
			switch form {
			case gnuAddrIndex:
				out[start], out[start+1] = 0x80|0x1b, 0 // DW_FORM_addrx
			case gnuStrIndex:
				out[start], out[start+1] = 0x80|0x1a, 0 // DW_FORM_strx
			}
		}
	}
	return out, nil
}

// rangesOf returns the code of an entry of a description.
func (d *splitData) rangesOf(e *dwarf.Entry) ([][2]uint64, error) {
	field := e.AttrField(dwarf.AttrRanges)
	if field == nil {
		return d.data.Ranges(e) // of low and high
	}
	var at uint64
	switch v := field.Val.(type) {
	case int64:
		at = uint64(v)
	case uint64: // an index that is looked up, from behind the header on
		at = v + rnglistsHeader
	}
	part := ".debug_ranges"
	if d.version >= 5 {
		part = ".debug_rnglists.dwo"
	}
	c := binfmt.NewCursor(d.ranges, part, 0).BigEndian(d.order == binary.BigEndian)
	c.Seek(at)
	if d.version < 5 {
		return d.oldRanges(c)
	}
	return d.rangeList(c)
}

// maxRanges bounds the pieces of one function.
const maxRanges = 1 << 20

// oldRanges reads pairs of addresses up to one of zeros.
func (d *splitData) oldRanges(c *binfmt.Cursor) (list [][2]uint64, err error) {
	base := d.low
	for len(list) < maxRanges {
		from, to := c.U64(), c.U64()
		switch {
		case c.Err() != nil || from == 0 && to == 0:
			return list, c.Err()
		case from == 1<<64-1:
			base = to
		default:
			list = append(list, [2]uint64{base + from, base + to})
		}
	}
	return list, nil
}

// rangeList reads the entries of a list (DW_RLE).
func (d *splitData) rangeList(c *binfmt.Cursor) (list [][2]uint64, err error) {
	base := d.low
	for len(list) < maxRanges {
		var from, to uint64
		at := c.Offset()
		switch kind := c.U8(); kind {
		case 0: // the end, also behind a defect
			return list, c.Err()
		case 1: // base, as an index
			base = d.address(c, c.ULEB())
			continue
		case 2: // start and end, as indices
			from = d.address(c, c.ULEB())
			to = d.address(c, c.ULEB())
		case 3: // start as an index, length
			from = d.address(c, c.ULEB())
			to = from + c.ULEB()
		case 4: // from the base
			from = base + c.ULEB()
			to = base + c.ULEB()
		case 5: // base
			base = c.U64()
			continue
		case 6:
			from, to = c.U64(), c.U64()
		case 7:
			from = c.U64()
			to = from + c.ULEB()
		default:
			c.FailAt(at, binfmt.ErrUnsupported, "an entry of kind 0 to 7", fmt.Sprint(kind))
		}
		if c.Err() != nil {
			return list, c.Err()
		}
		list = append(list, [2]uint64{from, to})
	}
	return list, nil
}

// address returns an address of .debug_addr.
func (d *splitData) address(c *binfmt.Cursor, index uint64) uint64 {
	if index >= uint64(len(d.addr)/8) {
		c.Fail(binfmt.ErrCorrupt, fmt.Sprintf("the number of one of %d addresses", len(d.addr)/8), fmt.Sprint(index))
		return 0
	}
	return d.order.Uint64(d.addr[8*index:])
}
