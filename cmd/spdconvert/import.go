package main

import (
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// importSamples adds SPTs to an SPD, or retires it alone.
func importSamples(c *cli.Context) (cli.Result, error) {
	p, err := newPlan(c)
	if err != nil {
		return nil, err
	}
	operation := "import"
	if len(p.inputs) == 0 {
		operation = "retire"
		if !c.IsSet("retire") {
			operation = "summary"
			if p.write {
				c.Warn(diag.New(diag.NothingToDo, "no SPT is named").In(p.file))
				p.write = false
			}
		}
	}
	from, err := newProvenance(c, operation, p.output)
	if err != nil {
		return nil, err
	}
	if p.write {
		release, err := claim(c, p.output)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	f, before, err := readOrBuild(c, p)
	if err != nil {
		return nil, err
	}
	result := report.NewConversion(operation, p.file, f)
	var counts *correlate.Result
	if len(p.inputs) > 0 {
		mismatch, err := checkIdentities(c, p, &f.Header)
		if mismatch != nil {
			return mismatch, err
		}
		if err != nil {
			return nil, err
		}
		if counts, err = count(c, p, f); err != nil {
			return nil, err
		}
	}
	combine(c, p, f, counts, result)
	if counts != nil && !touches(counts) {
		return result, nothingUsed(p, f, result)
	}
	if counts != nil {
		if fn := profile.Unwhole(f, counts.Functions); fn != nil {
			return result, diag.New(diag.Internal, "the new counts of %v %q are no flow; nothing was written", fn.ID, fn.Name).In(p.file)
		}
	}
	if err := p.gates.check(result); err != nil || !p.write {
		return result, err
	}
	if err := from.describe(c, p, before, result); err != nil {
		return result, err
	}
	if err := writeSPD(c, p.output, from, func(w io.Writer) error { return spd.Write(w, f) }); err != nil {
		return result, err
	}
	result.Output = p.output
	return result, nil
}

// manySamples is the size of SPTs from which on memory matters more than time.
const manySamples = 32 << 20

// count reads all SPTs and makes counts of them.
func count(c *cli.Context, p *plan, f *spd.File) (*correlate.Result, error) {
	o := p.options
	weights := make([]uint64, len(p.inputs))
	for i, in := range p.inputs {
		weights[i] = in.weight
	}
	if p.normalize {
		if err := surveyAll(c, p); err != nil {
			return nil, err
		}
		weights, o.Scale = normalized(p.inputs, o), normalScale
	}
	total := int64(0)
	for _, in := range p.inputs {
		total += in.size()
	}
	progress := c.Progress("importing", total)
	defer progress.Done()
	if total >= manySamples {
		// Most memory are sums, in which the collector finds no pointers: to look
		// for garbage twice as often costs little.
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	sums := correlate.NewSamples(f)
	var failed []error
	for i, in := range p.inputs {
		failed = append(failed, in.read(c, p.tolerate, func(r *spt.Reader) (err error) {
			in.stats, err = sums.Add(r, in.uses, weights[i])
			return err
		}))
		if in.stats.Reversed {
			c.Warn(diag.New(diag.OddSPT, "its branch stacks have the oldest branch first; they were turned around").In(in.name))
		}
		c.Logf("read %s", in.name)
		progress.Add(in.size())
	}
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	o.Consume = true
	var (
		r   *correlate.Result
		err error
	)
	if interrupted := c.Do(func() { r, err = correlate.Infer(c.Context.Context, sums, o) }); interrupted != nil {
		return nil, interrupted
	}
	if err != nil {
		return nil, explainMode(p, err)
	}
	if r.StacksReversed {
		c.Warn(diag.New(diag.OddSPT, "call stacks have the outermost frame first; they were turned around"))
	}
	return r, nil
}

// combine changes the counts of f and completes the result. Counts may be nil.
func combine(c *cli.Context, p *plan, f *spd.File, counts *correlate.Result, result *report.Conversion) {
	imported := f.Header.Flags&spd.HeaderProfiled != 0
	if p.retire > 0 && imported {
		result.Retired = p.retire
	}
	if counts == nil {
		if p.retire > 0 {
			profile.Retire(f, p.retire)
		}
		result.After(f)
		return
	}
	elsewhere := listInputs(p, counts, result)
	if !touches(counts) {
		result.Retired = 0
		result.Sampled(counts, 0, elsewhere, f)
		return
	}
	profile.Retire(f, p.retire)
	added := profile.Add(f, counts.Functions)
	c.Logf("%d entries were raised to %d; old counts of %d functions were made a flow", added.Raised, profile.EntryFloor, added.Repaired)
	result.After(f)
	result.Sampled(counts, added.Touched, elsewhere, f)
	if n := len(counts.FellBack); n > 0 {
		e := diag.New(diag.UnlikelyCode, "counts of %d of %d functions with samples are far from these", n, added.Touched).In(p.file)
		e.Count = uint64(n)
		if counts.SampledTime() {
			e.Message += "; time was sampled, but slow instructions do not explain so much"
		}
		c.Warn(e)
		for _, d := range result.Doubts {
			c.Logf("counts of %s are far from its %d samples: they overlap by %.1f %%", d.Name, d.Hits, d.Overlap)
		}
	}
	if n := added.Endless; n > 0 {
		e := diag.New(diag.UnwholeFlow, "%d of %d functions with samples have no way from entry to exit", n, added.Touched).In(p.file)
		e.Count = uint64(n)
		c.Warn(e)
	}
}

// listInputs adds the SPTs to the result and returns the number of samples in
// other binaries, weighted.
func listInputs(p *plan, counts *correlate.Result, result *report.Conversion) uint64 {
	var weights []uint64
	if p.normalize {
		weights = normalized(p.inputs, p.options)
	}
	elsewhere := 0.0
	for i, in := range p.inputs {
		list := report.ConvertedInput{File: in.name, Weight: in.weight, Samples: samples(in.stats.Chosen, counts.Mode, counts.IPEvent)}
		weight := float64(in.weight)
		if p.normalize {
			weight = float64(weights[i]) / normalScale
			list.NormalizedWeight = weight
		}
		result.Inputs = append(result.Inputs, list)
		elsewhere += weight * float64(samples(in.stats.Other, counts.Mode, counts.IPEvent))
	}
	return uint64(min(elsewhere, 1<<63))
}

// touches says whether any function received samples.
func touches(r *correlate.Result) bool {
	return slices.ContainsFunc(r.Functions, func(f correlate.Function) bool { return f.Touched })
}

// nothingUsed says why no sample could be used.
func nothingUsed(p *plan, f *spd.File, result *report.Conversion) error {
	e := diag.New(diag.NoSamples, "none of the samples can be used")
	functions := 0
	for m := range f.Modules {
		functions += len(f.Modules[m].Functions)
	}
	var total uint64
	for _, in := range result.Inputs {
		total += in.Samples
	}
	switch outside := result.Samples.Dropped["outside_any_function"]; {
	case result.Samples.Dropped["in_blocks_without_a_branch"] > outside:
		e.Because("Retired branches count only in blocks that end in a branch, and none was sampled there.").
			Do("Leave --ip-event out, or record branch stacks or retired instructions.")
	case functions == 0:
		e.Because("The SPD has no functions: it was created without the linker.").
			Do("Import into the SPD that the link with /spgo made.")
	case total == 0:
		e.Because("The SPT knows the binary, but holds no samples of it.").
			Do("Look at sptdump /summary %s; aggregate a recording of %s.", p.inputs[0].name, f.Header.Binary)
	case outside > 0 && p.made != "":
		e.Because("All addresses lie outside the functions of %s: they are of another build with the same identity.", p.made).
			Do("Aggregate again with --image-path, and name the image that was recorded.")
	case outside > 0:
		e.Because("All addresses lie outside the functions of the SPD: they are file offsets, or of another build with the same identity.").
			Do("Compare sptdump /summary %s with spddump /func %s; aggregate again with --image-path.", p.inputs[0].name, p.file)
	}
	return e
}

// describe adds the inputs of an import. Nothing is read without a provenance.
func (p *provenance) describe(c *cli.Context, plan *plan, from string, result *report.Conversion) error {
	if p == nil {
		return nil
	}
	p.Options = provenanceOptions{Retired: result.Retired, Normalize: plan.normalize, IgnoreAge: plan.identity.ignoreAge,
		IgnoreIdentity: plan.identity.ignoreIdentity, Tolerate: plan.tolerate, Mode: result.Mode, IPEvent: result.IPEvent}
	if from != "-" {
		before, err := digestFile(from)
		if err != nil {
			return err
		}
		p.SPD = &before
	}
	for i, in := range plan.inputs {
		d, err := in.digest(c)
		if err != nil {
			return err
		}
		d.Weight, d.Samples = in.weight, result.Inputs[i].Samples
		p.Inputs = append(p.Inputs, d)
	}
	return nil
}
