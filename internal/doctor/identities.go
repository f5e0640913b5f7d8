package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func (i identity) String() string {
	if i.GUID.IsZero() {
		return i.Name + " without an identity"
	}
	return fmt.Sprintf("%s %s age %d", i.Name, i.GUID, i.Age)
}

// identities finds files that do not belong to the subject.
func (x *examiner) identities() {
	switch {
	case x.Reference < 0:
		if len(x.Failed) == 0 {
			x.add(diag.New(diag.NoReference, "neither an SPD nor an image or PDB is named"))
		}
		return
	case x.subject == nil:
		r := &x.Rows[x.Reference]
		e := diag.New(diag.NoSPDNamed, "no file has an SPD; everything is compared with %s", r.File)
		if r.Kind == "ELF" {
			e.Because("Only Microsoft's linker writes SPDs; of other programs they are made.").Do("%s", x.build(r))
		}
		x.note(e)
	}
	subject := &x.Rows[x.Reference]
	if !subject.Known {
		x.add(diag.New(diag.NoProgramID, "there is no identity to compare with").In(subject.File))
		return
	}
	if x.odd() {
		return
	}
	for i := range x.Rows {
		r := &x.Rows[i]
		if !r.Decides || r.Relation == Same {
			continue
		}
		switch r.Kind {
		case "SPD":
			if r.Where != "" {
				x.add(x.different(r))
			}
		default:
			x.add(x.different(r))
		}
	}
}

// odd finds that the subject is the one that differs: all other files, two at
// least, are of one build.
func (x *examiner) odd() bool {
	var first *Row
	files := 0
	for i := range x.Rows {
		r := &x.Rows[i]
		if !r.Decides || r.Kind == "SPD" {
			continue
		}
		if r.Relation != AgeOnly && r.Relation != Build || first != nil && !r.is(first.identity) {
			return false
		}
		if first == nil {
			first = r
		}
		files++
	}
	if files < 2 || x.subject == nil {
		return false
	}
	code, what := diag.OtherBuild, "of another build"
	if first.Relation == AgeOnly {
		code, what = diag.OtherAge, "of another age"
	}
	e := diag.New(code, "the SPD is %s than the %d other files, which agree", what, files).In(x.subject.File)
	e.Want, e.Got = first.identity.String(), x.want.String()
	e.Because("The SPD is that of an earlier or later link than the files that were used.").
		Do("Take the SPD that the link of these files wrote: %s", strings.TrimSuffix(x.whereSPD(first.identity), "."))
	x.add(e)
	return true
}

// different says that a file does not belong to the subject, why, and what to
// do.
func (x *examiner) different(r *Row) *diag.Error {
	subject := x.Rows[x.Reference].File
	var e *diag.Error
	switch {
	case r.Relation == AgeOnly:
		e = diag.New(diag.OtherAge, "%s is of the same link as %s, but its age differs", r.noun(), subject)
		x.explainAge(e, r)
	case r.Relation == Build:
		e = diag.New(diag.OtherBuild, "%s is of another build of %s than %s", r.noun(), stem(x.want.Name), subject)
		x.explainBuild(e, r)
	case r.Relation == Nameless:
		e = diag.New(diag.NoProgramID, "%s does not tell which build of %s it is", r.noun(), stem(x.want.Name))
		x.explainNameless(e, r)
	case x.fileHits(r) == 0 && r.Recorded():
		e = diag.New(diag.NoUsableKind, "%s has no samples of any binary", r.noun()).
			Because("The recording was empty, or filters left none.").
			Do("Look at the summary of sptaggregate for why samples were dropped; record while the program is busy.")
	default:
		e = diag.New(diag.OtherProgram, "%s is of another program than %s", r.noun(), subject)
		x.explainProgram(e, r)
	}
	e.File, e.Part = r.File, r.Where
	if r.Name != "" {
		e.Want, e.Got = x.want.String(), r.identity.String()
	}
	return e
}

// fileHits is the number of samples of all binaries of the row's file.
func (x *examiner) fileHits(r *Row) (n uint64) {
	for i := range x.Rows {
		if other := &x.Rows[i]; other.File == r.File && other.Kind == r.Kind {
			n = binfmt.SatAdd(n, other.Hits())
		}
	}
	return n
}

// noun is the kind of a row in a sentence.
func (r *Row) noun() string {
	switch r.Kind {
	case "SPD":
		return "the SPD inside"
	case "PE", "ELF":
		return "the image"
	case "PDB":
		return "the PDB"
	case "SPT":
		return "the SPT"
	}
	return "the recording"
}

// Recorded says that the row is of an SPT or recording.
func (r *Row) Recorded() bool { return r.noun() == "the SPT" || r.noun() == "the recording" }

func (x *examiner) explainAge(e *diag.Error, r *Row) {
	subject := x.Rows[x.Reference].File
	switch {
	case r.Kind == "SPT" && x.subject != nil:
		fit := x.fit(r.File)
		if fit == nil || fit.Wrong != nil {
			return
		}
		share := percent(fit.Used, fit.Used+fit.Outside)
		if share >= 95 && fit.DoubtfulHits*10 <= fit.Hits {
			e.Because("The PDB was written again after the link (signing, source indexing, an incremental link without changes): %.1f %% of the samples fit the functions of %s, so that the code seems to be the same.", share, subject).
				Do("%s", command("spdconvert", "--ignore-age", mode(fit.Mode), subject, r.File))
			if fit.Time {
				e.Cause += " Samples of time tell this less surely than others."
			}
			return
		}
		e.Because("An incremental link changed the code between the two: only %.1f %% of the samples fall into functions of %s, and the counts of %d functions do not fit their code.", share, subject, fit.Doubtful).
			Do("Link without /INCREMENTAL, record that program, and take the SPD of that link. Do not use --ignore-age here.")
	case r.Recorded():
		e.Because("The program was linked again incrementally, or its PDB was edited, between the recording and the link that wrote %s.", subject).
			Do("Name the SPT of this recording as well, which tells whether its samples fit: %s", x.aggregate(r.File))
	case r.Kind == "PDB":
		e.Because("The PDB was counted up by a later incremental link, or a tool changed it.").
			Do("Take the PDB and the program of the link that wrote %s; link without /INCREMENTAL.", subject)
	default:
		e.Because("The program was linked again incrementally after or before %s was written.", subject).
			Do("Link without /INCREMENTAL and take program, PDB and SPD of that one link.")
	}
}

func (x *examiner) explainBuild(e *diag.Error, r *Row) {
	subject := x.Rows[x.Reference].File
	if x.architectureOf(r) != "" {
		e.Because("It is the build for %s.", x.architectureOf(r))
	} else {
		e.Because("The program was linked again between the two: the name is the same, the GUID is that of another link.")
	}
	if r.Recorded() {
		if image := x.imageOf(r.identity); image != nil {
			e.Because("The samples are of %s, which is another build than the one of %s.", image.File, subject)
		}
		switch other := x.spdOf(r.identity); {
		case other != nil && other.Where == "" && r.Kind == "SPT":
			e.Do("The samples are of the build of %s: %s", other.File, command("spdconvert", mode(r.mode()), other.File, r.File))
		case other == nil && r.Kind == "SPT" && x.madeOf(r.identity) != "":
			e.Do("%s", x.buildAndImport(r))
		case other != nil && r.Kind == "SPT":
			e.Do("The SPD of the recorded build is inside of %s: %s", other.File, command("spdconvert", "/extract", other.File, "extracted.spd")+
				", then "+command("spdconvert", mode(r.mode()), "extracted.spd", r.File))
		default:
			e.Do("Take the SPD of the build that was recorded: %s Or record the program that was linked together with %s.", x.whereSPD(r.identity), subject)
		}
		return
	}
	switch {
	case r.Kind == "PDB":
		e.Do("Take the PDB of the link that wrote %s: it lies beside the program that was linked then.", subject)
		if image := x.imageOf(x.want); image != nil && image.PDB != "" {
			e.Do("Take the PDB that %s names: %s.", image.File, image.PDB)
		}
	case r.Kind == "SPD":
		e.Do("Take a PDB, object or image of the link that wrote %s, or use its own SPD: %s", subject, command("spdconvert", "/extract", r.File, "extracted.spd"))
	case x.sptOf(r.identity) != nil && x.madeOf(r.identity) != "":
		e.Because("The samples of %s are of this image, which is another build than the one of %s.", x.sptOf(r.identity).File, subject)
		e.Do("%s", x.buildAndImport(x.sptOf(r.identity)))
	default:
		e.Do("Record and link the same build: either take the SPD that the link of %s wrote (%s), or run the program that was linked together with %s.", r.File, strings.TrimSuffix(x.whereSPD(r.identity), "."), subject)
	}
}

func (x *examiner) explainNameless(e *diag.Error, r *Row) {
	if !r.Recorded() {
		return
	}
	e.Because("The recording has no build ids, and the program was not at hand when it was read.").
		Do("Name the recorded program too, or aggregate with --image-path and its folder and look at the SPT: %s", command("spddump", "/doctor", x.Rows[x.Reference].File, "run.spt"))
	if r.Kind == "etl" {
		e.Because("The recording was not merged, so that it lacks the identities of images.").
			Do("On the machine that recorded it: xperf -merge %s merged.etl; or name the recorded program too, or aggregate with --image-path and its folder.", command(r.File))
	}
}

func (x *examiner) explainProgram(e *diag.Error, r *Row) {
	if !r.Recorded() {
		e.Because("Files of several programs were named, or the program was renamed as well as built again.").
			Do("Name image, PDB and SPD of one program: those of %s.", x.want.Name)
		return
	}
	var names []string
	for i := range x.Rows {
		if other := &x.Rows[i]; other.File == r.File && other.Kind == r.Kind && other.Name != "" && len(names) < 5 {
			names = append(names, fmt.Sprintf("%s (%d samples)", other.Name, other.Hits()))
		}
	}
	e.Message = fmt.Sprintf("%s has no samples of %s", r.noun(), x.want.Name)
	if r.Kind != "SPT" {
		e.Because("It has samples of %s. The program did not run while it was recorded, or under another name.", strings.Join(names, ", ")).
			Do("Record again while %s runs, or name the SPD of one of these programs.", x.want.Name)
		return
	}
	e.Because("It has samples of %s. The program did not run while it was recorded, or /binary and /process left it out.", strings.Join(names, ", ")).
		Do("Aggregate the recording again: %s; or name the SPD of one of these.", x.aggregate(x.recording()))
}

// whereSPD says where the SPD of a build is to be found.
func (x *examiner) whereSPD(id identity) string {
	if s := x.spdOf(id); s != nil && s.Where == "" {
		return "it is " + s.File + "."
	} else if s != nil {
		return command("spdconvert", "/extract", s.File, "extracted.spd") + "."
	}
	if x.subject != nil && x.subject.Content.OfMachineCode() {
		if image := x.imageOf(id); image != nil {
			return command("spdconvert", "/build:"+image.File, "other.spd") + "."
		}
		return "spdconvert /build makes it of the program of that build."
	}
	for _, p := range x.PDBs {
		if p.identity().is(id) {
			return fmt.Sprintf("it lies beside the program, or where /spd: said; %s has none inside, since it was not linked with /spdembed.", p.File)
		}
	}
	return "it lies beside the program, or where /spd: said, or inside of the PDB of that build if it was linked with /spdembed (spdconvert /extract takes it out)."
}

// madeOf is the image of a build whose SPD is made of it; empty if the linker
// writes it or the image was not named.
func (x *examiner) madeOf(id identity) string {
	if image := x.imageOf(id); image != nil && x.subject != nil && x.subject.Content.OfMachineCode() {
		return image.File
	}
	return ""
}

// sptOf is the row of the first SPT with samples of a build.
func (x *examiner) sptOf(id identity) *Row {
	for i := range x.Rows {
		if r := &x.Rows[i]; r.Kind == "SPT" && r.is(id) && !r.FileOffsets {
			return r
		}
	}
	return nil
}

// buildAndImport says how the samples of an SPT get an SPD of their build.
func (x *examiner) buildAndImport(r *Row) string {
	image := x.madeOf(r.identity)
	return "The samples are of " + image + ": " + command("spdconvert", "/build:"+image, "other.spd") + ", then " +
		command("spdconvert", mode(r.mode()), "other.spd", r.File)
}

// spdOf is an SPD with an identity, first one that is a file of its own.
func (x *examiner) spdOf(id identity) *SPD {
	var inside *SPD
	for _, s := range x.SPDs {
		switch {
		case !s.identity().is(id):
		case s.Where == "":
			return s
		case inside == nil:
			inside = s
		}
	}
	return inside
}

func (x *examiner) imageOf(id identity) *Image {
	for _, i := range x.Images {
		if i.identity().is(id) {
			return i
		}
	}
	return nil
}

// fit is that of the SPT of a name.
func (x *examiner) fit(file string) *Fit {
	for _, s := range x.SPTs {
		if s.File == file {
			return s.Fit
		}
	}
	return nil
}

func (r *Row) mode() correlate.Mode { return (&Program{Counts: r.Samples}).Mode() }

// mode spells the option of a mode.
func mode(m correlate.Mode) string {
	if m == correlate.Auto {
		return ""
	}
	return "/mode:" + m.String()
}

// aggregate is the command that makes an SPT of a recording, whose name is
// empty where none was named. Recordings of perf need the program, whose headers
// turn file offsets into addresses.
func (x *examiner) aggregate(file string) string {
	name := file
	if name == "" {
		name = "RECORDING"
	}
	words := []string{"sptaggregate", "/binary:" + x.recordedName(file), "/etl", name}
	if image := x.imageOf(x.want); image != nil && !strings.HasSuffix(file, ".etl") {
		words = append(words, "--image-path", image.File)
	}
	return command(append(words, stem(x.want.Name)+".spt")...)
}

// recordedName is the name of the subject's binary in the recording of a name,
// else in any: the file that was built or named can be a copy with another.
func (x *examiner) recordedName(file string) string {
	best := x.want.Name
	for i := len(x.Rows) - 1; i >= 0; i-- {
		if r := &x.Rows[i]; r.Recorded() && r.is(x.want) {
			if best = r.Name; r.File == file {
				break
			}
		}
	}
	return best
}

// recording is the recording that has samples of the subject's build, else the
// only one that was named; empty if there is none.
func (x *examiner) recording() string {
	for _, t := range x.Traces {
		if slices.ContainsFunc(t.Programs, func(p Program) bool { return p.identity().is(x.want) }) {
			return t.File
		}
	}
	if len(x.Traces) == 1 {
		return x.Traces[0].File
	}
	return ""
}

// command is a command line; empty words are left out.
func command(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		if w == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsAny(w, " \t&()^;'$*?") {
			w = `"` + w + `"`
		}
		b.WriteString(w)
	}
	return b.String()
}

func percent(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
