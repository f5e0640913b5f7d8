package ntfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"sync"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Limits of sizes that the boot sector gives, in bytes; all are powers of two.
const (
	maxSector  = 4096
	maxCluster = 2 << 20
	minRecord  = 512
	maxRecord  = 32 << 10 // up to which the parser goes
	maxBlock   = 64 << 10 // of an index
)

// Volume is an NTFS file system in an image. It is safe for concurrent use.
type Volume struct {
	disk       *disk
	part       *partition
	cluster    int64 // bytes
	clusters   int64
	recordSize int64   // bytes of an MFT record
	mft        *stream // the table of all records
	label      string

	mu        sync.Mutex
	folders   map[uint64]*folder // by record number
	keptNames int                // names in folders
}

// Open opens a file of the volume, whose size is in bytes. The path is absolute,
// with either separator.
func (v *Volume) Open(path string) (io.ReaderAt, int64, error) {
	n, err := v.find(clean(path))
	if err != nil {
		return nil, 0, v.within(path, err)
	}
	r, err := v.data(n)
	if err != nil {
		return nil, 0, v.within(path, err)
	}
	return &located{r, v, path}, r.Size(), nil
}

// located adds to errors which file they are of.
type located struct {
	r    io.ReaderAt
	v    *Volume
	path string
}

func (l *located) ReadAt(p []byte, off int64) (int, error) {
	n, err := l.r.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = l.v.within(l.path, err)
	}
	return n, err
}

// within names the image, the partition and the file in an error.
func (v *Volume) within(path string, err error) error {
	where := fmt.Sprintf("partition %d: %s", v.part.number, clean(path))
	var e *binfmt.Error
	if !errors.As(err, &e) {
		return &binfmt.Error{File: v.disk.name, Part: where, Offset: -1, Err: err}
	}
	located := *e // that of a partition is returned again and again
	located.File = v.disk.name
	located.Part = where
	if e.Part != "" {
		located.Part += ": " + e.Part
	}
	return &located
}

// openVolume reads the boot sector and finds the MFT.
func openVolume(d *disk, p *partition) (*Volume, error) {
	v := &Volume{disk: d, part: p, folders: map[uint64]*folder{}}
	boot := make([]byte, 512)
	if err := d.read(boot, p.off, "boot sector"); err != nil {
		return nil, err
	}
	mft, mirror, err := v.parseBoot(boot)
	if err != nil {
		return nil, err
	}
	// The first records have a copy for the case that they are damaged.
	if err = v.openMFT(mft); err != nil {
		if v.openMFT(mirror) != nil {
			return nil, err
		}
	}
	v.label = v.readLabel()
	return v, nil
}

// parseBoot takes the geometry from the boot sector, and the clusters of the
// MFT and of its mirror.
func (v *Volume) parseBoot(boot []byte) (mft, mirror int64, err error) {
	c := binfmt.NewCursor(boot, "boot sector", v.part.off)
	c.Seek(11)
	sector := int64(c.U16())
	perCluster := c.U8()
	c.Seek(40)
	sectors, mftAt, mirrorAt := c.U64(), c.U64(), c.U64()
	perRecord := int8(c.U8())

	v.cluster = sector * int64(perCluster)
	if perCluster > 0x80 { // the negative logarithm, for large clusters
		v.cluster = sector << min(uint(-int8(perCluster)), 32)
	}
	v.recordSize = int64(perRecord) * v.cluster
	if perRecord < 0 {
		v.recordSize = 1 << min(uint(-int(perRecord)), 32)
	}
	check := func(off int64, what string, size, least, most int64) {
		if size < least || size > most || bits.OnesCount64(uint64(size)) != 1 {
			c.FailAt(v.part.off+off, binfmt.ErrCorrupt, fmt.Sprintf("a power of two from %d to %d as the bytes of a %s", least, most, what), fmt.Sprint(size))
		}
	}
	check(11, "sector", sector, 256, maxSector)
	check(13, "cluster", v.cluster, sector, maxCluster)
	check(64, "MFT record", v.recordSize, minRecord, maxRecord)
	if c.Err() != nil {
		return 0, 0, c.Err()
	}
	if sectors > uint64(1<<62/sector) {
		c.FailAt(v.part.off+40, binfmt.ErrLimit, "a volume of less than 2^62 bytes", fmt.Sprintf("%d sectors", sectors))
		return 0, 0, c.Err()
	}
	v.clusters = int64(sectors) * sector / v.cluster
	if v.clusters == 0 || mftAt >= uint64(v.clusters) {
		c.FailAt(v.part.off+48, binfmt.ErrCorrupt, fmt.Sprintf("an MFT within %d clusters", v.clusters), fmt.Sprint(mftAt))
	}
	if mirrorAt >= uint64(v.clusters) {
		mirrorAt = mftAt
	}
	return int64(mftAt), int64(mirrorAt), c.Err()
}

// openMFT opens the MFT, whose own record is the first in the given cluster.
func (v *Volume) openMFT(cluster int64) error {
	raw := make([]byte, v.recordSize)
	off := cluster * v.cluster
	if err := v.read(raw, off, "MFT record 0"); err != nil {
		return err
	}
	r, err := v.parseRecord(recordMFT, raw, v.part.off+off)
	if err != nil {
		return err
	}
	// Where the MFT is fragmented beyond one record, the parts that come
	// later are described by records in the parts before, so that v.mft has
	// to serve while it grows.
	v.mft = nil
	first := r.find(typeData, "")
	if first == nil {
		return &binfmt.Error{Part: "MFT record 0", Offset: r.off, Want: "a data attribute", Got: "none", Err: binfmt.ErrCorrupt}
	}
	if v.mft, err = v.newStream("$MFT", first); err != nil {
		return err
	}
	err = v.pieces(r, typeData, "", func(a *attribute) error {
		if a.off == first.off {
			return nil
		}
		return v.mft.add(a)
	})
	if err != nil {
		return err
	}
	return v.mft.complete()
}

// readLabel returns the name of the volume; a damaged one is no reason not to
// read the files.
func (v *Volume) readLabel() string {
	r, err := v.record(recordVolume, 0)
	if err != nil {
		return ""
	}
	if a := r.find(typeVolumeName, ""); a != nil {
		return decodeName(a.value)
	}
	return ""
}

// read fills p from an offset in the volume.
func (v *Volume) read(p []byte, off int64, what string) error {
	return v.disk.read(p, v.part.off+off, what)
}

// data opens the data of a file.
func (v *Volume) data(n *node) (valueReader, error) {
	if n.record.flags&recordDirectory != 0 {
		return nil, &binfmt.Error{Offset: -1, Want: "a file", Got: "a folder", Err: fs.ErrInvalid}
	}
	if err := v.checkReparse(n.record); err != nil {
		return nil, err
	}
	r, err := v.value(n.record, typeData, "", "data")
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, &binfmt.Error{Offset: n.record.off, Want: "a data attribute without name", Got: "none", Err: binfmt.ErrUnsupported}
	}
	return r, nil
}

// Tags of reparse points.
const (
	tagSurrogate  = 1 << 29 // set in tags of what stands for another file
	tagMountPoint = 0xA0000003
	tagSymlink    = 0xA000000C
	tagWOF        = 0x80000017
	tagDedup      = 0x80000013
	tagCloud      = 0x9000001A
	tagCloudMask  = 0xFFFF0FFF
)

// checkReparse refuses files and folders whose contents are elsewhere.
func (v *Volume) checkReparse(r *record) error {
	value, err := v.value(r, typeReparsePoint, "", "reparse point")
	if err != nil || value == nil {
		return err
	}
	const maxReparse = 16 << 10 // the limit of NTFS
	data := make([]byte, min(value.Size(), maxReparse))
	if _, err := value.ReadAt(data, 0); err != nil && err != io.EOF {
		return err
	}
	if len(data) < 8 {
		return &binfmt.Error{Part: "reparse point", Offset: r.off, Want: "at least 8 bytes", Got: fmt.Sprint(len(data)), Err: binfmt.ErrTruncated}
	}
	tag := binary.LittleEndian.Uint32(data)
	got := ""
	switch {
	case tag == tagSymlink || tag == tagMountPoint:
		got = fmt.Sprintf("a link to %q; name that instead", linkTarget(tag, data))
	case tag&tagSurrogate != 0:
		got = fmt.Sprintf("a link of type %#x", tag)
	case r.flags&recordDirectory != 0:
		return nil
	case tag == tagWOF:
		got = "a file that was compressed by `compact /exe` or CompactOS; copy it out of the running system, or undo that with `compact /u /exe`"
	case tag == tagDedup:
		got = "a deduplicated file"
	case tag&tagCloudMask == tagCloud:
		if a := r.find(typeStandard, ""); a != nil && len(a.value) >= 36 && binary.LittleEndian.Uint32(a.value[32:])&flagRecall == 0 {
			return nil // a file of a synchronised folder that is on the disk too
		}
		got = "a file whose data is in the cloud"
	default:
		got = fmt.Sprintf("a reparse point of type %#x", tag)
	}
	return &binfmt.Error{Offset: -1, Want: "a file or folder of this volume", Got: got, Err: binfmt.ErrUnsupported}
}

// linkTarget returns the name that a symbolic link or junction shows for its
// target.
func linkTarget(tag uint32, data []byte) string {
	c := binfmt.NewCursor(data, "", 0)
	c.Skip(12)
	at, length := uint64(c.U16()), uint64(c.U16())
	names := uint64(16)
	if tag == tagSymlink {
		names = 20
	}
	c.Seek(names + at)
	return decodeName(c.Bytes(length))
}
