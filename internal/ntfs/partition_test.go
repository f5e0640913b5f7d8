package ntfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// small is a volume with one file, whose name is given and which holds it.
func small(file string) []byte {
	b := newBuilder()
	b.add(b.root(), file, resident(typeData, "", 0, []byte(file)))
	return b.build()
}

// fat is the beginning of another file system.
func fat() []byte {
	b := make([]byte, 4096)
	copy(b[82:], "FAT32   ")
	binary.LittleEndian.PutUint16(b[510:], bootSignature)
	return b
}

// testDisk puts volumes on a disk.
type testDisk struct {
	sector int
	bytes  []byte
}

// put writes a volume to the next free place and returns its first sector and
// how many there are.
func (d *testDisk) put(volume []byte) (first, sectors uint32) {
	d.bytes = binfmt.AppendPad(d.bytes, d.sector, 0)
	first = uint32(len(d.bytes) / d.sector)
	d.bytes = binfmt.AppendPad(append(d.bytes, volume...), d.sector, 0)
	return first, uint32(len(d.bytes)/d.sector) - first
}

func setMBR(sector []byte, i int, kind byte, first, sectors uint32) {
	e := sector[mbrEntries+i*mbrEntry:]
	e[4] = kind
	binary.LittleEndian.PutUint32(e[8:], first)
	binary.LittleEndian.PutUint32(e[12:], sectors)
	binary.LittleEndian.PutUint16(sector[510:], bootSignature)
}

// mbrDisk has a primary partition for each of the volumes; nil leaves an entry
// empty.
func mbrDisk(sector int, volumes ...[]byte) []byte {
	d := &testDisk{sector, make([]byte, 8*sector)}
	for i, v := range volumes {
		if v != nil {
			first, n := d.put(v)
			setMBR(d.bytes, i, 7, first, n)
		}
	}
	return d.bytes
}

// extendedDisk has a primary partition and the others in a chain.
func extendedDisk(sector int, primary []byte, logical ...[]byte) []byte {
	d := &testDisk{sector, make([]byte, 8*sector)}
	first, n := d.put(primary)
	setMBR(d.bytes, 0, 7, first, n)
	base, link := uint32(0), 0
	for _, v := range logical {
		record, _ := d.put(make([]byte, sector))
		if base == 0 {
			base = record
			setMBR(d.bytes, 2, 0x0F, record, 1000)
		} else {
			setMBR(d.bytes[link*sector:], 1, 0x05, record-base, 1000)
		}
		link = int(record)
		first, n := d.put(v)
		setMBR(d.bytes[link*sector:], 0, 7, first-record, n)
	}
	return d.bytes
}

// gptDisk has volumes in a GPT and a copy of that at the end; nil leaves an
// entry empty.
func gptDisk(sector int, volumes ...[]byte) []byte {
	d := &testDisk{sector, make([]byte, 40*sector)}
	setMBR(d.bytes, 0, 0xEE, 1, 0xFFFFFFFF)
	const count, size = 128, 128
	entries := make([]byte, count*size)
	for i, v := range volumes {
		if v == nil {
			continue
		}
		first, n := d.put(v)
		e := entries[i*size:]
		copy(e, "\xa2\xa0\xd0\xeb\xe5\xb9\x33\x44\x87\xc0\x68\xb6\xb7\x26\x99\xc7")
		binary.LittleEndian.PutUint64(e[32:], uint64(first))
		binary.LittleEndian.PutUint64(e[40:], uint64(first+n-1))
		copy(e[56:], wide(fmt.Sprintf("part %d", i+1)))
	}
	copyAt, _ := d.put(entries)
	last, _ := d.put(make([]byte, sector))
	copy(d.bytes[2*sector:], entries)
	header := func(at, table uint32) {
		h := d.bytes[int(at)*sector:]
		copy(h, gptMagic)
		binary.LittleEndian.PutUint32(h[12:], gptHeaderSize)
		binary.LittleEndian.PutUint64(h[72:], uint64(table))
		binary.LittleEndian.PutUint32(h[80:], count)
		binary.LittleEndian.PutUint32(h[84:], size)
		binary.LittleEndian.PutUint32(h[88:], crc32.ChecksumIEEE(entries))
		signGPT(h)
	}
	header(1, 2)
	header(last, copyAt)
	return d.bytes
}

func signGPT(h []byte) { binary.LittleEndian.PutUint32(h[16:], gptSum(h[:gptHeaderSize])) }

// vhd appends the footer of a VHD.
func vhd(disk []byte, kind uint32) []byte {
	footer := make([]byte, vhdFooter)
	copy(footer, vhdMagic)
	binary.BigEndian.PutUint64(footer[48:], uint64(len(disk)))
	binary.BigEndian.PutUint32(footer[vhdType:], kind)
	return append(bytes.Clone(disk), footer...)
}

func TestPartitions(t *testing.T) {
	a, b := small("a.txt"), small("b.txt")
	spoiled := gptDisk(512, fat(), a, b)
	spoiled[512+80]++
	for _, c := range []struct {
		name string
		disk []byte
		a, b int // numbers of the partitions
	}{
		{"raw", a, 1, 0},
		{"raw VHD", vhd(a, vhdFixed), 1, 0},
		{"MBR", mbrDisk(512, fat(), a, nil, b), 2, 4},
		{"MBR VHD", vhd(mbrDisk(512, a, b), vhdFixed), 1, 2},
		{"MBR with large sectors", mbrDisk(4096, a, b), 1, 2},
		{"logical", extendedDisk(512, fat(), a, fat(), b), 5, 7},
		{"logical with large sectors", extendedDisk(4096, a, fat(), b), 1, 6},
		{"GPT", gptDisk(512, fat(), nil, a, b), 3, 4},
		{"GPT with large sectors", gptDisk(4096, a, fat(), b), 1, 3},
		{"GPT VHD", vhd(gptDisk(512, a, b), vhdFixed), 1, 2},
		{"GPT copy", spoiled, 2, 3},
		{"cut GPT", gptDisk(512, a, make([]byte, 4096))[:40*512+len(a)], 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := memory(t, c.disk)
			for file, number := range map[string]int{"a.txt": c.a, "b.txt": c.b} {
				if number == 0 {
					continue
				}
				for _, chosen := range []int{0, number} {
					v, err := d.choose(Spec{Path: "/" + file, Partition: chosen})
					if err != nil {
						t.Fatal(err)
					}
					if v.part.number != number {
						t.Errorf("%s is in partition %d, not %d", file, v.part.number, number)
					}
					r, size, err := v.Open(file)
					if err != nil {
						t.Fatal(err)
					}
					if data, err := readAll(r, size); err != nil || string(data) != file {
						t.Errorf("%s holds %q, %v", file, data, err)
					}
				}
			}
		})
	}
}

func TestChoice(t *testing.T) {
	a, b := small("a.txt"), small("b.txt")
	locked := append([]byte("\xeb\x58\x90-FVE-FS-"), make([]byte, 4096)...)
	damaged := bytes.Clone(b)
	clear(damaged[600:])
	size := fmt.Sprintf("%g KiB", float64(len(a))/1024)
	for _, c := range []struct {
		name string
		disk []byte
		spec Spec
		kind error
		text string
	}{
		{"no such number", mbrDisk(512, fat(), a), Spec{Partition: 3}, fs.ErrNotExist,
			`want NTFS in partition 3, got partition 1 (4 KiB, FAT); partition 2 (` + size + `, NTFS, label "LAB")`},
		{"another file system", gptDisk(512, locked, a), Spec{Partition: 1}, binfmt.ErrUnsupported,
			`want NTFS in partition 1, got partition 1 (4.5 KiB, BitLocker (encrypted), name "part 1"); partition 2 (` + size + `, NTFS, label "LAB", name "part 2")`},
		{"no NTFS", mbrDisk(512, fat(), noise(512)), Spec{}, binfmt.ErrUnsupported,
			`want an NTFS partition, got partition 1 (4 KiB, FAT); partition 2 (512 bytes, type 0x07)`},
		{"FAT volume", fat(), Spec{}, binfmt.ErrUnsupported, `want an NTFS partition, got partition 1 (4 KiB, FAT)`},
		{"in none", mbrDisk(512, a, b), Spec{Path: "/c.txt"}, fs.ErrNotExist,
			`want a partition with this path, got none of partition 1 (` + size + `, NTFS, label "LAB"): want "c.txt" in /, got none, but a.txt; ` +
				`partition 2 (` + size + `, NTFS, label "LAB"): want "c.txt" in /, got none, but b.txt`},
		{"in both", mbrDisk(512, a, a), Spec{Image: "disk.img", Path: "/a.txt"}, fs.ErrInvalid,
			`the choice of one as in ntfs:disk.img!1:/a.txt, got partition 1 (` + size + `, NTFS, label "LAB"); partition 2`},
		{"damaged", mbrDisk(512, a, damaged), Spec{Path: "/b.txt"}, binfmt.ErrCorrupt, `partition 2 (` + size + `, NTFS): MFT record 0`},
		{"damaged alone", damaged, Spec{Path: "/b.txt"}, binfmt.ErrCorrupt, `disk.img: partition 1: MFT record 0: offset`},
		{"behind the end", mbrDisk(512, a, b)[:8*512+len(a)], Spec{Partition: 2}, binfmt.ErrUnsupported, `partition 2 (` + size + `, outside of the image)`},
		{"no entries", gptDisk(512), Spec{}, binfmt.ErrUnsupported, `got no partitions`},
	} {
		_, err := memory(t, c.disk).choose(c.spec)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Of two volumes the damaged one does not matter where the other one has
	// the path.
	if v, err := memory(t, mbrDisk(512, a, damaged)).choose(Spec{Path: "/a.txt"}); err != nil || v.part.number != 1 {
		t.Error(err)
	}
}

func TestContainers(t *testing.T) {
	a := small("a.txt")
	at := func(off int, magic string) []byte {
		b := make([]byte, 4096)
		copy(b[off:], magic)
		return b
	}
	loop := extendedDisk(512, fat(), fat(), a)
	record := int(binary.LittleEndian.Uint32(loop[mbrEntries+2*mbrEntry+8:]))
	setMBR(loop[record*512:], 1, 5, 0x40, 1)
	setMBR(loop[(record+0x40)*512:], 1, 5, 0x40, 1)
	unlinked := extendedDisk(512, fat(), fat(), a)
	clear(unlinked[record*512+510:][:2])

	gpt := func(change func(h []byte)) []byte {
		disk := gptDisk(512, a)
		for _, h := range [][]byte{disk[512:1024], disk[len(disk)-512:]} {
			change(h)
		}
		return disk
	}
	put32 := func(off int, v uint32) func([]byte) {
		return func(h []byte) {
			binary.LittleEndian.PutUint32(h[off:], v)
			signGPT(h)
		}
	}
	for _, c := range []struct {
		name string
		disk []byte
		kind error
		off  int64
	}{
		{"dynamic VHD", at(0, vhdMagic), binfmt.ErrUnsupported, 0},
		{"differencing VHD", vhd(a, 4), binfmt.ErrUnsupported, int64(len(a)) + vhdType},
		{"VHDX", at(0, "vhdxfile"), binfmt.ErrUnsupported, 0},
		{"QCOW2", at(0, "QFI\xfb\x00\x00\x00\x03"), binfmt.ErrUnsupported, 0},
		{"VMDK", at(0, "KDMV"), binfmt.ErrUnsupported, 0},
		{"VDI", at(0x40, "\x7f\x10\xda\xbe"), binfmt.ErrUnsupported, 0x40},
		{"EWF", at(0, "EVF\x09\x0d\x0a\xff\x00"), binfmt.ErrUnsupported, 0},
		{"zeros", make([]byte, 4096), binfmt.ErrMagic, 510},
		{"empty", nil, binfmt.ErrTruncated, 0},
		{"half a sector", a[:300], binfmt.ErrTruncated, 0},
		{"looping chain", loop, binfmt.ErrLimit, int64(record+0x40) * 512},
		{"broken chain", unlinked, binfmt.ErrCorrupt, int64(record)*512 + 510},
		{"chain behind the end", loop[:record*512], binfmt.ErrTruncated, int64(record) * 512},
		{"GPT header size", gpt(put32(12, 600)), binfmt.ErrCorrupt, 512 + 12},
		{"GPT checksum", gpt(func(h []byte) { h[16]++ }), binfmt.ErrCorrupt, 512 + 16},
		{"GPT entry size", gpt(put32(84, 64)), binfmt.ErrCorrupt, 512 + 84},
		{"GPT entries", gpt(put32(80, 1<<30)), binfmt.ErrLimit, 512 + 80},
		{"GPT table", gpt(put32(76, 1<<30)), binfmt.ErrTruncated, 512 + 72},
	} {
		_, err := newDisk("disk.img", bytes.NewReader(c.disk), int64(len(c.disk)))
		var e *binfmt.Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Offset != c.off {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.kind == binfmt.ErrUnsupported && !strings.Contains(err.Error(), "qemu-img convert -O raw disk.img disk.img.raw") {
			t.Errorf("%s: no way out: %v", c.name, err)
		}
	}
}
