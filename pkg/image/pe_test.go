package image

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

var testID = ID{GUID: binfmt.GUID{0x5b, 0x94, 0x4c, 0x88, 0x84, 0xfe, 0x17, 0xb7, 0x4c, 0x4c, 0x44, 0x20, 0x50, 0x44, 0x42, 0x2e}, Age: 17}

func testPE(is64 bool) peSpec {
	return peSpec{is64: is64, machine: pe.IMAGE_FILE_MACHINE_AMD64, stamp: 0x6b0d2531, sizeOfImage: 0x5000, checkSum: 0x1234, sectionAlign: 0x1000,
		sections: []PESection{
			{Name: ".text", VirtualSize: 0x1234, VirtualAddress: 0x1000, SizeOfRawData: 0x1400, PointerToRawData: 0x400,
				Characteristics: pe.IMAGE_SCN_MEM_EXECUTE | pe.IMAGE_SCN_CNT_CODE},
			{Name: ".bss", VirtualSize: 0x800, VirtualAddress: 0x3000},
			{Name: ".rdata", VirtualSize: 0x180, VirtualAddress: 0x4000, SizeOfRawData: 0x200, PointerToRawData: 0x1800},
		},
		debug: []debugSpec{
			{typ: 13, data: []byte("POGO")},
			{typ: debugTypeCodeView, minor: portablePDB, data: rsds(ID{Age: 1}, "managed.pdb")},
			{typ: debugTypeCodeView, data: rsds(testID, `d:\b\Zoë.pdb`)},
		}}
}

func TestPE(t *testing.T) {
	for _, is64 := range []bool{false, true} {
		spec := testPE(is64)
		b := spec.bytes()
		f, err := open(b)
		if err != nil {
			t.Fatal(err)
		}
		if f.Warnings != nil {
			t.Errorf("warnings %v", f.Warnings)
		}
		base, bits := uint64(0x400000), 32
		if is64 {
			base, bits = 0x140000000, 64
		}
		p := f.PE
		if f.Kind != KindPE || f.Arch != ArchAMD64 || f.Base != base || p.ImageBase != base || p.Bits != bits || p.Characteristics != 0x22 ||
			p.TimeDateStamp != 0x6b0d2531 || p.SizeOfImage != 0x5000 || p.SizeOfHeaders != 0x400 || p.CheckSum != 0x1234 || p.SectionAlign != 0x1000 {
			t.Errorf("%v %v base %#x: %+v", f.Kind, f.Arch, f.Base, p)
		}
		if diff := cmp.Diff(spec.sections, p.Sections); diff != "" {
			t.Errorf("sections differ:\n%s", diff)
		}
		if len(p.Debug) != 3 || p.Debug[0].Type != 13 || p.Debug[1].MinorVersion != portablePDB || p.Debug[2].SizeOfData != uint32(len(spec.debug[2].data)) {
			t.Errorf("debug directory %+v", p.Debug)
		}
		want := []CodeView{{ID{Age: 1}, "managed.pdb", true}, {testID, `d:\b\Zoë.pdb`, false}}
		if diff := cmp.Diff(want, p.CodeViews); diff != "" {
			t.Errorf("CodeView records differ:\n%s", diff)
		}
		if id, source := f.ID(); id != testID || source != IDRSDS {
			t.Errorf("ID = %v, %v", id, source)
		}
		if !IsPE(bytes.NewReader(b)) {
			t.Error("IsPE is false")
		}
	}
}

func TestPEIdentityOfManagedImage(t *testing.T) {
	spec := testPE(true)
	spec.debug = spec.debug[:2]
	f, err := open(spec.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if id, source := f.ID(); id != (ID{Age: 1}) || source != IDRSDS {
		t.Errorf("ID = %v, %v", id, source)
	}
	spec.debug = nil
	if f, err = open(spec.bytes()); err != nil {
		t.Fatal(err)
	}
	if id, source := f.ID(); id != (ID{}) || source != IDNone || source.String() != "none" {
		t.Errorf("ID = %v, %v", id, source)
	}
}

func TestPEAddresses(t *testing.T) {
	const none = ^uint64(0)
	for _, tc := range []struct {
		name string
		spec func() peSpec
		rvas map[uint64]uint64 // by file offset
	}{
		{"usual", func() peSpec { return testPE(true) },
			map[uint64]uint64{0: 0, 0x3ff: 0x3ff, 0x400: 0x1000, 0x17ff: 0x23ff, 0x1800: 0x4000, 0x19ff: 0x41ff, 0x1a00: none}},
		{"raw data beyond the last page", func() peSpec {
			s := testPE(true)
			s.sections[2].SizeOfRawData = 0x2000
			return s
		}, map[uint64]uint64{0x27ff: 0x4fff, 0x2800: none}},
		{"pointer rounded to a sector", func() peSpec {
			s := testPE(true)
			s.sections[2].PointerToRawData = 0x1810
			return s
		}, map[uint64]uint64{0x1810: 0x4010}},
		{"no virtual size", func() peSpec {
			s := testPE(true)
			s.sections[0].VirtualSize = 0
			return s
		}, map[uint64]uint64{0x17ff: 0x23ff}},
		{"driver with small alignment", func() peSpec {
			s := testPE(true)
			s.sectionAlign = 0x20
			s.sections = []PESection{{Name: "INIT", VirtualSize: 0x180, VirtualAddress: 0x460, SizeOfRawData: 0x180, PointerToRawData: 0x460}}
			s.debug = nil
			return s
		}, map[uint64]uint64{0x460: 0x460, 0x5df: 0x5df, 0x5e0: none}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := open(tc.spec().bytes())
			if err != nil {
				t.Fatal(err)
			}
			for off, want := range tc.rvas {
				got, ok := f.RVA(off)
				if ok != (want != none) || ok && got != want {
					t.Errorf("RVA(%#x) = %#x, %v; want %#x", off, got, ok, want)
				}
				if !ok {
					continue
				}
				if back, n, ok := f.FileOffset(got); back != off || n == 0 || !ok {
					t.Errorf("FileOffset(%#x) = %#x, %d, %v; want %#x", got, back, n, ok, off)
				}
			}
		})
	}
	f, err := open(testPE(true).bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := f.FileOffset(0x3000); ok {
		t.Error(".bss has a file offset")
	}
}

func TestPELongSectionNames(t *testing.T) {
	spec := testPE(true)
	spec.sections[0].Name, spec.sections[1].Name, spec.sections[2].Name = "/4", "/999", "/x"
	spec.longNames = ".debug_info\x00"
	f, err := open(spec.bytes())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range f.Sections {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != ".debug_info /999 /x" {
		t.Errorf("names %s", got)
	}
}

func TestPEDefects(t *testing.T) {
	spec := testPE(true)
	valid := spec.bytes()
	const pe0, opt, sections = 0x80, 0x80 + 24, 0x80 + 24 + 240
	rsdsAt := int(binary.LittleEndian.Uint32(valid[0x1800+2*debugEntrySize+24:]))
	u32 := func(off int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[off:], v); return b }
	}
	for _, tc := range []struct {
		name    string
		change  func([]byte) []byte
		kind    error
		offset  int64
		warning bool
	}{
		{"MZ alone", func(b []byte) []byte { return b[:2] }, binfmt.ErrTruncated, 0, false},
		{"header beyond the file", u32(peLfanewAt, 0xfffffff0), binfmt.ErrTruncated, int64(len(valid)), false},
		{"DOS program", u32(pe0, 0), binfmt.ErrMagic, pe0, false},
		{"optional header cut", func(b []byte) []byte { return b[:opt+10] }, binfmt.ErrTruncated, opt, false},
		{"optional header too short", u32(pe0+20, 0x00220010), binfmt.ErrTruncated, opt + 2, false},
		{"ROM image", u32(opt, 0x107), binfmt.ErrUnsupported, opt, false},
		{"section table cut", func(b []byte) []byte { return b[:sections+50] }, binfmt.ErrTruncated, sections, false},
		{"section count", u32(pe0+4, 0xffff8664), binfmt.ErrTruncated, sections, false},
		{"debug directory nowhere", u32(opt+112+48, 0x80000000), binfmt.ErrCorrupt, -1, true},
		{"debug directory too long", u32(opt+112+52, 0xffffffff), binfmt.ErrLimit, 0x1800, true},
		{"record too long", u32(0x1800+debugEntrySize+16, 0x20000), binfmt.ErrLimit, int64(binary.LittleEndian.Uint32(valid[0x1800+debugEntrySize+24:])), true},
		{"record beyond the file", u32(0x1800+2*debugEntrySize+24, 0x7fffffff), binfmt.ErrTruncated, int64(len(valid)), true},
		{"record cut", u32(0x1800+2*debugEntrySize+16, 20), binfmt.ErrTruncated, int64(rsdsAt + 20), true},
		{"older record", u32(rsdsAt, 0x3031424e), binfmt.ErrUnsupported, int64(rsdsAt), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := open(tc.change(append([]byte(nil), valid...)))
			if tc.warning {
				if err != nil || len(f.Warnings) != 1 {
					t.Fatalf("%v, %v, want one warning", f, err)
				}
				err = f.Warnings[0]
			}
			var e *binfmt.Error
			if !errors.As(err, &e) || !errors.Is(err, tc.kind) || e.Offset != tc.offset {
				t.Errorf("got %v; want %v at %#x", err, tc.kind, tc.offset)
			}
		})
	}
	if IsPE(strings.NewReader("MZ")) || IsPE(bytes.NewReader(u32(pe0, 0)(append([]byte(nil), valid...)))) {
		t.Error("IsPE is true for a DOS program")
	}
}

func TestWarningsAreBounded(t *testing.T) {
	spec := testPE(true)
	spec.sections[2].SizeOfRawData, spec.sections[2].VirtualSize = 0x2000, 0x2000
	spec.debug = nil
	for i := range 40 {
		spec.debug = append(spec.debug, debugSpec{typ: debugTypeCodeView, data: fmt.Appendf(nil, "X%03d", i)})
	}
	f, err := open(spec.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings) != maxWarnings || f.WarningCount != 40 {
		t.Errorf("%d warnings kept, %d counted", len(f.Warnings), f.WarningCount)
	}
}
