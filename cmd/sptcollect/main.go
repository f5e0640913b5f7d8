// Command sptcollect samples running programs.
package main

import (
	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/cli"
)

func main() { command().Main() }

func command() *cli.Command {
	const (
		target = "What to sample:"
		how    = "How:"
		output = "Output:"
	)
	return &cli.Command{
		Name:    "sptcollect",
		Summary: "sample programs while they run, into a perf.data file or an SPT",
		Forms: []string{
			"[options] -o run.data -- command [arguments]",
			"[options] -o app.spt -- command [arguments]",
			"[options] -p pid,pid... -o run.data",
			"[options] -a --duration 30s -o run.data",
		},
		Examples: []string{
			"sptcollect -o app.spt -- ./app input.txt            run and sample app, keep the sums",
			"sptcollect -o run.data -- ./app input.txt           keep every sample, as perf record does",
			"sptcollect -p 4711 --duration 10m -o service.spt    ten minutes of a running service",
			"sptcollect -a --duration 24h --binary=app -o day.spt",
		},
		Notes: `
Only user code is sampled. The event is the best that works: taken branches with
branch stacks, cycles with branch stacks, then without stacks instructions, cycles
or the clock, with call chains. The summary says which, and why not a better one.
An output that ends in .spt is aggregated on the way, in pieces, so that it stays
small however long the sampling lasts; any other is a perf.data file. Write --
before the command. Ctrl-C ends the sampling and keeps what was sampled; sampling
a command ends with it. Standard output is that of the command, and the summary goes
to standard error; with --json the document goes to standard output, and all that the
command writes to standard error. Live collection works on Linux.`,
		Formats: "SPT version 1, perf.data version 2",
		Flags: []urfave.Flag{
			&urfave.StringSliceFlag{Name: "pid", Aliases: []string{"p"}, Category: target, Usage: "`LIST`: these processes and the children they start"},
			&urfave.BoolFlag{Name: "all", Aliases: []string{"a"}, Category: target, Usage: "all processes"},
			&urfave.StringSliceFlag{Name: "binary", Category: target, Usage: "`LIST`: keep only these binaries (with an SPT as output)"},

			&urfave.StringFlag{Name: "event", Aliases: []string{"e"}, Category: how, Usage: "`NAME`: taken-branches, cycles, instructions, branches, cpu-clock,\ntask-clock or a raw event such as r20c4, instead of the best"},
			&urfave.Uint64Flag{Name: "count", Aliases: []string{"c"}, Category: how, Usage: "`N`: a sample every N events; best a prime number"},
			&urfave.Uint64Flag{Name: "frequency", Aliases: []string{"F"}, Category: how, Usage: "`N`: about N samples a second instead"},
			&urfave.StringFlag{Name: "branches", Aliases: []string{"b"}, Value: "auto", Category: how, Usage: "`WHEN`: branch stacks: auto, on or off"},
			&urfave.StringFlag{Name: "call-graph", Value: "auto", Category: how, Usage: "`WHEN`: call chains: auto (without branch stacks), on or off"},
			&urfave.DurationFlag{Name: "duration", Aliases: []string{"d"}, Category: how, Usage: "`TIME`: stop after this time, with its unit (ms, s, m, h): 30s, 10m, 24h"},
			&urfave.IntFlag{Name: "pages", Aliases: []string{"m"}, Category: how, Usage: "`N`: ring of N pages per processor, a power of two"},
			&urfave.BoolFlag{Name: "ignore-exit-status", Category: how, Usage: "succeed although the command fails"},

			&urfave.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output, Usage: "`FILE`: the SPT (*.spt) or perf.data to write"},
		},
		Run: run,
	}
}
