package pdb_test

import (
	"encoding/binary"
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
	for _, name := range programFiles(t) {
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

// idStream is a type or id stream with the records of one function name.
func idStream(records []byte, count uint32) []byte {
	var b []byte
	for _, v := range []uint32{20040203, 56, 0x1000, 0x1000 + count, uint32(len(records))} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, 0xff, 0xff, 0xff, 0xff)
	return append(append(b, make([]byte, 32)...), records...)
}

// FuzzModule reads any bytes as the symbols, lines, names and ids of a module,
// inside a PDB that is sound otherwise.
func FuzzModule(f *testing.F) {
	m := program().Modules[0]
	site := msftest.Record(uint16(pdb.SymInlineSite), append(make([]byte, 8), 0, 0x10, 0, 0, 3, 4, 6, 2, 11, 0x24, 4, 8, 0))
	id := append([]byte{14, 0, 0x01, 0x16}, "\x00\x00\x00\x00\x00\x10\x00\x00f\x00\xf2\xf1"...)
	f.Add(m.Symbols, m.C13, program().Names, id)
	f.Add(append(msftest.Proc(4, uint16(pdb.SymGProc32), 1, 0x10, 0x40, "main"), site...), m.C13, program().Names, id)
	for _, name := range programFiles(f) {
		file, err := pdb.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		modules, err := file.Modules()
		if err != nil {
			f.Fatal(err)
		}
		for _, m := range modules {
			if size := file.StreamSize(m.Stream); size > 4 && size < 4096 {
				s, err := file.OpenStream(m.Stream)
				if err != nil {
					f.Fatal(err)
				}
				b := make([]byte, size)
				if _, err := s.ReadAt(b, 0); err != nil {
					f.Fatal(err)
				}
				f.Add(b[4:], b[len(b)/2&^3:], []byte{}, []byte{})
			}
		}
		file.Close()
	}
	f.Fuzz(func(t *testing.T, symbols, c13, names, ids []byte) {
		p := program()
		p.Modules[0].Symbols, p.Modules[0].C13, p.Names = symbols, c13, names
		streams := p.Streams()
		streams[4] = idStream(ids, uint32(len(ids)/12))
		exercise(t, msftest.Build(512, streams))
	})
}

// programFiles are the PDBs of the sample programs, as far as they are there.
func programFiles(t testing.TB) []string {
	files, err := filepath.Glob(filepath.Join(corpus.Dir(), "programs", "pe", "*.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
