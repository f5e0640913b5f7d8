package ingest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// elfImage describes a small ELF file.
type elfImage struct {
	loads   []elf.Prog64 // PT_LOAD segments
	buildID []byte
	symbols map[string]uint64 // makes it a kernel, see image.ELF
}

// bytes writes the file: headers, a note, symbols, then zeros up to the end of
// the last segment.
func (e elfImage) bytes() []byte {
	const headers, noteAt = 0x40, 0x400
	var note, names, table, sections []byte
	le := binary.LittleEndian
	if e.buildID != nil {
		note = le.AppendUint32(note, 4)
		note = le.AppendUint32(note, uint32(len(e.buildID)))
		note = append(le.AppendUint32(note, 3), "GNU\x00"...)
		note = append(note, e.buildID...)
	}
	names = []byte{0}
	table = make([]byte, elf.Sym64Size)
	for _, name := range sortedNames(e.symbols) {
		table, _ = binary.Append(table, le, elf.Sym64{Name: uint32(len(names)), Info: 0x12, Shndx: 1, Value: e.symbols[name]})
		names = append(append(names, name...), 0)
	}
	tableAt := uint64(noteAt+len(note)+7) &^ 7
	namesAt := tableAt + uint64(len(table))
	const sectionNames = "\x00.init.text\x00.symtab\x00.strtab\x00"
	named := uint32(len(names)) // names of sections follow those of symbols
	names = append(names, sectionNames...)
	sectionsAt := (namesAt + uint64(len(names)) + 7) &^ 7
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: headers, Ehsize: 64, Phentsize: 56,
		Phnum: uint16(len(e.loads) + 1), Shentsize: 64}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	if e.symbols != nil {
		h.Shoff, h.Shnum, h.Shstrndx = sectionsAt, 4, 3
		sections, _ = binary.Append(sections, le, []elf.Section64{
			{},
			{Name: named + 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR)},
			{Name: named + 12, Type: uint32(elf.SHT_SYMTAB), Off: tableAt, Size: uint64(len(table)), Link: 3, Entsize: elf.Sym64Size},
			{Name: named + 20, Type: uint32(elf.SHT_STRTAB), Off: namesAt, Size: uint64(len(names))},
		})
	}
	b, _ := binary.Append(nil, le, h)
	for _, p := range e.loads {
		p.Type, p.Memsz = uint32(elf.PT_LOAD), max(p.Memsz, p.Filesz)
		b, _ = binary.Append(b, le, p)
	}
	b, _ = binary.Append(b, le, elf.Prog64{Type: uint32(elf.PT_NOTE), Off: noteAt, Filesz: uint64(len(note)), Memsz: uint64(len(note)), Align: 4})
	end := sectionsAt + uint64(len(sections))
	for _, p := range e.loads {
		end = max(end, p.Off+p.Filesz)
	}
	b = append(b, make([]byte, int(end)-len(b))...)
	copy(b[noteAt:], note)
	copy(b[tableAt:], table)
	copy(b[namesAt:], names)
	copy(b[sectionsAt:], sections)
	return b
}

// load is a segment; flags are those of the program header.
func load(flags elf.ProgFlag, offset, addr, size uint64) elf.Prog64 {
	return elf.Prog64{Flags: uint32(flags), Off: offset, Vaddr: addr, Filesz: size, Align: 0x1000}
}

// shifted is a shared library as linkers lay it out: its code is at another
// address than offset.
func shifted(buildID []byte) []byte {
	return elfImage{buildID: buildID, loads: []elf.Prog64{
		load(elf.PF_R, 0, 0x10000, 0x800),
		load(elf.PF_R|elf.PF_X, 0x800, 0x11800, 0x1200),
		load(elf.PF_R|elf.PF_X, 0x2000, 0x14000, 0x1000),
	}}.bytes()
}

// peImage describes a small PE file with one section of code.
type peImage struct {
	sizeOfImage uint32
	guid        binfmt.GUID
	age         uint32
	// The code is at RVA 0x1000 and at this offset of the file.
	codeAt, codeSize uint32
}

func (p peImage) bytes() []byte {
	const rdataAt, rdataRVA = 0x400, 0x40000
	le := binary.LittleEndian
	rsds := append([]byte("RSDS"), p.guid[:]...)
	rsds = append(le.AppendUint32(rsds, p.age), "app.pdb\x00"...)
	var b bytes.Buffer
	dos := make([]byte, 0x40)
	copy(dos, "MZ")
	dos[0x3c] = 0x40
	b.Write(dos)
	write := func(v any) { binary.Write(&b, le, v) }
	write([]byte("PE\x00\x00"))
	write([]uint16{0x8664, 2})
	write([]uint32{0x5eed5eed, 0, 0})
	write([]uint16{112 + 16*8, 0x22})
	optional := make([]byte, 112+16*8)
	le.PutUint16(optional, 0x20b)
	le.PutUint64(optional[24:], 0x140000000)
	le.PutUint32(optional[32:], 0x1000)
	le.PutUint32(optional[36:], 0x200)
	le.PutUint32(optional[56:], p.sizeOfImage)
	le.PutUint32(optional[60:], 0x400)
	le.PutUint32(optional[108:], 16)
	le.PutUint32(optional[112+6*8:], rdataRVA)
	le.PutUint32(optional[112+6*8+4:], 28)
	b.Write(optional)
	section := func(name string, virtualSize, rva, size, at, flags uint32) {
		b.Write([]byte(name + "\x00\x00\x00\x00\x00\x00\x00\x00")[:8])
		write([]uint32{virtualSize, rva, size, at, 0, 0, 0, flags})
	}
	section(".text", p.codeSize, 0x1000, p.codeSize, p.codeAt, 0x60000020)
	section(".rdata", 0x200, rdataRVA, 0x200, rdataAt, 0x40000040)
	b.Write(make([]byte, rdataAt-b.Len()))
	write([]uint32{0, 0, 0, 2, uint32(len(rsds)), rdataRVA + 28, rdataAt + 28})
	b.Write(rsds)
	b.Write(make([]byte, int(max(p.codeAt+p.codeSize, rdataAt+0x200))-b.Len()))
	return b.Bytes()
}

// writeFiles writes files into a new folder and returns it.
func writeFiles(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
