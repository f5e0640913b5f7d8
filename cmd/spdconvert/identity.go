package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// identityRules say which samples belong to an SPD.
type identityRules struct {
	ignoreAge, ignoreIdentity bool
	imagePath                 []string
}

// Relations of a program id to an SPD, nearest first.
const (
	sameIdentity = "same identity"
	sameGUID     = "same GUID, other age"
	sameName     = "same name, other GUID"
	unrelated    = "other program"
)

var relations = []string{sameIdentity, sameGUID, sameName, unrelated}

func relation(h *spd.Header, id spt.ProgramID) string {
	b := sample.FromProgram(id.Name, id.GUID, id.Age)
	named := strings.EqualFold(sample.BaseName(b.Name), sample.BaseName(h.Binary))
	stated := !h.GUID.IsZero() // binaries without an identity are told apart by name
	switch {
	case id.GUID == h.GUID && id.Age == h.Age && (stated || named):
		return sameIdentity
	case id.GUID == h.GUID && stated:
		return sameGUID
	case named:
		return sameName
	}
	return unrelated
}

// untranslated says whether the addresses of a program id are file offsets,
// which point at other code of the SPD than what was sampled.
func untranslated(id spt.ProgramID) bool {
	return sample.FromProgram(id.Name, id.GUID, id.Age).FileOffsets
}

// accept chooses the program ids of an SPT whose samples are used: those of
// the nearest relation that is allowed. It says what had to be ignored.
func (r *identityRules) accept(h *spd.Header, programs []spt.ProgramID) (accepted []spt.ProgramID, ignored string) {
	var usable, offsets []spt.ProgramID
	for _, id := range programs {
		if untranslated(id) {
			offsets = append(offsets, id)
		} else {
			usable = append(usable, id)
		}
	}
	if list, ignored := r.nearest(h, usable); list != nil || !r.ignoreIdentity {
		return list, ignored
	}
	accepted, ignored = r.nearest(h, offsets)
	if accepted == nil && len(programs) == 1 {
		accepted, ignored = programs, "identity and name differ"
	}
	switch {
	case accepted == nil || !untranslated(accepted[0]):
	case ignored == "":
		ignored = "addresses are file offsets"
	default:
		ignored += ", and the addresses are file offsets"
	}
	return accepted, ignored
}

// nearest chooses among program ids by their relation.
func (r *identityRules) nearest(h *spd.Header, programs []spt.ProgramID) (list []spt.ProgramID, ignored string) {
	of := func(wanted string) (list []spt.ProgramID) {
		for _, id := range programs {
			if relation(h, id) == wanted {
				list = append(list, id)
			}
		}
		return list
	}
	if list := of(sameIdentity); list != nil {
		return list, ""
	}
	if list := of(sameGUID); list != nil && (r.ignoreAge || r.ignoreIdentity) {
		return list, "age differs"
	}
	if list := of(sameName); list != nil && r.ignoreIdentity {
		return list, "identity differs"
	}
	return nil, ""
}

// checkIdentities finds the samples of the SPD in all SPTs. Where one has none
// it returns the identities of all, and an error for each that has none.
func checkIdentities(c *cli.Context, p *plan, h *spd.Header) (*report.Incompatible, error) {
	var failed, offsets []error
	mismatch := false
	for _, in := range p.inputs {
		r, done, err := in.open(c)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, w := range r.Warnings() {
			c.Warn(diag.New(diag.OddSPT, "%v", w).In(in.name))
		}
		if len(r.Programs()) == 0 {
			failed = append(failed, diag.New(diag.NoSamples, "the SPT names no program").In(in.name).
				Because("It is empty: what was aggregated had no samples, or filters left none.").
				Do("Leave it out, or aggregate the recording again; sptdump /summary %s shows what it holds.", in.name))
		}
		in.accepted, in.ignored = p.identity.accept(h, r.Programs())
		if in.accepted == nil {
			if e := p.needsHeaders(c, h, in, r.Programs()); e != nil {
				offsets = append(offsets, e)
			} else {
				mismatch = true
			}
		}
		done()
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	if mismatch {
		return incompatible(c, p, h)
	}
	if len(offsets) > 0 {
		return nil, errors.Join(offsets...)
	}
	for _, in := range p.inputs {
		if in.ignored == "" && h.GUID.IsZero() {
			c.Warn(diag.New(diag.IdentityIgnored, "neither SPD nor samples state an identity: %s is matched by its name alone", h.Binary).In(in.name).
				Because("The binary was linked without a build id or a PDB."))
		}
		if in.ignored != "" {
			var ids []string
			for _, id := range in.accepted {
				ids = append(ids, fmt.Sprintf("%s %v age %d", id.Name, id.GUID, id.Age))
			}
			c.Warn(diag.New(diag.IdentityIgnored, "the %s: the SPD is of %s %v age %d, the samples are of %s",
				in.ignored, h.Binary, h.GUID, h.Age, strings.Join(ids, " and ")).In(in.name))
		}
	}
	return nil, nil
}

// needsHeaders is the error of an SPT that has samples of the SPD's build with
// file offsets alone; nil if it is not one.
func (p *plan) needsHeaders(c *cli.Context, h *spd.Header, in *input, programs []spt.ProgramID) *diag.Error {
	for _, id := range programs {
		if related := relation(h, id); !untranslated(id) || related != sameIdentity && !(related == sameGUID && p.identity.ignoreAge) {
			continue
		}
		return diag.New(diag.NoSamples, "the addresses of the samples of %s are file offsets, which an SPD does not know", h.Binary).In(in.name).
			Because("The headers of the program are needed to translate them, and it was not found when the recording was aggregated (SPT1002).").
			Do("Aggregate the recording again: %s", p.aggregateAgain(c, h, in))
	}
	return nil
}

// aggregateAgain is the command that makes an SPT with addresses of the program
// of the SPD. What the command line does not tell is in capitals.
func (p *plan) aggregateAgain(c *cli.Context, h *spd.Header, in *input) string {
	name := sample.BaseName(h.Binary)
	folder, output, note := c.String("image"), in.name, "; RECORDING is the recording"
	if folder == "" {
		folder = p.identity.finder().image(name, image.ID{GUID: h.GUID, Age: h.Age})
	}
	if folder == "" {
		folder, note = "FOLDER", note+", and FOLDER has the "+name+" that was recorded"
	}
	if in.stream != nil {
		output = name + ".spt"
	}
	return fmt.Sprintf("sptaggregate /binary:%s --image-path %s /etl RECORDING %s%s", name, folder, output, note)
}

// incompatible lists all identities with the samples of each.
func incompatible(c *cli.Context, p *plan, h *spd.Header) (*report.Incompatible, error) {
	own := report.Identity{Name: h.Binary, GUID: h.GUID.String(), Age: h.Age}
	x := &report.Incompatible{SPD: own, Inputs: []report.Programs{}, Found: []report.FoundIdentity{}}
	var failed []error
	finder := p.identity.finder()
	x.Found = append(x.Found, finder.find(h.Binary, image.ID{GUID: h.GUID, Age: h.Age}, "spd")...)
	for _, in := range p.inputs {
		var ids []spt.ProgramID
		var counts []uint64
		if err := in.read(c, true, func(r *spt.Reader) error {
			ids, counts = slices.Clone(r.Programs()), countPrograms(r)
			return r.Err()
		}); err != nil {
			failed = append(failed, err)
			continue
		}
		list := report.Programs{File: in.name, Matches: in.accepted != nil, Programs: []report.Program{}}
		nearest := nearestProgram(h, ids, counts)
		for i, id := range ids {
			list.Programs = append(list.Programs, report.Program{Identity: report.Identity{Name: id.Name, GUID: id.GUID.String(), Age: id.Age},
				Samples: counts[i], Relation: relation(h, id), Nearest: i == nearest && in.accepted == nil})
		}
		x.Inputs = append(x.Inputs, list)
		if in.accepted != nil {
			continue
		}
		if e := p.needsHeaders(c, h, in, ids); e != nil {
			failed = append(failed, e)
			continue
		}
		e := diag.New(diag.Incompatible, "SPD version incompatible").In(in.name)
		id := ids[nearest]
		e.Want, e.Got = own.String(), list.Programs[nearest].Identity.String()
		for _, f := range finder.find(id.Name, image.ID{GUID: id.GUID, Age: id.Age}, "spt") {
			if !slices.Contains(x.Found, f) {
				x.Found = append(x.Found, f)
			}
		}
		switch {
		case p.made != "":
			e.Because("The image that the SPD is to be made of, %s, is not what was sampled.", p.made).
				Do("Name the image of %s with --image; spddump /doctor %s %s compares the two.", sample.BaseName(id.Name), p.made, in.name)
		case c.IsSet("image") && imageIs(c.String("image"), id):
			e.Because("The samples are of %s, and %s was made of another build.", c.String("image"), p.file).
				Do("Make an SPD of that image: spdconvert /build:%s new.spd. Carry the counts over: spdconvert /merge /retire:0 %s %s new.spd. Then import: spdconvert %s %s",
					c.String("image"), p.file, p.file, p.file, in.name)
		default:
			explain(e, p.file, h, id, x.Found)
		}
		failed = append(failed, e)
	}
	return x, errors.Join(failed...)
}

// countPrograms counts the samples of each program id.
func countPrograms(r *spt.Reader) []uint64 {
	counts := make([]uint64, len(r.Programs()))
	for r.Next() {
		rec := r.Record()
		counts[rec.Program] = binfmt.SatAdd(counts[rec.Program], rec.Samples())
	}
	return counts
}

// nearestProgram is the index of the program id that is nearest to the SPD; of
// equally near ones that with most samples.
func nearestProgram(h *spd.Header, ids []spt.ProgramID, counts []uint64) int {
	best := 0
	rank := func(i int) int { return slices.Index(relations, relation(h, ids[i])) }
	for i := range ids {
		if rank(i) < rank(best) || rank(i) == rank(best) && counts[i] > counts[best] {
			best = i
		}
	}
	return best
}

// explain says why the nearest program id is another one, and what to do.
func explain(e *diag.Error, file string, h *spd.Header, nearest spt.ProgramID, found []report.FoundIdentity) {
	switch relation(h, nearest) {
	case sameGUID:
		e.Because("The PDB was written again after the link: its GUID is the same and its age another.").
			Do("If the code is the same: spdconvert --ignore-age %s %s; else take the SPD of the profiled build.", file, e.File)
	case sameName:
		e.Because("The profiled build of %s is not the one that the SPD was made by.", h.Binary).
			Do("Take the SPD of the profiled build (spdconvert /extract with its PDB), or profile the build of the SPD. If another compiler than Microsoft's built the program again, carry the counts over to the profiled build: spdconvert /build:IMAGE new.spd; spdconvert /merge /retire:0 %s %s new.spd. spddump /doctor %s %s compares more files.", file, file, file, e.File)
	default:
		e.Because("The SPT holds no samples of %s.", h.Binary).
			Do("Aggregate the trace again with sptaggregate /binary:%s, or name the SPD of %s.", h.Binary, nearest.Name)
	}
	if h.GUID.IsZero() {
		e.Because("The SPD has no identity: it was not made by a link.").
			Do("Take the SPD that the linker made, or spdconvert /extract with the PDB.")
	}
	for _, f := range found {
		if f.Of == "spt" {
			e.Next += fmt.Sprintf(" The samples are of %s.", f.File)
			break
		}
	}
}

// imageIs says whether an image has the identity of a program id.
func imageIs(path string, id spt.ProgramID) bool {
	img, err := image.Open(path)
	if err != nil {
		return false
	}
	defer img.Close()
	have, source := img.ID()
	return source != image.IDNone && have == image.ID{GUID: id.GUID, Age: id.Age}
}

// identityFinder looks for images and PDBs with an identity; nil finds none.
type identityFinder struct{ image.Finder }

func (r *identityRules) finder() *identityFinder {
	if len(r.imagePath) == 0 {
		return nil
	}
	return &identityFinder{image.Finder{Dirs: r.imagePath}}
}

// find returns an image of any name and the PDBs named like the binary that
// have the identity.
func (f *identityFinder) find(name string, id image.ID, of string) (found []report.FoundIdentity) {
	if f == nil || id.GUID.IsZero() {
		return nil
	}
	base := sample.BaseName(name)
	add := func(path string) {
		found = append(found, report.FoundIdentity{File: path, Of: of,
			Identity: report.Identity{Name: base, GUID: id.GUID.String(), Age: id.Age}})
	}
	if path := f.image(base, id); path != "" {
		add(path)
	}
	stem := base
	if dot := strings.LastIndexByte(base, '.'); dot > 0 {
		stem = base[:dot]
	}
	for _, path := range f.Paths(stem+".pdb", true) {
		if have, err := pdbIdentity(path); err == nil && have.GUID == id.GUID && have.Age == id.Age {
			add(path)
		}
	}
	return found
}

// image returns the path of an image that has the identity; empty if there is
// none.
func (f *identityFinder) image(name string, id image.ID) string {
	if f == nil || id.GUID.IsZero() {
		return ""
	}
	found, err := f.Find(image.Want{Name: name, Windows: true, ID: id})
	if err != nil {
		return ""
	}
	found.File.Close()
	return found.Path
}

func pdbIdentity(path string) (pdb.Identity, error) {
	f, err := pdb.Open(path)
	if err != nil {
		return pdb.Identity{}, err
	}
	defer f.Close()
	return f.Identity()
}
