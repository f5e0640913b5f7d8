package etl

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// What can be wrong with a compressed stream.
var (
	errStreamEnd    = errors.New("a stream that ends too early")
	errStreamSource = errors.New("a match before the start")
	errStreamLength = errors.New("a match length out of range")
	errStreamTable  = errors.New("a code table that is no prefix code")
	errStreamChunk  = errors.New("a chunk that does not unpack")
	errStreamShort  = errors.New("fewer bytes than the buffer header says")
)

// slack is how far before the ends of input and output the fast path stops:
// it copies up to 32 literals in words of 8 bytes without looking.
const slack = 32

// expandXPRESS fills dst with what src, a stream of plain LZ77 as in [MS-XCA]
// 2.4, unpacks to. It returns how many bytes came out; fewer than all of dst
// only with an error.
//
// Tokens are announced by the bits of 32-bit words, from the top down, that
// stand between them: 0 for a literal byte, 1 for a match. Input may be left
// over.
func expandXPRESS(dst, src []byte) (int, error) {
	d, s := 0, 0
	nibble := -1 // place of a length byte whose high half is still unused
	for d < len(dst) {
		if len(src)-s < 4 {
			return d, errStreamEnd
		}
		flags := binary.LittleEndian.Uint32(src[s:])
		s += 4
		for left := 32; left > 0 && d < len(dst); {
			// A run of literals.
			if n := min(bits.LeadingZeros32(flags), left); n > 0 {
				if d+slack <= len(dst) && s+slack <= len(src) {
					copyWords(dst[d:d+slack], src[s:s+slack], n)
				} else {
					n = min(n, len(dst)-d)
					if n > len(src)-s {
						d += copy(dst[d:], src[s:])
						return d, errStreamEnd
					}
					copy(dst[d:d+n], src[s:])
				}
				d, s, left = d+n, s+n, left-n
				flags <<= n
				continue
			}
			// A match.
			flags <<= 1
			left--
			if len(src)-s < 2 {
				return d, errStreamEnd
			}
			token := int(binary.LittleEndian.Uint16(src[s:]))
			s += 2
			distance, n := token>>3+1, token&7+3
			if n == 7+3 {
				var err error
				if n, s, nibble, err = longLength(src, s, nibble); err != nil {
					return d, err
				}
			}
			if distance > d {
				return d, errStreamSource
			}
			if n <= 16 && distance >= 8 && d+slack <= len(dst) { // most matches
				to, from := dst[d:d+16], dst[d-distance:]
				binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
				binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(from[8:]))
				d += n
				continue
			}
			n = min(n, len(dst)-d)
			copyMatch(dst, d, distance, n)
			d += n
		}
	}
	return d, nil
}

// longLength reads what follows a match token of length 7: half a byte, which
// two matches share, then one, two or four bytes more.
func longLength(src []byte, s, nibble int) (n, next, newNibble int, err error) {
	if nibble < 0 {
		if s >= len(src) {
			return 0, s, nibble, errStreamEnd
		}
		n, nibble = int(src[s]&15), s
		s++
	} else {
		n, nibble = int(src[nibble]>>4), -1
	}
	if n == 15 {
		if s >= len(src) {
			return 0, s, nibble, errStreamEnd
		}
		n = int(src[s])
		s++
		if n == 255 {
			if len(src)-s < 2 {
				return 0, s, nibble, errStreamEnd
			}
			n = int(binary.LittleEndian.Uint16(src[s:]))
			s += 2
			if n == 0 {
				if len(src)-s < 4 {
					return 0, s, nibble, errStreamEnd
				}
				n = int(binary.LittleEndian.Uint32(src[s:]))
				s += 4
			}
			// These counts start at the token's length: 7 + 15 are in them.
			if n < 15+7 {
				return 0, s, nibble, errStreamLength
			}
			n -= 15 + 7
		}
		n += 15
	}
	return n + 7 + 3, s, nibble, nil
}

// copyWords copies n bytes, 1 to 32, and may write up to 32.
func copyWords(dst, src []byte, n int) {
	_, _ = dst[slack-1], src[slack-1]
	le := binary.LittleEndian
	le.PutUint64(dst, le.Uint64(src))
	if n <= 8 {
		return
	}
	le.PutUint64(dst[8:], le.Uint64(src[8:]))
	if n <= 16 {
		return
	}
	le.PutUint64(dst[16:], le.Uint64(src[16:]))
	le.PutUint64(dst[24:], le.Uint64(src[24:]))
}

// copyMatch copies n bytes from distance before d to d; the two may overlap,
// which repeats the bytes between them.
func copyMatch(dst []byte, d, distance, n int) {
	if distance >= 8 && d+n+8 <= len(dst) {
		le := binary.LittleEndian
		from, to := dst[d-distance:], dst[d:]
		for i := 0; i < n; i += 8 {
			le.PutUint64(to[i:], le.Uint64(from[i:]))
		}
		return
	}
	// Each round doubles the stretch that is there to copy from.
	start := d - distance
	for end := d + n; d < end; {
		d += copy(dst[d:end], dst[start:d])
	}
}
