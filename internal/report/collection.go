package report

import (
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/internal/collect"
)

// Collection is the summary of a run of sptcollect.
type Collection struct {
	*collect.Result
	Output Output `json:"output"`
	// Aggregation is that of the SPT written, without inputs.
	Aggregation *Aggregation `json:"aggregation,omitempty"`
}

// WriteText says what was sampled and how.
func (c *Collection) WriteText(w io.Writer) error {
	t := textWriter{w: w}
	rate := fmt.Sprintf("one sample every %s", Count(c.Period))
	if c.Frequency > 0 {
		rate = fmt.Sprintf("%s samples a second", Count(c.Frequency))
	}
	what := "addresses only"
	switch {
	case c.Branches && c.CallChains:
		what = "branch stacks and call chains"
	case c.Branches:
		what = "branch stacks"
	case c.CallChains:
		what = "call chains"
	}
	if c.Event != "" {
		t.line("Event           %s, %s, with %s", c.Event, rate, what)
	}
	for _, a := range c.Tried {
		t.line("  not %s: %s", a.Event, a.Reason)
	}
	t.line("Samples         %s", Count(c.Samples))
	t.line("Lost            %s records, throttled %s times", Count(c.Lost), Count(c.Throttled))
	if c.Interrupted {
		t.line("Ended           by a signal")
	}
	if c.TimeOver {
		t.line("Ended           when the time was over")
	}
	switch {
	case c.Command == "":
	case c.Running:
		t.line("Command         %s: asked to end, still running", c.Command)
	default:
		t.line("Command         %s: exit status %d", c.Command, c.ExitStatus)
	}
	if c.Aggregation != nil {
		if t.err != nil {
			return t.err
		}
		return c.Aggregation.WriteText(w)
	}
	if c.Output.File != "" {
		t.line("Output          %s, %s bytes", c.Output.File, Count(uint64(c.Output.Bytes)))
	}
	return t.err
}
