package pdb

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// SymbolKind is the kind of a CodeView symbol record.
type SymbolKind uint16

// Kinds that this package decodes. The _ID forms differ in what their type
// index refers to, the DPC forms are of code for accelerators.
const (
	SymPub32        SymbolKind = 0x110e // S_PUB32
	SymLProc32      SymbolKind = 0x110f // S_LPROC32
	SymGProc32      SymbolKind = 0x1110 // S_GPROC32
	SymSepCode      SymbolKind = 0x1132 // S_SEPCODE
	SymLProc32ID    SymbolKind = 0x1146 // S_LPROC32_ID
	SymGProc32ID    SymbolKind = 0x1147 // S_GPROC32_ID
	SymLProc32DPC   SymbolKind = 0x1155 // S_LPROC32_DPC
	SymLProc32DPCID SymbolKind = 0x1156 // S_LPROC32_DPC_ID

	SymCompile3      SymbolKind = 0x113c // S_COMPILE3
	SymInlineSite    SymbolKind = 0x114d // S_INLINESITE
	SymInlineSiteEnd SymbolKind = 0x114e // S_INLINESITE_END
	SymInlineSite2   SymbolKind = 0x115d // S_INLINESITE2
)

// SymbolRecord is one CodeView record as it is in the file.
type SymbolRecord struct {
	Kind SymbolKind
	// Pos is where the record starts in its stream. Records refer to each
	// other by it.
	Pos int64
	// Data follow the kind.
	Data []byte
}

// SymbolReader reads the records of one stream in order.
type SymbolReader struct {
	s   *Stream // nil for no records
	pos int64   // of the next record
	end int64
	buf []byte // what is read of the stream, from at on
	at  int64
	rec SymbolRecord
	err error
}

const (
	symbolHeaderSize = 4       // length and kind
	symbolWindow     = 2 << 16 // bytes read at a time; a record has at most half of it
	moduleSignature  = 4       // CV_SIGNATURE_C13
)

// ModuleSymbols reads the symbols of module i; none if it has no stream.
func (f *File) ModuleSymbols(i int) (*SymbolReader, error) {
	m, s, err := f.module(i)
	if err != nil {
		return nil, err
	}
	if s == nil || m.symbols == 0 {
		return &SymbolReader{}, nil
	}
	c, err := s.cursor("module symbols", 0, min(m.symbols, 4))
	if err != nil {
		return nil, err
	}
	if sig := c.U32(); c.Err() == nil && sig != moduleSignature {
		c.FailAt(0, binfmt.ErrUnsupported, "signature 4 (C13)", fmt.Sprint(sig))
	}
	if c.Err() != nil {
		return nil, s.locate(c.Err())
	}
	return &SymbolReader{s: s, pos: 4, end: m.symbols}, nil
}

// GlobalSymbols reads the symbol record stream: publics, global data,
// references to the functions in the modules.
func (f *File) GlobalSymbols() (*SymbolReader, error) {
	d, err := f.dbi()
	if err != nil {
		return nil, err
	}
	if d.SymbolStream == noStream {
		return &SymbolReader{}, nil
	}
	s, err := f.OpenStream(int(d.SymbolStream))
	if err != nil {
		return nil, err
	}
	return &SymbolReader{s: s, end: s.size}, nil
}

// Next reads the next record. It is false at the end and after a defect.
func (r *SymbolReader) Next() bool {
	if r.err != nil || r.pos >= r.end {
		return false
	}
	head := r.window(symbolHeaderSize)
	if r.err != nil {
		return false
	}
	c := binfmt.NewCursor(head, "symbol record", r.pos)
	size := int64(c.U16())
	if left := r.end - r.pos - 2; size < 2 || size > left {
		c.FailAt(r.pos, binfmt.ErrCorrupt, fmt.Sprintf("a length of 2 to %d", left), fmt.Sprint(size))
		r.err = r.s.locate(c.Err())
		return false
	}
	kind := SymbolKind(c.U16())
	b := r.window(2 + size)
	if r.err != nil {
		return false
	}
	r.rec = SymbolRecord{Kind: kind, Pos: r.pos, Data: b[symbolHeaderSize:]}
	r.pos += 2 + size
	return true
}

// Record returns the record that Next read. Its data are valid until the next
// call of Next.
func (r *SymbolReader) Record() SymbolRecord { return r.rec }

// Err returns the defect that ended the records, or nil.
func (r *SymbolReader) Err() error { return r.err }

// window returns n bytes at the position, reading on where they are not in
// the buffer.
func (r *SymbolReader) window(n int64) []byte {
	if n > r.end-r.pos {
		r.err = r.s.locate(&binfmt.Error{Part: "symbol record", Offset: r.pos, Want: fmt.Sprintf("%d bytes", n),
			Got: fmt.Sprint(r.end - r.pos), Err: binfmt.ErrTruncated})
		return nil
	}
	if off := r.pos - r.at; r.buf == nil || n > int64(len(r.buf))-off {
		size := min(r.end-r.pos, symbolWindow)
		if int64(cap(r.buf)) < size {
			r.buf = make([]byte, size)
		}
		r.buf, r.at = r.buf[:size], r.pos
		if _, err := r.s.ReadAt(r.buf, r.at); err != nil {
			r.err = err
			return nil
		}
	}
	off := r.pos - r.at
	return r.buf[off : off+n]
}
