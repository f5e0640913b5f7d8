package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf16"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/filelock"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// hold keeps other runs from replacing a file until release is called. A file
// that does not exist has nothing to lose.
func hold(c *cli.Context, output string) (release func(), err error) {
	if fi, err := os.Stat(output); output == "-" || err != nil || !fi.Mode().IsRegular() {
		return func() {}, nil
	}
	lock, err := filelock.Acquire(c.Context.Context, output, func() {
		if !c.Quiet {
			fmt.Fprintf(c.Err, "spdconvert: waiting for another program that works on %s\n", output)
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	// Whoever left these cannot be at work: it would hold the lock.
	if err := lock.RemoveTemporaries(); err != nil {
		c.Logf("temporary files of a run that was killed: %v", err)
	}
	return func() { lock.Release() }, nil
}

// claim makes sure that an output may be replaced, and holds it.
func claim(c *cli.Context, output string) (release func(), err error) {
	if err := checkOutput(output); err != nil {
		return nil, err
	}
	return hold(c, output)
}

// locked is run under the lock of the SPD that it writes, the operand with an
// index.
func locked(index int, run func(*cli.Context) (cli.Result, error)) func(*cli.Context) (cli.Result, error) {
	return func(c *cli.Context) (cli.Result, error) {
		if index < len(c.Operands) && checkOutput(c.Operands[index]) == nil {
			release, err := hold(c, c.Operands[index])
			if err != nil {
				return nil, err
			}
			defer release()
		}
		return run(c)
	}
}

// readSPD reads a whole SPD.
func readSPD(c *cli.Context, name string) (*spd.File, error) {
	f, err := readAnySPD(c, name)
	if err == nil {
		return f, nil
	}
	err = report.SPDError(err, name)
	var e *diag.Error
	if errors.As(err, &e) && e.Code == diag.UnknownFormat {
		e.Do("If an SPD is inside, take it out with spdconvert /extract %s FILE.spd.", name)
	}
	return nil, err
}

func readAnySPD(c *cli.Context, name string) (*spd.File, error) {
	if fi, err := os.Stat(name); name != "-" && (err != nil || fi.Mode().IsRegular()) {
		return spd.ReadFile(name) // and close it: Windows cannot replace an open file
	}
	in, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := spd.NewReader(in, in.Size)
	if err != nil {
		return nil, err
	}
	return r.Read()
}

// checkOutput makes sure that writing an SPD destroys nothing else.
func checkOutput(output string) error {
	err := cli.Replaceable(output, "SPD", carrier.IsSPD)
	var e *diag.Error
	if errors.As(err, &e) && e.Code == diag.WouldReplace {
		e.Because("The file named first is the SPD to write, unless -o names another.").
			Do("Name the SPD first and then its inputs.")
	}
	return err
}

// writeSPD writes an SPD and, before it takes its place, the provenance.
func writeSPD(c *cli.Context, output string, p *provenance, write func(io.Writer) error) error {
	if err := c.WriteOutput(output, func(w io.Writer) error {
		digest := sha256.New()
		if err := write(io.MultiWriter(w, digest)); err != nil {
			return err
		}
		return p.write(c, output, hex.EncodeToString(digest.Sum(nil)))
	}); err != nil {
		return err
	}
	warnOfLongPath(c, output)
	return nil
}

// linkerPath is the most characters of a path that link.exe takes.
const linkerPath = 260

func warnOfLongPath(c *cli.Context, output string) {
	if output == "-" {
		return
	}
	full, err := filepath.Abs(output)
	if err != nil {
		return
	}
	if n := len(utf16.Encode([]rune(full))); n > linkerPath {
		c.Warn(diag.New(diag.LongPath, "the full path has %d characters", n).In(output))
	}
}
