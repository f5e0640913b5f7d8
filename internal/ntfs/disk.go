package ntfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// disk is an open image: the bytes of a disk or of a single volume.
type disk struct {
	name       string
	file       *os.File
	r          io.ReaderAt
	size       int64 // bytes, without a VHD footer
	partitions []*partition
}

// openDisk opens an image and finds the partitions in it.
func openDisk(name string) (*disk, error) {
	if name == "" {
		return nil, &binfmt.Error{Part: "name", Offset: -1, Want: "ntfs:IMAGE!/PATH or ntfs:IMAGE!N:/PATH", Got: "no IMAGE", Err: fs.ErrNotExist}
	}
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	// Opening a pipe would wait for its writer.
	if block := fi.Mode()&fs.ModeDevice != 0 && fi.Mode()&fs.ModeCharDevice == 0; !fi.Mode().IsRegular() && !block {
		return nil, &binfmt.Error{File: name, Offset: -1, Want: "a disk image", Got: fileKind(fi.Mode()), Err: binfmt.ErrUnsupported}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd) // a block device has no size for Stat
	if err != nil {
		f.Close()
		return nil, err
	}
	d, err := newDisk(name, f, size)
	if err != nil {
		f.Close()
		return nil, binfmt.InFile(err, name)
	}
	d.file = f
	return d, nil
}

func fileKind(m fs.FileMode) string {
	if m.IsDir() {
		return "a folder"
	}
	return m.Type().String()
}

// newDisk looks at the container and the partitions of an image.
func newDisk(name string, r io.ReaderAt, size int64) (*disk, error) {
	d := &disk{name: name, r: r, size: size}
	if err := d.container(); err != nil {
		return nil, err
	}
	var err error
	if d.partitions, err = d.table(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *disk) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// foreign lists the containers of disks that are not read, by signatures.
var foreign = []struct {
	offset int64
	magic  string
	name   string
}{
	{0, "vhdxfile", "VHDX"},
	{0, "conectix", "dynamic VHD"},
	{0, "QFI\xfb", "QCOW"},
	{0, "KDMV", "VMDK"},
	{0, "# Disk DescriptorFile", "VMDK descriptor"},
	{0x40, "\x7f\x10\xda\xbe", "VDI"},
	{0, "EVF\x09\x0d\x0a\xff\x00", "EWF"},
}

// The footer of a VHD is the last sector of the file, in big-endian order.
const (
	vhdMagic  = "conectix"
	vhdFooter = 512
	vhdType   = 60 // offset of the disk type
	vhdFixed  = 2
)

// container recognises what the bytes of the disk are packed in and cuts off
// the footer of a fixed VHD, in which they lie as in a raw image.
func (d *disk) container() error {
	head := make([]byte, 512)
	n, err := d.r.ReadAt(head, 0)
	if n == 0 && err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	// The footer comes first: a fixed VHD holds the disk as it is, whatever
	// its boot sector looks like.
	if d.size >= 2*vhdFooter {
		footer := make([]byte, vhdFooter)
		if err := d.read(footer, d.size-vhdFooter, "VHD footer"); err != nil {
			return err
		}
		if bytes.HasPrefix(footer, []byte(vhdMagic)) {
			if kind := binary.BigEndian.Uint32(footer[vhdType:]); kind != vhdFixed {
				return d.unsupported(fmt.Sprintf("a VHD of disk type %d", kind), d.size-vhdFooter+vhdType)
			}
			d.size -= vhdFooter
			return nil
		}
	}
	for _, f := range foreign {
		if int64(len(head)) > f.offset && bytes.HasPrefix(head[f.offset:], []byte(f.magic)) {
			return d.unsupported("a "+f.name, f.offset)
		}
	}
	return nil
}

func (d *disk) unsupported(got string, off int64) error {
	return &binfmt.Error{Part: "disk image", Offset: off, Err: binfmt.ErrUnsupported, Got: got,
		Want: fmt.Sprintf("a raw image or a fixed VHD (to convert: qemu-img convert -O raw %s %s.raw)", d.name, d.name)}
}

// read fills p from offset off of the disk. Ending early is an error.
func (d *disk) read(p []byte, off int64, part string) error {
	if off < 0 || off > d.size || int64(len(p)) > d.size-off {
		return &binfmt.Error{Part: part, Offset: off, Want: fmt.Sprintf("%d bytes", len(p)),
			Got: fmt.Sprintf("an image of %d bytes", d.size), Err: binfmt.ErrTruncated}
	}
	n, err := d.r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return &binfmt.Error{Part: part, Offset: off, Want: fmt.Sprintf("%d bytes", len(p)), Got: fmt.Sprint(n), Err: binfmt.ErrTruncated}
	}
	return &binfmt.Error{Part: part, Offset: off, Err: err}
}
