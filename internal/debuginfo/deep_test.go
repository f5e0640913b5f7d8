package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

// levels are far more calls inside each other than any compiler makes.
const levels = 10_000

// height is how many levels a tree of inlined calls has.
func height(list []program.Inline) int {
	n := 0
	for ; len(list) > 0; list = list[0].Children {
		n++
	}
	return n
}

// TestDeepDWARF reads a function with 10,000 levels of inlined calls: what is
// not too deep is kept, and the unit counts as broken.
func TestDeepDWARF(t *testing.T) {
	const (
		addr, data4               = 0x01, 0x06
		lowpc, highpc             = 0x11, 0x12
		unitCode, function, inner = 1, 2, 3
	)
	var abbrev []byte
	for _, a := range []struct{ code, tag byte }{{unitCode, 0x11}, {function, 0x2e}, {inner, 0x1d}} {
		abbrev = append(abbrev, a.code, a.tag, 1, lowpc, addr, highpc, data4, 0, 0)
	}
	abbrev = append(abbrev, 0)
	body := []byte{4, 0, 0, 0, 0, 0, 8} // version, abbreviations, size of addresses
	entry := func(code byte) {
		body = binary.LittleEndian.AppendUint64(append(body, code), 0x1000)
		body = binary.LittleEndian.AppendUint32(body, 0x100)
	}
	entry(unitCode)
	entry(function)
	for range levels {
		entry(inner)
	}
	body = append(body, make([]byte, levels+2)...)
	data, err := dwarf.New(abbrev, nil, nil, append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...), nil, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	code := program.Range{Start: 0x1000, End: 0x1100}
	info := &Info{img: &image.File{}, dwarf: data, loaded: map[int]*unit{}, code: []program.Range{code}}
	cu, err := data.Reader().Next()
	if err != nil {
		t.Fatal(err)
	}
	info.addUnit(cu, nil)
	info.index.build()
	fn := program.Function{Ranges: []program.Range{code}}
	if n := height(info.Inlines(fn)); n > maxInlineDepth {
		t.Errorf("%d levels", n)
	}
	if n := len(info.Stack(0x1000)); n > maxInlineDepth+1 {
		t.Errorf("%d frames", n)
	}
	if info.Stats().Broken != 1 || len(info.Problems()) != 1 || !strings.Contains(info.Problems()[0].Error(), "levels deep") {
		t.Errorf("%+v, %v", info.Stats(), info.Problems())
	}
}

// TestDeepPDB does so with a PDB.
func TestDeepPDB(t *testing.T) {
	symbols := msftest.Proc(4, uint16(pdb.SymGProc32), 1, 0, 0x100, "deep")
	symbols = symbols[:len(symbols)-4] // its end comes behind the calls
	site := msftest.Record(uint16(pdb.SymInlineSite), append(make([]byte, 8), 0, 0x10, 0, 0, 3, 0, 4, 0x20))
	for range levels {
		symbols = append(symbols, site...)
	}
	for range levels {
		symbols = append(symbols, msftest.Record(uint16(pdb.SymInlineSiteEnd), nil)...)
	}
	symbols = append(symbols, msftest.Record(6, nil)...)
	names, off := msftest.NewNames("a.c")
	p := msftest.PDB{
		Machine: 0x8664, Names: names,
		Sections:      []msftest.Section{{Name: ".text", VirtualSize: 0x1000, VirtualAddress: 0x1000, Characteristics: 0x60000020}},
		Modules:       []msftest.Module{{Name: "a.obj", Object: "a.obj", Symbols: symbols, C13: append(msftest.Checksums(off[0]), msftest.Lines(1, 0, 0x100, false, msftest.LineBlock{Lines: []msftest.LineEntry{{Line: 1}}})...)}},
		Contributions: []msftest.Contribution{{Section: 1, Size: 0x100}},
	}
	path := filepath.Join(t.TempDir(), "deep.pdb")
	if err := os.WriteFile(path, p.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := pdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	code := program.Range{Start: 0x1000, End: 0x1100}
	info := &Info{img: &image.File{}, pdb: file, loaded: map[int]*unit{}, code: []program.Range{code}}
	defer info.Close()
	u, err := info.loadModule(0)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := u.procs.at(0x1000)
	if !ok {
		t.Fatal("no function")
	}
	if n := height(s.inlines([]program.Range{code})); n != maxInlineDepth {
		t.Errorf("%d levels, want %d", n, maxInlineDepth)
	}
	if problems := info.Problems(); len(problems) != 1 || !strings.Contains(problems[0].Error(), "levels deep") {
		t.Errorf("problems %v", problems)
	}
}
