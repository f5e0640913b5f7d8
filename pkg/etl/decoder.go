package etl

import (
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Decoder yields the records of one buffer at a time. It owns the memory that
// it reads and unpacks buffers into, so each worker needs one of its own.
type Decoder struct {
	// Damage counts what the buffers decoded so far lost. It grows with each
	// pass over the file.
	Damage Damage

	f     *File
	want  Class
	raw   []byte // the buffer as it stands in the file
	plain []byte // the buffer after unpacking; its first bufferHeaderSize bytes are unused
	huff  *huffTable
	it    Records
}

// NewDecoder returns a decoder that yields the records of the given classes.
// Others are stepped over by their headers.
func (f *File) NewDecoder(want Class) *Decoder {
	return &Decoder{f: f, want: want}
}

// Buffer starts on buffer i of File.Buffers. The iterator is valid until the
// next call.
func (d *Decoder) Buffer(i int) *Records {
	b := &d.f.buffers[i]
	d.it = Records{dec: d, want: d.want, pos: bufferHeaderSize, rec: Record{buffer: b}}
	data, err := d.load(b)
	if err != nil {
		d.it.err = binfmt.InFile(err, d.f.name)
		return &d.it
	}
	d.it.data = data
	return &d.it
}

// load returns the used part of a buffer, unpacked. Of the buffer header only
// its place is there.
func (d *Decoder) load(b *Buffer) ([]byte, error) {
	d.raw = grow(d.raw, int(b.Stored))
	if n, err := d.f.r.ReadAt(d.raw, b.Offset); n < len(d.raw) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &binfmt.Error{Part: "buffer", Offset: b.Offset + int64(n), Err: err}
	}
	if !b.Compressed() {
		return d.raw[:min(b.Filled, b.Stored)], nil
	}
	want := int(b.Filled) - bufferHeaderSize
	n, err := d.unpack(d.raw[bufferHeaderSize:], want)
	if err != nil {
		if b.Stored < b.Size { // what there is of a cut buffer is good
			d.Damage.count(BadCompression, int64(want-n))
			return d.plain[:bufferHeaderSize+n], nil
		}
		d.Damage.count(BadCompression, int64(want))
		return nil, &binfmt.Error{
			Part:   "compressed buffer",
			Offset: b.Offset,
			Want:   fmt.Sprintf("%v data of %d bytes unpacked", d.f.compression, want),
			Got:    err.Error(),
			Err:    binfmt.ErrCorrupt,
		}
	}
	return d.plain, nil
}

// unpack expands src to size bytes behind the place of a buffer header and
// returns how many came out, which is fewer only with an error. The memory it
// takes follows what the stream really yields: it starts from a common ratio
// and grows only when that much came out.
func (d *Decoder) unpack(src []byte, size int) (n int, err error) {
	for part := min(size, 16*len(src)+4096); ; part = min(size, 4*part) {
		d.plain = grow(d.plain, bufferHeaderSize+part)
		n, err := d.expand(d.plain[bufferHeaderSize:], src)
		if err != nil || part == size {
			return n, err
		}
	}
}

// expand fills dst with what src unpacks to. A number other than the known
// ones, or that of another algorithm, may be an accident of the buffer state
// that shares its field: XPRESS, the only algorithm seen in real files, is
// tried last.
func (d *Decoder) expand(dst, src []byte) (n int, err error) {
	switch d.f.compression {
	case LZNT1:
		n, err = expandLZNT1(dst, src)
	case XPRESSHuff:
		if d.huff == nil {
			d.huff = new(huffTable)
		}
		n, err = expandXPRESSHuff(dst, src, d.huff)
	default:
		return expandXPRESS(dst, src)
	}
	if err != nil {
		if m, err := expandXPRESS(dst, src); err == nil {
			return m, nil
		}
	}
	return n, err
}

// grow returns a slice of n bytes, b's own memory if that is large enough.
// The contents are not kept.
func grow(b []byte, n int) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	return make([]byte, n)
}
