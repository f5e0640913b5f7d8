package funcs

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
)

// Pieces as sources give them and the functions that come out: name, ranges,
// source, aliases.
func TestMerge(t *testing.T) {
	const (
		sym = program.Symtab
		eh  = program.EHFrame
		pd  = program.Pdata
		pdb = program.PDB
	)
	for _, tc := range []struct {
		name   string
		pieces []piece
		limits []uint32
		want   []string
		skip   string // source and reason of what is left out
	}{
		{"confirmed", []piece{{start: 100, end: 120, source: eh}, {start: 100, end: 118, name: "a", source: sym}}, nil,
			[]string{"a [100,118) symtab"}, ""},
		{"no symbols", []piece{{start: 200, end: 220, source: eh}, {start: 100, end: 120, source: eh}}, nil,
			[]string{" [100,120) eh-frame", " [200,220) eh-frame"}, ""},
		{"aliases", []piece{{start: 100, end: 120, name: "b", source: sym}, {start: 100, end: 120, name: "a", source: sym, weight: 1}, {start: 100, end: 120, name: "b", source: sym}}, nil,
			[]string{"b [100,120) symtab = a"}, ""},
		{"longest alias", []piece{{start: 100, end: 105, name: "a", source: sym}, {start: 100, end: 120, name: "b", source: sym}}, nil,
			[]string{"a [100,120) symtab = b"}, ""},
		{"no size", []piece{{start: 100, name: "a", source: sym}, {start: 150, end: 160, name: "b", source: sym}, {start: 190, name: "c", source: sym}}, nil,
			[]string{"a [100,150) symtab", "b [150,160) symtab", "c [190,1000) symtab"}, ""},
		{"size from a worse source", []piece{{start: 100, name: "a", source: sym}, {start: 100, end: 130, source: eh}, {start: 150, end: 160, name: "b", source: sym}}, nil,
			[]string{"a [100,130) symtab", "b [150,160) symtab"}, ""},
		{"no size, module ends", []piece{{start: 100, name: "a", source: pdb}, {start: 500, end: 510, name: "b", source: pdb}}, []uint32{100, 140, 600},
			[]string{"a [100,140) pdb", "b [500,510) pdb"}, ""},
		{"label inside", []piece{{start: 100, end: 200, source: eh}, {start: 150, name: "label", source: sym, label: true}}, nil,
			[]string{" [100,200) eh-frame"}, "symtab: label inside of a function"},
		{"function without size inside of a worse source", []piece{{start: 100, end: 200, source: eh}, {start: 150, name: "f", source: sym}}, nil,
			[]string{" [100,150) eh-frame", "f [150,1000) symtab"}, ""},
		{"nested", []piece{{start: 100, end: 200, name: "outer", source: sym}, {start: 140, end: 160, name: "inner", source: sym}}, nil,
			[]string{"outer [100,140) [160,200) symtab", "inner [140,160) symtab"}, ""},
		{"overlap", []piece{{start: 100, end: 150, name: "a", source: sym}, {start: 140, end: 160, name: "b", source: sym}}, nil,
			[]string{"a [100,140) symtab", "b [140,160) symtab"}, ""},
		{"worse starts inside", []piece{{start: 100, end: 150, name: "a", source: sym}, {start: 140, end: 160, source: eh}}, nil,
			[]string{"a [100,150) symtab"}, "eh-frame: inside of a better known function"},
		{"worse is covered", []piece{{start: 100, end: 150, name: "a", source: sym}, {start: 140, end: 145, source: eh}}, nil,
			[]string{"a [100,150) symtab"}, "eh-frame: covered by better known functions"},
		{"worse reaches in", []piece{{start: 100, end: 150, source: eh}, {start: 120, end: 130, name: "a", source: sym}, {start: 140, end: 160, name: "b", source: sym}}, nil,
			[]string{" [100,120) [130,140) eh-frame", "a [120,130) symtab", "b [140,160) symtab"}, ""},
		{"part", []piece{{start: 100, end: 150, name: "a", source: sym}, {start: 500, end: 520, name: "a.cold", source: sym, part: true, parent: 100}, {start: 500, end: 520, source: eh}}, nil,
			[]string{"a [100,150) [500,520) symtab"}, ""},
		{"part in front", []piece{{start: 200, end: 250, name: "a", source: sym}, {start: 100, end: 120, source: pd, part: true, parent: 200}}, nil,
			[]string{"a [200,250) [100,120) symtab"}, ""},
		{"part that touches", []piece{{start: 200, end: 250, name: "a", source: sym}, {start: 250, end: 270, source: pd, part: true, parent: 200}, {start: 180, end: 200, source: pd, part: true, parent: 210}}, nil,
			[]string{"a [200,270) [180,200) symtab"}, ""},
		{"part of a part", []piece{{start: 100, end: 120, source: pd}, {start: 200, end: 220, source: pd, part: true, parent: 100}, {start: 300, end: 320, source: pd, part: true, parent: 200}}, nil,
			[]string{" [100,120) [200,220) [300,320) pdata"}, ""},
		{"part of nothing", []piece{{start: 200, end: 220, source: pd, part: true, parent: 100}}, nil,
			nil, "pdata: part of an unknown function"},
		{"parts of each other", []piece{{start: 200, end: 220, source: pd, part: true, parent: 300}, {start: 300, end: 320, source: pd, part: true, parent: 200}}, nil,
			nil, "pdata: part of an unknown function"},
		{"plain name", []piece{{start: 100, end: 120, name: "n::f", hint: true, weight: 1, source: pdb}, {start: 100, name: "?f@n@@YAXXZ", source: pdb}}, nil,
			[]string{"?f@n@@YAXXZ [100,120) pdb"}, ""},
		{"only a plain name", []piece{{start: 100, end: 120, name: "f", hint: true, source: pdb}}, nil,
			[]string{"f [100,120) pdb"}, ""},
		{"plain name and export", []piece{{start: 100, end: 120, name: "f", hint: true, source: pdb}, {start: 100, name: "exported", source: program.Dynsym, label: true}}, nil,
			[]string{"exported [100,120) pdb"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &finder{code: []program.Range{{Start: 50, End: 1000}}, limits: tc.limits}
			for _, p := range tc.pieces {
				size := uint64(0)
				if p.end != 0 {
					size = uint64(p.end - p.start)
				}
				f.add(p, uint64(p.start), size)
			}
			fns := f.merge()
			var got []string
			for _, fn := range fns {
				line := fn.Name
				for _, r := range fn.Ranges {
					line += fmt.Sprintf(" [%d,%d)", r.Start, r.End)
				}
				line += " " + fn.Source.String()
				if len(fn.Aliases) > 0 {
					line += " = " + strings.Join(fn.Aliases, " ")
				}
				got = append(got, line)
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("functions (-want +got):\n%s", diff)
			}
			var skipped []string
			for s := range f.report.Skipped {
				for r, n := range f.report.Skipped[s] {
					if n > 0 {
						skipped = append(skipped, fmt.Sprintf("%v: %v", program.Source(s), Reason(r)))
					}
				}
			}
			if got := strings.Join(skipped, "; "); got != tc.skip {
				t.Errorf("skipped %q, want %q", got, tc.skip)
			}
			checkInvariants(t, &image.File{}, fns, f.report)
		})
	}
}

func TestPiecesOutsideOfCode(t *testing.T) {
	f := &finder{code: []program.Range{{Start: 50, End: 100}, {Start: 200, End: 300}}}
	f.add(piece{source: program.Symtab}, 10, 5)
	f.add(piece{source: program.Symtab}, 100, 5)
	f.add(piece{source: program.Symtab}, 1<<32, 5)
	f.add(piece{source: program.Symtab, name: "a"}, 90, 50)
	f.add(piece{source: program.Symtab, name: "b"}, 200, 1<<63)
	fns := f.merge()
	if r := f.report; r.Skipped[program.Symtab][OutsideCode] != 2 || r.Skipped[program.Symtab][BeyondRange] != 1 || r.Cut[program.Symtab] != 2 {
		t.Errorf("report %+v", r)
	}
	if got := fmt.Sprint(fns[0].Ranges, fns[1].Ranges); len(fns) != 2 || got != "[{90 100}] [{200 300}]" {
		t.Errorf("functions %v", got)
	}
}

func TestPartOf(t *testing.T) {
	for name, want := range map[string]string{
		"f.cold": "f", "f.cold.3": "f", "f.constprop.0.cold": "f.constprop.0", "f.__part.2": "f",
		"f.part.0": "", "f.llvm.123": "", ".cold": "", "f": "", "f.cold.x": "", "scold": "", "f.isra.0": "",
	} {
		if got, ok := partOf(name); got != want || ok != (want != "") {
			t.Errorf("partOf(%q) = %q, %v; want %q", name, got, ok, want)
		}
	}
}

func TestPartsByUnit(t *testing.T) {
	names := symbolNames{map[string][]namedAt{
		"f": {{10, "a.c", true}, {20, "b.c", true}},
		"g": {{30, "", false}},
		"h": {{40, "", false}, {40, "", false}},
	}}
	for _, tc := range []struct {
		name, unit string
		want       uint64
		ok         bool
	}{{"f", "a.c", 10, true}, {"f", "b.c", 20, true}, {"f", "c.c", 0, false}, {"g", "a.c", 30, true}, {"h", "", 40, true}, {"i", "", 0, false}} {
		if got, ok := names.find(tc.name, tc.unit); got != tc.want || ok != tc.ok {
			t.Errorf("%s of %s: %d, %v; want %d, %v", tc.name, tc.unit, got, ok, tc.want, tc.ok)
		}
	}
}
