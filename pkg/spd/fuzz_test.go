package spd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// seedFiles are the made files and, where they are installed, a recorded one.
func seedFiles(f *testing.F) [][]byte {
	seeds := [][]byte{encode(f, smallFile()), encode(f, freshFile()), encode(f, profiledFile()), encode(f, everyField()), encode(f, &File{})}
	if b, err := os.ReadFile(filepath.Join(corpus.Dir(), "corpus", "spd", "map-9ad16a75.spd")); err == nil {
		seeds = append(seeds, b)
	}
	return seeds
}

// FuzzRead: bytes are refused with an offset, or come back the same from the
// model, the text form and JSON.
func FuzzRead(f *testing.F) {
	for _, seed := range seedFiles(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkReading(t, data, true)
		file, err := parse(data)
		if err != nil {
			return
		}
		for range file.Violations() {
		}
		for way, trip := range trips {
			g, err := trip(file)
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			if !bytes.Equal(encode(t, g), encode(t, file)) {
				t.Errorf("%s: other bytes", way)
			}
		}
	})
}

// fuzzForm fuzzes a form of a file that people may edit. What it reads is
// printed and read again to the same model, and gives bytes that read back.
func fuzzForm(f *testing.F, read func([]byte) (*File, error), print func(*testing.T, *File) []byte) {
	f.Fuzz(func(t *testing.T, form []byte) {
		file, err := read(form)
		if err != nil {
			return
		}
		again, err := read(print(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(print(t, again), print(t, file)) {
			t.Fatal("printing is not stable")
		}
		for range file.Violations() {
		}
		for _, m := range file.Modules {
			if m.HashBuckets > 1<<12 {
				return // a big file of nothing
			}
		}
		var b bytes.Buffer
		if Write(&b, file) == nil {
			checkReading(t, b.Bytes(), true)
			decode(t, b.Bytes())
		}
	})
}

func printText(t testing.TB, f *File) []byte {
	var b bytes.Buffer
	if err := WriteText(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func printJSON(t testing.TB, f *File) []byte {
	var b bytes.Buffer
	if err := WriteJSON(&b, f, JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func FuzzReadText(f *testing.F) {
	for _, seed := range seedFiles(f) {
		f.Add(printText(f, decode(f, seed)))
	}
	fuzzForm(f, func(b []byte) (*File, error) { return ReadText(bytes.NewReader(b)) },
		func(t *testing.T, file *File) []byte { return printText(t, file) })
}

func FuzzReadJSON(f *testing.F) {
	for _, seed := range seedFiles(f) {
		f.Add(printJSON(f, decode(f, seed)))
	}
	fuzzForm(f, func(b []byte) (*File, error) { return ReadJSON(bytes.NewReader(b)) },
		func(t *testing.T, file *File) []byte { return printJSON(t, file) })
}
