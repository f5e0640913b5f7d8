// Command spddump shows what is in a sample profile database (SPD).
package main

import (
	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/cli"
)

func main() { command().Main() }

func command() *cli.Command {
	const (
		documented = "Microsoft's options:"
		compare    = "Checks and comparisons:"
		further    = "Further options:"
	)
	return &cli.Command{
		Name:    "spddump",
		Summary: "show a sample profile database (SPD)",
		Forms: []string{
			"[options] file.spd|file.pdb|file.obj|file.lib|file.exe",
			"/doctor app.spd [run.spt] [app.exe] [app.pdb] [run.etl|perf.data] ...",
			"--assemble file.txt -o file.spd",
		},
		Examples: []string{
			"spddump app.spd                      everything",
			"spddump /header app.spd              GUID, age and statistics",
			"spddump /dyninst:10 app.spd          the ten functions with most instructions executed",
			"spddump /funcid:main /fg app.spd     the flow graph of one function",
			"spddump /diff:new.spd old.spd        what changed from old.spd to new.spd",
			"spddump /stale:new.spd --fail-under=90 app.spd",
			"spddump /doctor app.spd run.spt app.exe app.pdb   why an import is refused, or does not help",
		},
		Notes: `
A function is named by its id (16 hex digits, or 0x and hex digits), its ordinal
(decimal), or its name: first as it is in the file, then demangled. Options imply
others as documented: /module the header, /symbol, /func and /data the module, /cg
and /fg the functions. A PDB or an object file can carry several SPDs; they are
listed; options that ask for a part or a check then fail (exit code 1) until --index N
chooses one, as does --other-index N for /diff and /stale.
The name - is standard input. A damaged file is shown as far as it can be read, with
exit code 6. --assemble replaces nothing but an SPD; -o - is standard output.`,
		Formats: "SPD version 0x100c",
		Flags: []urfave.Flag{
			&urfave.BoolFlag{Name: "all", Category: documented, Usage: "everything (the default)"},
			&urfave.BoolFlag{Name: "header", Category: documented, Usage: "the header"},
			&urfave.BoolFlag{Name: "module", Category: documented, Usage: "the modules"},
			&urfave.BoolFlag{Name: "symbol", Category: documented, Usage: "the symbols"},
			&urfave.BoolFlag{Name: "func", Category: documented, Usage: "the functions"},
			&urfave.StringFlag{Name: "funcid", Category: documented, Usage: "`FID`: only this function, with all there is of it unless\n/func, /cg, /fg, /symbol, /coverage or /dyninst say what"},
			&urfave.BoolFlag{Name: "cg", Category: documented, Usage: "the callees of the functions"},
			&urfave.BoolFlag{Name: "fg", Category: documented, Usage: "the flow graphs of the functions"},
			&urfave.BoolFlag{Name: "data", Category: documented, Usage: "the data profile"},
			&urfave.BoolFlag{Name: "minidump", Category: documented, Usage: "leave out what ties the profile to the code, such as RVA ranges"},
			&urfave.BoolFlag{Name: "coverage", Category: documented, Usage: "how many basic blocks were covered"},
			&urfave.StringFlag{Name: "dyninst", Category: documented, Usage: "`N`: the N functions (50) with most instructions executed"},

			&urfave.BoolFlag{Name: "doctor", Category: compare, Usage: "compare the identities of all files named, of any kind and in\nany order, and say what is wrong and what to do next; exit code\n3 if they differ, 4 if nothing can be used"},
			&urfave.BoolFlag{Name: "validate", Category: compare, Usage: "check the rules that real files keep; exit code 6 if one is\nbroken, while remarks are of what real files have, too"},
			&urfave.StringFlag{Name: "diff", Category: compare, Usage: "`FILE`: what changed from this SPD to FILE, and their overlap"},
			&urfave.StringFlag{Name: "stale", Category: compare, Usage: "`FILE`: how much of this profile fits the code of FILE"},
			&urfave.StringFlag{Name: "fail-under", Category: compare, Usage: "`PERCENT`: exit code 5 if overlap (/diff) or matched weight (/stale)\nis less; Microsoft advises to profile again below 90"},
			&urfave.IntFlag{Name: "top", Value: 20, Category: compare, Usage: "`N`: how many functions comparisons list (20)"},
			&urfave.IntFlag{Name: "other-index", Value: -1, Category: compare, Usage: "`N`: which of several SPDs in the file of /diff and /stale"},

			&urfave.StringFlag{Name: "dot", Category: further, Usage: "`FID`: the flow graph of a function for Graphviz"},
			&urfave.BoolFlag{Name: "text", Category: further, Usage: "the lossless text form"},
			&urfave.BoolFlag{Name: "jsonl", Category: further, Usage: "the functions as JSON, one a line"},
			&urfave.BoolFlag{Name: "no-demangle", Category: further, Usage: "C++ names as they are"},
			&urfave.IntFlag{Name: "index", Value: -1, Category: further, Usage: "`N`: which of several SPDs in a PDB or object file"},
			&urfave.StringFlag{Name: "assemble", Category: further, Usage: "`FILE`: make an SPD from the text form or JSON in FILE"},
			&urfave.StringFlag{Name: "output", Aliases: []string{"o"}, Category: further, Usage: "`FILE`: the SPD that --assemble writes"},
		},
		OptionalValue: map[string]string{"dyninst": "50"},
		Run:           run,
	}
}
