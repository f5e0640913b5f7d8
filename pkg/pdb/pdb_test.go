package pdb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

func open(b []byte) (*pdb.File, error) { return pdb.NewFile(bytes.NewReader(b), int64(len(b))) }

func mustOpen(t testing.TB, b []byte) *pdb.File {
	t.Helper()
	f, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func guid(t testing.TB, s string) binfmt.GUID {
	t.Helper()
	g, err := binfmt.ParseGUID(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// collect returns all that a sequence yields.
func collect[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// The cases of public reports: a PDB whose info age was raised after linking,
// and a server that returned a later age than the image has.
func TestIdentity(t *testing.T) {
	ntdll, wntdll := guid(t, "168bc37b-40eb-c0d8-1526-21ee552a7823"), guid(t, "{971F98E5-CE60-41FF-B2D7-235BBEB34578}")
	for _, tc := range []struct {
		name string
		pdb  msftest.PDB
		want pdb.Identity
	}{
		{"info age raised", msftest.PDB{GUID: ntdll, Age: 3, DBIAge: 1}, pdb.Identity{GUID: ntdll, Age: 1, InfoAge: 3, DBIAge: 1, HasDBI: true}},
		{"later build", msftest.PDB{GUID: wntdll, Age: 4, DBIAge: 4}, pdb.Identity{GUID: wntdll, Age: 4, InfoAge: 4, DBIAge: 4, HasDBI: true}},
		{"types only", msftest.PDB{GUID: ntdll, Age: 2, NoDBI: true}, pdb.Identity{GUID: ntdll, Age: 2, InfoAge: 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := mustOpen(t, tc.pdb.Bytes()).Identity()
			if err != nil || got != tc.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func TestStreams(t *testing.T) {
	for _, blockSize := range []int{512, 1024, 4096, 65536} {
		t.Run(fmt.Sprint(blockSize), func(t *testing.T) {
			var streams [][]byte
			for i, size := range []int{0, 1, blockSize - 1, blockSize, blockSize + 1, 5*blockSize + 7, 3} {
				b := bytes.Repeat([]byte{byte(i)}, size)
				for j := 0; j < size; j += 97 {
					b[j] = byte(j / 97)
				}
				streams = append(streams, b)
			}
			streams = append(streams, nil)
			b := msftest.Build(blockSize, streams)
			f := mustOpen(t, b)
			if f.BlockSize() != blockSize || f.NumBlocks() != len(b)/blockSize || f.NumStreams() != len(streams) {
				t.Errorf("%d blocks of %d, %d streams", f.NumBlocks(), f.BlockSize(), f.NumStreams())
			}
			for i, want := range streams {
				s, err := f.OpenStream(i)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(io.NewSectionReader(s, 0, s.Size()))
				if err != nil || !bytes.Equal(got, want) || f.StreamSize(i) != int64(len(want)) {
					t.Errorf("stream %d: %d bytes, %v; want %d", i, len(got), err, len(want))
				}
				// Across every block boundary, and beyond the end.
				for off := int64(blockSize) - 1; off < s.Size(); off += int64(blockSize) {
					p := make([]byte, blockSize+2)
					n, err := s.ReadAt(p, off)
					rest := want[off:]
					if n != min(len(p), len(rest)) || !bytes.Equal(p[:n], rest[:n]) || (n < len(p)) != (err == io.EOF) {
						t.Errorf("stream %d: ReadAt(%d) = %d, %v", i, off, n, err)
					}
				}
				if n, err := s.ReadAt(make([]byte, 1), s.Size()); n != 0 || err != io.EOF {
					t.Errorf("stream %d: ReadAt the end = %d, %v", i, n, err)
				}
				if _, err := s.ReadAt(make([]byte, 1), -1); err == nil {
					t.Errorf("stream %d: ReadAt(-1) succeeded", i)
				}
			}
			if f.StreamSize(99) != 0 || f.StreamSize(-1) != 0 {
				t.Error("a stream that is not there has a size")
			}
			if _, err := f.OpenStream(len(streams)); err == nil {
				t.Error("a stream that is not there opened")
			}
		})
	}
}

// A directory of several blocks, whose block numbers fill several blocks too.
func TestLargeDirectory(t *testing.T) {
	streams := make([][]byte, 40_000)
	for i := range streams {
		streams[i] = []byte{}
	}
	streams[39_999] = []byte("last")
	f := mustOpen(t, msftest.Build(512, streams))
	s, err := f.OpenStream(39_999)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4)
	if n, err := s.ReadAt(p, 0); n != 4 || err != nil || string(p) != "last" {
		t.Errorf("%q, %v", p, err)
	}
}

func TestInfo(t *testing.T) {
	p := msftest.PDB{Age: 7, GUID: binfmt.GUID{1, 2, 3}, Named: []msftest.Stream{
		{Name: "/src/headerblock", Data: []byte("x")}, {Name: "/LinkInfo"}, {Name: "a", Data: []byte("spd")}}}
	f := mustOpen(t, p.Bytes())
	got, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	want := pdb.Info{Version: 20000404, Signature: 1, Age: 7, GUID: p.GUID, Features: []uint32{pdb.FeatureVC140},
		Named: []pdb.NamedStream{{"/LinkInfo", 6}, {"/src/headerblock", 5}, {"a", 7}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	if got.Minimal() {
		t.Error("a full PDB counts as minimal")
	}
	if (&pdb.Info{Features: []uint32{pdb.FeatureMinimalDebugInfo}}).Minimal() == false {
		t.Error("a minimal PDB does not count as such")
	}
	s, ok, err := f.NamedStream("a")
	if !ok || err != nil || s.Size() != 3 {
		t.Errorf("stream a: %v, %v", ok, err)
	}
	if _, ok, err := f.NamedStream("b"); ok || err != nil {
		t.Errorf("stream b: %v, %v", ok, err)
	}
}

// program is a PDB with all that this package reads.
func program() msftest.PDB {
	names, off := msftest.NewNames(`c:\src\a.c`, `c:\src\a.h`, "b.c")
	first := msftest.Proc(4, 0x1110, 1, 0x10, 0x40, "main")
	second := append(first, msftest.SepCode(2, 0x8, 0x18, 1, 0x10)...)
	second = append(second, msftest.Record(0x1012, make([]byte, 28))...) // S_FRAMEPROC
	second = append(second, msftest.Proc(4+len(second), 0x1146, 1, 0x50, 0x20, "helper")...)
	return msftest.PDB{
		BlockSize: 512, Age: 3, DBIAge: 1, Machine: 0x8664,
		GUID: binfmt.GUID{0x7b, 0xc3, 0x8b, 0x16},
		Sections: []msftest.Section{
			{Name: ".text", VirtualSize: 0x1000, VirtualAddress: 0x1000, Characteristics: 0x60000020},
			{Name: ".cold", VirtualSize: 0x800, VirtualAddress: 0x3000, Characteristics: 0x60000020},
		},
		Modules: []msftest.Module{
			{Name: "a.obj", Object: "lib.lib", Symbols: second, C13: append(msftest.Checksums(off[0], off[1]), append(
				// Two files that interleave.
				msftest.Lines(1, 0x10, 0x40, true,
					msftest.LineBlock{File: 0, Lines: []msftest.LineEntry{{Offset: 0, Line: 10, Column: 1}, {Offset: 0x20, Line: 12, Column: 5}}},
					msftest.LineBlock{File: 8, Lines: []msftest.LineEntry{{Offset: 0x8, Line: 3, Column: 9}, {Offset: 0x10, Line: pdb.LineNeverStepInto, Column: 0}}}),
				msftest.Lines(1, 0x50, 0x20, false, msftest.LineBlock{File: 8, Lines: []msftest.LineEntry{{Offset: 0, Line: 7, Column: 0}}})...)...)},
			{Name: "import"},
			{Name: "b.obj", Object: "b.obj", Symbols: msftest.Proc(4, 0x1110, 7, 0x10, 4, "nowhere"),
				C13: append(msftest.Lines(2, 0x40, 4, false, msftest.LineBlock{File: 0, Lines: []msftest.LineEntry{{Offset: 0, Line: 1, Column: 0}}}), msftest.Checksums(off[2])...)},
		},
		Globals: append(append(msftest.Public(1, 0x10, pdb.PublicFunction|pdb.PublicCode, "main"), msftest.Record(0x1125, make([]byte, 14))...),
			msftest.Public(3, 0x10, 0, "__abs")...),
		Contributions: []msftest.Contribution{{Section: 1, Offset: 0x10, Size: 0x60}, {Section: 2, Offset: 8, Size: 0x3c, Module: 2}},
		Names:         names,
	}
}

func TestProgram(t *testing.T) {
	f := mustOpen(t, program().Bytes())
	at := func(section uint16, offset, rva uint32) pdb.Address {
		return pdb.Address{Section: section, Offset: offset, RVA: rva, Mapped: rva != 0}
	}
	modules, err := f.Modules()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range modules {
		names = append(names, fmt.Sprintf("%s<%s>%v", m.Name, m.Object, m.Stream >= 0))
	}
	if diff := cmp.Diff([]string{"a.obj<lib.lib>true", "import<>false", "b.obj<b.obj>true"}, names); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	d, err := f.DBI()
	if err != nil || d.Machine != 0x8664 || d.Age != 1 || d.Stripped || d.Incremental || d.GlobalsStream != 0xffff {
		t.Errorf("DBI %+v, %v", d, err)
	}
	m, err := f.Addresses()
	if err != nil || len(m.Sections) != 2 || m.Rearranged() ||
		m.Sections[1] != (pdb.Section{Name: ".cold", VirtualSize: 0x800, VirtualAddress: 0x3000, Characteristics: 0x60000020}) {
		t.Errorf("sections %+v, %v", m, err)
	}

	procs := collect(t, f.Procs())
	// The second function stands behind the first, its end and two more records.
	second := int64(4 + len(msftest.Proc(4, 0x1110, 1, 0, 0, "main")) + len(msftest.SepCode(0, 0, 0, 0, 0)) + 32)
	wantProcs := []pdb.Proc{
		{Address: at(1, 0x10, 0x1010), Name: "main", Module: 0, Kind: pdb.SymGProc32, Length: 0x40, DebugStart: 1, DebugEnd: 0x3f, Pos: 4},
		{Address: at(1, 0x50, 0x1050), Name: "helper", Module: 0, Kind: pdb.SymLProc32ID, Length: 0x20, DebugStart: 1, DebugEnd: 0x1f, Pos: second},
		{Address: at(7, 0x10, 0), Name: "nowhere", Module: 2, Kind: pdb.SymGProc32, Length: 4, DebugStart: 1, DebugEnd: 3, Pos: 4},
	}
	if diff := cmp.Diff(wantProcs, procs); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	if procs[0].Local() || !procs[1].Local() {
		t.Errorf("functions %+v", procs)
	}
	if diff := cmp.Diff([]pdb.SepCode{{Address: at(2, 8, 0x3008), Length: 0x18, Parent: at(1, 0x10, 0x1010)}}, collect(t, f.SepCodes())); diff != "" {
		t.Errorf("separated code (-want +got):\n%s", diff)
	}
	wantPublics := []pdb.Public{{at(1, 0x10, 0x1010), "main", 3}, {at(3, 0x10, 0), "__abs", 0}}
	if diff := cmp.Diff(wantPublics, collect(t, f.Publics())); diff != "" {
		t.Errorf("publics (-want +got):\n%s", diff)
	}
	wantContributions := []pdb.Contribution{
		{Section: 1, Offset: 0x10, Size: 0x60, Characteristics: 0x60000020},
		{Section: 2, Offset: 8, Size: 0x3c, Characteristics: 0x60000020, Module: 2},
	}
	if diff := cmp.Diff(wantContributions, collect(t, f.Contributions())); diff != "" {
		t.Errorf("contributions (-want +got):\n%s", diff)
	}
	line := func(module int, a pdb.Address, length uint32, file string, n uint32, column uint16) pdb.Line {
		return pdb.Line{Address: a, Length: length, Module: module, File: file, Line: n, EndLine: n, Column: column, Statement: true}
	}
	wantLines := []pdb.Line{
		line(0, at(1, 0x10, 0x1010), 8, `c:\src\a.c`, 10, 1),
		line(0, at(1, 0x18, 0x1018), 8, `c:\src\a.h`, 3, 9),
		line(0, at(1, 0x20, 0x1020), 0x10, `c:\src\a.h`, pdb.LineNeverStepInto, 0),
		line(0, at(1, 0x30, 0x1030), 0x20, `c:\src\a.c`, 12, 5),
		line(0, at(1, 0x50, 0x1050), 0x20, `c:\src\a.h`, 7, 0),
		line(2, at(2, 0x40, 0x3040), 4, "b.c", 1, 0),
	}
	if diff := cmp.Diff(wantLines, collect(t, f.Lines())); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	// All sequences end when they are told to.
	for range f.Procs() {
		break
	}
	for range f.Lines() {
		break
	}
	for range f.Publics() {
		break
	}
	for range f.Contributions() {
		break
	}
}

func TestAddressMap(t *testing.T) {
	p := program()
	le := binary.LittleEndian
	for _, pair := range [][2]uint32{{0x1000, 0x5000}, {0x1050, 0}, {0x1070, 0x1000}, {0x3000, 0x4000}} {
		p.OmapFromSrc = le.AppendUint32(le.AppendUint32(p.OmapFromSrc, pair[0]), pair[1])
	}
	m, err := mustOpen(t, p.Bytes()).Addresses()
	if err != nil || !m.Rearranged() {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, tc := range []struct {
		section     uint16
		offset, rva uint32
	}{
		{1, 0, 0x5000}, {1, 0x10, 0x5010}, {1, 0x4f, 0x504f}, {1, 0x50, 0}, {1, 0x70, 0x1000}, {2, 8, 0x4008}, {2, 0x801, 0},
	} {
		if got, ok := m.RVA(tc.section, tc.offset); got != tc.rva || ok != (tc.rva != 0) {
			t.Errorf("RVA(%d:%#x) = %#x, %v; want %#x", tc.section, tc.offset, got, ok, tc.rva)
		}
	}
	m, err = mustOpen(t, program().Bytes()).Addresses()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		section     uint16
		offset, rva uint32
	}{
		{0, 0, 0}, {1, 0, 0x1000}, {1, 0x1000, 0x2000}, {1, 0x1001, 0}, {2, 0, 0x3000}, {3, 0, 0}, {0xffff, 0, 0},
	} {
		if got, ok := m.RVA(tc.section, tc.offset); got != tc.rva || ok != (tc.rva != 0) {
			t.Errorf("RVA(%d:%#x) = %#x, %v; want %#x", tc.section, tc.offset, got, ok, tc.rva)
		}
	}
}

// Records larger than the reader's window, one after the other.
func TestLongRecords(t *testing.T) {
	p := msftest.PDB{Modules: []msftest.Module{{Name: "m"}}}
	var want []int
	for i, size := range []int{65532, 0, 65528, 4, 65532, 65532} {
		p.Modules[0].Symbols = append(p.Modules[0].Symbols, msftest.Record(0x1124, bytes.Repeat([]byte{byte(i)}, size))...)
		want = append(want, size)
	}
	r, err := mustOpen(t, p.Bytes()).ModuleSymbols(0)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for r.Next() {
		rec := r.Record()
		for _, b := range rec.Data {
			if b != byte(len(got)) {
				t.Fatalf("record %d at %d: wrong data", len(got), rec.Pos)
			}
		}
		got = append(got, len(rec.Data))
	}
	if diff := cmp.Diff(want, got); diff != "" || r.Err() != nil {
		t.Errorf("%v; sizes (-want +got):\n%s", r.Err(), diff)
	}
}

func TestWithoutDebugInfo(t *testing.T) {
	f := mustOpen(t, msftest.PDB{}.Bytes())
	if n := len(collect(t, f.Procs())) + len(collect(t, f.Publics())) + len(collect(t, f.Lines())) + len(collect(t, f.Contributions())); n != 0 {
		t.Errorf("%d things in an empty PDB", n)
	}
	m, err := f.Addresses()
	if err != nil || len(m.Sections) != 0 {
		t.Errorf("sections %v, %v", m, err)
	}
}
