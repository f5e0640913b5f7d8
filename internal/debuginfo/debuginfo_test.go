package debuginfo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/program"
)

// functions returns all functions that the debug information has.
func functions(t *testing.T, info *Info) []program.Function {
	t.Helper()
	var out []program.Function
	for n := range info.sources {
		u := info.load(n)
		if u == nil {
			t.Fatalf("unit %d: %v", n, info.problems)
		}
		for _, p := range u.procs.list {
			if s := p.value; p.Start == s.ranges[0].Start {
				out = append(out, program.Function{Name: s.name, Ranges: s.ranges})
			}
		}
	}
	return out
}

// callsAt returns the names of the inlined calls at an address, outermost first,
// and where each one stands.
func callsAt(list []program.Inline, rva uint32) []Frame {
	for _, n := range list {
		if program.Containing(n.Ranges, rva) >= 0 {
			return append([]Frame{{Function: n.Name, File: n.CallFile, Line: n.CallLine, Discriminator: n.Discriminator}}, callsAt(n.Children, rva)...)
		}
	}
	return nil
}

// At each byte of each function the tree of inlined calls says what the stack
// says.
func TestTreesAgreeWithStacks(t *testing.T) {
	dll, pdb := builtWindows(t, "x86_64")
	for _, tc := range []struct{ name, file, debug string }{
		{"shapes", corpus.Path(t, "programs", "shapes.elf"), ""},
		{"minivm", corpus.Path(t, "programs", "minivm.elf"), ""},
		{"windows", dll, pdb},
	} {
		t.Run(tc.name, func(t *testing.T) {
			img, info := openInfo(t, tc.file, tc.debug)
			fns := functions(t, info)
			inlined, bytes := 0, 0
			for _, fn := range fns {
				tree := info.Inlines(fn)
				checkTree(t, tree, program.Union(fn.Ranges))
				for _, r := range fn.Ranges {
					for rva := r.Start; rva < r.End; rva++ {
						stack := info.Stack(rva)
						calls := callsAt(tree, rva)
						if bytes++; len(calls) > 0 {
							inlined++
						}
						if len(stack) != len(calls)+1 || stack[len(calls)].Function != fn.Name {
							t.Fatalf("%s at %#x: stack %+v, calls %+v", fn.Name, img.Base+uint64(rva), stack, calls)
						}
						slices.Reverse(stack)
						for i, c := range calls {
							// A PDB gives the line of a call for its first byte only.
							if stack[i+1].Function != c.Function || tc.debug == "" && (stack[i].File != c.File || stack[i].Line != c.Line || stack[i].Discriminator != c.Discriminator) {
								t.Fatalf("%s at %#x: stack %+v, calls %+v", fn.Name, img.Base+uint64(rva), stack, calls)
							}
						}
					}
				}
			}
			if t.Logf("%d functions, %d of %d bytes inlined", len(fns), inlined, bytes); inlined < 50 {
				t.Error("nothing is inlined")
			}
		})
	}
}

func TestUnits(t *testing.T) {
	_, info := openInfo(t, corpus.Path(t, "programs", "shapes.elf"), "")
	const cpp14 = 0x21
	u, ok := info.Unit(0x1190)
	if !ok || u.Name != "shapes.cpp" || u.Language != cpp14 || !strings.Contains(u.Producer, "clang version 19") {
		t.Errorf("unit %+v, %v", u, ok)
	}
	if _, ok := info.Unit(0x10); ok || info.Stack(0x10) != nil {
		t.Error("a unit where there is no code")
	}
	_, windows := openInfo(t, corpus.Path(t, "programs", "pe", "minivm.exe"), corpus.Path(t, "programs", "pe", "minivm.pdb"))
	u, ok = windows.Unit(0x1600)
	if !ok || baseName(u.Name) != "minivm.o" || u.Language != 0x0c || !strings.Contains(u.Producer, "clang version 19") {
		t.Errorf("unit %+v, %v", u, ok)
	}
	if s := windows.Stats(); s.Units < 20 || s.Broken != 0 || s.Split != 0 {
		t.Errorf("stats %+v, want the runtime library's units", s)
	}
}

// Of split units whose descriptions are gone lines are left.
func TestSplitDWARF(t *testing.T) {
	file := built(t, corpus.Tool(t, "clang++-19", "clang++"), "-O2", "-g", "-gsplit-dwarf", "-fno-split-dwarf-inlining")
	lost, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.dwo"))
	if err != nil || len(lost) != 1 || os.Remove(lost[0]) != nil {
		t.Fatalf("descriptions: %q, %v", lost, err)
	}
	img, info := openInfo(t, file, "")
	if s := info.Stats(); s.Split != 1 || s.Units < 1 || len(s.Missing) != 1 {
		t.Errorf("stats %+v, want a split unit", s)
	}
	lines := 0
	for _, a := range codeAddresses(img, 4) {
		if s := info.Stack(uint32(a - img.Base)); len(s) == 1 && s[0].Line > 0 && s[0].Function == "" {
			lines++
		}
	}
	if lines < 100 {
		t.Errorf("%d addresses with lines", lines)
	}
}

func row(start, end, line uint32) Row {
	return Row{Range: program.Range{Start: start, End: end}, Line: line}
}

func TestRows(t *testing.T) {
	got := rows{row(20, 30, 3), row(10, 20, 1), row(12, 25, 2), row(20, 22, 4), row(40, 40, 5)}.normalize()
	if diff := gocmp.Diff(rows{row(10, 12, 1), row(12, 20, 2), row(20, 22, 4)}, got); diff != "" {
		t.Errorf("normalized (-want +got):\n%s", diff)
	}
	base := rows{row(10, 20, 1), row(20, 30, 2), row(40, 50, 3)}
	got = base.overlay(rows{row(5, 7, 10), row(12, 14, 11), row(16, 25, 12), row(44, 46, 13), row(60, 70, 14)})
	want := rows{row(5, 7, 10), row(10, 12, 1), row(12, 14, 11), row(14, 16, 1), row(16, 25, 12), row(25, 30, 2), row(40, 44, 3), row(44, 46, 13), row(46, 50, 3), row(60, 70, 14)}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("overlaid (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff([]Row{row(18, 20, 1), row(20, 30, 2), row(40, 41, 3)}, base.within(program.Range{Start: 18, End: 41})); diff != "" {
		t.Errorf("within (-want +got):\n%s", diff)
	}
	if _, ok := base.at(30); ok {
		t.Error("a row between rows")
	}
}

func TestIntervals(t *testing.T) {
	var s intervals[string]
	s.add(program.Range{Start: 10, End: 100}, "outer")
	s.add(program.Range{Start: 20, End: 30}, "inner")
	s.add(program.Range{Start: 20, End: 40}, "second")
	s.add(program.Range{Start: 200, End: 210}, "far")
	s.build()
	for rva, want := range map[uint32]string{9: "", 10: "outer", 19: "outer", 20: "inner", 29: "inner", 30: "second", 39: "second", 40: "outer", 99: "outer", 100: "", 205: "far", 210: ""} {
		if got, _ := s.at(rva); got != want {
			t.Errorf("at %d: %q, want %q", rva, got, want)
		}
	}
	if got := strings.Join(s.all(25), " "); got != "second inner outer" {
		t.Errorf("all at 25: %s", got)
	}
}
