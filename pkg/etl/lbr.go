package etl

import (
	"encoding/binary"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// LBR is a last branch record: the branches that a processor took before an
// event. It belongs to the event of the same thread whose time stamp is
// exactly Time, which is a PMC sample in recordings made for profiles.
//
// The layout is only read about: no file with real branches is known.
type LBR struct {
	Time     int64 // of the event
	PID, TID uint32
	Options  uint32 // LBR filter bits; a set bit leaves branches out
	Branches []Branch
	// Trailing is how many bytes at the end are no whole branch; 0 if the
	// layout is what it is thought to be.
	Trailing int
}

// Branch is one taken branch; the most recent comes first. The code from a
// branch's To up to the From of the branch before it in the list ran straight.
// Unused entries are all zero. Addresses are as the processor gave them; some
// old ones keep flags in the upper bits.
type Branch struct {
	From, To uint64
	Info     uint64 // the processor's third register, as it was
}

// Filter bits of last branch records.
const (
	LBRNoKernel       uint32 = 0x001
	LBRNoUser         uint32 = 0x002
	LBRNoConditional  uint32 = 0x004
	LBRNoCall         uint32 = 0x008
	LBRNoIndirectCall uint32 = 0x010
	LBRNoReturn       uint32 = 0x020
	LBRNoIndirectJump uint32 = 0x040
	LBRNoJump         uint32 = 0x080
	LBRNoFar          uint32 = 0x100
	LBRCallStack      uint32 = 0x200
)

// lbrHeader is the bytes before the branches, without the padding that comes
// with 8-byte pointers: u64 time, u32 process, u32 thread, u32 options.
const lbrHeader = 20

// DecodeLBR reads a record of ClassLBR. It reuses the memory of l.Branches.
func DecodeLBR(r *Record, l *LBR) error {
	b, ptr := r.Payload, int(r.PointerSize)
	header := lbrHeader + ptr - 4
	if len(b) < header || r.Class != ClassLBR {
		return wrongSample(r, ClassLBR, "last branch record", header)
	}
	le := binary.LittleEndian
	l.Time = int64(le.Uint64(b))
	l.PID, l.TID, l.Options = le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:])
	b = b[header:]
	n := len(b) / (3 * ptr)
	l.Trailing = len(b) % (3 * ptr)
	if cap(l.Branches) < n {
		l.Branches = make([]Branch, n)
	}
	l.Branches = l.Branches[:n]
	if ptr == 4 {
		for i := range l.Branches {
			e := b[12*i:][:12]
			l.Branches[i] = Branch{uint64(le.Uint32(e)), uint64(le.Uint32(e[4:])), uint64(le.Uint32(e[8:]))}
		}
		return nil
	}
	for i := range l.Branches {
		if len(b) < 24 { // never, but then the loads below need no checks
			break
		}
		e := &l.Branches[i]
		e.From, e.To, e.Info = le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])
		b = b[24:]
	}
	return nil
}

// AppendLBR appends the payload of a last branch record.
func AppendLBR(b []byte, l *LBR, pointerSize int) []byte {
	b = binfmt.AppendU64(b, uint64(l.Time))
	b = binfmt.AppendU32(b, l.PID)
	b = binfmt.AppendU32(b, l.TID)
	b = appendPointer(b, uint64(l.Options), pointerSize) // padded on 64 bits
	for _, e := range l.Branches {
		b = appendPointer(b, e.From, pointerSize)
		b = appendPointer(b, e.To, pointerSize)
		b = appendPointer(b, e.Info, pointerSize)
	}
	return b
}
