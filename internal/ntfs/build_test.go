package ntfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// A small writer of NTFS volumes: a boot sector, an MFT and folders with an
// index, just enough of them for a reader. Attributes are made by hand, so that
// every layout of data can be had.

const (
	testCluster = 1024
	testRecord  = 2048
	testBlock   = 4096 // of an index
)

// volumeBuilder makes a volume. Records 0 to 15 are those of the system, of
// which the MFT, the label and the root exist.
type volumeBuilder struct {
	image   []byte
	records []*testEntry
	// splitMFT puts the records from 17 on somewhere else, and says so in a
	// record of its own, as in a fragmented MFT.
	splitMFT bool
}

// testEntry is a record before it is written.
type testEntry struct {
	number     int
	flags      uint16
	base       uint64
	attributes [][]byte
	names      []testName // of a folder
	stale      []testName // of a folder: in a block that is not in use
	large      bool       // a folder with index blocks
}

// testName is an entry of a folder.
type testName struct {
	of      *testEntry
	name    string
	space   byte
	flags   uint32
	reparse uint32
}

const testSequence = 7 // of all records

func reference(number int) uint64 { return uint64(number) | testSequence<<48 }

func newBuilder() *volumeBuilder {
	b := &volumeBuilder{image: make([]byte, 8*testCluster)}
	for range 16 {
		b.records = append(b.records, nil)
	}
	b.records[recordMFT] = &testEntry{number: recordMFT, flags: recordInUse}
	b.records[recordVolume] = &testEntry{number: recordVolume, flags: recordInUse,
		attributes: [][]byte{resident(typeVolumeName, "", 0, wide("LAB"))}}
	b.records[recordRoot] = &testEntry{number: recordRoot, flags: recordInUse | recordDirectory}
	b.root().names = []testName{{of: b.root(), name: ".", space: spaceBoth, flags: flagDirectory}}
	return b
}

func (b *volumeBuilder) root() *testEntry { return b.records[recordRoot] }

// add makes a record, and an entry in a folder if there is one.
func (b *volumeBuilder) add(dir *testEntry, name string, attributes ...[]byte) *testEntry {
	e := &testEntry{number: len(b.records), flags: recordInUse, attributes: attributes}
	b.records = append(b.records, e)
	if dir != nil {
		dir.names = append(dir.names, testName{of: e, name: name, space: spaceWin32})
	}
	return e
}

func (b *volumeBuilder) folder(dir *testEntry, name string) *testEntry {
	e := b.add(dir, name)
	e.flags |= recordDirectory
	dir.names[len(dir.names)-1].flags = flagDirectory
	return e
}

// testRun is an extent; a hole has the cluster -1.
type testRun struct{ lcn, n int64 }

// put writes data to fresh clusters.
func (b *volumeBuilder) put(data []byte) testRun {
	lcn := len(b.image) / testCluster
	b.image = binfmt.AppendPad(append(b.image, data...), testCluster, 0xEE)
	return testRun{int64(lcn), int64(len(b.image)/testCluster - lcn)}
}

// scatter writes data to pieces of n clusters with a gap between any two.
func (b *volumeBuilder) scatter(data []byte, n int) []testRun {
	var runs []testRun
	for piece := range slices.Chunk(data, n*testCluster) {
		runs = append(runs, b.put(piece))
		b.put([]byte("gap"))
	}
	return runs
}

// compress stores data as a compressed file does, in units of 16 clusters. The
// clusters of a unit are in pieces of n clusters; 0 means together.
func (b *volumeBuilder) compress(data []byte, n int) []testRun {
	var runs []testRun
	for u := range slices.Chunk(data, 16*testCluster) {
		packed := lznt1(u)
		switch clusters := (len(packed) + testCluster - 1) / testCluster; {
		case len(bytes.Trim(u, "\x00")) == 0:
			runs = append(runs, testRun{hole, 16})
			continue
		case clusters >= 16:
			packed = append(bytes.Clone(u), make([]byte, 16*testCluster-len(u))...)
		}
		if n > 0 {
			runs = append(runs, b.scatter(packed, n)...)
		} else {
			runs = append(runs, b.put(packed))
		}
		if used := int64((len(packed) + testCluster - 1) / testCluster); used < 16 {
			runs = append(runs, testRun{hole, 16 - used})
		}
	}
	return merge(runs)
}

// merge joins runs that continue each other, which is how they are stored.
func merge(runs []testRun) []testRun {
	var out []testRun
	for _, r := range runs {
		if n := len(out) - 1; n >= 0 && (r.lcn == hole && out[n].lcn == hole || r.lcn != hole && out[n].lcn != hole && r.lcn == out[n].lcn+out[n].n) {
			out[n].n += r.n
			continue
		}
		out = append(out, r)
	}
	return out
}

func clustersOf(runs []testRun) (n int64) {
	for _, r := range runs {
		n += r.n
	}
	return n
}

// runBytes encodes a run list with as few bytes as it takes.
func runBytes(runs []testRun) []byte {
	var out []byte
	last := int64(0)
	for _, r := range runs {
		length := signedBytes(r.n)
		var offset []byte
		if r.lcn != hole {
			offset = signedBytes(r.lcn - last)
			last = r.lcn
		}
		out = append(out, byte(len(offset)<<4|len(length)))
		out = append(append(out, length...), offset...)
	}
	return append(out, 0)
}

func signedBytes(v int64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(v))
	n := 1
	for n < 8 && v>>(8*n-1) != 0 && v>>(8*n-1) != -1 {
		n++
	}
	return b[:n]
}

func wide(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binfmt.AppendU16(b, u)
	}
	return b
}

// resident makes an attribute with its value.
func resident(kind uint32, name string, flags uint16, value []byte) []byte {
	b := attributeHead(kind, name, 0, flags, attributeHeader)
	at := len(b)
	binary.LittleEndian.PutUint32(b[16:], uint32(len(value)))
	binary.LittleEndian.PutUint16(b[20:], uint16(at))
	return finishAttribute(append(b, value...))
}

// extents describes a value outside of the MFT, or a part of it.
type extents struct {
	runs        []testRun
	first       int64 // cluster
	size        int64 // bytes
	initialized int64 // bytes; -1: all
	unit        uint16
}

func nonResident(kind uint32, name string, flags uint16, x extents) []byte {
	b := attributeHead(kind, name, 1, flags, extentHeader)
	at := len(b)
	binary.LittleEndian.PutUint64(b[16:], uint64(x.first))
	binary.LittleEndian.PutUint64(b[24:], uint64(x.first+clustersOf(x.runs)-1))
	binary.LittleEndian.PutUint16(b[32:], uint16(at))
	binary.LittleEndian.PutUint16(b[34:], x.unit)
	if x.initialized < 0 {
		x.initialized = x.size
	}
	binary.LittleEndian.PutUint64(b[40:], uint64(clustersOf(x.runs)*testCluster))
	binary.LittleEndian.PutUint64(b[48:], uint64(x.size))
	binary.LittleEndian.PutUint64(b[56:], uint64(x.initialized))
	return finishAttribute(append(b, runBytes(x.runs)...))
}

func attributeHead(kind uint32, name string, outside byte, flags uint16, header int) []byte {
	b := make([]byte, header)
	binary.LittleEndian.PutUint32(b, kind)
	b[8] = outside
	b[9] = byte(len(wide(name)) / 2)
	binary.LittleEndian.PutUint16(b[10:], uint16(header))
	binary.LittleEndian.PutUint16(b[12:], flags)
	return binfmt.AppendPad(append(b, wide(name)...), 8, 0)
}

func finishAttribute(b []byte) []byte {
	b = binfmt.AppendPad(b, 8, 0)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	return b
}

// listed makes an entry of an attribute list.
func listed(kind uint32, name string, vcn int64, record int) []byte {
	b := binfmt.AppendU32(nil, kind)
	b = binfmt.AppendU16(b, 0)
	b = append(b, byte(len(wide(name))/2), listEntry)
	b = binfmt.AppendU64(b, uint64(vcn))
	b = binfmt.AppendU64(b, reference(record))
	b = binfmt.AppendU16(b, 0)
	b = binfmt.AppendPad(append(b, wide(name)...), 8, 0)
	binary.LittleEndian.PutUint16(b[4:], uint16(len(b)))
	return b
}

// plain is a data attribute with clusters of its own.
func (b *volumeBuilder) plain(data []byte) []byte {
	return nonResident(typeData, "", 0, extents{runs: []testRun{b.put(data)}, size: int64(len(data)), initialized: -1})
}

// indexEntry makes an entry of a node; one without a name ends it.
func indexEntry(n *testName, parent int) []byte {
	if n == nil {
		b := binfmt.AppendU64(nil, 0)
		b = binfmt.AppendU16(b, 16)
		b = binfmt.AppendU16(b, 0)
		return binfmt.AppendU32(b, 2)
	}
	name := binfmt.AppendU64(nil, reference(parent))
	name = append(name, make([]byte, 48)...) // times and sizes
	name = binfmt.AppendU32(name, n.flags)
	name = binfmt.AppendU32(name, n.reparse)
	name = append(name, byte(len(wide(n.name))/2), n.space)
	name = append(name, wide(n.name)...)

	b := binfmt.AppendU64(nil, reference(n.of.number))
	b = binfmt.AppendU16(b, 0)
	b = binfmt.AppendU16(b, uint16(len(name)))
	b = binfmt.AppendPad(append(binfmt.AppendU32(b, 0), name...), 8, 0)
	binary.LittleEndian.PutUint16(b[8:], uint16(len(b)))
	return b
}

// nodeBytes makes a node of an index with entries from offset on.
func nodeBytes(names []testName, parent, offset int) []byte {
	b := make([]byte, offset)
	for i := range names {
		b = append(b, indexEntry(&names[i], parent)...)
	}
	b = append(b, indexEntry(nil, parent)...)
	binary.LittleEndian.PutUint32(b, uint32(offset))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	binary.LittleEndian.PutUint32(b[8:], uint32(len(b)))
	return b
}

// indexAttributes make the index of a folder.
func (b *volumeBuilder) indexAttributes(e *testEntry) [][]byte {
	root := binfmt.AppendU32(nil, 0x30)
	root = binfmt.AppendU32(root, 1)
	root = binfmt.AppendU32(root, testBlock)
	root = binfmt.AppendU32(root, 1)
	if !e.large {
		return [][]byte{resident(typeIndexRoot, indexName, 0, append(root, nodeBytes(e.names, e.number, 16)...))}
	}
	var blocks, bitmap []byte
	for i, names := range [][]testName{e.names, e.stale} {
		const header, fixups = 24, 2 * (testBlock/stride + 1)
		block := append([]byte("INDX"), make([]byte, header-4)...)
		block = append(block, nodeBytes(names, e.number, header+16)...)
		binary.LittleEndian.PutUint64(block[16:], uint64(i*testBlock/testCluster))
		blocks = append(blocks, addFixups(append(block, make([]byte, testBlock-len(block))...), header+16)...)
	}
	bitmap = []byte{1, 0, 0, 0, 0, 0, 0, 0} // the second block is free
	return [][]byte{
		resident(typeIndexRoot, indexName, 0, append(root, nodeBytes(nil, e.number, 16)...)),
		nonResident(typeIndexAllocation, indexName, 0, extents{runs: []testRun{b.put(blocks)}, size: int64(len(blocks)), initialized: -1}),
		resident(typeBitmap, indexName, 0, bitmap),
	}
}

// addFixups replaces the last words of the sectors of a record by the update
// sequence number 1 and keeps them at offset at.
func addFixups(b []byte, at int) []byte {
	binary.LittleEndian.PutUint16(b[4:], uint16(at))
	binary.LittleEndian.PutUint16(b[6:], uint16(len(b)/stride+1))
	binary.LittleEndian.PutUint16(b[at:], 1)
	for i := range len(b) / stride {
		end := b[(i+1)*stride-2:]
		copy(b[at+2+2*i:], end[:2])
		binary.LittleEndian.PutUint16(end, 1)
	}
	return b
}

func (e *testEntry) bytes() []byte {
	b := append([]byte("FILE"), make([]byte, 60)...)
	binary.LittleEndian.PutUint16(b[16:], testSequence)
	binary.LittleEndian.PutUint16(b[18:], 1)
	binary.LittleEndian.PutUint16(b[20:], uint16(len(b)))
	binary.LittleEndian.PutUint16(b[22:], e.flags)
	binary.LittleEndian.PutUint32(b[28:], testRecord)
	binary.LittleEndian.PutUint64(b[32:], e.base)
	binary.LittleEndian.PutUint32(b[44:], uint32(e.number))
	for id, a := range e.attributes {
		binary.LittleEndian.PutUint16(a[14:], uint16(id))
		b = append(b, a...)
	}
	b = binfmt.AppendU32(b, typeEnd)
	b = binfmt.AppendU32(b, 0)
	binary.LittleEndian.PutUint32(b[24:], uint32(len(b)))
	if len(b) > testRecord {
		panic(fmt.Sprintf("record %d has %d bytes", e.number, len(b)))
	}
	return addFixups(append(b, make([]byte, testRecord-len(b))...), 48)
}

// build writes the MFT and the boot sector and returns the volume.
func (b *volumeBuilder) build() []byte {
	for _, e := range b.records {
		if e != nil && e.flags&recordDirectory != 0 {
			e.attributes = append(e.attributes, b.indexAttributes(e)...)
		}
	}
	const split = 17 // records in the first part of the MFT
	if b.splitMFT {
		for len(b.records) <= split {
			b.records = append(b.records, nil)
		}
	}
	count := len(b.records)
	var runs []testRun
	var rest *testEntry
	mft := b.records[recordMFT]
	if b.splitMFT {
		runs = []testRun{b.put(make([]byte, split*testRecord)), b.put(make([]byte, (count-split)*testRecord))}
		rest = &testEntry{number: 15, flags: recordInUse, base: reference(recordMFT)}
		b.records[15] = rest
		size := int64(count * testRecord)
		rest.attributes = [][]byte{nonResident(typeData, "", 0, extents{runs: runs[1:], first: split * testRecord / testCluster, size: size, initialized: -1})}
		mft.attributes = [][]byte{
			resident(typeAttributeList, "", 0, slices.Concat(listed(typeData, "", 0, recordMFT), listed(typeData, "", split*testRecord/testCluster, 15))),
			nonResident(typeData, "", 0, extents{runs: runs[:1], size: size, initialized: -1}),
		}
	} else {
		runs = []testRun{b.put(make([]byte, count*testRecord))}
		mft.attributes = [][]byte{nonResident(typeData, "", 0, extents{runs: runs, size: int64(count * testRecord), initialized: -1})}
	}
	for i, e := range b.records {
		at := runs[0].lcn*testCluster + int64(i)*testRecord
		if b.splitMFT && i >= split {
			at = runs[1].lcn*testCluster + int64(i-split)*testRecord
		}
		if e != nil {
			copy(b.image[at:], e.bytes())
		}
	}
	mirror := b.put(b.image[runs[0].lcn*testCluster:][:4*testRecord])

	boot := b.image[:512]
	copy(boot, "\xeb\x52\x90NTFS    ")
	binary.LittleEndian.PutUint16(boot[11:], 512)
	boot[13] = testCluster / 512
	binary.LittleEndian.PutUint64(boot[40:], uint64(len(b.image)/512))
	binary.LittleEndian.PutUint64(boot[48:], uint64(runs[0].lcn))
	binary.LittleEndian.PutUint64(boot[56:], uint64(mirror.lcn))
	boot[64], boot[68] = testRecord/testCluster, testBlock/testCluster
	binary.LittleEndian.PutUint16(boot[510:], bootSignature)
	return b.image
}

// lznt1 compresses chunks of 4096 bytes, each by matches with where the same
// three bytes were last.
func lznt1(data []byte) []byte {
	var out []byte
	for c := range slices.Chunk(data, chunkSize) {
		packed := lzntChunk(c)
		if len(packed) >= len(c) {
			out = append(binfmt.AppendU16(out, 0x3000|uint16(len(c)-1)), c...)
			continue
		}
		out = append(binfmt.AppendU16(out, 0xB000|uint16(len(packed)-1)), packed...)
	}
	return binfmt.AppendU16(out, 0)
}

func lzntChunk(c []byte) []byte {
	var out []byte
	tag := 0
	last := map[[3]byte]int{}
	for at, token := 0, 0; at < len(c); token++ {
		if token%8 == 0 {
			tag = len(out)
			out = append(out, 0)
		}
		// The more bytes are behind, the more bits of a match are offset.
		bits := 12
		for n := at - 1; n >= 16; n >>= 1 {
			bits--
		}
		length, offset := 0, 0
		if at+3 <= len(c) {
			from, ok := last[[3]byte(c[at:])]
			for ok && at+length < len(c) && length < 1<<bits+2 && c[from+length] == c[at+length] {
				length++
			}
			offset = at - from
			last[[3]byte(c[at:])] = at
		}
		if length < 3 {
			out = append(out, c[at])
			at++
			continue
		}
		out[tag] |= 1 << (token % 8)
		out = binfmt.AppendU16(out, uint16((offset-1)<<bits|(length-3)))
		at += length
	}
	return out
}
