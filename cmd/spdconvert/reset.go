package main

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// reset takes all counts away, or creates an empty SPD. SPTs are ignored, as
// documented for Microsoft's tool.
func reset(c *cli.Context) (cli.Result, error) {
	if len(c.Operands) == 0 {
		return nil, diag.New(diag.BadOperands, "no SPD is named")
	}
	file, output := c.Operands[0], c.String("output")
	if output == "" {
		output = file
	}
	from, err := newProvenance(c, "reset", output)
	if err != nil {
		return nil, err
	}
	write := !c.Bool("summary")
	if write {
		release, err := claim(c, output)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	f, err := readSPD(c, file)
	created := errors.Is(err, fs.ErrNotExist)
	switch {
	case created:
		f = profile.Empty(binaryOf(file))
		c.Warn(diag.New(diag.EmptyDatabase, "a database without functions, of %s", f.Header.Binary).In(file))
	case err != nil:
		return nil, err
	}
	result := report.NewConversion("reset", file, f)
	profile.Reset(f)
	result.After(f)
	result.Ignored = append(result.Ignored, c.Operands[1:]...)
	if list := c.String("sptlist"); list != "" {
		result.Ignored = append(result.Ignored, list)
	}
	if !write {
		return result, nil
	}
	if from != nil && !created && file != "-" {
		before, err := digestFile(file)
		if err != nil {
			return result, err
		}
		from.SPD = &before
	}
	if err := writeSPD(c, output, from, func(w io.Writer) error { return spd.Write(w, f) }); err != nil {
		return result, err
	}
	result.Output = output
	return result, nil
}

// binaryOf is the name of the binary that an SPD of that name is of: the name
// without .spd, and an executable where that has no extension left.
func binaryOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if filepath.Ext(name) == "" {
		name += ".exe"
	}
	return name
}
