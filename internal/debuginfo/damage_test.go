package debuginfo

import (
	"bytes"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// exercise asks for everything that the debug information of an image has,
// which may be damaged.
func exercise(t *testing.T, b []byte, debugPath string) {
	img, err := image.NewFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	info, err := Open(img, "", debugPath)
	if err != nil {
		return
	}
	defer info.Close()
	for n := range info.sources {
		u := info.load(n)
		if u == nil {
			continue
		}
		at := uint32(0)
		for _, r := range u.rows {
			if r.Start < at || r.End <= r.Start {
				t.Fatalf("unit %d: row %+v behind %#x", n, r, at)
			}
			at = r.End
		}
	}
	for _, e := range img.Code() {
		if e.End > 1<<24 {
			continue
		}
		for rva := e.Start; rva < e.End; rva += 64 {
			info.Stack(uint32(rva))
			info.Unit(uint32(rva))
			fn := program.Function{Ranges: []program.Range{{Start: uint32(rva), End: uint32(rva) + 64}}}
			checkTree(t, info.Inlines(fn), fn.Ranges)
		}
	}
}

// checkTree makes sure that calls lie in what is around them, in order.
func checkTree(t *testing.T, list []program.Inline, around []program.Range) {
	t.Helper()
	for i, n := range list {
		if len(n.Ranges) == 0 {
			t.Fatalf("%s has no code", n.Name)
		}
		for k, r := range n.Ranges {
			if r.Start >= r.End || k > 0 && n.Ranges[k-1].End >= r.Start {
				t.Fatalf("%s: ranges %v", n.Name, n.Ranges)
			}
		}
		if got := program.Intersect(n.Ranges, around); len(got) != len(n.Ranges) || got[0] != n.Ranges[0] {
			t.Fatalf("%s: ranges %v are not in %v", n.Name, n.Ranges, around)
		}
		if i > 0 && n.Ranges[0].Start < list[i-1].Ranges[0].Start {
			t.Fatalf("%s is not in order", n.Name)
		}
		checkTree(t, n.Children, n.Ranges)
	}
}

// Changed bytes in the sections with debug information.
func TestDamagedDWARF(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"minivm.elf", "shapes.elf"} {
		path := corpus.Path(t, "programs", name)
		valid, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		exercise(t, valid, "")
		file, err := elf.NewFile(bytes.NewReader(valid))
		if err != nil {
			t.Fatal(err)
		}
		for range 25 {
			for _, s := range file.Sections {
				if len(s.Name) < 7 || s.Name[:7] != ".debug_" || s.Size == 0 {
					continue
				}
				b := bytes.Clone(valid)
				for range 1 + rnd.IntN(4) {
					b[s.Offset+rnd.Uint64N(s.Size)] = byte(rnd.Uint32())
				}
				exercise(t, b, "")
			}
		}
	}
}

func TestDamagedPDB(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	exe, err := os.ReadFile(corpus.Path(t, "programs", "pe", "minivm.exe"))
	if err != nil {
		t.Fatal(err)
	}
	valid, err := os.ReadFile(corpus.Path(t, "programs", "pe", "minivm.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged.pdb")
	for range 40 {
		b := bytes.Clone(valid)
		for range 1 + rnd.IntN(6) {
			b[rnd.IntN(len(b))] = byte(rnd.Uint32())
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		exercise(t, exe, path)
	}
}

func TestOpenMismatch(t *testing.T) {
	exe := corpus.Path(t, "programs", "pe", "minivm.exe")
	img, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	var mismatch *MismatchError
	if _, err := Open(img, "", corpus.Path(t, "programs", "pe", "wordstat.pdb")); !errors.As(err, &mismatch) || mismatch.What != "GUID and age" {
		t.Errorf("PDB of another program: %v", err)
	}
	if _, err := Open(img, "", exe); !errors.Is(err, binfmt.ErrMagic) {
		t.Errorf("no PDB: %v", err)
	}
	elfImage, err := image.Open(corpus.Path(t, "programs", "minivm.elf"))
	if err != nil {
		t.Fatal(err)
	}
	defer elfImage.Close()
	if _, err := Open(elfImage, "", corpus.Path(t, "programs", "shapes.elf")); !errors.As(err, &mismatch) || mismatch.What != "build id" {
		t.Errorf("debug file of another program: %v", err)
	}
	if _, err := Open(elfImage, "", exe); !errors.As(err, &mismatch) || mismatch.What != "kind" {
		t.Errorf("a PE as debug file: %v", err)
	}
}
