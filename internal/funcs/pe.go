package funcs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// readPE reads the sources that are in the image.
func (f *finder) readPE() {
	f.readCOFF()
	f.readPclntab(func() map[uint64]uint64 { return nil })
	f.readExports()
	f.readPdata()
}

// Storage classes and the type of functions in COFF symbols.
const (
	coffExternal = 2
	coffStatic   = 3
	coffFile     = 103
	coffFunction = 2 // in the upper half of the type's low byte
	coffSize     = 18
)

// readCOFF takes the functions of the symbol table that MinGW leaves in images.
// They have no size. What others can link to counts even without type: that is
// how functions in assembly are.
func (f *finder) readCOFF() {
	p := f.img.PE
	if p.SymbolOffset == 0 || p.SymbolCount == 0 {
		return
	}
	table, names, err := f.coffTables()
	if err != nil {
		f.fail(err)
		return
	}
	unit := ""
	known := symbolNames{map[string][]namedAt{}}
	var parts []namedPart
	for len(table) >= coffSize {
		raw := table[:coffSize]
		table = table[coffSize:]
		aux := table[:min(len(table), int(raw[17])*coffSize)]
		table = table[len(aux):]
		value, section := binary.LittleEndian.Uint32(raw[8:]), int(int16(binary.LittleEndian.Uint16(raw[12:])))
		typ, class := raw[14]>>4, raw[16]
		if class == coffFile {
			unit = baseName(strings.TrimRight(string(aux), "\x00"))
			continue
		}
		if class != coffExternal && class != coffStatic || section < 1 || section > len(f.img.Sections) ||
			!f.img.Sections[section-1].Exec || typ != coffFunction && class == coffStatic {
			continue
		}
		pc := piece{name: coffName(raw, names), source: program.COFF, label: typ != coffFunction, local: class == coffStatic}
		if pc.name == "" {
			continue
		}
		pc.weight = nameWeight(pc.name, elf.STB_GLOBAL)
		if pc.local {
			pc.unit, pc.weight = unit, nameWeight(pc.name, elf.STB_LOCAL)
		}
		at := f.img.Sections[section-1].RVA + uint64(value)
		if parent, ok := partOf(pc.name); ok {
			parts = append(parts, namedPart{pc, 0, at, parent})
			continue
		}
		known.byName[pc.name] = append(known.byName[pc.name], namedAt{at, pc.unit, pc.local})
		f.add(pc, at, 0)
	}
	f.addParts(parts, known)
}

// coffTables reads the symbols and the string table behind them, which starts
// with its own size.
func (f *finder) coffTables() (symbols, names []byte, err error) {
	p := f.img.PE
	at, n := int64(p.SymbolOffset), uint64(p.SymbolCount)*coffSize
	size := f.img.Reader().Size()
	if at > size || n > uint64(size-at) {
		return nil, nil, &binfmt.Error{Part: "COFF symbol table", Offset: min(at, size), Want: fmt.Sprintf("%d bytes", n),
			Got: fmt.Sprintf("a file of %d", size), Err: binfmt.ErrTruncated}
	}
	symbols = make([]byte, n)
	if _, err := f.img.Reader().ReadAt(symbols, at); err != nil {
		return nil, nil, err
	}
	var head [4]byte
	if k, _ := f.img.Reader().ReadAt(head[:], at+int64(n)); k < len(head) {
		return symbols, nil, nil
	}
	names = make([]byte, min(int64(binary.LittleEndian.Uint32(head[:])), size-at-int64(n)))
	_, err = f.img.Reader().ReadAt(names, at+int64(n))
	return symbols, names, err
}

// coffName returns the name in a symbol: 8 bytes, or 4 zeros and an offset.
func coffName(raw, names []byte) string {
	if binary.LittleEndian.Uint32(raw) != 0 {
		return strings.TrimRight(string(raw[:8]), "\x00")
	}
	off := uint64(binary.LittleEndian.Uint32(raw[4:]))
	if off >= uint64(len(names)) {
		return ""
	}
	if n := bytes.IndexByte(names[off:], 0); n >= 0 {
		return string(names[off : off+uint64(n)])
	}
	return ""
}

// baseName is the last part of a path of Windows or Unix.
func baseName(p string) string {
	return p[strings.LastIndexAny(p, `/\`)+1:]
}

// readExports takes the functions that a DLL exports by name.
func (f *finder) readExports() {
	dir := f.img.PE.Directory(image.DirectoryExport)
	if dir.Size == 0 {
		return
	}
	data := f.bytesAt("export table", uint64(dir.RVA), uint64(dir.Size))
	c := binfmt.NewCursor(data, "export table", 0)
	c.Skip(20) // time, version, name, first ordinal
	nfuncs, nnames := uint64(c.U32()), uint64(c.U32())
	funcsAt, namesAt, ordinalsAt := c.U32(), c.U32(), c.U32()
	// The parts lie in the directory, as linkers make it.
	part := func(rva uint32, n uint64, size int, what string) *binfmt.Cursor {
		p := binfmt.NewCursor(data, "export table: "+what, 0)
		p.Seek(uint64(rva - dir.RVA))
		if p.Count(n, size, what); p.Err() != nil && c.Err() == nil {
			c.FailAt(p.Offset(), binfmt.ErrTruncated, fmt.Sprintf("%d %s", n, what), fmt.Sprintf("%d bytes", p.Len()))
		}
		return p
	}
	funcs, names, ordinals := part(funcsAt, nfuncs, 4, "addresses"), part(namesAt, nnames, 4, "names"), part(ordinalsAt, nnames, 2, "ordinals")
	if c.Err() != nil {
		f.fail(c.Err())
		return
	}
	for range nnames {
		text := binfmt.NewCursor(data, "export table: name", 0)
		text.Seek(uint64(names.U32() - dir.RVA))
		name := text.CString()
		index := uint64(ordinals.U16())
		if text.Err() != nil || index >= nfuncs {
			f.report.Pieces[program.Dynsym]++
			f.report.skip(program.Dynsym, OutsideCode)
			continue
		}
		entry := *funcs
		entry.Skip(4 * index)
		// An address in the directory is the name of another DLL's function;
		// data are exported as well.
		rva := entry.U32()
		if rva-dir.RVA < dir.Size || program.Containing(f.code, rva) < 0 {
			continue
		}
		f.add(piece{name: name, source: program.Dynsym, label: true}, uint64(rva), 0)
	}
}
