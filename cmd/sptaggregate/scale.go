package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/batch"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
)

// outsideGo is what the process takes beside what Go counts.
const outsideGo = 16 << 20

// limitMemory applies --max-memory and says where sums are kept that are not in
// memory: beside the output, since folders for temporary files are often in
// memory. The caller calls restore when the work is done.
func (p *plan) limitMemory(profile *aggregate.Profile, cancel func()) (restore func()) {
	dir := ""
	if p.output != "-" {
		dir = filepath.Dir(p.output)
	}
	if p.maxMemory == 0 {
		profile.Limit(0, dir, func(error) { cancel() })
		return func() {}
	}
	// A table that doubles is there as old and new, three times its size, and
	// sums are sorted before they are spilled. Half is for the rest.
	const tables = 6
	profile.Limit(p.maxMemory/tables/int64(p.options.Workers), dir, func(error) { cancel() })
	old := debug.SetMemoryLimit(p.maxMemory - outsideGo)
	return func() { debug.SetMemoryLimit(old) }
}

// state is the file that keeps what an interrupted run has read.
func (p *plan) state() string { return p.output + ".partial" }

// batchOptions says how to read the inputs.
func (p *plan) batchOptions(c *cli.Context) *batch.Options {
	o := &batch.Options{Workers: p.options.Workers, Stdin: c.In, Read: func(file string) { c.Logf("read %s", file) }}
	if slices.ContainsFunc(p.inputs, func(in ingest.Input) bool { return in.Name == "-" }) {
		o.Stdin = c.Input()
	}
	if p.resume {
		o.State = &batch.State{Path: p.state(), Options: settings(c, p.share), WriteFile: func(path string, write func(io.Writer) error) error {
			return cli.WriteFile(c.Context.Context, path, write)
		}}
	}
	return o
}

// deciding are the options that decide what the sums of given inputs are.
var deciding = []string{"process", "binary", "nokernel", "pid", "time", "events", "event", "weight", "spe", "spe-period", "debias",
	"boundaries", "image-path", "path-map", "lbr-depth", "shard"}

// settings is the same for runs whose inputs give the same sums.
func settings(c *cli.Context, share batch.Share) string {
	list := []string{"version " + cli.Version}
	for _, name := range deciding {
		switch values := c.StringSlice(name); {
		case !c.IsSet(name):
		case name == "shard":
			list = append(list, fmt.Sprintf("--shard %d/%d", share.Index, share.Count))
		case len(values) > 0:
			list = append(list, fmt.Sprintf("--%s %q", name, values))
		default:
			list = append(list, fmt.Sprintf("--%s %v", name, c.Value(name)))
		}
	}
	return strings.Join(list, " ")
}

// spillError says that sums could not be kept on disk.
func (p *plan) spillError(err error) error {
	var coded *diag.Error
	if errors.As(err, &coded) || errors.Is(err, context.Canceled) {
		return err
	}
	return diag.New(diag.CannotWrite, "partial sums beside the output: %v", err).In(p.output)
}
