// Package corpus finds the folder of real recordings that tests read: the
// folder that SPGO_SHARED names, by default ../shared beside the checkout. A
// test is skipped, with the reason, where the folder is missing; with
// SPGO_REQUIRE=1 it fails instead, so that a green run proves that the
// recordings were read.
package corpus

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Dir returns the folder of shared recordings without checking that it exists.
func Dir() string {
	if d := os.Getenv("SPGO_SHARED"); d != "" {
		return d
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "shared")
}

// Path returns the path of a file or folder below the shared folder, and
// skips or fails t where it is missing.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{Dir()}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		Unavailable(t, "recordings missing: %v (set SPGO_SHARED)", err)
	}
	return p
}

// Tool returns the path of an installed peer program, or skips or fails t.
func Tool(t testing.TB, names ...string) string {
	t.Helper()
	for _, n := range names {
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if p := filepath.Join(dir, n); isExecutable(p) {
				return p
			}
		}
	}
	Unavailable(t, "peer program missing: %s", strings.Join(names, " or "))
	return ""
}

func isExecutable(p string) bool {
	fi, err := os.Stat(p)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}

// Unavailable skips t, or fails it where SPGO_REQUIRE=1 demands that nothing
// is skipped. The text starts with a fixed word that `make test` counts.
func Unavailable(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("SPGO_REQUIRE") == "1" {
		t.Fatalf("corpus: "+format, args...)
	}
	t.Skipf("corpus: "+format, args...)
}

// Row is one line of a FILES.tsv.
type Row struct {
	File   string            // name of the file beside the FILES.tsv
	Fields map[string]string // the key=value columns
}

// Files reads FILES.tsv of a corpus folder such as "perf" or "etl".
func Files(t testing.TB, folder string) []Row {
	t.Helper()
	dir := Path(t, "corpus", folder)
	data, err := os.ReadFile(filepath.Join(dir, "FILES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for _, line := range strings.Split(string(data), "\n")[1:] {
		cols := strings.Split(line, "\t")
		if cols[0] == "" {
			continue
		}
		row := Row{File: filepath.Join(dir, cols[0]), Fields: map[string]string{}}
		for _, c := range cols[1:] {
			if k, v, ok := strings.Cut(c, "="); ok {
				row.Fields[k] = v
			}
		}
		rows = append(rows, row)
	}
	return rows
}
