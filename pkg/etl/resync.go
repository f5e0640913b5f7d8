package etl

import "encoding/binary"

const (
	// maxHole is how many nominal sizes of zeros may lie between buffers. A
	// file that was given its size in advance ends with more.
	maxHole = 1024
	// A compressed file is searched for the next buffer in pieces that grow from
	// the first to the second size: it is often near, and a file full of damage
	// must not cost more than its size.
	firstWindow = 4 << 10
	lastWindow  = 1 << 20
)

// resync finds where the buffers go on after one whose header, at off, cannot
// be used. In an uncompressed file that is one nominal size on, or where zeros
// end; nominal is 0 for a compressed file, which is searched for a buffer that
// another one, or the end of the file, follows. It returns the size of the file
// if nothing is found.
func (f *File) resync(off, nominal, maxBuffer int64, zeros bool) (int64, error) {
	if nominal == 0 {
		return f.search(off+1, maxBuffer)
	}
	next := off + nominal
	if !zeros {
		return min(next, f.size), nil
	}
	var head [bufferHeaderSize]byte
	for range maxHole {
		if f.size-next < bufferHeaderSize {
			break
		}
		if err := readFull(f.r, head[:], next); err != nil {
			return 0, err
		}
		if head != [bufferHeaderSize]byte{} {
			return next, nil
		}
		next += nominal
	}
	return f.size, nil
}

// search looks for a compressed buffer from off on, no further than one of the
// greatest size can reach.
func (f *File) search(off, maxBuffer int64) (int64, error) {
	end := min(f.size, off+maxBuffer)
	for size := int64(firstWindow); end-off >= bufferHeaderSize; size = min(2*size, lastWindow) {
		b := make([]byte, min(size, end-off))
		if err := readFull(f.r, b, off); err != nil {
			return 0, err
		}
		steps := len(b) - bufferHeaderSize + 1
		for i := range steps {
			// Most places fail the test of the flags.
			h := b[i : i+bufferHeaderSize]
			if h[0x34]&byte(BufferCompressed) == 0 || binary.LittleEndian.Uint16(h[0x36:]) > lastBuffer {
				continue
			}
			if at := off + int64(i); f.plausible(h, at, maxBuffer) && f.continues(h, at, maxBuffer) {
				return at, nil
			}
		}
		off += int64(steps)
	}
	return f.size, nil
}

// plausible says whether what stands at a place can be the header of a buffer
// of a compressed file.
func (f *File) plausible(head []byte, at, maxBuffer int64) bool {
	b := parseBuffer(head, at)
	return b.check(maxBuffer) == nil && b.Filled > bufferHeaderSize && b.Filled <= f.Header.BufferSize && int64(b.Size) <= f.size-at
}

// continues says whether another buffer, or the end of the file, follows the
// one at a place.
func (f *File) continues(head []byte, at, maxBuffer int64) bool {
	at += int64(binary.LittleEndian.Uint32(head))
	if at == f.size {
		return true
	}
	var next [bufferHeaderSize]byte
	return f.size-at >= bufferHeaderSize && readFull(f.r, next[:], at) == nil && f.plausible(next[:], at, maxBuffer)
}
