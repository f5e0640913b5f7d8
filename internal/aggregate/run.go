package aggregate

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// run is a sorted sequence of items on disk:
//
//	tag     1 byte: the kind, with newBinary where a binary begins
//	binary  varint, where the tag says so
//	a, b    varints, b for links only: the difference to the item before of the
//	        same binary and kind; b's to that of the same a
//	stack   varint length and bytes, in the place of a and b
//	n       varint
//
// and the tag endOfRun.
type run struct {
	r      io.ReaderAt
	size   int64
	starts []binaryStart
	level  int // how many times its items were merged
	close  func() error
}

// binaryStart is where the items of a binary begin.
type binaryStart struct {
	binary int32
	offset int64
}

const (
	newBinary = 0x40
	endOfRun  = 0xff

	maxStack = 8 * spt.MaxEntries
)

// writeItems writes a run and returns where its binaries begin.
func writeItems(w io.Writer, from itemSource) (starts []binaryStart, size int64, err error) {
	out := bufio.NewWriterSize(w, 256<<10)
	last := item{binary: -1}
	var b []byte
	for {
		it, err := from.next()
		if err != nil {
			return nil, 0, err
		}
		if it == nil {
			break
		}
		b = append(b[:0], byte(it.kind))
		if it.binary != last.binary {
			starts = append(starts, binaryStart{it.binary, size})
			b[0] |= newBinary
			b = binary.AppendUvarint(b, uint64(it.binary))
			last = item{}
		}
		if it.kind != last.kind {
			last = item{}
		}
		switch it.kind {
		case kindStacks:
			b = binary.AppendUvarint(b, uint64(len(it.stack)))
			b = append(b, it.stack...)
		case kindBranchLinks, kindCallLinks:
			b = binary.AppendUvarint(b, it.a-last.a)
			if it.a != last.a {
				last.b = 0
			}
			b = binary.AppendUvarint(b, it.b-last.b)
		default:
			b = binary.AppendUvarint(b, it.a-last.a)
		}
		b = binary.AppendUvarint(b, it.n)
		last = *it
		size += int64(len(b))
		if _, err := out.Write(b); err != nil {
			return nil, 0, err
		}
	}
	if err := out.WriteByte(endOfRun); err != nil {
		return nil, 0, err
	}
	return starts, size + 1, out.Flush()
}

// spillRun writes items to a temporary file in a folder.
func spillRun(dir string, from itemSource, level int) (*run, error) {
	f, err := os.CreateTemp(dir, "spgo-*.run")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // where the system can, now: nothing is left behind whatever happens
	r := &run{r: f, level: level, close: func() error {
		err := f.Close()
		os.Remove(f.Name())
		return err
	}}
	if r.starts, r.size, err = writeItems(f, from); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// runItems reads a run.
type runItems struct {
	in     *bufio.Reader
	base   int64 // of in, in the run
	read   *countingReader
	only   int32 // stop behind this binary; -1: read all
	item   item
	starts []binaryStart // where note is set: of the binaries that were met
	note   bool
	done   bool
}

const runBuffer = 32 << 10

// items reads all of the run.
func (r *run) items() *runItems { return r.from(0, -1) }

// of reads the items of a binary; nil: there are none.
func (r *run) of(binary int32) *runItems {
	i, ok := slices.BinarySearchFunc(r.starts, binary, func(s binaryStart, b int32) int { return cmp.Compare(s.binary, b) })
	if !ok {
		return nil
	}
	return r.from(r.starts[i].offset, binary)
}

func (r *run) from(offset int64, only int32) *runItems {
	c := &countingReader{r: io.NewSectionReader(r.r, offset, r.size-offset)}
	return &runItems{in: bufio.NewReaderSize(c, runBuffer), read: c, base: offset, only: only, item: item{binary: -1}}
}

type countingReader struct {
	r   io.Reader
	n   int64
	err error // that r failed with
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func (r *runItems) offset() int64 { return r.base + r.read.n - int64(r.in.Buffered()) }

// next implements itemSource. Bytes that are no run are an error.
func (r *runItems) next() (*item, error) {
	if r.done {
		return nil, nil
	}
	at := r.offset()
	tag, err := r.in.ReadByte()
	if err != nil {
		return nil, r.bad(at, err)
	}
	if tag == endOfRun {
		r.done = true
		return nil, nil
	}
	before := r.item
	it := &r.item
	*it = item{binary: before.binary, kind: kind(tag &^ newBinary)}
	if tag&newBinary != 0 {
		v, err := binary.ReadUvarint(r.in)
		if err != nil {
			return nil, r.bad(at, err)
		}
		if r.only >= 0 && before.binary >= 0 {
			r.done = true
			return nil, nil
		}
		it.binary = int32(v)
		if v > 1<<31-1 || it.binary <= before.binary {
			return nil, r.bad(at, nil)
		}
		if r.note {
			r.starts = append(r.starts, binaryStart{it.binary, at})
		}
		before = item{binary: it.binary, kind: it.kind}
	}
	if it.kind != before.kind {
		if it.kind < before.kind {
			return nil, r.bad(at, nil)
		}
		before = item{kind: it.kind}
	}
	if it.binary < 0 || it.kind >= kinds {
		return nil, r.bad(at, nil)
	}
	if err := r.body(&before); err != nil {
		return nil, r.bad(at, err)
	}
	if it.n == 0 {
		return nil, r.bad(at, nil)
	}
	return it, nil
}

func (r *runItems) body(before *item) error {
	var values [3]uint64
	need := 2
	if r.item.kind == kindBranchLinks || r.item.kind == kindCallLinks {
		need = 3
	}
	for i := range need {
		v, err := binary.ReadUvarint(r.in)
		if err != nil {
			return err
		}
		if values[i] = v; i > 0 || r.item.kind != kindStacks {
			continue
		}
		if v > maxStack || v%8 != 0 {
			return binfmt.ErrCorrupt
		}
		stack := make([]byte, v)
		if _, err := io.ReadFull(r.in, stack); err != nil {
			return err
		}
		r.item.stack = string(stack)
	}
	switch {
	case r.item.kind == kindStacks:
	case need == 3:
		r.item.a = before.a + values[0]
		if r.item.b = values[1]; values[0] == 0 {
			r.item.b += before.b
		}
	default:
		r.item.a = before.a + values[0]
	}
	r.item.n = values[need-1]
	return nil
}

// bad is the error for what begins at an offset: that of reading, if there is
// one, else a defect of the bytes.
func (r *runItems) bad(at int64, err error) error {
	switch {
	case r.read.err != nil:
		err = r.read.err
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		err = binfmt.ErrTruncated
	default: // also for a number that does not end
		err = binfmt.ErrCorrupt
	}
	return &binfmt.Error{Part: "partial sums", Offset: at, Err: err}
}
