package spt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/golden"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func text(t testing.TB, data []byte, opts *Options, parts Part) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteText(&out, open(t, data, opts), parts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextRoundTrip(t *testing.T) {
	for name, data := range map[string][]byte{
		"odd": oddFile(),
		"small": smallFile(segment(0, entries(0x01, 2, 0x1000, 0x1010), repeat(0, 41), entries(0x10, 1, 0x2000, 0x1010)),
			segment(1, entries(0x02, 1, 1), entries(0x03, 1, 2), entries(0x04, 1, 3), entries(0x05, 1, 4), entries(0x41, 1, 5),
				entries(0x42, 3, 0x1000, 0x2000, 0x3000))),
	} {
		t.Run(name, func(t *testing.T) {
			s := text(t, data, nil, PartAll)
			golden.Check(t, "testdata/"+name+".txt", []byte(s))
			var out bytes.Buffer
			if err := ParseText(&out, strings.NewReader(s)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(data, out.Bytes()); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			out.Reset()
			if err := ParseText(&out, strings.NewReader(strings.ReplaceAll(s, "\n", " \t# comment\r\n\r\n \n"))); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, out.Bytes()) {
				t.Error("blanks, comments and carriage returns made other bytes")
			}
		})
	}
}

func TestTextParts(t *testing.T) {
	data := oddFile()
	all := text(t, data, nil, PartAll)
	joined := ""
	for part := PartHeader; part <= PartRecords; part <<= 1 {
		s := text(t, data, nil, part)
		if s == "" || !strings.Contains(all, s) {
			t.Errorf("part %d is no part of the whole:\n%s", part, s)
		}
		joined += s
	}
	if joined != all {
		t.Errorf("the parts are not the whole:\n%s", cmp.Diff(all, joined))
	}
}

// The short form lays the tables out and cuts segments as a Writer does.
func TestParseShortText(t *testing.T) {
	const s = `spt 1
program 0 {884C945B-FE84-B717-4C4C-44205044422E} age 1 "a.exe"
program 1 04030201-0605-0807-090a-0b0c0d0e0f10 age 7 "b \x64.dll" # by hand

binary 1 pad 3
UNHALT_CYCLE 4096 0X1Fe
LBR repeat 18446744073709551615 pad 255 0x2->0x1 4->3
binary 0
binary 0 length 10
ETW_INSTR 4294967295`
	var got, want bytes.Buffer
	if err := ParseText(&got, strings.NewReader(s)); err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(&want, []ProgramID{{GUID: guidA, Age: 1, Name: "a.exe"}, {GUID: guidB, Age: 7, Name: "b d.dll"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want.Write(cat(
		binaryID(3, 1, 4+10+10+18), entries(0x01, 2, 4096, 0x1FE), repeat(255, 1<<64-1), entries(0x10, 2, 1, 2, 3, 4),
		segment(0),
		segment(0, entries(0x41, 1, 0xFFFFFFFF))))
	if diff := cmp.Diff(want.Bytes(), got.Bytes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The texts that the format page shows can be parsed, and the exact one is what
// the package prints.
func TestDocumentedText(t *testing.T) {
	page, err := os.ReadFile("../../docs/format/spt.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, block := range strings.Split(string(page), "```\n") {
		if i%2 == 0 || !strings.HasPrefix(block, "spt 1\n") {
			continue
		}
		var out bytes.Buffer
		if err := ParseText(&out, strings.NewReader(block)); err != nil {
			t.Errorf("%v in\n%s", err, block)
		} else if s := text(t, out.Bytes(), nil, PartAll); strings.Contains(block, "header") && s != block {
			t.Errorf("printed otherwise (-page +printed):\n%s", cmp.Diff(block, s))
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d texts on the page, want the exact and the short one", n)
	}
}

// The text of a damaged file is the text of a repaired one.
func TestTextRepairs(t *testing.T) {
	rec := entries(0x01, 1, 1)
	data := smallFile(segment(0, rec, []byte{0x77}, rec), rec, segment(1, rec), segment(0, rec)[:10])
	opts := &Options{Tolerate: true}
	s := text(t, data, opts, PartAll)
	golden.Check(t, "testdata/damaged.txt", []byte(s))
	var parsed, copied bytes.Buffer
	if err := ParseText(&parsed, strings.NewReader(s)); err != nil {
		t.Fatal(err)
	}
	if err := Copy(&copied, open(t, data, opts)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(parsed.Bytes(), copied.Bytes()) {
		t.Error("the parsed text is not the tolerant copy")
	}
	var out bytes.Buffer
	err := WriteText(&out, open(t, data, nil), PartRecords)
	wantError(t, err, DefectUnknownOpcode, dataStart+14)
}

func TestBadText(t *testing.T) {
	const (
		prog  = "spt 1\nprogram 0 {884C945B-FE84-B717-4C4C-44205044422E} age 1 \"a\"\n"
		seg   = prog + "binary 0\n"
		guid  = "{884C945B-FE84-B717-4C4C-44205044422E}"
		head  = "header RawDataId 0\nheader TargetArch 0\nheader StringTableOffset 0x20\nheader ProgramIdTableOffset 0x30\n"
		exact = "spt 1\n" + head + "header StringTableUsed 2\nheader StringTableCapacity 16\nheader ProgramIdsUsed 1\nheader ProgramIdCapacity 1\n"
		str   = exact + "string 0 \"a\"\n"
		id    = str + "program 0 " + guid + " age 1 string 0 \"a\"\n"
	)
	for _, c := range []struct {
		name, text, place string
		kind              error
		got               string
	}{
		{"empty", "", "line 1, column 1", binfmt.ErrMagic, "the end of the line"},
		{"only comments", "# spt 1\n\n", "line 2, column 1", binfmt.ErrMagic, "the end of the line"},
		{"other text", "\n SPT 1", "line 2, column 2", binfmt.ErrMagic, `"SPT"`},
		{"no version", "spt", "line 1, column 4", binfmt.ErrCorrupt, "the end of the line"},
		{"version 2", "spt 2", "line 1, column 5", binfmt.ErrVersion, `"2"`},
		{"word after the version", "spt 1 0", "line 1, column 7", binfmt.ErrCorrupt, `"0"`},
		{"second spt", "spt 1\nspt 1", "line 2, column 1", binfmt.ErrCorrupt, `"spt"`},
		{"unknown word", "spt 1\nbinarry 0", "line 2, column 1", binfmt.ErrCorrupt, `"binarry"`},
		{"unknown field", "spt 1\nheader Version 1", "line 2, column 8", binfmt.ErrCorrupt, `"Version"`},
		{"field twice", "spt 1\n" + head + head, "line 6, column 8", binfmt.ErrCorrupt, `"RawDataId"`},
		{"field too great", "spt 1\nheader StringTableUsed 65536", "line 2, column 24", binfmt.ErrCorrupt, `"65536"`},
		{"fields missing", "spt 1\n" + head + "program", "line 6, column 1", binfmt.ErrCorrupt, `"program"`},
		{"fields missing at the end", "spt 1\n" + head, "line 5, column 1", binfmt.ErrCorrupt, "the end of the line"},
		{"contradicting fields", strings.Replace(str, "Offset 0x20", "Offset 0x1F", 1), "line 10: header: StringTableOffset", binfmt.ErrCorrupt, "0x1f to 0x2f"},
		{"tables far apart", strings.Replace(str, "0x30", "0xFFFFFFFF", 1), "line 10, column 1", binfmt.ErrLimit, `"string"`},
		{"header after program", prog + "header RawDataId 0", "line 3, column 1", binfmt.ErrCorrupt, `"header"`},
		{"string without header", "spt 1\nstring 0 \"a\"", "line 2, column 1", binfmt.ErrCorrupt, `"string"`},
		{"bytes without header", prog + "bytes 0x20 00", "line 3, column 1", binfmt.ErrCorrupt, `"bytes"`},
		{"gap between strings", exact + "string 1 \"\"", "line 10, column 8", binfmt.ErrCorrupt, `"1"`},
		{"string without quotes", exact + "string 0 a", "line 10, column 10", binfmt.ErrCorrupt, `"a"`},
		{"string in other quotes", exact + "string 0 `a`", "line 10, column 10", binfmt.ErrCorrupt, "\"`a`\""},
		{"string without end", exact + "string 0 \"a", "line 10, column 10", binfmt.ErrCorrupt, `"\"a"`},
		{"string and more", exact + `string 0 "a"b`, "line 10, column 10", binfmt.ErrCorrupt, `"\"a\"b"`},
		{"string with NUL", exact + `string 0 "\x00"`, "line 10, column 10", binfmt.ErrCorrupt, `"\"\\x00\""`},
		{"string too long", exact + `string 0 "ab"`, "line 10, column 10", binfmt.ErrCorrupt, `"\"ab\""`},
		{"word after a string", exact + `string 0 "a" b`, "line 10, column 14", binfmt.ErrCorrupt, `"b"`},
		{"strings missing", exact + "program 0 " + guid + " age 1 string 0 \"\"\nbinary 0", "line 11, column 1", binfmt.ErrCorrupt, `"binary"`},
		{"programs missing", str + "binary 0", "line 11, column 1", binfmt.ErrCorrupt, `"binary"`},
		{"programs missing at the end", str, "line 10, column 1", binfmt.ErrCorrupt, "the end of the line"},
		{"one program more", id + "program 1 " + guid + " age 1 string 0 \"a\"", "line 12, column 9", binfmt.ErrCorrupt, `"1"`},
		{"program of another index", "spt 1\nprogram 1", "line 2, column 9", binfmt.ErrCorrupt, `"1"`},
		{"GUID cut", "spt 1\nprogram 0 {884C945B-FE84-B717-4C4C-44205044422}", "line 2, column 11", binfmt.ErrCorrupt, `"{884C945B-FE84-B717-4C4C-44205044422}"`},
		{"no age", "spt 1\nprogram 0 " + guid + " 1", "line 2, column 50", binfmt.ErrCorrupt, `"1"`},
		{"age too great", "spt 1\nprogram 0 " + guid + " age 4294967296", "line 2, column 54", binfmt.ErrCorrupt, `"4294967296"`},
		{"string index without header", "spt 1\nprogram 0 " + guid + ` age 1 string 0 "a"`, "line 2, column 56", binfmt.ErrCorrupt, `"string"`},
		{"no string index", str + "program 0 " + guid + ` age 1 "a"`, "line 11, column 56", binfmt.ErrCorrupt, `"\"a\""`},
		{"name of another string", str + "program 0 " + guid + ` age 1 string 0 "b"`, "line 11", binfmt.ErrCorrupt, `"b"`},
		{"bytes on a string", id + "bytes 0x21 00", "line 12, column 12", binfmt.ErrCorrupt, `"00"`},
		{"bytes over the end of the unused part", id + "bytes 0x2f 0000", "line 12, column 12", binfmt.ErrCorrupt, `"0000"`},
		{"bytes in the data stream", id + "bytes 0x48 81", "line 12, column 12", binfmt.ErrCorrupt, `"81"`},
		{"half a byte", id + "bytes 0x22 8", "line 12, column 12", binfmt.ErrCorrupt, `"8"`},
		{"no bytes", id + "bytes 0x22", "line 12, column 11", binfmt.ErrCorrupt, "the end of the line"},
		{"no index", prog + "binary", "line 3, column 7", binfmt.ErrCorrupt, "the end of the line"},
		{"index too great", prog + "binary 2", "line 3, column 8", binfmt.ErrCorrupt, `"2"`},
		{"index 0 and 1 of 1", seg + "binary 1", "line 4, column 8", binfmt.ErrCorrupt, `"1"`},
		{"index without programs", "spt 1\nbinary 0", "line 2, column 8", binfmt.ErrCorrupt, `"0"`},
		{"pad too great", prog + "binary 0 pad 256", "line 3, column 14", binfmt.ErrCorrupt, `"256"`},
		{"length too small", prog + "binary 0 length 3", "line 3, column 17", binfmt.ErrCorrupt, `"3"`},
		{"length too great", prog + "binary 0 length 4294967296", "line 3, column 17", binfmt.ErrCorrupt, `"4294967296"`},
		{"pad behind length", prog + "binary 0 length 4 pad 1", "line 3, column 19", binfmt.ErrCorrupt, `"pad"`},
		{"record before binary", prog + "LBR 1->2", "line 3, column 1", binfmt.ErrCorrupt, `"LBR"`},
		{"record longer than its segment", prog + "binary 0 length 13\nLBR 1->2", "line 4: segment of line 3", binfmt.ErrCorrupt, "a record of 10"},
		{"segment longer than its records", prog + "binary 0 length 15\nLBR 1->2\nbinary 0", "line 5: segment of line 3", binfmt.ErrCorrupt, "its end"},
		{"segment longer than the text", prog + "binary 0 length 15\nLBR 1->2\n", "line 4: segment of line 3", binfmt.ErrCorrupt, "its end"},
		{"REPEAT as record", seg + "REPEAT 1", "line 4, column 1", binfmt.ErrCorrupt, `"REPEAT"`},
		{"unknown opcode", seg + "0x07 1", "line 4, column 1", binfmt.ErrCorrupt, `"0x07"`},
		{"no entries", seg + "UNHALT_CYCLE", "line 4, column 13", binfmt.ErrCorrupt, "the end of the line"},
		{"no entries but a comment", seg + "LBR repeat 1 # 1->2", "line 4, column 14", binfmt.ErrCorrupt, "the end of the line"},
		{"256 entries", seg + "UNHALT_CYCLE" + strings.Repeat(" 7", 256), "line 4, column 524", binfmt.ErrLimit, `"7"`},
		{"RVA too great", seg + "UNHALT_CYCLE 1 0x100000000", "line 4, column 16", binfmt.ErrCorrupt, `"0x100000000"`},
		{"RVA without digits", seg + "UNHALT_CYCLE 0x", "line 4, column 14", binfmt.ErrCorrupt, `"0x"`},
		{"RVA of other digits", seg + "UNHALT_CYCLE 1F", "line 4, column 14", binfmt.ErrCorrupt, `"1F"`},
		{"negative RVA", seg + "UNHALT_CYCLE -1", "line 4, column 14", binfmt.ErrCorrupt, `"-1"`},
		{"pair as RVA", seg + "ETW_CALLSTACK 1->2", "line 4, column 15", binfmt.ErrCorrupt, `"1->2"`},
		{"RVA as pair", seg + "LBR 1", "line 4, column 5", binfmt.ErrCorrupt, `"1"`},
		{"half a pair", seg + "LBR 1->", "line 4, column 5", binfmt.ErrCorrupt, `"1->"`},
		{"three of a pair", seg + "LBR 1->2->3", "line 4, column 5", binfmt.ErrCorrupt, `"1->2->3"`},
		{"repeat too great", seg + "LBR repeat 18446744073709551616 1->2", "line 4, column 12", binfmt.ErrCorrupt, `"18446744073709551616"`},
		{"pad without repeat", seg + "LBR pad 1 1->2", "line 4, column 5", binfmt.ErrCorrupt, `"pad"`},
		{"endless line", prog + strings.Repeat(" ", maxLine+1), "line 3", binfmt.ErrLimit, "more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := ParseText(io.Discard, strings.NewReader(c.text))
			wantError(t, err, c.kind, -1)
			var e *binfmt.Error
			if errors.As(err, &e); e.Part != c.place || e.Got != c.got {
				t.Errorf("got %s in %s, want %s in %s: %v", e.Got, e.Part, c.got, c.place, err)
			}
		})
	}
}

func TestParseTextFailures(t *testing.T) {
	cause := errors.New("cable pulled")
	err := ParseText(io.Discard, failing{strings.NewReader("spt 1\n"), cause})
	if !errors.Is(err, cause) {
		t.Errorf("read failure: %v", err)
	}
	s := text(t, oddFile(), nil, PartAll)
	if err := ParseText(&full{100}, strings.NewReader(s)); !errors.Is(err, errFull) {
		t.Errorf("write failure: %v", err)
	}
	long := "spt 1\nprogram 0 {884C945B-FE84-B717-4C4C-44205044422E} age 1 \"" + strings.Repeat(`\x80`, 65535) + "\""
	if err := ParseText(io.Discard, strings.NewReader(long)); !errors.Is(err, binfmt.ErrLimit) || !strings.Contains(err.Error(), "line 2: string table") {
		t.Errorf("strings of %d bytes: %.100v", 65536, err)
	}
}

func TestOpcodeNames(t *testing.T) {
	for op := range 256 {
		op := Opcode(op)
		_, known := map[Opcode]bool{OpBinaryID: true, OpRepeat: true}[op]
		known = known || entrySize[op] != 0
		if number := op.String() == fmt.Sprintf("0x%02X", uint8(op)); number == known {
			t.Errorf("opcode %#x is called %s", uint8(op), op)
		}
		wantIP := (op >= 1 && op <= 5) || op == 0x41
		if op.IsIP() != wantIP {
			t.Errorf("IsIP(%v) = %v", op, op.IsIP())
		}
	}
	for _, op := range sampleOpcodes {
		if entrySize[op] == 0 {
			t.Errorf("%v has no size", op)
		}
	}
}
