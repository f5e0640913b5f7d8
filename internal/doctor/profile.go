package doctor

import (
	"fmt"
	"slices"

	"github.com/spgo-tools/spgo/internal/compare"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/spd"
)

const (
	// linkerPath is the most characters of a path that link.exe takes.
	linkerPath = 260
	// staleBelow is the share of a profile in percent below which Microsoft
	// advises to profile again.
	staleBelow = 90
	// Coverage in percent that Microsoft calls limiting and excellent.
	limitingBelow, excellentAbove = 40, 70
	// flatAbove is the share of the code in percent above which being hot says
	// little.
	flatAbove = 60
	// flatFrom is the number of hot functions from which they can say that time
	// is spent evenly; few of them are simply all there is.
	flatFrom = 10
)

// profile judges what the subject holds and what the last link made of its
// input.
func (x *examiner) profile() {
	for _, s := range x.SPDs {
		if s.Where == "" && s.PathLength > linkerPath {
			x.add(diag.New(diag.LongPath, "the full path has %d characters", s.PathLength).In(s.File))
		}
	}
	if x.subject == nil {
		return
	}
	f, file := x.subject.Content, x.subject.File
	p := profileOf(f)
	if p.functions == 0 {
		empty := diag.Codes[diag.EmptyDatabase]
		x.add(diag.New(diag.NoProfile, "the SPD has no functions").In(file).Because("%s", empty.Cause).Do("%s", empty.Next))
		return
	}
	x.generation(f, &p)
	if f.Header.Flags&spd.HeaderProfiled == 0 {
		return
	}
	coverage := 100 * p.summary.BlockCoverage()
	switch {
	case p.summary.CoveredBlocks == 0:
		x.add(diag.New(diag.NoProfile, "the SPD is marked as imported, but all of its counts are zero").In(file).
			Because("An import without usable samples, such as with the wrong /mode, made it.").
			Do("Look at the kinds of samples: sptdump /summary run.spt, then import again with the mode that they have."))
		return
	case f.OfMachineCode():
		x.machineCoverage(&p, file)
	case coverage < limitingBelow:
		e := diag.New(diag.LimitedCoverage, "%.1f %% of the blocks are covered (%d of %d), in %d of %d functions; below %d %% limits what the compiler can do",
			coverage, p.summary.CoveredBlocks, p.summary.Blocks, p.summary.ProfiledFunctions, p.functions, limitingBelow).In(file)
		hot := percent(uint64(p.hotCovered), uint64(p.hotBlocks))
		e.Because("%s Functions without counts are compiled for size. %s", e.Cause, p.hotText(hot))
		if hot > excellentAbove {
			e.Do("What is hot is covered well, so that more samples of the same workload change little: profile a wider workload and import that as well.")
		}
		x.add(e)
	}
	share := percent(p.hotInstructions, p.instructions)
	if share > flatAbove && p.hot >= flatFrom {
		x.note(diag.New(diag.FlatProfile, "%d functions with %.1f %% of the code are hot", p.hot, share).In(file))
	}
	if coverage > excellentAbove && share <= flatAbove && p.generation > 0 && !slices.ContainsFunc(x.Findings, func(f Finding) bool { return f.Severity != Note }) {
		x.note(diag.New(diag.SoundProfile, "%.1f %% of the blocks are covered, and the last link used a profile", coverage).In(file))
	}
}

// machineCoverage judges the hot functions of an SPD that was made of an image.
// The share of all blocks says little there: they include those of all
// libraries and of the runtime.
func (x *examiner) machineCoverage(p *profileFacts, file string) {
	hot := percent(uint64(p.hotCovered), uint64(p.hotBlocks))
	if p.hot == 0 || hot >= limitingBelow {
		return
	}
	x.add(diag.New(diag.LimitedCoverage, "%.1f %% of the blocks of hot functions are covered (%d of %d); below %d %% limits what a compiler can do",
		hot, p.hotCovered, p.hotBlocks, limitingBelow).In(file))
}

// hotText says how well the hot functions are covered.
func (p *profileFacts) hotText(percent float64) string {
	if p.hot == 1 {
		return fmt.Sprintf("Of the blocks of the one hot function %.1f %% are covered.", percent)
	}
	return fmt.Sprintf("Of the blocks of the %d hot functions %.1f %% are covered.", p.hot, percent)
}

// profileFacts are sums over the functions of an SPD.
type profileFacts struct {
	summary                       spd.Summary
	functions                     int // with code or blocks
	generation                    uint32
	unmatched                     int // that the input of the link did not have
	counted                       int // calls that the link noted with counts of its input
	hot, hotBlocks, hotCovered    int // functions compiled for speed, their blocks
	hotInstructions, instructions uint64
}

func profileOf(f *spd.File) profileFacts {
	p := profileFacts{summary: f.Summary()}
	for m := range f.Modules {
		p.generation = max(p.generation, f.Modules[m].Generation)
		for i := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[i]
			p.functions++
			if fn.Flags&spd.FunctionNoInput != 0 {
				p.unmatched++
			}
			for k := range fn.MachineCallees {
				if fn.MachineCallees[k].Count > 0 {
					p.counted++
				}
			}
			var own uint64
			for k := range fn.Blocks {
				own += uint64(fn.Blocks[k].OwnInstructions())
			}
			p.instructions += own
			if f.Header.HotThreshold > 0 && fn.Weight() >= f.Header.HotThreshold {
				p.hot++
				p.hotBlocks += len(fn.Blocks)
				p.hotCovered += fn.Covered()
				p.hotInstructions += own
			}
		}
	}
	return p
}

// generation says what the link that wrote the subject made of its input: its
// generation counts links with /spdin, calls have the counts of the input, and
// functions that the input did not have are marked.
func (x *examiner) generation(f *spd.File, p *profileFacts) {
	file := x.subject.File
	profiled := f.Header.Flags&spd.HeaderProfiled != 0
	switch {
	case f.OfMachineCode(): // no link wrote it
	case p.generation == 0 && profiled:
		x.note(diag.New(diag.NoInput, "the link that wrote the SPD had no /spdin: its program was built without a profile").In(file).
			Do("Link again with this SPD: link /spgo /spdin:%s", command(file)))
	case p.generation == 0:
	case p.counted == 0:
		x.add(diag.New(diag.EmptyInput, "the link had an SPD as its input (generation %d), but took no counts from it", p.generation).In(file))
	case 100*p.unmatched > (100-staleBelow)*p.functions:
		x.add(diag.New(diag.MuchChanged, "the input of the link had no profile of %d of %d functions (%.1f %%)", p.unmatched, p.functions, percent(uint64(p.unmatched), uint64(p.functions))).In(file).
			Because("These functions are new or renamed since the profile was taken, and are compiled as if there was none.").
			Do("Profile this build: record it, import into %s, and link with /spdin:%s", file, command(file)))
	}
}

// others judges the SPDs beside the subject.
func (x *examiner) others() {
	if x.subject == nil {
		return
	}
	for _, s := range x.SPDs {
		if s == x.subject {
			continue
		}
		switch rel := relation(x.want, s.identity()); {
		case rel == Other:
			if s.Where == "" {
				e := diag.New(diag.OtherProgram, "the SPD is of %s, not of %s", s.Content.Header.Binary, x.want.Name).In(s.File)
				e.Want, e.Got = x.want.String(), s.identity().String()
				x.add(e)
			}
		case s.Where == "" && rel != Same:
			x.older(s)
		case rel == Same:
			x.twin(s)
		}
	}
}

// older judges how much of a profile of another build fits. Of two SPDs that
// with counts is the profile, and the other one the code.
func (x *examiner) older(s *SPD) {
	from, to := s, x.subject
	if s.Content.Header.Flags&spd.HeaderProfiled == 0 {
		from, to = to, from
	}
	stale := compare.Stale(from.Content, to.Content, 1)
	text := fmt.Sprintf("%.1f %% of the weight of its profile fits the code of %s (%d of %d functions)", stale.WeightPercent, to.File, stale.MatchedFunctions, stale.Functions)
	detail := command("spddump", "/stale:"+to.File, from.File)
	switch {
	case stale.Functions == 0:
		e := diag.New(diag.OtherBuild, "the SPD is of another build than %s, and neither holds a profile", x.subject.File).In(s.File)
		e.Want, e.Got = x.want.String(), s.identity().String()
		if spts := x.matching("SPT"); len(spts) > 0 {
			e.Do("Leave %s out: the samples are of the build of %s: %s", s.File, x.subject.File, x.importOf(spts))
		}
		x.add(e)
	case stale.MatchedFunctions == 0 && len(x.matching("SPT"))+len(x.matching(recordings...)) > 0:
		x.add(diag.New(diag.MuchChanged, "%s", text).In(from.File).
			Because("Every function was changed, renamed or removed since the profile was taken.").
			Do("Use the new samples instead: %s", x.importOf(x.matching("SPT"))))
	case stale.MatchedFunctions == 0:
		x.add(diag.New(diag.NothingFits, "%s", text).In(from.File))
	case stale.WeightPercent < staleBelow:
		x.add(diag.New(diag.MuchChanged, "%s", text).In(from.File).
			Do("Profile the new build; see which functions changed: %s", detail))
	default:
		x.note(diag.New(diag.OlderProfile, "%s", text).In(from.File))
	}
}

// twin compares two SPDs of one build.
func (x *examiner) twin(s *SPD) {
	d := compare.Files(x.subject.Content, s.Content, 1)
	place := s.File
	if s.Where != "" {
		place = s.Where + " of " + s.File
	}
	changed := len(d.Added) + len(d.Removed) + len(d.Changed)
	switch {
	case changed > 0:
		e := diag.New(diag.OtherEmbedded, "%s has the same identity as %s and other code; functions that differ: %d", place, x.subject.File, changed).In(s.File).
			Because("One of the two was written by an incremental link or by a tool that changed it.").
			Do("Link again without /INCREMENTAL, and take both from that link.")
		x.add(e)
	case d.OldCounted && !d.NewCounted:
		x.note(diag.New(diag.OtherEmbedded, "%s has no counts, %s has", place, x.subject.File).In(s.File).
			Do("Use %s; do not extract over it.", x.subject.File))
	case !d.OldCounted && d.NewCounted:
		e := diag.New(diag.OtherEmbedded, "%s has counts, %s has none", place, x.subject.File).In(s.File).
			Because("The file was written again by a link, or was not the one that samples were imported into.").
			Do("Use the SPD with the counts: %s", s.File)
		if s.Where != "" {
			e.Do("Take it out: %s", command("spdconvert", "/extract", s.File, "extracted.spd"))
		}
		x.add(e)
	case d.OldCounted && d.Overlap < 100:
		x.note(diag.New(diag.OtherEmbedded, "%s has other counts: the profiles overlap by %.1f %%", place, d.Overlap).In(s.File).
			Because("Samples were imported into one of the two since the link.").
			Do("Compare them: %s", command("spddump", "/diff:"+s.File, x.subject.File)))
	}
}
