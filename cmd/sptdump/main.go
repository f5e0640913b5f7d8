// Command sptdump shows what is in a sample profile trace (SPT).
package main

import (
	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/cli"
)

func main() { command().Main() }

func command() *cli.Command {
	const (
		documented = "Microsoft's options:"
		further    = "Further options:"
		exports    = "Export:"
	)
	return &cli.Command{
		Name:    "sptdump",
		Summary: "show a sample profile trace (SPT)",
		Forms: []string{
			"[options] file.spt",
			"--assemble file.txt -o file.spt",
			"--spe-packets perf.data",
			"/export:FORMAT [--image app] file.spt output",
		},
		Examples: []string{
			"sptdump app.spt                 everything, in the text form",
			"sptdump /progid app.spt         GUID and age of each binary",
			"sptdump /summary app.spt        totals and hottest addresses",
			"sptdump /export:folded --image app app.spt app.folded   for a flame graph",
			"sptdump app.spt >app.txt; sptdump --assemble app.txt -o copy.spt",
		},
		Notes: `
The text form is described in docs/format/spt.md; --assemble reads the whole of it
back (what sptdump FILE prints), and gives the same bytes. A damaged file is shown as
far as it can be read; what was skipped is counted, and the exit code is 6 unless
--tolerate is given. /export writes nothing of a damaged file unless it is given.
- reads standard input.`,
		Formats: "SPT version 1",
		Flags: []urfave.Flag{
			&urfave.BoolFlag{Name: "all", Category: documented, Usage: "header, program ids, strings and records (the default)"},
			&urfave.BoolFlag{Name: "header", Category: documented, Usage: "the header"},
			&urfave.BoolFlag{Name: "progid", Category: documented, Usage: "GUID and age of each binary"},
			&urfave.BoolFlag{Name: "strtab", Category: documented, Usage: "the string table"},
			&urfave.BoolFlag{Name: "event", Category: documented, Usage: "the records, in the text form; --assemble needs all parts"},

			&urfave.BoolFlag{Name: "summary", Category: further, Usage: "totals by binary and opcode, and the hottest addresses"},
			&urfave.IntFlag{Name: "top", Value: 10, Category: further, Usage: "`N`: how many addresses /summary lists (10)"},
			&urfave.BoolFlag{Name: "spe-packets", Category: further, Usage: "the Arm SPE packets of a Linux recording (perf.data)"},
			&urfave.BoolFlag{Name: "tolerate", Category: further, Usage: "damage is a warning and not exit code 6"},
			&urfave.StringFlag{Name: "assemble", Category: further, Usage: "`FILE`: make an SPT from the text form in FILE"},
			&urfave.StringFlag{Name: "export", Category: exports, Usage: "`FORMAT`: write the records of one binary as perfscript or\nllvm-unsymbolized (for llvm-profgen), bolt-preagg (for perf2bolt -pa),\nfolded (flame graphs) or pprof (go tool pprof)"},
			&urfave.StringFlag{Name: "binary", Category: exports, Usage: "`NAME`: which of several binaries, by name or GUID"},
			&urfave.StringFlag{Name: "image", Category: exports, Usage: "`FILE`: the binary itself: gives addresses their base and names"},
			&urfave.StringFlag{Name: "pdb", Category: exports, Usage: "`FILE`: its PDB or separate debug file"},
			&urfave.StringFlag{Name: "base", Category: exports, Usage: "`ADDRESS`: link-time address of the binary, without --image"},

			&urfave.StringFlag{Name: "output", Aliases: []string{"o"}, Category: further, Usage: "`FILE`: the SPT that --assemble writes"},
		},
		Run: run,
	}
}
