package funcs

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"strings"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// relocation is an entry that the dynamic linker applies to a pointer.
type relocation struct {
	at     uint64 // RVA of the pointer
	typ    uint32
	symbol uint32 // index in .dynsym
	addend uint64
}

// relocTypes are numbers of types, which differ between machines.
type relocTypes struct {
	globDat, jumpSlot, relative, irelative uint32
}

func relocTypesOf(arch image.Arch) relocTypes {
	if arch == image.ArchAMD64 {
		return relocTypes{uint32(elf.R_X86_64_GLOB_DAT), uint32(elf.R_X86_64_JMP_SLOT), uint32(elf.R_X86_64_RELATIVE), uint32(elf.R_X86_64_IRELATIVE)}
	}
	return relocTypes{uint32(elf.R_AARCH64_GLOB_DAT), uint32(elf.R_AARCH64_JUMP_SLOT), uint32(elf.R_AARCH64_RELATIVE), uint32(elf.R_AARCH64_IRELATIVE)}
}

// eachRelocation visits the dynamic relocations.
func (f *finder) eachRelocation(file *elf.File, visit func(relocation)) {
	const size = 24
	for _, s := range file.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			f.fail(&binfmt.Error{Part: s.Name, Offset: int64(s.Offset), Err: err})
			continue
		}
		for ; len(data) >= size; data = data[size:] {
			info := binary.LittleEndian.Uint64(data[8:])
			visit(relocation{at: binary.LittleEndian.Uint64(data) - f.img.Base, typ: uint32(info), symbol: uint32(info >> 32),
				addend: binary.LittleEndian.Uint64(data[16:])})
		}
	}
}

// relativePointers returns the link-time address that each pointer with a
// relative relocation leads to, by the RVA of the pointer.
func (f *finder) relativePointers(file *elf.File) map[uint64]uint64 {
	out := map[uint64]uint64{}
	relative := relocTypesOf(f.img.Arch).relative
	f.eachRelocation(file, func(r relocation) {
		if r.typ == relative {
			out[r.at] = r.addend
		}
	})
	return out
}

// importSlots returns the names of the functions that pointers lead to, by the
// RVA of the pointer. That of an indirect function is named after the
// resolver, which has the symbol of the function.
func (f *finder) importSlots(file *elf.File) map[uint64]string {
	out := map[uint64]string{}
	types := relocTypesOf(f.img.Arch)
	symbols, err := file.DynamicSymbols()
	if err != nil && err != elf.ErrNoSymbols {
		f.fail(&binfmt.Error{Part: "dynamic symbols", Offset: -1, Err: err})
	}
	var resolvers map[uint64]string
	f.eachRelocation(file, func(r relocation) {
		switch r.typ {
		case types.globDat, types.jumpSlot:
			// Symbol 0 of the table is not in the list.
			if r.symbol > 0 && uint64(r.symbol) <= uint64(len(symbols)) {
				out[r.at] = symbols[r.symbol-1].Name
			}
		case types.irelative:
			if resolvers == nil {
				resolvers = f.namesByAddress()
			}
			if name := resolvers[r.addend-f.img.Base]; name != "" {
				out[r.at] = name
			}
		}
	})
	return out
}

// namesByAddress returns the best name of each start so far.
func (f *finder) namesByAddress() map[uint64]string {
	best := map[uint64]*piece{}
	for i := range f.pieces {
		p := &f.pieces[i]
		if old := best[uint64(p.start)]; old == nil || cmp.Or(cmp.Compare(p.source, old.source), cmp.Compare(p.weight, old.weight), cmp.Compare(p.name, old.name)) < 0 {
			best[uint64(p.start)] = p
		}
	}
	out := make(map[uint64]string, len(best))
	for at, p := range best {
		out[at] = p.name
	}
	return out
}

// stub is code that jumps to where a pointer leads.
type stub struct {
	start, end int // in the section
	slot       uint64
}

// readPLT takes the stubs in the sections of the linkage table whose pointer
// has a relocation with a name. The first stub of a table, which calls the
// dynamic linker, and those that only push a number have none.
func (f *finder) readPLT(file *elf.File) {
	slots := f.importSlots(file)
	for _, s := range file.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_EXECINSTR == 0 || s.Name != ".plt" && s.Name != ".iplt" && !strings.HasPrefix(s.Name, ".plt.") || s.Addr < f.img.Base {
			continue
		}
		data, err := s.Data()
		if err != nil {
			f.fail(&binfmt.Error{Part: s.Name, Offset: int64(s.Offset), Err: err})
			continue
		}
		rva := s.Addr - f.img.Base
		find := stubsAMD64
		if f.img.Arch == image.ArchARM64 {
			find = stubsARM64
		}
		for _, st := range find(data, rva) {
			name := slots[st.slot]
			if name == "" {
				continue
			}
			if i := strings.IndexByte(name, '@'); i > 0 {
				name = name[:i]
			}
			f.add(piece{name: name + "@plt", source: program.PLT}, rva+uint64(st.start), uint64(st.end-st.start))
		}
	}
}

// stubsAMD64 finds "jmp *slot(%rip)" at the start of an entry, behind endbr64
// and with the bnd prefix where control flow is protected. An entry has 16
// bytes, or 8 where nothing is bound late.
func stubsAMD64(code []byte, rva uint64) []stub {
	const align = 8
	var out []stub
	for at := 0; at < len(code); at += align {
		b := code[at:]
		pos := 0
		if bytes.HasPrefix(b, []byte("\xf3\x0f\x1e\xfa")) {
			pos = 4
		}
		if pos < len(b) && b[pos] == 0xf2 {
			pos++
		}
		if len(b) < pos+6 || b[pos] != 0xff || b[pos+1] != 0x25 {
			continue
		}
		if n := len(out); n > 0 {
			out[n-1].end = min(out[n-1].end, at)
		}
		disp := int64(int32(binary.LittleEndian.Uint32(b[pos+2:])))
		out = append(out, stub{at, min(at+2*align, len(code)), rva + uint64(at+pos+6) + uint64(disp)})
	}
	return out
}

// stubsARM64 finds "adrp x16, page; ldr x17, [x16, #n]", the start of an entry
// but for a "bti c" in front. An entry reaches to "br x17" and what pads it.
func stubsARM64(code []byte, rva uint64) []stub {
	const (
		btiC = 0xd503245f
		brX1 = 0xd61f0220 // br x17
		nop  = 0xd503201f
	)
	word := func(at int) uint32 {
		if at < 0 || at+4 > len(code) {
			return 0
		}
		return binary.LittleEndian.Uint32(code[at:])
	}
	var out []stub
	for at := 0; at+8 <= len(code); at += 4 {
		adrp, ldr := word(at), word(at+4)
		if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
			continue
		}
		pages := int64(int32(adrp>>5&0x7ffff<<2|adrp>>29&3)<<11>>11) << 12
		s := stub{start: at, slot: (rva+uint64(at))&^0xfff + uint64(pages) + uint64(ldr>>10&0xfff)*8}
		if word(at-4) == btiC {
			s.start = at - 4
		}
		for s.end = at + 8; s.end+4 <= len(code) && word(s.end-4) != brX1 && s.end < at+24; {
			s.end += 4
		}
		for word(s.end) == nop {
			s.end += 4
		}
		out = append(out, s)
	}
	return out
}
