package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/internal/spdgen"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

var one, two = binfmt.GUID{1}, binfmt.GUID{2}

func TestRelation(t *testing.T) {
	want := identity{"app.exe", one, 3}
	for _, tc := range []struct {
		want, have identity
		is         Relation
	}{
		{want, identity{"app.exe", one, 3}, Same},
		{want, identity{"renamed.exe", one, 3}, Same},
		{want, identity{"app.exe", one, 4}, AgeOnly},
		{want, identity{"renamed.exe", one, 4}, AgeOnly},
		{want, identity{"app.exe", two, 3}, Build},
		{want, identity{`C:\out\APP.PDB`, two, 3}, Build},
		{want, identity{"app.v2.exe", two, 3}, Other},
		{want, identity{"other.exe", two, 3}, Other},
		{want, identity{"app.exe", binfmt.GUID{}, 0}, Nameless},
		{want, identity{"other.exe", binfmt.GUID{}, 0}, Other},
		{identity{"app.exe", binfmt.GUID{}, 0}, identity{"app.exe", binfmt.GUID{}, 0}, Nameless},
		{identity{"app.exe", binfmt.GUID{}, 0}, want, Nameless},
	} {
		if got := relation(tc.want, tc.have); got != tc.is {
			t.Errorf("%v and %v: %s, want %s", tc.want, tc.have, got, tc.is)
		}
	}
}

func TestRuns(t *testing.T) {
	file := func(kind, arch string) *Row { return &Row{Kind: kind, Arch: arch} }
	for _, tc := range []struct {
		a, b *Row
		runs bool
	}{
		{file("PE", "x86-64"), file("PDB", "x86-64"), true},
		{file("PE", "x86-64"), file("PDB", "x86"), false},
		{file("PE", "x86-64"), file("etl", "x86_64"), true},
		{file("PE", "x86"), file("etl", "x86_64"), true},
		{file("etl", "x86_64"), file("PE", "x86"), true},
		{file("PE", "x86-64"), file("etl", "x86"), false},
		{file("PE", "x86-64"), file("etl", "aarch64"), true}, // emulated
		{file("ELF", "x86-64"), file("perf.data", "aarch64"), false},
		{file("ELF", "arm"), file("perf.data", "aarch64"), true},
		{file("ELF", "arm64"), file("perf.data", "x86_64"), false},
	} {
		if got := runs(tc.a, tc.b); got != tc.runs {
			t.Errorf("%s %s and %s %s: %v, want %v", tc.a.Kind, tc.a.Arch, tc.b.Kind, tc.b.Arch, got, tc.runs)
		}
	}
}

func TestCommand(t *testing.T) {
	if got, want := command("spdconvert", "", "/mode:IP", "my app.spd"), `spdconvert /mode:IP "my app.spd"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// program is a binary of an SPT or recording.
func program(name string, guid binfmt.GUID, age uint32, counts ...Count) Program {
	return Program{Name: name, GUID: guid, Age: age, Counts: counts}
}

// database is the SPD app.spd of build one.
func database(flags uint32) *SPD {
	f := spdgen.Fresh(1, 4, 4)
	f.Header.GUID, f.Header.Age, f.Header.Flags = one, 3, flags
	return &SPD{File: "app.spd", Content: f}
}

// TestFindings checks which findings, and which verdict, cases have that a
// script does not make.
func TestFindings(t *testing.T) {
	lbr := Count{spt.OpLBR, 1000}
	ip := Count{spt.OpRetireInstr, 500}
	same := func(file string, fit *Fit, counts ...Count) *Samples {
		return &Samples{File: file, Format: "spt", Programs: []Program{program("app.exe", one, 3, counts...)}, Fit: fit}
	}
	fit := func(used, outside, doubtful uint64) *Fit {
		return &Fit{Mode: correlate.LBR, Used: used, Outside: outside, Touched: 10, Doubtful: 4, DoubtfulHits: doubtful, Hits: 100, Factor: 1}
	}
	native := database(spd.HeaderFresh)
	native.Content.Modules[0].Name = spd.ModuleMachine
	timed := &Fit{Mode: correlate.IP, Time: true, Used: 20, Touched: 10, Doubtful: 4, DoubtfulHits: 11, Hits: 100, Factor: 1}
	for _, tc := range []struct {
		name string
		c    Case
		want string // codes, most severe first
		verd Verdict
		next string // part of the next step
	}{
		{"mostly outside", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("a.spt", fit(10, 20, 0), lbr, ip)}},
			"SPD1104 SPD1101", Agree, "compile hot libraries with /GL"},
		{"little outside", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("a.spt", fit(20, 10, 0), lbr, ip)}},
			"SPD1101", Agree, "spdconvert /mode:LBR app.spd a.spt; then link"},
		{"other code", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("a.spt", fit(20, 0, 11), lbr, ip)}},
			"SPD1003 SPD1101", Agree, "spdconvert /summary -v app.spd a.spt"},
		{"other code by time", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("a.spt", timed, Count{spt.OpETWInstr, 500})}},
			"SPD1003 SPD1113 SPD1101", Agree, "spdconvert /summary -v app.spd a.spt"},
		{"kinds do not mix", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("ip.spt", fit(20, 0, 0), ip), same("a b.spt", fit(20, 0, 0), lbr, ip)}},
			"SPD1113 SPD1101", Agree, `spdconvert /mode:LBR app.spd "a b.spt"; then link`},
		{"edited PDB without DBI", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("a.spt", fit(20, 0, 0), lbr, ip)},
			PDBs: []*PDB{{File: "app.pdb", Identity: pdb.Identity{GUID: one, Age: 3, InfoAge: 3}}}},
			"SPD1101", Agree, ""},
		{"PDB counted up by an incremental link", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("a.spt", fit(20, 0, 0), lbr, ip)},
			PDBs: []*PDB{{File: "app.pdb", Identity: pdb.Identity{GUID: one, Age: 4, InfoAge: 4, DBIAge: 4, HasDBI: true}}}},
			"SPD0302", Differs, "link without /INCREMENTAL"},
		{"recording of another age", Case{SPDs: []*SPD{database(spd.HeaderFresh)},
			Traces: []*Samples{{File: "run.etl", Format: "etl", Programs: []Program{program("app.exe", one, 4, lbr)}}}},
			"SPD0302", Differs, "sptaggregate /binary:app.exe /etl run.etl app.spt"},
		{"recording without program", Case{SPDs: []*SPD{database(spd.HeaderFresh)},
			Traces: []*Samples{{File: "run.etl", Format: "etl", Programs: []Program{program("x.dll", two, 4, lbr)}}}},
			"SPD0303", Differs, "Record again while app.exe runs"},
		{"recording without build ids", Case{SPDs: []*SPD{database(spd.HeaderFresh)},
			Traces: []*Samples{{File: "run.data", Format: "perf.data", Programs: []Program{program("app.exe", binfmt.GUID{}, 0, lbr)}}}},
			"SPD0304", Differs, "--image-path"},
		{"several programs are expected", Case{SPDs: []*SPD{database(spd.HeaderFresh)},
			SPTs: []*Samples{{File: "a.spt", Format: "spt", Programs: []Program{program("x.dll", two, 4, lbr), program("app.exe", one, 3, lbr, ip)}, Fit: fit(20, 0, 0)}}},
			"SPD1101", Agree, "spdconvert /mode:LBR app.spd a.spt"},
		{"renamed image", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, SPTs: []*Samples{same("a.spt", fit(20, 0, 0), lbr, ip)},
			Images: []*Image{{File: "old.exe", Kind: image.KindPE, PDB: `C:\b\app.pdb`, ID: image.ID{GUID: two, Age: 1}}}},
			"SPD0301", Differs, "Record and link the same build"},
		{"another build of machine code", Case{SPDs: []*SPD{native}, Images: []*Image{{File: "old/app.exe", Kind: image.KindPE, ID: image.ID{GUID: two, Age: 1}}},
			SPTs: []*Samples{{File: "a.spt", Format: "spt", Programs: []Program{program("app.exe", two, 1, lbr)}}}},
			"SPD0301", Differs, "spdconvert /build:old/app.exe other.spd"},
		{"damage and a mismatch", Case{SPDs: []*SPD{database(spd.HeaderFresh)}, Failed: []*diag.Error{diag.New(diag.Truncated, "cut").In("cut.spt")},
			Images: []*Image{{File: "app.exe", Kind: image.KindPE, ID: image.ID{GUID: two, Age: 1}}}},
			"SPT0112 SPD0301", Differs, "Record and link the same build"},
		{"nothing at all", Case{}, "SPD0310", Unused, "Name the SPD"},
	} {
		r := Examine(&tc.c)
		var codes []string
		for _, f := range r.Findings {
			codes = append(codes, string(f.Code))
			if (f.Exit() != diag.OK) != (f.Severity == Error) {
				t.Errorf("%s: %s is of severity %s and leads to exit code %d", tc.name, f.Code, f.Severity, f.Exit())
			}
			if f.Cause == "" || f.Next == "" || strings.Contains(f.Next, "%!") || strings.Contains(f.Message, "%!") {
				t.Errorf("%s: %s lacks a text: %+v", tc.name, f.Code, f.Error)
			}
		}
		if got := strings.Join(codes, " "); got != tc.want || r.Verdict != tc.verd || !strings.Contains(r.Next, tc.next) {
			t.Errorf("%s:\n got %s, %s, %q\nwant %s, %s, %q", tc.name, got, r.Verdict, r.Next, tc.want, tc.verd, tc.next)
		}
		again := Examine(&tc.c)
		if d := cmp.Diff(r.Text+r.Next, again.Text+again.Next); d != "" {
			t.Errorf("%s: a second examination differs: %s", tc.name, d)
		}
	}
}

// TestTally checks that each recording begins anew and that sinks add up.
func TestTally(t *testing.T) {
	tally := NewTally()
	app := tally.Register(sample.Binary{Name: "app", GUID: one})
	lib := tally.Register(sample.Binary{Name: "lib", GUID: two})
	if again := tally.Register(sample.Binary{Name: "app", GUID: one}); again != app {
		t.Errorf("the same binary has the numbers %d and %d", app, again)
	}
	a, b := tally.NewSink(), tally.NewSink()
	a.IP(app, byte(spt.OpUnhaltCycle), 0x10, 2)
	b.IP(app, byte(spt.OpUnhaltCycle), 0x20, 3)
	b.Branches(lib, make([]sample.Branch, 4), 5)
	b.Calls(lib, []uint32{1, 2, 3}, 1)
	want := []Program{
		{Name: "lib", GUID: two, Counts: []Count{{spt.OpLBR, 20}, {spt.OpETWCallStack, 1}}},
		{Name: "app", GUID: one, Counts: []Count{{spt.OpUnhaltCycle, 5}}},
	}
	if d := cmp.Diff(want, tally.Take()); d != "" {
		t.Errorf("programs (-want +got):\n%s", d)
	}
	if left := tally.Take(); len(left) > 0 {
		t.Errorf("programs are left: %v", left)
	}
}

// TestReadSPT checks that the nearest program of an SPT is correlated, and
// that an import can be interrupted.
func TestReadSPT(t *testing.T) {
	f := spdgen.Fresh(1, 20, 10)
	w := spdgen.NewProgram(f).Run(1, 50)
	var b strings.Builder
	if err := w.WriteSPT(&b, spdgen.Sampling{Kind: spdgen.LBR, PerFunction: 20, Depth: 8}); err != nil {
		t.Fatal(err)
	}
	open := func() *spt.Reader {
		r, err := spt.NewReader(strings.NewReader(b.String()), int64(b.Len()), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	subject := &SPD{File: "app.spd", Content: f}
	s, err := ReadSPT("a.spt", open())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Correlate(context.Background(), open(), subject); err != nil {
		t.Fatal(err)
	}
	if s.Fit == nil || s.Fit.Mode != correlate.LBR || s.Fit.Used == 0 || s.Fit.Outside > 0 || s.Fit.Touched == 0 {
		t.Errorf("fit of the own program: %+v", s.Fit)
	}
	if n := s.Programs[0].Hits(); s.Fit.Used != n {
		t.Errorf("%d samples are used of %d", s.Fit.Used, n)
	}
	other := spdgen.Fresh(1, 20, 10)
	other.Header.GUID[0]++
	if err := s.Correlate(context.Background(), open(), &SPD{Content: other}); err != nil || s.Fit != nil {
		t.Errorf("another build: fit %+v, error %v", s.Fit, err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Correlate(cancelled, open(), subject); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}

// TestSubject checks that the order of the files does not matter: what they
// are compared with is the SPD that most of them are of the build of.
func TestSubject(t *testing.T) {
	a, b := database(spd.HeaderFresh), database(spd.HeaderFresh)
	b.Content.Header.GUID = two
	inside := database(spd.HeaderFresh)
	inside.Where = "stream 5"
	of := func(guid binfmt.GUID) *Image { return &Image{File: "app.exe", ID: image.ID{GUID: guid, Age: 3}} }
	for _, tc := range []struct {
		c    Case
		want *SPD
	}{
		{Case{}, nil},
		{Case{SPDs: []*SPD{a, b}}, a},
		{Case{SPDs: []*SPD{b, a}}, b},
		{Case{SPDs: []*SPD{a, b}, Images: []*Image{of(two)}}, b},
		{Case{SPDs: []*SPD{b, a}, Images: []*Image{of(two), of(one)}}, b},
		{Case{SPDs: []*SPD{b, a}, Images: []*Image{of(one)}, SPTs: []*Samples{{Programs: []Program{program("app.exe", one, 3)}}}, Traces: []*Samples{{Programs: []Program{program("app.exe", two, 3)}}}}, a},
		{Case{SPDs: []*SPD{inside, b}, Images: []*Image{of(one)}}, b},
		{Case{SPDs: []*SPD{inside}}, inside},
	} {
		if got := tc.c.Subject(); got != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.c, got, tc.want)
		}
	}
}
