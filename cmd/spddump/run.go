package main

import (
	"errors"
	"os"
	"runtime/debug"
	"slices"
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
	if err := refuseCombinations(c); err != nil {
		return nil, err
	}
	if os.Getenv("GOGC") == "" {
		// A model of everything is two and a half times its file, and garbage as
		// much again by default: too much for databases of large programs.
		debug.SetGCPercent(40)
	}
	if c.Bool("doctor") {
		return examine(c)
	}
	if c.IsSet("assemble") {
		return nil, assemble(c, c.String("assemble"), c.String("output"))
	}
	view, err := options(c)
	if err != nil {
		return nil, err
	}
	in, err := open(c, c.Operands[0], "index")
	if err != nil {
		return nil, err
	}
	if in.reader == nil {
		list := &report.CarrierList{File: in.name, Found: in.found}
		if view.Specific() || asks(c) {
			return list, errors.Join(in.severalError("index"), in.damage)
		}
		return list, in.damage
	}
	view.File, view.Where, view.Reader = in.name, in.where, in.reader
	if err := view.Load(c.Do); err != nil {
		if c.Context.Err() != nil {
			return nil, c.Context.Err()
		}
		var defect *binfmt.Error
		if !errors.As(err, &defect) {
			return nil, errors.Join(err, in.damage)
		}
		return view, errors.Join(report.SPDError(err, in.name), in.damage)
	}
	err = check(c, view)
	if c.Context.Err() != nil {
		return nil, c.Context.Err()
	}
	return view, errors.Join(err, in.damage)
}

// asks says whether a part is asked for by name, which has to be one of a
// single SPD. Where several are inside, the list of them answers only spddump FILE.
func asks(c *cli.Context) bool {
	for _, name := range []string{"all", "header", "module", "symbol", "func", "cg", "fg", "data", "coverage"} {
		if c.Bool(name) {
			return true
		}
	}
	return c.IsSet("dyninst")
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
	for _, name := range []string{"index", "other-index"} {
		if c.IsSet(name) && c.Int(name) < 0 {
			return nil, diag.New(diag.BadValue, "--%s takes a number from 0 on, not %d", name, c.Int(name))
		}
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
	return p, nil
}

// check compares and validates as the options say, and applies the gates: all
// of them, so that no failure hides another.
func check(c *cli.Context, v *report.SPDDump) error {
	limit, _ := failUnder(c)
	var errs []error
	if other := c.String("diff"); other != "" {
		errs = append(errs, withOther(c, other, func(f *spd.File) error {
			v.Diff = compare.Files(v.Content, f, v.Top)
			switch {
			case v.Diff.Overlap >= limit:
				return nil
			case !v.Diff.OldCounted || !v.Diff.NewCounted:
				return diag.New(diag.LowOverlap, "one of the profiles has no counts, --fail-under asks for an overlap of %g %%", limit).In(other)
			}
			return diag.New(diag.LowOverlap, "the profiles overlap by %s %%, --fail-under asks for %g %%", report.Percent(v.Diff.Overlap), limit).In(other)
		}))
	}
	if other := c.String("stale"); other != "" {
		errs = append(errs, withOther(c, other, func(f *spd.File) error {
			v.Stale = compare.Stale(v.Content, f, v.Top)
			switch {
			case v.Stale.WeightPercent >= limit:
				return nil
			case v.Stale.Functions == 0:
				return diag.New(diag.StaleProfile, "the profile has no counts, --fail-under asks for %g %% of its weight", limit).In(v.File).
					Because("Nothing was imported into it.").Do("Import samples with spdconvert first.")
			}
			return diag.New(diag.StaleProfile, "%s %% of the profile's weight fits, --fail-under asks for %g %%", report.Percent(v.Stale.WeightPercent), limit).In(other)
		}))
	}
	if v.Validate && v.CountViolations() > 0 {
		errs = append(errs, diag.New(diag.BrokenRules, "%d rules are broken", v.CountViolations()).In(v.File))
	}
	return errors.Join(errs...)
}

// withOther calls compare with the SPD of another file, in a way that can be
// interrupted.
func withOther(c *cli.Context, name string, compare func(*spd.File) error) error {
	in, err := open(c, name, "other-index")
	if err != nil {
		return err
	}
	if in.reader == nil {
		return errors.Join(in.severalError("other-index"), in.damage)
	}
	f, err := in.reader.Read()
	if err != nil {
		return errors.Join(report.SPDError(err, name), in.damage)
	}
	var failed error
	if err := c.Do(func() { failed = compare(f) }); err != nil {
		return err
	}
	return errors.Join(failed, in.damage)
}

// input is an SPD that is open, or the list of those found where there are
// several and none was chosen.
type input struct {
	name   string
	where  string
	reader *spd.Reader
	found  []carrier.Found
	damage error // of other parts of the file
}

func (in *input) severalError(option string) error {
	return diag.New(diag.SeveralSPDs, "%d SPDs are inside, and none was chosen", len(in.found)).In(in.name).
		Do("List them with spddump and choose one with --%s.", option)
}

// open finds the SPD in a file; the option named may say which one.
func open(c *cli.Context, name, option string) (*input, error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	in := &input{name: name}
	in.found, err = carrier.Find(f, f.Size)
	in.damage = report.SPDError(err, name)
	if c.Context.Err() != nil {
		return nil, c.Context.Err()
	}
	index := c.Int(option)
	switch {
	case len(in.found) == 0 && in.damage != nil:
		return nil, in.damage
	case len(in.found) == 0:
		return nil, diag.New(diag.NoSPD, "no SPD is inside").In(name)
	case index >= len(in.found):
		return nil, diag.New(diag.BadValue, "--%s %d: the file has %d SPDs, counted from 0", option, index, len(in.found)).In(name)
	case len(in.found) > 1 && index < 0:
		return in, nil
	}
	chosen := in.found[max(index, 0)]
	if chosen.Err != nil {
		return nil, report.SPDError(chosen.Err, name)
	}
	in.where = chosen.Where
	in.reader, err = spd.NewReader(chosen.Open(), chosen.Size)
	return in, report.SPDError(err, name)
}

// refuseCombinations refuses what would be ignored.
func refuseCombinations(c *cli.Context) error {
	given := func(name string) bool {
		if on, ok := c.Value(name).(bool); ok {
			return on
		}
		return c.IsSet(name)
	}
	refuse := func(format string, args ...any) error {
		return diag.New(diag.BadOperands, format, args...).Because("The options do not go together.")
	}
	parts := []string{"header", "module", "symbol", "data", "coverage", "dyninst"}
	checks := []string{"validate", "diff", "stale"}
	functions := []string{"func", "cg", "fg", "funcid"}
	without := map[string][]string{ // what an option cannot be combined with
		"text":     slices.Concat([]string{"jsonl", "dot", "minidump"}, parts, checks, functions),
		"jsonl":    slices.Concat([]string{"json", "dot", "cg", "fg"}, parts, checks),
		"dot":      slices.Concat([]string{"all"}, parts, checks, functions),
		"doctor":   slices.Concat([]string{"all", "minidump", "fail-under", "top", "assemble", "output", "dot", "text", "jsonl", "no-demangle", "index", "other-index"}, parts, checks, functions),
		"assemble": slices.Concat([]string{"all", "minidump", "fail-under", "top", "dot", "text", "jsonl", "no-demangle", "index", "other-index"}, parts, checks, functions),
	}
	for _, name := range []string{"doctor", "assemble", "text", "jsonl", "dot"} {
		if !given(name) {
			continue
		}
		for _, other := range without[name] {
			if given(other) {
				return refuse("--%s is a form of its own and cannot be combined with --%s", name, other)
			}
		}
	}
	compares := given("diff") || given("stale")
	for _, name := range []string{"fail-under", "top", "other-index"} {
		if given(name) && !compares {
			return diag.New(diag.BadValue, "--%s needs /diff or /stale", name)
		}
	}
	operands := len(c.Operands)
	stdin := 0
	for _, name := range append(slices.Clone(c.Operands), c.String("diff"), c.String("stale")) {
		if name == "-" {
			stdin++
		}
	}
	switch {
	case given("assemble") && operands > 0:
		return refuse("--assemble takes its input as the value; what is %s?", c.Operands[0])
	case given("assemble") && !given("output"):
		return diag.New(diag.BadOperands, "--assemble needs -o FILE")
	case given("assemble"):
		return nil
	case given("output"):
		return refuse("-o is the output of --assemble, which is not given")
	case given("doctor") && operands == 0:
		return diag.New(diag.BadOperands, "/doctor wants the files that do not fit: app.spd and others")
	case given("doctor") && stdin > 0:
		return diag.New(diag.BadOperands, "/doctor reads each file several times, which standard input cannot be")
	case given("doctor"):
		return nil
	case operands != 1:
		return diag.New(diag.BadOperands, "one file is wanted, %d are named", operands)
	case stdin > 1:
		return diag.New(diag.BadOperands, "standard input is named %d times", stdin)
	}
	return nil
}
