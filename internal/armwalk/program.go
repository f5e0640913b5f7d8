package armwalk

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// Program is the code of an ELF file.
type Program struct {
	Entry      uint64 // address
	Base       uint64 // lowest load address, which RVAs count from
	text       []byte
	start      uint64 // address of text
	fileOffset uint64 // of text
}

// Load reads the executable segment of a static AArch64 program.
func Load(path string) (*Program, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Machine != elf.EM_AARCH64 {
		return nil, fmt.Errorf("%s is of machine %v", path, f.Machine)
	}
	p := &Program{Entry: f.Entry, Base: ^uint64(0)}
	for _, s := range f.Progs {
		if s.Type != elf.PT_LOAD {
			continue
		}
		p.Base = min(p.Base, s.Vaddr&^0xfff)
		if s.Flags&elf.PF_X != 0 && p.text == nil {
			p.text = make([]byte, s.Filesz)
			if _, err := s.ReadAt(p.text, 0); err != nil {
				return nil, err
			}
			p.start, p.fileOffset = s.Vaddr, s.Off
		}
	}
	if p.text == nil {
		return nil, fmt.Errorf("%s has no code", path)
	}
	return p, nil
}

// kind is what an instruction does to the flow of control.
type kind uint8

const (
	plain kind = iota
	jump
	conditional
	call
	ret
	stop     // a system call: the end of the walk
	indirect // cannot be followed
)

// decode says what the instruction at an address does, and where it leads.
func (p *Program) decode(pc uint64) (kind, uint64, error) {
	off := pc - p.start
	if pc%4 != 0 || off >= uint64(len(p.text)) || uint64(len(p.text))-off < 4 {
		return plain, 0, fmt.Errorf("%#x is outside of the code", pc)
	}
	w := binary.LittleEndian.Uint32(p.text[off:])
	// relative adds a signed field of some bits, in instructions.
	relative := func(field uint32, bits uint) uint64 {
		return pc + uint64(int64(int32(field<<(32-bits))>>(32-bits))*4)
	}
	switch {
	case w>>26 == 0b000101:
		return jump, relative(w&(1<<26-1), 26), nil
	case w>>26 == 0b100101:
		return call, relative(w&(1<<26-1), 26), nil
	case w>>24 == 0x54: // B.cond
		return conditional, relative(w>>5&(1<<19-1), 19), nil
	case w>>25&0x3f == 0b011010: // CBZ, CBNZ
		return conditional, relative(w>>5&(1<<19-1), 19), nil
	case w>>25&0x3f == 0b011011: // TBZ, TBNZ
		return conditional, relative(w>>5&(1<<14-1), 14), nil
	case w&^(31<<5) == 0xd65f0000:
		return ret, 0, nil
	case w&^(31<<5) == 0xd61f0000, w&^(31<<5) == 0xd63f0000: // BR, BLR
		return indirect, 0, nil
	case w&0xffe0001f == 0xd4000001: // SVC
		return stop, 0, nil
	}
	return plain, 0, nil
}
