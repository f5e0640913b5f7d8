package ntfs

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/bits"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// indexName is the name of the attributes that make the index of names in a
// folder.
const indexName = "$I30"

// maxKeptNames bounds how many names are kept of folders that were read.
const maxKeptNames = 1 << 18

// folder is the contents of a folder.
type folder struct {
	entries []entry          // in the order of names
	byKey   map[string][]int // indices by name without case
}

// key is equal for names that differ in case only. NTFS has a table for that in
// each volume, which maps to upper case unit by unit.
func key(name string) string { return strings.ToUpper(name) }

// folder reads the folder in a record, or returns what was kept of it.
func (v *Volume) folder(r *record) (*folder, error) {
	v.mu.Lock()
	f := v.folders[r.number]
	v.mu.Unlock()
	if f != nil {
		return f, nil
	}
	entries, err := v.index(r)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.record, b.record), cmp.Compare(a.space, b.space))
	})
	f = &folder{entries, map[string][]int{}}
	for i, e := range entries {
		k := key(e.name)
		f.byKey[k] = append(f.byKey[k], i)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.keptNames += len(entries); v.keptNames > maxKeptNames {
		clear(v.folders)
		v.keptNames = len(entries)
	}
	v.folders[r.number] = f
	return f, nil
}

// index reads all names of a folder: those in the root of its index, and those
// in the blocks that its bitmap says are in use. Blocks that are not may hold
// names of files that are no more.
func (v *Volume) index(r *record) ([]entry, error) {
	what := fmt.Sprintf("folder (MFT record %d): index", r.number)
	if r.flags&recordDirectory == 0 {
		return nil, &binfmt.Error{Part: what, Offset: r.off + 22, Want: "a folder", Got: "a file", Err: fs.ErrInvalid}
	}
	root, err := v.value(r, typeIndexRoot, indexName, what)
	if err != nil {
		return nil, err
	}
	if root == nil || root.Size() > v.recordSize {
		return nil, &binfmt.Error{Part: what, Offset: r.off, Want: "an index root in the record", Got: "none", Err: binfmt.ErrCorrupt}
	}
	value := make([]byte, root.Size())
	if _, err := root.ReadAt(value, 0); err != nil && len(value) > 0 {
		return nil, err
	}
	entries, block, err := indexRoot(value, what, r.off)
	if err != nil {
		return nil, err
	}
	blocks, err := v.value(r, typeIndexAllocation, indexName, what)
	if err != nil || blocks == nil {
		return entries, err
	}
	if block < stride || block > maxBlock || bits.OnesCount32(block) != 1 {
		return nil, &binfmt.Error{Part: what, Offset: r.off, Want: fmt.Sprintf("a power of two from %d to %d as the bytes of a block", stride, maxBlock),
			Got: fmt.Sprint(block), Err: binfmt.ErrCorrupt}
	}
	bitmap, err := v.value(r, typeBitmap, indexName, what)
	if err != nil {
		return nil, err
	}
	if bitmap == nil {
		return nil, &binfmt.Error{Part: what, Offset: r.off, Want: "a bitmap of the blocks", Got: "none", Err: binfmt.ErrCorrupt}
	}
	return v.indexBlocks(entries, blocks, bitmap, int64(block), what)
}

// indexBlocks appends the names in the blocks that are in use.
func (v *Volume) indexBlocks(entries []entry, blocks, bitmap valueReader, size int64, what string) ([]entry, error) {
	if err := noHoles(blocks, what); err != nil {
		return nil, err
	}
	if err := noHoles(bitmap, what); err != nil {
		return nil, err
	}
	raw, used := make([]byte, size), make([]byte, 4096)
	count := min(blocks.Size()/size, bitmap.Size()*8)
	for n := range count {
		if n%int64(8*len(used)) == 0 {
			if _, err := bitmap.ReadAt(used[:min(int64(len(used)), bitmap.Size()-n/8)], n/8); err != nil {
				return nil, err
			}
		}
		if used[n/8%int64(len(used))]>>(n%8)&1 == 0 {
			continue
		}
		if _, err := blocks.ReadAt(raw, n*size); err != nil {
			return nil, err
		}
		off := int64(-1)
		if s, ok := blocks.(*stream); ok {
			off = s.locate(n * size)
		}
		more, err := indexBlock(raw, fmt.Sprintf("%s block %d", what, n), off)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	return entries, nil
}

// noHoles bounds the work on a part of an index by the size of the volume.
func noHoles(r valueReader, what string) error {
	if s, ok := r.(*stream); ok && (s.real < s.clusters || s.unit > 0) {
		return s.defect(-1, binfmt.ErrCorrupt, "an index without holes", fmt.Sprintf("%d of %d clusters", s.real, s.clusters))
	}
	return nil
}

// find returns the entry of a name: in the same case if there is one, else in
// another, and short names last.
func (f *folder) find(name string) (*entry, bool) {
	var best *entry
	rank := 0
	for _, i := range f.byKey[key(name)] {
		e := &f.entries[i]
		r := 2
		if e.name == name {
			r = 3
		}
		if e.space == spaceDOS {
			r = 1
		}
		if r > rank {
			best, rank = e, r
		}
	}
	return best, best != nil
}

// node is a file or folder that a path leads to.
type node struct {
	record *record
	path   string // with the names as they are on the volume
}

// find follows a clean path from the root.
func (v *Volume) find(path string) (*node, error) {
	r, err := v.record(recordRoot, 0)
	if err != nil {
		return nil, err
	}
	n := &node{r, ""}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			break // the root
		}
		if n.record.flags&recordDirectory == 0 {
			return nil, &binfmt.Error{Offset: -1, Want: "a folder", Got: n.path + ", which is a file", Err: fs.ErrNotExist}
		}
		f, err := v.folder(n.record)
		if err != nil {
			return nil, err
		}
		e, ok := f.find(name)
		if !ok {
			got := "none"
			if near := f.near(name); len(near) > 0 {
				got += ", but " + strings.Join(near, ", ")
			}
			return nil, &binfmt.Error{Offset: -1, Want: fmt.Sprintf("%q in %s", name, cmp.Or(n.path, "/")), Got: got, Err: fs.ErrNotExist}
		}
		if r, err = v.record(e.record, e.sequence); err != nil {
			return nil, err
		}
		n = &node{r, n.path + "/" + e.name}
		if r.flags&recordDirectory != 0 {
			if err := v.checkReparse(r); err != nil {
				return nil, err
			}
		}
	}
	if n.path == "" {
		n.path = "/"
	}
	return n, nil
}

// ReadDir lists a folder in the order of names. Left out are links, since what
// they lead to is listed in its own place or on another volume, and names that
// no path can hold.
func (v *Volume) ReadDir(path string) ([]image.DirEntry, error) {
	n, err := v.find(clean(path))
	if err != nil {
		return nil, v.within(path, err)
	}
	f, err := v.folder(n.record)
	if err != nil {
		return nil, v.within(path, err)
	}
	var list []image.DirEntry
	for i := range f.entries {
		e := &f.entries[i]
		link := e.flags&flagReparse != 0 && e.reparse&tagSurrogate != 0
		if e.space == spaceDOS || link || e.name == "." || e.name == ".." || strings.ContainsAny(e.name, `/\`) {
			continue
		}
		list = append(list, image.DirEntry{Name: e.name, Dir: e.flags&flagDirectory != 0})
	}
	return list, nil
}
