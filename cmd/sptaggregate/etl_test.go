package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestWindowsTrace aggregates a real Windows trace: what the document says of
// it is known, and the text says the same.
func TestWindowsTrace(t *testing.T) {
	log := corpus.Path(t, "corpus", "etl", "microsoft_perfview__net.4.5.2.x64__net.4.5.2.x64.etl")
	dir := t.TempDir()
	var first []byte
	for _, jobs := range []string{"-j1", "-j8"} {
		out := filepath.Join(dir, jobs+".spt")
		code, doc := aggregateJSON(t, "/etl", log, "-o", out, jobs)
		in := doc.Inputs[0]
		if code != 0 || doc.Samples.Read != 79528 || doc.Samples.Dropped["idle"] != 73208 || doc.Kinds.Timer.Dropped["jit"] != 4494 ||
			in.Format != "etl" || in.Host != "BRIANROB-W8" || in.Samples != 79528 || doc.Mode != "IP" {
			t.Errorf("exit code %d, %+v, %+v", code, doc.Samples, in)
		}
		if m := in.Managed; m == nil || m.JIT != 4494 || len(m.Methods) != 20 || len(m.Modules) == 0 || !strings.HasSuffix(m.Modules[0].Path, `\mscorlib.dll`) {
			t.Errorf("managed code: %+v", in.Managed)
		}
		for _, b := range doc.Binaries {
			if b.Identity != "trace RSDS" && b.Identity != "none" {
				t.Errorf("%s is identified by %s", b.Path, b.Identity)
			}
		}
		checkSPT(t, out, doc)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		} else if !bytes.Equal(first, data) {
			t.Error("other bytes with 8 workers")
		}
	}
	var text, warnings bytes.Buffer
	code := command().Execute([]string{"/etl:" + log, "/binary:clr.dll", "/nokernel", filepath.Join(dir, "clr.spt")}, cli.Streams{Out: &text, Err: &warnings})
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, warnings.String())
	}
	for _, part := range []string{"79,528 samples", "idle 73,208", "managed code compiled at run time (JIT): 4,494 samples", "System.DateTime.GetDatePart(int32) in mscorlib.dll: 1,856",
		"mscorlib.dll: precompiled 0 (0.0 %), JIT 4,415 (100.0 %)", "clr.dll {E3E0C76A-7909-454F-B3C5-6B0C2CE5FFEB} age 2 (trace RSDS)"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q is not in\n%s", part, text.String())
		}
	}
	for _, part := range []string{"SPT1015", "0 counter samples, 79528 timer samples", "PROC_THREAD+LOADER", "-LastBranch PmcInterrupt"} {
		if !strings.Contains(warnings.String(), part) {
			t.Errorf("%q is not in\n%s", part, warnings.String())
		}
	}
}
