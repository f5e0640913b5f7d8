package main

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/compare"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

func run(c *cli.Context) (cli.Result, error) {
	if text := c.String("assemble"); text != "" {
		return nil, assemble(c, text, c.String("output"))
	}
	if len(c.Operands) != 1 {
		return nil, diag.New(diag.BadOperands, "one file is wanted, %d are named", len(c.Operands))
	}
	view, err := options(c)
	if err != nil {
		return nil, err
	}
	in, err := open(c.Operands[0], c.Int("index"))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.damage != nil {
		c.Warn(diag.New(diag.DamagedPart, "%v", in.damage).In(in.name))
	}
	if in.reader == nil {
		list := &report.CarrierList{File: in.name, Found: in.found}
		if view.Specific() {
			return list, diag.New(diag.SeveralSPDs, "%d SPDs are inside, and none was chosen", len(in.found)).In(in.name)
		}
		return list, nil
	}
	view.File, view.Where, view.Reader = in.name, in.where, in.reader
	if err := view.Load(); err != nil {
		return nil, binfmt.InFile(err, in.name)
	}
	return view, check(c, view)
}

// options reads which parts are wanted.
func options(c *cli.Context) (*report.SPDDump, error) {
	v := &report.SPDDump{
		Header: c.Bool("header"), Modules: c.Bool("module"), Symbols: c.Bool("symbol"), Functions: c.Bool("func"),
		Callees: c.Bool("cg"), FlowGraphs: c.Bool("fg"), Data: c.Bool("data"), Coverage: c.Bool("coverage"),
		FuncID: c.String("funcid"), Dot: c.String("dot"), Text: c.Bool("text"), Lines: c.Bool("jsonl"),
		Mini: c.Bool("minidump"), Plain: c.Bool("no-demangle"), Validate: c.Bool("validate"), Top: c.Int("top"),
	}
	if s := c.String("dyninst"); c.IsSet("dyninst") {
		n, err := strconv.ParseUint(s, 10, 31)
		if err != nil || n == 0 {
			return nil, diag.New(diag.BadValue, "/dyninst takes a number of functions from 1 on, not %q", s)
		}
		v.DynInst = int(n)
	}
	if _, err := failUnder(c); err != nil {
		return nil, err
	}
	if v.Top < 0 {
		return nil, diag.New(diag.BadValue, "--top takes a number from 0 on")
	}
	v.Select(c.Bool("all"), c.IsSet("diff") || c.IsSet("stale"))
	return v, nil
}

// failUnder is the threshold of --fail-under; 0 without one.
func failUnder(c *cli.Context) (float64, error) {
	s := strings.TrimSuffix(c.String("fail-under"), "%")
	if s == "" {
		return 0, nil
	}
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !(p >= 0 && p <= 100) {
		return 0, diag.New(diag.BadValue, "--fail-under takes a percentage from 0 to 100, not %q", s)
	}
	if !c.IsSet("diff") && !c.IsSet("stale") {
		return 0, diag.New(diag.BadValue, "--fail-under needs /diff or /stale")
	}
	return p, nil
}

// check compares and validates as the options say, and applies the gates.
func check(c *cli.Context, v *report.SPDDump) error {
	limit, _ := failUnder(c)
	if other := c.String("diff"); other != "" {
		f, err := readOther(other)
		if err != nil {
			return err
		}
		v.Diff = compare.Files(v.Content, f, v.Top)
		if v.Diff.Overlap < limit {
			return diag.New(diag.LowOverlap, "the profiles overlap by %.2f %%, --fail-under asks for %g %%", v.Diff.Overlap, limit).In(other)
		}
	}
	if other := c.String("stale"); other != "" {
		f, err := readOther(other)
		if err != nil {
			return err
		}
		v.Stale = compare.Stale(v.Content, f, v.Top)
		if v.Stale.WeightPercent < limit {
			return diag.New(diag.StaleProfile, "%.2f %% of the profile's weight fits, --fail-under asks for %g %%", v.Stale.WeightPercent, limit).In(other)
		}
	}
	if v.Validate && v.CountViolations() > 0 {
		return diag.New(diag.BrokenRules, "%d rules are broken", v.CountViolations()).In(v.File)
	}
	return nil
}

// readOther reads the SPD to compare with.
func readOther(name string) (*spd.File, error) {
	in, err := open(name, -1)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.reader == nil {
		return nil, diag.New(diag.SeveralSPDs, "%d SPDs are inside", len(in.found)).In(name)
	}
	f, err := in.reader.Read()
	return f, binfmt.InFile(err, name)
}

// input is an SPD that is open, or the list of those found where there are
// several and none was chosen.
type input struct {
	name   string
	where  string
	reader *spd.Reader
	found  []carrier.Found
	damage error // of other parts of the file
	file   *os.File
}

// Close closes the file.
func (in *input) Close() { in.file.Close() }

// open finds the SPD in a file.
func open(name string, index int) (*input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	in, err := find(f, name, index)
	if err != nil {
		f.Close()
		return nil, binfmt.InFile(err, name)
	}
	return in, nil
}

func find(f *os.File, name string, index int) (*input, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return nil, diag.New(diag.CannotRead, "is a folder").In(name)
	}
	in := &input{name: name, file: f}
	in.found, in.damage = carrier.Find(f, fi.Size())
	switch {
	case len(in.found) == 0 && in.damage != nil:
		return nil, in.damage
	case len(in.found) == 0:
		return nil, diag.New(diag.NoSPD, "no SPD is inside").In(name)
	case index >= len(in.found):
		return nil, diag.New(diag.BadValue, "--index %d: the file has %d SPDs, counted from 0", index, len(in.found))
	case len(in.found) > 1 && index < 0:
		return in, nil
	}
	chosen := in.found[max(index, 0)]
	if chosen.Err != nil {
		return nil, chosen.Err
	}
	in.where = chosen.Where
	in.reader, err = spd.NewReader(chosen.Open(), chosen.Size)
	return in, err
}

// assemble makes an SPD from its text form or JSON.
func assemble(c *cli.Context, name, output string) error {
	if output == "" {
		return diag.New(diag.BadOperands, "--assemble needs -o FILE")
	}
	text := c.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		text = f
	}
	data, err := io.ReadAll(text)
	if err != nil {
		return binfmt.InFile(err, name)
	}
	read := spd.ReadText
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		read = spd.ReadJSON
	}
	f, err := read(bytes.NewReader(data))
	if err != nil {
		return binfmt.InFile(err, name)
	}
	return cli.WriteFile(c.Context.Context, output, func(w io.Writer) error { return spd.Write(w, f) })
}
