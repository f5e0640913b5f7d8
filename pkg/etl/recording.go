package etl

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Recording is one or more log files on one clock: what a single session or
// several sessions at the same time recorded. Their time stamps compare.
type Recording struct {
	// Files are the log files, the one that was asked for first.
	Files []*File
	// Ignored says which files were not taken, and why: of those beside it or
	// in the same archive, they are no log files, or on another clock; of all,
	// they are copies of a file that was taken.
	Ignored []error
}

// Close closes all files.
func (r *Recording) Close() error { return closeAll(r.Files) }

// Open opens the recording at path: a log file, alone or packed with gzip or
// zstd, or a zip archive with one or more. Files of the same recording that
// tools put beside a log file X.etl are opened too (X.kernel*.etl, X.user*.etl,
// X.clr*.etl), unless options forbid it.
//
// Packed files are unpacked to a temporary file.
func Open(path string, opt *Options) (*Recording, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	files, ignored, err := openContainer(path, opt)
	if err != nil {
		return nil, err
	}
	rec := &Recording{Files: files[:1], Ignored: ignored}
	for _, f := range files[1:] {
		rec.take(f)
	}
	if opt != nil && opt.NoSiblings {
		return rec, nil
	}
	names, err := siblings(path, opt.files())
	if err != nil { // the named file is readable all the same
		rec.Ignored = append(rec.Ignored, err)
	}
	for _, name := range names {
		more, bad, err := openContainer(name, opt)
		rec.Ignored = append(rec.Ignored, bad...)
		if err != nil {
			rec.Ignored = append(rec.Ignored, binfmt.InFile(err, name))
		}
		for _, f := range more {
			rec.take(f)
		}
	}
	return rec, nil
}

// OpenAll opens the recordings at several paths, each file once even if it is
// both named and beside a named one or named twice, and puts those together that were made
// at the same time on one clock. The recordings are in the order of the first
// path of each.
func OpenAll(paths []string, opt *Options) ([]*Recording, error) {
	var recs []*Recording
	fail := func(err error) ([]*Recording, error) {
		for _, r := range recs {
			err = errors.Join(err, r.Close())
		}
		return nil, err
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[clean(path)] {
			continue
		}
		rec, err := Open(path, opt)
		if err != nil {
			return fail(err)
		}
		recs = join(recs, rec, seen)
		seen[clean(path)] = true
	}
	return recs, nil
}

// join adds rec to the recordings: to one that it belongs to, else as a new
// one. Files that are there already are closed.
func join(recs []*Recording, rec *Recording, seen map[string]bool) []*Recording {
	fresh := rec.Files[:0]
	for _, f := range rec.Files {
		if seen[clean(f.name)] {
			f.Close()
			continue
		}
		seen[clean(f.name)] = true
		fresh = append(fresh, f)
	}
	rec.Files = fresh
	if len(fresh) == 0 {
		return recs
	}
	for _, old := range recs {
		if SameClock(old.Files[0], fresh[0]) == nil {
			old.Ignored = append(old.Ignored, rec.Ignored...)
			for _, f := range fresh {
				old.add(f)
			}
			return recs
		}
	}
	return append(recs, rec)
}

func clean(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// take adds a file if it is on the clock of the first.
func (r *Recording) take(f *File) {
	if err := SameClock(r.Files[0], f); err != nil {
		r.Ignored = append(r.Ignored, err)
		f.Close()
		return
	}
	r.add(f)
}

// add adds a file on the clock of the others, unless it is a copy of one of
// them: under another name, or packed. Its events would count twice.
func (r *Recording) add(f *File) {
	for _, old := range r.Files {
		if f.copies(old) {
			r.Ignored = append(r.Ignored, &binfmt.Error{File: f.name, Part: "log file", Offset: -1, Got: "a copy of " + old.name})
			f.Close()
			return
		}
	}
	r.Files = append(r.Files, f)
}

// copies says whether f and o hold the same bytes. What was read of both when
// they were opened tells nearly all others apart.
func (f *File) copies(o *File) bool {
	if f.size != o.size || f.Header != o.Header || !slices.Equal(f.buffers, o.buffers) {
		return false
	}
	const piece = 64 << 10
	var a, b [piece]byte
	for off := int64(0); off < f.size; off += piece {
		n := min(piece, f.size-off)
		if readFull(f.r, a[:n], off) != nil || readFull(o.r, b[:n], off) != nil || !bytes.Equal(a[:n], b[:n]) {
			return false
		}
	}
	return true
}

// SameClock says why the time stamps of two files do not compare, or why the
// files have nothing to do with each other: sessions one after the other on a
// machine that ran on.
func SameClock(a, b *File) error {
	x, y := &a.Header, &b.Header
	differ := func(what string, want, got any) error {
		return &binfmt.Error{File: b.name, Part: what, Offset: -1, Want: fmt.Sprintf("%v as in %s", want, a.name), Got: fmt.Sprint(got), Err: binfmt.ErrUnsupported}
	}
	clock := func(h *LogFile) Clock {
		if h.Clock == ClockRaw {
			return ClockQPC
		}
		return h.Clock
	}
	switch {
	case clock(x) != clock(y):
		return differ("clock", clock(x), clock(y))
	case x.PerfFreq != y.PerfFreq:
		return differ("performance counter frequency", x.PerfFreq, y.PerfFreq)
	case x.BootTime != y.BootTime:
		return differ("boot time", WallTime(x.BootTime), WallTime(y.BootTime))
	case x.EndTime != 0 && y.StartTime > x.EndTime, y.EndTime != 0 && x.StartTime > y.EndTime:
		return differ("time of recording", WallTime(x.StartTime), WallTime(y.StartTime))
	}
	return nil
}

// siblingParts are the words that tools put between the base name and ".etl"
// in the names of files of one recording; numbers may follow.
var siblingParts = []string{"kernel", "user", "clr"}

// siblings finds files of the same recording beside path, in order of their
// names.
func siblings(path string, files Files) ([]string, error) {
	dir, file := filepath.Split(path)
	lower := strings.ToLower(file)
	base, ok := strings.CutSuffix(lower, ".etl")
	if !ok {
		return nil, nil
	}
	list, err := files.List(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range list {
		rest, ok := strings.CutPrefix(strings.ToLower(name), base+".")
		if !ok || !strings.HasSuffix(rest, ".etl") {
			continue
		}
		for _, part := range siblingParts {
			if strings.HasPrefix(rest, part) {
				names = append(names, filepath.Join(dir, name))
				break
			}
		}
	}
	return names, nil
}
