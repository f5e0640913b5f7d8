package funcs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// The function table of the Go runtime since Go 1.18, as in runtime.pcHeader:
// a magic number, two zeros, the size of the smallest instruction and of a
// pointer, then eight words: functions, files, start of the text (0 since Go
// 1.26), and the offsets of the parts of the table.
const (
	pclnMagic118  = 0xfffffff0
	pclnMagic120  = 0xfffffff1
	pclnHeader    = 8 + 8*8
	pclnWordText  = 2
	pclnWordNames = 3
	pclnWordFuncs = 7
)

// Words of runtime.moduledata, the same since Go 1.18.
const (
	moduleFtabLen = 17
	moduleText    = 22
)

// goFunc is a function of the table, relative to the start of the text.
type goFunc struct {
	start, end uint32
	name       string
}

// pclntab is the table in an image.
type pclntab struct {
	data []byte
	rva  uint64
	text uint64 // as the header says, 0 if it does not
	n    uint64 // functions
}

// readPclntab takes the functions of a Go program. Relative returns the
// relocations of an ELF that moves, whose pointers are not in the file.
func (f *finder) readPclntab(relative func() map[uint64]uint64) {
	t, ok := f.findPclntab()
	if !ok {
		return
	}
	funcs, err := t.functions()
	if err != nil {
		f.fail(err)
		return
	}
	text, ok := f.goText(t, relative())
	if !ok {
		f.fail(&binfmt.Error{Part: "pclntab", Offset: -1, Want: "the start of the text in the header or in runtime.moduledata",
			Got: "none", Err: binfmt.ErrUnsupported})
		return
	}
	for _, fn := range funcs {
		f.add(piece{name: fn.name, source: program.Pclntab}, text+uint64(fn.start), uint64(fn.end-fn.start))
	}
}

// findPclntab finds the table by the name of its section, or by its header in
// a PE, where it shares one with other data.
func (f *finder) findPclntab() (pclntab, bool) {
	for _, s := range f.img.Sections {
		if s.Name == ".gopclntab" || s.Name == ".data.rel.ro.gopclntab" {
			if b := f.bytesAt("pclntab", s.RVA, min(s.Size, s.FileSize)); isPclntab(b) {
				return newPclntab(b, s.RVA), true
			}
		}
	}
	if f.img.Kind != image.KindPE {
		return pclntab{}, false
	}
	for _, s := range f.img.Sections {
		if s.Exec || s.FileSize == 0 {
			continue
		}
		b := f.bytesAt(s.Name, s.RVA, min(s.Size, s.FileSize))
		for _, magic := range []uint32{pclnMagic120, pclnMagic118} {
			want := binary.LittleEndian.AppendUint32(nil, magic)
			for at := 0; ; at++ {
				i := bytes.Index(b[at:], want)
				if i < 0 {
					break
				}
				if at += i; isPclntab(b[at:]) {
					return newPclntab(b[at:], s.RVA+uint64(at)), true
				}
			}
		}
	}
	return pclntab{}, false
}

// isPclntab says whether b starts with a header whose offsets are inside.
func isPclntab(b []byte) bool {
	if len(b) < pclnHeader {
		return false
	}
	magic := binary.LittleEndian.Uint32(b)
	if magic != pclnMagic118 && magic != pclnMagic120 || b[4] != 0 || b[5] != 0 || b[6] != 1 && b[6] != 4 || b[7] != 8 {
		return false
	}
	for w := pclnWordNames; w <= pclnWordFuncs; w++ {
		if off := binary.LittleEndian.Uint64(b[8+8*w:]); off < pclnHeader || off > uint64(len(b)) {
			return false
		}
	}
	return true
}

func newPclntab(b []byte, rva uint64) pclntab {
	return pclntab{data: b, rva: rva, n: binary.LittleEndian.Uint64(b[8:]), text: binary.LittleEndian.Uint64(b[8+8*pclnWordText:])}
}

// functions reads the table: for each function where it starts and where its
// description is, which begins with the start again and with the offset of the
// name. One more start ends the last function.
func (t pclntab) functions() ([]goFunc, error) {
	part := func(word int) *binfmt.Cursor {
		off := binary.LittleEndian.Uint64(t.data[8+8*word:])
		return binfmt.NewCursor(t.data[off:], "pclntab", int64(off))
	}
	table := part(pclnWordFuncs)
	if t.n > math.MaxUint32 {
		table.Fail(binfmt.ErrLimit, "less than 4 G functions", fmt.Sprint(t.n))
	}
	n := table.Count(t.n, 8, "functions")
	var out []goFunc
	for range n {
		fn := goFunc{start: table.U32()}
		desc := part(pclnWordFuncs)
		desc.Seek(uint64(table.U32()))
		at := desc.Offset()
		if again := desc.U32(); desc.Err() == nil && again != fn.start {
			desc.FailAt(at, binfmt.ErrCorrupt, fmt.Sprintf("the function at %#x", fn.start), fmt.Sprintf("%#x", again))
		}
		names := part(pclnWordNames)
		names.Seek(uint64(desc.U32()))
		if desc.Err() != nil {
			return nil, desc.Err()
		}
		if fn.name = names.CString(); names.Err() != nil {
			return nil, names.Err()
		}
		out = append(out, fn)
	}
	end := table.U32()
	for i := n - 1; i >= 0; i-- {
		if out[i].start > end {
			table.FailAt(table.Offset(), binfmt.ErrCorrupt, "functions in order", fmt.Sprintf("%#x behind %#x", end, out[i].start))
		}
		out[i].end, end = end, out[i].start
	}
	return out, table.Err()
}

// goText returns the RVA that the table counts from: the symbol runtime.text.
func (f *finder) goText(t pclntab, relative map[uint64]uint64) (uint64, bool) {
	isCode := func(va uint64) bool {
		return va >= f.img.Base && va-f.img.Base < beyond && program.Containing(f.code, uint32(va-f.img.Base)) >= 0
	}
	text := t.text
	if v, ok := relative[t.rva+8+8*pclnWordText]; ok {
		text = v
	}
	if isCode(text) {
		return text - f.img.Base, true
	}
	// The module data start with a pointer to the table.
	header := f.img.Base + t.rva
	for _, s := range f.img.Sections {
		if s.Exec || s.FileSize == 0 {
			continue
		}
		b := f.bytesAt(s.Name, s.RVA, min(s.Size, s.FileSize))
		for at := 0; at+8*(moduleText+1) <= len(b); at += 8 {
			word := func(i int) uint64 {
				if v, ok := relative[s.RVA+uint64(at+8*i)]; ok {
					return v
				}
				return binary.LittleEndian.Uint64(b[at+8*i:])
			}
			if word(0) == header && word(moduleFtabLen) == t.n+1 && isCode(word(moduleText)) {
				return word(moduleText) - f.img.Base, true
			}
		}
	}
	return 0, false
}
