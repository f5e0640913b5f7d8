package image

import (
	"bytes"
	"debug/elf"
	"fmt"
	"iter"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	maxStringTable = 256 << 20 // bytes of symbol names held in memory
	maxSymbolName  = 1 << 20
	symbolChunk    = 4096 // symbols read at a time
)

// Symbol is an entry of an ELF symbol table.
type Symbol struct {
	Name    string
	Value   uint64 // link-time address; offset in its section for an object file
	Size    uint64
	Type    elf.SymType
	Bind    elf.SymBind
	Section elf.SectionIndex
}

// rawSymbol has its name still in the string table.
type rawSymbol struct {
	Symbol
	names   []byte // string table
	nameOff uint32
	at      int64 // file offset of the entry
}

// Symbols yields the symbols of .symtab, or those of .dynsym in a file without
// it, in the order of the table. The names are held in memory (at most 256
// MiB), the symbols are read piece by piece. After an error there are no more.
func (e *ELF) Symbols() iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		for raw, err := range e.rawSymbols() {
			if err == nil {
				err = raw.readName()
			}
			if !yield(raw.Symbol, err) || err != nil {
				return
			}
		}
	}
}

// Symbol looks for a symbol that is defined in the image, by its exact name.
// A global symbol is preferred to a local one of the same name.
func (e *ELF) Symbol(name string) (sym Symbol, found bool, err error) {
	want := append([]byte(name), 0)
	for raw, err := range e.rawSymbols() {
		if err != nil {
			return Symbol{}, false, err
		}
		if off := uint64(raw.nameOff); raw.Section == elf.SHN_UNDEF || off > uint64(len(raw.names)) ||
			!bytes.HasPrefix(raw.names[off:], want) {
			continue
		}
		if global := raw.Bind != elf.STB_LOCAL; global || !found {
			sym, found = raw.Symbol, true
			sym.Name = name
			if global {
				break
			}
		}
	}
	return sym, found, nil
}

func (s *rawSymbol) readName() error {
	off := uint64(s.nameOff)
	if off > uint64(len(s.names)) {
		return &binfmt.Error{Part: "symbol name", Offset: s.at, Want: fmt.Sprintf("an offset below %d", len(s.names)),
			Got: fmt.Sprint(off), Err: binfmt.ErrCorrupt}
	}
	b := s.names[off:]
	b = b[:min(len(b), maxSymbolName)]
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return &binfmt.Error{Part: "symbol name", Offset: s.at, Want: "a NUL-terminated string",
			Got: fmt.Sprintf("%d bytes without NUL", len(b)), Err: binfmt.ErrCorrupt}
	}
	s.Name = string(b[:n])
	return nil
}

func (e *ELF) symbolTable() *elfSection {
	for _, typ := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for i := range e.sections {
			if e.sections[i].typ == typ {
				return &e.sections[i]
			}
		}
	}
	return nil
}

func (e *ELF) rawSymbols() iter.Seq2[rawSymbol, error] {
	return func(yield func(rawSymbol, error) bool) {
		tab := e.symbolTable()
		if tab == nil {
			return
		}
		if uint64(tab.link) >= uint64(len(e.sections)) {
			yield(rawSymbol{}, &binfmt.Error{Part: "symbol table: section of the names", Offset: int64(min(tab.offset, e.src.size)),
				Want: fmt.Sprintf("less than %d", len(e.sections)), Got: fmt.Sprint(tab.link), Err: binfmt.ErrCorrupt})
			return
		}
		strtab := &e.sections[tab.link]
		names, err := e.src.bytes("symbol names", strtab.offset, strtab.size, maxStringTable)
		if err != nil {
			yield(rawSymbol{}, err)
			return
		}
		size := e.layout.size(16, 24)
		for off, left := tab.offset, tab.size/size; left > 0; {
			n := min(left, symbolChunk)
			c, err := e.src.cursor("symbol table", off, n*size, symbolChunk*24)
			if err != nil {
				yield(rawSymbol{}, err)
				return
			}
			c.BigEndian(e.BigEndian)
			for range n {
				s := e.symbol(c)
				s.names = names
				if !yield(s, nil) {
					return
				}
			}
			off += n * size
			left -= n
		}
	}
}

// symbol reads one entry, whose bytes are there.
func (e *ELF) symbol(c *binfmt.Cursor) rawSymbol {
	s := rawSymbol{at: c.Offset(), nameOff: c.U32()}
	if !e.layout.is64 {
		s.Value, s.Size = uint64(c.U32()), uint64(c.U32())
	}
	info := c.U8()
	s.Type, s.Bind = elf.ST_TYPE(info), elf.ST_BIND(info)
	c.U8() // visibility
	s.Section = elf.SectionIndex(c.U16())
	if e.layout.is64 {
		s.Value, s.Size = c.U64(), c.U64()
	}
	return s
}
