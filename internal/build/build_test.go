package build

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// build makes the database of a program.
func build(t testing.TB, path, debug string) (*spd.File, Report) {
	t.Helper()
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	list, _, err := funcs.Find(img, funcs.Options{Debug: debug})
	if err != nil {
		t.Fatal(err)
	}
	info, err := debuginfo.Open(img, "", debug)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { info.Close() })
	f, r, err := Build(img, list, Options{Name: filepath.Base(path), Inlines: info.Inlines, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return f, r
}

// TestPrograms builds databases of small programs, which must be as those of
// the linker are, and are the same after a trip through a file.
func TestPrograms(t *testing.T) {
	for _, x := range []struct{ path, pdb string }{
		{"programs/wordstat.elf", ""}, {"programs/minivm.elf", ""}, {"programs/shapes.elf", ""},
		{"programs/pe/wordstat.exe", "programs/pe/wordstat.pdb"}, {"programs/pe/minivm.exe", "programs/pe/minivm.pdb"},
	} {
		debug := ""
		if x.pdb != "" {
			debug = corpus.Path(t, x.pdb)
		}
		f, r := build(t, corpus.Path(t, x.path), debug)
		t.Logf("%s: %+v", x.path, r)
		for v := range f.Violations() {
			t.Errorf("%s: %v", x.path, v)
		}
		var b bytes.Buffer
		if err := spd.Write(&b, f); err != nil {
			t.Fatal(err)
		}
		reader, err := spd.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		g, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := spd.Write(&again, g); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: the file changes when it is read and written", x.path)
		}
	}
}
