package carrier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

func find(data []byte) ([]Found, error) { return Find(bytes.NewReader(data), int64(len(data))) }

// read returns the bytes of an SPD.
func read(t testing.TB, f Found) []byte {
	t.Helper()
	b, err := io.ReadAll(f.Open())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFind(t *testing.T) {
	one, two, many := smallSPD(t, "one.exe", 1), smallSPD(t, "two.exe", 1), smallSPD(t, "many.exe", 3)
	// one that has another in its last module
	around := joined(patched(one, moduleAt(one), uint32(len(one)-moduleAt(one)+len(two))), two)
	// one that begins in one window of the search and ends in the next
	late := joined(filler(chunk-5), one)
	type want struct {
		where  string
		offset int64
		data   []byte
	}
	for _, tc := range []struct {
		name    string
		carrier []byte
		want    []want
	}{
		{"SPD", one, []want{{"", 0, one}}},
		{"SPD with several modules", many, []want{{"", 0, many}}},
		{"SPD and more", joined(one, filler(9), two), []want{{"", 0, one}, {"", int64(len(one) + 9), two}}},
		{"PDB", msftest.PDB{Named: []msftest.Stream{{Name: "/spd", Data: one}, {Name: "other", Data: filler(20)}}}.Bytes(),
			[]want{{`stream 5 "/spd"`, 0, one}}},
		{"PDB with small blocks", msftest.PDB{BlockSize: 512, Named: []msftest.Stream{{Name: "a", Data: joined(filler(700), many, two)}, {Name: "b", Data: one}}}.Bytes(),
			[]want{{`stream 5 "a"`, 700, many}, {`stream 5 "a"`, int64(700 + len(many)), two}, {`stream 6 "b"`, 0, one}}},
		{"PDB without names", msftest.Build(512, [][]byte{one, nil, two, one}), []want{{"stream 2", 0, two}, {"stream 3", 0, one}}},
		{"PDB without SPD", msftest.PDB{}.Bytes(), nil},
		{"image", pe(section{".text", filler(300), 0}, section{".spgo", one, 0}), []want{{"section .spgo", 0, one}}},
		{"image with odd name", pe(section{"\x1b[1m", one, 0}), []want{{`section "\x1b[1m"`, 0, one}}},
		{"image with late SPD", pe(section{".rsrc", late, 0}), []want{{"section .rsrc", chunk - 5, one}}},
		{"object", coff(false, section{".text", filler(30), 0}, section{".spgo", one, 0}, section{".two", two, 0}),
			[]want{{"section 2 .spgo", 0, one}, {"section 3 .two", 0, two}}},
		{"object with long name", coff(false, section{".a_name_of_some_length", one, 0}), []want{{"section 1 .a_name_of_some_length", 0, one}}},
		{"object without data", coff(false, section{".bss", one, uninitialized}), nil},
		{"big object", coff(true, section{".bss", nil, 0}, section{".another_long_name", joined(filler(3), one), 0}),
			[]want{{"section 2 .another_long_name", 3, one}}},
		{"anonymous object", anonymous(joined(filler(10), one)), []want{{"object data", 42, one}}},
		{"import object", importMember(), nil},
		{"library", library(
			member{"import.dll", importMember()},
			member{"first.obj", coff(false, section{".spgo", one, 0})},
			member{"folder/with/a/long/second.obj", coff(true, section{".text", filler(5), 0}, section{".spgo", two, 0})},
			member{"third.obj", anonymous(one)},
			member{"x.spd", two},
			member{"odd", filler(3)},
		), []want{{"member first.obj: section 1 .spgo", 0, one}, {"member folder/with/a/long/second.obj: section 2 .spgo", 0, two},
			{"member third.obj: object data", 32, one}, {"member x.spd", 0, two}}},
		{"library in a library", library(member{"inner.lib", library(member{"a.obj", coff(false, section{".spgo", one, 0})})}),
			[]want{{"member inner.lib", int64(len(library(member{"", nil})) + coffHeader + sectionEntry), one}}},
		{"SPD around an SPD", coff(false, section{".spgo", around, 0}), []want{{"section 1 .spgo", 0, around}}},
		{"empty library", []byte(archiveStart), nil},
		{"another version inside", coff(false, section{".data", joined(filler(4), patched(one, 4, 0x2000)), 0}), nil},
		{"signature alone inside", coff(false, section{".data", joined(filler(4), []byte(signature)), 0}), nil},
	} {
		found, err := find(tc.carrier)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if len(found) != len(tc.want) {
			t.Errorf("%s: %d SPDs, want %d: %v", tc.name, len(found), len(tc.want), found)
			continue
		}
		for i, w := range tc.want {
			f := found[i]
			if f.Where != w.where || f.Offset != w.offset || f.Size != int64(len(w.data)) || f.Version != 0x100c || f.Err != nil {
				t.Errorf("%s: found %q at %#x, %d bytes, version %#x, %v; want %q at %#x, %d bytes",
					tc.name, f.Where, f.Offset, f.Size, f.Version, f.Err, w.where, w.offset, len(w.data))
			}
			if !bytes.Equal(read(t, f), w.data) {
				t.Errorf("%s: %q holds other bytes", tc.name, f.Where)
			}
		}
	}
}

// TestFindUnusable has SPDs that are found but cannot be used.
func TestFindUnusable(t *testing.T) {
	one := smallSPD(t, "one.exe", 1)
	data := moduleAt(one)
	inObject := func(d []byte) []byte { return coff(false, section{".spgo", d, 0}) }
	for _, tc := range []struct {
		name    string
		carrier []byte
		offset  int64 // of the defect: in the file, -1 for a stream
		kind    error
	}{
		{"version", patched(one, 4, 0x100d), 4, binfmt.ErrVersion},
		{"version in a section", inObject(patched(one, 4, 0x100d)), 64, binfmt.ErrVersion},
		{"version in a stream", msftest.Build(512, [][]byte{nil, patched(one, 4, 7)}), -1, binfmt.ErrVersion},
		{"header cut", one[:0x30], 0x38, binfmt.ErrTruncated},
		{"version cut", joined([]byte(signature), []byte{1, 2, 3, 4}), 4, binfmt.ErrVersion},
		{"module cut", one[:data+2], int64(data), binfmt.ErrTruncated},
		{"end cut", one[:len(one)-1], 0, binfmt.ErrTruncated},
		{"end cut in a section", inObject(joined(filler(5), one[:len(one)-1])), 65, binfmt.ErrTruncated},
		{"module data in the header", patched(one, atModuleData, 0x70), atModuleData, binfmt.ErrCorrupt},
		{"module data far away", patched(one, atModuleData, 0xffffffff), 0xffffffff, binfmt.ErrTruncated},
		{"module of no size", patched(one, data, 0x37), int64(data), binfmt.ErrCorrupt},
		{"module too large", patched(one, data, 0xffffffff), 0, binfmt.ErrTruncated},
		{"too many modules", patched(one, atModuleCount, maxModules+1), atModuleCount, binfmt.ErrLimit},
		{"more modules than entries", patched(one, atModuleCount, 4096), atModuleData, binfmt.ErrCorrupt},
	} {
		found, err := find(tc.carrier)
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v; want one SPD", tc.name, found, err)
			continue
		}
		var defect *binfmt.Error
		if f := found[0]; f.Size != 0 || !errors.Is(f.Err, tc.kind) || !errors.As(f.Err, &defect) || defect.Offset != tc.offset {
			t.Errorf("%s: size %d, %v; want %v at %#x", tc.name, f.Size, f.Err, tc.kind, tc.offset)
		}
	}
}

// TestDamagedCarriers has carriers with a defect; what is sound is found.
// TestCutSignatures: a file that ends in the bytes that tell its kind is one
// that was cut off, wherever that is.
func TestCutSignatures(t *testing.T) {
	for kind, data := range map[string][]byte{
		"SPD":                  smallSPD(t, "one.exe", 1),
		"SPD of other version": []byte("H_Q_\x0d\x10\x00\x00"),
		"PDB":                  msftest.PDB{}.Bytes(),
		"image":                pe(section{".text", filler(300), 0}),
		"object":               coff(false, section{".text", filler(30), 0})[:19],
		"library":              []byte(archiveStart),
	} {
		for n := range min(len(data), 32) {
			found, err := find(data[:n])
			if len(found) == 1 {
				err = found[0].Err
			}
			if kind == "object" && n == 1 {
				continue // could be anything
			}
			if !errors.Is(err, binfmt.ErrTruncated) {
				t.Errorf("%s of %d bytes: %v", kind, n, err)
			}
		}
	}
	if _, err := find([]byte("some text")); !errors.Is(err, binfmt.ErrMagic) {
		t.Errorf("text: %v", err)
	}
}

func TestDamagedCarriers(t *testing.T) {
	one := smallSPD(t, "one.exe", 1)
	object := coff(false, section{".spgo", one, 0}, section{".last", filler(100), 0})
	lib := library(member{"a.obj", object}, member{"b.obj", object})
	image := pe(section{".spgo", one, 0}, section{".last", filler(100), 0})
	const table = coffHeader + sectionEntry // of the second section
	for _, tc := range []struct {
		name    string
		carrier []byte
		offset  int64
		kind    error
		found   int
	}{
		{"empty file", nil, 0, binfmt.ErrTruncated, 0},
		{"text", []byte("hello world"), 0, binfmt.ErrMagic, 0},
		{"ELF", []byte("\x7fELF\x02\x01\x01"), 0, binfmt.ErrMagic, 0},
		{"thin archive", []byte(thinStart), 0, binfmt.ErrUnsupported, 0},
		{"old PDB", []byte("Microsoft C/C++ program database 2.00\r\n\x1aJG"), 0, binfmt.ErrUnsupported, 0},
		{"compressed PDB", []byte("Microsoft MSFZ Container\r\n"), 0, binfmt.ErrUnsupported, 0},
		{"cut PDB", msftest.PDB{}.Bytes()[:40], 0, binfmt.ErrTruncated, 0},
		{"DOS program", append([]byte("MZ"), make([]byte, 62)...), 0, binfmt.ErrMagic, 0},
		{"section table cut", object[:30], coffHeader, binfmt.ErrTruncated, 0},
		{"section cut", object[:len(object)-100], int64(coffHeader + 2*sectionEntry + len(one)), binfmt.ErrTruncated, 1},
		{"section outside", patched(object, table+20, 1<<31), 1 << 31, binfmt.ErrTruncated, 1},
		{"sections overlap", patched(patched(object, table+16, uint32(len(one)+90)), table+20, 100), 100, binfmt.ErrCorrupt, 1},
		{"big section count", patched(coff(true, section{".spgo", one, 0}), 44, 0xffffffff), bigHeader, binfmt.ErrTruncated, 0},
		{"image cut", image[:len(image)-60], int64(len(image) - 100), binfmt.ErrTruncated, 1},
		{"member header cut", lib[:len(lib)-len(object)-20], int64(len(lib) - len(object) - 60), binfmt.ErrTruncated, 1},
		{"member size", bytes.Replace(lib, []byte(fmt.Sprintf("%-10d`\n", len(object))), []byte("-1        `\n"), 1), 0, binfmt.ErrCorrupt, 0},
		{"member cut", lib[:len(lib)-1], int64(len(lib) - len(object)), binfmt.ErrTruncated, 2},
		{"member end", bytes.Replace(lib, []byte(memberEnd), []byte("xx"), 1), 8, binfmt.ErrCorrupt, 0},
	} {
		found, err := find(tc.carrier)
		var defect *binfmt.Error
		if !errors.Is(err, tc.kind) || !errors.As(err, &defect) || defect.Offset != tc.offset && tc.offset != 0 {
			t.Errorf("%s: %v; want %v at %#x", tc.name, err, tc.kind, tc.offset)
		}
		if len(found) != tc.found {
			t.Errorf("%s: %d SPDs, want %d", tc.name, len(found), tc.found)
		}
	}
}

// TestHostileCarriers has carriers that ask for much work or many results.
func TestHostileCarriers(t *testing.T) {
	full := coff(false, section{".data", bytes.Repeat(start, 100000), 0})
	found, err := find(full)
	if len(found) != maxFound || !errors.Is(err, binfmt.ErrLimit) {
		t.Errorf("%d SPDs, %v; want %d and a limit", len(found), err, maxFound)
	}
	// Sections that are all the same megabyte, and one that is too late for it.
	sections := make([]section, 3000)
	overlapping := coff(true, append(sections, section{".data", filler(1 << 20), 0})...)
	for i := range sections {
		at := bigHeader + sectionEntry*i
		binary.LittleEndian.PutUint32(overlapping[at+16:], 1<<20)
		binary.LittleEndian.PutUint32(overlapping[at+20:], uint32(bigHeader+sectionEntry*3001))
	}
	found, err = find(overlapping)
	if len(found) != 0 || !errors.Is(err, binfmt.ErrCorrupt) {
		t.Errorf("%d SPDs, %v; want overlapping sections", len(found), err)
	}
	if n := strings.Count(err.Error(), "\n"); n > maxErrors {
		t.Errorf("%d lines of defects", n)
	}
	if !strings.Contains(err.Error(), "further defects") {
		t.Errorf("defects are dropped in silence: %v", err)
	}
}

// TestRecorded embeds a real SPD in each kind and takes it out again.
func TestRecorded(t *testing.T) {
	want, err := os.ReadFile(corpus.Path(t, "corpus", "spd", "map-9ad16a75.spd"))
	if err != nil {
		t.Fatal(err)
	}
	for name, carrier := range map[string][]byte{
		"SPD":     want,
		"PDB":     msftest.PDB{BlockSize: 1024, Named: []msftest.Stream{{Name: "spd", Data: want}}}.Bytes(),
		"image":   pe(section{".text", filler(99), 0}, section{".spgo", joined(filler(17), want), 0}),
		"object":  coff(false, section{".spgo", want, 0}),
		"library": library(member{"map.obj", coff(true, section{".spgo", want, 0})}),
	} {
		found, err := find(carrier)
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", name, found, err)
		}
		if !bytes.Equal(read(t, found[0]), want) {
			t.Errorf("%s: the SPD came out changed", name)
		}
	}
}

func FuzzFind(f *testing.F) {
	one := smallSPD(f, "one.exe", 2)
	object := coff(false, section{".a_name_of_some_length", one, 0}, section{".bss", nil, uninitialized})
	f.Add(one)
	f.Add(msftest.PDB{BlockSize: 512, Named: []msftest.Stream{{Name: "spd", Data: one}}}.Bytes())
	f.Add(pe(section{".spgo", one, 0}))
	f.Add(object)
	f.Add(coff(true, section{".spgo", one, 0}))
	f.Add(library(member{"a_rather_long_name.obj", object}, member{"import", importMember()}, member{"x", anonymous(one)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := find(data)
		for _, one := range found {
			if one.Err != nil {
				continue
			}
			b := read(t, one)
			if int64(len(b)) != one.Size || one.Size > int64(len(data)) {
				t.Fatalf("%q: %d bytes of %d", one.Where, len(b), one.Size)
			}
			if again, err := find(b); err != nil || len(again) != 1 || again[0].Size != one.Size {
				t.Fatalf("%q is not found again: %v, %v", one.Where, again, err)
			}
		}
		same, sameErr := find(data)
		if diff := cmp.Diff(summary(found, err), summary(same, sameErr)); diff != "" {
			t.Error(diff)
		}
	})
}

// summary is what a search gave, as text.
func summary(found []Found, err error) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintln(&b, f.Where, f.Offset, f.Size, f.Version, f.Err)
	}
	return fmt.Sprint(b.String(), err)
}
