package image

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
)

func TestCode(t *testing.T) {
	data, err := os.ReadFile(corpus.Path(t, "programs", "shapes.elf"))
	if err != nil {
		t.Fatal(err)
	}
	open := func(b []byte) *File {
		f, err := NewFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open(data)
	// .init; .plt and .text, which touch; .fini.
	want := []Extent{{0x1000, 0x1017}, {0x1020, 0x1f31}, {0x1f34, 0x1f3d}}
	if diff := cmp.Diff(want, f.Code()); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
	whole, err := io.ReadAll(f.Reader())
	if err != nil || !bytes.Equal(whole, data) {
		t.Errorf("%d bytes of %d, %v", len(whole), len(data), err)
	}
	clear(data[0x28:0x30]) // e_shoff
	clear(data[0x3c:0x40]) // e_shnum, e_shstrndx
	if diff := cmp.Diff([]Extent{{0x1000, 0x1f3d}}, open(data).Code()); diff != "" {
		t.Errorf("code of the segment (-want +got):\n%s", diff)
	}
}

func TestDirectories(t *testing.T) {
	f, err := Open(corpus.Path(t, "programs", "pe", "minivm.exe"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := f.PE.Directory(DirectoryException), (Directory{0xd000, 0x474}); got != want || len(f.PE.Directories) != 16 {
		t.Errorf("exception directory %+v of %d, want %+v", got, len(f.PE.Directories), want)
	}
	if got := f.PE.Directory(DirectoryExport); got != (Directory{}) {
		t.Errorf("export directory %+v", got)
	}
	if got := f.PE.Directory(20); got != (Directory{}) {
		t.Errorf("no directory: %+v", got)
	}
	if diff := cmp.Diff([]Extent{{0x1000, 0x80c0}}, f.Code()); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
}
