// Command spdconvert makes sample profile databases (SPD): it imports sample
// profile traces (SPT), merges, retires and resets databases, and takes them
// out of the files that carry them.
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
		native     = "SPDs of native code:"
		samples    = "Samples:"
		gates      = "Gates (exit code 5, and the SPD stays as it was):"
		output     = "Output:"
	)
	return &cli.Command{
		Name:    "spdconvert",
		Summary: "import samples (SPT) into a sample profile database (SPD), merge, retire, reset and extract SPDs",
		Forms: []string{
			"[options] app.spd a.spt b.spt@3 ...",
			"/retire:N app.spd",
			"/summary app.spd [a.spt ...]",
			"/merge [/retire:N] out.spd a.spd b.spd ...",
			"/reset app.spd",
			"/extract file.pdb|file.exe|file.obj|file.lib file.spd",
			"/build:image [/pdb:file] app.spd",
			"/export:FORMAT [--image app] [/pdb:file] app.spd out",
		},
		Examples: []string{
			"spdconvert app.spd run.spt                        import; what was there counts half",
			"spdconvert /mode:LBR app.spd lab.spt field.spt@3  one recording weighs three times",
			"spdconvert /summary app.spd run.spt               what an import would do",
			"spdconvert --min-coverage 40 app.spd run.spt      fail in CI below 40 % of the blocks",
			"spdconvert /merge all.spd monday.spd tuesday.spd  later ones are newer",
			"spdconvert /extract app.pdb app.spd               the SPD that a link with /spdembed left",
			"spdconvert /extract --index 2 all.lib one.spd     the third of several",
			"spdconvert /build:app.exe /pdb:app.pdb app.spd    an SPD of any native program",
			"spdconvert /export:llvm app.spd app.prof          for clang -fprofile-sample-use=app.prof",
		},
		Notes: `
An import replaces the SPD by one with the samples: whole or not at all. SPT@N
weighs a file N times, and so does naming it N times. Counts become
c*(16-N)/16 with /retire:N (8 for imports and merges) before new ones are added;
without an SPT nothing is retired unless /retire is given. /reset ignores SPTs.
--ignore-age and --ignore-identity put counts into wrong blocks where the code
differs, and nothing can detect that.

An existing output is replaced only if it is an SPD itself. Where /extract finds
several SPDs they are listed, and --index chooses one. The output - is standard
output.

/build makes an SPD without counts of a PE or ELF image for x86-64 or arm64, by
its machine code. Microsoft's linker does not take it: it knows only its own.

/export writes the counts of an SPD as a profile for another tool: llvm and
llvm-binary for clang, gcov for gcc -fauto-profile, pprof for go build -pgo, bolt
for llvm-bolt. The image is looked for beside the SPD.`,
		Formats: "SPD version 0x100c, SPT version 1",
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "mode", Category: documented, Value: "AUTO", Usage: "`KIND`: what counts are made from: LBR (branch stacks), IP\n(addresses) or AUTO (LBR where there are branches, unless single\nones are beside many addresses)"},
			&urfave.IntFlag{Name: "retire", Category: documented, Usage: "`N`: drop N/16 of the existing counts, N from 0 to 16 (8)"},
			&urfave.StringFlag{Name: "sptlist", Category: documented, Usage: "`FILE`: names of SPTs, one a line, with weights; # begins a\ncomment"},
			&urfave.BoolFlag{Name: "summary", Category: documented, Usage: "write nothing; show what is there or would become"},
			&urfave.BoolFlag{Name: "merge", Category: documented, Usage: "merge SPDs into the one named first"},
			&urfave.BoolFlag{Name: "reset", Category: documented, Usage: "take all counts away; make an empty SPD if there is none"},
			&urfave.BoolFlag{Name: "extract", Category: documented, Usage: "take the SPD out of a file that carries it"},

			&urfave.StringFlag{Name: "build", Category: native, Usage: "`IMAGE`: make an SPD without counts of it"},
			&urfave.StringFlag{Name: "pdb", Category: native, Usage: "`FILE`: PDB or separate debug file of the image"},
			&urfave.StringFlag{Name: "export", Category: native, Usage: "`FORMAT`: write a profile: llvm, llvm-binary, pprof, gcov or bolt"},
			&urfave.StringFlag{Name: "image", Category: native, Usage: "`FILE`: the image whose SPD is exported, or made by an import\nwhere there is none"},
			&urfave.StringFlag{Name: "trim", Category: native, Usage: "`PERCENT`: export the heaviest functions that make up so much"},

			&urfave.StringFlag{Name: "ip-event", Category: samples, Usage: "`OPCODE`: the event that counts with /mode:IP; default is the\nfirst present of 0x02, 0x01, 0x41"},
			&urfave.StringFlag{Name: "normalize", Category: samples, Usage: "`KIND`: samples: each SPT has the same say, whatever its size"},
			&urfave.BoolFlag{Name: "ignore-age", Category: samples, Usage: "use samples of another age of the same GUID"},
			&urfave.BoolFlag{Name: "ignore-identity", Category: samples, Usage: "use samples of any build of the binary's name"},
			&urfave.StringSliceFlag{Name: "image-path", Category: samples, Usage: "`LIST`: folders with images and PDBs, to explain mismatches"},
			&urfave.BoolFlag{Name: "tolerate", Category: samples, Usage: "use what can be read of damaged SPTs"},
			&urfave.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: runtime.GOMAXPROCS(0), Category: samples, Usage: "`N`: functions worked on at a time, from 1 on (default: the\nprocessors)"},

			&urfave.StringFlag{Name: "min-coverage", Category: gates, Usage: "`PERCENT`: least share of the blocks with a count, of all functions"},
			&urfave.StringFlag{Name: "min-samples", Category: gates, Usage: "`N`: least number of samples used; in mode LBR each branch of a\nstack is one"},
			&urfave.StringFlag{Name: "max-dropped", Category: gates, Usage: "`PERCENT`: greatest share of samples in no function, counted alike"},
			&urfave.StringFlag{Name: "min-density", Category: gates, Usage: "`N`: least samples a block of the hot functions, counted alike"},

			&urfave.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output, Usage: "`FILE`: write this SPD and leave the first as it is"},
			&urfave.StringFlag{Name: "provenance", Category: output, Usage: "`FILE`: write digests of all inputs and the options as JSON"},
			&urfave.IntFlag{Name: "index", Value: -1, Category: output, Usage: "`N`: which of several SPDs to extract, counted from 0"},
		},
		Run: run,
	}
}
