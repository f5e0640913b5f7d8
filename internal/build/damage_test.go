package build

import (
	"bytes"
	"os"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
)

// TestDamage changes bytes of images. What can still be built must keep the
// rules.
func TestDamage(t *testing.T) {
	for _, name := range []string{"programs/minivm.elf", "programs/pe/minivm.exe"} {
		whole, err := os.ReadFile(corpus.Path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		_, list := open(t, name)
		built := 0
		for at := 0; at < len(whole); at += len(whole)/60 + 1 {
			for _, v := range []byte{0, 0xff} {
				damaged := bytes.Clone(whole)
				for k := range min(16, len(whole)-at) {
					damaged[at+k] = v
				}
				img, err := image.NewFile(bytes.NewReader(damaged), int64(len(damaged)))
				if err != nil {
					continue
				}
				functions, _, err := funcs.Find(img, funcs.Options{})
				if err != nil {
					continue
				}
				for _, l := range [][]program.Function{functions, list} {
					f, _, err := Build(img, l, Options{Name: "x"})
					if err != nil {
						continue
					}
					built++
					for v := range f.Violations() {
						t.Errorf("%s with %#x at %#x: %v", name, v, at, v)
						return
					}
				}
			}
		}
		if built < 100 {
			t.Errorf("%s: only %d databases were built", name, built)
		}
	}
}

// TestOtherFunctions gives functions that are not in the image.
func TestOtherFunctions(t *testing.T) {
	img, _ := open(t, "programs/minivm.elf")
	f, r, err := Build(img, []program.Function{
		{Name: "far", Ranges: []program.Range{{Start: 0xfffffff0, End: 0xffffffff}}},
		{Name: "gap", Ranges: []program.Range{{Start: 0x900000, End: 0x900010}}},
		{Name: "none"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Functions != 2 {
		t.Errorf("%d functions, want 2", r.Functions)
	}
	for v := range f.Violations() {
		t.Error(v)
	}
	if _, _, err := Build(img, nil, Options{}); err == nil {
		t.Error("a database without functions was built")
	}
}
