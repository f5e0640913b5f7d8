package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
)

// run is one aggregation: options, inputs one after the other, then the SPT.
func run(c *cli.Context) (cli.Result, error) {
	plan, err := newPlan(c)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, in := range plan.inputs {
		total += inputSize(in)
	}
	progress := c.Progress("aggregating", total)
	defer progress.Done()
	plan.options.Progress = progress.Add

	profile := aggregate.New(plan.lbrDepth)
	var facts []*ingest.Facts
	var failed []error
	var shards []*aggregate.Shard
	newSink := func() sample.Sink {
		s := profile.NewShard()
		shards = append(shards, s)
		return s
	}
	stdin := c.In
	if slices.Contains(plan.inputs, "-") {
		stdin = c.Input()
	}
	ingest.ReadAll(c.Context.Context, plan.inputs, stdin, plan.options, profile, newSink, func(read []*ingest.Facts, err error) {
		if err != nil {
			failed = append(failed, err)
		}
		for _, s := range shards {
			profile.Merge(s)
		}
		shards = nil
		for _, f := range read {
			c.Logf("read %s", f.File)
			facts = append(facts, f)
			for _, w := range f.Warnings {
				c.Warn(w)
			}
			if f.Damage != nil {
				failed = append(failed, f.Damage)
			}
		}
	})
	if c.Context.Err() != nil {
		return nil, c.Context.Err()
	}
	progress.Done()

	summary := report.NewAggregation(facts, profile)
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
	if err := write(c, plan.output, profile, summary); err != nil {
		return summary, errors.Join(append(failed, err)...)
	}
	return summary, errors.Join(partial(failed)...)
}

// write writes the SPT and fills in the summary of the output.
func write(c *cli.Context, name string, profile *aggregate.Profile, summary *report.Aggregation) error {
	encode := func(w io.Writer) error {
		result, err := profile.Write(w)
		if err != nil {
			return err
		}
		summary.Output = report.Output{File: name, Bytes: result.Bytes, Records: result.Records}
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

// inputSize is the size of an input in bytes, for progress; 0 if it is not
// known.
func inputSize(name string) int64 {
	if _, ok := ntfs.Parse(name); ok {
		f, err := ntfs.OpenFile(name)
		if err != nil {
			return 0
		}
		defer f.Close()
		return f.Size()
	}
	fi, err := os.Stat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return 0
	}
	return fi.Size()
}
