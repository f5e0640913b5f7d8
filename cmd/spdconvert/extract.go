package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

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
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return nil, diag.New(diag.CannotRead, "is a folder").In(name)
	}
	if err := replaceable(output, fi); err != nil {
		return nil, err
	}
	found, damage := carrier.Find(in, fi.Size())
	if len(found) == 0 && damage != nil {
		return nil, binfmt.InFile(damage, name)
	}
	one, refused := choose(found, c.Int("index"))
	if refused != nil && len(found) > 1 {
		return &report.CarrierList{File: name, Found: found}, refused.In(name)
	}
	if refused != nil {
		return nil, refused.In(name)
	}
	if one.Err != nil {
		return nil, binfmt.InFile(one.Err, name)
	}
	if damage != nil {
		c.Warn(diag.New(diag.DamagedPart, "%v", damage).In(name))
	}
	write := func(w io.Writer) error {
		_, err := io.Copy(w, one.Open())
		return binfmt.InFile(err, name)
	}
	if output == "-" {
		c.ResultToErr = true
		if err := write(c.Out); err != nil {
			return nil, err
		}
	} else if err := cli.WriteFile(c.Context.Context, output, write); err != nil {
		return nil, err
	}
	result := &extracted{File: name, Where: one.Where, Offset: one.Offset, Bytes: one.Size, Output: output, Version: fmt.Sprintf("%#x", one.Version)}
	return result, describe(result, one)
}

// describe adds the identity. The SPD was copied as it is; damage of its
// headers is an error with places in the output.
func describe(e *extracted, one *carrier.Found) error {
	r, err := spd.NewReader(one.Open(), one.Size)
	if err != nil {
		return binfmt.InFile(err, e.Output)
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

// replaceable makes sure that the output is not the input, and that it does
// not exist or is an SPD. What is no regular file is written to, not replaced.
func replaceable(output string, input fs.FileInfo) error {
	fi, err := os.Stat(output)
	if errors.Is(err, fs.ErrNotExist) || output == "-" {
		return nil
	}
	if err != nil {
		return err
	}
	if os.SameFile(fi, input) {
		return diag.New(diag.WouldReplace, "the output is the input").In(output).
			Because("The same file is named twice.").Do("Give the output a new name.")
	}
	if !fi.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(output)
	if err != nil {
		return err
	}
	defer f.Close()
	if !carrier.IsSPD(f) {
		return diag.New(diag.WouldReplace, "the output exists and is no SPD").In(output).
			Because("The last operand is the output.").Do("Give the output a new name, or remove the file first.")
	}
	return nil
}
