package funcs

import (
	"debug/elf"
	"strings"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// readELF reads all sources of an ELF image.
func (f *finder) readELF() {
	file, err := elf.NewFile(f.img.Reader())
	if err != nil {
		// Without sections there is still the unwind table.
		f.fail(&binfmt.Error{Part: "section table", Offset: -1, Err: err})
		f.readEHFrame()
		return
	}
	f.readSymbolTable(file, elf.SHT_SYMTAB, program.Symtab)
	f.readSymbolTable(file, elf.SHT_DYNSYM, program.Dynsym)
	f.readPLT(file)
	f.readEHFrame()
	f.readPclntab(func() map[uint64]uint64 { return f.relativePointers(file) })
}

// readDebugFile reads the symbols of a separate debug file.
func (f *finder) readDebugFile(name string) error {
	debug, err := debuginfo.OpenDebugFile(f.img, name)
	if err != nil {
		return err
	}
	defer debug.Close()
	file, err := elf.NewFile(debug.Reader())
	if err != nil {
		return &binfmt.Error{File: name, Part: "section table", Offset: -1, Err: err}
	}
	before := len(f.report.Problems)
	f.readSymbolTable(file, elf.SHT_SYMTAB, program.Symtab)
	for _, err := range f.report.Problems[before:] {
		binfmt.InFile(err, name)
	}
	return nil
}

// Suffixes of symbols of separated code, with a number behind them or without:
// GCC and LLVM split functions in two, BOLT as well, and basic block sections
// make parts. A function with ".part.N", ".constprop.N" or ".llvm.N" in its
// name is one of its own that is called.
var partSuffixes = []string{".cold", ".__part"}

// partOf returns the name of the function that a part belongs to.
func partOf(name string) (parent string, ok bool) {
	base := name
	if i := strings.LastIndexByte(base, '.'); i > 0 && isDigits(base[i+1:]) {
		base = base[:i]
	}
	for _, s := range partSuffixes {
		if p, ok := strings.CutSuffix(base, s); ok && p != "" {
			return p, true
		}
	}
	return "", false
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// namedPart is a part whose function is not known yet.
type namedPart struct {
	piece
	size   uint64
	at     uint64
	parent string
}

// symbolNames finds the functions that parts are of.
type symbolNames struct {
	byName map[string][]namedAt
}

type namedAt struct {
	at    uint64
	unit  string
	local bool
}

// find returns the function of a part with a given unit: the one of the same
// unit, otherwise the only one.
func (n symbolNames) find(name, unit string) (uint64, bool) {
	list := n.byName[name]
	for _, s := range list {
		if s.local && s.unit == unit {
			return s.at, true
		}
	}
	for _, s := range list {
		if s.at != list[0].at {
			return 0, false
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	return list[0].at, true
}

// readSymbolTable takes the functions of a symbol table.
func (f *finder) readSymbolTable(file *elf.File, typ elf.SectionType, source program.Source) {
	var table []elf.Symbol
	var err error
	if typ == elf.SHT_SYMTAB {
		table, err = file.Symbols()
	} else {
		table, err = file.DynamicSymbols()
	}
	if err != nil {
		if err != elf.ErrNoSymbols {
			f.fail(&binfmt.Error{Part: source.String(), Offset: -1, Err: err})
		}
		return
	}
	names := symbolNames{map[string][]namedAt{}}
	var parts []namedPart
	unit := ""
	for _, s := range table {
		kind, bind := elf.ST_TYPE(s.Info), elf.ST_BIND(s.Info)
		if kind == elf.STT_FILE {
			unit = s.Name
			continue
		}
		p, ok := f.symbolPiece(file, &s, source)
		if !ok {
			continue
		}
		if p.local = bind == elf.STB_LOCAL; p.local {
			p.unit = baseName(unit)
		}
		at := s.Value - f.img.Base
		if parent, ok := partOf(p.name); ok {
			if s.Size == 0 { // GCC names a part that it then has nothing to put in
				f.report.Pieces[source]++
				f.report.skip(source, EmptyPart)
				continue
			}
			parts = append(parts, namedPart{p, s.Size, at, parent})
			continue
		}
		names.byName[p.name] = append(names.byName[p.name], namedAt{at, p.unit, p.local})
		f.add(p, at, s.Size)
	}
	f.addParts(parts, names)
}

// addParts adds the parts that names show, as functions of their own where
// theirs is not known.
func (f *finder) addParts(parts []namedPart, names symbolNames) {
	for _, p := range parts {
		parent, ok := names.find(p.parent, p.unit)
		if i := program.Containing(f.code, uint32(min(parent, beyond))); ok && i >= 0 {
			p.part, p.piece.parent = true, uint32(parent)
		} else {
			f.report.Orphans++
		}
		f.add(p.piece, p.at, p.size)
	}
}

// beyond is an address that no code has.
const beyond = 1<<32 - 1

// symbolPiece says whether a symbol is of code. Symbols without type count
// where they are defined in an executable section: functions in assembly.
func (f *finder) symbolPiece(file *elf.File, s *elf.Symbol, source program.Source) (piece, bool) {
	p := piece{name: s.Name, source: source}
	if i := strings.IndexByte(p.name, '@'); i > 0 {
		p.name = p.name[:i] // the version
	}
	if s.Section == elf.SHN_UNDEF || s.Name == "" || s.Value < f.img.Base {
		return p, false
	}
	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
	case elf.STT_NOTYPE:
		if s.Size == 0 {
			p.label = true
		}
		if int(s.Section) >= len(file.Sections) {
			return p, false
		}
		sec := file.Sections[s.Section]
		inside := s.Value >= sec.Addr && s.Value-sec.Addr < sec.Size
		// Arm marks the kinds of bytes by symbols: "$x", "$d.17".
		if sec.Flags&elf.SHF_EXECINSTR == 0 || !inside || strings.HasPrefix(s.Name, "$") || strings.HasPrefix(s.Name, ".L") {
			return p, false
		}
	default:
		return p, false
	}
	p.weight = nameWeight(p.name, elf.ST_BIND(s.Info))
	if s.Size == 0 {
		p.weight |= unsized
	}
	return p, true
}

// unsized is the weight of a name without size, which may be a mark in front of
// a function, such as runtime.text of Go.
const unsized = 1 << 6

// nameWeight ranks the names of one function: what others can link to is better
// than a local name, and a name for users is better than one of the
// implementation, which C libraries make the strong one of both.
func nameWeight(name string, bind elf.SymBind) uint8 {
	const local, underscore, weak = 1 << 5, 1 << 1, 1
	w := uint8(0)
	switch bind {
	case elf.STB_WEAK:
		w = weak
	case elf.STB_LOCAL:
		w = local
	}
	if !strings.HasPrefix(name, "_Z") && !strings.HasPrefix(name, "_R") { // mangled C++ and Rust
		w += underscore * uint8(min(len(name)-len(strings.TrimLeft(name, "_")), 8))
	}
	return w
}
