package report

import (
	"io"

	"github.com/spgo-tools/spgo/internal/traceexport"
)

// TraceExport is what sptdump /export wrote.
type TraceExport struct {
	File   string `json:"file"`
	Format string `json:"format"`
	Output string `json:"output"`
	Binary string `json:"binary"`
	Base   uint64 `json:"base"` // link-time address of RVA 0

	Image string `json:"image,omitempty"`
	Debug string `json:"debug,omitempty"` // the PDB or debug file that was named or found
	traceexport.Stats
}

// WriteText says what was written.
func (e *TraceExport) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	t.line("%s: %s of %s, %s, %s", e.Output, e.Format, e.Binary, counted(e.Records, "record"), counted(e.Samples, "sample"))
	if e.Debug != "" {
		t.line("debug file     %s", printable(e.Debug))
	}
	if e.Dropped > 0 {
		t.line("  %s runs that do not lead forward were left out", Count(e.Dropped))
	}
	if e.Reversed {
		t.line("  the file has the oldest branch first; it was turned round")
	}
	return t.err
}
