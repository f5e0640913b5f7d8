package ingest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// diskImage formats a volume with compression, puts files into its root, and
// returns its name up to the path.
func diskImage(t *testing.T, files map[string]string) string {
	t.Helper()
	mkntfs, ntfscp := corpus.Tool(t, "mkntfs", "mkfs.ntfs"), corpus.Tool(t, "ntfscp")
	img := writeFile(t, filepath.Join(t.TempDir(), "disk.img"), nil)
	if err := os.Truncate(img, 8<<20); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	run(mkntfs, "-F", "-Q", "-q", "-C", img)
	for _, name := range sortedNames(files) {
		run(ntfscp, img, files[name], name)
	}
	return ntfs.Scheme + img + "!"
}

// TestDiskImage reads traces of all kinds, and binaries, out of an image as it
// does where they are files.
func TestDiskImage(t *testing.T) {
	dir := t.TempDir()
	m := newMachine(8)
	samples, want := m.script(8)
	whole := writeLog(t, filepath.Join(t.TempDir(), "whole.etl"), m.trace(samples))
	log := rewrite(t, whole, filepath.Join(dir, "run.etl"), keep(resolving))
	kernel := rewrite(t, whole, filepath.Join(dir, "run.kernel.etl"), keep((etl.AllClasses&^etl.ClassLogFile)&^resolving))
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	perf := recording{}.write(t, fmt.Sprintf(`
		1 map 10 7000+1000 0 /t/app id=%s
		2 sample 10 7810`, idA))
	recorded, err := os.ReadFile(perf)
	if err != nil {
		t.Fatal(err)
	}
	counts := sptBytes(t, sptText)
	disk := diskImage(t, map[string]string{
		"run.etl": log, "run.kernel.etl": kernel,
		"packed.bin": writeFile(t, filepath.Join(dir, "packed.bin"), zstdPacked(t, data)),
		"perf.data":  perf, "perf.data.gz": writeFile(t, filepath.Join(dir, "perf.data.gz"), gzipped(t, recorded)),
		"app.spt": writeFile(t, filepath.Join(dir, "app.spt"), counts), "app.spt.gz": writeFile(t, filepath.Join(dir, "app.spt.gz"), gzipped(t, counts)),
		"app": writeFile(t, filepath.Join(dir, "app"), shifted(unhex(idA))),
	})

	for _, name := range []string{"/run.etl", "/RUN.ETL", "1:/packed.bin"} {
		got := readLogs(t, Options{Workers: 2}, disk+name)
		if len(got.errs) > 0 {
			t.Fatal(got.errs)
		}
		m.check(t, got, want)
	}
	for _, name := range []string{"/perf.data", "/perf.data.gz"} {
		for _, o := range []Options{
			{ImagePath: []string{disk}}, {ImagePath: []string{t.TempDir(), disk + "1:/"}}, {PathMap: []PathMap{{"/t", disk + "/"}}},
		} {
			got, facts, reg := outcome(t, disk+name, o)
			if diff := cmp.Diff("ip app+1810\nsamples: used:1\n", got); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", name, o, diff)
			}
			if ids := identities(reg); ids != "app a1a2a3a4 mmap2 build-id" || facts.File != disk+name || codes(facts) != "" {
				t.Errorf("%s: %s, %s, warnings %q", facts.File, ids, codes(facts), name)
			}
		}
	}
	plain, _, _ := outcome(t, filepath.Join(dir, "app.spt"), Options{})
	for _, name := range []string{"/app.spt", "/app.spt.gz"} {
		got, _, _ := outcome(t, disk+name, Options{})
		if diff := cmp.Diff(plain, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	for name, code := range map[string]diag.Code{"/missing.etl": diag.CannotOpen, "2:/run.etl": diag.CannotOpen, "/$Extend": diag.CannotOpen, "/app": diag.UnknownFormat} {
		got := readLogs(t, Options{}, disk+name)
		if len(got.errs) != 1 || diag.Of(got.errs[0]).Code != code {
			t.Errorf("%s: %v", name, got.errs)
		}
	}
}
