//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
)

// TestHostileInputs names what is no input: it is told what is wrong, at once,
// and nothing is written.
func TestHostileInputs(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for from, to := range map[string]string{"a": "b", "b": "a", "self": "self", "dangling": "nothing"} {
		if err := os.Symlink(to, in(from)); err != nil {
			t.Fatal(err)
		}
	}
	// Half a megabyte that becomes 128, alone and behind headers.
	var bomb bytes.Buffer
	z, _ := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	zeros := make([]byte, 1<<20)
	for range 128 {
		z.Write(zeros)
	}
	z.Close()
	header := func(head []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(head)
		z.Close()
		return append(b.Bytes(), bomb.Bytes()...) // gzip members add up
	}
	for name, data := range map[string][]byte{
		"bomb.gz": bomb.Bytes(),
		"perf.gz": header(append([]byte("PERFILE2"), 16, 0, 0, 0, 0, 0, 0, 0)),
		"empty":   nil,
	} {
		if err := os.WriteFile(in(name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := in("endless")
	if err := os.WriteFile(list, bytes.Repeat([]byte("@"+list+"\n"), 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ input, text string }{
		{in("a"), "SPT0101"}, {in("self"), "SPT0101"}, {in("dangling"), "SPT0101"},
		{"/dev/null", "SPT"}, {"/dev/zero", "SPT"}, {"/dev/urandom", "SPT"},
		{in("bomb.gz"), "SPT0110"}, {in("perf.gz"), "SPT"}, {in("empty"), "SPT"},
		{dir, "SPT"}, {"@" + list, "SPT0101"}, {"@/dev/null", "SPT0003"}, {"@/dev/zero", "SPT0114"}, {"@" + dir, "SPT"},
	} {
		var stderr bytes.Buffer
		code := command().Execute([]string{"-q", "-o", in("out.spt"), tc.input}, cli.Streams{Out: &bytes.Buffer{}, Err: &stderr})
		if code == 0 || !strings.Contains(stderr.String(), tc.text) || strings.Contains(stderr.String(), "SPT0001") {
			t.Errorf("%s: exit code %d: %s", tc.input, code, stderr.String())
		}
		if _, err := os.Stat(in("out.spt")); err == nil {
			t.Errorf("%s: there is an output", tc.input)
		}
	}
	for _, output := range []string{in("a"), in("self"), dir} {
		var stderr bytes.Buffer
		if code := command().Execute([]string{"-q", "-o", output, "../../testdata/demo/collatz.data"}, cli.Streams{Out: &bytes.Buffer{}, Err: &stderr}); code == 0 {
			t.Errorf("output %s: exit code %d", output, code)
		}
	}
}
