package build

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// FuzzBuild goes the whole way from an image, which may be damaged, to a
// database. What is built keeps the rules of the format, whatever the number
// of workers.
func FuzzBuild(f *testing.F) {
	for _, name := range []string{"minivm.elf", "wordstat.elf"} {
		if b, err := os.ReadFile(filepath.Join(corpus.Dir(), "programs", name)); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := image.NewFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		functions, _, err := funcs.Find(img, funcs.Options{})
		if err != nil {
			return
		}
		options := Options{Name: "x", Jobs: 1}
		if info, err := debuginfo.Open(img, "", ""); err == nil {
			defer info.Close()
			options.Inlines = info.Inlines
		}
		one, made, err := Build(img, functions, options)
		if err != nil {
			return
		}
		for v := range one.Violations() {
			t.Fatal(v)
		}
		if uint64(made.Instructions) > uint64(len(data)) {
			t.Fatalf("%d instructions in %d bytes", made.Instructions, len(data))
		}
		options.Jobs = 4
		four, _, err := Build(img, functions, options)
		if err != nil {
			t.Fatalf("built by one worker, and by four: %v", err)
		}
		if !bytes.Equal(encoded(t, one), encoded(t, four)) {
			t.Fatal("one worker and four build other databases")
		}
	})
}

func encoded(t *testing.T, f *spd.File) []byte {
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
