package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestDiskImage aggregates a log inside a disk image to the same bytes as the
// log itself, however it is named.
func TestDiskImage(t *testing.T) {
	mkntfs, ntfscp := corpus.Tool(t, "mkntfs", "mkfs.ntfs"), corpus.Tool(t, "ntfscp")
	log := corpus.Path(t, "corpus", "etl", "k64.etl")
	dir := t.TempDir()
	img := filepath.Join(dir, "lab, 1.img")
	at := func(path string) string { return "ntfs:" + img + "!" + path }
	if err := os.WriteFile(img, make([]byte, 4<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{mkntfs, "-F", "-Q", "-q", img}, {ntfscp, img, log, "a.etl"}, {ntfscp, img, log, "b, c.etl"}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", c, err, out)
		}
	}
	run := func(args ...string) (int, string, []byte) {
		t.Helper()
		out := filepath.Join(dir, "out.spt")
		os.Remove(out)
		var stderr bytes.Buffer
		code := command().Execute(append([]string{"-q", "-o", out}, args...), cli.Streams{Out: &bytes.Buffer{}, Err: &stderr})
		data, _ := os.ReadFile(out)
		return code, stderr.String(), data
	}
	code, text, once := run("/etl", log)
	if code != 0 || len(once) == 0 {
		t.Fatalf("exit code %d: %s", code, text)
	}
	copied := filepath.Join(dir, "copy.etl")
	data, err := os.ReadFile(log)
	if err == nil {
		err = os.WriteFile(copied, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, twice := run("/etl", log+","+copied)

	for _, args := range [][]string{
		{at("/a.etl")}, {"/etl", at(`\A.ETL`)}, {"/etl:" + at("1:/b, c.etl")}, {"--etl=" + at("/a.etl"), "/image-path:" + at("/")},
	} {
		if code, text, got := run(args...); code != 0 || !bytes.Equal(got, once) {
			t.Errorf("%q: exit code %d, %d bytes instead of %d: %s", args, code, len(got), len(once), text)
		}
	}
	for _, args := range [][]string{
		{"/etl", at("/a.etl") + "," + at("/b, c.etl")}, {"/etl", at("/b, c.etl") + "," + log}, {"/etl", log + "," + at("/b, c.etl")}, {log, at("/a.etl")},
	} {
		if code, text, got := run(args...); code != 0 || !bytes.Equal(got, twice) {
			t.Errorf("%q: exit code %d, %d bytes instead of %d: %s", args, code, len(got), len(twice), text)
		}
	}

	before, err := os.ReadFile(img)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{at("/a.etk")}, `but a.etl`},
		{[]string{at("2:/a.etl")}, "NTFS in partition 2"},
		{[]string{"ntfs:" + dir + "/none!/a.etl"}, "none"},
		{[]string{log, "--image-path", at("/sub")}, `"sub" in /`},
		{[]string{at("/a.etl"), "-o", img}, "also an input"},
		{[]string{log, "-o", at("/out.spt")}, "only read"},
	} {
		if code, text, _ := run(c.args...); code == 0 || !strings.Contains(text, c.text) {
			t.Errorf("%q: exit code %d: %s", c.args, code, text)
		}
	}
	if after, err := os.ReadFile(img); err != nil || !slices.Equal(after, before) {
		t.Error("the image was written to")
	}
}
