package cfg

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
)

// elfCode is the code of an ELF file as tests need it.
type elfCode struct {
	file   *elf.File
	base   uint64
	relocs map[uint32]uint64
	arch   disasm.Arch
	text   map[string][]byte
	funcs  []program.Function
}

func (c *elfCode) Arch() disasm.Arch { return c.arch }
func (c *elfCode) Base() uint64      { return c.base }

func (c *elfCode) Bytes(rva uint32, n int) []byte {
	va := c.base + uint64(rva)
	for _, s := range c.file.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type == elf.SHT_NOBITS || va < s.Addr || va >= s.Addr+s.Size {
			continue
		}
		b := c.text[s.Name]
		if b == nil {
			b, _ = s.Data()
			c.text[s.Name] = b
		}
		b = b[va-s.Addr:]
		return b[:min(n, len(b))]
	}
	return nil
}

func (c *elfCode) Pointer(rva uint32) (uint32, bool) {
	v, ok := c.relocs[rva]
	if !ok {
		b := c.Bytes(rva, 8)
		if len(b) < 8 {
			return 0, false
		}
		v = binary.LittleEndian.Uint64(b)
	}
	if v < c.base || v-c.base > 0xffffffff {
		return 0, false
	}
	return uint32(v - c.base), true
}

// openELF reads a file with the functions of its symbol table, cut where they
// overlap.
func openELF(t testing.TB, path string) *elfCode {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c := &elfCode{file: f, base: 1 << 63, relocs: make(map[uint32]uint64), text: make(map[string][]byte), arch: disasm.AMD64}
	if f.Machine == elf.EM_AARCH64 {
		c.arch = disasm.ARM64
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			c.base = min(c.base, p.Vaddr&^0xfff)
		}
	}
	if s := f.Section(".rela.dyn"); s != nil {
		b, _ := s.Data()
		for ; len(b) >= 24; b = b[24:] {
			if kind := binary.LittleEndian.Uint64(b[8:]); kind == 8 || kind == 1027 {
				c.relocs[uint32(binary.LittleEndian.Uint64(b)-c.base)] = binary.LittleEndian.Uint64(b[16:])
			}
		}
	}
	syms, _ := f.Symbols()
	if len(syms) == 0 {
		syms, _ = f.DynamicSymbols()
	}
	for _, s := range syms {
		if k := elf.ST_TYPE(s.Info); k != elf.STT_FUNC && k != elf.STT_GNU_IFUNC || s.Size == 0 || s.Section == elf.SHN_UNDEF {
			continue
		}
		start := uint32(s.Value - c.base)
		c.funcs = append(c.funcs, program.Function{Name: s.Name, Ranges: []program.Range{{Start: start, End: start + uint32(s.Size)}}})
	}
	slices.SortFunc(c.funcs, func(a, b program.Function) int {
		return cmp.Or(cmp.Compare(a.Entry(), b.Entry()), cmp.Compare(b.Ranges[0].End, a.Ranges[0].End), cmp.Compare(a.Name, b.Name))
	})
	c.funcs = slices.CompactFunc(c.funcs, func(a, b program.Function) bool { return a.Entry() == b.Entry() })
	for k := range c.funcs[:max(len(c.funcs)-1, 0)] {
		r := &c.funcs[k].Ranges[0]
		r.End = min(r.End, c.funcs[k+1].Entry())
	}
	return c
}
