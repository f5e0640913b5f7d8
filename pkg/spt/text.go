package spt

import (
	"fmt"
	"io"
	"math/bits"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Part selects lines of the text form; parts can be combined with |.
type Part uint8

// The parts of the text form.
const (
	PartHeader   Part = 1 << iota // spt and header lines
	PartStrings                   // string lines
	PartPrograms                  // program lines
	PartUnused                    // bytes lines
	PartRecords                   // binary and record lines
	// PartAll is the whole text, which [ParseText] reads.
	PartAll = PartHeader | PartStrings | PartPrograms | PartUnused | PartRecords
)

// bytesPerLine is how many bytes a bytes line gives at most.
const bytesPerLine = 32

// WriteText writes the chosen parts of a file in the text form. With
// PartRecords r has to be new and is read to its end, in constant memory. The
// text of a tolerant reader has segments without lengths and ends with comments
// that count what was skipped.
//
// WriteText returns the failure of w, or r.Err() after writing the records that
// precede the defect.
func WriteText(w io.Writer, r *Reader, parts Part) error {
	t := textWriter{w: w}
	if parts&PartHeader != 0 {
		t.header(r.image)
	}
	if parts&PartStrings != 0 {
		t.strings(r.strings)
	}
	if parts&PartPrograms != 0 {
		t.programs(r.programs)
	}
	if parts&PartUnused != 0 {
		t.unused(r)
	}
	if parts&PartRecords != 0 {
		t.records(r)
	}
	if t.flush(1); t.err != nil {
		return t.err
	}
	if parts&PartRecords != 0 {
		return r.Err()
	}
	return nil
}

// textWriter collects lines. Failures of w stick.
type textWriter struct {
	w   io.Writer
	buf []byte
	err error
}

// flush writes the lines if there are enough bytes of them.
func (t *textWriter) flush(enough int) {
	if len(t.buf) >= enough && t.err == nil {
		_, t.err = t.w.Write(t.buf)
		t.buf = t.buf[:0]
	}
}

func (t *textWriter) printf(format string, args ...any) {
	t.buf = fmt.Appendf(t.buf, format, args...)
	t.flush(flushBytes)
}

func (t *textWriter) header(image []byte) {
	t.printf("spt %d\n", Version)
	for _, f := range headerFields {
		c := binfmt.NewCursor(image[f.offset:], "header", int64(f.offset))
		v := uint32(0)
		if f.size == 4 {
			v = c.U32()
		} else {
			v = uint32(c.U16())
		}
		t.printf(f.format, f.name, v)
	}
}

func (t *textWriter) strings(list []String) {
	for _, s := range list {
		end := ""
		if s.Unterminated {
			end = " unterminated"
		}
		t.printf("string %#x %q%s\n", s.Offset, s.Value, end)
	}
}

func (t *textWriter) programs(list []ProgramID) {
	for i, p := range list {
		t.printf("program %d %v age %d string %#x %q\n", i, p.GUID, p.Age, p.StringIndex, p.Name)
	}
}

func (t *textWriter) unused(r *Reader) {
	for _, span := range r.header.unused() {
		for from := span[0]; from < span[1]; from += bytesPerLine {
			if b := r.image[from:min(from+bytesPerLine, span[1])]; !isZero(b) {
				t.printf("bytes %#x %X\n", from, b)
			}
		}
	}
}

func (t *textWriter) records(r *Reader) {
	for t.err == nil && r.NextItem() {
		if r.rec.Op == OpBinaryID {
			t.segment(r)
		} else {
			t.record(&r.rec)
		}
		t.flush(flushBytes)
	}
	for _, k := range r.Stats().Skipped {
		t.printf("# skipped: %v: times %d, records %d, bytes %d\n", k.Defect, k.Times, k.Records, k.Bytes)
		t.printf("#   first: %v\n", k.First)
	}
}

func (t *textWriter) segment(r *Reader) {
	t.buf = append(t.buf, "binary "...)
	t.buf = strconv.AppendUint(t.buf, uint64(r.seg.Index), 10)
	if r.seg.Pad != 0 {
		t.buf = append(t.buf, " pad "...)
		t.hex(uint32(r.seg.Pad))
	}
	if !r.tolerate {
		t.buf = append(t.buf, " length "...)
		t.buf = strconv.AppendUint(t.buf, uint64(r.seg.Length), 10)
	}
	t.buf = append(t.buf, " # "...)
	t.buf = strconv.AppendQuote(t.buf, r.programs[r.seg.Program].Name)
	t.buf = append(t.buf, '\n')
}

func (t *textWriter) record(rec *Record) {
	t.buf = append(t.buf, "  "...)
	t.buf = append(t.buf, rec.Op.String()...)
	if rec.HasRepeat {
		t.buf = append(t.buf, " repeat "...)
		t.buf = strconv.AppendUint(t.buf, rec.Repeat, 10)
		if rec.RepeatPad != 0 {
			t.buf = append(t.buf, " pad "...)
			t.hex(uint32(rec.RepeatPad))
		}
	}
	for _, v := range rec.RVAs {
		t.buf = append(t.buf, ' ')
		t.hex(v)
	}
	for _, p := range rec.Pairs {
		t.buf = append(t.buf, ' ')
		t.hex(p.From)
		t.buf = append(t.buf, "->"...)
		t.hex(p.To)
	}
	t.buf = append(t.buf, '\n')
}

// hex appends v as 0x and lower case digits. Nearly all of a text is RVAs, and
// this is twice as fast as strconv.
func (t *textWriter) hex(v uint32) {
	const digits = "0123456789abcdef"
	t.buf = append(t.buf, '0', 'x')
	for shift := max(bits.Len32(v)-1, 0) &^ 3; shift >= 0; shift -= 4 {
		t.buf = append(t.buf, digits[v>>shift&15])
	}
}

// headerField is a field of the header under its documented name.
type headerField struct {
	name   string
	offset int
	size   int    // bytes
	format string // of its line
}

const (
	hexLine     = "header %s %#x\n"
	decimalLine = "header %s %d\n"
)

// headerFields are the fields of header lines: all but Signature and Version.
var headerFields = []headerField{
	{"RawDataId", 0x08, 4, hexLine},
	{"TargetArch", 0x0C, 4, hexLine},
	{"StringTableOffset", offStringOffset, 4, hexLine},
	{"ProgramIdTableOffset", offProgramOffset, 4, hexLine},
	{"StringTableUsed", offStringsUsed, 2, decimalLine},
	{"StringTableCapacity", 0x1A, 2, decimalLine},
	{"ProgramIdsUsed", offProgramsUsed, 2, decimalLine},
	{"ProgramIdCapacity", 0x1E, 2, decimalLine},
}
