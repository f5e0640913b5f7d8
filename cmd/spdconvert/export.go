package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/export"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// exportProfile writes the counts of an SPD as a profile for another tool.
func exportProfile(c *cli.Context) (cli.Result, error) {
	format, trim, err := exportOptions(c)
	if err != nil {
		return nil, err
	}
	if len(c.Operands) != 2 {
		return nil, diag.New(diag.BadOperands, "/export takes an SPD and the profile to write, %d files are named", len(c.Operands))
	}
	name, output := c.Operands[0], c.Operands[1]
	c.ResultToErr = output == "-"
	f, err := readSPD(c, name)
	if err != nil {
		return nil, err
	}
	img, path, err := imageOf(c, name, f)
	if err != nil {
		return nil, err
	}
	defer img.Close()
	if format == export.BOLT && img.Kind != image.KindELF {
		return nil, diag.New(diag.Unsupported, "BOLT optimizes ELF images only").In(path).
			Because("It is a %v image.", img.Kind).Do("Choose another format than bolt.")
	}
	if err := replaceable(format, output, name, path); err != nil {
		return nil, err
	}
	if f.Header.Flags&spd.HeaderProfiled == 0 {
		return nil, diag.New(diag.NoProfile, "the SPD holds no counts").In(name).
			Do("Import samples first: spdconvert %s run.spt.", name)
	}
	in := export.Input{Profile: f, Image: img, Trim: trim}
	debug := c.String("pdb")
	var unusable []error
	var profile bytes.Buffer
	var made *export.Report
	if interrupted := c.Do(func() {
		if format.NeedsLines() {
			debug, unusable, err = debuginfo.With(img, path, debug, func(debug string) (err error) {
				in.Debug, err = debuginfo.Open(img, path, debug)
				return err
			})
		}
		if err == nil {
			made, err = export.Write(&profile, format, in)
		}
	}); interrupted != nil {
		return nil, interrupted
	}
	for _, err := range unusable {
		c.Warn(report.UnusedDebugFile(err))
	}
	if in.Debug != nil {
		defer in.Debug.Close()
		warnSplit(c, in.Debug, path)
	}
	if err != nil {
		return nil, imageError(err, path)
	}
	r := report.NewExported(format, made)
	r.SPD, r.Image, r.Debug, r.Output = name, path, debug, output
	if in.Debug != nil {
		for _, p := range in.Debug.Problems() {
			r.Problems = append(r.Problems, p.Error())
		}
	}
	if made.Exported == 0 {
		e := diag.New(diag.NothingUsable, "no function with counts can be exported").In(name)
		if made.WithoutLines > 0 {
			e.Because("%s has no debug information.", path).Do("Name its PDB or debug file with /pdb, or build it with -g.")
		} else if made.WithoutSymbol > 0 {
			e.Because("%s is stripped.", path).Do("Name the image with symbols.")
		}
		return r, e
	}
	if err := c.WriteOutput(output, func(w io.Writer) error {
		_, err := w.Write(profile.Bytes())
		return err
	}); err != nil {
		return nil, err
	}
	return r, nil
}

// exportOptions returns the format and the percentage to keep, 0 for all.
func exportOptions(c *cli.Context) (export.Format, float64, error) {
	format := export.Format(strings.ToLower(c.String("export")))
	if !slices.Contains(export.Formats, format) {
		return "", 0, diag.New(diag.BadValue, "/export:%s: the formats are %v", c.String("export"), export.Formats)
	}
	if !c.IsSet("trim") {
		return format, 0, nil
	}
	trim, err := strconv.ParseFloat(strings.TrimSuffix(c.String("trim"), "%"), 64)
	if err != nil || !(trim > 0 && trim <= 100) {
		return "", 0, diag.New(diag.BadValue, "--trim %s: want a percentage above 0 and up to 100", c.String("trim"))
	}
	return format, trim, nil
}

// imageOf opens the image that an SPD is of: the one that --image names, or one
// with the name and identity that the SPD states, in the folders of
// --image-path or beside the SPD.
func imageOf(c *cli.Context, name string, f *spd.File) (*image.File, string, error) {
	path := c.String("image")
	if path == "" {
		return findImage(c, name, f)
	}
	img, err := image.Open(path)
	if err != nil {
		return nil, "", imageError(err, path)
	}
	want := image.ID{GUID: f.Header.GUID, Age: f.Header.Age}
	if id, _ := img.ID(); id.GUID != want.GUID || id.Age != want.Age {
		img.Close()
		e := diag.New(diag.OtherImage, "the SPD is of another build").In(path).
			Do("Name the image that %s was made of.", name)
		e.Want, e.Got = want.String(), id.String()
		return nil, "", e
	}
	return img, path, nil
}

func findImage(c *cli.Context, name string, f *spd.File) (*image.File, string, error) {
	base := sample.BaseName(f.Header.Binary)
	finder := image.Finder{Dirs: cli.Files(c.StringSlice("image-path"))}
	finder.Dirs = append(finder.Dirs, filepath.Join(filepath.Dir(name), base))
	found, err := finder.Find(image.Want{Name: base, Windows: true, ID: image.ID{GUID: f.Header.GUID, Age: f.Header.Age}})
	if err != nil {
		e := diag.New(diag.OtherImage, "%s", strings.TrimPrefix(err.Error(), base+": ")).In(base).
			Because("The image beside the SPD or in the image path is of another build.")
		var missing *image.NotFoundError
		if errors.As(err, &missing) && missing.MissCount == 0 {
			e.Code = diag.CannotOpen
			e.Because("The image is not beside the SPD, nor in the folders of --image-path.")
		}
		return nil, "", e.Do("Name the image with --image, or its folder with --image-path.")
	}
	return found.File, found.Path, nil
}

// replaceable makes sure that the profile replaces nothing else.
func replaceable(format export.Format, output, spdName, imagePath string) error {
	is := func(r io.ReaderAt) bool { return !carrier.IsSPD(r) && export.Is(format, r) }
	var inputs []os.FileInfo
	for _, input := range []string{spdName, imagePath} {
		if fi, err := os.Stat(input); err == nil {
			inputs = append(inputs, fi)
		}
	}
	err := cli.Replaceable(output, string(format)+" profile", is, inputs...)
	var e *diag.Error
	if errors.As(err, &e) && e.Code == diag.WouldReplace {
		e.Do("Name the SPD first and then a new file for the profile.")
	}
	return err
}
