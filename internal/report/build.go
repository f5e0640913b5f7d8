package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/spgo-tools/spgo/internal/build"
	"github.com/spgo-tools/spgo/internal/cfg"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/internal/program"
)

// Built is the result of spdconvert /build.
type Built struct {
	Image  string `json:"image"`
	Debug  string `json:"debug,omitempty"` // the PDB or debug file that was named or found
	Output string `json:"output"`

	Binary   string `json:"binary"`
	GUID     string `json:"guid"`
	Age      uint32 `json:"age"`
	Identity string `json:"identity"` // what GUID and age are from: pe-rsds, elf-build-id or none

	Functions int            `json:"functions"` // with code, parts included
	Sources   map[string]int `json:"sources"`   // functions by the source of their bounds
	Parts     int            `json:"separated_parts"`
	Unnamed   int            `json:"unnamed"`
	Numbered  int            `json:"numbered"` // whose name another function has
	Folded    int            `json:"folded"`
	Inlined   int            `json:"only_inlined"`

	Blocks         int     `json:"blocks"`
	CodelessBlocks int     `json:"codeless_blocks"`
	Instructions   int     `json:"instructions"`
	CodeBytes      uint64  `json:"code_bytes"` // of executable sections
	Covered        float64 `json:"covered_percent"`
	Undecoded      int     `json:"undecoded_bytes"`
	Overlaps       int     `json:"branches_into_instructions"`

	Exceptions ExceptionTables `json:"exceptions"`
	Unreached  []Unreached     `json:"unreached_blocks,omitempty"`

	Tables     int `json:"jump_tables"`
	Entries    int `json:"jump_table_entries"`
	Unresolved int `json:"unresolved_jumps"`
	SeenEdges  int `json:"-"` // of these jumps, by samples

	Calls         int `json:"calls"`
	ImportCalls   int `json:"import_calls"`
	IndirectCalls int `json:"indirect_calls"`
	TailCalls     int `json:"tail_calls"`
	InlinedCalls  int `json:"inlined_calls"`
	UnknownCalls  int `json:"unknown_calls"`
	NeverReturn   int `json:"never_returning"`

	LeftOut  []LeftOut `json:"left_out,omitempty"` // pieces of code that became no function
	Cut      int       `json:"cut_pieces,omitempty"`
	Problems []string  `json:"problems,omitempty"` // defects that cost something

	bySource []string // in the order of trust
}

// LeftOut counts the pieces of code that a source names and that became no part
// of a function, for one reason.
type LeftOut struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
	Pieces int    `json:"pieces"`
}

// ExceptionTables tells what tables of exceptions gave.
type ExceptionTables struct {
	Tables    int `json:"tables"`
	Edges     int `json:"landing_pad_edges"`
	Outside   int `json:"outside_functions"`
	Nested    int `json:"nested_too_deep"`
	Elsewhere int `json:"handlers_elsewhere"`
	Unknown   int `json:"unknown_tables"`
}

// Unreached counts the blocks with code that no way of known edges leads to, for
// one reason.
type Unreached struct {
	Reason string `json:"reason"`
	Blocks int    `json:"blocks"`
}

// NewBuilt fills in what is known of the functions and of the database made of
// them.
func NewBuilt(f *funcs.Report, r *build.Report) *Built {
	b := &Built{
		Functions: r.Functions, Parts: r.Parts, Unnamed: r.Unnamed, Numbered: r.Numbered, Folded: r.Folded, Inlined: r.Inlined,
		Blocks: r.Blocks, CodelessBlocks: r.CodelessBlocks, Instructions: r.Instructions, CodeBytes: f.Code,
		Covered: share(f.Covered, f.Code), Undecoded: r.Undecoded, Overlaps: r.Overlaps,
		Tables: r.Tables, Entries: r.TableEntries, Unresolved: r.Unresolved, SeenEdges: r.Seen,
		Calls: r.Calls, ImportCalls: r.ImportCalls, IndirectCalls: r.IndirectCalls, TailCalls: r.TailCalls,
		InlinedCalls: r.InlinedCalls, UnknownCalls: r.UnknownCalls, NeverReturn: r.NeverReturn,
		Sources:    make(map[string]int),
		Exceptions: ExceptionTables{f.Exceptions.Tables, r.Throws, f.Exceptions.Outside, f.Exceptions.Nested, f.Exceptions.Elsewhere, f.Exceptions.Unknown},
	}
	for why, n := range r.Unreached {
		if n > 0 {
			b.Unreached = append(b.Unreached, Unreached{cfg.Unreached(why).String(), n})
		}
	}
	for s, n := range f.Functions {
		if n > 0 {
			name := program.Source(s).String()
			b.Sources[name] = n
			b.bySource = append(b.bySource, fmt.Sprintf("%s %s", Count(uint64(n)), name))
		}
	}
	for s, reasons := range f.Skipped {
		for why, n := range reasons {
			if n > 0 {
				b.LeftOut = append(b.LeftOut, LeftOut{program.Source(s).String(), funcs.Reason(why).String(), n})
			}
		}
		b.Cut += f.Cut[s]
	}
	for _, list := range [][]error{f.Problems, r.Problems} {
		for _, err := range list {
			b.Problems = append(b.Problems, err.Error())
		}
	}
	return b
}

// WriteText prints what was built, and then what is missing or odd.
func (b *Built) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	n := func(v int) string { return Count(uint64(v)) }
	t.line("%s: SPD of %s %s age %d", printable(b.Output), printable(b.Binary), b.GUID, b.Age)
	if b.Debug != "" {
		t.line("debug file     %s", printable(b.Debug))
	}
	t.line("functions      %s (%s)", n(b.Functions), strings.Join(b.bySource, ", "))
	for _, x := range []struct {
		count int
		what  string
	}{
		{b.Parts, "of them are separated parts of others"},
		{b.Unnamed, "have no name but their address"},
		{b.Numbered, "have the name of another one, and a number behind it"},
		{b.Folded, "more are further names of the same code"},
		{b.Inlined, "more are only inlined"},
	} {
		if x.count > 0 {
			t.line("  %12s %s", n(x.count), x.what)
		}
	}
	t.line("code           %s bytes, %s %% in functions", Count(b.CodeBytes), Percent(b.Covered))
	t.line("blocks         %s with code, %s without", n(b.Blocks-b.CodelessBlocks), n(b.CodelessBlocks))
	t.line("instructions   %s", n(b.Instructions))
	t.line("calls          %s direct, %s of imports, %s indirect, %s inlined; %s are tail calls",
		n(b.Calls), n(b.ImportCalls), n(b.IndirectCalls), n(b.InlinedCalls), n(b.TailCalls))
	t.line("jump tables    %s with %s entries; %s jumps have unknown targets", n(b.Tables), n(b.Entries), n(b.Unresolved))
	if x := b.Exceptions; x != (ExceptionTables{}) {
		t.line("exceptions     %s edges to landing pads from %s tables", n(x.Edges), n(x.Tables))
		for _, y := range []struct {
			count int
			what  string
		}{
			{x.Elsewhere, "functions have handlers that are functions of their own"},
			{x.Unknown, "tables are of an unknown kind"},
			{x.Outside, "pieces of code or their landing pads are in no known function"},
			{x.Nested, "pieces of code are in too many others"},
		} {
			if y.count > 0 {
				t.line("  %12s %s", n(y.count), y.what)
			}
		}
	}
	for _, u := range b.Unreached {
		t.line("unreached      %s blocks %s", n(u.Blocks), u.Reason)
	}
	if b.Undecoded+b.Overlaps+b.UnknownCalls > 0 {
		t.line("not understood %s bytes, %s branches into instructions, %s calls of no known function",
			n(b.Undecoded), n(b.Overlaps), n(b.UnknownCalls))
	}
	for _, l := range b.LeftOut {
		t.line("left out       %s pieces of code named by %s: %s", n(l.Pieces), l.Source, l.Reason)
	}
	if b.Cut > 0 {
		t.line("cut            %s pieces of code reached beyond their section or into another function", n(b.Cut))
	}
	for _, p := range b.Problems {
		t.line("problem        %s", printable(p))
	}
	return t.err
}
