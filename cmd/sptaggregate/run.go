package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/batch"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
)

// run is one aggregation: options, inputs, then the SPT.
func run(c *cli.Context) (cli.Result, error) {
	plan, err := newPlan(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(c.Context.Context)
	defer cancel()
	profile := aggregate.New(plan.lbrDepth)
	profile.Workers = plan.options.Workers
	defer profile.Close()
	defer plan.limitMemory(profile, cancel)()

	var progress *cli.Progress // of all inputs, once they were looked at
	plan.options.Progress = func(bytes int64) { progress.Add(bytes) }
	units := ingest.FindUnits(ctx, plan.inputs, plan.options)
	defer units.Close()
	list := units.List
	if plan.share.Count > 0 {
		list = plan.share.Of(list)
		c.Logf("share %d of %d: %d of %d inputs", plan.share.Index, plan.share.Count, len(list), len(units.List))
	}
	total := int64(0)
	for _, u := range list {
		total += u.Size
	}
	progress = c.Progress("aggregating", total)
	defer progress.Done()

	outcomes, err := batch.Read(ctx, units, list, profile, plan.batchOptions(c))
	if c.Context.Err() != nil {
		return nil, c.Context.Err()
	}
	if err != nil {
		return nil, plan.spillError(err)
	}
	var facts []*ingest.Facts
	var failed []error
	earlier := 0
	for _, out := range outcomes {
		for _, e := range out.Errors {
			failed = append(failed, e)
		}
		if out.Earlier {
			earlier++
		}
		for _, f := range out.Facts {
			facts = append(facts, f)
			for _, w := range f.Warnings {
				c.Warn(w)
			}
			if f.Damage != nil {
				failed = append(failed, f.Damage)
			}
		}
	}
	progress.Done()

	summary := report.NewAggregation(facts, profile)
	if err := profile.Err(); err != nil {
		return summary, plan.spillError(err)
	}
	summary.Earlier = earlier
	if plan.share.Count > 0 {
		summary.Shard = &report.Shard{Index: plan.share.Index, Count: plan.share.Count, Taken: len(list), Inputs: len(units.List)}
		if len(list) == 0 {
			return summary, diag.New(diag.NothingUsable, "share %d of %d is empty: there are %d inputs", plan.share.Index, plan.share.Count, len(units.List)).
				Because("There are more shares than inputs.").Do("Use as many shares as there are inputs, or fewer.")
		}
	}
	checkFilters(c, plan.options, summary, facts, profile)
	if err := checkLost(plan.maxLost, summary.Lost); err != nil {
		return summary, errors.Join(append(failed, err)...)
	}
	if summary.Mode == "none" {
		if summary.Read() > 0 || !hasFailure(failed) {
			failed = append(failed, nothingUsable(plan.options, summary))
		}
		return summary, errors.Join(failed...)
	}
	c.ResultToErr = plan.output == "-"
	if err := write(c, plan, profile, summary); err != nil {
		return summary, errors.Join(append(failed, err)...)
	}
	if plan.resume {
		if err := os.Remove(plan.state()); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return summary, errors.Join(partial(failed)...)
}

// write writes the SPT and fills in the summary of the output.
func write(c *cli.Context, plan *plan, profile *aggregate.Profile, summary *report.Aggregation) error {
	name := plan.output
	encode := func(w io.Writer) error {
		result, err := profile.Write(w)
		if err != nil {
			return err
		}
		summary.Output = report.Output{File: name, Bytes: result.Bytes, Records: result.Records}
		if plan.maxMemory > 0 && result.Memory > plan.maxMemory-outsideGo {
			c.Warn(diag.New(diag.OverMemory, "putting the records of one binary together took about %d MiB", result.Memory>>20))
		}
		if result.PairsCut > 0 {
			c.Warn(&diag.Error{Code: diag.PairsCut, Count: result.PairsCut,
				Message: fmt.Sprintf("%d pairs of neighbouring branches were separated", result.PairsCut),
				Cause:   diag.Codes[diag.PairsCut].Cause, Next: diag.Codes[diag.PairsCut].Next})
		}
		return nil
	}
	if name == "-" {
		return encode(c.Out)
	}
	return cli.WriteFile(c.Context.Context, name, encode)
}

// partial turns failures of single inputs into ones that say that the others
// were used.
func partial(failed []error) []error {
	for i, err := range failed {
		if e := diag.Of(err); e.Exit() == diag.Failed {
			skipped := *e
			skipped.Code = diag.InputSkipped
			failed[i] = &skipped
		}
	}
	return failed
}

// hasFailure says whether an input could not be read at all, which then is the
// reason for an empty result.
func hasFailure(errs []error) bool {
	return slices.ContainsFunc(errs, func(err error) bool { return diag.Of(err).Exit() == diag.Failed })
}

// checkLost applies --max-lost.
func checkLost(limit string, lost report.Lost) error {
	if limit == "" {
		return nil
	}
	percent, _ := strconv.ParseFloat(strings.TrimSuffix(limit, "%"), 64)
	if lost.Percent <= percent {
		return nil
	}
	return diag.New(diag.LostTooMany, "%.2f %% of the samples were lost, --max-lost allows %s %%", lost.Percent, strings.TrimSuffix(limit, "%"))
}

// checkFilters adds the candidates to the summary where a filter matched
// nothing or several things, and warns of the latter.
func checkFilters(c *cli.Context, o *ingest.Options, summary *report.Aggregation, facts []*ingest.Facts, profile *aggregate.Profile) {
	filtered := len(o.Binaries)+len(o.Processes)+len(o.PIDs) > 0
	if filtered && summary.Mode == "none" {
		summary.AddCandidates(facts, profile)
		return
	}
	for _, filter := range o.Binaries {
		var matches []string
		for _, b := range summary.Binaries {
			if ingest.MatchName([]string{filter}, sample.BaseName(b.Path), b.Path) {
				matches = append(matches, fmt.Sprintf("%s %s", b.Path, b.GUID))
			}
		}
		if len(matches) > 1 {
			if summary.Candidates == nil {
				summary.AddCandidates(facts, profile)
			}
			c.Warn(diag.New(diag.AmbiguousMatch, "/binary:%s matches %d binaries: %s", filter, len(matches), strings.Join(matches, ", ")))
		}
	}
}

// nothingUsable explains why there is nothing to write.
func nothingUsable(o *ingest.Options, summary *report.Aggregation) error {
	switch {
	case len(o.Binaries)+len(o.Processes)+len(o.PIDs) > 0 && summary.Read() > 0:
		return diag.New(diag.NoMatch, "no sample is of the processes and binaries asked for")
	case summary.Read() == 0:
		return diag.New(diag.NothingUsable, "the input holds no samples")
	}
	return diag.New(diag.NothingUsable, "none of %s samples is usable", report.Count(summary.Read()))
}
