package carrier

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

type kindOfObject uint8

const (
	notObject kindOfObject = iota
	coffObject
	bigObject       // sections are counted with 32 bits
	importObject    // stands for a function of a DLL, has no data
	anonymousObject // content that only the compiler knows, such as code before its generation
)

// machines are those that compilers of PE code have objects for.
var machines = []uint16{0x14c, 0x8664, 0xaa64, 0xa641, 0xa64e, 0x1c0, 0x1c2, 0x1c4, 0x200, 0xebc}

// classBig is the class id of objects with 32 bits of section numbers,
// {D1BAA1C7-BAEE-4BA9-AF20-FAF66AA4DCB8}.
var classBig = []byte{0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b, 0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc, 0xb8}

const (
	coffHeader      = 20
	anonymousHeader = 32
	bigHeader       = 56
	sectionEntry    = 40
	coffSymbol      = 18
	bigSymbol       = 20
	// uninitialized sections (IMAGE_SCN_CNT_UNINITIALIZED_DATA) have a size but
	// no data.
	uninitialized = 0x80
	// maxSectionName bounds a name in the string table.
	maxSectionName = 256
)

// objectKind tells the kind of object by its first bytes.
func objectKind(head []byte) kindOfObject {
	if len(head) < coffHeader {
		return notObject
	}
	word := func(at int) uint16 { return binary.LittleEndian.Uint16(head[at:]) }
	if word(0) != 0 || word(2) != 0xffff {
		if slices.Contains(machines, word(0)) {
			return coffObject
		}
		return notObject
	}
	switch version := word(4); {
	case version == 0:
		return importObject
	case len(head) < anonymousHeader:
		return notObject
	case version >= 2 && len(head) >= bigHeader && bytes.Equal(head[12:28], classBig):
		return bigObject
	}
	return anonymousObject
}

// object is what the header of an object says.
type object struct {
	file     part  // the object in its file or library
	table    int64 // offset of the section table
	sections uint32
	strings  int64 // offset of the string table
}

// searchObject searches an object that starts with head. The name of a library
// member is that of file.
func (f *finder) searchObject(head []byte, file part) {
	switch objectKind(head) {
	case importObject:
	case anonymousObject:
		file.where = file.inside(func() string { return "object data" })
		f.scan(file)
	default:
		f.searchSections(readObject(head, file))
	}
}

// inside names a thing in the part.
func (p part) inside(thing func() string) func() string {
	return func() string {
		if name := p.name(); name != "" {
			return name + ": " + thing()
		}
		return thing()
	}
}

// readObject reads the header of an object with a section table.
func readObject(head []byte, file part) *object {
	o := &object{file: file}
	c := binfmt.NewCursor(head, "object header", file.at)
	var symbols, symbolCount uint32
	if objectKind(head) == bigObject {
		c.Skip(44)
		o.sections, symbols, symbolCount = c.U32(), c.U32(), c.U32()
		o.table = bigHeader
		o.strings = int64(symbols) + bigSymbol*int64(symbolCount)
	} else {
		c.Skip(2)
		o.sections = uint32(c.U16())
		c.Skip(4)
		symbols, symbolCount = c.U32(), c.U32()
		o.table = coffHeader + int64(c.U16()) // behind the optional header
		o.strings = int64(symbols) + coffSymbol*int64(symbolCount)
	}
	return o
}

// searchSections searches the sections of an object.
func (f *finder) searchSections(o *object) {
	const piece = 1024 // entries of the section table that are read at once
	if o.table+sectionEntry*int64(o.sections) > o.file.size {
		f.fail(o.file.fail("section table", o.table, fmt.Sprintf("%d sections", o.sections), fmt.Sprintf("%d bytes", max(o.file.size-o.table, 0)), binfmt.ErrTruncated))
		return
	}
	for first := uint32(0); first < o.sections; first += piece {
		n := min(piece, o.sections-first)
		at := o.table + sectionEntry*int64(first)
		b, err := o.file.read("section table", at, sectionEntry*int64(n))
		if err != nil {
			f.fail(err)
			return
		}
		c := binfmt.NewCursor(b, "section table", o.file.at+at)
		for i := range n {
			short := c.Bytes(8)
			c.Skip(8)
			size, data := c.U32(), c.U32()
			c.Skip(12)
			if flags := c.U32(); flags&uninitialized != 0 {
				continue
			}
			number := first + i + 1
			name := o.file.inside(func() string { return fmt.Sprintf("section %d %s", number, shown(o.sectionName(short))) })
			f.section(o.file, name, data, size)
		}
	}
}

// sectionName resolves a name that does not fit into the section table: it is
// in the string table at the decimal offset that follows a slash. A name that
// cannot be resolved stays as it is.
func (o *object) sectionName(short []byte) string {
	name := strings.TrimRight(string(short), "\x00")
	digits, ok := strings.CutPrefix(name, "/")
	if !ok {
		return name
	}
	offset, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return name
	}
	b := make([]byte, maxSectionName)
	n, err := o.file.r.ReadAt(b, o.strings+int64(offset))
	if err != nil && err != io.EOF {
		return name
	}
	long, _, ok := bytes.Cut(b[:n], []byte{0})
	if !ok || len(long) == 0 {
		return name
	}
	return string(long)
}
