package ntfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// damaged is a volume of which one field is changed.
type damaged struct {
	*fixture
	volume *Volume // of the undamaged image
}

// record is where the record of a path is in the image.
func (d *damaged) record(t *testing.T, path string) int {
	n, err := d.volume.find(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(n.record.off)
}

// attribute is where an attribute of the record of a path is.
func (d *damaged) attribute(t *testing.T, path string, kind uint32) int {
	n, err := d.volume.find(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range n.record.attributes {
		if a.kind == kind {
			return int(a.off)
		}
	}
	t.Fatalf("%s has no attribute %#x", path, kind)
	return 0
}

func TestDamage(t *testing.T) {
	f := layouts()
	d := &damaged{f, openMemory(t, f.image)}
	boot := func(*testing.T, string) int { return 0 }
	record := d.record
	data := func(t *testing.T, path string) int { return d.attribute(t, path, typeData) }
	list := func(t *testing.T, path string) int { return d.attribute(t, path, typeAttributeList) }
	runs := func(t *testing.T, path string) int { return data(t, path) + extentHeader }
	block := func(t *testing.T, path string) int { // of the index of a folder
		n, err := d.volume.find(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := d.volume.value(n.record, typeIndexAllocation, indexName, "")
		if err != nil {
			t.Fatal(err)
		}
		return int(blocks.(*stream).locate(0))
	}
	unit := func(t *testing.T, path string) int { // first compression unit
		r, _, err := d.volume.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return int(r.(*located).r.(*stream).locate(0))
	}

	for _, c := range []struct {
		name, path string
		base       func(*testing.T, string) int
		off        int    // of the field, from base
		value      string // bytes
		kind       error
		errOff     int // of the error, from base; -1: none
	}{
		{"sector size", "/empty", boot, 11, "\x01\x02", binfmt.ErrCorrupt, 11},
		{"cluster size", "/empty", boot, 13, "\x03", binfmt.ErrCorrupt, 13},
		{"large cluster", "/empty", boot, 13, "\xe0", binfmt.ErrCorrupt, 13},
		{"volume size", "/empty", boot, 40, "\xff\xff\xff\xff\xff\xff\xff\xff", binfmt.ErrLimit, 40},
		{"no clusters", "/empty", boot, 40, "\x00\x00\x00\x00\x00\x00\x00\x00", binfmt.ErrCorrupt, 48},
		{"MFT cluster", "/empty", boot, 48, "\xff\xff\xff\xff\xff\xff\xff\x7f", binfmt.ErrCorrupt, 48},
		{"record size", "/empty", boot, 64, "\x40", binfmt.ErrCorrupt, 64},
		{"record size 2^-n", "/empty", boot, 64, "\x80", binfmt.ErrCorrupt, 64},

		{"record signature", "/empty", record, 0, "BAAD", binfmt.ErrCorrupt, 0},
		{"update sequence offset", "/empty", record, 4, "\xfe\xff", binfmt.ErrCorrupt, 4},
		{"update sequence length", "/empty", record, 6, "\x00\x00", binfmt.ErrCorrupt, 6},
		{"torn sector", "/empty", record, 510, "\x55\x55", binfmt.ErrCorrupt, 0},
		{"sequence number", "/empty", record, 16, "\x08\x00", binfmt.ErrCorrupt, 16},
		{"not in use", "/empty", record, 22, "\x00\x00", binfmt.ErrCorrupt, 16},
		{"bytes in use", "/empty", record, 24, "\x01\x08\x00\x00", binfmt.ErrCorrupt, 24},
		{"allocated", "/empty", record, 28, "\x00\x80\x00\x00", binfmt.ErrCorrupt, 28},
		{"attributes behind the end", "/empty", record, 20, "\xff\xff", binfmt.ErrTruncated, 0},
		{"no end mark", "/empty", record, 64 + 24, "\x10\x00\x00\x00\x00\x00\x00\x00", binfmt.ErrCorrupt, 64 + 24 + 4},

		{"attribute length", "/resident.txt", data, 4, "\x00\x08\x00\x00", binfmt.ErrTruncated, 0},
		{"resident size", "/resident.txt", data, 16, "\xff\xff\xff\xff", binfmt.ErrTruncated, 24},
		{"resident offset", "/resident.txt", data, 20, "\xff\xff", binfmt.ErrTruncated, 22},
		{"name", "/resident.txt", data, 9, "\xff", binfmt.ErrTruncated, 24},

		{"file size", "/plain.bin", data, 48, "\xff\xff\xff\xff\xff\xff\xff\xff", binfmt.ErrLimit, 48},
		{"more size than clusters", "/plain.bin", data, 48, "\x00\x00\x01", binfmt.ErrCorrupt, -1},
		{"initialized", "/plain.bin", data, 56, "\xff\xff", binfmt.ErrCorrupt, 56},
		{"first cluster", "/plain.bin", data, 16, "\x01", binfmt.ErrCorrupt, 16},
		{"last cluster", "/plain.bin", data, 24, "\x05", binfmt.ErrCorrupt, 24},
		{"run outside of the volume", "/plain.bin", runs, 0, "\x21\x1e\xff\x7f", binfmt.ErrCorrupt, -extentHeader},
		{"run before the volume", "/plain.bin", runs, 0, "\x11\x1e\x80\x00", binfmt.ErrCorrupt, -extentHeader},
		{"long run", "/plain.bin", runs, 0, "\x07\xff\xff\xff\xff\xff\xff\x7f", binfmt.ErrCorrupt, -extentHeader},
		{"negative run", "/fragments.bin", runs, 0, "\x18\xff\xff\xff\xff\xff\xff\xff\xff\x01", binfmt.ErrCorrupt, -extentHeader},
		{"long hole", "/hole.bin", runs, 0, "\x07\xff\xff\xff\xff\xff\xff\x7f", binfmt.ErrCorrupt, -extentHeader},

		{"last list entry", "/split.bin", list, 24 + 4, "\xff\xff", binfmt.ErrTruncated, -1},
		{"list entry length", "/split.bin", list, 24 + 4, "\x08", binfmt.ErrCorrupt, 24},
		{"list size", "/split.cmp", list, 48, "\x00\x00\x05", binfmt.ErrLimit, 0},
		{"entry of another file", "/split.bin", list, 24 + 32 + 40 + 16, "\x10", binfmt.ErrCorrupt, -1},
		{"compression unit", "/text.cmp", data, 34, "\x0b", binfmt.ErrUnsupported, 34},
		{"chunk length", "/short.cmp", unit, 0, "\xff\xbf", binfmt.ErrCorrupt, 0},
		{"chunk", "/text.cmp", unit, 2, "\xff\xff\xff\xff\xff\xff\xff\xff", binfmt.ErrCorrupt, 0},

		{"index signature", "/large/00.txt", func(t *testing.T, _ string) int { return block(t, "/large") }, 0, "JUNK", binfmt.ErrCorrupt, 0},
		{"index torn", "/large/00.txt", func(t *testing.T, _ string) int { return block(t, "/large") }, 1022, "\x77", binfmt.ErrCorrupt, 0},
		{"index entries", "/large/00.txt", func(t *testing.T, _ string) int { return block(t, "/large") }, 24, "\xff\xff\xff\xff", fs.ErrNotExist, -1},
		{"index entry length", "/large/05.txt", func(t *testing.T, _ string) int { return block(t, "/large") }, 64 + 8, "\x00\x00", fs.ErrNotExist, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := bytes.Clone(f.image)
			base := c.base(t, c.path)
			// What is at the end of a sector is in the update sequence too, but
			// none of the fields is there but for those of torn sectors.
			copy(img[base+c.off:], c.value)
			_, err := openDamaged(img, c.path)
			var e *binfmt.Error
			if !errors.Is(err, c.kind) || !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			switch {
			case c.errOff == -1 && e.Offset != -1:
				// The offset of a defect in a record that the case does not
				// name is not compared.
			case c.errOff != -1 && e.Offset != int64(base+c.errOff):
				t.Errorf("offset %#x is not %#x + %#x: %v", e.Offset, base, c.errOff, err)
			}
			if !strings.Contains(err.Error(), "partition 1") {
				t.Errorf("no partition in %v", err)
			}
		})
	}
}

func openDamaged(img []byte, path string) ([]byte, error) {
	d, err := newDisk("disk.img", bytes.NewReader(img), int64(len(img)))
	if err != nil {
		return nil, err
	}
	v, err := d.choose(Spec{Path: "/"})
	if err != nil {
		return nil, err
	}
	r, size, err := v.Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(r, size)
}

// TestCut reads a file whose clusters are in the volume but no longer in the
// image.
func TestCut(t *testing.T) {
	b := newBuilder()
	b.add(b.root(), "far", outside(0, 0, []testRun{b.put(numbers(testCluster)), {5000, 29}}, 30_000))
	img := b.build()
	binary.LittleEndian.PutUint64(img[40:], 6000*testCluster/512)
	data, err := openDamaged(img, "/far")
	var e *binfmt.Error
	if !errors.Is(err, binfmt.ErrTruncated) || !errors.As(err, &e) || e.Offset != 5000*testCluster || !bytes.Equal(data, numbers(testCluster)) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestFlips changes single bytes of all structures of a small volume: whatever
// that does, reading ends.
func TestFlips(t *testing.T) {
	img := tiny()
	step := 37
	if os.Getenv("SPGO_LONG") == "1" {
		step = 1
	}
	changed := 0
	for at := 0; at < len(img); at += step {
		for _, mask := range []byte{0x01, 0xFF} {
			img[at] ^= mask
			if files, errs := examine(img); len(errs) > 0 || !bytes.Equal(files["/sub/file"], []byte("x")) {
				changed++
			}
			img[at] ^= mask
		}
	}
	if changed == 0 {
		t.Error("no change was noticed")
	}
}

// tiny is a volume with little in it but structures.
func tiny() []byte {
	b := newBuilder()
	sub := b.folder(b.root(), "sub")
	sub.large = true
	b.add(sub, "file", resident(typeData, "", 0, []byte("x")))
	text := numbers(5000)
	b.add(b.root(), "cmp", outside(attributeCompressed, 4, b.compress(text, 1), len(text)))
	b.add(b.root(), "sparse", outside(attributeSparse, 0, []testRun{{hole, 3}, b.put(text[:100])}, 4000))
	f := &fixture{b, map[string][]byte{}}
	f.splitFile("/split", text, b.scatter(text, 1), 0, 0, true)
	f.splitMFT = true
	return f.build()
}

// examine reads all that an image holds.
func examine(img []byte) (files map[string][]byte, errs []error) {
	d, err := newDisk("disk.img", bytes.NewReader(img), int64(len(img)))
	if err != nil {
		return nil, []error{err}
	}
	v, err := d.choose(Spec{Path: "/"})
	if err != nil {
		return nil, []error{err}
	}
	return walk(v)
}

// FuzzVolume changes bytes of a small volume: each four bytes of the input are
// an offset of 24 bits and what is added there.
func FuzzVolume(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0x00, 0x0d, 1})
	img := tiny()
	v := openMemory(f, img)
	for record := range v.mft.size / v.recordSize {
		if at := v.mft.locate(record * v.recordSize); at >= 0 {
			// A byte of the header, one of the first attribute, one of the last.
			var change []byte
			for _, in := range []int64{22, 0x48, 0xF0} {
				change = append(change, byte((at+in)>>16), byte((at+in)>>8), byte(at+in), 0x80)
			}
			f.Add(change)
		}
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		img := bytes.Clone(img)
		for ; len(changes) >= 4; changes = changes[4:] {
			change := binary.BigEndian.Uint32(changes)
			img[int(change>>8)%len(img)] += byte(change)
		}
		first, errs := examine(img)
		again, errsAgain := examine(img)
		if len(errs) != len(errsAgain) || len(first) != len(again) {
			t.Errorf("%d files, %d errors; then %d files, %d errors", len(first), len(errs), len(again), len(errsAgain))
		}
	})
}

// FuzzDisk reads partition tables and what they lead to.
func FuzzDisk(f *testing.F) {
	a := small("a.txt")[:8*testCluster]
	f.Add(mbrDisk(512, fat(), a))
	f.Add(extendedDisk(512, fat(), a, a))
	f.Add(gptDisk(512, a))
	f.Add(vhd(a, vhdFixed))
	f.Fuzz(func(t *testing.T, img []byte) {
		examine(img)
	})
}
