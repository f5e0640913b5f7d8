package pdb

import (
	"iter"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Address is a place in the image: a section, from 1, and an offset in it,
// with the RVA where the PDB's section headers give one.
type Address struct {
	Section uint16
	Offset  uint32
	RVA     uint32
	Mapped  bool // RVA is known
}

// Flags of Public.
const (
	PublicCode     = 1 << 0
	PublicFunction = 1 << 1
)

// Public is a name that is visible to other modules (S_PUB32), as the linker
// knows it: decorated. It has no size.
type Public struct {
	Address
	Name  string
	Flags uint32
}

// Proc is a function (S_GPROC32, S_LPROC32 and their forms).
type Proc struct {
	Address
	Name   string // undecorated
	Module int    // index into Modules
	Kind   SymbolKind
	Length uint32 // bytes of code; separated parts are not included
	// DebugStart and DebugEnd are the offsets in the function of the end of
	// its prologue and the start of its epilogue.
	DebugStart uint32
	DebugEnd   uint32
	Type       uint32 // index into the type or, for the _ID kinds, the id stream
	Flags      uint8
	Pos        int64 // of the record in the stream of the module
}

// Local says that the function is not visible outside of its module.
func (p *Proc) Local() bool {
	switch p.Kind {
	case SymLProc32, SymLProc32ID, SymLProc32DPC, SymLProc32DPCID:
		return true
	}
	return false
}

// SepCode is a part of a function that the linker or compiler put elsewhere,
// such as its cold code (S_SEPCODE).
type SepCode struct {
	Address
	Module int
	Length uint32
	Parent Address // start of the code that it was separated from
}

// Publics yields the public symbols in the order of the symbol record stream.
// After an error there are no more.
func (f *File) Publics() iter.Seq2[Public, error] {
	return func(yield func(Public, error) bool) {
		r, m, err := f.globals()
		if err != nil {
			yield(Public{}, err)
			return
		}
		for r.Next() {
			rec := r.Record()
			if rec.Kind != SymPub32 {
				continue
			}
			p, err := decodePublic(rec, m)
			if err = r.s.locate(err); !yield(p, err) || err != nil {
				return
			}
		}
		if r.Err() != nil {
			yield(Public{}, r.Err())
		}
	}
}

func (f *File) globals() (*SymbolReader, *AddressMap, error) {
	m, err := f.addresses()
	if err != nil {
		return nil, nil, err
	}
	r, err := f.GlobalSymbols()
	return r, m, err
}

// Procs yields the functions of all modules: by module, then in the order of
// its records. After an error there are no more.
func (f *File) Procs() iter.Seq2[Proc, error] {
	return func(yield func(Proc, error) bool) {
		f.eachModuleSymbol(func(module int, rec SymbolRecord, m *AddressMap) (bool, error) {
			if !rec.isProc() {
				return true, nil
			}
			p, err := decodeProc(rec, m)
			p.Module = module
			return err != nil || yield(p, nil), err
		}, func(err error) { yield(Proc{}, err) })
	}
}

// SepCodes yields the separated parts of functions, in the order of Procs.
func (f *File) SepCodes() iter.Seq2[SepCode, error] {
	return func(yield func(SepCode, error) bool) {
		f.eachModuleSymbol(func(module int, rec SymbolRecord, m *AddressMap) (bool, error) {
			if rec.Kind != SymSepCode {
				return true, nil
			}
			p, err := decodeSepCode(rec, m)
			p.Module = module
			return err != nil || yield(p, nil), err
		}, func(err error) { yield(SepCode{}, err) })
	}
}

// eachModuleSymbol calls visit for the records of all modules until it says
// false, and fail once if there is a defect.
func (f *File) eachModuleSymbol(visit func(module int, rec SymbolRecord, m *AddressMap) (bool, error), fail func(error)) {
	modules, err := f.modules()
	if err != nil {
		fail(err)
		return
	}
	m, err := f.addresses()
	if err != nil {
		fail(err)
		return
	}
	for i := range modules {
		r, err := f.ModuleSymbols(i)
		if err != nil {
			fail(err)
			return
		}
		for r.Next() {
			more, err := visit(i, r.Record(), m)
			if err != nil {
				fail(r.s.locate(err))
				return
			}
			if !more {
				return
			}
		}
		if r.Err() != nil {
			fail(r.Err())
			return
		}
	}
}

func (r SymbolRecord) isProc() bool {
	switch r.Kind {
	case SymLProc32, SymGProc32, SymLProc32ID, SymGProc32ID, SymLProc32DPC, SymLProc32DPCID:
		return true
	}
	return false
}

// cursor reads the fields of the record.
func (r SymbolRecord) cursor(part string) *binfmt.Cursor {
	return binfmt.NewCursor(r.Data, part, r.Pos+symbolHeaderSize)
}

func address(m *AddressMap, section uint16, offset uint32) Address {
	a := Address{Section: section, Offset: offset}
	a.RVA, a.Mapped = m.RVA(section, offset)
	return a
}

func decodePublic(r SymbolRecord, m *AddressMap) (Public, error) {
	c := r.cursor("public symbol")
	p := Public{Flags: c.U32()}
	offset := c.U32()
	p.Address = address(m, c.U16(), offset)
	p.Name = c.CString()
	return p, c.Err()
}

func decodeProc(r SymbolRecord, m *AddressMap) (Proc, error) {
	c := r.cursor("function symbol")
	p := Proc{Kind: r.Kind, Pos: r.Pos}
	c.Skip(12) // parent, end and next record
	p.Length, p.DebugStart, p.DebugEnd = c.U32(), c.U32(), c.U32()
	p.Type = c.U32()
	offset := c.U32()
	p.Address = address(m, c.U16(), offset)
	p.Flags = c.U8()
	p.Name = c.CString()
	return p, c.Err()
}

func decodeSepCode(r SymbolRecord, m *AddressMap) (SepCode, error) {
	c := r.cursor("separated code")
	c.Skip(8) // parent and end record
	p := SepCode{Length: c.U32()}
	c.U32() // flags
	offset, parentOffset := c.U32(), c.U32()
	p.Address = address(m, c.U16(), offset)
	p.Parent = address(m, c.U16(), parentOffset)
	return p, c.Err()
}
