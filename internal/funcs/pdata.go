package funcs

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// unwound is an entry of the exception directory: a piece of code and the
// start of the one that it belongs to, its own start for a function.
type unwound struct {
	start, end uint32
	root       uint32
}

// readPdata takes the functions of the exception directory. On x64 a function
// without frame has no entry.
func (f *finder) readPdata() {
	dir := f.img.PE.Directory(image.DirectoryException)
	if dir.Size == 0 {
		return
	}
	data := f.bytesAt("exception directory", uint64(dir.RVA), uint64(dir.Size))
	var list []unwound
	var defects []error
	if f.img.Arch == image.ArchAMD64 {
		list, defects = pdataAMD64(data, f.img.ReadAtRVA)
	} else {
		list, defects = pdataARM64(data, f.img.ReadAtRVA)
	}
	f.report.Problems = append(f.report.Problems, defects...)
	for _, u := range joinFragments(list) {
		p := piece{source: program.Pdata}
		if u.root != u.start {
			p.part, p.parent = true, u.root
		}
		f.add(p, uint64(u.start), uint64(u.end-u.start))
	}
	f.addHandlers(data)
}

// joinFragments sorts entries and puts those of one function that touch
// together.
func joinFragments(list []unwound) []unwound {
	slices.SortFunc(list, func(a, b unwound) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.root, b.root))
	})
	var out []unwound
	for _, u := range list {
		if n := len(out); n > 0 && out[n-1].root == u.root && out[n-1].end == u.start {
			out[n-1].end = u.end
		} else {
			out = append(out, u)
		}
	}
	return out
}

// maxDefects bounds how many defects of one table are kept.
const maxDefects = 8

// Sizes and flags of x64 unwind data.
const (
	runtimeFunction = 12
	unwindChained   = 4 // of the flags: the data end with the entry of the parent
	indirectUnwind  = 1 // of the address: it is that of another entry
)

// readAt reads an image by RVA.
type readAt func(p []byte, rva uint64) (int, error)

// pdataAMD64 decodes entries of start, end and the address of unwind data. The
// data of a separated part are chained to the entry of the rest.
func pdataAMD64(data []byte, read readAt) (out []unwound, defects []error) {
	for at := 0; at+runtimeFunction <= len(data); at += runtimeFunction {
		start, end, info := entryAMD64(data[at:])
		if start == 0 && end == 0 {
			continue // padding
		}
		if end <= start {
			defects = keep(defects, &binfmt.Error{Part: "exception directory", Offset: -1, Want: fmt.Sprintf("an end above %#x", start), Got: fmt.Sprintf("%#x", end), Err: binfmt.ErrCorrupt})
			continue
		}
		root, err := rootAMD64(start, info, read)
		if err != nil {
			defects = keep(defects, err)
			root = start
		}
		out = append(out, unwound{start, end, root})
	}
	return out, defects
}

func keep(defects []error, err error) []error {
	if len(defects) < maxDefects {
		defects = append(defects, err)
	}
	return defects
}

func entryAMD64(b []byte) (start, end, info uint32) {
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
}

// rootAMD64 follows a chain to the start of the function. Several links are
// legal, endless ones are not.
func rootAMD64(start, info uint32, read readAt) (uint32, error) {
	for range maxChain {
		var entry [runtimeFunction]byte
		if info&indirectUnwind != 0 {
			if n, _ := read(entry[:], uint64(info&^indirectUnwind)); n < len(entry) {
				return 0, noBytes("indirect unwind entry", info)
			}
		} else {
			var head [4]byte // version and flags, size of prolog, number of codes, frame register
			if n, _ := read(head[:], uint64(info)); n < len(head) {
				return 0, noBytes("unwind data", info)
			}
			if head[0]>>3&unwindChained == 0 {
				return start, nil
			}
			codes := (uint64(head[2]) + 1) &^ 1
			if n, _ := read(entry[:], uint64(info)+4+2*codes); n < len(entry) {
				return 0, noBytes("chained unwind entry", info)
			}
		}
		start, _, info = entryAMD64(entry[:])
	}
	return 0, &binfmt.Error{Part: "exception directory", Offset: -1, Want: fmt.Sprintf("a chain of at most %d entries", maxChain),
		Got: fmt.Sprintf("more from %#x on", start), Err: binfmt.ErrLimit}
}

func noBytes(part string, rva uint32) error {
	return &binfmt.Error{Part: part, Offset: -1, Want: "an address in the file", Got: fmt.Sprintf("%#x", rva), Err: binfmt.ErrCorrupt}
}

// Kinds of arm64 unwind data, in the low bits of the second word.
const (
	xdataARM64    = 0 // the rest is the address of the data
	packedARM64   = 1
	fragmentARM64 = 2 // packed, of code without prolog
	endC          = 0xe5
)

// pdataARM64 decodes entries of start and unwind data: packed into a word, or
// the address of a record. Both give the size. A piece without prolog of its
// own that touches the one before goes on with that function; where others
// belong to the table does not tell.
func pdataARM64(data []byte, read readAt) (out []unwound, defects []error) {
	for at := 0; at+8 <= len(data); at += 8 {
		start, word := binary.LittleEndian.Uint32(data[at:]), binary.LittleEndian.Uint32(data[at+4:])
		if start == 0 && word == 0 {
			continue // padding
		}
		u := unwound{start: start, root: start}
		fragment := false
		switch word & 3 {
		case packedARM64, fragmentARM64:
			u.end = start + word>>2&0x7ff*4
			fragment = word&3 == fragmentARM64
		case xdataARM64:
			r, err := recordARM64(word, read)
			if err != nil {
				defects = keep(defects, err)
				continue
			}
			u.end, fragment = start+r.size, r.fragment
		default:
			defects = keep(defects, &binfmt.Error{Part: "exception directory", Offset: -1, Want: "unwind data of kind 0 to 2", Got: fmt.Sprintf("%#x", word), Err: binfmt.ErrUnsupported})
			continue
		}
		if u.end <= u.start {
			defects = keep(defects, &binfmt.Error{Part: "exception directory", Offset: -1, Want: fmt.Sprintf("code at %#x", start), Got: "no bytes", Err: binfmt.ErrCorrupt})
			continue
		}
		if n := len(out); fragment && n > 0 && out[n-1].end == start {
			u.root = out[n-1].root
		}
		out = append(out, u)
	}
	return out, defects
}

// unwindARM64 is what an unwind record says.
type unwindARM64 struct {
	size     uint32 // of the code
	fragment bool   // without prolog: its codes begin with end_c
	handler  uint64 // RVA of the data of the exception handler, 0 if there is none
}

// recordARM64 reads an unwind record.
func recordARM64(rva uint32, read readAt) (r unwindARM64, err error) {
	var b [8]byte
	n, _ := read(b[:], uint64(rva))
	if n < 4 {
		return r, noBytes("unwind data", rva)
	}
	head := binary.LittleEndian.Uint32(b[:])
	r.size = head & 0x3ffff * 4
	epilogs, words := head>>22&0x1f, head>>27
	handled, single := head>>20&1 != 0, head>>21&1 != 0
	at := uint64(rva) + 4
	if epilogs == 0 && words == 0 { // larger numbers in the next word
		if n < 8 {
			return r, noBytes("unwind data", rva)
		}
		ext := binary.LittleEndian.Uint32(b[4:])
		epilogs, words = ext&0xffff, ext>>16&0xff
		at += 4
	}
	if !single {
		at += 4 * uint64(epilogs)
	}
	if handled {
		r.handler = at + 4*uint64(words) + 4
	}
	if words == 0 {
		return r, nil
	}
	if n, _ := read(b[:1], at); n < 1 {
		return r, noBytes("unwind codes", rva)
	}
	r.fragment = b[0] == endC
	return r, nil
}
