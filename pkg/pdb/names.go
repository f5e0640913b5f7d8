package pdb

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	namesSignature  = 0xeffeeffe
	namesHeaderSize = 12
)

// readNames reads the bytes of the string table "/names", which holds the
// names of source files.
func (f *File) readNames() ([]byte, error) {
	s, ok, err := f.NamedStream("/names")
	if err != nil || !ok {
		return nil, err
	}
	c, err := s.cursor("string table", 0, min(s.size, namesHeaderSize))
	if err != nil {
		return nil, err
	}
	if sig := c.U32(); c.Err() == nil && sig != namesSignature {
		c.FailAt(0, binfmt.ErrCorrupt, fmt.Sprintf("%#x", uint32(namesSignature)), fmt.Sprintf("%#x", sig))
	}
	c.U32() // version of the hash table behind the strings
	size := int64(c.U32())
	if c.Err() != nil {
		return nil, s.locate(c.Err())
	}
	if c, err = s.cursor("string table", namesHeaderSize, size); err != nil {
		return nil, err
	}
	return c.Bytes(uint64(size)), nil
}
