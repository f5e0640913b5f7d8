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
	)
	return &cli.Command{
		Name:    "sptdump",
		Summary: "show a sample profile trace (SPT)",
		Forms: []string{
			"[options] file.spt",
			"--assemble file.txt -o file.spt",
		},
		Examples: []string{
			"sptdump app.spt                 everything, in the text form",
			"sptdump /progid app.spt         GUID and age of each binary",
			"sptdump /summary app.spt        totals and hottest addresses",
			"sptdump /event app.spt >app.txt; sptdump --assemble app.txt -o copy.spt",
		},
		Notes: `
The text form is described in docs/format/spt.md; --assemble reads it back, and
gives the same bytes. A damaged file is shown as far as it can be read; what was
skipped is counted, and the exit code is 6 unless --tolerate is given.
- reads standard input.`,
		Formats: "SPT version 1",
		Flags: []urfave.Flag{
			&urfave.BoolFlag{Name: "all", Category: documented, Usage: "header, program ids, strings and records (the default)"},
			&urfave.BoolFlag{Name: "header", Category: documented, Usage: "the header"},
			&urfave.BoolFlag{Name: "progid", Category: documented, Usage: "GUID and age of each binary"},
			&urfave.BoolFlag{Name: "strtab", Category: documented, Usage: "the string table"},
			&urfave.BoolFlag{Name: "event", Category: documented, Usage: "the records, in the lossless text form"},

			&urfave.BoolFlag{Name: "summary", Category: further, Usage: "totals by binary and opcode, and the hottest addresses"},
			&urfave.IntFlag{Name: "top", Value: 10, Category: further, Usage: "`N`: how many addresses /summary lists (10)"},
			&urfave.BoolFlag{Name: "tolerate", Category: further, Usage: "damage is a warning and not exit code 6"},
			&urfave.StringFlag{Name: "assemble", Category: further, Usage: "`FILE`: make an SPT from the text form in FILE"},
			&urfave.StringFlag{Name: "output", Aliases: []string{"o"}, Category: further, Usage: "`FILE`: the SPT that --assemble writes"},
		},
		Run: run,
	}
}
