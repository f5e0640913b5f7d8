package funcs

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLSDA(t *testing.T) {
	for _, x := range []struct {
		name, data string
		want       []callSite
		need       uint64
		kind       error
		offset     int64
	}{
		{"GCC", "ff ff 01 08 04050d00 0b020000", []callSite{{0x1004, 0x1009, 0x100d}}, 12, nil, 0},
		{"types", "ff 9b15 01 04 04050d01 0000", []callSite{{0x1004, 0x1009, 0x100d}}, 9, nil, 0},
		{"words", "ff ff 03 0d 04000000 05000000 0d000000 00", []callSite{{0x1004, 0x1009, 0x100d}}, 17, nil, 0},
		{"base of landing pads", "10 f70f000000000000 ff 01 04 04050300", []callSite{{0x1004, 0x1009, 0x2ffb}}, 16, nil, 0},
		{"no call sites", "ff ff 01 00", nil, 4, nil, 0},
		{"another part's call sites", "ff ff 01 08 04050d00 10cf1600", []callSite{{0x1004, 0x1009, 0x100d}}, 11, nil, 0},
		{"going back", "ff ff 01 08 04050d00 02010d00", []callSite{{0x1004, 0x1009, 0x100d}}, 10, nil, 0},
		{"cut header", "ff ff", nil, 2, binfmt.ErrTruncated, 0x102},
		{"cut call sites", "ff ff 01 08 0405", nil, 12, binfmt.ErrTruncated, 0x104},
		{"cut call site", "ff ff 01 05 04050d00 0b", nil, 4, binfmt.ErrTruncated, 0x109},
		{"relative call sites", "ff ff 11 00", nil, 3, binfmt.ErrUnsupported, 0x102},
		{"unknown encoding", "ff ff 07 01 00", nil, 4, binfmt.ErrUnsupported, 0x104},
		{"huge", "ff ff 01 ffffffffffffffff7f", nil, 12 + maxLSDA, binfmt.ErrTruncated, 0x10c},
	} {
		got, need, err := decodeLSDA(unhex(t, x.data), 0x2000, 0x1000, 0x20, 0x100)
		if diff := cmp.Diff(x.want, got, cmp.AllowUnexported(callSite{})); diff != "" || need != x.need || !errors.Is(err, x.kind) {
			t.Errorf("%s: need %d, error %v, want %d and %v (-want +got):\n%s", x.name, need, err, x.need, x.kind, diff)
		}
		var defect *binfmt.Error
		if errors.As(err, &defect) && defect.Offset != x.offset {
			t.Errorf("%s: offset %#x, want %#x", x.name, defect.Offset, x.offset)
		}
	}
}

func TestFlatten(t *testing.T) {
	guard := func(start, end uint32, pads ...uint32) program.Guard {
		return program.Guard{Range: program.Range{Start: start, End: end}, Pads: pads}
	}
	for _, x := range []struct {
		name  string
		sites []site
		want  []program.Guard
	}{
		{"none", nil, nil},
		{"side by side", []site{{30, 40, 2}, {10, 20, 1}, {20, 25, 1}}, []program.Guard{guard(10, 20, 1), guard(20, 25, 1), guard(30, 40, 2)}},
		{"nested", []site{{10, 40, 1}, {20, 30, 2}}, []program.Guard{guard(10, 20, 1), guard(20, 30, 2, 1), guard(30, 40, 1)}},
		{"same code", []site{{10, 20, 1}, {10, 20, 2}, {10, 20, 2}}, []program.Guard{guard(10, 20, 2, 1)}},
		{"crossing", []site{{10, 30, 1}, {20, 40, 2}}, []program.Guard{guard(10, 20, 1), guard(20, 30, 2, 1), guard(30, 40, 2)}},
		{"to the end", []site{{10, math.MaxUint32, 1}}, []program.Guard{guard(10, math.MaxUint32, 1)}},
	} {
		got, lost := flatten(x.sites)
		if diff := cmp.Diff(x.want, got); diff != "" || lost != 0 {
			t.Errorf("%s: %d lost (-want +got):\n%s", x.name, lost, diff)
		}
	}
	var deep []site
	for k := range uint32(maxPads + 3) {
		deep = append(deep, site{k, 1000 - k, k})
	}
	if _, lost := flatten(deep); lost != 3 {
		t.Errorf("%d of %d nested sites are lost, want 3", lost, len(deep))
	}
}

func FuzzLSDA(f *testing.F) {
	f.Add(unhex(f, "ff9b1501 0804050d01 0b020000"), uint64(0x2000), uint64(0x1000), uint64(0x40))
	f.Add(unhex(f, "10f70f000000000000ff010404050300"), uint64(0x2000), uint64(0x1000), uint64(0x40))
	f.Fuzz(func(t *testing.T, data []byte, va, start, size uint64) {
		sites, _, err := decodeLSDA(data, va, start, size, 0)
		if len(sites) > len(data)/4 || err != nil && sites != nil {
			t.Fatalf("%d call sites in %d bytes, error %v", len(sites), len(data), err)
		}
		var list []site
		for _, s := range sites {
			if s.end-start > size || s.start-start > s.end-start {
				t.Fatalf("call site %+v in %d bytes at %#x", s, size, start)
			}
			if a, b := uint32(s.start), uint32(s.end); a < b {
				list = append(list, site{a, b, uint32(s.pad)})
			}
		}
		guards, _ := flatten(list)
		if len(guards) > 2*len(list) {
			t.Fatalf("%d guards of %d sites", len(guards), len(list))
		}
		for k, g := range guards {
			if g.Start >= g.End || len(g.Pads) == 0 || k > 0 && guards[k-1].End > g.Start {
				t.Fatalf("guard %d: %+v", k, g)
			}
		}
	})
}
