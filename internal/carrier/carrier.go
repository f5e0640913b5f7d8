// Package carrier finds sample profile databases (SPD) inside of other files:
// the linker puts one into the PDB when it is asked to (/spdembed), and
// sections of images and objects can hold one too.
//
// Parts that can hold an SPD are
//
//	PDB                 every stream but the directory of the state before
//	PE image            every section with data
//	COFF object         every section with data, in the header forms with 16
//	                    and 32 bits of section numbers
//	library (archive)   every member but those of the linker and of imports
//
// and the file itself. Each part is searched at every offset for the signature
// and the version of an SPD. Nothing else about an SPD is looked at than what
// gives its size; pkg/spd reads it.
//
// Sources: Microsoft's "PE Format" page for images, objects and archives, and
// docs/format/spd.md.
//
// Input is not trusted: parts are read in pieces of bounded size, no byte of
// the file is searched more often than once, and what is claimed is compared
// with what is there.
package carrier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Found is an SPD, or what is left of one.
type Found struct {
	// Where names the part: `stream 12 "name"`, `section .spgo`,
	// `member a.obj: section 5 .spgo`. It is empty if the file itself is the
	// SPD.
	Where string
	// Offset and Size are in bytes; Offset counts from the start of the part.
	Offset, Size int64
	Version      uint32
	// Err says why the SPD cannot be used: binfmt.ErrVersion for a version
	// that is not known, binfmt.ErrTruncated or binfmt.ErrCorrupt where its
	// size is not what the part has. Size is 0 then.
	Err error

	part io.ReaderAt
}

// Open returns the bytes of the SPD. They are read from the file that was
// searched.
func (f Found) Open() *io.SectionReader { return io.NewSectionReader(f.part, f.Offset, f.Size) }

// IsSPD says whether r starts as an SPD of any version does.
func IsSPD(r io.ReaderAt) bool {
	b := make([]byte, len(signature))
	n, _ := r.ReadAt(b, 0)
	return string(b[:n]) == signature
}

const (
	// maxFound bounds the list for files that are full of signatures.
	maxFound = 1024
	// headSize is how much of a file or member tells its kind.
	headSize = 64
	// maxErrors bounds the list of defects.
	maxErrors = 16
)

// Find looks for SPDs in the file r of a size in bytes. The result is in the
// order of parts in the file, then of offsets.
//
// A file that is of none of the kinds is binfmt.ErrMagic, one that ends before
// that can be told is binfmt.ErrTruncated. A defect in one part
// does not end the search: what was found elsewhere is returned with the
// error, which joins one binfmt.Error for each defect.
func Find(r io.ReaderAt, size int64) ([]Found, error) {
	f := &finder{unsearched: size}
	file := part{r: r, size: size}
	head, err := file.read("signature", 0, min(max(size, 0), headSize))
	if err != nil {
		return nil, err
	}
	f.search(head, file)
	if f.dropped > 0 {
		f.errs = append(f.errs, &binfmt.Error{Part: "search", Offset: -1, Got: fmt.Sprintf("%d further defects", f.dropped), Err: binfmt.ErrCorrupt})
	}
	return f.found, errors.Join(f.errs...)
}

// finder is one search.
type finder struct {
	// unsearched is how many bytes may still be searched. Parts that do not
	// overlap take no more than the file has.
	unsearched int64
	buffer     []byte
	found      []Found
	errs       []error
	dropped    int // defects beyond maxErrors
}

func (f *finder) fail(err error) {
	if len(f.errs) == maxErrors {
		f.dropped++
		return
	}
	f.errs = append(f.errs, err)
}

// search chooses the kind by how the file starts.
func (f *finder) search(head []byte, file part) {
	begins := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	switch {
	case cutOff(head):
		f.fail(file.fail("signature", 0, "the start of an SPD, PDB, PE image, COFF object or library", fmt.Sprintf("%q, and nothing more", head), binfmt.ErrTruncated))
	case begins(signature):
		f.scan(file)
	case begins("Microsoft C/C++ "), begins("Microsoft MSFZ"):
		f.searchPDB(file)
	case begins("MZ"):
		f.searchImage(file)
	case begins(archiveStart):
		f.searchArchive(file)
	case begins(thinStart):
		f.fail(&binfmt.Error{Part: "signature", Want: "an archive with its members", Got: "a thin archive, whose members are other files", Err: binfmt.ErrUnsupported})
	case objectKind(head) != notObject:
		f.searchObject(head, file)
	default:
		f.fail(&binfmt.Error{Part: "signature", Want: "an SPD, PDB, PE image, COFF object or library", Got: fmt.Sprintf("%q", head[:min(len(head), 16)]), Err: binfmt.ErrMagic})
	}
}

// cutOff says whether a file that is no longer than its head ends inside of
// the bytes that tell its kind. An empty file does.
func cutOff(head []byte) bool {
	for _, start := range []string{string(start), "Microsoft C/C++ ", "Microsoft MSFZ", "MZ", archiveStart} {
		if len(head) < len(start) && start[:len(head)] == string(head) {
			return true
		}
	}
	if bytes.HasPrefix(head, []byte(signature)) {
		return len(head) < len(start) // another version
	}
	return len(head) >= 2 && len(head) < coffHeader && slices.Contains(machines, binary.LittleEndian.Uint16(head))
}
