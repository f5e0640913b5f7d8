package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spt"
)

func run(c *cli.Context) (cli.Result, error) {
	if c.IsSet("export") {
		return export(c)
	}
	if text := c.String("assemble"); text != "" {
		if len(c.Operands) > 0 {
			return nil, diag.New(diag.BadOperands, "--assemble takes its input as the value; what is %s?", c.Operands[0])
		}
		return nil, assemble(c, text, c.String("output"))
	}
	if c.IsSet("output") {
		return nil, diag.New(diag.BadOperands, "-o is the output of --assemble, which is not given")
	}
	if len(c.Operands) != 1 {
		return nil, diag.New(diag.BadOperands, "one SPT is wanted, %d files are named", len(c.Operands))
	}
	if c.Int("top") < 0 {
		return nil, diag.New(diag.BadValue, "--top takes a number from 0 on")
	}
	name := c.Operands[0]
	if c.Bool("spe-packets") {
		return spePackets(c, name)
	}
	r, err := open(c, name)
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	warnOdd(c, name, r)
	d := &report.SPTDump{File: name, Reader: r, Parts: parts(c), Top: c.Int("top")}
	// What is skipped is known only after the records were read, so they are
	// read while the result is printed.
	d.AtEnd = func() error { return damage(c, name, r) }
	if c.Bool("summary") {
		if err := d.Summarize(); err != nil {
			return nil, binfmt.InFile(err, name)
		}
		return d, d.AtEnd()
	}
	return d, nil
}

// spePackets shows the Arm SPE packets of a recording.
func spePackets(c *cli.Context, name string) (cli.Result, error) {
	in, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	f, err := perfdata.NewReader(in, in.Size, &perfdata.Options{Name: name})
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	return &report.SPEPackets{File: name, Recording: f}, nil
}

// open opens the file, or standard input.
func open(c *cli.Context, name string) (*spt.Reader, error) {
	options := &spt.Options{Tolerate: true}
	if name == "-" {
		return spt.NewStreamReader(c.In, options)
	}
	return spt.Open(name, options)
}

// parts are the parts of the text form that the options select; each of
// Microsoft's options shows its part alone.
func parts(c *cli.Context) spt.Part {
	var p spt.Part
	for _, o := range []struct {
		name string
		part spt.Part
	}{
		{"header", spt.PartHeader}, {"progid", spt.PartPrograms}, {"strtab", spt.PartStrings}, {"event", spt.PartRecords},
	} {
		if c.Bool(o.name) {
			p |= o.part
		}
	}
	if c.Bool("all") || p == 0 && !c.Bool("summary") {
		p = spt.PartAll
	}
	return p
}

// warnOdd reports what is unusual about a file, but harms nothing.
func warnOdd(c *cli.Context, name string, r *spt.Reader) {
	for _, w := range r.Warnings() {
		c.Warn(diag.New(diag.OddSPT, "%v", w).In(name))
	}
}

// damage reports what the reader had to skip: as errors, or as warnings where
// that is tolerated.
func damage(c *cli.Context, name string, r *spt.Reader) error {
	var errs []error
	if c.Bool("tolerate") {
		warnSkipped(c, name, r)
	} else {
		for _, s := range r.Stats().Skipped {
			errs = append(errs, skipped(name, s))
		}
	}
	if err := r.Err(); err != nil {
		errs = append(errs, binfmt.InFile(err, name))
	}
	return errors.Join(errs...)
}

// warnSkipped reports what a tolerant reader has skipped.
func warnSkipped(c *cli.Context, name string, r *spt.Reader) {
	for _, s := range r.Stats().Skipped {
		e := skipped(name, s)
		e.Code = diag.DamagedPart
		c.Warn(e)
	}
}

// skipped says where a kind of damage was met first, and what it has cost.
func skipped(name string, s spt.Skipped) *diag.Error {
	e := diag.Of(binfmt.InFile(s.First, name))
	e.Count = s.Times
	e.Message += fmt.Sprintf("; %s bytes were skipped", report.Count(s.Bytes))
	if s.Records > 0 {
		e.Message += fmt.Sprintf(", with at least %s records", report.Count(s.Records))
	}
	return e
}

// assemble makes an SPT from its text form.
func assemble(c *cli.Context, name, output string) error {
	if output == "" {
		return diag.New(diag.BadOperands, "--assemble needs -o FILE")
	}
	var input os.FileInfo
	if name != "-" {
		var err error
		if input, err = os.Stat(name); err != nil {
			return err
		}
	}
	if err := cli.Replaceable(output, "SPT", spt.IsSPT, input); err != nil {
		return err
	}
	text, err := c.Stream(name)
	if err != nil {
		return err
	}
	return c.WriteOutput(output, func(w io.Writer) error {
		err := binfmt.InFile(spt.ParseText(w, text), name)
		if defect := (*binfmt.Error)(nil); errors.As(err, &defect) {
			return diag.Of(err).Because("It is no text form of an SPT, only a part of one, or was changed.").
				Do("Mend that line, or assemble the whole text form: what sptdump FILE prints without options for parts such as /event.")
		}
		return err
	})
}
