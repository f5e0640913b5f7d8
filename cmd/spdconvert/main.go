// Command spdconvert makes sample profile databases (SPD).
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
		Name:    "spdconvert",
		Summary: "take a sample profile database (SPD) out of a PDB, image, object or library",
		Forms: []string{
			"/extract file.pdb|file.exe|file.obj|file.lib file.spd",
		},
		Examples: []string{
			"spdconvert /extract app.pdb app.spd               the SPD that a link with /spdembed left",
			"spdconvert /extract --index 2 all.lib one.spd     the third of several",
		},
		Notes: `
An existing output is replaced only if it is an SPD itself. Where a file carries
several SPDs they are listed, and --index chooses one. The output - is standard
output.`,
		Formats: "SPD version 0x100c",
		Flags: []urfave.Flag{
			&urfave.BoolFlag{Name: "extract", Category: documented, Usage: "take the SPD out of a file that carries it"},

			&urfave.IntFlag{Name: "index", Value: -1, Category: further, Usage: "`N`: which of several SPDs, counted from 0"},
		},
		Run: run,
	}
}
