package carrier

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// smallSPD makes an SPD with one function, and a number of modules.
func smallSPD(t testing.TB, name string, modules int) []byte {
	t.Helper()
	f := &spd.File{Header: spd.Header{Flags: spd.HeaderFresh, Binary: name, Age: 1}}
	for i := range modules {
		function := fmt.Sprintf("function%d", i)
		f.Modules = append(f.Modules, spd.Module{Name: fmt.Sprintf("module %d", i), Flags: spd.ModuleFresh, Functions: []spd.Function{{
			Symbol: spd.Symbol{ID: spd.FunctionID(function), Name: function, SymbolFlags: spd.SymbolAlways},
			RVA:    0x1000, Length: 6,
			Blocks: []spd.Block{
				{Edges: []spd.Edge{{To: 2}}},
				{Instructions: 2, Ranges: []spd.Range{{Start: 0, Length: 6}}, Edges: []spd.Edge{{To: 3}}},
				{},
			},
		}}})
	}
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// moduleAt is the offset of the first module of an SPD.
func moduleAt(data []byte) int { return int(binary.LittleEndian.Uint32(data[atModuleData:])) }

// patched is data with a 32-bit field changed.
func patched(data []byte, at int, value uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[at:], value)
	return data
}

// joined puts pieces together.
func joined(pieces ...[]byte) []byte { return bytes.Join(pieces, nil) }

// filler is n bytes that look like nothing.
func filler(n int) []byte { return bytes.Repeat([]byte{0xcc}, n) }

// section is one of an object or image.
type section struct {
	name  string
	data  []byte
	flags uint32
}

// sectionTable appends a section table, for data that follow it at once.
func sectionTable(b []byte, sections []section, strings *[]byte) []byte {
	at := len(b) + sectionEntry*len(sections)
	for _, s := range sections {
		name := s.name
		if len(name) > 8 {
			name = fmt.Sprintf("/%d", 4+len(*strings))
			*strings = binfmt.AppendCString(*strings, s.name)
		}
		b = append(b, append([]byte(name), make([]byte, 8-len(name))...)...)
		b = append(b, make([]byte, 8)...)
		b = binfmt.AppendU32(b, uint32(len(s.data)))
		b = binfmt.AppendU32(b, uint32(at))
		b = append(b, make([]byte, 12)...)
		b = binfmt.AppendU32(b, s.flags)
		at += len(s.data)
	}
	for _, s := range sections {
		b = append(b, s.data...)
	}
	return b
}

// coff makes an object; with big, one that counts sections with 32 bits. It
// has a symbol, so that the string table has something in front.
func coff(big bool, sections ...section) []byte {
	var b, strings []byte
	if big {
		b = append(b, 0, 0, 0xff, 0xff, 2, 0, 0x64, 0x86, 0, 0, 0, 0)
		b = append(append(b, classBig...), make([]byte, 16)...)
		b = binfmt.AppendU32(b, uint32(len(sections)))
		b = append(b, make([]byte, 8)...)
	} else {
		b = binfmt.AppendU16(append(b, 0x64, 0x86), uint16(len(sections)))
		b = append(b, make([]byte, 16)...)
	}
	b = sectionTable(b, sections, &strings)
	at, symbol := 8, coffSymbol
	if big {
		at, symbol = 48, bigSymbol
	}
	b = patched(patched(b, at, uint32(len(b))), at+4, 1)
	b = append(b, make([]byte, symbol)...)
	b = binfmt.AppendU32(b, uint32(4+len(strings)))
	return append(b, strings...)
}

// pe makes an image of 64 bits.
func pe(sections ...section) []byte {
	const lfanew, optional = 0x40, 240
	b := append([]byte("MZ"), make([]byte, lfanew-2)...)
	b = append(patched(b, 0x3c, lfanew), "PE\x00\x00\x64\x86"...)
	b = binfmt.AppendU16(b, uint16(len(sections)))
	b = append(b, make([]byte, 12)...)
	b = binfmt.AppendU16(b, optional)
	b = binfmt.AppendU16(b, 0x22)
	header := make([]byte, optional)
	binary.LittleEndian.PutUint16(header, 0x20b)
	binary.LittleEndian.PutUint32(header[32:], 0x1000)  // section alignment
	binary.LittleEndian.PutUint32(header[36:], 0x200)   // file alignment
	binary.LittleEndian.PutUint32(header[56:], 0x10000) // size of image
	binary.LittleEndian.PutUint32(header[60:], 0x200)   // size of headers
	binary.LittleEndian.PutUint32(header[108:], 16)     // data directories
	var none []byte
	return sectionTable(append(b, header...), sections, &none)
}

// member is one of a library.
type member struct {
	name string
	data []byte
}

// library makes an archive as Microsoft's librarian does: two members of the
// linker, long names, objects.
func library(members ...member) []byte {
	b := []byte(archiveStart)
	add := func(name string, data []byte) {
		b = append(b, fmt.Sprintf("%-16s%-12s%-6s%-6s%-8s%-10d%s", name, "0", "", "", "0", len(data), memberEnd)...)
		b = binfmt.AppendPad(append(b, data...), 2, '\n')
	}
	var long []byte
	names := make([]string, len(members))
	for i, m := range members {
		if names[i] = m.name + "/"; len(names[i]) > 16 {
			names[i] = fmt.Sprintf("/%d", len(long))
			long = binfmt.AppendCString(long, m.name)
		}
	}
	add("/", []byte{0, 0, 0, 0})
	add("/", make([]byte, 9))
	add("//", long)
	for i, m := range members {
		add(names[i], m.data)
	}
	return b
}

// importMember stands for a function of a DLL.
func importMember() []byte {
	return append([]byte{0, 0, 0xff, 0xff, 0, 0, 0x64, 0x86}, append(make([]byte, 12), "function\x00library.dll\x00"...)...)
}

// anonymous makes an object whose content only the compiler knows.
func anonymous(data []byte) []byte {
	b := append([]byte{0, 0, 0xff, 0xff, 1, 0, 0x64, 0x86, 0, 0, 0, 0}, bytes.Repeat([]byte{7}, 16)...)
	return append(binfmt.AppendU32(b, uint32(len(data))), data...)
}
