package pdb

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Kinds of the subsections of C13 line information.
const (
	c13Lines     = 0xf2
	c13Checksums = 0xf4
	c13Inlinees  = 0xf6
)

const (
	linesHaveColumns = 1 << 0
	lineBlockSize    = 12
	lineEntrySize    = 8
	columnEntrySize  = 4
)

// Line numbers that stand for no source. They tell a debugger whether to step
// into the code.
const (
	LineAlwaysStepInto = 0xfeefee
	LineNeverStepInto  = 0xf00f00
)

// Line says which source line a piece of code came from.
type Line struct {
	Address
	Length    uint32 // bytes of code up to the next entry
	Module    int    // index into Modules
	File      string // as the compiler was given it
	Line      uint32 // or LineAlwaysStepInto, LineNeverStepInto
	EndLine   uint32 // last line of the statement
	Column    uint16 // 0 if unknown
	Statement bool   // the start of a statement, not of an expression in it
}

// Lines yields the line entries of all modules: by module, then by function
// in file order, then by address. After an error there are no more.
func (f *File) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		modules, err := f.modules()
		if err != nil {
			yield(Line{}, err)
			return
		}
		for i := range modules {
			for l, err := range f.ModuleLines(i) {
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// ModuleLines yields the line entries of module i: by function in file order,
// then by address.
func (f *File) ModuleLines(i int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		r, err := f.newLineReader(i)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for k, sub := range r.lines {
			lines, err := r.function(r.cursor(fmt.Sprintf("lines %d", k), sub))
			if err != nil {
				yield(Line{}, err)
				return
			}
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// lineReader holds the line information of one module.
type lineReader struct {
	f         *File
	m         *AddressMap
	s         *Stream
	module    int
	data      []byte // C13 part of the module's stream
	pos       int64  // of data in the stream
	lines     []extent
	inlinees  []extent
	checksums extent
	files     map[uint32]string // by offset in the checksums
}

func (f *File) newLineReader(module int) (*lineReader, error) {
	mod, s, err := f.module(module)
	if err != nil {
		return nil, err
	}
	r := &lineReader{f: f, s: s, module: module, files: map[uint32]string{}}
	if s == nil || mod.c13 == 0 {
		return r, nil
	}
	if r.m, err = f.addresses(); err != nil {
		return nil, err
	}
	r.pos = mod.symbols + mod.c11
	c, err := s.cursor("line information", r.pos, mod.c13)
	if err != nil {
		return nil, err
	}
	r.data = c.Bytes(uint64(mod.c13))
	c = r.cursor("line information", extent{0, mod.c13})
	for c.Len() >= 8 {
		kind, size := c.U32(), c.U32()
		e := extent{int64(c.Pos()), int64(size)}
		c.Skip(uint64(size))
		if over := size % 4; over != 0 {
			c.Skip(uint64(min(4-int(over), c.Len())))
		}
		if c.Err() != nil {
			return nil, s.locate(c.Err())
		}
		switch kind {
		case c13Lines:
			r.lines = append(r.lines, e)
		case c13Inlinees:
			r.inlinees = append(r.inlinees, e)
		case c13Checksums:
			r.checksums = e
		}
	}
	return r, nil
}

// cursor reads a part of data, with positions in the stream.
func (r *lineReader) cursor(part string, e extent) *binfmt.Cursor {
	return binfmt.NewCursor(r.data[e.pos:e.pos+e.size], part, r.pos+e.pos)
}

// function decodes one lines subsection, which is about one contiguous piece
// of code. Its blocks, one for each source file, can interleave, so the
// entries are sorted before each one's length is taken from the next.
func (r *lineReader) function(c *binfmt.Cursor) ([]Line, error) {
	start, section, flags, size := c.U32(), c.U16(), c.U16(), c.U32()
	var out []Line
	for c.Len() > 0 && c.Err() == nil {
		at := c.Offset()
		fileAt, n, blockSize := c.U32(), uint64(c.U32()), uint64(c.U32())
		entry := uint64(lineEntrySize)
		if flags&linesHaveColumns != 0 {
			entry += columnEntrySize
		}
		if c.Err() == nil && (blockSize < lineBlockSize || n > (blockSize-lineBlockSize)/entry) {
			c.FailAt(at+8, binfmt.ErrCorrupt, fmt.Sprintf("a block of %d lines", n), fmt.Sprintf("%d bytes", blockSize))
		}
		b := binfmt.NewCursor(c.Bytes(max(blockSize, lineBlockSize)-lineBlockSize), "lines", at+lineBlockSize)
		if c.Err() != nil {
			break
		}
		name, err := r.file(c, at, fileAt)
		if err != nil {
			return nil, err
		}
		columns := binfmt.NewCursor(nil, "columns", 0)
		if flags&linesHaveColumns != 0 {
			b.Seek(n * lineEntrySize)
			columns = binfmt.NewCursor(b.Bytes(n*columnEntrySize), "columns", b.Offset())
			b.Seek(0)
		}
		for range n {
			offset, bits := b.U32(), b.U32()
			l := Line{Module: r.module, File: name, Line: bits & 0xffffff, Statement: bits>>31 != 0}
			l.EndLine = l.Line + bits>>24&0x7f
			l.Section, l.Offset = section, offset
			if columns.Len() > 0 {
				l.Column = columns.U16()
				columns.U16() // end
			}
			out = append(out, l)
		}
	}
	if c.Err() != nil {
		return nil, r.s.locate(c.Err())
	}
	slices.SortStableFunc(out, func(a, b Line) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := range out {
		end := size
		if i+1 < len(out) {
			end = out[i+1].Offset
		}
		l := &out[i]
		if l.Offset < end {
			l.Length = end - l.Offset
		}
		l.Address = address(r.m, section, start+l.Offset)
	}
	return out, nil
}

// file returns the name of the source file whose checksum is at an offset;
// at is where the lines refer to it.
func (r *lineReader) file(c *binfmt.Cursor, at int64, checksum uint32) (string, error) {
	if name, ok := r.files[checksum]; ok {
		return name, nil
	}
	if int64(checksum) > r.checksums.size-4 {
		c.FailAt(at, binfmt.ErrCorrupt, fmt.Sprintf("a file within %d bytes of checksums", r.checksums.size), fmt.Sprintf("%#x", checksum))
		return "", r.s.locate(c.Err())
	}
	names, err := r.f.names()
	if err != nil {
		return "", err
	}
	sum := r.cursor("source file", extent{r.checksums.pos + int64(checksum), 4})
	name := binfmt.NewCursor(names, "source file", 0)
	off := sum.U32()
	name.Seek(uint64(off))
	text := name.CString()
	if name.Err() != nil {
		sum.FailAt(r.pos+r.checksums.pos+int64(checksum), binfmt.ErrCorrupt, `the offset of a string in "/names"`, fmt.Sprintf("%#x", off))
		return "", r.s.locate(sum.Err())
	}
	r.files[checksum] = text
	return text, nil
}
