// Command sptaggregate turns traces into a sample profile trace (SPT).
package main

import (
	"runtime"

	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/cli"
)

func main() { command().Main() }

func command() *cli.Command {
	const (
		documented = "Microsoft's options:"
		selection  = "What to take:"
		binaries   = "Where the binaries are:"
		scale      = "Many or large inputs:"
		output     = "Output:"
	)
	return &cli.Command{
		Name:    "sptaggregate",
		Summary: "aggregate the samples of traces into a sample profile trace (SPT)",
		Forms: []string{
			"[options] /etl trace,trace... out.spt",
			"[options] trace... out.spt",
			"[options] -o out.spt trace...",
		},
		Examples: []string{
			"sptaggregate /etl run.etl /binary:app.exe app.spt   aggregate a Windows trace",
			"sptaggregate /etl perf.data app.spt            aggregate a Linux recording",
			"sptaggregate /etl a.data,b.data /binary:app -o app.spt",
			"perf record -b -o - ./app | sptaggregate - -o app.spt",
			"sptaggregate part1.spt part2.spt all.spt       fold partial results",
			"sptaggregate --resume @traces.txt -o all.spt   aggregate a list, or go on with it",
			"sptaggregate ntfs:lab.img!/traces/run.etl --image-path ntfs:lab.img!/app app.spt",
		},
		Notes: `
Inputs are Event Trace Logs (.etl), perf.data files, pipes (-) and directories,
and SPT files; .gz, .zst and .etl.zip are read as they are. ntfs:IMAGE!/PATH, or
ntfs:IMAGE!N:/PATH for partition N, is a file or folder in an NTFS volume of a
raw disk image or fixed VHD. The summary says what was used, what was dropped and
why. @FILE, where no file has that name, stands for the
inputs that a file lists, one a line; # begins a comment. NAME@N counts the hits
of an input N times. An existing output is replaced only if it is an SPT and was named by -o or
after /etl. No output is written where nothing is usable.`,
		Formats: "SPT version 1",
		Flags: []urfave.Flag{
			&urfave.StringSliceFlag{Name: "etl", Aliases: []string{"perf"}, Category: documented, Usage: "`LIST`: traces, separated by commas; may be repeated"},
			&urfave.StringSliceFlag{Name: "process", Category: documented, Usage: "`LIST`: only these processes (name of process or executable)"},
			&urfave.StringSliceFlag{Name: "binary", Category: documented, Usage: "`LIST`: only these binaries (name or path, any case)"},
			&urfave.BoolFlag{Name: "nokernel", Category: documented, Usage: "leave out the kernel and its modules"},

			&urfave.StringSliceFlag{Name: "pid", Category: selection, Usage: "`LIST`: only these process ids"},
			&urfave.StringFlag{Name: "time", Category: selection, Usage: "`FROM,TO`: only this span, in seconds from the start"},
			&urfave.StringSliceFlag{Name: "events", Category: selection, Usage: "`LIST`: only these events"},
			&urfave.StringSliceFlag{Name: "event", Category: selection, Usage: "`NAME=OPCODE`: count an event as 0x01 cycles, 0x02 instructions,\n0x03 branches, 0x04 L1I misses, 0x05 L1D misses or 0x41 timer"},
			&urfave.StringFlag{Name: "weight", Value: "sample", Category: selection, Usage: "`KIND`: a sample counts 1 (sample) or its period (period)"},
			&urfave.StringSliceFlag{Name: "spe", Category: selection, Usage: "`LIST`: what to make of Arm SPE records: instructions, branches,\nl1d-miss, llc-miss, tlb-miss, remote (the first three)"},
			&urfave.Uint64Flag{Name: "spe-period", Value: 1, Category: selection, Usage: "`N`: use one in N Arm SPE records"},
			&urfave.StringFlag{Name: "debias", Value: "auto", Category: selection, Usage: "`WHEN`: weigh branch stacks that instructions, cycles or all branches\ntriggered, so that they count as if taken branches had: auto or off"},
			&urfave.StringFlag{Name: "boundaries", Value: "keep", Category: selection, Usage: "`WHAT`: branches between the binary and others: keep (their other\nend is RVA 0) or drop"},
			&urfave.StringFlag{Name: "max-lost", Category: selection, Usage: "`PERCENT`: fail with exit code 5 if more samples were lost"},

			&urfave.StringSliceFlag{Name: "image-path", Category: binaries, Usage: "`LIST`: folders to search for the binaries, and binaries; those whose\nbuild id or PE identity was recorded are found under any name"},
			&urfave.StringSliceFlag{Name: "path-map", Category: binaries, Usage: "`FROM=TO`: where paths of the traced machine are here"},

			&urfave.StringSliceFlag{Name: "list", Category: scale, Usage: "`FILE`: more inputs, one a line, as @FILE"},
			&urfave.StringFlag{Name: "shard", Category: scale, Usage: "`I/N`: take the Ith of N shares of the inputs; with auto/N the share\nof JOB_COMPLETION_INDEX, which counts from 0"},
			&urfave.BoolFlag{Name: "resume", Category: scale, Usage: "keep in OUTPUT.partial what was read, and go on from there"},
			&urfave.StringFlag{Name: "max-memory", Category: scale, Usage: "`SIZE`: stay below, such as 512M; partial results go to disk"},

			&urfave.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output, Usage: "`FILE`: the SPT to write; - is standard output"},
			&urfave.IntFlag{Name: "lbr-depth", Value: 255, Category: output, Usage: "`N`: at most N branches in a record (255; readers that expect\nhardware stacks may need 32)"},
			&urfave.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: runtime.GOMAXPROCS(0), Category: output, Usage: "`N`: number of workers, from 1 on (default: the processors)"},
		},
		Run: run,
	}
}
