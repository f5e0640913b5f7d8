package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// TestExportsOfDamagedFiles exports an SPT that ends inside of its second
// segment: by default not at all, and with --tolerate with a warning that says
// what was lost, as /summary has it.
func TestExportsOfDamagedFiles(t *testing.T) {
	var file bytes.Buffer
	text := `spt 1
program 0 {00112233-4455-6677-8899-AABBCCDDEEFF} age 1 "app"
binary 0
  LBR 0x1020->0x1040 0x1050->0x1010
binary 0
  LBR 0x1020->0x1040 0x1050->0x1010
  LBR 0x1060->0x1080 0x1090->0x1050
`
	if err := spt.ParseText(&file, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "cut.spt")
	if err := os.WriteFile(name, file.Bytes()[:file.Len()-5], 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (code int, warnings []diag.Error) {
		t.Helper()
		var out, notes bytes.Buffer
		code = command().Execute(append([]string{"--json"}, args...), cli.Streams{Out: &out, Err: &notes})
		var doc struct{ Warnings []diag.Error }
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out.String())
		}
		if len(doc.Warnings) > 0 && !strings.Contains(notes.String(), "warning SPT1007") {
			t.Errorf("%v: no warning on standard error: %s", args, notes.String())
		}
		return code, doc.Warnings
	}
	code, want := run("/summary", "--tolerate", name)
	if code != 0 || len(want) != 1 || want[0].Code != diag.DamagedPart || want[0].Count != 1 || !strings.Contains(want[0].Message, "bytes were skipped") {
		t.Fatalf("/summary: exit code %d, %+v", code, want)
	}
	for _, format := range formats {
		output := filepath.Join(dir, format)
		if code, _ := run("/export:"+format, name, output); code != int(diag.Damaged) {
			t.Errorf("%s: exit code %d, want %d", format, code, diag.Damaged)
		}
		if _, err := os.Stat(output); err == nil {
			t.Errorf("%s: written in spite of the damage", format)
		}
		code, got := run("/export:"+format, "--tolerate", name, output)
		if code != 0 || len(got) != 1 || got[0].Code != want[0].Code || got[0].Message != want[0].Message || got[0].Count != want[0].Count {
			t.Errorf("%s: exit code %d, %+v, want %+v", format, code, got, want)
		}
		if _, err := os.Stat(output); err != nil {
			t.Error(err)
		}
	}
}
