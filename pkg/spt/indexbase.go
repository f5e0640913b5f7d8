package spt

import (
	"encoding/binary"
	"io"
)

// findIndexBase tells what the program id indices of the segments in
// [start, size) of r count from: 1 if 0 never occurs and the greatest is equal
// to used, the number of program ids, and otherwise 0. It looks at BINARY_IDs
// alone, up to one that settles the question or to the first damage, which is
// for the reader to report.
func findIndexBase(r io.ReaderAt, start, size int64, used int) int {
	window := make([]byte, 4096) // short segments share a read
	var at int64                 // what window holds: [at, at+n)
	n := 0
	greatest := -1
	for off := start; off >= 0 && off+binaryIDSize <= size; {
		if off < at || off+binaryIDSize > at+int64(n) {
			at = off
			if n, _ = r.ReadAt(window, at); n < binaryIDSize {
				break
			}
		}
		b := window[off-at:]
		length := binary.LittleEndian.Uint32(b[4:])
		if Opcode(b[0]) != OpBinaryID || length < lengthSize {
			break
		}
		index := int(binary.LittleEndian.Uint16(b[2:]))
		if index == 0 || index > used {
			return 0
		}
		greatest = max(greatest, index)
		off += binaryIDSize - lengthSize + int64(length)
	}
	if greatest == used && greatest > 0 {
		return 1
	}
	return 0
}
