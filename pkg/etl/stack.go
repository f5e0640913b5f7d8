package etl

import (
	"encoding/binary"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Stack is a stack walk. It belongs to the event of the same thread whose
// time stamp is exactly Time; one event may have several, for the kernel and
// the user side.
type Stack struct {
	Time     int64 // of the event
	PID, TID uint32
	Frames   []uint64 // return addresses, innermost first
}

// StackKey stands for a stack that a StackDef gives. The definition is the
// first with the same key after the reference in time order: keys are used
// again for other stacks.
type StackKey struct {
	Time     int64 // of the event that the stack belongs to
	PID, TID uint32
	Key      uint64
	User     bool // the user side of the stack, else the kernel side
}

// StackDef gives the stack of a key.
type StackDef struct {
	Key    uint64
	Frames []uint64 // return addresses, innermost first
}

// stackHeader is the bytes before the frames of a stack walk: u64 time, u32
// process, u32 thread.
const stackHeader = 16

// DecodeStack reads a record of ClassStack. It reuses the memory of s.Frames.
func DecodeStack(r *Record, s *Stack) error {
	b := r.Payload
	if len(b) < stackHeader || r.Class != ClassStack {
		return wrongSample(r, ClassStack, "stack", stackHeader)
	}
	s.Time = int64(binary.LittleEndian.Uint64(b))
	s.PID, s.TID = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	s.Frames = appendFrames(s.Frames[:0], b[stackHeader:], r.PointerSize)
	return nil
}

// DecodeStackKey reads a record of ClassStackKey.
func DecodeStackKey(r *Record, s *StackKey) error {
	b, ptr := r.Payload, int(r.PointerSize)
	if len(b) < stackHeader+ptr || r.Class != ClassStackKey {
		return wrongSample(r, ClassStackKey, "stack key", stackHeader+ptr)
	}
	s.Time = int64(binary.LittleEndian.Uint64(b))
	s.PID, s.TID = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	s.Key = loadPointer(b[stackHeader:], ptr)
	s.User = r.Hook == HookStackKeyUser
	return nil
}

// DecodeStackDef reads a record of ClassStackDef. It reuses the memory of
// s.Frames.
func DecodeStackDef(r *Record, s *StackDef) error {
	b, ptr := r.Payload, int(r.PointerSize)
	if len(b) < ptr || r.Class != ClassStackDef {
		return wrongSample(r, ClassStackDef, "stack definition", ptr)
	}
	s.Key = loadPointer(b, ptr)
	s.Frames = appendFrames(s.Frames[:0], b[ptr:], r.PointerSize)
	return nil
}

// loadPointer reads an integer of pointer size.
func loadPointer(b []byte, ptr int) uint64 {
	if ptr == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func appendFrames(dst []uint64, b []byte, ptr uint8) []uint64 {
	if ptr == 4 {
		for ; len(b) >= 4; b = b[4:] {
			dst = append(dst, uint64(binary.LittleEndian.Uint32(b)))
		}
		return dst
	}
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(b))
	}
	return dst
}

// AppendStack appends the payload of a stack walk.
func AppendStack(b []byte, s *Stack, pointerSize int) []byte {
	b = binfmt.AppendU64(b, uint64(s.Time))
	b = binfmt.AppendU32(b, s.PID)
	b = binfmt.AppendU32(b, s.TID)
	return putFrames(b, s.Frames, pointerSize)
}

// AppendStackKey appends the payload of a reference to a stack.
func AppendStackKey(b []byte, s *StackKey, pointerSize int) []byte {
	b = binfmt.AppendU64(b, uint64(s.Time))
	b = binfmt.AppendU32(b, s.PID)
	b = binfmt.AppendU32(b, s.TID)
	return appendPointer(b, s.Key, pointerSize)
}

// AppendStackDef appends the payload of a stack definition.
func AppendStackDef(b []byte, s *StackDef, pointerSize int) []byte {
	return putFrames(appendPointer(b, s.Key, pointerSize), s.Frames, pointerSize)
}

func putFrames(b []byte, frames []uint64, ptr int) []byte {
	for _, a := range frames {
		b = appendPointer(b, a, ptr)
	}
	return b
}
