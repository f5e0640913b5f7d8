package spd

import (
	"errors"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/golden"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// smallFile is the interesting part of profiledFile.
func smallFile() *File {
	f := profiledFile()
	f.Modules[0].Functions = f.Modules[0].Functions[:4]
	f.Modules[0].HashBuckets = 0
	f.Header.Statistics = f.ComputeStatistics()
	return f
}

func TestFormsLookTheSame(t *testing.T) {
	golden.Check(t, "testdata/small.txt", printText(t, smallFile()))
	golden.Check(t, "testdata/small.json", printJSON(t, smallFile()))
}

func TestTextIsForgiving(t *testing.T) {
	text := string(printText(t, smallFile()))
	text = "# a comment\n\n" + strings.ReplaceAll(text, "\n", "  \r\n\t")
	f, err := ReadText(strings.NewReader(strings.TrimSuffix(text, "\r\n\t")))
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(smallFile(), f); d != "" {
		t.Error(d)
	}
}

func TestBadText(t *testing.T) {
	const head = "spd version=0x100c binary=\"a\"\n"
	const fn = head + "module name=\"m\"\nfunction id=0x1 name=\"f\"\n"
	for _, c := range []struct {
		name, text string
		kind       error
		offset     int
		want       string
	}{
		{"empty", "", binfmt.ErrMagic, 0, `"spd"`},
		{"comment only", "# nothing\n", binfmt.ErrMagic, 10, `"spd"`},
		{"other text", "hello world\n", binfmt.ErrMagic, 0, `"hello"`},
		{"version", "spd version=0x100d\n", binfmt.ErrVersion, 0, "0x100d"},
		{"no version", "spd\n", binfmt.ErrVersion, 0, "0x0"},
		{"twice", head + head, binfmt.ErrCorrupt, len(head), "one line of this kind"},
		{"keyword", head + "modul\n", binfmt.ErrCorrupt, len(head), `"modul"`},
		{"field", head + "module nam=\"m\"\n", binfmt.ErrCorrupt, len(head), `"nam"`},
		{"field twice", head + "module flags=1 flags=1\n", binfmt.ErrCorrupt, len(head), `"flags"`},
		{"no value", head + "module flags\n", binfmt.ErrCorrupt, len(head), "KEY=VALUE"},
		{"number", head + "module flags=1x\n", binfmt.ErrCorrupt, len(head), `"1x"`},
		{"number too big", head + "module flags=0x100000000\n", binfmt.ErrCorrupt, len(head), "32 bits"},
		{"string", head + "module name=m\n", binfmt.ErrCorrupt, len(head), "quoted string"},
		{"open string", head + "module name=\"m\n", binfmt.ErrCorrupt, len(head), "quoted string"},
		{"GUID", "spd version=0x100c guid={1}\n", binfmt.ErrCorrupt, 0, "GUID"},
		{"function without module", head + "function id=1\n", binfmt.ErrCorrupt, len(head), "a module before"},
		{"callee without function", head + "module\ncallee id=1\n", binfmt.ErrCorrupt, len(head) + 7, "a function before"},
		{"edge without block", fn + "edge to=1\n", binfmt.ErrCorrupt, len(fn), "a block before"},
		{"block id", fn + "block id=2\n", binfmt.ErrCorrupt, len(fn), "block id 1"},
		{"range", fn + "block id=1 ranges=0x1\n", binfmt.ErrCorrupt, len(fn), "START+LENGTH"},
		{"call sites", fn + "callee id=1 sites=1,,2\n", binfmt.ErrCorrupt, len(fn), `""`},
		{"inlined without inlinee", fn + "block id=1\ninlined depth=1\n", binfmt.ErrCorrupt, len(fn) + 11, "an inlinee before"},
		{"no depth", fn + "block id=1\ninlinee id=1\n", binfmt.ErrCorrupt, len(fn) + 11, "a depth from 1 to 1"},
		{"depth", fn + "block id=1\ninlinee depth=2\n", binfmt.ErrCorrupt, len(fn) + 11, "a depth from 1 to 1"},
		{"call", fn + "block id=1\ninlinee depth=1\ncall offset=1\n", binfmt.ErrCorrupt, len(fn) + 27, "an inlined block before"},
		{"targets", fn + "block id=1\nindirect targets=1:1,2:2,3:3,4:4\n", binfmt.ErrCorrupt, len(fn) + 11, "up to 3 targets"},
	} {
		_, err := ReadText(strings.NewReader(c.text))
		var e *binfmt.Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || e.Offset != int64(c.offset) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q at %#x", c.name, err, c.want, c.offset)
		}
	}
}

func TestJSONInAnyOrder(t *testing.T) {
	text := string(printJSON(t, smallFile()))
	header, rest, _ := strings.Cut(strings.TrimPrefix(text, "{"), `,`+"\n"+`"modules"`)
	modules, functions, _ := strings.Cut(rest, `,`+"\n"+`"functions"`)
	f, err := ReadJSON(strings.NewReader(`{"functions"` + strings.TrimSuffix(functions, "}\n") + `,` + header + `,"modules"` + modules + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(smallFile(), f); d != "" {
		t.Error(d)
	}
}

func TestJSONKeepsFunctionsOfModulesApart(t *testing.T) {
	f := smallFile()
	functions := f.Modules[0].Functions
	f.Modules = []Module{{Name: "a", Functions: functions[:2:2]}, {Name: "b", Functions: functions[2:]}, {Name: "c"}}
	g, err := trips["JSON"](f)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(f, g); d != "" {
		t.Error(d)
	}
}

func TestBadJSON(t *testing.T) {
	good := string(printJSON(t, smallFile()))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the JSON", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct {
		name, text string
		kind       error
		want       string
	}{
		{"empty", "", binfmt.ErrTruncated, "document"},
		{"list", "[]", binfmt.ErrCorrupt, "want {, got ["},
		{"cut", good[:len(good)/2], binfmt.ErrTruncated, "functions["},
		{"text behind", good + "1", binfmt.ErrCorrupt, "something behind"},
		{"no header", "{}", binfmt.ErrCorrupt, "header"},
		{"version", replace("0x100c", "0x100d"), binfmt.ErrVersion, "0x100d"},
		{"unknown part", replace(`"modules"`, `"module"`), binfmt.ErrCorrupt, "unknown name"},
		{"part twice", replace("\"functions\":[\n", "\"modules\":[\n"), binfmt.ErrCorrupt, "second"},
		{"unknown field", replace(`"ordinal"`, `"ordinals"`), binfmt.ErrCorrupt, "ordinals"},
		{"unknown field of a target", replace(`"hits":1295`, `"hit":1295`), binfmt.ErrCorrupt, "hit"},
		{"GUID", replace(`"{04030201`, `"{0403020`), binfmt.ErrCorrupt, "GUID"},
		{"id as a number", replace(`"id":"0x`, `"id":7,"x":"0x`), binfmt.ErrCorrupt, "functions[0]"},
		{"block id", replace(`"blocks":[{"id":1`, `"blocks":[{"id":2`), binfmt.ErrCorrupt, "block 1 has id 2"},
		{"range of two", replace(`"ranges":[[0,8,0]]`, `"ranges":[[0,8]]`), binfmt.ErrCorrupt, "start,length,cold"},
		{"range with cold 2", replace(`"ranges":[[0,8,0]]`, `"ranges":[[0,8,2]]`), binfmt.ErrCorrupt, "start,length,cold"},
		{"range null", replace(`"ranges":[[0,8,0]]`, `"ranges":[null]`), binfmt.ErrCorrupt, "start,length,cold"},
		{"four targets", replace(`"targets":[{`, `"targets":[{},{},{`), binfmt.ErrCorrupt, "4 targets"},
		{"count beyond 64 bits", replace(`"count":400`, `"count":18446744073709551616`), binfmt.ErrCorrupt, "functions[0]"},
		{"module", replace(`"name":"mid"`, `"module":1,"name":"mid"`), binfmt.ErrCorrupt, "functions[1]: module"},
		{"name bytes", replace(`"name":"mid"`, `"name_bytes":"6"`), binfmt.ErrCorrupt, "name_bytes"},
	} {
		_, err := ReadJSON(strings.NewReader(c.text))
		var e *binfmt.Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
