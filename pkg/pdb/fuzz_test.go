package pdb_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

// exercise opens b as a PDB and reads all that the result offers.
func exercise(t *testing.T, b []byte) {
	f, err := open(b)
	if err != nil {
		if f != nil {
			t.Fatalf("file beside error %v", err)
		}
		return
	}
	var total int64
	for i := range f.NumStreams() {
		s, err := f.OpenStream(i)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			total += s.Size()
		}
		p := make([]byte, 4)
		_, _ = s.ReadAt(p, s.Size()-2)
	}
	if total > int64(len(b)) {
		t.Fatalf("streams of %d bytes in a file of %d", total, len(b))
	}
	_ = readAll(f)
	n := 0
	for _, err := range f.Lines() {
		if n++; err != nil {
			break
		}
	}
	if n > len(b) {
		t.Fatalf("%d lines in %d bytes", n, len(b))
	}
	exerciseInlines(t, f, len(b))
}

func exerciseInlines(t *testing.T, f *pdb.File, size int) {
	modules, err := f.Modules()
	if err != nil {
		return
	}
	n := 0
	for i := range modules {
		_, _, _ = f.ModuleCompiler(i)
		for p, err := range f.ModuleInlines(i) {
			if err != nil {
				break
			}
			for _, s := range p.Sites {
				n += 1 + len(s.Ranges)
				_, _ = f.IDName(s.Inlinee)
			}
		}
	}
	if n > size {
		t.Fatalf("%d inline ranges in %d bytes", n, size)
	}
}

func seeds(t testing.TB) [][]byte {
	rearranged := program()
	rearranged.OmapFromSrc = make([]byte, 16)
	out := [][]byte{program().Bytes(), rearranged.Bytes(), msftest.PDB{BlockSize: 512}.Bytes(), msftest.PDB{BlockSize: 512, NoDBI: true}.Bytes()}
	files, _ := filepath.Glob(filepath.Join(corpus.Dir(), "programs", "pe", "*.pdb"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func FuzzNewFile(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(exercise)
}

// Truncations, and changed bytes where the structures are dense: in the
// streams of a small PDB and anywhere in all files.
func TestDamagedFiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, valid := range seeds(t) {
		step := max(1, len(valid)/1500)
		for n := 0; n < len(valid); n += step {
			exercise(t, valid[:n])
		}
		b := append([]byte(nil), valid...)
		for i := range 3000 {
			b[rnd.IntN(len(b))] = byte(rnd.Uint32())
			exercise(t, b)
			if i%8 == 0 {
				copy(b, valid)
			}
		}
	}
	for range 6000 {
		streams := program().Streams()
		for range 1 + rnd.IntN(3) {
			if s := streams[rnd.IntN(len(streams))]; len(s) > 0 {
				s[rnd.IntN(len(s))] = byte(rnd.Uint32())
			}
		}
		exercise(t, msftest.Build(512, streams))
	}
}
