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
	img, err := image.NewFile(in, in.Size)
	if err != nil {
		return nil, nil, nil, imageError(err, name)
	}
	if debug == "" {
		debug = debuginfo.Locate(img, name)
	}
	functions, found, err := funcs.Find(img, funcs.Options{Debug: debug})
	if err != nil {
		return nil, nil, nil, imageError(err, name)
	}
	info, err := debuginfo.Open(img, name, debug)
	if err != nil {
		return nil, nil, nil, imageError(err, name)
	}
	defer info.Close()
	if c.Context.Err() != nil {
		return nil, nil, nil, c.Context.Err()
	}
	if len(functions) == 0 {
		return nil, nil, nil, diag.New(diag.NothingUsable, "no function was found").In(name).
			Because("The image ends before its code, or has neither symbols nor unwind tables.").
			Do("Check that the file is whole, or name its PDB with /pdb.")
	}
	options := build.Options{Name: sample.BaseName(name), Inlines: info.Inlines, Jobs: jobs}
	id, source := img.ID()
	if p != nil && source != image.IDNone {
		if options.Branches, err = p.branches(c, id); err != nil {
			return nil, nil, nil, err
		}
	}
	f, made, err := build.Build(img, functions, options)
	if err != nil {
		return nil, nil, nil, imageError(err, name)
	}
	warnSplit(c, info, name)
	if source == image.IDNone {
		c.Warn(diag.New(diag.NoIdentity, "the image states no identity, so that samples are matched by its name alone").In(name).
			Because("It was linked without a build id, or without debug information (PE).").
			Do("Link it with --build-id, or /debug for a PE, and sample that."))
	}
	r = report.NewBuilt(&found, &made)
	r.Image, r.Debug = name, debug
	r.Binary, r.GUID, r.Age, r.Identity = f.Header.Binary, id.GUID.String(), id.Age, source.String()
	for _, p := range info.Problems() {
		r.Problems = append(r.Problems, p.Error())
	}
	return f, r, cutOff(name, append(found.Problems, made.Problems...)), nil
}

// warnSplit warns if debug information lies in files that are not there.
func warnSplit(c *cli.Context, info *debuginfo.Info, name string) {
	if lost := info.Stats().Missing; len(lost) > 0 {
		c.Warn(diag.New(diag.SplitMissing, "%d of %d files with split debug information are missing, such as %s", len(lost), info.Stats().Split, lost[0]).In(name))
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
