package image

import (
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// debugTypeCodeView is IMAGE_DEBUG_TYPE_CODEVIEW.
const debugTypeCodeView = 2

// Limits on the debug directory. Linkers write about five entries.
const (
	debugEntrySize  = 28
	maxDebugEntries = 1024
	maxCodeView     = 64 << 10 // bytes of an RSDS record, most of it the path of the PDB
)

// portablePDB in MinorVersion marks a record of managed debug information.
const portablePDB = 0x504d

// DebugEntry is an entry of the debug directory.
type DebugEntry struct {
	TimeDateStamp    uint32
	MajorVersion     uint16
	MinorVersion     uint16
	Type             uint32 // IMAGE_DEBUG_TYPE_...
	SizeOfData       uint32
	AddressOfRawData uint32 // RVA
	PointerToRawData uint32 // file offset
}

// CodeView is an RSDS record: the identity of the image and the name of its
// PDB. The age is the one in the DBI stream of the PDB.
type CodeView struct {
	ID
	PDB      string // path as the linker wrote it
	Portable bool   // of managed code
}

// readDebugDirectory keeps what can be read; the rest becomes warnings, since
// an image without identity still has a layout.
func (f *File) readDebugDirectory(rva, size uint32) {
	if size == 0 {
		return
	}
	p := f.PE
	off, _, ok := p.fileOffset(uint64(rva))
	if !ok {
		f.warn(&binfmt.Error{Part: "debug directory", Offset: -1, Want: "an RVA within the file", Got: fmt.Sprintf("%#x", rva), Err: binfmt.ErrCorrupt})
		return
	}
	c, err := f.src.cursor("debug directory", off, uint64(size), maxDebugEntries*debugEntrySize)
	if err != nil {
		f.warn(err)
		return
	}
	for c.Len() >= debugEntrySize {
		c.U32() // Characteristics
		e := DebugEntry{TimeDateStamp: c.U32(), MajorVersion: c.U16(), MinorVersion: c.U16(), Type: c.U32(),
			SizeOfData: c.U32(), AddressOfRawData: c.U32(), PointerToRawData: c.U32()}
		p.Debug = append(p.Debug, e)
		if e.Type != debugTypeCodeView {
			continue
		}
		cv, err := f.readCodeView(e)
		if err != nil {
			f.warn(err)
			continue
		}
		p.CodeViews = append(p.CodeViews, cv)
	}
	for i := range p.CodeViews {
		if !p.CodeViews[i].Portable {
			p.CodeView = &p.CodeViews[i]
			return
		}
	}
	if len(p.CodeViews) > 0 {
		p.CodeView = &p.CodeViews[0]
	}
}

func (f *File) readCodeView(e DebugEntry) (CodeView, error) {
	c, err := f.src.cursor("CodeView record", uint64(e.PointerToRawData), uint64(e.SizeOfData), maxCodeView)
	if err != nil {
		return CodeView{}, err
	}
	cv := CodeView{Portable: e.MinorVersion == portablePDB}
	if sig := c.Bytes(4); string(sig) != "RSDS" {
		c.FailAt(int64(e.PointerToRawData), binfmt.ErrUnsupported, `"RSDS"`, fmt.Sprintf("%q", sig))
		return CodeView{}, c.Err()
	}
	copy(cv.GUID[:], c.Bytes(16))
	cv.Age = c.U32()
	if err := c.Err(); err != nil {
		return CodeView{}, err
	}
	// GNU ld writes no path at all, some tools no NUL behind it.
	rest := c.Bytes(uint64(c.Len()))
	name, _, _ := strings.Cut(string(rest), "\x00")
	cv.PDB = name
	return cv, nil
}
