package perfdata

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// ID is a build id of an ELF file: 20 bytes as a rule, 16 or 8 with some
// linkers.
type ID []byte

// String returns the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id) }

// Equal compares two ids. Recorders of old stored short ids with zeros up to
// 20 bytes, so zeros at the end do not count.
func (id ID) Equal(other ID) bool { return bytes.Equal(id.trim(), other.trim()) }

func (id ID) trim() ID { return bytes.TrimRight(id, "\x00") }

const idSize = 20 // room for an id in MMAP2 and BUILD_ID records

// BuildID is the build id of one file that the recording refers to.
type BuildID struct {
	Mode CPUMode // ModeKernel for the kernel and its modules
	PID  int32   // -1, or the machine that a guest's file belongs to
	ID   ID
	Name string // path, or a name in brackets such as [kernel.kallsyms]
}

// oldKernelName is what a reader of today's layout finds as the name of the
// kernel in recordings of perf before 2010, which had no pid field.
const oldKernelName = "nel.kallsyms]"

// decodeBuildIDs reads the build ids that the recorder looked up at its end.
func decodeBuildIDs(f *File, c *sectionCursor) {
	list, old := buildIDList(c.Cursor, false)
	if old {
		c.Seek(0)
		list, _ = buildIDList(c.Cursor, true)
	}
	f.Features.BuildIDs = append(f.Features.BuildIDs, list...)
}

// buildIDList reads entries up to the end or a defect. It gives up when it
// sees that the entries have the old layout but were not read as such.
func buildIDList(c *binfmt.Cursor, old bool) (list []BuildID, isOld bool) {
	for c.Len() > 0 {
		b := decodeBuildID(c, old)
		if c.Err() != nil {
			break
		}
		if !old && b.Name == oldKernelName {
			return nil, true
		}
		list = append(list, b)
	}
	return list, false
}

// decodeBuildID reads one entry with its record header. The old layout has no
// pid.
func decodeBuildID(c *binfmt.Cursor, old bool) BuildID {
	at := c.Offset()
	c.U32() // type; 0 in many files
	misc, size := c.U16(), c.U16()
	fixed := uint64(36)
	if old {
		fixed = 32
	}
	if c.Err() == nil && uint64(size) < fixed {
		c.FailAt(at+6, binfmt.ErrCorrupt, fmt.Sprintf("an entry of at least %d bytes", fixed), fmt.Sprint(size))
	}
	b := BuildID{Mode: CPUMode(misc & miscModeMask), PID: -1}
	if !old {
		b.PID = int32(c.U32())
	}
	id := c.Bytes(idSize + 4)
	name := c.Bytes(uint64(size) - fixed)
	if c.Err() != nil {
		return BuildID{}
	}
	n := idSize
	if misc&MiscBuildIDSize != 0 {
		n = min(n, int(id[idSize]))
	}
	b.ID = bytes.Clone(id[:n])
	b.Name = cString(name)
	return b
}

// buildID appends one entry with its record header.
func (e *encoder) buildID(b BuildID) {
	start := len(e.b)
	e.u32(uint32(TypeBuildID))
	e.u16(uint16(b.Mode) | MiscBuildIDSize)
	e.u16(0)
	e.u32(uint32(b.PID))
	n := min(len(b.ID), idSize)
	e.bytes(b.ID[:n])
	e.zeros(idSize - n)
	e.u8(uint8(n))
	e.zeros(3)
	e.bytes(append([]byte(b.Name), 0))
	e.zeros(-(len(e.b) - start) & 7)
	e.PutUint16(e.b[start+6:], uint16(len(e.b)-start))
}
