package report

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/doctor"
)

// Doctor shows a diagnosis.
type Doctor struct{ *doctor.Report }

// doctorRow is an identity in JSON.
type doctorRow struct {
	File      string        `json:"file"`
	Where     string        `json:"where,omitempty"`
	Kind      string        `json:"kind"`
	Name      string        `json:"name"`
	GUID      string        `json:"guid"` // empty where the file states none
	Age       uint32        `json:"age"`
	PDBAge    *uint32       `json:"pdb_age,omitempty"`
	BuildID   string        `json:"build_id,omitempty"`
	Arch      string        `json:"arch,omitempty"`
	Identity  string        `json:"identity,omitempty"`
	Samples   []doctorCount `json:"samples,omitempty"`
	State     string        `json:"state,omitempty"`
	Reference bool          `json:"reference"`
	Relation  string        `json:"relation"`
	Nearest   bool          `json:"nearest"`
}

type doctorCount struct {
	Opcode string `json:"opcode"`
	Name   string `json:"name"`
	Hits   uint64 `json:"hits"`
}

type doctorFinding struct {
	Severity doctor.Severity `json:"severity"`
	*diag.Error
}

// MarshalJSON writes the document that docs/json.md describes.
func (d *Doctor) MarshalJSON() ([]byte, error) {
	doc := struct {
		Identities []doctorRow     `json:"identities"`
		Verdict    doctor.Verdict  `json:"verdict"`
		Text       string          `json:"text"`
		Next       string          `json:"next"`
		Findings   []doctorFinding `json:"findings"`
	}{[]doctorRow{}, d.Verdict, d.Text, d.Next, []doctorFinding{}}
	for i := range d.Rows {
		r := &d.Rows[i]
		row := doctorRow{File: r.File, Where: r.Where, Kind: r.Kind, Name: r.Name, Age: r.Age, PDBAge: r.PDBAge, BuildID: hex.EncodeToString(r.BuildID),
			Arch: r.Arch, Identity: r.Source, State: r.State, Reference: i == d.Reference, Relation: string(r.Relation), Nearest: r.Decides}
		if r.Known {
			row.GUID = r.GUID.String()
		}
		for _, c := range r.Samples {
			row.Samples = append(row.Samples, doctorCount{opcodeName(byte(c.Op)), c.Op.String(), c.Hits})
		}
		doc.Identities = append(doc.Identities, row)
	}
	for _, f := range d.Findings {
		doc.Findings = append(doc.Findings, doctorFinding{f.Severity, f.Error})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(doc)
	return b.Bytes(), err
}

// WriteText prints the table, the findings and the verdict.
func (d *Doctor) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	d.table(t)
	for _, f := range d.Findings {
		t.line("")
		e := *f.Error
		e.Want, e.Got = "", ""
		t.line("%s %s", f.Severity, printable(e.Error()))
		if f.Want != "" || f.Got != "" {
			t.line("  expected: %s", printable(f.Want))
			t.line("  found   : %s", printable(f.Got))
		}
		t.line("  cause   : %s", printable(f.Cause))
		t.line("  next    : %s", printable(f.Next))
	}
	t.line("")
	t.line("Verdict: %s", printable(d.Text))
	if d.Next != "" {
		t.line("Next   : %s", printable(d.Next))
	}
	return t.err
}

// maxOthers is how many binaries of a recording are shown that are other
// programs; there can be hundreds.
const maxOthers = 4

// table prints the identities in columns.
func (d *Doctor) table(t *textWriter) {
	cells := [][]string{{"FILE", "KIND", "PROGRAM", "GUID", "AGE", "COMPARED", "SAMPLES OR PROFILE"}}
	others, hidden, hits := 0, 0, uint64(0)
	for i := range d.Rows {
		r := &d.Rows[i]
		if i == 0 || r.File != d.Rows[i-1].File || r.Kind != d.Rows[i-1].Kind {
			others = 0
		}
		if r.Relation == doctor.Other && !r.Decides {
			others++
		}
		if others > maxOthers && r.Relation == doctor.Other && !r.Decides {
			hidden, hits = hidden+1, hits+r.Hits()
		} else {
			cells = append(cells, d.row(i))
		}
		if last := i+1 == len(d.Rows) || d.Rows[i+1].File != r.File || d.Rows[i+1].Kind != r.Kind; last && hidden > 0 {
			cells = append(cells, []string{r.File, r.Kind, fmt.Sprintf("(%d more)", hidden), "", "", string(doctor.Other), Count(hits)})
			hidden, hits = 0, 0
		}
	}
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for k, c := range row {
			widths[k] = max(widths[k], utf8.RuneCountInString(c))
		}
	}
	for _, row := range cells {
		var b strings.Builder
		for k, c := range row {
			b.WriteString(c)
			b.WriteString(strings.Repeat(" ", widths[k]+2-utf8.RuneCountInString(c)))
		}
		t.line("%s", strings.TrimRight(b.String(), " "))
	}
}

func (d *Doctor) row(i int) []string {
	r := &d.Rows[i]
	file := printable(r.File)
	if r.Where != "" {
		file += ": " + printable(r.Where)
	}
	guid, age, compared := "-", "-", string(r.Relation)
	if r.Known {
		guid, age = r.GUID.String(), fmt.Sprint(r.Age)
	}
	if r.PDBAge != nil {
		age = fmt.Sprintf("DBI %d, PDB %d", r.Age, *r.PDBAge)
	}
	if i == d.Reference {
		compared = "reference"
	}
	kind := r.Kind
	if r.Arch != "" {
		kind += " " + r.Arch
	}
	worth := r.State
	for k, c := range r.Samples {
		if k > 0 {
			worth += ", "
		}
		worth += c.Op.String() + " " + Count(c.Hits)
	}
	if worth == "" && r.Recorded() {
		worth = "none"
	}
	if r.Source != "" {
		worth += " (identity: " + r.Source + ")"
	}
	return []string{file, kind, orDash(printable(r.Name)), guid, age, orDash(compared), orDash(worth)}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
