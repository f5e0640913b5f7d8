package ntfs

import (
	"errors"
	"io"
	"sync"

	"github.com/spgo-tools/spgo/pkg/image"
)

// FS is a file system for image.Finder in which names of this package are
// files and folders in images; all other names are the operating system's. An
// image is opened once and stays open until Close. FS is safe for concurrent
// use.
type FS struct {
	mu    sync.Mutex
	disks map[string]*opened
}

type opened struct {
	disk *disk
	err  error
}

// volume returns the volume of a name, and ok if it is one of this package.
func (f *FS) volume(name string) (v *Volume, path string, ok bool, err error) {
	spec, ok := Parse(name)
	if !ok {
		return nil, "", false, nil
	}
	f.mu.Lock()
	if f.disks == nil {
		f.disks = map[string]*opened{}
	}
	o := f.disks[spec.Image]
	if o == nil {
		o = &opened{}
		o.disk, o.err = openDisk(spec.Image)
		f.disks[spec.Image] = o
	}
	f.mu.Unlock()
	if o.err != nil {
		return nil, "", true, o.err
	}
	v, err = o.disk.choose(spec)
	return v, spec.Path, true, err
}

// ReadDir implements image.FS.
func (f *FS) ReadDir(name string) ([]image.DirEntry, error) {
	v, path, ok, err := f.volume(name)
	switch {
	case !ok:
		return image.OS.ReadDir(name)
	case err != nil:
		return nil, err
	}
	return v.ReadDir(path)
}

// Open implements image.FS.
func (f *FS) Open(name string) (io.ReaderAt, int64, error) {
	v, path, ok, err := f.volume(name)
	switch {
	case !ok:
		return image.OS.Open(name)
	case err != nil:
		return nil, 0, err
	}
	return v.Open(path)
}

// RealPath implements image.FS: the name with the number of the partition and
// with all names as they are on the volume.
func (f *FS) RealPath(name string) (string, error) {
	v, path, ok, err := f.volume(name)
	switch {
	case !ok:
		return image.OS.RealPath(name)
	case err != nil:
		return "", err
	}
	n, err := v.find(path)
	if err != nil {
		return "", v.within(path, err)
	}
	real, err := image.OS.RealPath(v.disk.name)
	if err != nil {
		return "", err
	}
	return Spec{Image: real, Partition: v.part.number, Path: n.path}.String(), nil
}

// Close closes the images. Files that were opened can no longer be read.
func (f *FS) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, o := range f.disks {
		if o.disk != nil {
			errs = append(errs, o.disk.close())
		}
	}
	f.disks = nil
	return errors.Join(errs...)
}
