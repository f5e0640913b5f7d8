package etl

import (
	"encoding/binary"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Buffer is what a buffer header says.
type Buffer struct {
	// Offset is the place of the buffer header in the file.
	Offset int64
	// Sequence is the order in which the buffers were flushed.
	Sequence int64
	// Size is the bytes that the buffer takes in the file, its header
	// included; Stored is how many of them are there.
	Size, Stored uint32
	// Filled is the bytes in use, the header included, after unpacking.
	Filled uint32
	// Processor is the processor whose events these are. It says nothing in
	// files with ModeOneSet.
	Processor uint16
	Logger    uint16
	Flags     BufferFlags
	Type      uint16
}

// Compressed says whether the records have to be unpacked.
func (b *Buffer) Compressed() bool { return b.Flags&BufferCompressed != 0 }

// Lost is what the session itself says that it lost.
type Lost struct {
	// Events and Buffers are the numbers of the log file header. They are
	// final only if the session ended properly, which EndTime tells.
	Events, Buffers uint32
	// FlaggedEvents and FlaggedBuffers are how many buffers say that events,
	// or a buffer, were lost while they were filled.
	FlaggedEvents, FlaggedBuffers int
}

// Lost returns what the log file header and the buffer headers say was lost.
// Records of ClassLost tell more in some files.
func (f *File) Lost() Lost {
	l := Lost{Events: f.Header.EventsLost, Buffers: f.Header.BuffersLost}
	for i := range f.buffers {
		if f.buffers[i].Flags&BufferEventsLost != 0 {
			l.FlaggedEvents++
		}
		if f.buffers[i].Flags&BufferBufferLost != 0 {
			l.FlaggedBuffers++
		}
	}
	return l
}

// parseBuffer reads a buffer header.
func parseBuffer(h []byte, off int64) Buffer {
	le := binary.LittleEndian
	b := Buffer{
		Offset:    off,
		Size:      le.Uint32(h[0x00:]),
		Sequence:  int64(le.Uint64(h[0x18:])),
		Processor: le.Uint16(h[0x28:]),
		Logger:    le.Uint16(h[0x2A:]),
		Filled:    le.Uint32(h[0x30:]),
		Flags:     BufferFlags(le.Uint16(h[0x34:])),
		Type:      le.Uint16(h[0x36:]),
	}
	if b.Flags&BufferWideProcessor != 0 {
		b.Processor &= 0x7FF
	} else {
		b.Processor &= 0xFF // the high byte is the alignment of records
	}
	if b.Filled == 0 { // old writers
		b.Filled = le.Uint32(h[0x04:])
	}
	b.Filled = max(b.Filled, bufferHeaderSize)
	return b
}

// check says what of a buffer header cannot be right.
func (b *Buffer) check(maxBuffer int64) error {
	switch {
	case b.Size < bufferHeaderSize:
		return &binfmt.Error{Part: "buffer size", Offset: b.Offset, Want: fmt.Sprintf("at least %d", bufferHeaderSize), Got: fmt.Sprint(b.Size), Err: binfmt.ErrCorrupt}
	case int64(b.Size) > maxBuffer:
		return &binfmt.Error{Part: "buffer size", Offset: b.Offset, Want: fmt.Sprintf("at most %d", maxBuffer), Got: fmt.Sprint(b.Size), Err: binfmt.ErrLimit}
	case int64(b.Filled) > maxBuffer:
		return &binfmt.Error{Part: "buffer fill", Offset: b.Offset + 0x30, Want: fmt.Sprintf("at most %d", maxBuffer), Got: fmt.Sprint(b.Filled), Err: binfmt.ErrLimit}
	case b.Type > lastBuffer:
		return &binfmt.Error{Part: "buffer type", Offset: b.Offset + 0x36, Want: fmt.Sprintf("at most %d", lastBuffer), Got: fmt.Sprint(b.Type), Err: binfmt.ErrCorrupt}
	}
	return nil
}

// index reads the headers of all buffers. Buffers of an uncompressed file all
// have the size that the log file header gives, so a damaged header there
// costs that buffer alone. In a compressed file nothing tells where the next
// buffer starts; it is searched for.
func (f *File) index(maxBuffer int64) error {
	nominal := int64(0)
	if f.Header.Mode&ModeCompressed == 0 && f.Header.BufferSize >= bufferHeaderSize && int64(f.Header.BufferSize) <= maxBuffer {
		nominal = int64(f.Header.BufferSize)
	}
	var head [bufferHeaderSize]byte
	for off := int64(0); off < f.size; {
		if f.size-off < bufferHeaderSize {
			f.drop(Trailing, f.size-off, &binfmt.Error{Part: "buffer header", Offset: off, Want: fmt.Sprintf("%d bytes", bufferHeaderSize),
				Got: fmt.Sprint(f.size - off), Err: binfmt.ErrTruncated})
			return nil
		}
		if err := readFull(f.r, head[:], off); err != nil {
			return err
		}
		b := parseBuffer(head[:], off)
		zeros := head == [bufferHeaderSize]byte{}
		err := b.check(maxBuffer)
		if zeros {
			err = &binfmt.Error{Part: "buffer header", Offset: off, Want: "a buffer", Got: "zeros", Err: binfmt.ErrCorrupt}
		}
		if err == nil && nominal != 0 && int64(b.Size) != nominal && !f.followed(&b, nominal) {
			err = &binfmt.Error{Part: "buffer size", Offset: off, Want: fmt.Sprint(nominal), Got: fmt.Sprint(b.Size), Err: binfmt.ErrCorrupt}
		}
		if left := f.size - off; err == nil && nominal == 0 && int64(b.Size) > left {
			// Cut, unless other buffers follow.
			next, failed := f.search(off+1, maxBuffer)
			if failed != nil {
				return failed
			}
			if next < f.size {
				err = &binfmt.Error{Part: "buffer size", Offset: off, Want: fmt.Sprintf("at most %d", left), Got: fmt.Sprint(b.Size), Err: binfmt.ErrCorrupt}
			}
		}
		if err != nil {
			next, failed := f.resync(off, nominal, maxBuffer, zeros)
			if failed != nil {
				return failed
			}
			reason := BadBuffer
			if zeros && next == f.size {
				reason = ZeroTail
				err = &binfmt.Error{Part: "buffer header", Offset: off, Want: "a buffer", Got: "zeros to the end", Err: binfmt.ErrTruncated}
			}
			f.drop(reason, next-off, err)
			off = next
			continue
		}
		f.add(b)
		off += int64(b.Size)
	}
	return nil
}

// followed says whether the file goes on with a buffer, or ends, where b ends.
// A size that differs from the nominal one is believed only then.
func (f *File) followed(b *Buffer, nominal int64) bool {
	end := b.Offset + int64(b.Size)
	if end >= f.size {
		return end == f.size
	}
	var head [bufferHeaderSize]byte
	if readFull(f.r, head[:], end) != nil {
		return false
	}
	next := parseBuffer(head[:], end)
	return int64(next.Size) == nominal || next.Size == b.Size
}

// add puts a buffer into the index, cut to what the file has of it.
func (f *File) add(b Buffer) {
	b.Stored = b.Size
	if left := f.size - b.Offset; int64(b.Size) > left {
		b.Stored = uint32(left)
		f.drop(CutBuffer, int64(b.Size)-left, &binfmt.Error{Part: "buffer", Offset: f.size,
			Want: fmt.Sprintf("%d bytes from %#x", b.Size, b.Offset), Got: fmt.Sprint(left), Err: binfmt.ErrTruncated})
	}
	if !b.Compressed() && b.Filled > b.Stored {
		if b.Filled > b.Size {
			f.drop(BadFill, int64(b.Filled-b.Size), &binfmt.Error{Part: "buffer fill", Offset: b.Offset + 0x30,
				Want: fmt.Sprintf("at most %d", b.Size), Got: fmt.Sprint(b.Filled), Err: binfmt.ErrCorrupt})
		}
		b.Filled = b.Stored
	}
	f.buffers = append(f.buffers, b)
}

// drop counts a loss and keeps the first as the file's defect.
func (f *File) drop(r Reason, bytes int64, err error) {
	f.Damage.count(r, bytes)
	if f.defect == nil {
		f.defect = binfmt.InFile(err, f.name)
	}
}
