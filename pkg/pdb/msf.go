package pdb

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// magic7 starts an MSF 7.00 file.
const magic7 = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"

// otherMagics are the starts of files that are mistaken for an MSF 7.00 PDB.
var otherMagics = []struct {
	start, name string
	kind        error
}{
	{"Microsoft C/C++ program database 2.00\r\n\x1aJG", "a PDB of version 2.00 (JG), from before Visual C++ .NET", binfmt.ErrUnsupported},
	{"Microsoft MSFZ Container", "a compressed PDB (MSFZ)", binfmt.ErrUnsupported},
	{"BSJB", "a portable PDB (BSJB), which describes managed code", binfmt.ErrUnsupported},
	{"MZ", "a PE image", binfmt.ErrMagic},
	{"\x7fELF", "an ELF image", binfmt.ErrMagic},
}

const (
	superBlockSize = 56
	minBlockSize   = 512
	maxBlockSize   = 1 << 16
	// dirMapSlots is how many block numbers the superblock has room for: the
	// blocks that list the blocks of the directory.
	dirMapSlots = 73
	// noSize is the size of a stream that was deleted.
	noSize = 0xffffffff
	// noStream in place of a stream number says that there is none.
	noStream = 0xffff
)

// File is an open PDB. It is safe for concurrent use.
type File struct {
	r       io.ReaderAt
	size    uint64 // of the file
	closer  io.Closer
	block   uint64 // bytes
	nblocks uint64 // as the superblock claims
	streams []Stream

	info      func() (Info, error)
	dbi       func() (*DBI, error)
	modules   func() ([]Module, error)
	addresses func() (*AddressMap, error)
	names     func() ([]byte, error)
	ids       func() (*typeTable, error)
	types     func() (*typeTable, error)
}

// Open opens the PDB at path. Errors carry the path.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fi, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	f, err := NewFile(file, fi.Size())
	if err != nil {
		file.Close()
		return nil, binfmt.InFile(err, path)
	}
	f.closer = file
	return f, nil
}

// NewFile reads the superblock and the stream directory of the PDB in r, which
// has the given size in bytes. It does not close r. A file of another kind is
// binfmt.ErrMagic, or binfmt.ErrUnsupported if it is a kind of PDB that is not
// read; either way the error names it.
func NewFile(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: uint64(max(size, 0))}
	f.info = sync.OnceValues(f.readInfo)
	f.dbi = sync.OnceValues(f.readDBI)
	f.modules = sync.OnceValues(f.readModules)
	f.addresses = sync.OnceValues(f.readAddresses)
	f.names = sync.OnceValues(f.readNames)
	f.ids = sync.OnceValues(f.readIDs)
	f.types = sync.OnceValues(f.readTypes)
	dir, err := f.readSuperBlock()
	if err != nil {
		return nil, err
	}
	if err := f.readDirectory(dir); err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// BlockSize is the size of a block in bytes.
func (f *File) BlockSize() int { return int(f.block) }

// NumBlocks is how many blocks the file has according to its superblock.
func (f *File) NumBlocks() int { return int(f.nblocks) }

// NumStreams is how many streams the file has, deleted ones included.
func (f *File) NumStreams() int { return len(f.streams) }

// StreamSize is the size in bytes of stream i: 0 if it is empty, deleted or
// not there at all.
func (f *File) StreamSize(i int) int64 {
	if i < 0 || i >= len(f.streams) {
		return 0
	}
	return f.streams[i].size
}

// OpenStream returns stream i. A number that is out of range is an error; a
// deleted stream is empty.
func (f *File) OpenStream(i int) (*Stream, error) {
	if i < 0 || i >= len(f.streams) {
		return nil, &binfmt.Error{Part: "stream number", Offset: -1, Want: fmt.Sprintf("less than %d", len(f.streams)),
			Got: fmt.Sprint(i), Err: binfmt.ErrCorrupt}
	}
	return &f.streams[i], nil
}

// readSuperBlock returns the directory as a stream.
func (f *File) readSuperBlock() (*Stream, error) {
	head := make([]byte, superBlockSize+4*(dirMapSlots-1))
	n, err := f.r.ReadAt(head[:min(uint64(len(head)), f.size)], 0)
	if err != nil && err != io.EOF {
		return nil, &binfmt.Error{Part: "superblock", Offset: int64(n), Err: err}
	}
	head = head[:n]
	if !bytes.HasPrefix(head, []byte(magic7)) {
		e := &binfmt.Error{Part: "superblock", Want: "a PDB of MSF version 7.00", Got: fmt.Sprintf("%q", head[:min(n, 28)]), Err: binfmt.ErrMagic}
		for _, other := range otherMagics {
			if bytes.HasPrefix(head, []byte(other.start)) {
				e.Got, e.Err = other.name, other.kind
			}
		}
		if bytes.HasPrefix([]byte(magic7), head) {
			e.Err = binfmt.ErrTruncated
		}
		return nil, e
	}
	c := binfmt.NewCursor(head, "superblock", 0)
	c.Skip(uint64(len(magic7)))
	at := c.Offset()
	f.block = uint64(c.U32())
	if c.Err() == nil && (f.block < minBlockSize || f.block > maxBlockSize || f.block&(f.block-1) != 0) {
		c.FailAt(at, binfmt.ErrCorrupt, "a block size of 512 to 65536, a power of two", fmt.Sprint(f.block))
	}
	c.U32() // which of the two free block maps is valid
	at = c.Offset()
	f.nblocks = uint64(c.U32())
	if c.Err() == nil && f.nblocks < 2 {
		c.FailAt(at, binfmt.ErrCorrupt, "a block behind the superblock", fmt.Sprintf("%d blocks", f.nblocks))
	}
	at = c.Offset()
	dirSize := uint64(c.U32())
	if c.Err() == nil && dirSize < 4 {
		c.FailAt(at, binfmt.ErrCorrupt, "a directory of 4 bytes at least", fmt.Sprintf("%d bytes", dirSize))
	}
	c.U32() // reserved
	if c.Err() != nil {
		return nil, c.Err()
	}
	dirBlocks := ceilDiv(dirSize, f.block)
	mapBlocks := ceilDiv(4*dirBlocks, f.block)
	if dirSize > f.size || mapBlocks > dirMapSlots {
		c.FailAt(at, binfmt.ErrCorrupt, fmt.Sprintf("a directory that fits into a file of %d bytes", f.size), fmt.Sprintf("%d bytes", dirSize))
		return nil, c.Err()
	}
	// The block numbers of the directory are in a stream of their own, whose
	// block numbers are here.
	list := &Stream{f: f, index: directoryMap, size: int64(4 * dirBlocks)}
	list.blocks = blockNumbers(c, int(mapBlocks))
	if c.Err() != nil {
		return nil, c.Err()
	}
	if err := f.checkBlocks(list.blocks, func(i int) int64 { return superBlockSize - 4 + 4*int64(i) }, list, nil); err != nil {
		return nil, err
	}
	lc, err := list.cursor("block numbers", 0, list.size)
	if err != nil {
		return nil, err
	}
	dir := &Stream{f: f, index: directory, size: int64(dirSize), blocks: blockNumbers(lc, int(dirBlocks))}
	if err := f.checkBlocks(dir.blocks, func(i int) int64 { return list.fileOffset(4 * int64(i)) }, dir, nil); err != nil {
		return nil, err
	}
	return dir, nil
}

// readDirectory reads the sizes and the block numbers of all streams.
func (f *File) readDirectory(dir *Stream) error {
	c, err := dir.cursor("stream sizes", 0, dir.size)
	if err != nil {
		return err
	}
	count := c.Count(uint64(c.U32()), 4, "streams")
	f.streams = make([]Stream, count)
	for i := range f.streams {
		size := c.U32()
		if size == noSize {
			size = 0
		}
		f.streams[i] = Stream{f: f, index: i, size: int64(size)}
	}
	if c.Err() != nil {
		return dir.locate(c.Err())
	}
	used := make(blockSet, ceilDiv(min(f.nblocks, ceilDiv(f.size, f.block)), 64))
	for i := range f.streams {
		s := &f.streams[i]
		c.Part(fmt.Sprintf("blocks of stream %d", i))
		at := int64(c.Pos())
		n := c.Count(ceilDiv(uint64(s.size), f.block), 4, "block numbers")
		s.blocks = blockNumbers(c, n)
		if c.Err() != nil {
			return dir.locate(c.Err())
		}
		set := used
		if i == 0 {
			// Stream 0 is the directory of the state before. What its blocks
			// hold is of no interest, nor who uses them now.
			set = nil
		}
		if err := f.checkBlocks(s.blocks, func(i int) int64 { return dir.fileOffset(at + 4*int64(i)) }, s, set); err != nil {
			return err
		}
	}
	return nil
}

func blockNumbers(c *binfmt.Cursor, n int) []uint32 {
	if n > c.Len()/4 {
		c.Fail(binfmt.ErrTruncated, fmt.Sprintf("%d block numbers", n), fmt.Sprintf("%d bytes", c.Len()))
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = c.U32()
	}
	return out
}

// blockSet holds one bit per block that is in use.
type blockSet []uint64

// checkBlocks makes sure that the blocks of a stream are in the file and, if
// used is given, belong to no other one. At returns the file offset of the
// block number with an index.
func (f *File) checkBlocks(blocks []uint32, at func(int) int64, s *Stream, used blockSet) error {
	for i, b := range blocks {
		fail := func(kind error, want string) error {
			return &binfmt.Error{Part: s.name() + ": block number", Offset: at(i), Want: want, Got: fmt.Sprint(b), Err: kind}
		}
		if b == 0 || uint64(b) >= f.nblocks {
			return fail(binfmt.ErrCorrupt, fmt.Sprintf("1 to %d", f.nblocks-1))
		}
		if uint64(b)*f.block >= f.size {
			return fail(binfmt.ErrTruncated, fmt.Sprintf("a block within %d bytes", f.size))
		}
		if used == nil {
			continue
		}
		if used[b/64]&(1<<(b%64)) != 0 {
			return fail(binfmt.ErrCorrupt, "a block of no other stream")
		}
		used[b/64] |= 1 << (b % 64)
	}
	return nil
}

func ceilDiv(a, b uint64) uint64 { return (a + b - 1) / b }
