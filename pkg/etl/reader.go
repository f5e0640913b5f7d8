package etl

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Options limits what a reader takes from its input. The zero value means
// the defaults.
type Options struct {
	// MaxBuffer is the largest size, in bytes, that a buffer may have in the
	// file or after unpacking; default 64 MiB. A buffer beyond it counts as
	// damaged, with ErrLimit.
	MaxBuffer int64
	// MaxUnpacked is how many bytes the members of an archive or a packed
	// file may unpack to, all together; default 64 GiB. They go to a
	// temporary file. Beyond it Open fails with ErrLimit.
	MaxUnpacked int64
	// TempDir is the folder of that file; default os.TempDir.
	TempDir string
	// NoSiblings makes Open read the named file alone, without the other
	// files of the same recording beside it.
	NoSiblings bool
	// Files is where log files lie; by default the operating system's files.
	Files Files
}

const (
	defaultMaxBuffer   = 64 << 20
	defaultMaxUnpacked = 64 << 30
)

func (o *Options) maxBuffer() int64 {
	if o == nil || o.MaxBuffer == 0 {
		return defaultMaxBuffer
	}
	return o.MaxBuffer
}

func (o *Options) maxUnpacked() int64 {
	if o == nil || o.MaxUnpacked == 0 {
		return defaultMaxUnpacked
	}
	return o.MaxUnpacked
}

func (o *Options) check() error {
	if o == nil {
		return nil
	}
	for _, limit := range []struct {
		name string
		n    int64
	}{{"MaxBuffer", o.MaxBuffer}, {"MaxUnpacked", o.MaxUnpacked}} {
		if limit.n < 0 {
			return &binfmt.Error{Part: "etl.Options." + limit.name, Offset: -1, Want: "a positive size", Got: fmt.Sprint(limit.n)}
		}
	}
	return nil
}

// File is one Event Trace Log. Its methods may be used by several goroutines
// at once.
type File struct {
	// Header is the log file header.
	Header LogFile
	// Damage counts what the buffer headers and the end of the file lost.
	// Decoders count their own.
	Damage Damage

	r           io.ReaderAt
	size        int64
	name        string
	buffers     []Buffer
	compression Compression
	pointerSize uint8 // of records that do not tell theirs
	defect      error // the first damaged buffer header
	close       func() error
}

// NewReader reads the log file header and all buffer headers of an Event
// Trace Log of size bytes. It fails with ErrMagic if the input is something
// else and with ErrTruncated if it ends before the log file header does.
// Damage further on does not make it fail; see File.Defect. NewReader does
// not close r.
func NewReader(r io.ReaderAt, size int64, opt *Options) (*File, error) {
	return newFile(r, size, "", opt)
}

func newFile(r io.ReaderAt, size int64, name string, opt *Options) (*File, error) {
	f := &File{r: r, size: size, name: name, pointerSize: 8}
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := f.open(opt.maxBuffer()); err != nil {
		return nil, binfmt.InFile(err, name)
	}
	return f, nil
}

// Name is the name the file was opened by; a member of an archive is
// "archive!member". It is empty after NewReader.
func (f *File) Name() string { return f.name }

// Size is the size of the file in bytes, unpacked if it came from an archive.
func (f *File) Size() int64 { return f.size }

// Buffers returns the buffers in file order. The caller must not change them.
func (f *File) Buffers() []Buffer { return f.buffers }

// Compression is the algorithm of the file's compressed buffers. Without such
// buffers it says nothing.
func (f *File) Compression() Compression { return f.compression }

// Defect returns the first fault among the buffer headers, or in what the file
// was packed in, or nil. What it cost is in Damage, as far as that is known. A file whose last buffer is cut, as after a crash, has
// one with ErrTruncated.
func (f *File) Defect() error { return f.defect }

// Close releases what Open opened.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// open reads the first buffer and then the headers of the others.
func (f *File) open(maxBuffer int64) error {
	const least = bufferHeaderSize + systemHeader
	if f.size < least {
		return &binfmt.Error{Part: "buffer header", Offset: max(f.size, 0), Want: fmt.Sprintf("at least %d bytes", least),
			Got: fmt.Sprint(f.size), Err: binfmt.ErrTruncated}
	}
	var head [least]byte
	if err := readFull(f.r, head[:], 0); err != nil {
		return err
	}
	if err := checkMagic(head[:]); err != nil {
		return err
	}
	first := parseBuffer(head[:bufferHeaderSize], 0)
	if err := first.check(maxBuffer); err != nil {
		return err
	}
	// The compression number shares its field with the buffer's state.
	f.compression = Compression(binary.LittleEndian.Uint32(head[0x2C:]))
	f.add(first)
	rec := f.NewDecoder(ClassLogFile).Buffer(0)
	if !rec.Next() {
		if f.defect != nil { // the file ends within the first buffer
			return f.defect
		}
		if err := rec.Err(); err != nil {
			return err
		}
		return &binfmt.Error{Part: "log file header", Offset: bufferHeaderSize, Want: "a record", Got: "an empty buffer", Err: binfmt.ErrTruncated}
	}
	if err := decodeLogFile(rec.Record(), &f.Header); err != nil {
		return err
	}
	f.pointerSize = uint8(f.Header.PointerSize)
	f.buffers, f.Damage, f.defect = nil, Damage{}, nil // index starts afresh
	return f.index(maxBuffer)
}

// checkMagic tells an Event Trace Log, which has no signature, by its first
// buffer: a header buffer whose first record is the log file header.
func checkMagic(head []byte) error {
	le := binary.LittleEndian
	if t := le.Uint16(head[0x36:]); t != BufferHeader {
		return &binfmt.Error{Part: "buffer type", Offset: 0x36, Want: fmt.Sprint(BufferHeader), Got: fmt.Sprint(t), Err: binfmt.ErrMagic}
	}
	marker := le.Uint32(head[bufferHeaderSize:])
	typ := HeaderType(marker >> 16)
	if marker>>24 != markerTrace || (typ != HeaderSystem32 && typ != HeaderSystem64) {
		return &binfmt.Error{Part: "log file header", Offset: bufferHeaderSize + 2, Want: "a SYSTEM record",
			Got: fmt.Sprintf("marker %#08x", marker), Err: binfmt.ErrMagic}
	}
	if h := Hook(le.Uint16(head[bufferHeaderSize+6:])); h != HookLogFile {
		return &binfmt.Error{Part: "log file header", Offset: bufferHeaderSize + 6, Want: "hook 0x0000", Got: fmt.Sprintf("%#04x", uint16(h)), Err: binfmt.ErrMagic}
	}
	return nil
}

// readFull reads len(b) bytes at off; a short read is an error.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = binfmt.ErrTruncated
	}
	return &binfmt.Error{Part: "file", Offset: off + int64(n), Want: fmt.Sprintf("%d bytes", len(b)), Got: fmt.Sprint(n), Err: err}
}
