package pdb_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

var le = binary.LittleEndian

// readAll asks for everything and returns the first defect.
func readAll(f *pdb.File) error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	_, err := f.Identity()
	keep(err)
	_, err = f.Addresses()
	keep(err)
	modules, err := f.Modules()
	keep(err)
	for _, err := range f.Contributions() {
		keep(err)
	}
	for _, err := range f.Publics() {
		keep(err)
	}
	for _, err := range f.Procs() {
		keep(err)
	}
	for _, err := range f.SepCodes() {
		keep(err)
	}
	for i := range modules {
		for _, err := range f.ModuleLines(i) {
			keep(err)
		}
	}
	return first
}

func TestNotAPDB(t *testing.T) {
	for _, tc := range []struct {
		data, text string
		kind       error
	}{
		{"", `want a PDB of MSF version 7.00, got ""`, binfmt.ErrTruncated},
		{"Microsoft C/C++ MSF 7", `got "Microsoft C/C++ MSF 7"`, binfmt.ErrTruncated},
		{"Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00", "a PDB of version 2.00 (JG)", binfmt.ErrUnsupported},
		{"Microsoft MSFZ Container\r\n\x1aALD\x00\x00", "a compressed PDB (MSFZ)", binfmt.ErrUnsupported},
		{"BSJB\x01\x00\x01\x00", "a portable PDB (BSJB)", binfmt.ErrUnsupported},
		{"MZ\x90", "a PE image", binfmt.ErrMagic},
		{"\x7fELF\x02", "an ELF image", binfmt.ErrMagic},
		{"hello world", `got "hello world"`, binfmt.ErrMagic},
	} {
		if _, err := open([]byte(tc.data)); !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%q: got %v; want %q, %v", tc.data, err, tc.text, tc.kind)
		}
	}
	name := filepath.Join(t.TempDir(), "x.pdb")
	if err := os.WriteFile(name, []byte("MZ"), 0o644); err != nil {
		t.Fatal(err)
	}
	var e *binfmt.Error
	if _, err := pdb.Open(name); !errors.As(err, &e) || e.File != name {
		t.Errorf("Open: %v", err)
	}
	if err := os.WriteFile(name, program().Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := pdb.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := readAll(f); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// Defects of the container, as changes to the bytes of a file.
func TestContainerDefects(t *testing.T) {
	valid := program().Bytes()
	block := uint32(512)
	mapAt := le.Uint32(valid[52:]) * block
	dirAt := le.Uint32(valid[mapAt:]) * block
	streams := le.Uint32(valid[dirAt:])
	blocksAt := dirAt + 4 + 4*streams // of stream 1, as stream 0 is empty
	u32 := func(off, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint32(b[off:], v); return b }
	}
	for _, tc := range []struct {
		name   string
		change func([]byte) []byte
		kind   error
		offset uint32
	}{
		{"block size not a power of two", u32(32, 1000), binfmt.ErrCorrupt, 32},
		{"block size 0", u32(32, 0), binfmt.ErrCorrupt, 32},
		{"block size too large", u32(32, 1<<17), binfmt.ErrCorrupt, 32},
		{"superblock cut", func(b []byte) []byte { return b[:50] }, binfmt.ErrTruncated, 48},
		{"directory larger than the file", u32(44, uint32(len(valid)+1)), binfmt.ErrCorrupt, 44},
		{"directory of 4 GiB", u32(44, 0xffffffff), binfmt.ErrCorrupt, 44},
		{"map of the directory out of range", u32(52, 0x7fffffff), binfmt.ErrCorrupt, 52},
		{"map of the directory is the superblock", u32(52, 0), binfmt.ErrCorrupt, 52},
		{"directory out of range", u32(mapAt, 0x7fffffff), binfmt.ErrCorrupt, mapAt},
		{"no blocks", u32(40, 0), binfmt.ErrCorrupt, 40},
		{"no block but the superblock", u32(40, 1), binfmt.ErrCorrupt, 40},
		{"no directory", u32(44, 0), binfmt.ErrCorrupt, 44},
		{"directory without number of streams", u32(44, 3), binfmt.ErrCorrupt, 44},
		{"number of streams", u32(dirAt, 0x40000000), binfmt.ErrTruncated, dirAt + 4},
		{"size of a stream", u32(dirAt+8, 0xfffffffe), binfmt.ErrTruncated, blocksAt},
		{"block out of range", u32(blocksAt, 0x01000000), binfmt.ErrCorrupt, blocksAt},
		{"block of the superblock", u32(blocksAt, 0), binfmt.ErrCorrupt, blocksAt},
		{"block used twice", func(b []byte) []byte { return u32(blocksAt+4, le.Uint32(b[blocksAt:]))(b) }, binfmt.ErrCorrupt, blocksAt + 4},
		{"file cut before a stream", func(b []byte) []byte {
			// The map and the directory move to the front, so that only data
			// are missing.
			cut := append([]byte(nil), b[:6*block]...)
			copy(cut[4*block:], b[mapAt:mapAt+block])
			copy(cut[5*block:], b[dirAt:dirAt+block])
			le.PutUint32(cut[52:], 4)
			le.PutUint32(cut[4*block:], 5)
			return cut
		}, binfmt.ErrTruncated, 5*block + (blocksAt - dirAt) + firstBeyond(valid[blocksAt:], 6)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := open(tc.change(append([]byte(nil), valid...)))
			var e *binfmt.Error
			if !errors.As(err, &e) || !errors.Is(err, tc.kind) || e.Offset != int64(tc.offset) {
				t.Errorf("got %v; want %v at %#x", err, tc.kind, tc.offset)
			}
		})
	}
}

// firstBeyond returns the position of the first block number above a limit.
func firstBeyond(b []byte, limit uint32) uint32 {
	for i := uint32(0); ; i += 4 {
		if le.Uint32(b[i:]) >= limit {
			return i
		}
	}
}

// Defects of the streams: one field is changed, and the error must name the
// stream and the offset in the file of the changed field, or that of another
// field given by its distance.
func TestStreamDefects(t *testing.T) {
	// The numbers of the streams of program.
	const info, dbi, names, a, b, headers, globals = 1, 3, 5, 6, 7, 8, 9
	streams := program().Streams()
	symbolsOfA := int(le.Uint32(streams[dbi][64+36:]))
	lines := symbolsOfA + 8 + 16 // of the first function, behind the checksums
	contributions := 64 + int(le.Uint32(streams[dbi][24:]))
	for _, tc := range []struct {
		name        string
		stream, pos int
		value       uint32
		distance    int
		kind        error
		part        string
	}{
		{"version of the info stream", info, 0, 19970604, 0, binfmt.ErrVersion, "stream 1: PDB info at 0x0"},
		{"length of the names", info, 28, 0x7fffffff, 4, binfmt.ErrTruncated, "stream 1: PDB info at 0x20"},
		{"number of named streams", info, 39, 0x7fffffff, 0x3b - 39, binfmt.ErrTruncated, "stream 1: PDB info: named streams"},
		{"name of a stream", info, 0x3b, 0x100, 0, binfmt.ErrCorrupt, "stream 1: PDB info: named streams"},
		{"signature of the DBI stream", dbi, 0, 0, 0, binfmt.ErrVersion, "stream 3: DBI header"},
		{"version of the DBI stream", dbi, 4, 19970606, 0, binfmt.ErrVersion, "stream 3: DBI header"},
		{"negative size of the modules", dbi, 24, 0x80000000, 0, binfmt.ErrCorrupt, "stream 3: DBI header"},
		{"size of the contributions", dbi, 28, 0x10000, 0, binfmt.ErrCorrupt, "stream 3: DBI header"},
		{"size of the debug header", dbi, 48, 0x100, 4, binfmt.ErrCorrupt, "stream 3: DBI header"},
		{"symbols larger than the stream", dbi, 64 + 36, 0x1000, -2, binfmt.ErrCorrupt, "stream 3: module 0"},
		{"version of the contributions", dbi, contributions, 5, 0, binfmt.ErrVersion, "stream 3: section contributions"},
		{"signature of the symbols", a, 0, 2, 0, binfmt.ErrUnsupported, "stream 6: module symbols"},
		{"length of a symbol", a, 4, 0x1110ffff, 0, binfmt.ErrCorrupt, "stream 6: symbol record at 0x4"},
		{"length of a symbol below 2", a, 4, 0x11100001, 0, binfmt.ErrCorrupt, "stream 6: symbol record at 0x4"},
		{"length of a public", globals, 0, 0x110efffe, 0, binfmt.ErrCorrupt, "stream 9: symbol record at 0x0"},
		{"length of a subsection", a, symbolsOfA + 4, 0xfffffff0, 4, binfmt.ErrTruncated, "stream 6: line information"},
		{"file of a block", a, lines + 8 + 12, 0xfffffff0, 0, binfmt.ErrCorrupt, "stream 6: lines 0"},
		{"number of lines", a, lines + 8 + 16, 0x20000000, 4, binfmt.ErrCorrupt, "stream 6: lines 0"},
		{"size of a block", a, lines + 8 + 20, 0xffffff, 4, binfmt.ErrTruncated, "stream 6: lines 0"},
		{"name of a file", a, symbolsOfA + 8, 0x1000, 0, binfmt.ErrCorrupt, "stream 6: source file"},
		{"signature of the names", names, 0, 1, 0, binfmt.ErrCorrupt, "stream 5: string table"},
		{"size of the names", names, 8, 0x7fffffff, 4, binfmt.ErrTruncated, "stream 5: string table"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			streams := program().Streams()
			before := msftest.Build(512, streams)
			// Where the changed byte lies in the file: marked by its complement.
			streams[tc.stream][tc.pos] ^= 0xff
			at := -1
			for i, v := range msftest.Build(512, streams) {
				if v != before[i] {
					at = i
				}
			}
			le.PutUint32(streams[tc.stream][tc.pos:], tc.value)
			err := readAll(mustOpen(t, msftest.Build(512, streams)))
			var e *binfmt.Error
			if !errors.As(err, &e) || !errors.Is(err, tc.kind) || !strings.HasPrefix(e.Part, tc.part) || e.Offset != int64(at+tc.distance) {
				t.Errorf("got %v; want %v at %#x in %s", err, tc.kind, at+tc.distance, tc.part)
			}
		})
	}
	t.Run("two modules with one stream", func(t *testing.T) {
		streams := program().Streams()
		second := int(le.Uint32(streams[dbi][24:])) + 64 - 76 // the last module has two names of 6 bytes
		if got := le.Uint16(streams[dbi][second+34:]); got != b {
			t.Fatalf("stream %d of the last module", got)
		}
		le.PutUint16(streams[dbi][second+34:], a)
		err := readAll(mustOpen(t, msftest.Build(512, streams)))
		if !errors.Is(err, binfmt.ErrCorrupt) || !strings.Contains(err.Error(), "stream 6 of module 0") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("address map out of order", func(t *testing.T) {
		p := program()
		p.OmapFromSrc = make([]byte, 16)
		p.OmapFromSrc[0] = 1
		if err := readAll(mustOpen(t, p.Bytes())); !errors.Is(err, binfmt.ErrCorrupt) || !strings.Contains(err.Error(), "address map") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no debug information", func(t *testing.T) {
		p := program()
		p.NoDBI = true
		if err := readAll(mustOpen(t, p.Bytes())); !errors.Is(err, binfmt.ErrUnsupported) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("stream that is not there", func(t *testing.T) {
		streams := program().Streams()[:headers]
		if err := readAll(mustOpen(t, msftest.Build(512, streams))); !errors.Is(err, binfmt.ErrCorrupt) || !strings.Contains(err.Error(), "stream number") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("name without NUL", func(t *testing.T) {
		p := program()
		p.Globals = msftest.Record(0x110e, append(make([]byte, 10), "ab"...))
		if err := readAll(mustOpen(t, p.Bytes())); !errors.Is(err, binfmt.ErrTruncated) || !strings.Contains(err.Error(), "stream 9: public symbol") {
			t.Errorf("got %v", err)
		}
	})
}
