package image

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCodeInFile leaves out what a section claims beyond the file.
func TestCodeInFile(t *testing.T) {
	for _, c := range []struct {
		section Section
		want    []Extent
	}{
		{Section{RVA: 0x1000, Size: 0x200, Offset: 0x400, FileSize: 0x200}, []Extent{{0x1000, 0x1200}}},
		{Section{RVA: 0x1000, Size: 0x123, Offset: 0x400, FileSize: 0x200}, []Extent{{0x1000, 0x1123}}},
		{Section{RVA: 0x1000, Size: 1 << 40, Offset: 0x400, FileSize: 1 << 40}, []Extent{{0x1000, 0x1c00}}},
		{Section{RVA: 0x1000, Size: 1 << 31, Offset: 0x400, FileSize: 0x200}, []Extent{{0x1000, 0x1200}}},
		{Section{RVA: 0x1000, Size: math.MaxUint64, Offset: 0x400, FileSize: 0x200}, []Extent{{0x1000, 0x1200}}},
		{Section{RVA: 0x1000, Size: 0x200, Offset: 0x2000, FileSize: 0x200}, nil},
		{Section{RVA: 0x1000, Size: 0x200}, []Extent{{0x1000, 0x1200}}},
	} {
		c.section.Exec = true
		f := &File{Sections: []Section{c.section}, src: source{size: 0x1000}}
		if diff := cmp.Diff(c.want, f.Code()); diff != "" {
			t.Errorf("%+v: %s", c.section, diff)
		}
	}
}
