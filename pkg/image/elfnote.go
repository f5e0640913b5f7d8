package image

import (
	"bytes"
	"debug/elf"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	ntGNUBuildID = 3 // owner "GNU"
	ntGoBuildID  = 4 // owner "Go"

	maxNotes   = 4 << 20 // bytes of notes read from one file
	maxBuildID = 64
)

// readNotes looks for the build ids, first in the PT_NOTE segments and then,
// where one is still missing, in the SHT_NOTE sections: object files have no
// segments, and the segments of a separate debug file may point to nothing.
func (f *File) readNotes() {
	e := f.ELF
	budget := uint64(maxNotes)
	read := func(off, size, align uint64) {
		size = min(size, budget)
		budget -= size
		c, err := f.src.cursor("note", off, size, maxNotes)
		if err == nil {
			err = e.parseNotes(c.BigEndian(e.BigEndian), align)
		}
		if err != nil {
			f.warn(err)
		}
	}
	for i := range e.Segments {
		if s := &e.Segments[i]; s.Type == elf.PT_NOTE && s.FileSize > 0 {
			read(s.Offset, s.FileSize, s.Align)
		}
	}
	for i := range e.sections {
		if e.BuildID != nil && e.GoBuildID != "" || budget == 0 {
			return
		}
		if s := &e.sections[i]; s.typ == elf.SHT_NOTE && s.size > 0 {
			read(s.offset, s.size, s.align)
		}
	}
}

// parseNotes walks the notes of one segment or section. The first id of each
// kind counts.
func (e *ELF) parseNotes(c *binfmt.Cursor, align uint64) error {
	// 64-bit files pad to 4 bytes as well, in spite of the ABI, unless the
	// segment says 8 (the property notes).
	if align != 8 {
		align = 4
	}
	start := c.Offset()
	pad := func() {
		if over := uint64(c.Offset()-start) % align; over != 0 {
			c.Skip(min(align-over, uint64(c.Len())))
		}
	}
	for c.Len() > 0 && c.Err() == nil {
		at := c.Offset()
		nameSize, descSize, typ := c.U32(), c.U32(), c.U32()
		// The Go linker counts two NULs to the name, others one.
		owner := string(bytes.TrimRight(c.Bytes(uint64(nameSize)), "\x00"))
		pad()
		desc := c.Bytes(uint64(descSize))
		pad()
		if c.Err() != nil {
			break
		}
		switch {
		case typ == ntGNUBuildID && owner == "GNU" && e.BuildID == nil:
			if len(desc) == 0 || len(desc) > maxBuildID {
				c.FailAt(at+4, binfmt.ErrLimit, fmt.Sprintf("a build id of 1 to %d bytes", maxBuildID), fmt.Sprint(len(desc)))
				break
			}
			e.BuildID = append([]byte(nil), desc...)
		case typ == ntGoBuildID && owner == "Go" && e.GoBuildID == "":
			e.GoBuildID = string(desc)
		}
	}
	return c.Err()
}
