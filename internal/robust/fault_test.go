package robust

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/build"
	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// errDisk is what a broken disk answers.
var errDisk = errors.New("the disk is broken")

// brokenReader fails from a byte on.
type brokenReader struct {
	data []byte
	good int64
}

func (r brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= r.good {
		return bytes.NewReader(r.data).ReadAt(p, off)
	}
	n := 0
	if off < r.good {
		n = copy(p, r.data[off:r.good])
	}
	return n, errDisk
}

// brokenWriter fails from a byte on.
type brokenWriter struct{ room int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	if w.room -= n; n < len(p) {
		return n, errDisk
	}
	return n, nil
}

// format reads a file of a format to its end.
type format struct {
	name string
	data []byte
	read func(r io.ReaderAt, size int64) error
}

func formats(t *testing.T) []format {
	t.Helper()
	demo := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "demo", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	elf := demo("collatz")
	database := makeSPD(t, elf)
	var databaseBytes bytes.Buffer
	if err := spd.Write(&databaseBytes, database); err != nil {
		t.Fatal(err)
	}
	return []format{
		{"perf.data", demo("collatz.data"), readPerf},
		{"ELF", elf, readImage},
		{"SPD", databaseBytes.Bytes(), readSPD},
		{"SPD in a PDB", msftest.PDB{BlockSize: 512, Named: []msftest.Stream{{Name: "spd", Data: databaseBytes.Bytes()}}}.Bytes(), readCarrier},
		{"SPT", makeSPT(t), readSPT},
		{"PDB", msftest.PDB{BlockSize: 512, Age: 1}.Bytes(), readPDB},
		{"ETL", makeETL(t), readETL},
	}
}

func makeSPD(t *testing.T, elf []byte) *spd.File {
	t.Helper()
	img, err := image.NewFile(bytes.NewReader(elf), int64(len(elf)))
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := funcs.Find(img, funcs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := build.Build(img, list, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func makeSPT(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := spt.NewWriter(&b, []spt.ProgramID{{GUID: binfmt.GUID{1}, Age: 1, Name: "app.exe"}}, nil)
	if err == nil {
		err = w.BeginBinary(0)
	}
	for i := range uint32(2000) {
		if err == nil {
			err = w.IP(spt.OpRetireInstr, []uint32{0x1000 + i, 0x2000 + i}, 1)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func makeETL(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := etl.NewWriter(&b, &etl.WriterOptions{Header: etl.LogFile{BufferSize: 4096, PointerSize: 8, Processors: 1}, Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readPerf(r io.ReaderAt, size int64) error {
	f, err := perfdata.NewReader(r, size, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	rs := f.Records()
	defer rs.Close()
	for rs.Next() {
	}
	if rs.Err() != nil {
		return rs.Err()
	}
	chunks := f.Chunks(rs.Index())
	defer chunks.Close()
	dec := f.NewDecoder(perfdata.SampleBranchStack)
	var c perfdata.Chunk
	for chunks.Next(&c) {
		for dec.Reset(&c); dec.Next(); {
		}
	}
	return chunks.Err()
}

func readImage(r io.ReaderAt, size int64) error {
	img, err := image.NewFile(r, size)
	if err != nil {
		return err
	}
	list, report, err := funcs.Find(img, funcs.Options{})
	if err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return errors.Join(report.Problems...)
	}
	info, err := debuginfo.Open(img, "", "")
	if err != nil {
		return err
	}
	defer info.Close()
	if p := info.Problems(); len(p) > 0 {
		return errors.Join(p...)
	}
	_, result, err := build.Build(img, list, build.Options{})
	return errors.Join(append(result.Problems, err)...)
}

func readSPD(r io.ReaderAt, size int64) error {
	f, err := spd.NewReader(r, size)
	if err != nil {
		return err
	}
	_, err = f.Read()
	return err
}

func readCarrier(r io.ReaderAt, size int64) error {
	found, err := carrier.Find(r, size)
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("%d SPDs", len(found))
	}
	if found[0].Err != nil {
		return found[0].Err
	}
	_, err = io.Copy(io.Discard, io.NewSectionReader(found[0].Open(), 0, found[0].Size))
	return err
}

func readSPT(r io.ReaderAt, size int64) error {
	f, err := spt.NewReader(r, size, nil)
	if err != nil {
		return err
	}
	for f.Next() {
	}
	return f.Err()
}

func readPDB(r io.ReaderAt, size int64) error {
	f, err := pdb.NewFile(r, size)
	if err != nil {
		return err
	}
	for i := range f.NumStreams() {
		s, err := f.OpenStream(i)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, io.NewSectionReader(s, 0, s.Size())); err != nil {
			return err
		}
	}
	return nil
}

func readETL(r io.ReaderAt, size int64) error {
	f, err := etl.NewReader(r, size, nil)
	if err != nil {
		return err
	}
	m := etl.NewMerge([]*etl.File{f}, etl.AllClasses)
	for m.Next() {
	}
	return m.Err()
}

// TestReadFaults lets the disk break at places all over a file of each format.
// Who needs the bytes behind it gets the error of the disk, never a panic and
// never one of damage; the others do not notice.
func TestReadFaults(t *testing.T) {
	for _, f := range formats(t) {
		size := int64(len(f.data))
		if err := f.read(bytes.NewReader(f.data), size); err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		failed := 0
		const places = 60
		for i := range int64(places) {
			good := i * size / places
			if i < 16 {
				good = i * 8 // headers
			}
			err := f.read(brokenReader{f.data, good}, size)
			if err != nil && !errors.Is(err, errDisk) {
				t.Errorf("%s: broken from %#x on: %v", f.name, good, err)
			}
			if err != nil {
				failed++
			}
		}
		if failed < places/4 {
			t.Errorf("%s: %d of %d faults were noticed", f.name, failed, places)
		}
	}
}

// TestWriteFaults lets the disk become full at every byte of small outputs.
func TestWriteFaults(t *testing.T) {
	elf, err := os.ReadFile(filepath.Join("..", "..", "testdata", "demo", "collatz"))
	if err != nil {
		t.Fatal(err)
	}
	database := makeSPD(t, elf)
	trace := makeSPT(t)
	for name, write := range map[string]func(io.Writer) error{
		"SPD":      func(w io.Writer) error { return spd.Write(w, database) },
		"SPD text": func(w io.Writer) error { return spd.WriteText(w, database) },
		"SPD JSON": func(w io.Writer) error { return spd.WriteJSON(w, database, spd.JSONOptions{}) },
		"SPT": func(w io.Writer) error {
			r, err := spt.NewReader(bytes.NewReader(trace), int64(len(trace)), nil)
			if err != nil {
				return err
			}
			return spt.Copy(w, r)
		},
	} {
		var whole bytes.Buffer
		if err := write(&whole); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		step := max(1, whole.Len()/200)
		for room := 0; room < whole.Len(); room += step {
			if err := write(&brokenWriter{room}); !errors.Is(err, errDisk) {
				t.Errorf("%s: full after %d of %d bytes: %v", name, room, whole.Len(), err)
			}
		}
	}
}
