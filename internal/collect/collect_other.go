//go:build !linux

package collect

import (
	"context"
	"io"
	"runtime"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Run says how to record here: it samples on Linux only.
func Run(_ context.Context, o *Options, _ io.Writer, _ Sink) (*Result, error) {
	if _, err := candidates(o, ""); err != nil {
		return nil, diag.New(diag.BadValue, "%v", err)
	}
	e := diag.New(diag.CannotSample, "live collection works on Linux; this is %s", runtime.GOOS)
	if runtime.GOOS == "windows" {
		return &Result{}, e.Because("Windows samples by Event Tracing.").
			Do("Record with scripts/collect.ps1 (xperf or wpr), then sptaggregate /etl run.etl app.spt.")
	}
	return &Result{}, e.Because("This system has no perf events.").Do("Record on Linux or Windows, and aggregate the trace here.")
}

// Advice has nothing to add where nothing is sampled.
func Advice(*Result) []*diag.Error { return nil }

// Host knows nothing of other systems.
func Host(*perfdata.Features) {}
