package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/image"
)

// The headers alone lead to the same units as a walk through all entries, and
// so do sections that were compressed in the old way.
func TestUnitEntries(t *testing.T) {
	plain := corpus.Path(t, "programs", "shapes.elf")
	for _, path := range []string{plain, corpus.Path(t, "programs", "minivm.elf"), corpus.Path(t, "programs", "wordstat.elf")} {
		data, info := sections(t, path)
		r := data.Reader()
		var want []dwarf.Offset
		for {
			cu, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if cu == nil {
				break
			}
			want = append(want, cu.Offset)
			r.SkipChildren()
		}
		if got := entries(info, r.ByteOrder()); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: units at %#x, want %#x", path, got, want)
		}
	}
	objcopy := corpus.Tool(t, "objcopy")
	packed := filepath.Join(t.TempDir(), "packed.elf")
	if out, err := exec.Command(objcopy, "--compress-debug-sections=zlib-gnu", plain, packed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, want := sections(t, plain)
	if _, got := sections(t, packed); !reflect.DeepEqual(got, want) {
		t.Errorf("%d bytes of .zdebug_info, want the %d of .debug_info", len(got), len(want))
	}
}

func entries(info []byte, order binary.ByteOrder) []dwarf.Offset {
	var list []dwarf.Offset
	for _, h := range unitHeaders(info, order) {
		list = append(list, h.entry)
	}
	return list
}

// Headers that claim more than there is end the list.
func TestUnitEntriesOfDamagedHeaders(t *testing.T) {
	data, info := sections(t, corpus.Path(t, "programs", "shapes.elf"))
	order := data.Reader().ByteOrder()
	all := entries(info, order)
	for n := range min(len(info), 1<<12) {
		got := entries(info[:n], order)
		if len(got) > len(all) || !slices.Equal(got, all[:len(got)]) {
			t.Fatalf("%d bytes: units at %#x", n, got)
		}
	}
	for _, head := range [][]byte{{}, {1}, {0, 0, 0, 0}, {255, 255, 255, 255}, {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 5}, {2, 0, 0, 0, 5, 0}} {
		if got := entries(head, order); len(got) > 0 {
			t.Errorf("% x: units at %#x", head, got)
		}
	}
}

func sections(t *testing.T, path string) (*dwarf.Data, []byte) {
	t.Helper()
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	data, info, err := dwarfData(img)
	if err != nil || data == nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data, info["info"]
}
