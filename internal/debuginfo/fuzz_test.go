package debuginfo

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// FuzzDWARF changes bytes in the debug sections of a program: each four bytes
// of the input are an offset of 24 bits into these sections, put together, and
// what is added there.
func FuzzDWARF(f *testing.F) {
	valid, err := os.ReadFile(corpus.Path(f, "programs", "minivm.elf"))
	if err != nil {
		f.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(valid))
	if err != nil {
		f.Fatal(err)
	}
	var places []uint64 // of the bytes that may change
	for _, s := range file.Sections {
		if !strings.HasPrefix(s.Name, ".debug_") {
			continue
		}
		begin := uint32(len(places))
		for at := range s.Size {
			places = append(places, s.Offset+at)
		}
		for _, in := range []uint32{0, 8, 12, 40} {
			f.Add(binary.BigEndian.AppendUint32(nil, (begin+in)<<8|0x7f))
		}
	}
	if len(places) == 0 {
		f.Fatal("the program has no debug information")
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		b := bytes.Clone(valid)
		for ; len(changes) >= 4; changes = changes[4:] {
			change := binary.BigEndian.Uint32(changes)
			b[places[int(change>>8)%len(places)]] += byte(change)
		}
		exercise(t, b, "")
	})
}

// FuzzPDB changes bytes of a program's PDB: each four bytes of the input are an
// offset of 24 bits and what is added there.
func FuzzPDB(f *testing.F) {
	exe, err := os.ReadFile(corpus.Path(f, "programs", "pe", "minivm.exe"))
	if err != nil {
		f.Fatal(err)
	}
	valid, err := os.ReadFile(corpus.Path(f, "programs", "pe", "minivm.pdb"))
	if err != nil {
		f.Fatal(err)
	}
	for at := 0; at < len(valid); at += 4096 {
		f.Add(binary.BigEndian.AppendUint32(nil, uint32(at+16)<<8|0x7f))
	}
	path := filepath.Join(f.TempDir(), "changed.pdb")
	f.Fuzz(func(t *testing.T, changes []byte) {
		b := bytes.Clone(valid)
		for ; len(changes) >= 4; changes = changes[4:] {
			change := binary.BigEndian.Uint32(changes)
			b[int(change>>8)%len(b)] += byte(change)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		exercise(t, exe, path)
	})
}
