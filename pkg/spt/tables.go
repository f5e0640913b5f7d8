package spt

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// String is one string of the string table.
type String struct {
	Offset       uint32 // bytes from the start of the table
	Value        string
	Unterminated bool // the used part ends without the string's NUL
}

// tables are the bytes before the data stream and what they say.
type tables struct {
	image    []byte // the file up to the data stream
	header   Header
	strings  []String
	programs []ProgramID
	warnings []error
}

// decodeTables decodes an image whose header has been checked. A string index
// that stands for nothing is a warning and no error: GUID and age identify a
// binary, and no sample depends on its name.
func decodeTables(image []byte, h Header) *tables {
	t := &tables{image: image, header: h}
	t.decodeStrings()
	start, end := h.programs()
	c := binfmt.NewCursor(image[start:end], "program id table", start)
	t.programs = make([]ProgramID, h.ProgramIdsUsed)
	for i := range t.programs {
		p := &t.programs[i]
		copy(p.GUID[:], c.Bytes(uint64(len(p.GUID))))
		p.Age = c.U32()
		p.StringIndex = c.U32()
	}
	t.namePrograms()
	return t
}

func (t *tables) decodeStrings() {
	start, end := t.header.strings()
	used := string(t.image[start:end]) // the names share this memory
	for at := 0; at < len(used); {
		s := String{Offset: uint32(at)}
		n := strings.IndexByte(used[at:], 0)
		if n < 0 {
			n = len(used) - at
			s.Unterminated = true
			t.warn("string table", end, "a NUL after the last string", "the end of the used part")
		}
		s.Value = used[at : at+n]
		t.strings = append(t.strings, s)
		at += n + 1
	}
}

// namePrograms resolves the string indices. A string index is a byte offset.
// If some index is no start of a string, but all are less than the number of
// strings, the file numbers its strings instead.
func (t *tables) namePrograms() {
	count := uint32(len(t.strings))
	ordinals, fits := false, true
	for i := range t.programs {
		index := t.programs[i].StringIndex
		_, start := t.stringAt(index)
		ordinals = ordinals || !start
		fits = fits && index < count
	}
	ordinals = ordinals && fits
	var byOrdinal, inside, nowhere []int
	for i := range t.programs {
		p := &t.programs[i]
		k, start := t.stringAt(p.StringIndex)
		switch {
		case start && !ordinals:
			p.Name = t.strings[k].Value
		case p.StringIndex < count:
			p.Name = t.strings[p.StringIndex].Value
			byOrdinal = append(byOrdinal, i)
		case p.StringIndex < uint32(t.header.StringTableUsed):
			s := t.strings[k]
			p.Name = s.Value[min(int(p.StringIndex-s.Offset), len(s.Value)):]
			inside = append(inside, i)
		default:
			nowhere = append(nowhere, i)
		}
	}
	t.warnPrograms(byOrdinal, "read as the number of a string")
	t.warnPrograms(inside, "read from the middle of a string")
	t.warnPrograms(nowhere, "outside of the string table, name unknown")
}

// stringAt returns the last string that starts at or before an offset into the
// string table, and whether it starts just there; -1 if there is no string.
func (t *tables) stringAt(off uint32) (k int, exact bool) {
	k = sort.Search(len(t.strings), func(i int) bool { return t.strings[i].Offset > off }) - 1
	return k, k >= 0 && t.strings[k].Offset == off
}

func (t *tables) stringIndexOffset(program int) int64 {
	start, _ := t.header.programs()
	return start + int64(program)*programSize + programSize - 4
}

func (t *tables) warn(part string, off int64, want, got string) {
	t.warnings = append(t.warnings, &binfmt.Error{Part: part, Offset: off, Want: want, Got: got})
}

// warnPrograms adds one warning for all programs of a kind.
func (t *tables) warnPrograms(programs []int, what string) {
	if len(programs) == 0 {
		return
	}
	first := programs[0]
	t.warn("program id table", t.stringIndexOffset(first), "byte offsets of strings as string indices",
		fmt.Sprintf("%#x for program %d: %s (%d of %d programs)",
			t.programs[first].StringIndex, first, what, len(programs), len(t.programs)))
}

// unused lists the ranges of the image, as absolute offsets, that neither the
// header nor a used entry of a table covers.
func (h *Header) unused() [][2]int64 {
	stringsStart, stringsEnd := h.strings()
	programsStart, programsEnd := h.programs()
	return [][2]int64{
		{headerSize, stringsStart},
		{stringsEnd, programsStart},
		{programsEnd, h.dataOffset()},
	}
}

// layOut makes the tables of a new file. Equal names share a string.
func layOut(programs []ProgramID, o *WriterOptions) ([]byte, error) {
	var table []byte
	index := make(map[string]uint32)
	entries := make([]byte, 0, len(programs)*programSize)
	for i, p := range programs {
		if k := strings.IndexByte(p.Name, 0); k >= 0 {
			return nil, &binfmt.Error{Part: fmt.Sprintf("program id %d: name", i), Offset: -1,
				Want: "no NUL", Got: fmt.Sprintf("%q", p.Name), Err: binfmt.ErrCorrupt}
		}
		at, ok := index[p.Name]
		if !ok {
			at = uint32(len(table))
			index[p.Name] = at
			table = binfmt.AppendCString(table, p.Name)
		}
		entries = append(entries, p.GUID[:]...)
		entries = binfmt.AppendU32(entries, p.Age)
		entries = binfmt.AppendU32(entries, at)
	}
	for _, limit := range []struct {
		part, unit string
		n          int
	}{{"string table", "bytes", len(table)}, {"program id table", "entries", len(programs)}} {
		if limit.n > maxTable {
			return nil, &binfmt.Error{Part: limit.part, Offset: -1, Want: fmt.Sprintf("at most %d %s", maxTable, limit.unit),
				Got: fmt.Sprint(limit.n), Err: binfmt.ErrLimit}
		}
	}
	h := Header{
		RawDataId:           o.RawDataId,
		TargetArch:          o.TargetArch,
		StringTableOffset:   headerSize,
		StringTableUsed:     uint16(len(table)),
		StringTableCapacity: uint16(max(defStrings, len(table))),
		ProgramIdsUsed:      uint16(len(programs)),
		ProgramIdCapacity:   uint16(max(defPrograms, len(programs))),
	}
	h.ProgramIdTableOffset = headerSize + uint32(h.StringTableCapacity)
	image := make([]byte, h.dataOffset())
	copy(image, appendHeader(nil, &h))
	copy(image[headerSize:], table)
	copy(image[h.ProgramIdTableOffset:], entries)
	return image, nil
}

// readTables reads and decodes everything before the data stream.
func readTables(s *source) (*tables, error) {
	b := s.peek(headerSize)
	if len(b) < headerSize && s.failed() {
		return nil, s.readError()
	}
	h, err := decodeHeader(b[:min(len(b), headerSize)])
	if err != nil {
		return nil, err
	}
	end := h.dataOffset()
	outside := func(want, got string, kind error) error {
		return &binfmt.Error{Part: "header: ProgramIdTableOffset", Offset: offProgramOffset, Want: want, Got: got, Err: kind}
	}
	got := fmt.Sprintf("%#x and %d entries", h.ProgramIdTableOffset, h.ProgramIdCapacity)
	if s.size >= 0 && end > s.size {
		return nil, outside(fmt.Sprintf("a table that ends in the file, at most at %#x", s.size), got, binfmt.ErrTruncated)
	}
	if end > maxPreamble {
		return nil, outside(fmt.Sprintf("a table that ends at most at %#x", maxPreamble), got, binfmt.ErrLimit)
	}
	var image []byte
	for int64(len(image)) < end {
		b := s.peek(1)
		if len(b) == 0 && s.failed() {
			return nil, s.readError()
		}
		if len(b) == 0 {
			return nil, outside(fmt.Sprintf("a table that ends in the file, at most at %#x", len(image)), got, binfmt.ErrTruncated)
		}
		b = b[:min(int64(len(b)), end-int64(len(image)))]
		image = append(image, b...)
		s.pos += len(b)
	}
	return decodeTables(slices.Clip(image), h), nil
}

// isZero says whether all bytes are zero.
func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
