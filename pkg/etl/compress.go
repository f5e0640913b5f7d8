package etl

import (
	"encoding/binary"
	"math/bits"
)

const (
	xpressWindow   = 8192 // largest distance of a match
	xpressHashBits = 14
)

// xpressEncoder makes streams of plain LZ77 as in [MS-XCA] 2.3: greedily,
// with the latest place of each three bytes as the only candidate.
type xpressEncoder struct {
	table [1 << xpressHashBits]int32 // place + 1
}

// compress appends the stream for src to b.
func (x *xpressEncoder) compress(b, src []byte) []byte {
	clear(x.table[:])
	flagsAt := len(b) // place of the current flag word
	b = append(b, 0, 0, 0, 0)
	var flags uint32
	used := 0    // bits of flags
	nibble := -1 // place of a length byte whose high half is free
	flag := func(bit uint32) {
		if used == 32 {
			binary.LittleEndian.PutUint32(b[flagsAt:], flags)
			flagsAt = len(b)
			b = append(b, 0, 0, 0, 0)
			flags, used = 0, 0
		}
		flags = flags<<1 | bit
		used++
	}
	for i := 0; i < len(src); {
		n, distance := x.match(src, i)
		if n < 3 {
			flag(0)
			b = append(b, src[i])
			i++
			continue
		}
		flag(1)
		i += n
		n -= 3
		b = binary.LittleEndian.AppendUint16(b, uint16(distance-1)<<3|uint16(min(n, 7)))
		if n < 7 {
			continue
		}
		half := byte(min(n-7, 15))
		if nibble < 0 {
			nibble = len(b)
			b = append(b, half)
		} else {
			b[nibble] |= half << 4
			nibble = -1
		}
		switch {
		case half < 15:
		case n-7-15 < 255:
			b = append(b, byte(n-7-15))
		case n < 1<<16:
			b = binary.LittleEndian.AppendUint16(append(b, 255), uint16(n))
		default:
			b = binary.LittleEndian.AppendUint32(append(b, 255, 0, 0), uint32(n))
		}
	}
	// The unused flags are ones, as in the files of Windows.
	flags = flags<<(32-used) | uint32(1<<(32-used)-1)
	binary.LittleEndian.PutUint32(b[flagsAt:], flags)
	return b
}

// match finds an earlier place with the bytes at i, and how many are equal.
func (x *xpressEncoder) match(src []byte, i int) (n, distance int) {
	if len(src)-i < 4 {
		return 0, 0
	}
	word := binary.LittleEndian.Uint32(src[i:])
	hash := word << 8 * 2654435761 >> (32 - xpressHashBits)
	j := int(x.table[hash]) - 1
	x.table[hash] = int32(i + 1)
	if j < 0 || i-j > xpressWindow || (binary.LittleEndian.Uint32(src[j:])^word)<<8 != 0 {
		return 0, 0
	}
	n = 3
	for len(src)-(i+n) >= 8 {
		diff := binary.LittleEndian.Uint64(src[i+n:]) ^ binary.LittleEndian.Uint64(src[j+n:])
		if diff != 0 {
			return n + bits.TrailingZeros64(diff)/8, i - j
		}
		n += 8
	}
	for i+n < len(src) && src[i+n] == src[j+n] {
		n++
	}
	return n, i - j
}
