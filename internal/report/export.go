package report

import (
	"io"

	"github.com/spgo-tools/spgo/internal/export"
)

// Exported is the result of spdconvert /export.
type Exported struct {
	SPD    string `json:"spd"`
	Image  string `json:"image"`
	Debug  string `json:"debug,omitempty"` // the PDB or debug file that was named or found
	Output string `json:"output"`
	Format string `json:"format"`

	Functions int     `json:"functions"`    // of the SPD, with code and counts
	Weight    uint64  `json:"weight"`       // instructions executed in them
	Exported  int     `json:"exported"`     // functions in the profile
	Records   int     `json:"records"`      // lines, stacks or branches in the profile
	Kept      uint64  `json:"kept_weight"`  // of the profile
	Whole     uint64  `json:"whole_weight"` // of the profile without trimming
	Scale     uint64  `json:"scale"`        // what one execution counts in the profile
	KeptShare float64 `json:"kept_percent"`
	Trimmed   int     `json:"trimmed"` // functions or stacks

	Stubs         int     `json:"stubs"` // of imported functions, in no profile
	WithoutLines  int     `json:"without_lines"`
	WithoutSymbol int     `json:"without_symbol"`
	WithoutCode   int     `json:"without_code"`
	LostWeight    uint64  `json:"lost_weight"` // of these
	LostShare     float64 `json:"lost_percent"`

	Problems []string `json:"problems,omitempty"` // defects of the debug information

	stacks bool
	record string
}

// NewExported fills in what an export did.
func NewExported(format export.Format, r *export.Report) *Exported {
	x := &Exported{
		Format: string(format), Functions: r.Functions, Weight: r.Weight, Exported: r.Exported, Records: r.Records,
		Kept: r.Kept, Whole: r.Exportable, KeptShare: share(r.Kept, r.Exportable), Trimmed: r.Trimmed,
		Stubs: r.Stubs, WithoutLines: r.WithoutLines, WithoutSymbol: r.WithoutSymbol, WithoutCode: r.WithoutCode,
		LostWeight: r.LostWeight, LostShare: share(r.LostWeight, r.Weight),
		Scale: r.Scale, record: "lines",
	}
	switch format {
	case export.Pprof:
		x.record, x.stacks = "stacks", true
	case export.BOLT:
		x.record = "branches"
	}
	return x
}

// WriteText prints what was written, and then what is missing in it.
func (x *Exported) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	t.line("%s: %s profile of %s", printable(x.Output), x.Format, printable(x.Image))
	if x.Debug != "" {
		t.line("debug file     %s", printable(x.Debug))
	}
	t.line("functions      %s of %s with counts", Count(uint64(x.Exported)), Count(uint64(x.Functions)))
	t.line("%-14s %s", x.record, Count(uint64(x.Records)))
	if x.Scale != 1 {
		t.line("scale          %d for one execution: there are few samples", x.Scale)
	}
	if x.Trimmed > 0 {
		what := "functions"
		if x.stacks {
			what = "stacks"
		}
		t.line("kept weight    %s %% of %s; %s %s were left out", Percent(x.KeptShare), Count(x.Whole), Count(uint64(x.Trimmed)), what)
	}
	for _, m := range []struct {
		count int
		what  string
	}{
		{x.Stubs, "only lead to imported functions"},
		{x.WithoutLines, "have no debug information"},
		{x.WithoutSymbol, "have no symbol"},
		{x.WithoutCode, "have code that is not in the image"},
	} {
		if m.count > 0 {
			t.line("  %12s %s", Count(uint64(m.count)), m.what)
		}
	}
	if x.LostWeight > 0 {
		t.line("not described  %s %% of the instructions executed", Percent(x.LostShare))
	}
	for _, p := range x.Problems {
		t.line("problem        %s", printable(p))
	}
	return t.err
}
