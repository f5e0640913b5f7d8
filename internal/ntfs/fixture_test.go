package ntfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// numbers is n bytes of text, which compresses.
func numbers(n int) []byte {
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendln(b, i*i)
	}
	return b[:n]
}

// noise is n bytes that do not compress.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// fixture is a volume with a file of each layout, and the bytes of the files.
type fixture struct {
	*volumeBuilder
	want map[string][]byte
}

func newFixture() *fixture {
	f := &fixture{newBuilder(), map[string][]byte{}}
	f.stored()
	f.sparse()
	f.compressed()
	f.split()
	f.folders()
	return f
}

// layouts is the fixture that tests share, built. They must not change it.
var layouts = sync.OnceValue(func() *fixture {
	f := newFixture()
	f.build()
	return f
})

func (f *fixture) put(path string, data []byte, attributes ...[]byte) {
	f.want[path] = data
	f.add(f.root(), path[1:], attributes...)
}

// outside makes a data attribute of all of the runs.
func outside(flags uint16, unit uint16, runs []testRun, size int) []byte {
	return nonResident(typeData, "", flags, extents{runs: runs, size: int64(size), initialized: -1, unit: unit})
}

// stored adds files that are neither sparse nor compressed.
func (f *fixture) stored() {
	f.put("/resident.txt", []byte("in the record"), resident(typeData, "", 0, []byte("in the record")))
	f.put("/empty", nil, resident(typeData, "", 0, nil))
	big := numbers(30_000)
	f.put("/plain.bin", big, f.plain(big))
	f.put("/fragments.bin", big, outside(0, 0, f.scatter(big, 3), len(big)))
	f.put("/streams.bin", big,
		resident(typeData, "Zone.Identifier", 0, []byte("another stream")), f.plain(big), f.plainNamed("stream", noise(5000)))

	// Only the first 10,000 bytes were ever written; what the clusters behind
	// them hold is not of the file.
	short := append(bytes.Clone(big[:10_000]), make([]byte, 20_000)...)
	runs := []testRun{f.volumeBuilder.put(append(bytes.Clone(big[:10_000]), noise(20_000)...))}
	f.put("/initialized.bin", short, nonResident(typeData, "", 0, extents{runs: runs, size: 30_000, initialized: 10_000}))
}

func (b *volumeBuilder) plainNamed(name string, data []byte) []byte {
	return nonResident(typeData, name, 0, extents{runs: []testRun{b.put(data)}, size: int64(len(data)), initialized: -1})
}

func (f *fixture) sparse() {
	data := make([]byte, 100*testCluster+10)
	copy(data[20*testCluster:], numbers(3*testCluster))
	copy(data[100*testCluster:], "end")
	runs := []testRun{{hole, 20}, f.volumeBuilder.put(numbers(3 * testCluster)), {hole, 77}, f.volumeBuilder.put([]byte("end\x00\x00\x00\x00\x00\x00\x00"))}
	f.put("/sparse.bin", data, outside(attributeSparse, 0, runs, len(data)))
	f.put("/hole.bin", make([]byte, 5000), outside(attributeSparse, 0, []testRun{{hole, 5}}, 5000))
}

func (f *fixture) compressed() {
	const unit = 16 * testCluster
	text, junk := numbers(3*unit), noise(unit)
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"/text.cmp", numbers(10*unit + 777)},
		{"/noise.cmp", noise(3*unit + 5)},
		{"/zero.cmp", make([]byte, 3*unit)},
		// The hole behind a packed unit and the one of the next unit are one
		// run, and so are the clusters of units that are stored as they are.
		{"/mixed.cmp", slices.Concat(text, make([]byte, 2*unit), junk, junk, text[:unit], make([]byte, unit), text[:100])},
		{"/short.cmp", numbers(100)},
	} {
		f.put(c.name, c.data, outside(attributeCompressed, 4, f.compress(c.data, 0), len(c.data)))
		name := c.name + ".fragments"
		f.put(name, c.data, outside(attributeCompressed, 4, f.compress(c.data, 2), len(c.data)))
	}
	// A chunk that ends early leaves zeros up to the next one, as does a unit.
	early := make([]byte, 2*unit)
	copy(early, "abc")
	copy(early[chunkSize:], "def")
	copy(early[unit:], "ghi")
	chunk := func(s string) []byte { return append(binfmt.AppendU16(nil, 0x3000|uint16(len(s)-1)), s...) }
	runs := []testRun{
		f.volumeBuilder.put(append(append(chunk("abc"), chunk("def")...), make([]byte, 900)...)), {hole, 15},
		f.volumeBuilder.put(append(chunk("ghi"), make([]byte, 900)...)), {hole, 15},
	}
	f.put("/early.cmp", early, outside(attributeCompressed, 4, runs, len(early)))
}

// split adds files whose extents fill several records.
func (f *fixture) split() {
	data := numbers(300 * testCluster)
	f.splitFile("/split.bin", data, f.scatter(data, 2), 0, 0, false)
	f.splitFile("/split.cmp", data, f.compress(data, 1), attributeCompressed, 4, true)
}

// splitFile puts 10 runs into each record; the list of them is an attribute of
// the first, or outside of it.
func (f *fixture) splitFile(path string, data []byte, runs []testRun, flags, unit uint16, outsideList bool) {
	f.want[path] = data
	base := f.add(f.root(), path[1:])
	list := listed(typeStandard, "", 0, base.number)
	x := extents{size: int64(len(data)), initialized: -1, unit: unit}
	for part := range slices.Chunk(runs, 10) {
		e := f.add(nil, "")
		e.base = reference(base.number)
		x.runs = part
		// A part of another stream comes before the one that is looked for.
		e.attributes = [][]byte{resident(typeData, "other", 0, nil), nonResident(typeData, "", flags, x)}
		list = append(list, listed(typeData, "other", 0, e.number)...)
		list = append(list, listed(typeData, "", x.first, e.number)...)
		x.first += clustersOf(part)
	}
	a := resident(typeAttributeList, "", 0, list)
	if outsideList {
		a = nonResident(typeAttributeList, "", 0, extents{runs: f.scatter(list, 1), size: int64(len(list)), initialized: -1})
	}
	base.attributes = [][]byte{resident(typeStandard, "", 0, make([]byte, 48)), a}
}

func (f *fixture) folders() {
	deep := f.folder(f.folder(f.root(), "Program Files"), "Ünïcode 𝄞")
	f.root().names = append(f.root().names, testName{of: f.records[len(f.records)-2], name: "PROGRA~1", space: spaceDOS, flags: flagDirectory})
	f.add(deep, "ß.txt", resident(typeData, "", 0, []byte("deep")))
	f.want["/Program Files/Ünïcode 𝄞/ß.txt"] = []byte("deep")

	large := f.folder(f.root(), "large")
	large.large = true
	for i := range 25 {
		name := fmt.Sprintf("%02d.txt", i)
		f.add(large, name, resident(typeData, "", 0, []byte(name)))
		f.want["/large/"+name] = []byte(name)
	}
	gone := f.add(nil, "", resident(typeData, "", 0, []byte("gone")))
	gone.flags = 0
	large.stale = []testName{{of: gone, name: "gone.txt", space: spaceWin32}}
	f.root().large = true
}

// reparse adds what has its data elsewhere.
func (f *fixture) reparse(dir *testEntry, name string, tag uint32, data []byte, standard uint32, folder bool) {
	value := binfmt.AppendU32(nil, tag)
	value = append(binfmt.AppendU16(binfmt.AppendU16(value, uint16(len(data))), 0), data...)
	info := make([]byte, 48)
	binary.LittleEndian.PutUint32(info[32:], standard)
	e := f.add(dir, name, resident(typeStandard, "", 0, info), resident(typeData, "", 0, []byte("what lies here")), resident(typeReparsePoint, "", 0, value))
	n := &dir.names[len(dir.names)-1]
	n.flags, n.reparse = flagReparse, tag
	if folder {
		e.flags |= recordDirectory
		n.flags |= flagDirectory
	}
}

// memory opens an image in memory.
func memory(t testing.TB, img []byte) *disk {
	t.Helper()
	d, err := newDisk("disk.img", bytes.NewReader(img), int64(len(img)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func openMemory(t testing.TB, img []byte) *Volume {
	t.Helper()
	v, err := memory(t, img).choose(Spec{Image: "disk.img", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readAll(r io.ReaderAt, size int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(r, 0, size))
}

// walk reads all files of a volume, up to a number and size that damaged ones
// cannot exceed.
func walk(v *Volume) (files map[string][]byte, errs []error) {
	files = map[string][]byte{}
	left := 500
	var folder func(dir string, depth int)
	folder = func(dir string, depth int) {
		list, err := v.ReadDir(dir)
		if err != nil {
			errs = append(errs, err)
		}
		for _, e := range list {
			path := dir + "/" + e.Name
			if left--; left < 0 || depth > 8 {
				return
			}
			if e.Dir {
				folder(path, depth+1)
				continue
			}
			r, size, err := v.Open(path)
			if err == nil {
				files[path], err = readAll(r, min(size, 1<<20))
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	folder("", 0)
	return files, errs
}
