package doctor

import (
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/spdgen"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// profiled is an SPD of 30 functions, of which the first hot ones have counts:
// in all of their blocks, or in the first one with code alone.
func profiled(module string, hot int, whole bool) *SPD {
	f := spdgen.Fresh(1, 30, 8)
	f.Header.GUID, f.Header.Age, f.Header.Flags = one, 3, spd.HeaderImported
	f.Modules[0].Name = module
	for i := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[i]
		if len(fn.Blocks) < 4 || hot == 0 {
			continue
		}
		hot--
		for k := range fn.Blocks {
			if whole || fn.Blocks[k].OwnInstructions() > 0 {
				fn.Blocks[k].Count = 1000
			}
			if !whole && fn.Blocks[k].Count > 0 {
				break
			}
		}
	}
	f.Header.Statistics = f.ComputeStatistics()
	return &SPD{File: "app.spd", Content: f}
}

// TestCoverageOf judges profiles of the linker by all of their blocks, and
// those of machine code, which have all code of an image, by the hot ones. Few
// hot functions do not say that time is spent evenly.
func TestCoverageOf(t *testing.T) {
	linked := spdgen.Fresh(1, 1, 4).Modules[0].Name
	const size = "are compiled for size"
	for _, tc := range []struct {
		name   string
		module string
		hot    int
		whole  bool
		want   string // codes of the profile
		text   string // part of a message or cause, if any
	}{
		{"linked, little", linked, 2, true, "SPD1102", size + ". Of the blocks of the 2 hot functions"},
		{"linked, one hot function", linked, 1, true, "SPD1102", size + ". Of the blocks of the one hot function 100.0 % are covered."},
		{"linked, all", linked, 30, true, "SPD1110", "evenly"},
		{"machine code, little", spd.ModuleMachine, 2, true, "", ""},
		{"machine code, few blocks of hot functions", spd.ModuleMachine, 2, false, "SPD1102", "of the blocks of hot functions are covered"},
		{"machine code, all", spd.ModuleMachine, 30, true, "SPD1110", "evenly"},
	} {
		r := Examine(&Case{SPDs: []*SPD{profiled(tc.module, tc.hot, tc.whole)}})
		var codes, texts []string
		for _, f := range r.Findings {
			if f.Code == diag.LimitedCoverage || f.Code == diag.FlatProfile {
				codes = append(codes, string(f.Code))
				texts = append(texts, f.Message, f.Cause)
			}
		}
		text := strings.Join(texts, "\n")
		if got := strings.Join(codes, " "); got != tc.want || !strings.Contains(text, tc.text) {
			t.Errorf("%s: %s, want %s with %q in\n%s", tc.name, got, tc.want, tc.text, text)
		}
		if tc.module == spd.ModuleMachine && strings.Contains(text, size) {
			t.Errorf("%s: a statement about Microsoft's compiler: %s", tc.name, text)
		}
	}
	few := profiled(linked, 30, true)
	few.Content.Modules[0].Functions = few.Content.Modules[0].Functions[:6]
	few.Content.Header.Statistics = few.Content.ComputeStatistics()
	for _, f := range Examine(&Case{SPDs: []*SPD{few}}).Findings {
		if f.Code == diag.FlatProfile {
			t.Errorf("six functions: %v", f)
		}
	}
}

// TestOutsideOfMachineCode: where most samples are outside of an SPD of an
// image, advice about the linker's options is of no use.
func TestOutsideOfMachineCode(t *testing.T) {
	s := database(spd.HeaderFresh)
	s.Content.Modules[0].Name = spd.ModuleMachine
	samples := &Samples{File: "a.spt", Format: "spt", Programs: []Program{program("app.exe", one, 3, Count{spt.OpLBR, 1000})},
		Fit: &Fit{Used: 10, Outside: 20, Touched: 10, Hits: 100, Factor: 1}}
	for _, f := range Examine(&Case{SPDs: []*SPD{s}, SPTs: []*Samples{samples}}).Findings {
		if f.Code == diag.MostlyOutside {
			if strings.Contains(f.Cause+f.Next, "/GL") || !strings.Contains(f.Next, "spdconvert /build") {
				t.Errorf("%s %s", f.Cause, f.Next)
			}
			return
		}
	}
	t.Error("no finding about samples outside of the functions")
}
