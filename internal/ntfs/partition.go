package ntfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"unicode/utf16"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// partition is a range of the disk that may hold a file system.
type partition struct {
	number int // as in the partition table; 1 for an image of one volume
	off    int64
	size   int64  // as claimed; an image that was cut may hold less
	holds  string // file system, by its boot sector
	name   string // of a GPT
	mount
}

// fsNTFS is what partition.holds is for the file system of this package.
const fsNTFS = "NTFS"

const (
	bootSignature = 0xAA55 // at offset 510 of boot sectors and of an MBR
	mbrEntries    = 446    // offset of the table in an MBR
	mbrEntry      = 16
	maxLogical    = 128  // partitions in a chain; more is taken for damage
	kindGPT       = 0xEE // type of the MBR entry that stands for a GPT
	gptMagic      = "EFI PART"
	gptHeaderSize = 92
	gptMinEntry   = 128
	maxGPTTable   = 1 << 20 // bytes; 128 entries of 128 bytes are usual
)

// table finds the partitions: the whole image if it starts with a file system,
// else those of a GPT or MBR. A table does not say how large its sectors are,
// so the usual sizes are tried until one leads to an NTFS file system.
func (d *disk) table() ([]*partition, error) {
	boot := make([]byte, 512)
	if err := d.read(boot, 0, "boot sector"); err != nil {
		return nil, err
	}
	if fs := fileSystem(boot); fs != "" {
		return []*partition{{number: 1, size: d.size, holds: fs}}, nil
	}
	if binary.LittleEndian.Uint16(boot[510:]) != bootSignature {
		return nil, &binfmt.Error{Part: "boot sector", Offset: 510, Want: "a signature of 0xaa55",
			Got: fmt.Sprintf("%#x: no partition table and no file system", binary.LittleEndian.Uint16(boot[510:])), Err: binfmt.ErrMagic}
	}
	var found []*partition
	var firstErr error
	for _, sector := range []int64{512, 4096} {
		parts, err := d.gpt(sector)
		if err == nil && parts == nil {
			parts, err = d.mbr(boot, sector)
		}
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			continue
		}
		for _, p := range parts {
			if p.holds == fsNTFS {
				return parts, nil
			}
		}
		if found == nil {
			found = parts
		}
	}
	if len(found) == 0 && firstErr != nil {
		return nil, firstErr
	}
	return found, nil
}

// fileSystem tells the file system by a boot sector; "" if there is none.
func fileSystem(boot []byte) string {
	switch oem := string(boot[3:11]); {
	case oem == "NTFS    ":
		return fsNTFS
	case oem == "-FVE-FS-":
		return "BitLocker (encrypted)"
	case oem == "EXFAT   ":
		return "exFAT"
	case strings.HasPrefix(oem, "ReFS\x00"):
		return "ReFS"
	case bytes.HasPrefix(boot[54:], []byte("FAT1")), bytes.HasPrefix(boot[82:], []byte("FAT32")):
		return "FAT"
	}
	return ""
}

// newPartition looks at what is at a place of the disk. Places that are not in
// the image are reported as such: the image may be cut.
func (d *disk) newPartition(number int, first, sectors uint64, sector int64, kind string) *partition {
	p := &partition{number: number}
	limit := uint64(1<<63-1) / uint64(sector)
	if first >= limit || sectors > limit-first {
		p.holds = "outside of the image"
		return p
	}
	p.off, p.size = int64(first)*sector, int64(sectors)*sector
	boot := make([]byte, 512)
	if d.read(boot, p.off, "boot sector") != nil {
		p.holds = "outside of the image"
		return p
	}
	if p.holds = fileSystem(boot); p.holds == "" {
		p.holds = kind
	}
	return p
}

// mbr reads the four entries of an MBR and the chains of logical partitions.
func (d *disk) mbr(boot []byte, sector int64) ([]*partition, error) {
	var parts []*partition
	logical := 5
	for i := range 4 {
		e := mbrPartition(boot, i)
		switch {
		case e.kind == 0 || e.sectors == 0 || e.kind == kindGPT:
		case e.extended():
			chain, err := d.extended(e.first, sector, logical)
			if err != nil {
				return nil, err
			}
			parts = append(parts, chain...)
			logical += len(chain)
		default:
			parts = append(parts, d.newPartition(i+1, e.first, e.sectors, sector, fmt.Sprintf("type %#02x", e.kind)))
		}
	}
	return parts, nil
}

// mbrEntryFields are what counts of an entry of an MBR.
type mbrEntryFields struct {
	kind           byte
	first, sectors uint64
}

func (e *mbrEntryFields) extended() bool { return e.kind == 0x05 || e.kind == 0x0F || e.kind == 0x85 }

func mbrPartition(sector []byte, i int) mbrEntryFields {
	b := sector[mbrEntries+i*mbrEntry:]
	return mbrEntryFields{b[4], uint64(binary.LittleEndian.Uint32(b[8:])), uint64(binary.LittleEndian.Uint32(b[12:]))}
}

// extended follows the chain of boot records in an extended partition. Each
// describes one logical partition, relative to itself, and the next record,
// relative to the first.
func (d *disk) extended(base uint64, sector int64, number int) ([]*partition, error) {
	var parts []*partition
	record := make([]byte, 512)
	for at, links := base, 0; ; links++ {
		off := int64(at) * sector // below 2^33 * 4096
		if links == maxLogical {
			return nil, &binfmt.Error{Part: "extended partition", Offset: off, Want: fmt.Sprintf("at most %d links", maxLogical), Err: binfmt.ErrLimit}
		}
		if err := d.read(record, off, "extended boot record"); err != nil {
			return nil, err
		}
		if sig := binary.LittleEndian.Uint16(record[510:]); sig != bootSignature {
			return nil, &binfmt.Error{Part: "extended boot record", Offset: off + 510, Want: "a signature of 0xaa55", Got: fmt.Sprintf("%#x", sig), Err: binfmt.ErrCorrupt}
		}
		if e := mbrPartition(record, 0); e.kind != 0 && e.sectors != 0 {
			parts = append(parts, d.newPartition(number+len(parts), at+e.first, e.sectors, sector, fmt.Sprintf("type %#02x", e.kind)))
		}
		next := mbrPartition(record, 1)
		if !next.extended() || next.first == 0 {
			return parts, nil
		}
		at = base + next.first
	}
}

// gpt reads a GUID partition table: the one at the beginning, or its copy in
// the last sector. It returns nil if there is neither.
func (d *disk) gpt(sector int64) ([]*partition, error) {
	var firstErr error
	for _, off := range []int64{sector, d.size - d.size%sector - sector} {
		header := make([]byte, 512)
		if d.read(header, off, "GPT header") != nil || !bytes.HasPrefix(header, []byte(gptMagic)) {
			continue
		}
		parts, err := d.gptAt(header, off, sector)
		if err == nil {
			return parts, nil
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	return nil, firstErr
}

func (d *disk) gptAt(header []byte, off, sector int64) ([]*partition, error) {
	c := binfmt.NewCursor(header, "GPT header", off)
	c.Seek(12)
	headerSize := c.U32()
	sum := c.U32()
	c.Seek(72)
	table, count, entrySize := c.U64(), c.U32(), c.U32()
	total := uint64(count) * uint64(entrySize)
	switch {
	case headerSize < gptHeaderSize || headerSize > 512:
		c.FailAt(off+12, binfmt.ErrCorrupt, fmt.Sprintf("a header of %d to 512 bytes", gptHeaderSize), fmt.Sprint(headerSize))
	case gptSum(header[:headerSize]) != sum:
		c.FailAt(off+16, binfmt.ErrCorrupt, fmt.Sprintf("a checksum of %#x", gptSum(header[:headerSize])), fmt.Sprintf("%#x", sum))
	case entrySize < gptMinEntry:
		c.FailAt(off+84, binfmt.ErrCorrupt, fmt.Sprintf("entries of at least %d bytes", gptMinEntry), fmt.Sprint(entrySize))
	case total > maxGPTTable:
		c.FailAt(off+80, binfmt.ErrLimit, fmt.Sprintf("a table of at most %d bytes", maxGPTTable), fmt.Sprint(total))
	case table > uint64(d.size/sector):
		c.FailAt(off+72, binfmt.ErrTruncated, "a table in the image", fmt.Sprintf("sector %d", table))
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	entries := make([]byte, total)
	if err := d.read(entries, int64(table)*sector, "GPT entries"); err != nil {
		return nil, err
	}
	parts := []*partition{}
	for i := range int(count) {
		e := entries[i*int(entrySize):][:entrySize]
		first, last := binary.LittleEndian.Uint64(e[32:]), binary.LittleEndian.Uint64(e[40:])
		if bytes.Equal(e[:16], make([]byte, 16)) || last < first {
			continue // not in use
		}
		p := d.newPartition(i+1, first, last-first+1, sector, "no known file system")
		p.name = utf16Name(e[56:128])
		parts = append(parts, p)
	}
	return parts, nil
}

// gptSum is the CRC32 of the header with the field of the sum taken as zero.
func gptSum(header []byte) uint32 {
	h := bytes.Clone(header)
	clear(h[16:20])
	return crc32.ChecksumIEEE(h)
}

// utf16Name decodes UTF-16 up to a NUL or the end.
func utf16Name(b []byte) string {
	var units []uint16
	for ; len(b) >= 2; b = b[2:] {
		u := binary.LittleEndian.Uint16(b)
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}
