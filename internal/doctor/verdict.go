package doctor

import (
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// conclude makes the verdict of the findings.
func (x *examiner) conclude() {
	if x.subject != nil {
		x.pending()
	}
	for _, p := range x.PDBs {
		if p.Identity.HasDBI && p.Identity.InfoAge != p.Identity.DBIAge {
			x.note(diag.New(diag.EditedPDB, "the age of the PDB is %d and that of its DBI stream, which images have, %d", p.Identity.InfoAge, p.Identity.DBIAge).In(p.File))
		}
	}
	leading := x.Leading()
	if leading == nil {
		x.Verdict = Agree
		x.agree()
		return
	}
	x.Next = leading.Next
	problem := sentence(leading.Message)
	if leading.File != "" {
		problem = leading.File + ": " + leading.Message
	}
	switch leading.Exit() {
	case diag.Mismatch:
		x.Verdict, x.Text = Differs, x.tally()+problem+"."
	case diag.Nothing:
		x.Verdict, x.Text = Unused, "There is nothing that can be used. "+problem+"."
	case diag.Damaged:
		x.Verdict, x.Text = Damaged, "A file is damaged. "+problem+"."
	default:
		x.Verdict, x.Text = Failed, "A file could not be read. "+problem+"."
	}
}

// tally says how many files belong together.
func (x *examiner) tally() string {
	if x.Reference < 0 || !x.Rows[x.Reference].Known {
		return ""
	}
	all, same := 0, 0
	for i := range x.Rows {
		if r := &x.Rows[i]; r.Decides && r.Where == "" {
			all++
			if r.Relation == Same {
				same++
			}
		}
	}
	if all < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d other files are of the same build as %s. ", same, all, x.Rows[x.Reference].File)
}

// pending says what is still to be done with an SPD without a profile.
func (x *examiner) pending() {
	if x.subject.Content.Header.Flags&spd.HeaderProfiled != 0 || x.Leading() != nil {
		return
	}
	spts := x.matching("SPT")
	if len(spts) > 0 || len(x.matching(recordings...)) > 0 {
		x.note(diag.New(diag.NotImported, "nothing was imported into the SPD yet").In(x.subject.File).Do("%s", x.importOf(spts)))
		return
	}
	for _, s := range x.SPDs {
		if s.Content.Header.Flags&spd.HeaderProfiled != 0 {
			return // that is the profile
		}
	}
	e := diag.New(diag.NoProfile, "nothing was imported into the SPD, and no samples are named").In(x.subject.File)
	if x.subject.Content.OfMachineCode() {
		e.Because("It is as it was made of the image: no samples were imported.").
			Do("Record the program, aggregate with %s, then import: %s", x.aggregate("perf.data"), command("spdconvert", x.subject.File, stem(x.want.Name)+".spt"))
	} else {
		e.Do("Record the program, aggregate with %s, then import: %s. Given to /spdin as it is, the SPD changes nothing.",
			x.aggregate("run.etl"), command("spdconvert", x.subject.File, stem(x.want.Name)+".spt"))
	}
	x.add(e)
}

// recordings are the kinds of files that are aggregated before an import.
var recordings = []string{"etl", "perf.data", packedSPT}

// matching lists the files of some kinds with usable samples of the subject.
func (x *examiner) matching(kinds ...string) (rows []*Row) {
	for i := range x.Rows {
		r := &x.Rows[i]
		for _, k := range kinds {
			if r.Kind == k && r.Decides && r.Relation == Same && !r.FileOffsets && r.mode() != correlate.Auto {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// importOf is the command that imports SPTs, or makes one of a recording.
func (x *examiner) importOf(spts []*Row) string {
	if len(spts) == 0 {
		traces := x.matching(recordings...)
		return x.aggregate(traces[0].File) + ", then " + command("spdconvert", mode(traces[0].mode()), x.subject.File, stem(x.want.Name)+".spt")
	}
	m := spts[0].mode()
	for _, r := range spts {
		if r.mode() == correlate.LBR {
			m = correlate.LBR // branch stacks make the better profile; the kinds do not mix
		}
	}
	words := []string{"spdconvert", mode(m), x.subject.File}
	for _, r := range spts {
		if r.mode() == m {
			words = append(words, r.File)
		}
	}
	return command(words...)
}

// agree says in words that all is well, and what comes next.
func (x *examiner) agree() {
	files := map[string]bool{}
	for i := range x.Rows {
		files[x.Rows[i].File] = true
	}
	var b strings.Builder
	what := "All files belong to"
	if len(files) == 1 {
		what = "The file is of"
	}
	fmt.Fprintf(&b, "%s one build of %s", what, x.want.Name)
	if x.has(diag.OlderProfile) || x.has(diag.MuchChanged) && len(x.SPDs) > 1 {
		b.Reset()
		fmt.Fprintf(&b, "The files are of %s, with a profile of another build", x.want.Name)
	}
	warnings := 0
	for _, f := range x.Findings {
		if f.Severity == Warning {
			warnings++
		}
	}
	if warnings > 0 {
		b.WriteString(", but the warnings limit what the profile is worth")
	}
	b.WriteByte('.')
	x.Text = b.String()
	x.Next = x.step()
}

// step is what comes next where all agree.
func (x *examiner) step() string {
	if x.subject == nil {
		if r := &x.Rows[x.Reference]; r.Kind == "ELF" {
			return "Make an SPD of the program: " + x.build(r)
		}
		return "Name the SPD as well: " + command("spddump", "/doctor", stem(x.want.Name)+".spd") + " and these files."
	}
	for _, f := range x.Findings {
		if f.Severity == Warning {
			return f.Next
		}
	}
	profiled := x.subject.Content.Header.Flags&spd.HeaderProfiled != 0
	spts := x.matching("SPT")
	switch {
	case len(spts) > 0 && profiled:
		return x.importOf(spts) + " if it was not imported yet; then " + use(x.subject)
	case len(spts) > 0 || !profiled && len(x.matching(recordings...)) > 0:
		return x.importOf(spts) + "; then " + use(x.subject)
	case profiled:
		return sentence(use(x.subject))
	}
	for _, s := range x.SPDs {
		if s.Content.Header.Flags&spd.HeaderProfiled != 0 {
			return sentence(use(s))
		}
	}
	return ""
}

// use is the command that uses a profile.
func use(s *SPD) string {
	if s.Content.OfMachineCode() {
		return "export the profile for your compiler, such as with " + command("spdconvert", "/export:llvm", s.File, stem(s.Content.Header.Binary)+".prof") +
			" for clang -fprofile-sample-use (Microsoft's linker does not take an SPD of machine code)"
	}
	return "link with /spgo /spdin:" + command(s.File)
}

// build is the command that makes an SPD of an image.
func (x *examiner) build(r *Row) string {
	return command("spdconvert", "/build:"+r.File, stem(r.Name)+".spd")
}

// sentence begins a text with a capital.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
