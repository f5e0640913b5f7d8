package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// machines compares the architectures of the files.
func (x *examiner) machines() {
	var of *Row // whose architecture is that of the program
	for _, sampled := range []bool{false, true} {
		for i := range x.Rows {
			r := &x.Rows[i]
			if of == nil && r.Arch != "" && r.Recorded() == sampled && (r.Relation == Same || i == x.Reference) {
				of = r
			}
		}
	}
	if of == nil {
		return
	}
	seen := map[string]bool{of.File: true}
	for i := range x.Rows {
		r := &x.Rows[i]
		if r.Arch == "" || seen[r.File] {
			continue
		}
		seen[r.File] = true
		if runs(of, r) {
			continue
		}
		e := diag.New(diag.OtherMachine, "%s is for %s, %s for %s", r.noun(), architecture(r.Arch), of.File, architecture(of.Arch)).In(r.File)
		e.Want, e.Got = architecture(of.Arch), architecture(r.Arch)
		if r.Recorded() {
			e.Do("Record the program on the architecture that it is built for, or take the SPD of the build for %s: each architecture has a profile of its own.", architecture(r.Arch))
		}
		x.add(e)
	}
}

// runs says whether two files can be of one program. A machine also runs the
// code of its 32-bit predecessor, and Arm machines with Windows that of others.
func runs(a, b *Row) bool {
	x, y := architecture(a.Arch), architecture(b.Arch)
	if x == y {
		return true
	}
	machine, program := y, x
	if a.Recorded() {
		machine, program = x, y
	}
	if !a.Recorded() && !b.Recorded() {
		return false
	}
	windows := a.Kind == "etl" || b.Kind == "etl"
	switch image.Arch(machine) {
	case image.ArchAMD64:
		return image.Arch(program) == image.ArchX86
	case image.ArchARM64:
		return image.Arch(program) == image.ArchARM || windows
	}
	return false
}

// architectureOf is the architecture of a row's build, where it is another one
// than that of a file of the subject's build; else "".
func (x *examiner) architectureOf(r *Row) string {
	for i := range x.Rows {
		own := &x.Rows[i]
		if own.Relation == Same && own.Arch != "" && r.Arch != "" && !own.Recorded() && !runs(own, r) {
			return architecture(r.Arch)
		}
	}
	return ""
}

// code compares the functions of the subject with the code of its image.
func (x *examiner) code() {
	if x.subject == nil {
		return
	}
	for _, img := range x.Images {
		if !img.identity().is(x.want) || len(img.Code) == 0 {
			continue
		}
		outside, functions := 0, 0
		var first string
		for m := range x.subject.Content.Modules {
			fns := x.subject.Content.Modules[m].Functions
			for i := range fns {
				if fns[i].Length == 0 {
					continue
				}
				functions++
				if !within(img.Code, uint64(fns[i].RVA), uint64(fns[i].Length)) {
					outside++
					if first == "" {
						first = fmt.Sprintf("%s at RVA 0x%x", fns[i].Name, fns[i].RVA)
					}
				}
			}
		}
		if outside > 0 {
			e := diag.New(diag.OtherCode, "%d of %d functions of the SPD lie where the image has no code, such as %s", outside, functions, first).In(img.File)
			x.add(e)
		}
	}
}

// within says whether an extent holds n bytes from rva on.
func within(code []image.Extent, rva, n uint64) bool {
	for _, c := range code {
		if c.Start <= rva && rva+n <= c.End {
			return true
		}
	}
	return false
}

// samples judges the samples that belong to the subject.
func (x *examiner) samples() {
	for i := range x.Rows {
		r := &x.Rows[i]
		if !r.Decides || !r.Recorded() || r.Relation != Same {
			continue
		}
		if r.FileOffsets {
			x.offsets(r)
			continue
		}
		x.kinds(r)
		if r.Kind == "SPT" {
			if fit := x.fit(r.File); fit != nil && fit.Wrong == nil {
				x.fits(r, fit)
			}
			continue
		}
		if !x.hasSPT() && r.mode() != correlate.Auto {
			x.note(diag.New(diag.NotAggregated, "the recording has samples of %s", r.Name).In(r.File).Do("%s", x.aggregate(r.File)))
		}
	}
}

// offsets says that the addresses of samples were not translated.
func (x *examiner) offsets(r *Row) {
	e := diag.New(diag.NoSamples, "the addresses of the samples of %s are file offsets, which an SPD does not know", r.Name).In(r.File).
		Because("The headers of the program are needed to translate them, and it was not at hand when the recording was read.").
		Do("Aggregate the recording again with --image-path and the folder of the recorded program: %s",
			command("sptaggregate", "/binary:"+r.Name, "--image-path", "FOLDER", "/etl", cmp.Or(x.recording(), "RECORDING"), stem(x.want.Name)+".spt"))
	switch {
	case x.imageOf(x.want) != nil:
		e.Do("Aggregate the recording again with the program: %s", x.aggregate(x.recording()))
	case r.Kind != "SPT":
		e.Do("Name the recorded program as well: %s", command("spddump", "/doctor", x.Rows[x.Reference].File, r.File, r.Name))
	}
	x.add(e)
}

func (x *examiner) hasSPT() bool {
	for i := range x.Rows {
		if r := &x.Rows[i]; r.Kind == "SPT" && r.Relation == Same {
			return true
		}
	}
	return false
}

// kinds says which modes find samples.
func (x *examiner) kinds(r *Row) {
	switch r.mode() {
	case correlate.Auto:
		e := diag.New(diag.NoUsableKind, "%s has no samples of %s", r.noun(), r.Name).In(r.File)
		if r.Hits() > 0 {
			e.Message = fmt.Sprintf("%s has no samples of %s that say how often code ran, only %s", r.noun(), r.Name, strings.Join(kindList(r.Samples), ", "))
			e.Because("Only cache misses or branch instructions were counted.")
		}
		e.Do("Record again with branch stacks (xperf -pmcprofile BranchInstructionRetired -LastBranch PmcInterrupt; perf record -b), instructions or the timer, and look at sptdump /summary before the import.")
		x.add(e)
	case correlate.IP:
		x.note(diag.New(diag.OneKind, "%s has addresses alone (%s) and no branch stacks: /mode:LBR would find no samples", r.noun(), strings.Join(kindList(r.Samples), ", ")).In(r.File).
			Because("It was recorded without branch stacks, which virtual machines mostly lack.").
			Do("Use /mode:IP. Addresses need about ten times the samples that branch stacks need."))
	case correlate.LBR:
		if !hasKind(r.Samples, spt.OpRetireInstr) && !hasKind(r.Samples, spt.OpUnhaltCycle) && !hasKind(r.Samples, spt.OpETWInstr) {
			x.note(diag.New(diag.OneKind, "%s has branch stacks and no addresses that say how often code ran: /mode:IP, Microsoft's default, would find no samples", r.noun()).In(r.File).
				Because("Branch stacks were recorded, which make the better profile.").Do("Use /mode:LBR."))
		}
	}
}

// kindList names the kinds of samples with their numbers.
func kindList(counts []Count) []string {
	var list []string
	for _, c := range counts {
		list = append(list, fmt.Sprintf("%d %v", c.Hits, c.Op))
	}
	return list
}

// fits judges how the samples of an SPT suit the code.
func (x *examiner) fits(r *Row, fit *Fit) {
	all := fit.Used + fit.Outside
	switch {
	case fit.Used == 0:
		x.add(diag.New(diag.NoSamples, "none of %d samples falls into a function of %s", all, x.subject.File).In(r.File).
			Because("The identity agrees and the code does not: the program was patched, packed or its identity copied, or its addresses are file offsets.").
			Do("Name the image too, which tells where its code is: %s", command("spddump", "/doctor", x.subject.File, r.File, x.want.Name)))
		return
	case fit.Outside > fit.Used:
		e := diag.New(diag.MostlyOutside, "%.1f %% of %d samples lie outside of the functions of %s", percent(fit.Outside, all), all, x.subject.File).In(r.File)
		if x.subject.Content.OfMachineCode() {
			e.Because("The image was changed after the SPD was made of it, or most time is spent in code that belongs to no function that was found.").
				Do("Make the SPD again with the PDB or debug file of the image: spdconvert /build with /pdb.")
		}
		x.add(e)
	}
	if fit.DoubtfulHits*10 > fit.Hits {
		e := diag.New(diag.UnlikelyCode, "the counts of %d of %d functions, with %.1f %% of the samples, do not fit their code", fit.Doubtful, fit.Touched, percent(fit.DoubtfulHits, fit.Hits)).In(r.File)
		if fit.Time {
			e.Message += "; time was sampled, but slow instructions do not explain so much"
		}
		x.add(e.Do("See which: %s", command("spdconvert", "/summary", "-v", x.subject.File, r.File)))
	}
	if fit.Factor > 1 {
		x.add(diag.New(diag.ThinSamples, "hot functions want %.1f times as many samples", fit.Factor).In(r.File))
	}
}
