package ingest

import (
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
)

// objectOf returns the number of the object of an image file, and makes it if
// there is none.
func (t *etlTrace) objectOf(f *imageFile) int32 {
	key := *f
	key.path, key.checksum = strings.ToLower(f.path), 0
	if n, ok := t.byFile[key]; ok {
		return n
	}
	o := t.identify(f)
	o.index = t.registry.Register(o.binary)
	switch {
	case o.binary.Kernel && t.options.NoKernel:
		o.skip = sample.KernelLeftOut
	case !t.options.wantsBinary(&o.binary):
		o.skip = sample.OtherBinary
	}
	n := int32(len(t.objects))
	t.objects = append(t.objects, o)
	t.byFile[key] = n
	return n
}

// identify gives an image file its identity: that of the recording, or that of
// the same file on this machine, or that of its PDB. Addresses need no file:
// they count from the image's base.
func (t *etlTrace) identify(f *imageFile) *object {
	o := &object{windows: true, binary: sample.Binary{Name: sample.BaseName(f.path), Path: f.path, Kernel: f.kernel, Identity: sample.IdentityNone}}
	b := &o.binary
	if !f.guid.IsZero() {
		b.GUID, b.Age, b.Identity = f.guid, f.age, sample.IdentityTrace
		return o
	}
	if f.size>>32 != 0 {
		return o
	}
	if f.stamp != 0 { // without it a file of this name and size can be any build
		var file *image.File
		file, o.path, o.stale = t.locator.open(&evidence{path: f.path, windows: true, window: true, size: uint32(f.size), stamp: f.stamp})
		if file != nil {
			file.Close()
			if id, source := file.ID(); source == image.IDRSDS {
				b.GUID, b.Age, b.Identity = id.GUID, id.Age, sample.IdentityImageFound
			}
			return o
		}
	}
	id, err := t.locator.findPDB(b.Name, uint32(f.size))
	switch {
	case err != nil:
		o.stale = err
	case !id.GUID.IsZero():
		b.GUID, b.Age, b.Identity, o.stale = id.GUID, id.Age, sample.IdentityPDBFound, nil
	}
	return o
}

// findPDB looks in the image path for the PDB of an image of which only name
// and size are known. It returns a zero identity if there is none, and an error
// if there are several that fit.
func (l *locator) findPDB(name string, size uint32) (found image.ID, err error) {
	if l.finder == nil {
		return found, nil
	}
	stem := name
	if isPEName(name) {
		stem = name[:strings.LastIndexByte(name, '.')]
	}
	for _, path := range l.finder.Paths(stem+".pdb", true) {
		id, have := l.readPDB(path)
		switch {
		case have != size:
		case found.GUID.IsZero():
			found = id
		case found != id:
			return image.ID{}, fmt.Errorf("several files %s.pdb are of an image of %#x bytes", stem, size)
		}
	}
	return found, nil
}

// readPDB returns the identity of a PDB and the size of its image; 0 if it
// cannot be read or does not tell.
func (l *locator) readPDB(path string) (id image.ID, size uint32) {
	r, length, err := l.options.fs().Open(path)
	if err != nil {
		return id, 0
	}
	defer closeReader(r)
	f, err := pdb.NewFile(r, length)
	if err != nil {
		return id, 0
	}
	identity, err := f.Identity()
	if err != nil {
		return id, 0
	}
	addresses, err := f.Addresses()
	if err != nil {
		return id, 0
	}
	const page = 4096
	for _, s := range addresses.Sections {
		size = max(size, (s.VirtualAddress+s.VirtualSize+page-1)&^(page-1))
	}
	return image.ID{GUID: identity.GUID, Age: identity.Age}, size
}

// reportIdentities warns of binaries with samples that have no identity.
func (t *etlTrace) reportIdentities(hits []uint64) {
	anonymous := func(o *object) bool { return o.binary.Identity == sample.IdentityNone }
	w := lacking(diag.NoIdentity, "no identity", t.objects, hits, anonymous)
	if w != nil {
		if t.count(etl.ClassImageID) == 0 {
			w.Because("The trace is unmerged: it lacks the records that identify images.")
		} else {
			w.Because("The merge that added the identities of images did not find these.")
		}
		t.main.warn(w.Do("Run xperf -merge run.etl merged.etl on the machine that recorded it, or give --image-path with the folder of the images or PDBs."))
	}
	t.locator.reportStale(t.objects, hits)
}
