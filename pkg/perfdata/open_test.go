package perfdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func gzipBytes(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstdBytes(t testing.TB, b []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(b, nil)
}

// mustBeEmpty fails t if the folder for temporary files still has some.
func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) > 0 {
		t.Errorf("temporary files left: %v, %v", list, err)
	}
}

// TestInputs reads one recording by every way in.
func TestInputs(t *testing.T) {
	data := lbrFile(t, 3000, 8, WriterOptions{})
	want := readAll(t, openBytes(t, data))
	spool := t.TempDir()
	opts := &Options{SpoolDir: spool}
	file := func(b []byte) func() (*File, error) {
		name := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return func() (*File, error) { return Open(name, opts) }
	}
	stream := func(b []byte) func() (*File, error) {
		return func() (*File, error) { return OpenStream(iotest.HalfReader(bytes.NewReader(b)), opts) }
	}
	two := append(gzipBytes(t, data[:1000]), gzipBytes(t, data[1000:])...)
	for name, open := range map[string]func() (*File, error){
		"file":         file(data),
		"gzip file":    file(gzipBytes(t, data)),
		"gzip members": file(two),
		"zstd file":    file(zstdBytes(t, data)),
		"stream":       stream(data),
		"gzip stream":  stream(gzipBytes(t, data)),
		"zstd stream":  stream(zstdBytes(t, data)),
		"gzip in a reader": func() (*File, error) {
			b := gzipBytes(t, data)
			return NewReader(bytes.NewReader(b), int64(len(b)), opts)
		},
	} {
		f, err := open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := readAll(t, f)
		if got.samples != want.samples || countsText(&got.ix.Counts) != countsText(&want.ix.Counts) || f.Truncated != nil || f.Size() != int64(len(data)) {
			t.Errorf("%s: %d samples, %s, %v, size %d", name, got.samples, countsText(&got.ix.Counts), f.Truncated, f.Size())
		}
		if runtime.GOOS != "windows" {
			mustBeEmpty(t, spool) // the file has no name while it is in use
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		mustBeEmpty(t, spool)
	}
}

// TestBadInputs has inputs that fail, in full or in part, and must not leave
// temporary files.
func TestBadInputs(t *testing.T) {
	data := lbrFile(t, 3000, 8, WriterOptions{})
	gz, zs := gzipBytes(t, data), zstdBytes(t, data)
	badSum := append([]byte(nil), gz...)
	badSum[len(badSum)-6] ^= 1
	errRead := errors.New("the network went away")
	for _, tt := range []struct {
		name    string
		in      io.Reader
		limit   int64
		want    error // of OpenStream
		cut     error // of File.Truncated
		samples bool  // some, or all
	}{
		{"gzip cut", bytes.NewReader(gz[:len(gz)/2]), 0, nil, binfmt.ErrTruncated, true},
		{"zstd cut", bytes.NewReader(zs[:len(zs)/2]), 0, nil, binfmt.ErrTruncated, true},
		{"gzip with a wrong checksum", bytes.NewReader(badSum), 0, nil, binfmt.ErrCorrupt, true},
		{"gzip header only", bytes.NewReader(gz[:12]), 0, binfmt.ErrTruncated, nil, false},
		{"gzip magic only", bytes.NewReader(gz[:4]), 0, binfmt.ErrTruncated, nil, false},
		{"zstd magic only", bytes.NewReader(zs[:4]), 0, binfmt.ErrTruncated, nil, false},
		{"gzip in gzip", bytes.NewReader(gzipBytes(t, gz)), 0, binfmt.ErrMagic, nil, false},
		{"beyond the limit", bytes.NewReader(gz), int64(len(data)) - 1, binfmt.ErrLimit, nil, false},
		{"at the limit", bytes.NewReader(gz), int64(len(data)), nil, nil, true},
		{"a bomb", bytes.NewReader(gzipBytes(t, append([]byte("PERFILE2"), make([]byte, 50<<20)...))), 1 << 20, binfmt.ErrLimit, nil, false},
		{"something else", strings.NewReader("#!/bin/sh\n"), 0, binfmt.ErrMagic, nil, false},
		{"something short", strings.NewReader("#!/bin"), 0, binfmt.ErrTruncated, nil, false},
		{"something longer", strings.NewReader("#!/bin/sh\nexec true\n"), 0, binfmt.ErrMagic, nil, false},
		{"nothing", strings.NewReader(""), 0, binfmt.ErrTruncated, nil, false},
		{"read error", io.MultiReader(bytes.NewReader(data[:500]), iotest.ErrReader(errRead)), 0, errRead, nil, false},
		{"read error in gzip", io.MultiReader(bytes.NewReader(gz[:500]), iotest.ErrReader(errRead)), 0, errRead, nil, false},
		{"read error at once", iotest.ErrReader(errRead), 0, errRead, nil, false},
	} {
		spool := t.TempDir()
		f, err := OpenStream(tt.in, &Options{SpoolDir: spool, MaxSpool: tt.limit, Name: "in"})
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if err == nil {
			n := readAll(t, f)
			if (n.samples > 0) != tt.samples {
				t.Errorf("%s: %d samples", tt.name, n.samples)
			}
			if (f.Truncated != nil) != (tt.cut != nil) || tt.cut != nil && (!errors.Is(f.Truncated, tt.cut) || f.Truncated.File != "in") {
				t.Errorf("%s: truncated %v, want %v", tt.name, f.Truncated, tt.cut)
			}
			f.Close()
		} else if !strings.Contains(err.Error(), "in") {
			t.Errorf("%s: no name in %v", tt.name, err)
		}
		mustBeEmpty(t, spool)
	}
	if _, err := OpenStream(bytes.NewReader(data), &Options{SpoolDir: filepath.Join(t.TempDir(), "missing")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no spool folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open(t.TempDir(), nil); !errors.Is(err, binfmt.ErrMagic) {
		t.Errorf("empty directory: %v", err)
	}
}

// writeDir makes a directory recording: the header and side-band records in
// data, samples in data.0 to data.N-1.
func writeDir(t *testing.T, parts int, packing Packing) string {
	t.Helper()
	dir := t.TempDir()
	a := &Attr{SampleType: SampleIP | SampleTID | SampleTime | SampleIdentifier, IDs: []uint64{1}, Flags: FlagSampleIDAll}
	opts := WriterOptions{Packing: packing, Attrs: []*Attr{a}, Features: &Features{DirFormat: 1}}
	data := writeBytes(t, opts, func(w *Writer) { w.WriteEvent(&Comm{PID: 1, Name: "main"}, SampleIDs{}) })
	if err := os.WriteFile(filepath.Join(dir, "data"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range parts {
		pipe := opts
		pipe.Pipe = true
		b := writeBytes(t, pipe, func(w *Writer) {
			for k := range 40000 {
				w.WriteSample(&Sample{ID: 1, IP: uint64(i)<<32 + uint64(k), TID: int32(i), Time: uint64(k)})
			}
		})
		f := openBytes(t, b)
		start := 0 // a data file has neither header nor facts
		for rs := f.Records(); rs.Next(); {
			if r := rs.Record(); r.Type == TypeSample || r.Type == TypeCompressed || r.Type == TypeCompressed2 {
				start = int(r.Offset)
				rs.Close()
				break
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("data.%d", i)), b[start:], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDirectory(t *testing.T) {
	for _, packing := range []Packing{PackNone, PackZstd, PackZstd2} {
		dir := writeDir(t, 3, packing)
		f, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := readAll(t, f)
		if n.samples != 120000 || n.ix.Counts.Of(TypeComm) != 1 || len(n.ix.Stops) > 0 {
			t.Errorf("packing %d: %d samples, %s, %v", packing, n.samples, countsText(&n.ix.Counts), n.ix.Stops)
		}
		// Every chunk is of one segment, and each IP comes once.
		dec := f.NewDecoder(SampleIP | SampleTID)
		seen := make(map[uint64]bool)
		src := f.Chunks(n.ix)
		var c Chunk
		for src.Next(&c) {
			for dec.Reset(&c); dec.Next(); {
				s := dec.Sample()
				if int(s.TID) != s.Segment-1 || seen[s.IP] {
					t.Fatalf("packing %d: sample %+v", packing, s)
				}
				seen[s.IP] = true
			}
		}
		f.Close()
	}
	// One part is cut: the others are complete.
	dir := writeDir(t, 3, PackNone)
	if err := os.Truncate(filepath.Join(dir, "data.1"), 5010); err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := readAll(t, f)
	if n.samples != 80000+125 || len(n.ix.Stops) != 1 || filepath.Base(n.ix.Stops[0].File) != "data.1" {
		t.Errorf("%d samples, %v", n.samples, n.ix.Stops)
	}
}

// TestLiveDirectory records with several threads here and now.
func TestLiveDirectory(t *testing.T) {
	perf := corpus.Tool(t, "perf")
	for _, args := range [][]string{{"--threads=cpu"}, {"--threads=cpu", "-z"}, {"-z"}, {"-c", "100000"}} {
		out := filepath.Join(t.TempDir(), "perf.data")
		cmd := exec.Command(perf, append(append([]string{"record", "-q", "-e", "cpu-clock", "-o", out}, args...), "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=40000")...)
		if text, err := cmd.CombinedOutput(); err != nil {
			corpus.Unavailable(t, "perf record %v: %v: %s", args, err, text)
		}
		f, err := Open(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := readAll(t, f)
		if n.samples == 0 || n.bad != 0 || len(n.ix.Stops) != 0 || len(n.errs) != 0 || len(f.Warnings) != 0 {
			t.Errorf("%v: %d samples, %d bad, stops %v, errors %v, warnings %v", args, n.samples, n.bad, n.ix.Stops, n.errs, f.Warnings)
		}
		compareWithPerf(t, perf, out, f)
		f.Close()
	}
}
