package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// object is a file that a trace maps into processes.
type object struct {
	binary sample.Binary
	index  int32         // of the registered binary
	skip   sample.Reason // why its samples are not wanted; Used: they are
	file   *image.File   // its headers, closed; nil where the file was not found
	path   string        // where it was found

	windows    bool   // a PE image
	kernelText uint64 // of the kernel: distance of the symbol of its map from _text
	stale      error  // why a file that was there is another one
}

// rva turns an offset in the object's file into an RVA.
func (o *object) rva(offset uint64) (uint64, bool) {
	if o.file == nil {
		return offset, true
	}
	return o.file.RVA(offset)
}

// evidence is what a trace knows of a mapped file.
type evidence struct {
	path     string // as traced, " (deleted)" cut off
	deleted  bool
	buildID  []byte   // GNU build id, nil where the trace has none
	identity string   // where buildID comes from
	size     uint32   // SizeOfImage of a PE, 0 where it is not known
	stamp    uint32   // TimeDateStamp of a PE, 0 where it is not known
	windows  bool     // a PE
	window   bool     // of a PE: its start is mapped, which is where addresses count from
	offsets  []uint64 // file offsets of its executable maps

	module       bool   // a module of the kernel
	kernelSymbol string // of the kernel: the symbol that its map gives the address of
}

// locator finds the files of a trace on this machine and gives them identities.
type locator struct {
	options *Options
	finder  *image.Finder
	facts   *Facts
	// sameHost says that the trace is of this machine as far as can be told,
	// so that its paths lead to its files even without a build id.
	sameHost bool
}

func newLocator(o *Options, facts *Facts) *locator {
	l := &locator{options: o, facts: facts, sameHost: true}
	if facts.Host != "" {
		name, err := os.Hostname()
		l.sameHost = err == nil && name == facts.Host
	}
	if len(o.ImagePath) > 0 {
		l.finder = &image.Finder{Dirs: o.ImagePath, FS: o.fs()}
	}
	return l
}

// locate finds the file of an object and gives it its binary, with the headers
// of the file where they were found.
func (l *locator) locate(ev *evidence) *object {
	b := sample.Binary{Name: sample.BaseName(ev.path), Path: ev.path, Identity: sample.IdentityNone}
	if ev.buildID != nil {
		b.GUID, b.Identity = image.GUIDFromBuildID(ev.buildID), ev.identity
	}
	file, path, stale := l.open(ev)
	if file == nil {
		b.FileOffsets = !ev.window
		return &object{binary: b, windows: ev.windows, stale: stale}
	}
	file.Close() // its headers are in memory, and a trace can have thousands of files
	if ev.buildID == nil {
		if id, source := file.ID(); source != image.IDNone {
			b.GUID, b.Age, b.Identity = id.GUID, id.Age, sample.IdentityFile
			if source == image.IDRSDS {
				b.Identity = sample.IdentityPE
			}
		}
	}
	return &object{binary: b, windows: ev.windows, file: file, path: path}
}

// report warns of binaries with samples that lack something. Hits are samples
// by object.
func (l *locator) report(objects []*object, hits []uint64) {
	offsets := lacking(diag.FileOffsets, "not found, so that addresses stay file offsets", objects, hits, func(o *object) bool { return o.binary.FileOffsets })
	if offsets != nil && l.finder != nil && l.finder.Unread() > 0 {
		offsets.Message += fmt.Sprintf("; %d files of the image path were compared by name alone", l.finder.Unread())
	}
	for _, w := range []*diag.Error{
		lacking(diag.NoIdentity, "no identity", objects, hits, func(o *object) bool { return o.binary.Identity == sample.IdentityNone }),
		offsets,
	} {
		if w != nil {
			l.facts.warn(w)
		}
	}
	l.reportStale(objects, hits)
}

// lacking is one warning about all objects with samples that lack something;
// nil if none does.
func lacking(code diag.Code, what string, objects []*object, hits []uint64, lacks func(o *object) bool) *diag.Error {
	var names []string
	var samples uint64
	for _, i := range byHits(hits) {
		if o := objects[i]; lacks(o) {
			samples += hits[i]
			names = append(names, fmt.Sprintf("%s (%d samples)", o.binary.Path, hits[i]))
		}
	}
	if len(names) == 0 {
		return nil
	}
	const shown = 5
	more := ""
	if n := len(names) - shown; n > 0 {
		names, more = names[:shown], fmt.Sprintf(" and %d more", n)
	}
	w := diag.New(code, "%s: %s%s", what, strings.Join(names, ", "), more)
	w.Count = samples
	return w
}

// reportStale warns of objects with samples of which another build was found.
func (l *locator) reportStale(objects []*object, hits []uint64) {
	for i, o := range objects {
		if o.stale != nil && hits[i] > 0 {
			l.facts.warn(diag.New(diag.StaleImage, "%s: %v", o.binary.Path, o.stale))
		}
	}
}

// byHits lists the numbers of the objects that have hits, most hits first.
func byHits(hits []uint64) []int {
	var order []int
	for i, n := range hits {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hits[b], hits[a]) })
	return order
}

// open opens the file of ev: where the path map says, at its own path if that
// can be trusted, or in the image path. Stale is why a file that was there is
// not the one.
func (l *locator) open(ev *evidence) (file *image.File, path string, stale error) {
	want := image.Want{
		Name: ev.path, Windows: ev.windows, BuildID: ev.buildID,
		SizeOfImage: ev.size, TimeDateStamp: ev.stamp, Accept: ev.accepts,
	}
	local, mapped := l.options.localPath(ev.path)
	trusted := mapped || ev.buildID != nil || l.sameHost && !ev.deleted || ev.stamp != 0
	_, inDiskImage := ntfs.Parse(local)
	if trusted && (filepath.IsAbs(local) || inDiskImage) {
		f, err := l.openImage(local)
		if err == nil {
			if err = want.Check(f); err == nil {
				return f, local, nil
			}
			f.Close()
			stale = fmt.Errorf("%s: %w", local, err)
		}
	}
	if l.finder == nil {
		return nil, "", stale
	}
	found, err := l.finder.Find(want)
	if err == nil {
		return found.File, found.Path, nil
	}
	var missing *image.NotFoundError
	if errors.As(err, &missing) && missing.MissCount > 0 {
		stale = err
	}
	return nil, "", stale
}

// openImage opens an image file on this machine or in a disk image.
func (l *locator) openImage(path string) (*image.File, error) {
	if _, inDiskImage := ntfs.Parse(path); !inDiskImage {
		return image.Open(path)
	}
	r, size, err := l.options.fs().Open(path)
	if err != nil {
		return nil, err
	}
	f, err := image.NewFile(r, size)
	return f, binfmt.InFile(err, path)
}

// locateKernel gives the kernel its identity. RVAs of the kernel count from
// _text; only vmlinux can tell how far another symbol is from there.
func (l *locator) locateKernel(ev *evidence) *object {
	o := l.unlocated(ev)
	if ev.kernelSymbol == "_text" {
		return o
	}
	if l.finder != nil && ev.buildID != nil {
		if found, err := l.finder.Find(image.Want{Name: "vmlinux", BuildID: ev.buildID}); err == nil {
			defer found.File.Close()
			start, ok1, _ := found.File.ELF.Symbol("_text")
			symbol, ok2, _ := found.File.ELF.Symbol(ev.kernelSymbol)
			if ok1 && ok2 {
				o.kernelText = symbol.Value - start.Value
				return o
			}
		}
	}
	o.binary.FileOffsets = true
	return o
}

// unlocated gives an identity to an image that needs no file to translate its
// addresses: the kernel, its modules and the vdso.
func (l *locator) unlocated(ev *evidence) *object {
	o := &object{binary: sample.Binary{Name: sample.BaseName(ev.path), Path: ev.path, Identity: sample.IdentityNone,
		Kernel: ev.module || ev.kernelSymbol != ""}}
	if ev.buildID != nil {
		o.binary.GUID, o.binary.Identity = image.GUIDFromBuildID(ev.buildID), ev.identity
	}
	return o
}

// accepts checks that a file could have been mapped as the trace says.
func (ev *evidence) accepts(f *image.File) error {
	if ev.windows != (f.Kind == image.KindPE) {
		return fmt.Errorf("is a %v file", f.Kind)
	}
	if ev.windows {
		return nil
	}
	for _, off := range ev.offsets {
		if _, ok := f.RVA(off); !ok {
			return fmt.Errorf("no segment of the file holds offset %#x, which the trace maps as code", off)
		}
	}
	return nil
}

// peExtensions are the usual ends of names of PE images.
var peExtensions = []string{".exe", ".dll", ".sys", ".ocx", ".cpl", ".drv", ".scr", ".efi", ".ax", ".acm"}

// isPEName says whether a path looks like that of a PE image.
func isPEName(path string) bool {
	dot := strings.LastIndexByte(path, '.')
	return dot >= 0 && slices.Contains(peExtensions, strings.ToLower(path[dot:]))
}

// regions cuts a map of the file offsets [offset, offset+size) at start into
// ranges of addresses in which the RVA rises with the address.
func (o *object) regions(owner int32, start, size, offset uint64) []addrspace.Region {
	if start+size < start {
		size = addrspace.Forever - start // up to the end of the address space
	}
	if o.file == nil {
		return []addrspace.Region{{Start: start, End: start + size, Owner: owner, Bias: offset - start}}
	}
	var regions []addrspace.Region
	borders := o.borders(offset, size)
	for i, at := range borders[:len(borders)-1] {
		rva, ok := o.rva(at)
		if !ok {
			continue
		}
		from := start + (at - offset)
		r := addrspace.Region{Start: from, End: start + (borders[i+1] - offset), Owner: owner, Bias: rva - from}
		if n := len(regions); n > 0 && regions[n-1].End == r.Start && regions[n-1].Bias == r.Bias {
			regions[n-1].End = r.End
		} else {
			regions = append(regions, r)
		}
	}
	return regions
}

// borders returns the file offsets in [offset, offset+size] at which the
// translation to an RVA can change, both ends included.
func (o *object) borders(offset, size uint64) []uint64 {
	end := offset + size
	if end < offset {
		end = ^uint64(0)
	}
	list := []uint64{offset, end}
	add := func(at uint64) {
		if offset < at && at < end {
			list = append(list, at)
		}
	}
	if e := o.file.ELF; e != nil {
		for _, s := range e.Segments {
			add(s.Offset &^ 0xfff)
			add(s.Offset)
			add(s.Offset + s.FileSize)
		}
	} else {
		for _, s := range o.file.Sections {
			add(s.Offset)
			add(s.Offset + s.FileSize)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
