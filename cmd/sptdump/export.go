package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/internal/traceexport"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// formats are the values of /export.
var formats = []string{"perfscript", "llvm-unsymbolized", "bolt-preagg", "folded", "pprof"}

// export writes the records of one binary in another tool's format.
func export(c *cli.Context) (cli.Result, error) {
	format := strings.ToLower(c.String("export"))
	if !slices.Contains(formats, format) {
		return nil, diag.New(diag.BadValue, "/export takes %s, not %q", strings.Join(formats, ", "), format)
	}
	if len(c.Operands) != 2 {
		return nil, diag.New(diag.BadOperands, "/export takes an SPT and the file to write, %d files are named", len(c.Operands))
	}
	name, output := c.Operands[0], c.Operands[1]
	if name == "-" {
		return nil, diag.New(diag.BadOperands, "/export reads its input twice, so that cannot be standard input")
	}
	input, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := cli.Replaceable(output, "text", func(io.ReaderAt) bool { return true }, input); err != nil {
		return nil, err
	}
	var last *spt.Reader // of several passes, each of which skips the same
	source := &traceexport.Source{Open: func() (r *spt.Reader, err error) {
		r, err = spt.Open(name, &spt.Options{Tolerate: c.Bool("tolerate")})
		last = r
		return r, binfmt.InFile(err, name)
	}}
	r, err := source.Open()
	if err != nil {
		return nil, err
	}
	warnOdd(c, name, r)
	programs := r.Programs()
	r.Close()
	if source.Program, err = chooseProgram(programs, c.String("binary"), name); err != nil {
		return nil, err
	}
	binary := programs[source.Program]
	var target *target
	if interrupted := c.Do(func() { target, err = openTarget(c, binary) }); interrupted != nil {
		return nil, interrupted
	}
	if err != nil {
		return nil, err
	}
	defer target.close()
	source.Base, source.Name = target.base, target.frames()
	result := &report.TraceExport{File: name, Format: format, Output: output, Binary: binary.Name, Base: source.Base, Image: target.path, Debug: target.debug}
	write := func(w io.Writer) (err error) {
		switch format {
		case "perfscript":
			result.Stats, err = traceexport.PerfScript(w, source)
		case "llvm-unsymbolized":
			result.Stats, err = traceexport.Unsymbolized(w, source, target.textBase())
		case "bolt-preagg":
			result.Stats, err = traceexport.PreAggregated(w, source)
		case "folded":
			result.Stats, err = traceexport.Folded(w, source, binary.Name)
		case "pprof":
			result.Stats, err = traceexport.PProf(w, source, target.mapping(binary))
		}
		if err == nil && result.Stats.Records == 0 {
			err = diag.New(diag.NothingUsable, "no records of %s for this format", binary.Name).In(name).
				Because("Branch formats take LBR records, folded and pprof any samples.").Do("Look with sptdump /summary what the file holds.")
		}
		return err
	}
	err = c.WriteOutput(output, write)
	if last != nil {
		warnSkipped(c, name, last)
	}
	if format == "folded" || format == "pprof" { // the others have addresses alone
		target.warn(c)
	}
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	return result, nil
}

// chooseProgram finds the binary asked for, or the only one. Of names, those of
// binaries whose addresses are file offsets match without saying so, too, where
// no other does.
func chooseProgram(programs []spt.ProgramID, wanted, file string) (int, error) {
	var names []string
	var exact, loose []int
	for i, p := range programs {
		names = append(names, p.Name)
		switch {
		case wanted == "" || strings.EqualFold(p.Name, wanted) || strings.EqualFold(p.GUID.String(), wanted):
			exact = append(exact, i)
		case strings.EqualFold(p.Name, wanted+sample.FileOffsetsSuffix):
			loose = append(loose, i)
		}
	}
	if len(exact) == 0 {
		exact = loose
	}
	switch len(exact) {
	case 0:
		return 0, diag.New(diag.NoMatch, "no binary %q in the SPT; it holds %s", wanted, strings.Join(names, ", ")).In(file)
	case 1:
		return exact[0], nil
	}
	return 0, diag.New(diag.BadOperands, "the SPT holds several binaries: %s", strings.Join(names, ", ")).In(file).
		Because("An export is of one binary.").Do("Choose one with --binary, by its name or GUID.")
}
