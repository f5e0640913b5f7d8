package pdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Versions of the info stream that have a GUID; older ones have not.
const versionVC70 = 20000404

// Features that the info stream can list.
const (
	FeatureVC110            = 20091201
	FeatureVC140            = 20140508
	FeatureNoTypeMerge      = 0x4d544f4e
	FeatureMinimalDebugInfo = 0x494e494d // /DEBUG:FASTLINK: symbols stay in the object files
)

// Info is the content of the PDB info stream.
type Info struct {
	Version   uint32
	Signature uint32 // time of creation, or a hash in a reproducible build
	Age       uint32 // raised by each tool that writes the PDB; see Identity
	GUID      binfmt.GUID
	Named     []NamedStream // by name
	Features  []uint32      // in file order, FeatureVC140 and so on
}

// NamedStream is a stream that is found by name, such as "/names".
type NamedStream struct {
	Name   string
	Stream int
}

// Minimal says that the PDB was linked with /DEBUG:FASTLINK: it has publics
// but no functions or lines of its own.
func (i *Info) Minimal() bool { return slices.Contains(i.Features, FeatureMinimalDebugInfo) }

// Identity is what an image and its PDB are matched by, with both ages of the
// PDB.
type Identity struct {
	GUID binfmt.GUID
	// Age is the one that the RSDS record of the image names: DBIAge, or
	// InfoAge in a PDB without DBI stream.
	Age     uint32
	InfoAge uint32
	DBIAge  uint32 // 0 without DBI stream
	HasDBI  bool
}

// Identity reads GUID and ages.
func (f *File) Identity() (Identity, error) {
	info, err := f.info()
	if err != nil {
		return Identity{}, err
	}
	id := Identity{GUID: info.GUID, Age: info.Age, InfoAge: info.Age}
	if f.StreamSize(streamDBI) == 0 {
		return id, nil
	}
	dbi, err := f.dbi()
	if err != nil {
		return Identity{}, err
	}
	id.Age, id.DBIAge, id.HasDBI = dbi.Age, dbi.Age, true
	return id, nil
}

// Info reads the PDB info stream.
func (f *File) Info() (Info, error) { return f.info() }

// NamedStream returns the stream with a name; false if there is none.
func (f *File) NamedStream(name string) (*Stream, bool, error) {
	info, err := f.info()
	if err != nil {
		return nil, false, err
	}
	i, found := slices.BinarySearchFunc(info.Named, name, func(n NamedStream, name string) int { return strings.Compare(n.Name, name) })
	if !found {
		return nil, false, nil
	}
	s, err := f.OpenStream(info.Named[i].Stream)
	return s, err == nil, err
}

func (f *File) readInfo() (Info, error) {
	s, err := f.OpenStream(streamInfo)
	if err != nil {
		return Info{}, err
	}
	c, err := s.cursor("PDB info", 0, s.size)
	if err != nil {
		return Info{}, err
	}
	info := Info{Version: c.U32(), Signature: c.U32(), Age: c.U32()}
	if c.Err() == nil && info.Version < versionVC70 {
		c.FailAt(0, binfmt.ErrVersion, fmt.Sprintf("at least %d", versionVC70), fmt.Sprint(info.Version))
	}
	copy(info.GUID[:], c.Bytes(16))
	names := c.Bytes(uint64(c.U32()))
	// A hash table from offsets in names to stream numbers: a bit per bucket
	// that is present, then the present ones.
	c.Part("PDB info: named streams")
	size := c.U32()
	c.U32() // buckets
	present := c.U32()
	words := c.Count(uint64(present), 4, "words of buckets")
	c.Skip(4 * uint64(words))
	deleted := c.Count(uint64(c.U32()), 4, "words of buckets")
	c.Skip(4 * uint64(deleted))
	n := c.Count(uint64(size), 8, "named streams")
	for range n {
		at := c.Offset()
		off, stream := c.U32(), c.U32()
		nc := binfmt.NewCursor(names, "name", 0)
		nc.Seek(uint64(off))
		name := nc.CString()
		if nc.Err() != nil {
			c.FailAt(at, binfmt.ErrCorrupt, "the offset of a string", fmt.Sprintf("%#x", off))
			break
		}
		info.Named = append(info.Named, NamedStream{name, int(stream)})
	}
	// Behind the table stand the number of streams, always 0, and the features.
	c.Part("PDB info: features")
	if c.Len() >= 4 {
		c.U32()
	}
	for c.Len() >= 4 && c.Err() == nil {
		info.Features = append(info.Features, c.U32())
	}
	slices.SortFunc(info.Named, func(a, b NamedStream) int {
		if d := strings.Compare(a.Name, b.Name); d != 0 {
			return d
		}
		return a.Stream - b.Stream
	})
	if c.Err() != nil {
		return Info{}, s.locate(c.Err())
	}
	return info, nil
}
