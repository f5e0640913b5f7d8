package ntfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

func compareFiles(t *testing.T, want, got map[string][]byte) {
	t.Helper()
	for path, data := range want {
		have, ok := got[path]
		if !ok {
			t.Errorf("%s is not listed", path)
		} else if !bytes.Equal(have, data) {
			t.Errorf("%s: %d bytes differ from the %d written", path, len(have), len(data))
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s is listed and was not written", path)
		}
	}
}

// TestLayouts reads files of all layouts, also where the MFT itself is in
// pieces that its own records describe.
func TestLayouts(t *testing.T) {
	pieces := newFixture()
	pieces.splitMFT = true
	pieces.build()
	for _, f := range []*fixture{layouts(), pieces} {
		v := openMemory(t, f.image)
		got, errs := walk(v)
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		compareFiles(t, f.want, got)
		if v.label != "LAB" {
			t.Errorf("label %q", v.label)
		}
	}
}

// TestMirror reads the MFT's first record from the mirror.
func TestMirror(t *testing.T) {
	f := layouts()
	img := bytes.Clone(f.image)
	v := openMemory(t, img)
	clear(img[v.mft.locate(0):][:testRecord])
	got, errs := walk(openMemory(t, img))
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	// The record of the MFT is damaged still, and nothing else needs it.
	compareFiles(t, f.want, got)
}

// TestReadAt compares reads at random places with what was written, from
// several goroutines at once.
func TestReadAt(t *testing.T) {
	f := layouts()
	v := openMemory(t, f.image)
	var wg sync.WaitGroup
	for _, path := range []string{"/mixed.cmp", "/text.cmp.fragments", "/split.cmp", "/sparse.bin", "/initialized.bin"} {
		r, size, err := v.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.NewReader(f.want[path])
		for seed := range uint64(4) {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(seed, 0))
				for range 200 {
					off := random.Int64N(size + 100)
					have, need := make([]byte, random.IntN(40_000)), make([]byte, 40_000)
					need = need[:len(have)]
					n, err := r.ReadAt(have, off)
					m, wantErr := want.ReadAt(need, off)
					if n != m || err != wantErr || !bytes.Equal(have[:n], need[:m]) {
						t.Errorf("%s: ReadAt of %d at %d: %d, %v instead of %d, %v, or other bytes", path, len(have), off, n, err, m, wantErr)
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestPaths(t *testing.T) {
	f := &fixture{newBuilder(), map[string][]byte{}}
	f.stored()
	f.folders()
	f.add(f.root(), "Case.txt", resident(typeData, "", 0, []byte("upper")))
	f.add(f.root(), "case.txt", resident(typeData, "", 0, []byte("lower")))
	v := openMemory(t, f.build())
	for path, want := range map[string]string{
		"/resident.txt":                         "in the record",
		`\RESIDENT.TXT`:                         "in the record",
		"resident.txt":                          "in the record",
		"/large/../resident.txt":                "in the record",
		`/program files\ünïCODE 𝄞/ß.TXT`:        "deep",
		"/progra~1/Ünïcode 𝄞/ß.txt":             "deep",
		"/Case.txt":                             "upper",
		"/case.txt":                             "lower",
		"/CASE.txt":                             "upper",
		"//large//07.txt":                       "07.txt",
		"/large/./07.txt/":                      "07.txt",
		"/../../large/07.txt":                   "07.txt",
		"/Program Files/../PROGRA~1/../empty":   "",
		"/Program Files/Ünïcode 𝄞/../../empty/": "",
	} {
		r, size, err := v.Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got, err := readAll(r, size); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	for _, c := range []struct {
		path, text string
		kind       error
	}{
		{"/resident.tx", `disk.img: partition 1: /resident.tx: want "resident.tx" in /, got none, but resident.txt: file does not exist`, fs.ErrNotExist},
		{"/Large/7.txt", `disk.img: partition 1: /Large/7.txt: want "7.txt" in /large, got none, but 07.txt, 17.txt: file does not exist`, fs.ErrNotExist},
		{"/nothing/like/it", `disk.img: partition 1: /nothing/like/it: want "nothing" in /, got none: file does not exist`, fs.ErrNotExist},
		{"/large/gone.txt", `disk.img: partition 1: /large/gone.txt: want "gone.txt" in /large, got none: file does not exist`, fs.ErrNotExist},
		{"/plain.bin/x", `disk.img: partition 1: /plain.bin/x: want a folder, got /plain.bin, which is a file: file does not exist`, fs.ErrNotExist},
		{"/streams.bin:stream", `disk.img: partition 1: /streams.bin:stream: want "streams.bin:stream" in /, got none, but streams.bin: file does not exist`, fs.ErrNotExist},
		{"/large", `disk.img: partition 1: /large: want a file, got a folder: invalid argument`, fs.ErrInvalid},
	} {
		_, _, err := v.Open(c.path)
		if !errors.Is(err, c.kind) || err.Error() != c.text {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	if _, err := v.ReadDir("/plain.bin"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("listing of a file: %v", err)
	}
}

// TestElsewhere opens what has its data in another place.
func TestElsewhere(t *testing.T) {
	f := &fixture{newBuilder(), map[string][]byte{}}
	f.root().large = true
	f.add(f.root(), "encrypted", nonResident(typeData, "", attributeEncrypted, extents{runs: []testRun{f.volumeBuilder.put(noise(100))}, size: 100, initialized: -1}))
	f.add(f.root(), "streams only", resident(typeData, "a", 0, []byte("data")))

	target := `C:\Users`
	names := func(flags int) []byte { // the shown name behind the real one
		b := binfmt.AppendU16(nil, 0)
		b = binfmt.AppendU16(b, uint16(len(wide(`\??\`+target))))
		b = binfmt.AppendU16(b, uint16(len(wide(`\??\`+target))))
		b = binfmt.AppendU16(b, uint16(len(wide(target))))
		b = append(b, make([]byte, flags)...)
		return append(append(b, wide(`\??\`+target)...), wide(target)...)
	}
	f.reparse(f.root(), "junction", tagMountPoint, names(0), 0, true)
	f.reparse(f.root(), "symlink", tagSymlink, names(4), 0, false)
	f.reparse(f.root(), "other link", 0xA0001234, nil, 0, false)
	f.reparse(f.root(), "wof", tagWOF, make([]byte, 16), 0, false)
	f.reparse(f.root(), "dedup", tagDedup, make([]byte, 16), 0, false)
	f.reparse(f.root(), "unknown", 0x80001234, nil, 0, false)
	f.reparse(f.root(), "in cloud", tagCloud|0x6000, nil, flagRecall, false)
	f.reparse(f.root(), "synchronised", tagCloud|0x6000, nil, 0, false)
	f.reparse(f.root(), "synchronised folder", tagCloud, nil, 0, true)
	v := openMemory(t, f.build())

	for path, want := range map[string]string{
		"/encrypted":         "not encrypted (EFS)",
		"/streams only":      "without name",
		"/junction/x":        `a link to "C:\\Users"`,
		"/symlink":           `a link to "C:\\Users"`,
		"/other link":        "a link of type 0xa0001234",
		"/wof":               "compact /u /exe",
		"/dedup":             "deduplicated",
		"/unknown":           "type 0x80001234",
		"/in cloud":          "in the cloud",
		"/synchronised/more": "which is a file",
	} {
		_, _, err := v.Open(path)
		kind := binfmt.ErrUnsupported
		if strings.HasSuffix(path, "more") {
			kind = fs.ErrNotExist
		}
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	r, size, err := v.Open("/synchronised")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(r, size); err != nil || string(got) != "what lies here" {
		t.Errorf("a synchronised file holds %q, %v", got, err)
	}
	if _, err := v.ReadDir("/synchronised folder"); err != nil {
		t.Error(err)
	}
	list, err := v.ReadDir("/")
	if err != nil {
		t.Fatal(err)
	}
	want := []image.DirEntry{
		{Name: "dedup"}, {Name: "encrypted"}, {Name: "in cloud"}, {Name: "streams only"}, {Name: "synchronised"},
		{Name: "synchronised folder", Dir: true}, {Name: "unknown"}, {Name: "wof"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("listing (-want +got):\n%s", diff)
	}
}

// TestReadEnds checks the ends of reads, which readers rely on.
func TestReadEnds(t *testing.T) {
	f := layouts()
	v := openMemory(t, f.image)
	for path, data := range f.want {
		r, size, err := v.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if size != int64(len(data)) {
			t.Errorf("%s has %d bytes", path, size)
		}
		var b [2]byte
		if n, err := r.ReadAt(b[:], size); n != 0 || err != io.EOF {
			t.Errorf("%s: read behind the end: %d, %v", path, n, err)
		}
		if size == 0 {
			continue
		}
		if n, err := r.ReadAt(b[:], size-1); n != 1 || err != io.EOF || b[0] != data[size-1] {
			t.Errorf("%s: read over the end: %d, %v", path, n, err)
		}
		if _, err := r.ReadAt(b[:], -1); err == nil {
			t.Errorf("%s: read before the beginning", path)
		}
	}
}
