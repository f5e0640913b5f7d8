package build

import (
	"debug/elf"
	"encoding/binary"
)

// maxName bounds the name of an imported function.
const maxName = 1 << 16

// elfLinks reads what the dynamic linker will do: the pointers that it sets to
// places in the image, and those that it sets to functions of other images. The
// tables are found by PT_DYNAMIC, which stripped files have as well.
func (c *code) elfLinks() {
	dyn := make(map[elf.DynTag]uint64)
	for _, s := range c.img.ELF.Segments {
		if s.Type != elf.PT_DYNAMIC || s.VAddr < c.img.Base {
			continue
		}
		b := c.Bytes(uint32(s.VAddr-c.img.Base), int(min(s.FileSize, 1<<16)))
		for ; len(b) >= 16; b = b[16:] {
			tag := elf.DynTag(binary.LittleEndian.Uint64(b))
			if tag == elf.DT_NULL {
				break
			}
			dyn[tag] = binary.LittleEndian.Uint64(b[8:])
		}
	}
	symbols, _ := c.relative(dyn[elf.DT_SYMTAB])
	names, _ := c.relative(dyn[elf.DT_STRTAB])
	for _, t := range [][2]elf.DynTag{{elf.DT_RELA, elf.DT_RELASZ}, {elf.DT_JMPREL, elf.DT_PLTRELSZ}} {
		if at, ok := c.relative(dyn[t[0]]); ok && dyn[t[1]] < maxImage {
			c.rela(c.Bytes(at, int(dyn[t[1]])), symbols, names)
		}
	}
}

// rela applies relocations with addend.
func (c *code) rela(table []byte, symbols, names uint32) {
	for ; len(table) >= 24; table = table[24:] {
		slot, ok := c.relative(binary.LittleEndian.Uint64(table))
		if !ok {
			continue
		}
		info, addend := binary.LittleEndian.Uint64(table[8:]), binary.LittleEndian.Uint64(table[16:])
		symbol := info >> 32
		if symbol == 0 {
			if to, ok := c.relative(addend); ok && isRelative(uint32(info)) {
				c.pointers[slot] = to
			}
			continue
		}
		entry := uint64(symbols) + 24*symbol
		if entry >= maxImage {
			continue
		}
		sym := c.Bytes(uint32(entry), 24)
		if len(sym) < 24 {
			continue
		}
		if binary.LittleEndian.Uint16(sym[6:]) != uint16(elf.SHN_UNDEF) {
			if to, ok := c.relative(binary.LittleEndian.Uint64(sym[8:]) + addend); ok {
				c.pointers[slot] = to
			}
			continue
		}
		if at := uint64(names) + uint64(binary.LittleEndian.Uint32(sym)); at < maxImage {
			if name := c.text(uint32(at), maxName); name != "" {
				c.imports[slot] = name
			}
		}
	}
}

// isRelative says whether a relocation adds the load address to its addend.
func isRelative(kind uint32) bool {
	switch kind {
	case uint32(elf.R_X86_64_RELATIVE), uint32(elf.R_AARCH64_RELATIVE),
		uint32(elf.R_X86_64_IRELATIVE), uint32(elf.R_AARCH64_IRELATIVE):
		return true
	}
	return false
}
