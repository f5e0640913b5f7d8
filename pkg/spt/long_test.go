package spt

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"testing"
)

// endless is a file that is never whole in memory: tables and then one block
// over and over. It works as a stream and for random access.
type endless struct {
	head, block []byte
	size, pos   int64
}

func newEndless(head, block []byte, blocks int64) *endless {
	return &endless{head: head, block: block, size: int64(len(head)) + blocks*int64(len(block))}
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.ReadAt(p, e.pos)
	e.pos += int64(n)
	return n, err
}

func (e *endless) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < e.size {
		src := e.head
		if at := off - int64(len(e.head)); at >= 0 {
			src = e.block[at%int64(len(e.block)):]
		} else {
			src = src[off:]
		}
		m := copy(p[n:], src)
		n += m
		off += int64(m)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// hugeSize is 10 GB with SPGO_LONG=1, and otherwise what takes a moment.
func hugeSize() int64 {
	if os.Getenv("SPGO_LONG") == "1" {
		return 10e9
	}
	return 10e6
}

// allocated returns the bytes that f allocates, freed ones included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Reading, copying, printing and parsing allocate the same few buffers for a
// file of any size.
func TestMemoryIsConstant(t *testing.T) {
	block := segment(1, bytes.Repeat(cat(repeat(0, 4), entries(0x10, 16, make([]uint32, 32)...), entries(0x01, 1, 7)), 6000))
	blocks := hugeSize() / int64(len(block))
	const most = 6 << 20
	check := func(name string, f func() error) {
		t.Helper()
		var err error
		if n := allocated(func() { err = f() }); n > most || err != nil {
			t.Errorf("%s allocates %d bytes: %v", name, n, err)
		}
	}
	file := func() *endless { return newEndless(smallFile(), block, blocks) }
	want := uint64(blocks) * 12000
	count := func(r *Reader, err error) error {
		if err != nil {
			return err
		}
		for r.Next() {
		}
		if n := r.Stats().Records; n != want {
			t.Errorf("%d records, want %d", n, want)
		}
		return r.Err()
	}
	check("reading a file", func() error { return count(NewReader(file(), file().size, nil)) })
	check("reading a stream", func() error { return count(NewStreamReader(file(), nil)) })
	check("copying", func() error {
		r, err := NewStreamReader(file(), nil)
		if err != nil {
			return err
		}
		return Copy(io.Discard, r)
	})
	check("text there and back", func() error {
		r, err := NewReader(file(), file().size, nil)
		if err != nil {
			return err
		}
		pr, pw := io.Pipe()
		go func() { pw.CloseWithError(WriteText(pw, r, PartAll)) }()
		size := counter(0)
		err = ParseText(&size, pr)
		if int64(size) != file().size {
			t.Errorf("%d bytes became %d", file().size, size)
		}
		return err
	})
}

// counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// A segment may be longer than 2 GiB, and a reader that skips it seeks.
func TestHugeSegment(t *testing.T) {
	rec := entries(0x41, 255, make([]uint32, 255)...)
	for _, c := range []struct {
		name  string
		index uint16
		opts  *Options
		want  uint64
		size  int64
	}{
		{"read", 1, nil, uint64(min(hugeSize(), 4e9)) / uint64(len(rec)), min(hugeSize(), 4e9)},
		{"skipped", 1, &Options{Tolerate: true}, 0, 4e9},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.size / int64(len(rec))
			head := smallFile(binaryID(0, c.index, uint32(n*int64(len(rec)))+4))
			body := bytes.Clone(rec)
			if c.opts != nil {
				body[0] = 0x77
			}
			e := newEndless(head, body, n)
			r, err := NewReader(e, e.size, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			for r.Next() {
			}
			if s := r.Stats(); r.Err() != nil || s.Records != c.want || s.Bytes != uint64(e.size)-dataStart {
				t.Errorf("%+v, %v", s, r.Err())
			}
		})
	}
}

// A foreign file with a wrong length costs no more memory than its own size.
func TestClaimedSizesAllocateNothing(t *testing.T) {
	data := smallFile(binaryID(0, 1, 0xFFFFFFFF))
	copy(data[0x1E:], u16(0xFFFF))
	for _, rd := range readers[:2] {
		n := allocated(func() {
			if _, err := rd.open(data, nil); err == nil {
				t.Error("tables past the end of the file")
			}
		})
		if n > 2<<20 {
			t.Errorf("%s: %d bytes allocated", rd.name, n)
		}
	}
}
