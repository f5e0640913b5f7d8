package main

import (
	"slices"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
)

// run chooses the form of the command.
func run(c *cli.Context) (cli.Result, error) {
	forms := []struct {
		name    string
		run     func(*cli.Context) (cli.Result, error)
		options []string // that it takes
	}{
		{"extract", locked(1, extract), []string{"index"}},
		{"build", locked(0, buildSPD), []string{"pdb"}},
		{"export", exportProfile, []string{"pdb", "image", "image-path", "trim"}},
		{"merge", merge, []string{"retire", "summary", "min-coverage", "provenance"}},
		{"reset", reset, []string{"summary", "output", "provenance", "mode", "retire", "sptlist"}},
	}
	chosen := -1
	for i, f := range forms {
		if !c.Bool(f.name) && (f.name != "build" && f.name != "export" || !c.IsSet(f.name)) {
			continue
		}
		if chosen >= 0 {
			return nil, diag.New(diag.BadOperands, "/%s and /%s do not go together", forms[chosen].name, f.name).
				Because("Each of them is a command of its own.").Do("Run one after the other.")
		}
		chosen = i
	}
	for _, name := range []string{"output", "provenance"} {
		if c.Bool("summary") && c.IsSet(name) {
			return nil, diag.New(diag.BadOption, "--%s has no meaning with /summary, which writes nothing", name)
		}
	}
	if chosen < 0 {
		if c.IsSet("index") {
			return nil, diag.New(diag.BadOption, "--index is for /extract")
		}
		if c.IsSet("pdb") && !c.IsSet("image") {
			return nil, diag.New(diag.BadOption, "/pdb is for /build, /export and --image")
		}
		if c.IsSet("trim") {
			return nil, diag.New(diag.BadOption, "--trim is for /export")
		}
		return importSamples(c)
	}
	if _, err := c.Jobs(); err != nil {
		return nil, err
	}
	form := forms[chosen]
	common := []string{"json", "quiet", "verbose", "jobs", form.name}
	for _, f := range c.App.Flags {
		name := f.Names()[0]
		if c.IsSet(name) && !slices.Contains(common, name) && !slices.Contains(form.options, name) {
			return nil, diag.New(diag.BadOption, "--%s has no meaning with /%s", name, form.name)
		}
	}
	return form.run(c)
}
