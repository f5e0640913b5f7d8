package debuginfo

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func TestCheckLineTable(t *testing.T) {
	table := func(version byte, lists ...byte) []byte {
		body := slices.Concat([]byte{version, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 3, 0, 1}, lists)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
	}
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	for _, tc := range []struct {
		name  string
		table []byte
		kind  error
	}{
		{"DWARF 4 has no numbers", table(4), nil},
		{"a folder and two files", table(5, 1, 1, 0x08, 1, '/', 0, 2, 1, 0x1f, 2, 0x0b, 2, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0), nil},
		{"folders of nothing", table(5, slices.Concat([]byte{0}, huge, []byte{0, 0})...), binfmt.ErrCorrupt},
		{"more files than bytes", table(5, slices.Concat([]byte{0, 0, 1, 1, 0x0f}, huge)...), binfmt.ErrTruncated},
		{"a name beyond the end", table(5, 1, 1, 0x09, 1, 200, 0, 0, 0), binfmt.ErrTruncated},
		{"a form of no size", table(5, 1, 1, 0x19, 1, 0, 0), binfmt.ErrUnsupported},
		{"a table beyond the section", table(5, 0, 0, 0, 0)[:12], binfmt.ErrTruncated},
	} {
		section := slices.Concat([]byte{9, 9, 9}, tc.table)
		if err := checkLineTable(section, 3, binary.LittleEndian); !errors.Is(err, tc.kind) || (err == nil) != (tc.kind == nil) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.kind)
		}
	}
}
