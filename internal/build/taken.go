package build

import "encoding/binary"

// findTaken marks the functions that may be called through pointers: those
// whose address is somewhere in the data, made by the code, or put somewhere
// by a relocation.
func (b *builder) findTaken() {
	take := func(rva uint32) {
		if k := b.entry(rva); k >= 0 {
			b.parts[k].taken = true
		}
	}
	for k := range b.parts {
		for _, rva := range b.parts[k].graph.Taken {
			take(rva)
		}
	}
	for _, rva := range b.pointers {
		take(rva)
	}
	first, end := b.parts[0].code.Start, b.parts[len(b.parts)-1].code.End
	for _, p := range b.pieces {
		skip := int(-p.rva & 7) // pointers are aligned
		for at := skip; at+8 <= len(p.data); at += 8 {
			rva, ok := b.relative(binary.LittleEndian.Uint64(p.data[at:]))
			if ok && first <= rva && rva < end {
				take(rva)
			}
		}
	}
}
