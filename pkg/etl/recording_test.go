package etl

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdPacked(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type member struct {
	name string
	data []byte
}

func zipped(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.Create(m.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// put writes files into a new folder and returns it.
func put(t testing.TB, members ...member) string {
	t.Helper()
	dir := t.TempDir()
	for _, m := range members {
		if err := os.WriteFile(filepath.Join(dir, m.name), m.data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// variant changes a byte of a file that no reader looks at: no copy any more.
func variant(data []byte, n byte) []byte {
	data = bytes.Clone(data)
	data[bufferHeaderSize+systemHeader+64] = n // in a dead pointer
	return data
}

func names(r *Recording) []string {
	var list []string
	for _, f := range r.Files {
		list = append(list, filepath.Base(f.Name()))
	}
	return list
}

// TestOpenContainers opens one recording in all its wrappings, with a
// temporary folder that has to be empty afterwards.
func TestOpenContainers(t *testing.T) {
	tr := testTrace("lbr", 8, 50)
	data := writeTrace(t, tr)
	want := mergeTimes(t, openBytes(t, data))
	text := member{"readme.txt", []byte("not a trace")}
	dir := put(t,
		member{"plain.etl", data}, member{"packed.etl.gz", gzipped(t, data)}, member{"packed.etl.zst", zstdPacked(t, data)},
		member{"perfview.etl.zip", zipped(t, text, member{"PerfViewData.etl", data}, member{"symbols/x.pdb", []byte("Microsoft C/C++ MSF 7.00")})})
	for _, tc := range []struct{ file, name string }{
		{"plain.etl", "plain.etl"}, {"packed.etl.gz", "packed.etl.gz"}, {"packed.etl.zst", "packed.etl.zst"},
		{"perfview.etl.zip", "perfview.etl.zip!PerfViewData.etl"},
	} {
		temp := t.TempDir()
		r, err := Open(filepath.Join(dir, tc.file), &Options{TempDir: temp})
		if err != nil {
			t.Fatal(err)
		}
		f := r.Files[0]
		if f.Name() != filepath.Join(dir, tc.name) || len(r.Files) != 1 || r.Ignored != nil || f.Size() != int64(len(data)) {
			t.Errorf("%s: files %v of %d bytes, ignored %v", tc.file, names(r), f.Size(), r.Ignored)
		}
		if got := mergeTimes(t, f); !slices.Equal(got, want) {
			t.Errorf("%s: contents differ", tc.file)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", tc.file, left, err)
		}
	}
}

// TestOpenSiblings opens the files that one recording consists of, whichever
// way they are named.
func TestOpenSiblings(t *testing.T) {
	tr := testTrace("timer", 8, 20)
	data := writeTrace(t, tr)
	tr.Start = 133_500_000_000_000_000 + 50_000_000_000
	later := writeTrace(t, tr) // another boot
	dir := put(t, member{"a.etl", data}, member{"a.kernel.etl", variant(data, 1)}, member{"A.USER_1.ETL", variant(data, 2)}, member{"a.clrRundown.etl", later},
		member{"a.kernel.2.etl", []byte("no trace")}, member{"a.other.etl", data}, member{"ab.kernel.etl", data}, member{"b.etl", later},
		member{"all.zip", zipped(t, member{"x.etl", variant(data, 3)}, member{"y.etl", later}, member{"z.ETL", variant(data, 4)}, member{"bad.etl", []byte("no trace")})})
	at := func(name string) string { return filepath.Join(dir, name) }

	r, err := Open(at("a.etl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(r), []string{"a.etl", "A.USER_1.ETL", "a.kernel.etl"}; !slices.Equal(got, want) {
		t.Errorf("siblings %v, want %v", got, want)
	}
	if len(r.Ignored) != 2 || !strings.Contains(r.Ignored[0].Error(), "a.clrRundown.etl: boot time") || !errors.Is(r.Ignored[1], binfmt.ErrTruncated) {
		t.Errorf("ignored %v", r.Ignored)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}

	r, err = Open(at("a.etl"), &Options{NoSiblings: true})
	if err != nil || len(r.Files) != 1 {
		t.Fatalf("%v, %v", names(r), err)
	}
	r.Close()

	r, err = Open(at("all.zip"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(r), []string{"all.zip!x.etl", "all.zip!z.ETL"}; !slices.Equal(got, want) || len(r.Ignored) != 2 {
		t.Errorf("members %v, want %v; ignored %v", got, want, r.Ignored)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}

	recs, err := OpenAll([]string{at("a.kernel.etl"), at("b.etl"), at("a.etl"), at("a.etl"), at("all.zip")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range recs {
		got = append(got, strings.Join(names(r), " "))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	want := []string{"a.kernel.etl a.etl A.USER_1.ETL all.zip!x.etl all.zip!z.ETL", "b.etl"}
	if !slices.Equal(got, want) {
		t.Errorf("recordings %q, want %q", got, want)
	}
}

// memoryFiles are files in memory that note which ones are open.
type memoryFiles struct {
	files map[string][]byte
	open  map[string]int
}

type memoryFile struct {
	*bytes.Reader
	path string
	of   *memoryFiles
}

func (f memoryFile) Close() error {
	f.of.open[f.path]--
	return nil
}

func (m *memoryFiles) Open(path string) (io.ReaderAt, int64, error) {
	data, ok := m.files[filepath.ToSlash(path)]
	if !ok {
		return nil, 0, os.ErrNotExist
	}
	m.open[path]++
	return memoryFile{bytes.NewReader(data), path, m}, int64(len(data)), nil
}

func (m *memoryFiles) List(dir string) ([]string, error) {
	var names []string
	for name := range m.files {
		if rest, ok := strings.CutPrefix(name, filepath.ToSlash(dir)+"/"); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names, nil
}

// TestFiles opens recordings that are not on this machine.
func TestFiles(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 20))
	m := &memoryFiles{open: map[string]int{}, files: map[string][]byte{
		"x:disk!/a.etl": data, "x:disk!/a.kernel.etl": variant(data, 1), "x:disk!/sub/a.user.etl": data, "x:disk!/p/b.etl": gzipped(t, data),
		"x:disk!/p/b.clr.etl": zstdPacked(t, variant(data, 1)), "x:disk!/p/all.zip": zipped(t, member{"c.etl", data}), "x:disk!/bad.etl": []byte("no trace"),
	}}
	for path, want := range map[string][]string{
		"x:disk!/a.etl":     {"a.etl", "a.kernel.etl"},
		"x:disk!/p/b.etl":   {"b.etl", "b.clr.etl"},
		"x:disk!/p/all.zip": {"all.zip!c.etl"},
	} {
		r, err := Open(path, &Options{Files: m})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(r); !slices.Equal(got, want) || len(r.Ignored) > 0 {
			t.Errorf("%s: files %v, want %v; ignored %v", path, got, want, r.Ignored)
		}
		for _, f := range r.Files {
			if f.Damage != (Damage{}) || len(f.Buffers()) == 0 {
				t.Errorf("%s: %v", f.Name(), f.Damage)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	for path, kind := range map[string]error{"x:disk!/missing.etl": os.ErrNotExist, "x:disk!/bad.etl": binfmt.ErrTruncated} {
		if _, err := Open(path, &Options{Files: m}); !errors.Is(err, kind) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, n := range m.open {
		if n != 0 {
			t.Errorf("%s is open %d times", path, n)
		}
	}
}

// TestOpenRefuses gives inputs that are no recordings.
func TestOpenRefuses(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 200))
	locked := zipped(t, member{"a.etl", data})
	for _, signature := range []string{"PK\x03\x04", "PK\x01\x02"} { // of the member, then in the directory
		at := bytes.LastIndex(locked, []byte(signature)) + map[byte]int{3: 6, 1: 8}[signature[2]]
		locked[at] |= zipEncrypted
	}
	bomb := gzipped(t, append(bytes.Clone(data), make([]byte, 8<<20)...))
	dir := put(t, member{"empty.etl", nil}, member{"one.etl", []byte{1}}, member{"header.etl", data[:bufferHeaderSize]},
		member{"text.etl", bytes.Repeat([]byte("text"), 100)}, member{"locked.zip", locked},
		member{"text.gz", gzipped(t, bytes.Repeat([]byte("text"), 100))}, member{"bomb.gz", bomb}, member{"bomb.zip", zipped(t, member{"a.etl", data}, member{"b.etl", data})},
		member{"cut.zst", zstdPacked(t, data)[:300]}, member{"none.zip", zipped(t, member{"a.txt", data})}, member{"cut.zip", zipped(t, member{"a.etl", data})[:1000]},
		member{"bad.zip", zipped(t, member{"a.etl", bytes.Repeat([]byte("text"), 100)})})
	for _, tc := range []struct {
		file string
		want error
	}{
		{"empty.etl", binfmt.ErrTruncated}, {"one.etl", binfmt.ErrTruncated}, {"header.etl", binfmt.ErrTruncated}, {"text.etl", binfmt.ErrMagic},
		{"locked.zip", binfmt.ErrUnsupported}, {"text.gz", binfmt.ErrMagic}, {"bomb.gz", binfmt.ErrLimit}, {"bomb.zip", binfmt.ErrLimit},
		{"cut.zst", binfmt.ErrTruncated}, {"none.zip", binfmt.ErrMagic}, {"cut.zip", binfmt.ErrCorrupt}, {"bad.zip", binfmt.ErrMagic},
		{"missing.etl", os.ErrNotExist}, {".", binfmt.ErrUnsupported},
	} {
		temp := t.TempDir()
		r, err := Open(filepath.Join(dir, tc.file), &Options{TempDir: temp, MaxUnpacked: int64(len(data)) * 3 / 2})
		if err == nil {
			r.Close()
		}
		if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), filepath.Join(dir, tc.file)) {
			t.Errorf("%s: %v, want %v", tc.file, err, tc.want)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", tc.file, left, err)
		}
	}
	if _, err := NewReader(bytes.NewReader(data), int64(len(data)), &Options{MaxBuffer: -1}); err == nil {
		t.Error("a negative limit passed")
	}
	if _, err := NewReader(bytes.NewReader(data), int64(len(data)), &Options{MaxBuffer: 2048}); !errors.Is(err, binfmt.ErrLimit) {
		t.Errorf("buffers above the limit: %v", err)
	}
}

// TestCutContainers reads what damaged packed files still give.
func TestCutContainers(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 2000))
	whole := openBytes(t, data)
	packed, tight, archive := gzipped(t, data), zstdPacked(t, data), zipped(t, member{"a.etl", data})
	checksum := bytes.Clone(packed)
	checksum[len(checksum)-8] ^= 1
	archive[len(archive)/2] ^= 0xFF // in the middle of the packed data
	for _, tc := range []struct {
		name string
		data []byte
		want error // nil: any damage
		all  bool  // all of the log file is there
	}{
		{"cut.etl.gz", packed[:len(packed)*2/3], binfmt.ErrTruncated, false},
		{"tail.etl.gz", packed[:len(packed)-4], binfmt.ErrTruncated, true},
		{"checksum.etl.gz", checksum, binfmt.ErrCorrupt, true},
		{"tail.etl.zst", tight[:len(tight)-4], binfmt.ErrTruncated, false},
		{"member.zip", archive, nil, false},
	} {
		temp := t.TempDir()
		r, err := Open(filepath.Join(put(t, member{tc.name, tc.data}), tc.name), &Options{TempDir: temp})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		f := r.Files[0]
		if !IsDamage(f.Defect()) || tc.want != nil && !errors.Is(f.Defect(), tc.want) || !strings.Contains(f.Defect().Error(), tc.name) {
			t.Errorf("%s: defect %v, want %v", tc.name, f.Defect(), tc.want)
		}
		if n, all := len(f.Buffers()), len(whole.Buffers()); n < 2 || (n == all) != tc.all {
			t.Errorf("%s: %d of %d buffers", tc.name, n, all)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", tc.name, left, err)
		}
	}
}

// cancelled are files that cannot be read to their ends.
type cancelled struct{ *memoryFiles }

func (c cancelled) Open(path string) (io.ReaderAt, int64, error) {
	r, size, err := c.memoryFiles.Open(path)
	return cancelledReader{r, size / 2}, size, err
}

type cancelledReader struct {
	io.ReaderAt
	limit int64
}

func (c cancelledReader) ReadAt(b []byte, off int64) (int, error) {
	if off >= c.limit {
		return 0, context.Canceled
	}
	return c.ReaderAt.ReadAt(b[:min(int64(len(b)), c.limit-off)], off)
}

// TestUnpackingCancelled stops in the middle of packed files, which are not
// damaged because of that.
func TestUnpackingCancelled(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 2000))
	for name, packed := range map[string][]byte{"a.gz": gzipped(t, data), "a.zst": zstdPacked(t, data)} {
		m := &memoryFiles{open: map[string]int{}, files: map[string][]byte{name: packed}}
		if _, err := Open(name, &Options{Files: cancelled{m}, TempDir: t.TempDir()}); !errors.Is(err, context.Canceled) || IsDamage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCopies names one log file in several ways. Its events must not count
// twice, but files that only look alike are no copies.
func TestCopies(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 50))
	dir := put(t, member{"a.etl", data}, member{"copy.etl", data}, member{"a.etl.gz", gzipped(t, data)}, member{"a.zip", zipped(t, member{"a.etl", data}, member{"b.etl", data})},
		member{"other.etl", variant(data, 1)}, member{"a.user.etl", data})
	var paths []string
	for _, name := range []string{"other.etl", "a.etl", "copy.etl", "a.etl.gz", "a.zip"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	for range 2 {
		recs, err := OpenAll(paths, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(recs) != 1 || len(recs[0].Files) != 2 || len(recs[0].Ignored) != 5 {
			t.Errorf("%d recordings; files %v, ignored %v", len(recs), names(recs[0]), recs[0].Ignored)
		}
		for _, r := range recs {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		slices.Reverse(paths)
	}
}

// TestSeveralFilesOnOneClock merges the two files of one real recording: the
// kernel's events, and what the merge of its user part added. Each ImageID
// record must find its image event, by time, process and base, in the other
// file.
func TestSeveralFilesOnOneClock(t *testing.T) {
	const prefix = "microsoft_perfview__diaghub-etls__diaghub-etls_"
	recs, err := OpenAll([]string{corpus.Path(t, "corpus", "etl", prefix+"diaghub.kernel.1.etl"), corpus.Path(t, "corpus", "etl", prefix+"diaghub.etl")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(recs) != 1 || len(recs[0].Files) != 2 {
		t.Fatalf("%d recordings", len(recs))
	}
	defer recs[0].Close()
	type key struct {
		time int64
		pid  uint32
		base uint64
	}
	images := map[key]bool{}
	m := NewMerge(recs[0].Files, ClassImage|ClassImageID)
	last, ids, found := int64(0), 0, 0
	var pending []key
	for m.Next() {
		r := m.Record()
		if r.Time < last {
			t.Fatal("out of order")
		}
		last = r.Time
		switch r.Class {
		case ClassImage:
			var i Image
			if err := DecodeImage(r, &i); err != nil {
				t.Fatal(err)
			}
			images[key{r.Time, i.PID, i.Base}] = true
		case ClassImageID:
			if r.Opcode != ImageIDInfo {
				continue
			}
			var id ImageID
			if err := DecodeImageID(r, &id); err != nil {
				t.Fatal(err)
			}
			ids++
			pending = append(pending, key{r.Time, id.PID, id.Base})
		}
	}
	for _, k := range pending {
		if images[k] {
			found++
		}
	}
	if m.Err() != nil || m.Disordered != 0 || ids != 15423 || found != ids {
		t.Errorf("%d of %d ImageID records found their image; %v, %d out of order", found, ids, m.Err(), m.Disordered)
	}
}

// TestMergeEqualsSort compares the merge of every real file with a stable
// sort of all its records by time.
func TestMergeEqualsSort(t *testing.T) {
	for _, row := range corpus.Files(t, "etl") {
		f := openFile(t, row.File)
		type place struct {
			time           int64
			buffer, offset int
		}
		var want []place
		dec := f.NewDecoder(SideBand)
		for i := range f.Buffers() {
			for it := dec.Buffer(i); it.Next(); {
				want = append(want, place{it.Record().Time, i, it.Record().Offset})
			}
		}
		slices.SortStableFunc(want, func(a, b place) int {
			switch {
			case a.time < b.time:
				return -1
			case a.time > b.time:
				return 1
			}
			return 0
		})
		m := NewMerge([]*File{f}, SideBand)
		i := 0
		for ; m.Next(); i++ {
			_, buffer := m.Position()
			got := place{m.Record().Time, buffer, m.Record().Offset}
			if i >= len(want) || got != want[i] {
				t.Fatalf("%s: record %d: got %v", filepath.Base(row.File), i, got)
			}
		}
		m.Damage[UnknownType] = Tally{} // the made files have an ERROR record
		if i != len(want) || m.Err() != nil || m.Disordered != 0 || m.Damage != (Damage{}) {
			t.Errorf("%s: %d of %d records, %v, %d out of order, %v", filepath.Base(row.File), i, len(want), m.Err(), m.Disordered, m.Damage)
		}
	}
}

// TestReaderIsNotClosed makes sure that a reader that was given is left
// alone.
func TestReaderIsNotClosed(t *testing.T) {
	data := writeTrace(t, testTrace("timer", 8, 5))
	path := filepath.Join(put(t, member{"a.etl", data}), "a.etl")
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	f, err := NewReader(in, int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(in); err != nil {
		t.Errorf("the reader was closed: %v", err)
	}
}
