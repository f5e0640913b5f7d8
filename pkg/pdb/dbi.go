package pdb

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	dbiHeaderSize = 64
	dbiSignature  = 0xffffffff
	dbiVersionV70 = 19990903

	dbiFlagIncremental = 1 << 0
	dbiFlagStripped    = 1 << 1
)

// Indices into the optional debug header, which lists further streams.
const (
	debugOmapFromSrc     = 4
	debugSectionHdr      = 5
	debugSectionHdrOrig  = 10
	maxDebugHeaderStream = 64
)

// DBI is the header of the DBI stream.
type DBI struct {
	Version     uint32
	Age         uint32 // the one that the RSDS record of the image names
	Machine     uint16 // as in the COFF header
	BuildNumber uint16 // of the linker: major version in bits 8 to 14, minor in 0 to 7
	Incremental bool   // linked incrementally
	Stripped    bool   // private symbols removed: no functions and lines
	// Numbers of streams, 0xffff if there is none.
	GlobalsStream uint16
	PublicsStream uint16
	SymbolStream  uint16 // symbol records, publics among them

	modules       extent
	contributions extent
	debug         []uint16 // streams of the optional debug header
	stream        *Stream
}

// extent is a part of a stream.
type extent struct {
	pos, size int64
}

// DBI reads the header of the DBI stream. A PDB without one (a type server)
// is binfmt.ErrUnsupported.
func (f *File) DBI() (*DBI, error) { return f.dbi() }

func (f *File) readDBI() (*DBI, error) {
	if f.StreamSize(streamDBI) == 0 {
		return nil, &binfmt.Error{Part: "stream 3: DBI", Offset: -1, Want: "debug information of an image",
			Got: "an empty stream (a PDB of types)", Err: binfmt.ErrUnsupported}
	}
	s := &f.streams[streamDBI]
	c, err := s.cursor("DBI header", 0, min(s.size, dbiHeaderSize))
	if err != nil {
		return nil, err
	}
	d := &DBI{stream: s}
	if sig := c.U32(); c.Err() == nil && sig != dbiSignature {
		c.FailAt(0, binfmt.ErrVersion, "signature 0xffffffff (older headers have none)", fmt.Sprintf("%#x", sig))
	}
	if d.Version = c.U32(); c.Err() == nil && d.Version < dbiVersionV70 {
		c.FailAt(4, binfmt.ErrVersion, fmt.Sprintf("at least %d", dbiVersionV70), fmt.Sprint(d.Version))
	}
	d.Age = c.U32()
	d.GlobalsStream, d.BuildNumber = c.U16(), c.U16()
	d.PublicsStream = c.U16()
	c.U16() // version of the DLL that wrote the PDB
	d.SymbolStream = c.U16()
	c.U16() // its build
	// The sizes of the parts in their order behind the header. The order of
	// the last two differs from that of their sizes.
	pos := int64(dbiHeaderSize)
	next := func(size uint32) extent {
		e := extent{pos, int64(int32(size))}
		if c.Err() == nil && (e.size < 0 || e.size > s.size-pos) {
			c.FailAt(c.Offset()-4, binfmt.ErrCorrupt, fmt.Sprintf("a part that ends within %d bytes", s.size), fmt.Sprintf("%d bytes at %#x", e.size, pos))
		}
		if c.Err() != nil {
			return extent{}
		}
		pos += e.size
		return e
	}
	d.modules = next(c.U32())
	d.contributions = next(c.U32())
	next(c.U32()) // section map
	next(c.U32()) // source files by module
	next(c.U32()) // type servers
	c.U32()       // index of the MFC type server
	debugSize := c.U32()
	next(c.U32()) // edit and continue
	debug := next(debugSize)
	flags := c.U16()
	d.Incremental, d.Stripped = flags&dbiFlagIncremental != 0, flags&dbiFlagStripped != 0
	d.Machine = c.U16()
	if c.Err() != nil {
		return nil, s.locate(c.Err())
	}
	c, err = s.cursor("DBI debug header", debug.pos, min(debug.size, 2*maxDebugHeaderStream))
	if err != nil {
		return nil, err
	}
	for c.Len() >= 2 {
		d.debug = append(d.debug, c.U16())
	}
	return d, nil
}

// debugStream returns the stream that the debug header lists at an index, or
// nil.
func (f *File) debugStream(d *DBI, index int) (*Stream, error) {
	if index >= len(d.debug) || d.debug[index] == noStream {
		return nil, nil
	}
	return f.OpenStream(int(d.debug[index]))
}
