package image

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// abiTag is the note that often stands before the build id.
func abiTag(s elfSpec) []byte { return s.note("GNU", 1, make([]byte, 16), 4) }

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestELFBuildIDs(t *testing.T) {
	const id8, id16 = "e92f46d2108b8df2", "00112233445566778899aabbccddeeff"
	const id20 = id16 + "01020304"
	property := func(s elfSpec) []byte { return s.note("GNU", 5, make([]byte, 16), 8) }
	for _, tc := range []struct {
		name     string
		sections func(elfSpec) []sectionSpec
		want     string
		wantGo   string
	}{
		{"20 bytes", func(s elfSpec) []sectionSpec {
			return []sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: s.note("GNU", 3, unhex(t, id20), 4)}}
		}, id20, ""},
		{"8 bytes behind the ABI tag", func(s elfSpec) []sectionSpec {
			return []sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: append(abiTag(s), s.note("GNU", 3, unhex(t, id8), 4)...)}}
		}, id8, ""},
		{"16 bytes in the second segment, behind properties padded to 8", func(s elfSpec) []sectionSpec {
			return []sectionSpec{
				{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 8, data: append(property(s), property(s)...)},
				{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: s.note("GNU", 3, unhex(t, id16), 4)},
			}
		}, id16, ""},
		{"5 bytes, padded", func(s elfSpec) []sectionSpec {
			return []sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: append(s.note("GNU", 3, unhex(t, "0102030405"), 4), abiTag(s)...)}}
		}, "0102030405", ""},
		{"the first of two counts", func(s elfSpec) []sectionSpec {
			return []sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: append(s.note("GNU", 3, unhex(t, id8), 4), s.note("GNU", 3, unhex(t, id20), 4)...)}}
		}, id8, ""},
		{"section without segment", func(s elfSpec) []sectionSpec {
			return []sectionSpec{{typ: elf.SHT_NOTE, align: 4, data: s.note("GNU", 3, unhex(t, id20), 4)}}
		}, id20, ""},
		{"type 3 of another owner, Go id", func(s elfSpec) []sectionSpec {
			return []sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4,
				data: append(s.note("stapsdt", 3, unhex(t, id20), 4), s.note("Go", 4, []byte("a/b/c/d"), 4)...)}}
		}, "", "a/b/c/d"},
		{"none", func(s elfSpec) []sectionSpec { return nil }, "", ""},
	} {
		for _, s := range []elfSpec{{}, {is64: true}, {big: true}, {is64: true, big: true}, {is64: true, extended: true}, {extended: true, big: true}} {
			t.Run(fmt.Sprintf("%s/64=%v,big=%v,extended=%v", tc.name, s.is64, s.big, s.extended), func(t *testing.T) {
				s.typ, s.machine = elf.ET_DYN, elf.EM_AARCH64
				s.sections = tc.sections(s)
				f, err := open(s.bytes())
				if err != nil {
					t.Fatal(err)
				}
				if f.Warnings != nil {
					t.Errorf("warnings %v", f.Warnings)
				}
				if f.Kind != KindELF || f.Arch != ArchARM64 || f.ELF.Type != elf.ET_DYN || f.ELF.BigEndian != s.big || (f.ELF.Bits == 64) != s.is64 {
					t.Errorf("%v %v %v big=%v bits=%d", f.Kind, f.Arch, f.ELF.Type, f.ELF.BigEndian, f.ELF.Bits)
				}
				if got := hex.EncodeToString(f.ELF.BuildID); got != tc.want || f.ELF.GoBuildID != tc.wantGo {
					t.Errorf("build id %q, Go %q; want %q, %q", got, f.ELF.GoBuildID, tc.want, tc.wantGo)
				}
				id, source := f.ID()
				if tc.want == "" {
					if source != IDNone || id != (ID{}) {
						t.Errorf("ID = %v, %v without build id", id, source)
					}
				} else if want := GUIDFromBuildID(unhex(t, tc.want)); source != IDBuildID || id.GUID != want || id.Age != 0 {
					t.Errorf("ID = %v, %v; want %v", id, source, want)
				}
			})
		}
	}
}

func TestBuildIDAsGUID(t *testing.T) {
	if got := GUIDFromBuildID(unhex(t, "5b944c8884fe17b74c4c44205044422e01020304")).String(); got != "{884C945B-FE84-B717-4C4C-44205044422E}" {
		t.Errorf("20 bytes: %s", got)
	}
	if got := GUIDFromBuildID(unhex(t, "e92f46d2108b8df2")).String(); got != "{D2462FE9-8B10-F28D-0000-000000000000}" {
		t.Errorf("8 bytes: %s", got)
	}
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"572ac72487ae1966", "572ac72487ae1966000000000000000000000000", true},
		{"572ac72487ae1966", "572ac72487ae1967", false},
		{"572ac72487ae1966", "572ac72487ae196600000001", false},
		{"", "", false},
		{"0000", "00", false},
	} {
		if got := SameBuildID(unhex(t, tc.a), unhex(t, tc.b)); got != tc.want {
			t.Errorf("SameBuildID(%s, %s) = %v", tc.a, tc.b, got)
		}
	}
}

// The layouts are those of GNU ld, of lld (segments that share pages of the
// file), and of arm64 with 64 KiB pages.
func TestELFAddresses(t *testing.T) {
	rx, r, rw := elf.PF_R|elf.PF_X, elf.PF_R, elf.PF_R|elf.PF_W
	load := func(flags elf.ProgFlag, off, va, size, align uint64) Segment {
		return Segment{Type: elf.PT_LOAD, Flags: flags, Offset: off, VAddr: va, FileSize: size, MemSize: size + 0x100, Align: align}
	}
	const none = ^uint64(0)
	for _, tc := range []struct {
		name string
		segs []Segment
		base uint64
		rvas map[uint64]uint64 // by file offset
	}{
		{"GNU ld", []Segment{load(r, 0, 0x400000, 0x840, 0x1000), load(rx, 0x1000, 0x401000, 0xf3d, 0x1000),
			load(r, 0x2000, 0x402000, 0x3b0, 0x1000), load(rw, 0x2ce0, 0x403ce0, 0x370, 0x1000)}, 0x400000,
			map[uint64]uint64{0: 0, 0x83f: 0x83f, 0x840: none, 0x1000: 0x1000, 0x1f3c: 0x1f3c, 0x1f3d: none, 0x2000: 0x2000, 0x2ce0: 0x3ce0, 0x304f: 0x404f, 0x3050: none}},
		{"lld", []Segment{load(r, 0, 0x200000, 0x5a0, 0x1000), load(rx, 0x5a0, 0x2015a0, 0x300, 0x1000)}, 0x200000,
			map[uint64]uint64{0x5a0: 0x15a0, 0x89f: 0x189f, 0x8a0: none, 0x500: 0x1500}},
		{"64 KiB pages", []Segment{load(r, 0, 0, 0x8000, 0x10000), load(rx, 0x8a40, 0x18a40, 0x4000, 0x10000)}, 0,
			map[uint64]uint64{0: 0x10000, 0x8a40: 0x18a40, 0xca3f: 0x1ca3f}},
		{"2 MiB alignment is no page size", []Segment{load(rx, 0, 0x400000, 0x1000, 0x200000), load(rx, 0x20e00, 0x820e00, 0x100, 0x200000)}, 0x400000,
			map[uint64]uint64{0x800: 0x800, 0x20e00: 0x420e00, 0x20000: 0x420000, 0x1fff0: none}},
		{"the exact one of two executable segments", []Segment{load(rx, 0xf80, 0x1f80, 0x1000, 0x1000), load(rx, 0, 0, 0xf80, 0x1000)}, 0,
			map[uint64]uint64{0x100: 0x100, 0xf80: 0x1f80}},
		{"base rounded down", []Segment{load(rx, 0x123, 0x10123, 0x100, 0x1000)}, 0x10000, map[uint64]uint64{0x123: 0x123, 0x100: 0x100}},
		{"address space left", []Segment{load(rx, 0x1000, ^uint64(0)-0xff, 0x1000, 0x1000)}, 0xfffffffffffff000,
			map[uint64]uint64{0x1000: 0xf00, 0x10ff: 0xfff, 0x1100: none}},
		{"no segments", nil, 0, map[uint64]uint64{0: none}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := open(elfSpec{is64: true, typ: elf.ET_DYN, machine: elf.EM_X86_64, segments: tc.segs}.bytes())
			if err != nil {
				t.Fatal(err)
			}
			if f.Base != tc.base {
				t.Errorf("base %#x, want %#x", f.Base, tc.base)
			}
			for off, want := range tc.rvas {
				got, ok := f.RVA(off)
				if ok != (want != none) || ok && got != want {
					t.Errorf("RVA(%#x) = %#x, %v; want %#x", off, got, ok, want)
				}
			}
		})
	}
}

func TestELFFileOffset(t *testing.T) {
	s := elfSpec{is64: true, typ: elf.ET_EXEC, machine: elf.EM_X86_64, segments: []Segment{
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Offset: 0, VAddr: 0x10000, FileSize: 0x40, MemSize: 0x40, Align: 0x1000},
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Offset: 0x10, VAddr: 0x12010, FileSize: 0x20, MemSize: 0x1000, Align: 0x1000},
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Offset: 0x20, VAddr: 0x14020, FileSize: 1 << 40, MemSize: 1 << 40, Align: 0x1000},
		{Type: elf.PT_LOAD, Flags: elf.PF_R, Offset: 1 << 41, VAddr: 1 << 42, FileSize: 1 << 40, MemSize: 1 << 40, Align: 0x1000},
	}}
	b := s.bytes()
	f, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	if off, n, ok := f.FileOffset(0x2018); off != 0x18 || n != 0x18 || !ok {
		t.Errorf("FileOffset = %#x, %#x, %v", off, n, ok)
	}
	if _, _, ok := f.FileOffset(0x2030); ok {
		t.Error("zero-initialised memory has a file offset")
	}
	if off, n, ok := f.FileOffset(0x4020); off != 0x20 || n != uint64(len(b))-0x20 || !ok {
		t.Errorf("of a segment that claims more than the file: FileOffset = %#x, %#x, %v", off, n, ok)
	}
	if _, _, ok := f.FileOffset(1<<42 - 0x10000); ok {
		t.Error("a segment behind the end of the file has a file offset")
	}
	if _, _, ok := f.FileOffset(^uint64(0)); ok {
		t.Error("an address beyond the address space has a file offset")
	}
	p := make([]byte, 8)
	if n, err := f.ReadAtRVA(p, 4); n != 8 || err != nil || !bytes.Equal(p, b[4:12]) {
		t.Errorf("ReadAtRVA = %d, %v, %x", n, err, p)
	}
	if n, err := f.ReadAtRVA(p, 0x202c); n != 4 || err == nil || !bytes.Equal(p[:4], b[0x2c:0x30]) {
		t.Errorf("ReadAtRVA at the end = %d, %v", n, err)
	}
}

// A kernel of x86-64 before 6.15: the per-CPU segment lies at address 0.
func TestVmlinux(t *testing.T) {
	const text = 0xffffffff81000000
	s := elfSpec{is64: true, typ: elf.ET_EXEC, machine: elf.EM_X86_64, segments: []Segment{
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Offset: 0x200000, VAddr: text, FileSize: 0x1000000, MemSize: 0x1000000, Align: 0x200000},
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Offset: 0x2a00000, VAddr: 0, FileSize: 0x30000, MemSize: 0x30000, Align: 0x200000},
	}}
	s.sections = append([]sectionSpec{
		{name: ".text", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: text},
		{name: ".data..percpu", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_WRITE},
		{name: ".init.text", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: text + 0x800000},
	}, s.symbols(5,
		Symbol{Name: "_text", Value: 0x99, Bind: elf.STB_LOCAL, Section: 1},
		Symbol{Name: "_stext", Value: text + 0x40, Bind: elf.STB_GLOBAL, Section: 1},
		Symbol{Name: "_text", Bind: elf.STB_GLOBAL, Section: elf.SHN_UNDEF},
		Symbol{Name: "_text", Value: text, Bind: elf.STB_GLOBAL, Section: 1})...)
	f, err := open(s.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !f.ELF.Kernel || f.Base != text {
		t.Errorf("kernel %v, base %#x, want %#x", f.ELF.Kernel, f.Base, uint64(text))
	}
	if rva, ok := f.RVA(0x200040); rva != 0x40 || !ok {
		t.Errorf("RVA = %#x, %v", rva, ok)
	}
	if _, ok := f.RVA(0x2a00010); ok {
		t.Error("a per-CPU variable has an RVA below the base")
	}
	var names []string
	for _, sec := range f.Sections {
		names = append(names, fmt.Sprintf("%s@%#x,%v", sec.Name, sec.RVA, sec.Exec))
	}
	if got := strings.Join(names, " "); got != ".text@0x0,true .init.text@0x800000,true" {
		t.Errorf("sections %s", got)
	}
	sym, ok, err := f.ELF.Symbol("_stext")
	if !ok || err != nil || sym.Value != text+0x40 {
		t.Errorf("_stext = %+v, %v, %v", sym, ok, err)
	}
	if _, ok, err := f.ELF.Symbol("text"); ok || err != nil {
		t.Errorf("tail of a name found: %v, %v", ok, err)
	}

	// Without the symbol the segments must do; the module has no addresses.
	s.sections = s.sections[:3]
	if f, err = open(s.bytes()); err != nil || f.ELF.Kernel || f.Base != 0 {
		t.Errorf("stripped: %v", err)
	}
	s.typ, s.segments = elf.ET_REL, nil
	f, err = open(s.bytes())
	if err != nil || !f.ELF.Relocatable() || len(f.Sections) != 0 {
		t.Fatalf("module: %v", err)
	}
	if _, ok := f.RVA(0x100); ok {
		t.Error("a module has an RVA")
	}
}

func TestELFSymbols(t *testing.T) {
	want := []Symbol{
		{Name: "", Section: elf.SHN_UNDEF},
		{Name: "main", Value: 0x1040, Size: 12, Type: elf.STT_FUNC, Bind: elf.STB_GLOBAL, Section: 1},
		{Name: "table", Value: 0x2000, Size: 64, Type: elf.STT_OBJECT, Bind: elf.STB_LOCAL, Section: elf.SHN_ABS},
	}
	for _, s := range []elfSpec{{}, {is64: true}, {big: true}, {is64: true, big: true}} {
		s.sections = s.symbols(2, want[1:]...)
		f, err := open(s.bytes())
		if err != nil {
			t.Fatal(err)
		}
		var got []Symbol
		for sym, err := range f.ELF.Symbols() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, sym)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("64=%v big=%v: symbols differ (-want +got):\n%s", s.is64, s.big, diff)
		}
	}
}

func TestELFDefects(t *testing.T) {
	base := elfSpec{is64: true, typ: elf.ET_DYN, machine: elf.EM_X86_64, segments: []Segment{{Type: elf.PT_LOAD, FileSize: 0x10}}}
	base.sections = append([]sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: base.note("GNU", 3, make([]byte, 20), 4)}},
		base.symbols(3, Symbol{Name: "a", Section: 1})...)
	valid := base.bytes()
	set := func(off int, v ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[off:], v); return b }
	}
	noteAt := 64 + 2*56
	shoff := int(base.order().AppendByteOrder.(interface{ Uint64([]byte) uint64 }).Uint64(valid[0x28:]))
	for _, tc := range []struct {
		name    string
		change  func([]byte) []byte
		kind    error
		offset  int64
		warning bool // a warning, not an error
	}{
		{"empty", func(b []byte) []byte { return nil }, binfmt.ErrMagic, 0, false},
		{"another format", set(0, 'P'), binfmt.ErrMagic, 0, false},
		{"identification cut", func(b []byte) []byte { return b[:9] }, binfmt.ErrTruncated, 0, false},
		{"header cut", func(b []byte) []byte { return b[:40] }, binfmt.ErrTruncated, 0, false},
		{"class", set(4, 3), binfmt.ErrCorrupt, 4, false},
		{"byte order", set(5, 0), binfmt.ErrCorrupt, 5, false},
		{"version", set(6, 2), binfmt.ErrVersion, 6, false},
		{"program header size", set(0x36, 55), binfmt.ErrCorrupt, 0x36, false},
		{"program headers beyond the file", set(0x20, 0, 0, 0, 0, 0, 0, 0, 0x80), binfmt.ErrTruncated, int64(len(valid)), false},
		{"count in section 0 of no table", func(b []byte) []byte { return set(0x28, make([]byte, 8)...)(set(0x38, 0xff, 0xff)(b)) }, binfmt.ErrCorrupt, 0x38, false},
		{"section header size", set(0x3a, 63), binfmt.ErrCorrupt, 0x3a, true},
		{"section table beyond the file", set(0x2d, 1), binfmt.ErrTruncated, int64(len(valid)), true},
		{"section count", func(b []byte) []byte { return set(shoff+0x20, 0, 0, 0x11)(set(0x3c, 0, 0)(b)) }, binfmt.ErrLimit, int64(shoff), true},
		{"name table index", set(0x3e, 9), binfmt.ErrCorrupt, 0x3e, true},
		{"note beyond its segment", set(noteAt+4, 0xff, 0xff, 0xff, 0xff), binfmt.ErrTruncated, int64(noteAt + 16), true},
		{"long build id", func(b []byte) []byte { return longBuildID() }, binfmt.ErrLimit, int64(64 + 56 + 4), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := open(tc.change(append([]byte(nil), valid...)))
			if tc.warning {
				if err != nil || len(f.Warnings) == 0 || f.WarningCount < len(f.Warnings) {
					t.Fatalf("%v, want a warning", err)
				}
				err = f.Warnings[0]
			}
			var e *binfmt.Error
			if !errors.As(err, &e) || !errors.Is(err, tc.kind) || e.Offset != tc.offset {
				t.Errorf("got %v; want %v at %#x", err, tc.kind, tc.offset)
			}
		})
	}

	t.Run("symbol name", func(t *testing.T) {
		b := append([]byte(nil), valid...)
		f, err := open(b)
		if err != nil {
			t.Fatal(err)
		}
		at := int64(f.ELF.symbolTable().offset) + 24
		b[at+2] = 1
		for _, err = range f.ELF.Symbols() {
		}
		var e *binfmt.Error
		if !errors.As(err, &e) || !errors.Is(err, binfmt.ErrCorrupt) || e.Offset != at {
			t.Errorf("got %v; want %v at %#x", err, binfmt.ErrCorrupt, at)
		}
	})
}

func longBuildID() []byte {
	s := elfSpec{is64: true}
	s.sections = []sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: s.note("GNU", 3, make([]byte, 65), 4)}}
	return s.bytes()
}
