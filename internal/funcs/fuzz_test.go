package funcs

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/image"
)

// sampleFiles are the sample programs, as far as they are there.
func sampleFiles() []string {
	elf, _ := filepath.Glob(filepath.Join(corpus.Dir(), "programs", "*.elf"))
	pe, _ := filepath.Glob(filepath.Join(corpus.Dir(), "programs", "pe", "*.exe"))
	return append(elf, pe...)
}

func FuzzEHFrame(f *testing.F) {
	f.Add([]byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00\x14\x00\x00\x00\x1c\x00\x00\x00\x10\x00\x00\x00\x20\x00\x00\x00"), uint64(0x1000))
	for _, name := range sampleFiles() {
		if img, err := image.Open(name); err == nil && img.ELF != nil {
			data, rva := (&finder{img: img}).sectionData(".eh_frame")
			f.Add(data, img.Base+rva)
			img.Close()
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, va uint64) {
		spans, defects := ehFrame(data, va)
		if len(spans) > len(data)/8 || len(defects) > len(data) {
			t.Fatalf("%d entries and %d defects in %d bytes", len(spans), len(defects), len(data))
		}
		for _, s := range spans {
			if s.size == 0 {
				t.Fatalf("empty entry at %#x", s.start)
			}
		}
	})
}

func FuzzPdata(f *testing.F) {
	f.Add(words(0x10, 0x20, 0x100, 0x20, 0x28, 0x104), words(0x00000001, 0x00030021, 0, 0, 0x10, 0x20, 0x100), false)
	f.Add(words(0x1000, 0x41, 0x1040, 0x12, 0x1050, 0x100), words(0x08400008, 0, 0xe5), true)
	f.Fuzz(func(t *testing.T, entries, info []byte, arm bool) {
		decode, size := pdataAMD64, runtimeFunction
		if arm {
			decode, size = pdataARM64, 8
		}
		list, _ := decode(entries, unwindImage(0x100, info))
		if len(list) > len(entries)/size {
			t.Fatalf("%d entries in %d bytes", len(list), len(entries))
		}
		for i, u := range joinFragments(list) {
			if u.end <= u.start {
				t.Fatalf("entry %d: %+v", i, u)
			}
		}
	})
}

func FuzzPclntab(f *testing.F) {
	f.Add(smallPclntab())
	f.Fuzz(func(t *testing.T, data []byte) {
		if !isPclntab(data) {
			return
		}
		funcs, err := newPclntab(data, 0x5000).functions()
		if len(funcs) > len(data)/8 || err != nil && funcs != nil && len(funcs) > len(data)/8 {
			t.Fatalf("%d functions in %d bytes", len(funcs), len(data))
		}
		for _, fn := range funcs {
			if err == nil && fn.end < fn.start {
				t.Fatalf("%q ends before it starts", fn.name)
			}
		}
	})
}

// smallPclntab is a table of two functions.
func smallPclntab() []byte {
	const names, table = pclnHeader, pclnHeader + 16
	b := words(pclnMagic120, 0x08010000)
	for _, w := range []uint32{2, 1, 0x1000, names, names, names, names, table} {
		b = append(b, words(w, 0)...)
	}
	b = append(b, "\x00main.a\x00main.b\x00\x00"[:16]...)
	return append(b, words(0, 20, 0x40, 28, 0x90, 0, 1, 0x40, 8)...)
}

func TestSmallPclntab(t *testing.T) {
	data := smallPclntab()
	if !isPclntab(data) {
		t.Fatal("no table")
	}
	got, err := newPclntab(data, 0).functions()
	if err != nil || len(got) != 2 || got[0] != (goFunc{0, 0x40, "main.a"}) || got[1] != (goFunc{0x40, 0x90, "main.b"}) {
		t.Errorf("functions %+v, %v", got, err)
	}
}

func FuzzFind(f *testing.F) {
	for _, name := range sampleFiles() {
		if b, err := os.ReadFile(name); err == nil && len(b) < 1<<16 { // larger ones are slow to mutate
			f.Add(b)
		}
	}
	f.Fuzz(exercise)
}

// exercise finds the functions of an image that may be damaged.
func exercise(t *testing.T, b []byte) {
	img, err := image.NewFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	fns, report, err := Find(img, Options{})
	if err != nil {
		return
	}
	report.Problems = nil
	checkInvariants(t, img, fns, report)
}

// Changed and missing bytes where the structures are, and anywhere.
func TestDamagedImages(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, name := range sampleFiles() {
		valid, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			exercise(t, valid[:rnd.IntN(len(valid))])
			b := bytes.Clone(valid)
			for range 1 + rnd.IntN(8) {
				at := rnd.IntN(len(b))
				if rnd.IntN(2) == 0 {
					at = rnd.IntN(min(len(b), 4096)) // headers
				}
				b[at] = byte(rnd.Uint32())
			}
			exercise(t, b)
		}
	}
}

// Objects and other machines are refused.
func TestUnsupportedImages(t *testing.T) {
	dir := t.TempDir()
	src, obj := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.o")
	if err := os.WriteFile(src, []byte("int f(void) { return 1; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	clang := corpus.Tool(t, "clang-19", "clang")
	for _, target := range []string{"x86_64-linux-gnu", "i686-linux-gnu", "powerpc64-linux-gnu"} {
		run(t, clang, "--target="+target, "-c", "-o", obj, src)
		img, err := image.Open(obj)
		if err != nil {
			t.Fatal(err)
		}
		fns, report, err := Find(img, Options{})
		if err == nil || fns != nil || report.Pieces != [numSources]int{} {
			t.Errorf("%s: %d functions, %v", target, len(fns), err)
		}
		img.Close()
	}
}
