package diag

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/golden"
)

// TestErrorsPage keeps docs/errors.md equal to the table.
func TestErrorsPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Exit codes and error codes\n\nAll commands use the same exit codes. With `--json` the document has `exit`, and each entry of `errors` and\n`warnings` has the code, the place, the probable cause and the next step. `--explain CODE` prints an entry of\nthis page.\n\n| exit code | meaning |\n|---|---|\n")
	for _, e := range Exits {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, e.Meaning)
	}
	codes := make([]Code, 0, len(Codes))
	for c := range Codes {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	b.WriteString("\n| code | exit code | what happened | probable cause | next step |\n|---|---|---|---|---|\n")
	for _, c := range codes {
		info := Codes[c]
		exit := fmt.Sprint(int(info.Exit))
		if info.Exit == OK {
			exit = "warning"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c, exit, info.Title, info.Cause, info.Next)
	}
	golden.Check(t, "../../docs/errors.md", b.Bytes())
}

// TestCodesAreComplete makes sure that no entry lacks a text.
func TestCodesAreComplete(t *testing.T) {
	for c, info := range Codes {
		if info.Title == "" || info.Cause == "" || info.Next == "" {
			t.Errorf("%s lacks a text", c)
		}
		if len(c) != 7 {
			t.Errorf("%s is not of the form SPT0000", c)
		}
	}
}
