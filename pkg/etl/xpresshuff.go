package etl

import "encoding/binary"

// A block of XPRESS_HUFF unpacks to this many bytes and starts with a table of
// 4-bit code lengths, one for each of 512 symbols.
const (
	huffBlock   = 64 << 10
	huffTableIn = 256
	huffMaxBits = 15
	huffSymbols = 512
)

// huffTable maps the next 15 bits of the stream to a symbol, in the upper 12
// bits of an entry, and the length of its code, in the lower 4; length 0 is
// no code.
type huffTable [1 << huffMaxBits]uint16

// build fills the table from the code lengths, canonically: shorter codes
// first, among equals the lower symbol first.
func (t *huffTable) build(lengths []byte) error {
	next := 0
	for n := 1; n <= huffMaxBits; n++ {
		span := 1 << (huffMaxBits - n)
		for sym := range huffSymbols {
			if int(lengths[sym/2]>>(4*(sym&1))&15) != n {
				continue
			}
			if next+span > len(t) {
				return errStreamTable
			}
			entry := uint16(sym)<<4 | uint16(n)
			for i := range t[next : next+span] {
				t[next+i] = entry
			}
			next += span
		}
	}
	clear(t[next:])
	return nil
}

// huffBits holds the next bits of a stream in the upper part of a word. They
// come in 16-bit units; between the units stand whole bytes of match lengths.
type huffBits struct {
	src   []byte
	pos   int    // of the next unit or byte
	word  uint32 // the bits, from the top down
	extra int    // bits beyond the first 16 that word holds
	past  int    // units read behind the end of src, as zeros
}

func (h *huffBits) unit() uint32 {
	if len(h.src)-h.pos < 2 {
		h.past++
		return 0
	}
	u := binary.LittleEndian.Uint16(h.src[h.pos:])
	h.pos += 2
	return uint32(u)
}

// take drops n bits.
func (h *huffBits) take(n int) {
	h.word <<= n
	if h.extra -= n; h.extra < 0 {
		h.word |= h.unit() << -h.extra
		h.extra += 16
	}
}

// number reads a whole little-endian number of n bytes.
func (h *huffBits) number(n int) (int, error) {
	if len(h.src)-h.pos < n {
		return 0, errStreamEnd
	}
	v := 0
	for i := range n {
		v |= int(h.src[h.pos+i]) << (8 * i)
	}
	h.pos += n
	return v, nil
}

// expandXPRESSHuff fills dst with what src, a stream of LZ77 with Huffman
// codes as in [MS-XCA] 2.2, unpacks to. It returns how many bytes came out.
// Symbols below 256 are literals. In the others the low 4 bits are the length
// of a match and the next 4 the number of bits of its distance.
func expandXPRESSHuff(dst, src []byte, table *huffTable) (int, error) {
	h := huffBits{src: src}
	d := 0
	for d < len(dst) {
		if len(src)-h.pos < huffTableIn {
			return d, errStreamEnd
		}
		if err := table.build(src[h.pos : h.pos+huffTableIn]); err != nil {
			return d, err
		}
		h.pos += huffTableIn
		h.word = h.unit() << 16
		h.word |= h.unit()
		h.extra = 16
		for end := min(d+huffBlock, len(dst)); d < end; {
			entry := table[h.word>>(32-huffMaxBits)]
			if entry == 0 {
				return d, errStreamTable
			}
			// The encoder ends with up to two units that hold no more codes,
			// so that many may be missing while symbols still come.
			if h.past > 2 {
				return d, errStreamEnd
			}
			h.take(int(entry & 15))
			sym := int(entry >> 4)
			if sym < 256 {
				dst[d] = byte(sym)
				d++
				continue
			}
			n, distanceBits := sym&15, sym>>4&15
			if n == 15 {
				var err error
				if n, err = h.longLength(); err != nil {
					return d, err
				}
			}
			distance := 1 << distanceBits
			if distanceBits > 0 {
				distance += int(h.word >> (32 - distanceBits))
				h.take(distanceBits)
			}
			if distance > d {
				return d, errStreamSource
			}
			n = min(n+3, len(dst)-d)
			copyMatch(dst, d, distance, n)
			d += n
		}
	}
	return d, nil
}

// longLength reads the length, less 3, of a match whose symbol has length 15.
func (h *huffBits) longLength() (int, error) {
	n, err := h.number(1)
	if err != nil || n != 255 {
		return n + 15, err
	}
	if n, err = h.number(2); err == nil && n == 0 {
		n, err = h.number(4)
	}
	if err == nil && n < 15 {
		err = errStreamLength
	}
	return n, err
}
