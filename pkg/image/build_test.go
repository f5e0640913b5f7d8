package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// elfSpec describes a small ELF file for tests. Section data follow the
// headers in order; section 0 and the name table are added.
type elfSpec struct {
	is64, big bool
	typ       elf.Type
	machine   elf.Machine
	segments  []Segment
	sections  []sectionSpec
	// extended moves the counts into section 0, as files with too many
	// sections or segments do.
	extended bool
}

type sectionSpec struct {
	name string
	typ  elf.SectionType
	// flags, addr, link and align go into the header as they are.
	flags elf.SectionFlag
	addr  uint64
	link  uint32
	align uint64
	data  []byte
	// segment, if set, adds a program header of this type over the data.
	segment elf.ProgType
}

// order appends integers in the byte order and class of the file.
type order struct {
	binary.AppendByteOrder
	is64 bool
}

func (s elfSpec) order() order {
	if s.big {
		return order{binary.BigEndian, s.is64}
	}
	return order{binary.LittleEndian, s.is64}
}

func (o order) word(b []byte, v uint64) []byte {
	if o.is64 {
		return o.AppendUint64(b, v)
	}
	return o.AppendUint32(b, uint32(v))
}

func (s elfSpec) bytes() []byte {
	o := s.order()
	ehsize, phentsize, shentsize := 52, 32, 40
	if s.is64 {
		ehsize, phentsize, shentsize = 64, 56, 64
	}
	segments := append([]Segment(nil), s.segments...)
	for _, sec := range s.sections {
		if sec.segment != elf.PT_NULL {
			segments = append(segments, Segment{Type: sec.segment})
		}
	}
	names := []byte{0}
	sections := append([]sectionSpec{{}}, s.sections...)
	sections = append(sections, sectionSpec{name: ".shstrtab", typ: elf.SHT_STRTAB})
	nameOff := make([]int, len(sections))
	for i, sec := range sections[1:] {
		nameOff[i+1] = len(names)
		names = append(append(names, sec.name...), 0)
	}
	sections[len(sections)-1].data = names

	dataAt := ehsize + len(segments)*phentsize
	offsets := make([]uint64, len(sections))
	var data []byte
	for i, sec := range sections[1:] {
		for (dataAt+len(data))%8 != 0 {
			data = append(data, 0)
		}
		offsets[i+1] = uint64(dataAt + len(data))
		data = append(data, sec.data...)
	}
	next := len(s.segments)
	for i, sec := range sections {
		if sec.segment != elf.PT_NULL {
			segments[next] = Segment{Type: sec.segment, Flags: elf.PF_R, Offset: offsets[i], VAddr: sec.addr,
				FileSize: uint64(len(sec.data)), MemSize: uint64(len(sec.data)), Align: sec.align}
			next++
		}
	}
	shoff := uint64(dataAt + len(data))

	class, endian := byte(1), byte(1)
	if s.is64 {
		class = 2
	}
	if s.big {
		endian = 2
	}
	b := append([]byte(elf.ELFMAG), class, endian, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = o.AppendUint16(b, uint16(s.typ))
	b = o.AppendUint16(b, uint16(s.machine))
	b = o.AppendUint32(b, 1)
	b = o.word(b, 0)
	phoff := uint64(ehsize)
	if len(segments) == 0 {
		phoff = 0
	}
	b = o.word(b, phoff)
	b = o.word(b, shoff)
	b = o.AppendUint32(b, 0)
	phnum, shnum, shstrndx := len(segments), len(sections), len(sections)-1
	if s.extended {
		phnum, shnum, shstrndx = pnXNum, 0, int(elf.SHN_XINDEX)
	}
	for _, v := range []int{ehsize, phentsize, phnum, shentsize, shnum, shstrndx} {
		b = o.AppendUint16(b, uint16(v))
	}
	for _, p := range segments {
		b = o.AppendUint32(b, uint32(p.Type))
		if s.is64 {
			b = o.AppendUint32(b, uint32(p.Flags))
		}
		for _, v := range []uint64{p.Offset, p.VAddr, p.VAddr, p.FileSize, p.MemSize} {
			b = o.word(b, v)
		}
		if !s.is64 {
			b = o.AppendUint32(b, uint32(p.Flags))
		}
		b = o.word(b, p.Align)
	}
	b = append(b, data...)
	for i, sec := range sections {
		size, link, info := uint64(len(sec.data)), sec.link, uint32(0)
		if i == 0 && s.extended {
			size, link, info = uint64(len(sections)), uint32(len(sections)-1), uint32(len(segments))
		}
		b = o.AppendUint32(b, uint32(nameOff[i]))
		b = o.AppendUint32(b, uint32(sec.typ))
		b = o.word(b, uint64(sec.flags))
		b = o.word(b, sec.addr)
		b = o.word(b, offsets[i])
		b = o.word(b, size)
		b = o.AppendUint32(b, link)
		b = o.AppendUint32(b, info)
		b = o.word(b, sec.align)
		b = o.word(b, 0)
	}
	return b
}

// note encodes one note, padded to align.
func (s elfSpec) note(owner string, typ uint32, desc []byte, align int) []byte {
	o := s.order()
	pad := func(b []byte) []byte {
		for len(b)%align != 0 {
			b = append(b, 0)
		}
		return b
	}
	b := o.AppendUint32(nil, uint32(len(owner)+1))
	b = o.AppendUint32(b, uint32(len(desc)))
	b = o.AppendUint32(b, typ)
	b = pad(append(append(b, owner...), 0))
	return pad(append(b, desc...))
}

// symbols encodes a symbol table and its string table, whose section index is
// strtab.
func (s elfSpec) symbols(strtab uint32, syms ...Symbol) []sectionSpec {
	o := s.order()
	names := []byte{0}
	tab := make([]byte, 24)
	if !s.is64 {
		tab = tab[:16]
	}
	for _, sym := range syms {
		info := byte(sym.Bind)<<4 | byte(sym.Type)
		tab = o.AppendUint32(tab, uint32(len(names)))
		if s.is64 {
			tab = o.AppendUint16(append(tab, info, 0), uint16(sym.Section))
			tab = o.AppendUint64(o.AppendUint64(tab, sym.Value), sym.Size)
		} else {
			tab = o.AppendUint32(o.AppendUint32(tab, uint32(sym.Value)), uint32(sym.Size))
			tab = o.AppendUint16(append(tab, info, 0), uint16(sym.Section))
		}
		names = append(append(names, sym.Name...), 0)
	}
	return []sectionSpec{
		{name: ".symtab", typ: elf.SHT_SYMTAB, link: strtab, align: 8, data: tab},
		{name: ".strtab", typ: elf.SHT_STRTAB, align: 1, data: names},
	}
}

// peSpec describes a small PE file for tests.
type peSpec struct {
	is64         bool
	machine      uint16
	stamp        uint32
	sizeOfImage  uint32
	checkSum     uint32
	sectionAlign uint32
	sections     []PESection
	longNames    string // COFF string table behind its size field
	debug        []debugSpec
}

// debugSpec is an entry of the debug directory with its data. The directory
// lies at the start of the last section, the data behind it.
type debugSpec struct {
	typ   uint32
	minor uint16
	data  []byte
}

func (s peSpec) bytes() []byte {
	const lfanew = 0x80
	o := binary.LittleEndian
	b := make([]byte, lfanew)
	copy(b, "MZ")
	o.PutUint32(b[peLfanewAt:], lfanew)
	b = append(b, peSignature...)
	b = o.AppendUint16(b, s.machine)
	b = o.AppendUint16(b, uint16(len(s.sections)))
	b = o.AppendUint32(b, s.stamp)
	symbolsAt := len(b)
	b = o.AppendUint64(b, 0)
	optSize := 96 + 16*8
	if s.is64 {
		optSize = 112 + 16*8
	}
	b = o.AppendUint16(b, uint16(optSize))
	b = o.AppendUint16(b, 0x22)

	opt := make([]byte, optSize)
	var dirs []byte
	if s.is64 {
		o.PutUint16(opt, optMagic64)
		o.PutUint64(opt[24:], 0x140000000)
		dirs = opt[108:]
	} else {
		o.PutUint16(opt, optMagic32)
		o.PutUint32(opt[28:], 0x400000)
		dirs = opt[92:]
	}
	o.PutUint32(opt[32:], s.sectionAlign)
	o.PutUint32(opt[36:], 0x200)
	o.PutUint32(opt[56:], s.sizeOfImage)
	o.PutUint32(opt[60:], 0x400)
	o.PutUint32(opt[64:], s.checkSum)
	o.PutUint32(dirs, 16)
	var last PESection
	if n := len(s.sections); n > 0 {
		last = s.sections[n-1]
	}
	if len(s.debug) > 0 {
		o.PutUint32(dirs[4+8*debugDirectory:], last.VirtualAddress)
		o.PutUint32(dirs[8+8*debugDirectory:], uint32(len(s.debug)*debugEntrySize))
	}
	b = append(b, opt...)
	end := 0x400
	for _, sec := range s.sections {
		b = append(b, append([]byte(sec.Name), make([]byte, 8-len(sec.Name))...)...)
		for _, v := range []uint32{sec.VirtualSize, sec.VirtualAddress, sec.SizeOfRawData, sec.PointerToRawData, 0, 0, 0, sec.Characteristics} {
			b = o.AppendUint32(b, v)
		}
		end = max(end, int(sec.PointerToRawData+sec.SizeOfRawData))
	}
	b = append(b, make([]byte, end-len(b))...)
	if s.longNames != "" {
		o.PutUint32(b[symbolsAt:], uint32(len(b)))
		b = o.AppendUint32(b, uint32(4+len(s.longNames)))
		b = append(b, s.longNames...)
	}
	dataAt := last.PointerToRawData + uint32(len(s.debug)*debugEntrySize)
	var entries []byte
	for _, d := range s.debug {
		entries = o.AppendUint32(entries, 0)
		entries = o.AppendUint32(entries, s.stamp)
		entries = o.AppendUint16(entries, 0)
		entries = o.AppendUint16(entries, d.minor)
		entries = o.AppendUint32(entries, d.typ)
		entries = o.AppendUint32(entries, uint32(len(d.data)))
		entries = o.AppendUint32(entries, dataAt-last.PointerToRawData+last.VirtualAddress)
		entries = o.AppendUint32(entries, dataAt)
		copy(b[dataAt:], d.data)
		dataAt += uint32(len(d.data))
	}
	copy(b[last.PointerToRawData:], entries)
	return b
}

// rsds encodes a CodeView record.
func rsds(id ID, pdb string) []byte {
	b := append([]byte("RSDS"), id.GUID[:]...)
	b = binary.LittleEndian.AppendUint32(b, id.Age)
	return append(append(b, pdb...), 0)
}

func open(b []byte) (*File, error) { return NewFile(bytes.NewReader(b), int64(len(b))) }
