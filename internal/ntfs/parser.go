package ntfs

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"www.velocidex.com/golang/go-ntfs/parser"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// All calls of go-ntfs are in this file, each with bytes that were read before
// and whose length bounds what it can do. Its functions want a context, of
// which those called here take the profile alone.
var (
	profile = parser.NewNTFSProfile()
	context = &parser.NTFSContext{Profile: profile}
)

// caught turns a panic of the parser into an error of the structure at off.
func caught(part string, off int64, err *error) {
	if p := recover(); p != nil {
		*err = &binfmt.Error{Part: part, Offset: off, Want: "a valid structure", Got: fmt.Sprint(p), Err: binfmt.ErrCorrupt}
	}
}

// stride is how many bytes each entry of an update sequence protects, whatever
// the size of a sector.
const stride = 512

// checkFixups makes sure that a record has an update sequence for all of its
// sectors; the parser takes any number, none included. Fields are at the same
// place in records of all kinds.
func checkFixups(raw []byte, magic, part string, off int64) error {
	if string(raw[:4]) != magic {
		return &binfmt.Error{Part: part, Offset: off, Want: fmt.Sprintf("signature %q", magic), Got: fmt.Sprintf("%q", raw[:4]), Err: binfmt.ErrCorrupt}
	}
	at, count := int(binary.LittleEndian.Uint16(raw[4:])), int(binary.LittleEndian.Uint16(raw[6:]))
	if want := len(raw)/stride + 1; count != want {
		return &binfmt.Error{Part: part, Offset: off + 6, Want: fmt.Sprintf("an update sequence of %d words", want), Got: fmt.Sprint(count), Err: binfmt.ErrCorrupt}
	}
	if at+2*count > len(raw) {
		return &binfmt.Error{Part: part, Offset: off + 4, Want: "an update sequence inside the record", Got: fmt.Sprintf("offset %#x", at), Err: binfmt.ErrCorrupt}
	}
	return nil
}

// fixRecord undoes the update sequence of an MFT record.
func fixRecord(raw []byte, part string, off int64) (fixed []byte, err error) {
	defer caught(part, off, &err)
	if err := checkFixups(raw, "FILE", part, off); err != nil {
		return nil, err
	}
	entry := profile.MFT_ENTRY(bytes.NewReader(raw), 0)
	// The parser reads as much as the record claims.
	if n := int(entry.Mft_entry_allocated()); n != len(raw) {
		return nil, &binfmt.Error{Part: part, Offset: off + 28, Want: fmt.Sprintf("a record of %d bytes", len(raw)), Got: fmt.Sprint(n), Err: binfmt.ErrCorrupt}
	}
	r, err := parser.FixUpDiskMFTEntry(entry)
	if err != nil {
		return nil, torn(part, off, err)
	}
	fixed = make([]byte, len(raw))
	if _, err := r.ReadAt(fixed, 0); err != nil {
		return nil, torn(part, off, err)
	}
	return fixed, nil
}

func torn(part string, off int64, err error) error {
	return &binfmt.Error{Part: part, Offset: off, Want: "sectors that end with the update sequence", Got: err.Error(), Err: binfmt.ErrCorrupt}
}

// entry is a name in a directory.
type entry struct {
	name     string
	record   uint64 // number of its MFT record
	sequence uint16 // which has to be that of the record
	space    uint8  // kind of name
	flags    uint32 // attributes of the file
	reparse  uint32 // tag of its reparse point if flags has flagReparse
}

// Kinds of names. POSIX names differ by case; a file with a name that is not
// possible in MS-DOS has a short name beside it.
const (
	spacePOSIX = iota
	spaceWin32
	spaceDOS
	spaceBoth
)

// indexBlock decodes the names in a block of an index.
func indexBlock(raw []byte, part string, off int64) (entries []entry, err error) {
	defer caught(part, off, &err)
	if err := checkFixups(raw, "INDX", part, off); err != nil {
		return nil, err
	}
	header, err := parser.DecodeSTANDARD_INDEX_HEADER(context, bytes.NewReader(raw), 0, int64(len(raw)))
	if err != nil {
		return nil, torn(part, off, err)
	}
	return nodeEntries(header.Node()), nil
}

// indexRoot decodes the names in the root of an index, and the size of the
// blocks that hold the others.
func indexRoot(value []byte, part string, off int64) (entries []entry, block uint32, err error) {
	defer caught(part, off, &err)
	root := profile.INDEX_ROOT(bytes.NewReader(value), 0)
	return nodeEntries(root.Node()), root.Idxalloc_size_b(), nil
}

func nodeEntries(node *parser.INDEX_NODE_HEADER) []entry {
	const last = 2 // flag of the entry that ends a node and has no name
	var entries []entry
	for _, r := range node.GetRecords(context) {
		file := r.File()
		name := file.Name()
		if r.Flags()&last != 0 || name == "" {
			continue
		}
		entries = append(entries, entry{
			name: name, record: r.MftReference(), sequence: r.Seq_num(), space: uint8(file.NameType().Value),
			flags: uint32(file.Flags().Value), reparse: file.Reparse_value(),
		})
	}
	return entries
}

// runList decodes the run list of a non-resident attribute. It ends with the
// attribute at the latest.
func runList(attribute []byte, part string, off int64) (runs []*parser.Run, err error) {
	defer caught(part, off, &err)
	return parser.NewNTFS_ATTRIBUTE(bytes.NewReader(attribute), 0, profile).RunList(), nil
}

// A chunk of LZNT1 starts with a word: the low 12 bits are its bytes, this word
// included, less 3; the top bit says that it is compressed.
const (
	chunkSize       = 4096 // bytes that a chunk unpacks to, fewer only at the end
	chunkLength     = 0x0FFF
	chunkCompressed = 0x8000
)

// expand fills dst, a compression unit, with what src unpacks to, and zeros
// behind it. Chunks are unpacked one at a time, which bounds what a hostile one
// can make the parser allocate.
func expand(dst, src []byte, part string, off int64) (err error) {
	defer caught(part, off, &err)
	clear(dst)
	at := 0
	for d := 0; d < len(dst) && at+2 <= len(src); d += chunkSize {
		header := binary.LittleEndian.Uint16(src[at:])
		if header == 0 {
			return nil
		}
		size := int(header&chunkLength) + 3
		if size > len(src)-at {
			return &binfmt.Error{Part: part, Offset: off + int64(at), Want: fmt.Sprintf("a chunk of %d bytes", size),
				Got: fmt.Sprint(len(src) - at), Err: binfmt.ErrCorrupt}
		}
		out := src[at+2 : at+size]
		if header&chunkCompressed != 0 {
			if out, err = parser.LZNT1Decompress(src[at : at+size]); err != nil {
				return &binfmt.Error{Part: part, Offset: off + int64(at), Want: "an LZNT1 chunk", Got: err.Error(), Err: binfmt.ErrCorrupt}
			}
		}
		if len(out) > chunkSize {
			return &binfmt.Error{Part: part, Offset: off + int64(at), Want: fmt.Sprintf("a chunk that unpacks to %d bytes", chunkSize),
				Got: fmt.Sprint(len(out)), Err: binfmt.ErrCorrupt}
		}
		copy(dst[d:], out)
		at += size
	}
	return nil
}
