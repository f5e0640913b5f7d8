package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/collect"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// pieceBytes is the size of the recordings that a long collection into an SPT
// is aggregated in.
const pieceBytes = 64 << 20

func run(c *cli.Context) (cli.Result, error) {
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	output := c.String("output")
	toSPT := strings.HasSuffix(strings.ToLower(output), ".spt")
	if err := checkOutput(c, output, toSPT); err != nil {
		return nil, err
	}
	result := &report.Collection{}
	// An interrupt ends the sampling; what was sampled is still written.
	writing := context.WithoutCancel(c.Context.Context)
	if toSPT {
		err = collectSPT(c, writing, o, output, result)
	} else {
		err = collectData(c, writing, o, output, result)
	}
	if result.Result == nil || err != nil && result.Samples == 0 {
		return nil, err // the error says all there is to say
	}
	// Standard output is that of the command.
	c.ResultToErr = len(o.Command) > 0 && !c.JSON
	for _, w := range advice(result.Result) {
		c.Warn(w)
	}
	asked := result.Interrupted || result.TimeOver // to end, which is no failure
	if err == nil && result.ExitStatus != 0 && !asked && !c.Bool("ignore-exit-status") {
		err = diag.New(diag.CommandFailed, "%s ended with status %d; %s was written", result.Command, result.ExitStatus, output)
	}
	return result, err
}

// options reads the command line.
func options(c *cli.Context) (*collect.Options, error) {
	o := &collect.Options{
		Command: c.Operands, Event: c.String("event"), Period: c.Uint64("count"), Frequency: c.Uint64("frequency"),
		Duration: c.Duration("duration"), RingPages: c.Int("pages"),
	}
	targets := 0
	if len(o.Command) > 0 {
		targets++
	}
	for _, s := range cli.Names(c.StringSlice("pid")) {
		pid, err := strconv.ParseUint(s, 10, 31)
		if err != nil || pid == 0 {
			return nil, diag.New(diag.BadValue, "--pid takes process ids, not %q", s)
		}
		o.PIDs = append(o.PIDs, int(pid))
	}
	if len(o.PIDs) > 0 {
		targets++
	}
	if c.Bool("all") {
		targets++
	}
	switch {
	case targets == 0:
		return nil, diag.New(diag.BadOperands, "nothing to sample: name a command behind --, processes with -p, or all with -a")
	case targets > 1:
		return nil, diag.New(diag.BadOperands, "a command, -p and -a exclude each other").
			Because("Each of them says what to sample.").Do("Give one of them; what is behind -- is a command.")
	case o.Period > 0 && o.Frequency > 0:
		return nil, diag.New(diag.BadOperands, "--count and --frequency exclude each other").
			Because("Each of them says how often to sample.").Do("Give --count N for a sample every N events, or --frequency N for about N samples a second.")
	case o.Duration < 0:
		return nil, diag.New(diag.BadValue, "--duration takes a time from 0 on with its unit (ms, s, m or h), such as 30s, not %v", o.Duration)
	case o.RingPages < 0 || o.RingPages&(o.RingPages-1) != 0:
		return nil, diag.New(diag.BadValue, "--pages takes a number of pages that is a power of two, not %d", o.RingPages)
	}
	var err error
	if o.Branches, err = want(c, "branches"); err != nil {
		return nil, err
	}
	o.CallChains, err = want(c, "call-graph")
	return o, err
}

func want(c *cli.Context, name string) (collect.Want, error) {
	switch v := strings.ToLower(c.String(name)); v {
	case "auto":
		return collect.Auto, nil
	case "on", "yes", "any", "fp":
		return collect.Yes, nil
	case "off", "no", "none":
		return collect.No, nil
	default:
		return 0, diag.New(diag.BadValue, "--%s takes auto, on or off, not %q", name, v)
	}
}

// checkOutput refuses to replace what is no file of the kind to write.
func checkOutput(c *cli.Context, output string, toSPT bool) error {
	switch {
	case output == "":
		return diag.New(diag.BadOperands, "no output: name it with -o")
	case output == "-":
		return diag.New(diag.BadOperands, "standard output is that of the command: name a file with -o")
	case len(c.StringSlice("binary")) > 0 && !toSPT:
		return diag.New(diag.BadOperands, "--binary chooses what goes into an SPT; %s would be a perf.data file", output).
			Do("Name an output that ends in .spt, or give /binary to sptaggregate.")
	case toSPT:
		return cli.Replaceable(output, "SPT", spt.IsSPT)
	}
	return cli.Replaceable(output, "perf.data file", isPerfData)
}

func isPerfData(r io.ReaderAt) bool {
	var head [8]byte
	_, err := r.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == "PERFILE2"
}

// collectData keeps every sample.
func collectData(c *cli.Context, writing context.Context, o *collect.Options, output string, result *report.Collection) error {
	err := cli.WriteSeekableFile(writing, output, func(f io.WriteSeeker) error {
		sink := collect.NewFile(f, "sptcollect "+cli.Version)
		var err error
		if result.Result, err = collect.Run(c.Context.Context, o, stdout(c), sink); err != nil {
			return err
		}
		if result.Samples == 0 {
			return nothing(result.Result)
		}
		return sink.Close()
	})
	if err != nil {
		return err
	}
	result.Output = report.Output{File: output}
	if fi, err := os.Stat(output); err == nil {
		result.Output.Bytes = fi.Size()
	}
	return nil
}

// collectSPT keeps sums: each piece of the recording is aggregated while the
// next one is made.
func collectSPT(c *cli.Context, writing context.Context, o *collect.Options, output string, result *report.Collection) error {
	profile := aggregate.New(spt.MaxEntries)
	profile.Workers = runtime.GOMAXPROCS(0)
	var facts []*ingest.Facts
	options := &ingest.Options{Binaries: cli.Names(c.StringSlice("binary")), Workers: runtime.GOMAXPROCS(0)}
	sink := &collect.Pieces{Bytes: pieceBytes, Version: "sptcollect " + cli.Version}
	sink.Use = func(path string) error {
		var shards []*aggregate.Shard
		var failed error
		newSink := func() sample.Sink {
			shards = append(shards, profile.NewShard())
			return shards[len(shards)-1]
		}
		ingest.ReadAll(writing, []string{path}, nil, options, profile, newSink, func(read []*ingest.Facts, err error) {
			failed = errors.Join(failed, err)
			for _, s := range shards {
				profile.Merge(s)
			}
			shards = nil
			facts = append(facts, read...)
		})
		return failed
	}
	defer sink.Discard()
	// The output is opened first: a day of samples must not end with a folder
	// that cannot be written.
	return cli.WriteFile(writing, output, func(w io.Writer) error {
		var err error
		if result.Result, err = collect.Run(c.Context.Context, o, stdout(c), sink); err != nil {
			return err
		}
		if result.Samples == 0 {
			return nothing(result.Result)
		}
		if err := sink.Close(); err != nil {
			return err
		}
		result.Aggregation = report.NewAggregation(facts, profile)
		result.Aggregation.Inputs = []report.Input{} // pieces that are no files any more
		if result.Aggregation.Mode == "none" {
			return diag.New(diag.NothingUsable, "none of %s samples is in a binary", report.Count(result.Samples))
		}
		written, err := profile.Write(w)
		result.Output = report.Output{File: output, Bytes: written.Bytes, Records: written.Records}
		result.Aggregation.Output = result.Output
		return err
	})
}

// stdout is where the command's output goes: not where the result goes as JSON.
func stdout(c *cli.Context) io.Writer {
	if c.JSON {
		return os.Stderr
	}
	return os.Stdout
}

func nothing(r *collect.Result) error {
	return diag.New(diag.NothingUsable, "no sample was taken with %s", r.Event).
		Because("The program ran for less than the time between two samples, or slept.").
		Do("Let it run longer, or sample more often with --count or --frequency.")
}

// advice warns of what makes the samples worth less.
func advice(r *collect.Result) []*diag.Error {
	warnings := collect.Advice(r)
	if r.Lost > 0 {
		warnings = append(warnings, diag.New(diag.LostSamples, "the kernel had no room for %s records", report.Count(r.Lost)).
			Do("Give it more with --pages, or sample less often with --count."))
	}
	return warnings
}
