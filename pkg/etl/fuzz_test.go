package etl

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// seedFiles are small log files: those of the writer, and the small real ones
// where they are there.
func seedFiles(f *testing.F) [][]byte {
	var seeds [][]byte
	for _, data := range smallTraces(f) {
		seeds = append(seeds, data)
	}
	dir := filepath.Join(corpus.Dir(), "corpus", "etl")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return seeds // the writer's files serve
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Size() > 30_000 || !strings.HasSuffix(e.Name(), ".etl") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, data)
	}
	return seeds
}

// FuzzReader reads any bytes as a log file. What is read is written again,
// and must read the same.
func FuzzReader(f *testing.F) {
	for _, data := range seedFiles(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := NewReader(bytes.NewReader(data), int64(len(data)), &Options{MaxBuffer: 1 << 20})
		if err != nil {
			return
		}
		n, _, err := readAll(file)
		if err != nil {
			t.Fatal(err)
		}
		merged := 0
		m := NewMerge([]*File{file}, AllClasses)
		for m.Next() {
			merged++
		}
		if merged != n {
			t.Errorf("merge yields %d of %d records", merged, n)
		}
		filtered := 0
		for class := Class(1); class < classEnd; class <<= 1 {
			dec := file.NewDecoder(class)
			for i := range file.Buffers() {
				for it := dec.Buffer(i); it.Next(); {
					if it.Record().Class != class {
						t.Fatalf("class %#x yielded for %#x", it.Record().Class, class)
					}
					filtered++
				}
			}
		}
		if filtered != n {
			t.Errorf("the classes one by one yield %d of %d records", filtered, n)
		}
		rewrite(t, file)
	})
}

// rewrite writes the records of a file that have a layout, and compares what
// is read back.
func rewrite(t *testing.T, file *File) {
	t.Helper()
	var buf []byte
	dec := file.NewDecoder(AllClasses)
	for i := range file.Buffers() {
		for it := dec.Buffer(i); it.Next(); {
			want := *it.Record()
			b, err := AppendRecord(append(buf[:0], make([]byte, bufferHeaderSize)...), &want)
			if err != nil {
				continue // a type without a layout
			}
			buf = b
			again := Records{dec: file.NewDecoder(AllClasses), data: buf, pos: bufferHeaderSize, want: AllClasses}
			if !again.Next() {
				t.Fatalf("%v: %v", want.Type, again.Err())
			}
			got := again.rec
			if got.Type != want.Type || got.Class != want.Class || got.Hook != want.Hook || got.GUID != want.GUID || got.TID != want.TID || got.PID != want.PID ||
				got.Version != want.Version || got.Opcode != want.Opcode || got.ID != want.ID || got.Flags != want.Flags ||
				!bytes.Equal(got.Payload, want.Payload) || !bytes.Equal(got.Extra, want.Extra) {
				t.Fatalf("wrote %+v\nread  %+v", want, got)
			}
		}
	}
}

// FuzzXPRESS compares the fast decoder with the plain one, and packs and
// unpacks the input itself.
func FuzzXPRESS(f *testing.F) {
	var x xpressEncoder
	for _, data := range packable() {
		data = data[:min(len(data), 5000)]
		f.Add(x.compress(nil, data), uint16(len(data)))
	}
	f.Fuzz(func(t *testing.T, src []byte, size uint16) {
		sameXPRESS(t, "stream", src, int(size))
		var x xpressEncoder
		back := make([]byte, len(src))
		if _, err := expandXPRESS(back, x.compress(nil, src)); err != nil || !bytes.Equal(back, src) {
			t.Fatalf("round trip of %x: %v", src, err)
		}
	})
}

// FuzzXPRESSHuff unpacks anything, and what it packed itself.
func FuzzXPRESSHuff(f *testing.F) {
	for _, data := range packable() {
		data = data[:min(len(data), 5000)]
		f.Add(huffStream(data), uint32(len(data)))
	}
	f.Fuzz(func(t *testing.T, src []byte, size uint32) {
		dst := make([]byte, size%(1<<18))
		if n, err := expandXPRESSHuff(dst, src, new(huffTable)); err == nil && n != len(dst) || n > len(dst) {
			t.Fatalf("%d of %d bytes, %v", n, len(dst), err)
		}
		back := make([]byte, len(src))
		if _, err := expandXPRESSHuff(back, huffStream(src), new(huffTable)); err != nil || !bytes.Equal(back, src) {
			t.Fatalf("round trip of %x: %v", src, err)
		}
	})
}

// FuzzLZNT1 unpacks anything, and what it packed itself.
func FuzzLZNT1(f *testing.F) {
	for _, data := range packable() {
		data = data[:min(len(data), 5000)]
		f.Add(lzntStream(data), uint32(len(data)))
	}
	f.Add(lznt1Bomb(), uint32(5000))
	f.Fuzz(func(t *testing.T, src []byte, size uint32) {
		dst := make([]byte, size%(1<<18))
		if n, err := expandLZNT1(dst, src); err == nil && n != len(dst) || n > len(dst) {
			t.Fatalf("%d of %d bytes, %v", n, len(dst), err)
		}
		back := make([]byte, len(src))
		if _, err := expandLZNT1(back, lzntStream(src)); err != nil || !bytes.Equal(back, src) {
			t.Fatalf("round trip of %x: %v", src, err)
		}
	})
}

// FuzzPayloads decodes any bytes as the payload of any event.
func FuzzPayloads(f *testing.F) {
	for _, tc := range everyPayload(f) {
		r := record(f, tc.rec)
		f.Add(uint8(r.Type), uint16(r.Hook), r.Opcode, r.Version, r.ID, r.GUID[:], r.Payload)
	}
	f.Fuzz(func(t *testing.T, typ uint8, hook uint16, opcode uint8, version, id uint16, guid, payload []byte) {
		rec := Record{Type: HeaderType(typ), Hook: Hook(hook), Opcode: opcode, Version: version, ID: id, Payload: payload}
		copy(rec.GUID[:], guid)
		b, err := AppendRecord(make([]byte, bufferHeaderSize), &rec)
		if err != nil {
			return
		}
		file := &File{pointerSize: 8, buffers: []Buffer{{}}}
		it := Records{dec: file.NewDecoder(AllClasses), data: b, pos: bufferHeaderSize, want: AllClasses}
		if !it.Next() {
			return
		}
		if rest, err := decodeAny(it.Record()); err == nil && (rest < 0 || rest > len(payload)) {
			t.Fatalf("%d bytes left of %d", rest, len(payload))
		}
	})
}

// FuzzContainer reads any bytes as a log file that may be packed: plain, gzip,
// zstd or a zip archive. What is unpacked stays under the limit, and nothing is
// left in the folder for temporary files.
func FuzzContainer(f *testing.F) {
	seeds := seedFiles(f)
	slices.SortFunc(seeds, func(a, b []byte) int { return len(a) - len(b) })
	small := seeds[0]
	f.Add(small)
	f.Add(gzipped(f, small))
	f.Add(zipped(f, member{"a.etl", small}))
	f.Add(zstdPacked(f, small))
	dir := f.TempDir()
	path, temp := filepath.Join(dir, "run.etl"), filepath.Join(dir, "temp")
	if err := os.Mkdir(temp, 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		const limit = 1 << 20
		rec, err := Open(path, &Options{TempDir: temp, MaxUnpacked: limit, MaxBuffer: 1 << 20})
		if err == nil {
			for _, file := range rec.Files {
				if _, _, err := readAll(file); err != nil {
					t.Fatal(err)
				}
			}
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Fatalf("left behind: %v, %v", left, err)
		}
	})
}
