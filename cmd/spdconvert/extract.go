package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// extracted is the result of /extract.
type extracted struct {
	File    string `json:"file"`
	Where   string `json:"where"` // empty if the file itself is the SPD
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"`
	Output  string `json:"output"`
	Binary  string `json:"binary"`
	GUID    string `json:"guid"`
	Age     uint32 `json:"age"`
	Version string `json:"version"`
}

// WriteText says what was written and which build it belongs to.
func (e *extracted) WriteText(w io.Writer) error {
	place := ""
	if e.Where != "" {
		place = " from " + e.Where
	}
	_, err := fmt.Fprintf(w, "%s: %s bytes%s of %s\n", e.Output, report.Count(uint64(e.Bytes)), place, e.File)
	if err == nil && e.Binary != "" {
		_, err = fmt.Fprintf(w, "SPD version %s of %s %s age %d\n", e.Version, e.Binary, e.GUID, e.Age)
	}
	return err
}

// extract copies an SPD out of the file that carries it.
func extract(c *cli.Context) (cli.Result, error) {
	if len(c.Operands) != 2 {
		return nil, diag.New(diag.BadOperands, "/extract takes a file and the SPD to write, %d files are named", len(c.Operands))
	}
	name, output := c.Operands[0], c.Operands[1]
	c.ResultToErr = output == "-"
	in, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	if err := cli.Replaceable(output, "SPD", carrier.IsSPD, in.Info); err != nil {
		return nil, err
	}
	found, err := carrier.Find(in, in.Size)
	if c.Context.Err() != nil {
		return nil, c.Context.Err()
	}
	damage := report.SPDError(err, name)
	if len(found) == 0 && damage != nil {
		return nil, damage
	}
	one, refused := choose(found, c.Int("index"))
	if refused != nil && len(found) > 1 {
		return &report.CarrierList{File: name, Found: found}, errors.Join(refused.In(name), damage)
	}
	if refused != nil {
		return nil, refused.In(name)
	}
	if one.Err != nil {
		return nil, report.SPDError(one.Err, name)
	}
	write := func(w io.Writer) error {
		_, err := io.Copy(w, one.Open())
		return binfmt.InFile(err, name)
	}
	if err := c.WriteOutput(output, write); err != nil {
		return nil, err
	}
	result := &extracted{File: name, Where: one.Where, Offset: one.Offset, Bytes: one.Size, Output: output, Version: fmt.Sprintf("%#x", one.Version)}
	return result, errors.Join(describe(result, one), damage)
}

// describe adds the identity. The SPD was copied as it is; damage of its
// headers is an error with places in the output.
func describe(e *extracted, one *carrier.Found) error {
	r, err := spd.NewReader(one.Open(), one.Size)
	if err != nil {
		return report.SPDError(err, e.Output)
	}
	h := r.Header()
	e.Binary, e.GUID, e.Age = h.Binary, h.GUID.String(), h.Age
	return nil
}

// choose takes the only SPD, or the one with the index that --index gave.
func choose(found []carrier.Found, index int) (*carrier.Found, *diag.Error) {
	switch {
	case len(found) == 0:
		return nil, diag.New(diag.NoSPD, "no SPD is inside")
	case index >= len(found), index < -1:
		return nil, diag.New(diag.BadValue, "--index %d: the SPDs inside are counted from 0 to %d", index, len(found)-1)
	case index < 0 && len(found) > 1:
		return nil, diag.New(diag.SeveralSPDs, "%d SPDs are inside", len(found)).Do("Choose one of the list with --index.")
	}
	return &found[max(index, 0)], nil
}
