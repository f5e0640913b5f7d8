package pdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

const inlinedSource = `namespace deep { namespace er {
struct Counter { int n; inline int bump(int k); };
inline int Counter::bump(int k) { n += k; return n ^ 3; }
static inline int twice(Counter &c) {
  int x = c.bump(2);
  return x + c.bump(x);
}
} }
static inline int cold(int x) { while (x & 1) x = x * 3 + 1; return x / 7; }
union Both { int i; float f; int get() { volatile int k = i; return k * 3; } };
extern "C" int entry(int a) {
  deep::er::Counter c = {a};
  int r = deep::er::twice(c);
  if (a > 100) r += cold(a) + cold(r);
  Both b; b.i = r;
  return r + b.get();
}
`

func inlinedPDBs(t testing.TB) []string {
	t.Helper()
	clang, link := corpus.Tool(t, "clang-19", "clang"), corpus.Tool(t, "lld-link-19", "lld-link")
	dir := t.TempDir()
	src := filepath.Join(dir, "inlined.cpp")
	writeFile(t, src, inlinedSource)
	var out []string
	for _, target := range []string{"x86_64", "aarch64"} {
		base := filepath.Join(dir, target)
		run(t, clang, "--target="+target+"-pc-windows-msvc", "-O2", "-g", "-gcodeview", "-c", "-o", base+".obj", src)
		run(t, link, "/dll", "/noentry", "/debug", "/opt:noref", "/out:"+base+".dll", "/pdb:"+base+".pdb", base+".obj")
		out = append(out, base+".pdb")
	}
	return out
}

// Each inline site with its inlinee and the pieces of code, as llvm-pdbutil
// prints the annotations.
func TestInlinesAgainstPdbutil(t *testing.T) {
	tool := pdbutil(t)
	for _, name := range append(inlinedPDBs(t), programPDBs(t)...) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := pdb.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			modules, err := f.Modules()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range modules {
				for _, p := range collect(t, f.ModuleInlines(i)) {
					for _, s := range p.Sites {
						id, err := f.IDName(s.Inlinee)
						if err != nil {
							t.Fatal(err)
						}
						short := id[strings.LastIndex(id, ":")+1:]
						text := fmt.Sprintf("%d %#x %s", s.Depth, s.Inlinee, short)
						for _, r := range s.Ranges {
							text += fmt.Sprintf(" %#x", r.Offset-p.Offset)
							if r.Length != 0 {
								text += fmt.Sprintf("+%#x", r.Length)
							}
							text += fmt.Sprintf(":%d", int32(r.Line-s.Line))
						}
						got = append(got, text)
					}
				}
			}
			want := listedSites(t, run(t, tool, "dump", "-symbols", name))
			if diff := gocmp.Diff(want, got); diff != "" || len(got) == 0 {
				t.Errorf("inline sites (-want +got):\n%s", diff)
			}
		})
	}
}

var (
	siteRow = regexp.MustCompile(`^ *\d+ \| S_INLINESITE \[`)
	endRow  = regexp.MustCompile(`^ *\d+ \| S_INLINESITE_END `)
	ofRow   = regexp.MustCompile(`inlinee = (0x[0-9A-F]+) \((.*)\), parent`)
	codeAt  = regexp.MustCompile(`code (0x[0-9A-F]+|0)`)
	codeEnd = regexp.MustCompile(`code end (0x[0-9A-F]+|0)`)
	lineAt  = regexp.MustCompile(`line (-?\d+)`)
)

// listedSites turns the peer's list of annotations into the pieces of code.
func listedSites(t *testing.T, text string) []string {
	number := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var out []string
	depth := 0
	type piece struct {
		at, length uint64
		line       string
		open       bool
	}
	var pieces []piece
	var head string
	line := "0"
	flush := func() {
		if head == "" {
			return
		}
		for _, p := range pieces {
			head += fmt.Sprintf(" %#x", p.at)
			if p.length != 0 {
				head += fmt.Sprintf("+%#x", p.length)
			}
			head += ":" + p.line
		}
		out, head, pieces, line = append(out, head), "", nil, "0"
	}
	for _, row := range strings.Split(text, "\n") {
		if strings.Contains(row, " | S_") {
			flush()
		}
		switch {
		case siteRow.MatchString(row):
			depth++
		case endRow.MatchString(row):
			depth--
		case ofRow.MatchString(row):
			m := ofRow.FindStringSubmatch(row)
			name := m[2][strings.LastIndex(m[2], ":")+1:]
			head = fmt.Sprintf("%d %#x %s", depth, number(m[1]), name)
		case head != "":
			last := len(pieces) - 1
			if m := codeEnd.FindStringSubmatch(row); m != nil {
				pieces[last].length, pieces[last].open = number(m[1])-pieces[last].at, false
				continue
			}
			if m := lineAt.FindStringSubmatch(row); m != nil {
				line = m[1]
			}
			if m := codeAt.FindStringSubmatch(row); m != nil {
				at := number(m[1])
				if last >= 0 && pieces[last].open {
					pieces[last].length = at - pieces[last].at
				}
				pieces = append(pieces, piece{at: at, line: line, open: true})
			}
		}
	}
	flush()
	return out
}

func TestIDNames(t *testing.T) {
	f, err := pdb.Open(inlinedPDBs(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]int{}
	for _, p := range collect(t, f.ModuleInlines(0)) {
		for _, s := range p.Sites {
			name, err := f.IDName(s.Inlinee)
			if err != nil {
				t.Fatal(err)
			}
			if seen[name]++; !strings.HasSuffix(s.File, "inlined.cpp") {
				t.Errorf("%s begins in %q", name, s.File)
			}
			want := map[string]uint32{"deep::er::twice": 4, "deep::er::Counter::bump": 3, "cold": 9, "Both::get": 10}[name]
			if s.Line != want {
				t.Errorf("%s begins at line %d, want %d", name, s.Line, want)
			}
		}
	}
	want := map[string]int{"deep::er::twice": 1, "deep::er::Counter::bump": 2, "cold": 2, "Both::get": 1}
	if diff := gocmp.Diff(want, seen); diff != "" {
		t.Errorf("inlined functions (-want +got):\n%s", diff)
	}
	if name, err := f.IDName(7); name != "" || err != nil {
		t.Errorf("name of no id: %q, %v", name, err)
	}
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestModuleCompiler(t *testing.T) {
	f, err := pdb.Open(inlinedPDBs(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, ok, err := f.ModuleCompiler(0)
	if err != nil || !ok || !strings.Contains(c.Name, "clang") || c.Language != 1 || c.LTCG {
		t.Errorf("compiler %+v, %v, %v; want clang for C++", c, ok, err)
	}
	// The linker makes the last module itself.
	modules, err := f.Modules()
	if err != nil {
		t.Fatal(err)
	}
	c, ok, err = f.ModuleCompiler(len(modules) - 1)
	if err != nil || !ok || c.Language != 7 {
		t.Errorf("compiler %+v, %v, %v; want the linker", c, ok, err)
	}
}

// synthetic has a function with one inlined call of each given program of
// annotations, and one call inside of the first.
func synthetic(programs ...[]byte) []byte {
	names, at := msftest.NewNames("a.c", "b.h")
	symbols := msftest.Proc(4, 0x1110, 1, 0x20, 0x100, "f")
	for i, p := range programs {
		site, end := msftest.InlineSite([]uint16{0x114d, 0x115d}[i%2], 0x1000+uint32(i), p...)
		symbols = append(symbols, site...)
		if i == 0 {
			inner, innerEnd := msftest.InlineSite(0x114d, 0x2000, changeCodeOffset(4, 1)...)
			symbols = append(append(symbols, inner...), innerEnd...)
		}
		symbols = append(symbols, end...)
	}
	c13 := append(msftest.Checksums(at...), msftest.Inlinees(msftest.Inlinee{ID: 0x1000, File: 0, Line: 10}, msftest.Inlinee{ID: 0x1001, File: 8, Line: 300})...)
	return msftest.PDB{Names: names, Sections: []msftest.Section{{Name: ".text", VirtualSize: 0x1000, VirtualAddress: 0x1000}},
		Modules: []msftest.Module{{Name: "a.obj", Symbols: symbols, C13: c13}}}.Bytes()
}

// changeCodeOffset makes a range of a size at an offset.
func changeCodeOffset(offset, size byte) []byte { return []byte{3, offset, 4, size} }

func TestAnnotations(t *testing.T) {
	for _, tc := range []struct {
		name        string
		annotations []byte
		want        string
	}{
		{"ranges", []byte{3, 8, 6, 4, 3, 4, 4, 2, 3, 0x10, 4, 1}, "0x8+0x4:10 0xc+0x2:12 0x1e+0x1:12"},
		{"line and offset", []byte{6, 2, 11, 0x73, 4, 5}, "0x3+0x5:8"}, // +1, then code +3, line -3
		{"length and offset", []byte{12, 6, 9, 3, 2, 4, 1}, "0x9+0x6:10 0xb+0x1:10"},
		{"absolute offset", []byte{3, 0x20, 4, 1, 1, 0x10, 4, 4}, "0x20+0x1:10 0x10+0x4:10"},
		{"long numbers", []byte{6, 0x81, 0, 3, 0xc0, 0, 1, 2, 4, 0x80, 0x90}, "0x102+0x90:138"},
		{"other file", []byte{5, 8, 3, 1, 4, 1}, "0x1+0x1:b.h:10"},
		{"columns and ends", []byte{7, 1, 8, 1, 9, 5, 10, 4, 13, 9, 3, 2, 4, 2}, "0x2+0x2:10"},
		{"separated part", []byte{3, 2, 4, 1, 2, 1, 3, 8, 4, 2}, "0x2+0x1:10 part 1 0x8+0x2:10"},
		{"open end", []byte{3, 2}, "0x2+0x0:10"},
		{"nothing behind the end", []byte{3, 2, 4, 1, 0, 0, 3, 9}, "0x2+0x1:10"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			procs := collect(t, mustOpen(t, synthetic(tc.annotations, changeCodeOffset(1, 1))).ModuleInlines(0))
			if len(procs) != 1 || len(procs[0].Sites) != 3 {
				t.Fatalf("functions %+v", procs)
			}
			var got []string
			for _, r := range procs[0].Sites[0].Ranges {
				text := fmt.Sprintf("%#x+%#x:", r.Offset-0x20, r.Length)
				if r.Chunk != 0 {
					text = fmt.Sprintf("part %d %#x+%#x:", r.Chunk, r.Offset, r.Length)
				}
				if r.Mapped != (r.Chunk == 0) {
					t.Errorf("address %+v", r.Address)
				}
				if r.File != "a.c" {
					text += r.File + ":"
				}
				got = append(got, text+fmt.Sprint(r.Line))
			}
			if g := strings.Join(got, " "); g != tc.want {
				t.Errorf("ranges %s, want %s", g, tc.want)
			}
			inner, second := procs[0].Sites[1], procs[0].Sites[2]
			if inner.Depth != 2 || inner.File != "" || second.Depth != 1 || second.File != "b.h" || second.Line != 300 {
				t.Errorf("sites %+v and %+v", inner, second)
			}
		})
	}
}

func TestAnnotationDefects(t *testing.T) {
	for _, tc := range []struct {
		name        string
		annotations []byte
		kind        error
	}{
		{"unknown operation", []byte{14, 0}, binfmt.ErrUnsupported},
		{"bad number", []byte{3, 0xe0, 0, 0}, binfmt.ErrCorrupt},
		{"cut off", []byte{3, 2, 4, 0xc0}, binfmt.ErrTruncated},
		{"no such file", []byte{5, 0x7f, 3, 1}, binfmt.ErrCorrupt},
	} {
		for _, err := range mustOpen(t, synthetic(tc.annotations)).ModuleInlines(0) {
			if !errors.Is(err, tc.kind) {
				t.Errorf("%s: %v, want %v", tc.name, err, tc.kind)
			}
		}
	}
}
