package main

import (
	"io"
	"os"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// merge merges SPDs, the newest last, into the one named first.
func merge(c *cli.Context) (cli.Result, error) {
	if len(c.Operands) < 2 {
		return nil, diag.New(diag.BadOperands, "/merge takes the SPD to write and those to merge, %d files are named", len(c.Operands))
	}
	output, names := c.Operands[0], c.Operands[1:]
	amount, err := retirement(c)
	if err != nil {
		return nil, err
	}
	limits, err := newGates(c)
	if err != nil {
		return nil, err
	}
	from, err := newProvenance(c, "merge", output)
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
	merger := profile.NewMerger(amount)
	var merged []report.MergedInput
	var result *report.Conversion
	binary := ""
	for i, name := range names {
		if err := c.Context.Err(); err != nil {
			return nil, err
		}
		f, err := readSPD(c, name)
		if err != nil {
			return nil, err
		}
		if i > 0 && f.Header.Binary != binary {
			c.Warn(diag.New(diag.OtherBinary, "this SPD is of %s, the one before of %s", f.Header.Binary, binary).In(name))
		}
		binary = f.Header.Binary
		if i == len(names)-1 {
			result = report.NewConversion("merge", name, f)
		}
		merged = append(merged, report.Merged(name, f, merger.Add(f)))
	}
	result.Merged = merged
	if len(names) > 1 {
		result.Retired = amount
	}
	f := merger.Result()
	result.After(f)
	if err := limits.check(result); err != nil || !write {
		return result, err
	}
	if err := from.list(names, result.Retired); err != nil {
		return result, err
	}
	whole := func(w io.Writer) error { return spd.Write(w, f) }
	if len(names) == 1 && names[0] != "-" {
		whole = func(w io.Writer) error { return copyFile(w, names[0]) }
	}
	if err := writeSPD(c, output, from, whole); err != nil {
		return result, err
	}
	result.Output = output
	return result, nil
}

// copyFile copies a single SPD as it is.
func copyFile(w io.Writer, name string) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(w, in)
	return err
}

// list adds the SPDs of a merge, in their order.
func (p *provenance) list(names []string, retired int) error {
	if p == nil {
		return nil
	}
	p.Options = provenanceOptions{Retired: retired}
	for _, name := range names {
		d, err := digestFile(name)
		if err != nil {
			return err
		}
		p.Inputs = append(p.Inputs, d)
	}
	return nil
}
