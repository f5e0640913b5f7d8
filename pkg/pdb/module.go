package pdb

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// moduleSize is the fixed part of a module in the DBI stream.
const moduleSize = 64

// Module is a compiland: an object file, or an object of a library, or what
// the linker made itself ("* Linker *").
type Module struct {
	Name   string // object file, or import name
	Object string // archive that it came from, else the object file
	// Stream holds symbols and lines, -1 if the module has none.
	Stream int

	symbols, c11, c13 int64 // sizes of the parts of the stream
}

// Modules reads the list of modules, in link order. Index i of the result is
// the number of the module elsewhere. The result is shared, not to be changed.
func (f *File) Modules() ([]Module, error) { return f.modules() }

func (f *File) readModules() ([]Module, error) {
	d, err := f.dbi()
	if err != nil {
		return nil, err
	}
	s := d.stream
	c, err := s.cursor("modules", d.modules.pos, d.modules.size)
	if err != nil {
		return nil, err
	}
	var out []Module
	owner := map[int]int{} // module by stream
	start := c.Pos()
	for c.Len() >= moduleSize {
		c.Part(fmt.Sprintf("module %d", len(out)))
		m := Module{}
		c.Skip(4 + contributionSize) // a contribution of the module: the first
		c.U16()                      // flags
		at := c.Offset()
		stream := c.U16()
		m.symbols, m.c11, m.c13 = int64(c.U32()), int64(c.U32()), int64(c.U32())
		c.Skip(2 + 2 + 4 + 4 + 4) // number of source files, where names are
		m.Name, m.Object = c.CString(), c.CString()
		if over := (c.Pos() - start) % 4; over != 0 {
			c.Skip(uint64(min(4-over, c.Len())))
		}
		m.Stream = int(stream)
		if stream == noStream {
			m.Stream = -1
		} else if c.Err() == nil {
			// A stream with two owners would be read over and over.
			if other, ok := owner[m.Stream]; ok {
				c.FailAt(at, binfmt.ErrCorrupt, "a stream of its own", fmt.Sprintf("stream %d of module %d", stream, other))
			}
			owner[m.Stream] = len(out)
			if size := f.StreamSize(m.Stream); m.symbols > size || m.c11 > size-m.symbols || m.c13 > size-m.symbols-m.c11 {
				c.FailAt(at, binfmt.ErrCorrupt, fmt.Sprintf("parts that fit into stream %d of %d bytes", stream, size),
					fmt.Sprintf("%d, %d and %d", m.symbols, m.c11, m.c13))
			}
		}
		if c.Err() != nil {
			return nil, s.locate(c.Err())
		}
		out = append(out, m)
	}
	return out, nil
}

// module returns module i and its stream, nil if it has none.
func (f *File) module(i int) (*Module, *Stream, error) {
	list, err := f.modules()
	if err != nil {
		return nil, nil, err
	}
	if i < 0 || i >= len(list) {
		return nil, nil, &binfmt.Error{Part: "module number", Offset: -1, Want: fmt.Sprintf("less than %d", len(list)),
			Got: fmt.Sprint(i), Err: binfmt.ErrCorrupt}
	}
	m := &list[i]
	if m.Stream < 0 {
		return m, nil, nil
	}
	s, err := f.OpenStream(m.Stream)
	return m, s, err
}
