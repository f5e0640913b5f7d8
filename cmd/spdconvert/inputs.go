package main

import (
	"errors"
	"os"

	"github.com/spgo-tools/spgo/internal/build"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// input is an SPT with its weight.
type input struct {
	name   string
	weight uint64

	stream   *cli.File       // of standard input or a pipe, once it was opened
	accepted []spt.ProgramID // program ids whose samples are used
	ignored  string          // what about the identity was ignored; empty: nothing
	stats    correlate.InputStats
}

// inputs lists the SPTs of the command line and of a list, each once, in the
// order of the first naming.
func inputs(c *cli.Context, operands []string, list string) ([]*input, error) {
	names := operands
	if list != "" {
		listed, err := cli.ReadList(list, "SPT")
		if err != nil {
			return nil, err
		}
		names = append(names[:len(names):len(names)], listed...)
	}
	files, err := cli.WeightedFiles(names)
	if err != nil {
		return nil, err
	}
	c.WarnRepeated(names, files)
	all := make([]*input, len(files))
	for i, f := range files {
		all[i] = &input{name: f.Name, weight: f.Weight}
	}
	return all, nil
}

// open opens the SPT. The caller calls the function that is returned when it
// is done; what is no regular file stays open, as it can be read once.
func (in *input) open(c *cli.Context) (*spt.Reader, func(), error) {
	options := &spt.Options{Tolerate: true}
	if in.stream == nil {
		if fi, err := os.Stat(in.name); in.name != "-" && (err != nil || fi.Mode().IsRegular()) {
			r, err := spt.Open(in.name, options)
			if err != nil {
				return nil, nil, noSPT(err)
			}
			return r, func() { r.Close() }, nil
		}
		var err error
		if in.stream, err = c.Open(in.name); err != nil {
			return nil, nil, err
		}
	}
	r, err := spt.NewReader(in.stream, in.stream.Size, options)
	return r, func() {}, noSPT(binfmt.InFile(err, in.name))
}

// noSPT says what is wanted where a file of another format is named.
func noSPT(err error) error {
	if !errors.Is(err, binfmt.ErrMagic) {
		return err
	}
	return diag.Of(err).Because("It is no SPT, or its beginning is damaged.").
		Do("Name the SPD first and then SPTs; sptaggregate makes SPTs of recordings.")
}

// read opens the SPT, has use read it and reports what is damaged.
func (in *input) read(c *cli.Context, tolerate bool, use func(*spt.Reader) error) error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	r, done, err := in.open(c)
	if err != nil {
		return err
	}
	defer done()
	if interrupted := c.Do(func() { err = use(r) }); interrupted != nil {
		return interrupted
	}
	if err != nil {
		return binfmt.InFile(err, in.name)
	}
	for _, s := range r.Stats().Skipped {
		e := *diag.Of(binfmt.InFile(s.First, in.name))
		e.Count = s.Times
		if !tolerate {
			info := diag.Codes[diag.DamagedSamples]
			e.Code, e.Cause, e.Next = diag.DamagedSamples, info.Cause, info.Next
			return &e
		}
		e.Code = diag.DamagedPart
		c.Warn(&e)
	}
	return nil
}

// branches returns the branches of a binary that all inputs hold.
func (p *plan) branches(c *cli.Context, id image.ID) ([]build.Branch, error) {
	known := make(map[spt.Pair]bool)
	for _, in := range p.inputs {
		r, done, err := in.open(c) // damage is told when the samples are counted
		if err != nil {
			return nil, err
		}
		for r.Next() {
			rec := r.Record()
			if of := r.Programs()[rec.Program]; of.GUID != id.GUID || of.Age != id.Age || untranslated(of) {
				continue
			}
			for _, b := range rec.Pairs {
				known[b] = true
			}
		}
		err = r.Err()
		done()
		if err != nil {
			return nil, binfmt.InFile(err, in.name)
		}
	}
	list := make([]build.Branch, 0, len(known))
	for b := range known {
		list = append(list, build.Branch{From: b.From, To: b.To})
	}
	return list, nil
}

// size is the size of the SPT in bytes, for progress; 0 if it is not known.
func (in *input) size() int64 {
	if fi, err := os.Stat(in.name); err == nil && fi.Mode().IsRegular() {
		return fi.Size()
	}
	return 0
}

// uses says whether samples of a program id are used.
func (in *input) uses(id spt.ProgramID) bool {
	for _, a := range in.accepted {
		if a.GUID == id.GUID && a.Age == id.Age && a.Name == id.Name {
			return true
		}
	}
	return false
}

// samples is the number of samples of the kind that counts are made from.
func samples(counts []correlate.OpcodeCount, mode correlate.Mode, event spt.Opcode) (n uint64) {
	for _, c := range counts {
		if mode == correlate.LBR && c.Op == spt.OpLBR || mode == correlate.IP && c.Op == event {
			n = binfmt.SatAdd(n, c.Hits)
		}
	}
	return n
}
