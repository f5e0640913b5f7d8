package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/binfmt"
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
		if err := checkOutput(p.output); err != nil {
			return nil, err
		}
		release, err := hold(c, p.output)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	f, err := readSPD(c, p.file)
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
	if err := p.gates.check(result); err != nil || !p.write {
		return result, err
	}
	if err := from.describe(c, p, counts, result); err != nil {
		return result, err
	}
	if err := writeSPD(c, p.output, from, func(w io.Writer) error { return spd.Write(w, f) }); err != nil {
		return result, err
	}
	result.Output = p.output
	return result, nil
}

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
	r, err := correlate.Infer(c.Context.Context, sums, o)
	if err != nil {
		return nil, explainMode(p, err)
	}
	if r.StacksReversed {
		c.Warn(diag.New(diag.OddSPT, "call stacks have the outermost frame first; they were turned around"))
	}
	return r, nil
}

// surveyAll counts the samples of all SPTs before they are read.
func surveyAll(c *cli.Context, p *plan) error {
	var failed []error
	for _, in := range p.inputs {
		failed = append(failed, in.read(c, true, func(r *spt.Reader) (err error) {
			in.stats, err = correlate.Survey(r, in.uses)
			return err
		}))
	}
	return errors.Join(failed...)
}

// normalScale is the weight of a sample of an SPT of mean size.
const normalScale = 1 << 20

// normalized gives every naming of an SPT the same say: its samples weigh what
// makes their sum the mean of all.
func normalized(inputs []*input, o correlate.Options) []uint64 {
	mode, event := kind(inputs, o)
	var total, namings float64
	sizes := make([]float64, len(inputs))
	for i, in := range inputs {
		sizes[i] = float64(samples(in.stats.Chosen, mode, event))
		if sizes[i] > 0 {
			total += sizes[i] * float64(in.weight)
			namings += float64(in.weight)
		}
	}
	weights := make([]uint64, len(inputs))
	for i, in := range inputs {
		if sizes[i] > 0 {
			weights[i] = max(1, uint64(float64(in.weight)*total/namings/sizes[i]*normalScale+0.5))
		}
	}
	return weights
}

// kind is what the mode and event are going to be.
func kind(inputs []*input, o correlate.Options) (correlate.Mode, spt.Opcode) {
	present := map[spt.Opcode]bool{}
	for _, in := range inputs {
		for _, n := range in.stats.Chosen {
			present[n.Op] = present[n.Op] || n.Hits > 0
		}
	}
	if o.Mode == correlate.LBR || o.Mode == correlate.Auto && present[spt.OpLBR] {
		return correlate.LBR, 0
	}
	if o.IPEvent != 0 {
		return correlate.IP, o.IPEvent
	}
	for _, op := range []spt.Opcode{spt.OpRetireInstr, spt.OpUnhaltCycle, spt.OpETWInstr} {
		if present[op] {
			return correlate.IP, op
		}
	}
	return correlate.IP, spt.OpETWCallStack
}

// explainMode presents why the samples do not suit the mode.
func explainMode(p *plan, err error) error {
	var wrong *correlate.WrongModeError
	var mixed *correlate.MixedKindsError
	switch {
	case errors.As(err, &mixed):
		e := diag.New(diag.MixedKinds, "%s", listKinds(p, mixed))
		return e
	case errors.As(err, &wrong):
		e := diag.New(diag.WrongMode, "%v", wrong)
		switch has := wrong.HasMode(); {
		case wrong.IPEvent != 0 && has == correlate.IP:
			e.Because("The recording has other events than the one that was asked for.").Do("Leave --ip-event out.")
		case has == correlate.Auto:
			e.Because("The SPT was made from a recording without usable events, or filters left none.").
				Do("Look at sptdump /summary of the SPTs; record branch stacks, instructions, cycles or the timer.")
		case has == correlate.LBR:
			e.Because("The recording has branch stacks and no addresses that count.").Do("spdconvert /mode:LBR %s %s", p.file, p.inputs[0].name)
		default:
			e.Because("The recording has no branch stacks.").Do("spdconvert /mode:IP %s %s", p.file, p.inputs[0].name)
		}
		return e
	}
	return err
}

func listKinds(p *plan, mixed *correlate.MixedKindsError) string {
	text := ""
	for _, k := range []struct {
		what   string
		inputs []int
	}{{"with branch stacks (LBR)", mixed.LBR}, {"with addresses alone (IP)", mixed.IP}} {
		if text != "" {
			text += "; "
		}
		text += k.what + ":"
		for n, i := range k.inputs {
			if n == 5 {
				text += fmt.Sprintf(" and %d more", len(k.inputs)-n)
				break
			}
			text += " " + p.inputs[i].name
		}
	}
	return text
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
	var elsewhere uint64
	for _, in := range p.inputs {
		own := samples(in.stats.Chosen, counts.Mode, counts.IPEvent)
		result.Inputs = append(result.Inputs, report.ConvertedInput{File: in.name, Weight: in.weight, Samples: own})
		elsewhere = binfmt.SatAdd(elsewhere, binfmt.SatMul(samples(in.stats.Other, counts.Mode, counts.IPEvent), in.weight))
	}
	if p.normalize {
		for i, w := range normalized(p.inputs, p.options) {
			result.Inputs[i].NormalizedWeight = float64(w) / normalScale
		}
	}
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
		e := diag.New(diag.UnlikelyCode, "%d of %d functions with samples", n, added.Touched)
		e.Count = uint64(n)
		c.Warn(e)
		for _, d := range result.Doubts {
			c.Logf("counts of %s are far from its %d samples: they overlap by %.1f %%", d.Name, d.Hits, d.Overlap)
		}
	}
	if n := max(added.Endless, len(counts.Unwhole)); n > 0 {
		e := diag.New(diag.UnwholeFlow, "%d of %d functions with samples", n, added.Touched)
		e.Count = uint64(n)
		c.Warn(e)
	}
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
	case functions == 0:
		e.Because("The SPD has no functions: it was created without the linker.").
			Do("Import into the SPD that the link with /spgo made.")
	case total == 0:
		e.Because("The SPT knows the binary, but holds no samples of it.").
			Do("Look at sptdump /summary %s; aggregate a recording of %s.", p.inputs[0].name, f.Header.Binary)
	case outside > 0:
		e.Because("All addresses lie outside the functions of the SPD: they are file offsets, or of another build with the same identity.").
			Do("Compare sptdump /summary %s with spddump /func %s; aggregate again with --image-path.", p.inputs[0].name, p.file)
	}
	return e
}

// describe adds the inputs of an import. Nothing is read without a provenance.
func (p *provenance) describe(c *cli.Context, plan *plan, counts *correlate.Result, result *report.Conversion) error {
	if p == nil {
		return nil
	}
	p.Options = provenanceOptions{Retired: result.Retired, Normalize: plan.normalize, IgnoreAge: plan.identity.ignoreAge,
		IgnoreIdentity: plan.identity.ignoreIdentity, Tolerate: plan.tolerate, Mode: result.Mode, IPEvent: result.IPEvent}
	if plan.file != "-" {
		before, err := digestFile(plan.file)
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
