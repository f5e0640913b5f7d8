package etl

import (
	"encoding/binary"

	ntfs "www.velocidex.com/golang/go-ntfs/parser"
)

// A chunk of LZNT1 starts with a word: the low 12 bits are its bytes, this
// word included, less 3; the top bit says that it is compressed.
const (
	lzntChunk      = 4096 // bytes that each chunk but the last unpacks to
	lzntSize       = 0x0FFF
	lzntCompressed = 0x8000
)

// expandLZNT1 fills dst with what src, a stream of LZNT1 as in [MS-XCA] 2.5,
// unpacks to. It returns how many bytes came out.
//
// The chunks are unpacked one at a time: their decoder takes whole streams,
// with a limit of its own that buffers exceed, and one chunk bounds what a
// hostile stream can make it allocate.
func expandLZNT1(dst, src []byte) (int, error) {
	d := 0
	for d < len(dst) {
		if len(src) < 2 {
			return d, errStreamEnd
		}
		header := binary.LittleEndian.Uint16(src)
		size := int(header&lzntSize) + 3
		if header == 0 {
			return d, errStreamShort
		}
		if size > len(src) {
			return d, errStreamEnd
		}
		out := src[2:size]
		if header&lzntCompressed != 0 {
			var err error
			if out, err = expandChunk(src[:size]); err != nil {
				return d, err
			}
		}
		if len(out) > lzntChunk {
			return d, errStreamLength
		}
		d += copy(dst[d:], out)
		src = src[size:]
	}
	return d, nil
}

// expandChunk unpacks a chunk with its header. The decoder indexes without
// looking where a chunk ends inside a match.
func expandChunk(chunk []byte) (out []byte, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, errStreamChunk
		}
	}()
	if out, err = ntfs.LZNT1Decompress(chunk); err != nil {
		return nil, errStreamChunk
	}
	return out, nil
}
