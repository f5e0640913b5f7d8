package main

import (
	"errors"
	"strconv"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/report"
)

// gates are the limits that the result must keep; nil where there is none.
type gates struct {
	coverage, samples, dropped, density *float64
}

func newGates(c *cli.Context) (g gates, err error) {
	for _, o := range []struct {
		name string
		read func(option, s string) (float64, error)
		to   **float64
	}{
		{"min-coverage", percentage, &g.coverage},
		{"min-samples", number, &g.samples},
		{"max-dropped", percentage, &g.dropped},
		{"min-density", number, &g.density},
	} {
		if !c.IsSet(o.name) {
			continue
		}
		v, err := o.read(o.name, c.String(o.name))
		if err != nil {
			return g, err
		}
		*o.to = &v
	}
	return g, nil
}

// plain is a number without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// check applies all gates.
func (g *gates) check(r *report.Conversion) error {
	var failed []error
	fail := func(code diag.Code, format string, args ...any) {
		failed = append(failed, diag.New(code, format, args...))
	}
	if g.coverage != nil && r.CoverageAfter.Percent < *g.coverage {
		fail(diag.LowCoverage, "block coverage is %.2f %%, --min-coverage asks for %g %%", r.CoverageAfter.Percent, *g.coverage)
	}
	if g.samples != nil && float64(r.Samples.Used) < *g.samples {
		what := "samples"
		if r.Mode == correlate.LBR.String() {
			what = "branches of stacks, each of which is a sample,"
		}
		fail(diag.FewSamples, "%s %s are used, --min-samples asks for %s", report.Count(r.Samples.Used), what, plain(*g.samples))
	}
	if g.dropped != nil && r.Samples.DroppedPercent > *g.dropped {
		fail(diag.ManyDropped, "%.2f %% of the samples were dropped, --max-dropped allows %g %%", r.Samples.DroppedPercent, *g.dropped)
	}
	if g.density != nil && r.Density < *g.density {
		fail(diag.LowDensity, "hot functions have %.2f samples a block, --min-density asks for %s", r.Density, plain(*g.density))
	}
	return errors.Join(failed...)
}
