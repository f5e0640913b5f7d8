package main

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spgo-tools/spgo/internal/build"
	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// buildSPD makes an SPD without counts of an image.
func buildSPD(c *cli.Context) (cli.Result, error) {
	name, debug := c.String("build"), c.String("pdb")
	if len(c.Operands) != 1 {
		return nil, diag.New(diag.BadOperands, "/build takes the SPD to write, %d files are named", len(c.Operands))
	}
	output := c.Operands[0]
	c.ResultToErr = output == "-"
	in, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	if err := cli.Replaceable(output, "SPD", carrier.IsSPD, in.Info); err != nil {
		return nil, err
	}
	f, r, partial, err := makeSPD(c, in, name, debug, nil)
	if err != nil {
		return nil, err
	}
	if err := c.WriteOutput(output, func(w io.Writer) error { return spd.Write(w, f) }); err != nil {
		return nil, err
	}
	r.Output = output
	if partial != nil {
		return r, partial
	}
	return r, nil
}

// cutOff returns what the first of the defects that say that the image ends
// too early means for an SPD of it; nil if there is none.
func cutOff(name string, defects []error) *diag.Error {
	for _, d := range defects {
		if errors.Is(d, io.EOF) || errors.Is(d, io.ErrUnexpectedEOF) || errors.Is(d, binfmt.ErrTruncated) {
			return diag.New(diag.Truncated, "the image ends too early (%v); an SPD of it has only the functions that were found in the rest", d).In(name).
				Because("The file was copied only in part.").
				Do("Compare its size with the original, and build the SPD of a whole copy.")
		}
	}
	return nil
}

// readOrBuild reads the SPD that samples are imported into. Where there is none
// yet it is made of the image that was named, which from is then, and of the
// samples where the image does not show where its jumps lead.
func readOrBuild(c *cli.Context, p *plan) (f *spd.File, from string, err error) {
	name := p.file
	from = c.String("image")
	if _, err := os.Stat(name); from == "" || name == "-" || !errors.Is(err, fs.ErrNotExist) {
		f, err := readSPD(c, name)
		if errors.Is(err, fs.ErrNotExist) && len(p.inputs) > 0 {
			err = diag.Of(err).Do("Check the path. Where there is no SPD yet, the import makes it of the image: spdconvert --image IMAGE %s %s", name, p.inputs[0].name)
		}
		return f, name, err
	}
	p.made = from
	in, err := c.Open(from)
	if err != nil {
		return nil, from, err
	}
	f, r, partial, err := makeSPD(c, in, from, c.String("pdb"), p)
	if partial != nil {
		err = partial // importing would go on with it unseen
	}
	if err == nil && r.Unresolved > 0 {
		c.Logf("%d indirect jumps have no table; samples show %d of their edges", r.Unresolved, r.SeenEdges)
	}
	return f, from, err
}

// makeSPD makes the SPD of an open image. P is the import that it is for, or
// nil. Partial says that the image is not whole, so that the SPD is not either.
func makeSPD(c *cli.Context, in *cli.File, name, debug string, p *plan) (f *spd.File, r *report.Built, partial *diag.Error, err error) {
	jobs, err := c.Jobs()
	if err != nil {
		return nil, nil, nil, err
	}
	var x *examined
	var failed error
	if interrupted := c.Do(func() { x, failed = examine(in, name, debug) }); interrupted != nil {
		return nil, nil, nil, interrupted
	}
	if failed != nil {
		return nil, nil, nil, imageError(failed, name)
	}
	defer x.info.Close()
	for _, err := range x.unusable {
		c.Warn(report.UnusedDebugFile(err))
	}
	if len(x.functions) == 0 {
		return nil, nil, nil, diag.New(diag.NothingUsable, "no function was found").In(name).
			Because("The image ends before its code, or has neither symbols nor unwind tables.").
			Do("Check that the file is whole, or name its PDB with /pdb.")
	}
	options := build.Options{Name: sample.BaseName(name), Inlines: x.info.Inlines, Jobs: jobs}
	id, source := x.image.ID()
	if p != nil && source != image.IDNone {
		if options.Branches, err = p.branches(c, id); err != nil {
			return nil, nil, nil, err
		}
	}
	var made build.Report
	var built *spd.File
	if interrupted := c.Do(func() { built, made, failed = build.Build(x.image, x.functions, options) }); interrupted != nil {
		return nil, nil, nil, interrupted
	}
	if failed != nil {
		return nil, nil, nil, imageError(failed, name)
	}
	warnSplit(c, x.info, name)
	if source == image.IDNone {
		c.Warn(diag.New(diag.NoIdentity, "the image states no identity, so that samples are matched by its name alone").In(name).
			Because("It was linked without a build id, or without debug information (PE).").
			Do("Link it with --build-id, or /debug for a PE, and sample that."))
	}
	r = report.NewBuilt(&x.found, &made)
	r.Image, r.Debug = name, x.debug
	r.Binary, r.GUID, r.Age, r.Identity = built.Header.Binary, id.GUID.String(), id.Age, source.String()
	for _, p := range x.info.Problems() {
		r.Problems = append(r.Problems, p.Error())
	}
	return built, r, cutOff(name, append(x.found.Problems, made.Problems...)), nil
}

// examined is an image with what it and its debug information tell.
type examined struct {
	image     *image.File
	functions []program.Function
	found     funcs.Report
	info      *debuginfo.Info
	debug     string  // the PDB or debug file that is used
	unusable  []error // why others that were found are not
}

func examine(in *cli.File, name, debug string) (*examined, error) {
	img, err := image.NewFile(in, in.Size)
	if err != nil {
		return nil, err
	}
	x := &examined{image: img}
	x.debug, x.unusable, err = debuginfo.With(img, name, debug, func(debug string) (err error) {
		if x.functions, x.found, err = funcs.Find(img, funcs.Options{Debug: debug}); err == nil {
			x.info, err = debuginfo.Open(img, name, debug)
		}
		return err
	})
	return x, err
}

// warnSplit warns of split debug information that could not be used.
func warnSplit(c *cli.Context, info *debuginfo.Info, name string) {
	for _, e := range report.SplitWarnings(info.Stats(), name) {
		c.Warn(e)
	}
}

// imageError presents a failure to read an image or its debug information.
func imageError(err error, name string) error {
	var mismatch *debuginfo.MismatchError
	if errors.As(err, &mismatch) {
		e := diag.New(diag.OtherBuild, "it belongs to another image: %s", mismatch.What).In(mismatch.Path).
			Do("Name the PDB or debug file of this build of the image.")
		e.Want, e.Got = mismatch.Want, mismatch.Got
		return e
	}
	e := *diag.Of(binfmt.InFile(err, name))
	switch e.Code {
	case diag.UnknownFormat:
		e.Because("It is neither a PE nor an ELF image, or its beginning is damaged.")
	case diag.Unsupported:
		e.Do("Name a linked x86-64 or arm64 image.")
	}
	return &e
}
