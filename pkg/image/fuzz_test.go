package image

import (
	"debug/elf"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// exercise opens b as an image and uses all that the result offers.
func exercise(t *testing.T, b []byte) {
	f, err := open(b)
	if err != nil {
		if f != nil {
			t.Fatalf("image beside error %v", err)
		}
		return
	}
	if (f.ELF == nil) == (f.PE == nil) {
		t.Fatal("neither or both of ELF and PE")
	}
	id, source := f.ID()
	if source == IDNone && id != (ID{}) {
		t.Fatalf("identity %v from %v", id, source)
	}
	p := make([]byte, 16)
	for _, off := range []uint64{0, 0x400, uint64(len(b)) / 2, uint64(len(b)), ^uint64(0)} {
		rva, ok := f.RVA(off)
		if !ok {
			continue
		}
		if _, _, ok := f.FileOffset(rva); ok {
			if n, err := f.ReadAtRVA(p, rva); n < len(p) && err == nil {
				t.Fatalf("%d bytes without error at %#x", n, rva)
			}
		}
	}
	if f.ELF != nil {
		n := 0
		for _, err := range f.ELF.Symbols() {
			if n++; err != nil {
				break
			}
		}
		if n > len(b)/16+1 {
			t.Fatalf("%d symbols in %d bytes", n, len(b))
		}
		_, _, _ = f.ELF.Symbol("main")
	}
}

func seeds(t testing.TB) [][]byte {
	var out [][]byte
	for _, pattern := range []string{"minivm.elf", "wordstat.elf", "pe/*.exe"} {
		files, _ := filepath.Glob(filepath.Join(corpus.Dir(), "programs", pattern))
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b)
		}
	}
	for _, s := range []elfSpec{{}, {is64: true}, {big: true}, {is64: true, big: true, extended: true}} {
		s.segments = []Segment{{Type: elf.PT_LOAD, Flags: elf.PF_X, FileSize: 0x100, Align: 0x1000}}
		s.sections = append([]sectionSpec{
			{name: ".init.text", typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: append(abiTag(s), s.note("GNU", 3, []byte("12345678"), 4)...)},
		}, s.symbols(3, Symbol{Name: "main", Section: 1}, Symbol{Name: "_text", Section: 1})...)
		out = append(out, s.bytes())
	}
	return append(out, testPE(false).bytes(), testPE(true).bytes())
}

func FuzzNewFile(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(exercise)
}

// Truncations and flipped bytes where the structures are dense: the headers
// of the small files, and random places of all.
func TestDamagedFiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, valid := range seeds(t) {
		for n := range min(len(valid), 0x800) {
			exercise(t, valid[:n])
		}
		b := append([]byte(nil), valid...)
		for range 2000 {
			at := rnd.IntN(len(b))
			if rnd.IntN(4) > 0 {
				at = rnd.IntN(min(len(b), 0x400))
			}
			old := b[at]
			b[at] = byte(rnd.Uint32())
			exercise(t, b)
			if rnd.IntN(3) > 0 {
				b[at] = old
			}
			if rnd.IntN(50) == 0 {
				copy(b, valid)
			}
		}
	}
}
