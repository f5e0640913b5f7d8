package pdb

import (
	"fmt"
	"iter"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// InlineSite is a call that was replaced by the code of the called function
// (S_INLINESITE, S_INLINESITE2).
type InlineSite struct {
	// Inlinee is the called function, an index into the id stream. See
	// [File.IDName].
	Inlinee uint32
	// Depth is 1 for a call in the function itself, 2 for one in the code of
	// an inlined call, and so on. The sites of a function come with each one
	// before those inside of it.
	Depth int
	// File and Line are where the called function begins; "" and 0 if the
	// module does not say.
	File string
	Line uint32
	// Ranges are the code of the call, that of calls inside of it included,
	// in the order of the record.
	Ranges []InlineRange
}

// InlineRange is a piece of code with its line in the inlined function.
type InlineRange struct {
	Address
	Length uint32
	File   string
	Line   uint32
	// Chunk is 0 for the code of the function itself, n for its n-th
	// separated part. Offset then counts from there, and the address is not
	// mapped.
	Chunk uint32
}

// InlinedProc is a function with the calls inlined into it.
type InlinedProc struct {
	Proc
	Sites []InlineSite
}

// ModuleInlines yields the functions of module i, with the calls inlined into
// each, in the order of the records. After an error there are no more.
func (f *File) ModuleInlines(i int) iter.Seq2[InlinedProc, error] {
	return func(yield func(InlinedProc, error) bool) {
		r, err := f.ModuleSymbols(i)
		if err != nil {
			yield(InlinedProc{}, err)
			return
		}
		m, err := f.addresses()
		if err != nil {
			yield(InlinedProc{}, err)
			return
		}
		var decoder *inlineDecoder
		var current InlinedProc
		depth := 0
		started := false
		flush := func() bool {
			p := current
			current, depth = InlinedProc{}, 0
			return !started || yield(p, nil)
		}
		for r.Next() {
			rec := r.Record()
			switch {
			case rec.isProc():
				if !flush() {
					return
				}
				current.Proc, err = decodeProc(rec, m)
				current.Module, started = i, true
			case (rec.Kind == SymInlineSite || rec.Kind == SymInlineSite2) && started:
				if decoder == nil {
					if decoder, err = f.newInlineDecoder(i, m); err != nil {
						yield(InlinedProc{}, err)
						return
					}
				}
				depth++
				var site InlineSite
				site, err = decoder.site(rec, &current.Proc)
				site.Depth = depth
				current.Sites = append(current.Sites, site)
			case rec.Kind == SymInlineSiteEnd:
				depth = max(depth-1, 0)
			}
			if err != nil {
				yield(InlinedProc{}, r.s.locate(err))
				return
			}
		}
		if r.Err() != nil {
			yield(InlinedProc{}, r.Err())
			return
		}
		flush()
	}
}

// sourceLine is a line of a file, given by the offset of its checksum.
type sourceLine struct {
	file, line uint32
}

// inlineDecoder decodes the inline sites of one module.
type inlineDecoder struct {
	lines *lineReader
	m     *AddressMap
	start map[uint32]sourceLine // of inlinees
}

func (f *File) newInlineDecoder(module int, m *AddressMap) (*inlineDecoder, error) {
	lines, err := f.newLineReader(module)
	if err != nil {
		return nil, err
	}
	d := &inlineDecoder{lines: lines, m: m, start: map[uint32]sourceLine{}}
	for k, sub := range lines.inlinees {
		c := lines.cursor(fmt.Sprintf("inlinee lines %d", k), sub)
		const extended = 1 // entries name further files that the inlinee consists of
		signature := c.U32()
		for c.Len() > 0 && c.Err() == nil {
			id := c.U32()
			d.start[id] = sourceLine{c.U32(), c.U32()}
			if signature == extended {
				c.Skip(4 * uint64(c.U32()))
			}
		}
		if c.Err() != nil {
			return nil, lines.s.locate(c.Err())
		}
	}
	return d, nil
}

// Operations of binary annotations (CV_BinaryAnnotationOpcode of cvinfo.h).
const (
	annotationEnd = iota
	codeOffset
	changeCodeOffsetBase
	changeCodeOffset
	changeCodeLength
	changeFile
	changeLineOffset
	changeLineEndDelta
	changeRangeKind
	changeColumnStart
	changeColumnEndDelta
	changeCodeOffsetAndLineOffset
	changeCodeLengthAndCodeOffset
	changeColumnEnd
)

// site decodes a record. Its annotations are a program: each change of the
// code offset begins a piece that reaches to the next one, or as far as a
// length says, which also moves the offset there.
func (d *inlineDecoder) site(rec SymbolRecord, proc *Proc) (InlineSite, error) {
	c := rec.cursor("inline site")
	c.Skip(8) // parent and end record
	site := InlineSite{Inlinee: c.U32()}
	if rec.Kind == SymInlineSite2 {
		c.U32() // how often the call was executed when the compiler learned
	}
	at, known := d.start[site.Inlinee]
	if known && c.Err() == nil {
		name, err := d.lines.file(c, c.Offset(), at.file)
		if err != nil {
			return site, err
		}
		site.File, site.Line = name, at.line
	}
	var offset, chunk uint32
	file, line := site.File, at.line
	open := false // the last range has no length yet
	begin := func() {
		if last := len(site.Ranges) - 1; open && site.Ranges[last].Chunk == chunk {
			site.Ranges[last].Length = offset - min(offset, site.Ranges[last].Offset-chunkStart(proc, chunk))
		}
		r := InlineRange{File: file, Line: line, Chunk: chunk}
		r.Address = Address{Section: proc.Section, Offset: chunkStart(proc, chunk) + offset}
		if chunk == 0 {
			r.Address = address(d.m, proc.Section, r.Offset)
		}
		site.Ranges = append(site.Ranges, r)
		open = true
	}
	for c.Len() > 0 && c.Err() == nil {
		opAt := c.Offset()
		op := packedUint(c)
		if op == annotationEnd {
			break
		}
		arg := packedUint(c)
		switch op {
		case codeOffset:
			offset = arg
			begin()
		case changeCodeOffsetBase:
			chunk, offset, open = arg, 0, false
		case changeCodeOffset:
			offset += arg
			begin()
		case changeCodeLength:
			if open {
				site.Ranges[len(site.Ranges)-1].Length = arg
			}
			offset += arg
			open = false
		case changeFile:
			if c.Err() == nil {
				name, err := d.lines.file(c, opAt, arg)
				if err != nil {
					return site, err
				}
				file = name
			}
		case changeLineOffset:
			line += uint32(signed(arg))
		case changeCodeOffsetAndLineOffset:
			offset += arg & 0xf
			line += uint32(signed(arg >> 4))
			begin()
		case changeCodeLengthAndCodeOffset:
			offset += packedUint(c)
			begin()
			site.Ranges[len(site.Ranges)-1].Length = arg
			open = false
		case changeLineEndDelta, changeRangeKind, changeColumnStart, changeColumnEndDelta, changeColumnEnd:
			// ends and columns are not kept
		default:
			c.FailAt(opAt, binfmt.ErrUnsupported, fmt.Sprintf("an annotation of 1 to %d", changeColumnEnd), fmt.Sprint(op))
		}
	}
	return site, c.Err()
}

// chunkStart is where the offsets of a chunk count from.
func chunkStart(proc *Proc, chunk uint32) uint32 {
	if chunk == 0 {
		return proc.Offset
	}
	return 0
}

// packedUint reads an unsigned integer of 7, 14 or 29 bits in 1, 2 or 4 bytes,
// the highest byte first.
func packedUint(c *binfmt.Cursor) uint32 {
	at, b := c.Offset(), uint32(c.U8())
	switch {
	case b&0x80 == 0:
		return b
	case b&0xc0 == 0x80:
		return b&0x3f<<8 | uint32(c.U8())
	case b&0xe0 == 0xc0:
		b = b & 0x1f << 8
		b = (b | uint32(c.U8())) << 8
		b = (b | uint32(c.U8())) << 8
		return b | uint32(c.U8())
	}
	c.FailAt(at, binfmt.ErrCorrupt, "a packed integer", fmt.Sprintf("first byte %#x", b))
	return 0
}

// signed undoes the encoding of signed integers, which keeps the sign in the
// lowest bit.
func signed(v uint32) int32 {
	if v&1 != 0 {
		return -int32(v >> 1)
	}
	return int32(v >> 1)
}
