package build

import (
	"encoding/binary"
	"fmt"
)

// Directories of the optional header.
const (
	importDirectory      = 1
	delayImportDirectory = 13
)

// maxImports bounds the imported functions of one library.
const maxImports = 1 << 16

// peLinks reads the import tables. Relocations need no reading: pointers hold
// the link-time address.
func (c *code) peLinks() {
	header := make([]byte, 4096)
	n, _ := c.img.ReadAtRVA(header, 0)
	header = header[:n]
	if len(header) < 0x40 {
		return
	}
	// The optional header follows the signature and the COFF header; its
	// directories are behind 112 bytes in PE32+.
	directories := uint64(binary.LittleEndian.Uint32(header[0x3c:])) + 24 + 112
	directory := func(k uint64) (rva, size uint32) {
		at := directories + 8*k
		if at+8 > uint64(len(header)) {
			return 0, 0
		}
		return binary.LittleEndian.Uint32(header[at:]), binary.LittleEndian.Uint32(header[at+4:])
	}
	if rva, _ := directory(importDirectory); rva != 0 {
		for ; ; rva += 20 {
			d := c.Bytes(rva, 20)
			if len(d) < 20 || binary.LittleEndian.Uint32(d[16:]) == 0 {
				break
			}
			names, slots := binary.LittleEndian.Uint32(d), binary.LittleEndian.Uint32(d[16:])
			if names == 0 {
				names = slots
			}
			c.importNames(names, slots, c.text(binary.LittleEndian.Uint32(d[12:]), maxName))
		}
	}
	if rva, _ := directory(delayImportDirectory); rva != 0 {
		for ; ; rva += 32 {
			d := c.Bytes(rva, 32)
			if len(d) < 32 || binary.LittleEndian.Uint32(d[12:]) == 0 {
				break
			}
			c.importNames(binary.LittleEndian.Uint32(d[16:]), binary.LittleEndian.Uint32(d[12:]), c.text(binary.LittleEndian.Uint32(d[4:]), maxName))
		}
	}
}

// importNames reads the imports of a library. One without a name is called by
// library and number, as in "ws2_32.dll#7".
func (c *code) importNames(names, slots uint32, library string) {
	for range maxImports {
		b := c.Bytes(names, 8)
		if len(b) < 8 {
			return
		}
		v := binary.LittleEndian.Uint64(b)
		switch {
		case v == 0:
			return
		case v>>63 == 1:
			c.imports[slots] = fmt.Sprintf("%s#%d", library, v&0xffff)
		case v < maxImage-2:
			if name := c.text(uint32(v)+2, maxName); name != "" { // behind a hint
				c.imports[slots] = name
			}
		}
		names, slots = names+8, slots+8
	}
}
