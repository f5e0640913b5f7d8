package doctor

import (
	"slices"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Report is the diagnosis.
type Report struct {
	// Rows are the identities, by kind of file: SPDs first, then images, PDBs,
	// SPTs and traces.
	Rows []Row
	// Reference is the index in Rows of what the others were compared with; -1
	// if there is nothing.
	Reference int
	Findings  []Finding // most severe first
	Verdict   Verdict
	Text      string // the verdict in words
	Next      string // what to do next, mostly a command
}

// Verdict is the diagnosis in a word.
type Verdict string

// Verdicts.
const (
	Agree   Verdict = "agree"          // all agree and something can be used
	Differs Verdict = "mismatch"       // identities differ
	Unused  Verdict = "nothing usable" // identities agree, but there is nothing to use
	Damaged Verdict = "damaged"        // a file is damaged
	Failed  Verdict = "failed"         // a file could not be read
)

// Row is one identity of a file. An SPT or a recording has one row for each
// binary.
type Row struct {
	File     string
	Where    string  // part of the file
	Kind     string  // "SPD", "PE", "ELF", "PDB", "SPT", "packed SPT", "etl", "perf.data"
	identity         // Name is that of the binary
	alias    string  // another name of the binary: the PDB that an image names, the binary of the SPD in a PDB
	Known    bool    // the file states an identity
	PDBAge   *uint32 // of a PDB: the age in its info stream; Age is that of the DBI stream
	BuildID  []byte  // of an ELF
	Arch     string
	Source   string  // how a recording's identity was found
	Samples  []Count // of an SPT or recording
	// FileOffsets says that the addresses of the samples are file offsets.
	FileOffsets bool
	State       string // of an SPD: its profile
	// Relation to the subject; empty for the subject itself and where there
	// is none.
	Relation Relation
	// Decides says that the row speaks for its file: it is the nearest one.
	Decides bool
}

// Hits is the number of samples of all kinds.
func (r *Row) Hits() uint64 { return (&Program{Counts: r.Samples}).Hits() }

// Severity is how much a finding matters.
type Severity string

// Severities, most severe first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

var severities = []Severity{Error, Warning, Note}

// Finding is one result of the examination.
type Finding struct {
	Severity Severity
	*diag.Error
}

// Leading is the finding that the exit code is that of; nil if there is none
// that fails.
func (r *Report) Leading() *diag.Error {
	var worst *diag.Error
	for _, f := range r.Findings {
		switch {
		case f.Severity != Error:
		case worst == nil, diag.Worst(worst.Exit(), f.Exit()) != worst.Exit():
			worst = f.Error
		}
	}
	return worst
}

// add adds a finding: an error if its code has an exit code, else a warning.
func (r *Report) add(e *diag.Error) {
	severity := Warning
	if e.Exit() != diag.OK {
		severity = Error
	}
	r.Findings = append(r.Findings, Finding{severity, e})
}

func (r *Report) note(e *diag.Error) { r.Findings = append(r.Findings, Finding{Note, e}) }

func (r *Report) has(code diag.Code) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == code })
}

// Examine makes the diagnosis.
func Examine(c *Case) *Report {
	x := &examiner{Case: c, Report: &Report{Reference: -1, Rows: []Row{}, Findings: []Finding{}}, subject: c.Subject()}
	x.rows()
	x.compare()
	for _, e := range c.Failed {
		x.add(e)
	}
	x.identities()
	x.machines()
	x.code()
	x.samples()
	x.profile()
	x.others()
	slices.SortStableFunc(x.Findings, func(a, b Finding) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
	x.conclude()
	return x.Report
}

// examiner is one examination.
type examiner struct {
	*Case
	*Report
	subject *SPD
	want    identity // of the subject
}

// hasKind says whether there are samples of an opcode.
func hasKind(counts []Count, op spt.Opcode) bool {
	return slices.ContainsFunc(counts, func(c Count) bool { return c.Op == op && c.Hits > 0 })
}
