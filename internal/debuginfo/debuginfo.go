// Package debuginfo tells for code of a native binary which source line it
// came from, and which calls were inlined into it.
//
// Two kinds of debug information are read: DWARF 2 to 5 in an ELF image, in
// its separate debug file or in a PE (MinGW), and PDBs. Both are decoded one
// unit at a time, when an address in it is asked for: a DWARF compile unit, or
// a module of a PDB. Split DWARF is read from .dwo files, or the package of them
// beside the image (.dwp).
package debuginfo

import (
	"debug/dwarf"
	"math"
	"slices"
	"sync"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
)

// Unit says what a unit was made from and by whom.
type Unit struct {
	Name     string // source file or object file
	Producer string // such as "Debian clang version 19.1.7", "GNU C17 12.2.0 ..."
	// Language is a DW_LANG number, 0 if unknown.
	Language int64
}

// Row is a piece of code that came from one line.
type Row struct {
	program.Range
	File string // as the compiler named it, joined with its folder
	Line uint32 // from 1; 0 for code of no line
	// Discriminator tells blocks on one line apart. What it means is up to
	// the producer: LLVM encodes copies of code in it, GCC does not.
	Discriminator uint32
}

// Frame is one level of inlining at an address.
type Frame struct {
	// Function is the linkage name, or the plain one where the debug
	// information has no other, as GCC leaves it with some templates; "" if
	// unknown. That of the outermost frame is in the symbols as well.
	Function      string
	StartLine     uint32 // where the function is declared, 0 if unknown
	File          string // where the code, or for outer frames the call, stands
	Line          uint32
	Discriminator uint32
}

// Stats counts what a binary offers.
type Stats struct {
	Units int // with code
	// Split counts the units whose description is in a .dwo file; Missing are
	// the names of those files that were not found, so that of these units only
	// lines are known.
	Split   int
	Missing []string
	// Unusable says why of files of split units those are of no use that were
	// tried, and BadPackages why packages (.dwp) are: damage, or a
	// [MismatchError].
	Unusable, BadPackages []error
	// Broken counts units that could not be decoded, or not all of it.
	Broken int
	// Unplaced counts pieces of inlined calls in separated parts of
	// functions, whose place a PDB gives relative to the part.
	Unplaced int
}

// Info is the debug information of one image. It is safe for concurrent use.
type Info struct {
	img   *image.File
	pdb   *pdb.File
	dwarf *dwarf.Data
	code  []program.Range
	names pdbNames

	near     []string               // files beside which .dwo and .dwp files are
	sections map[string][]byte      // of the image, that split units refer to
	packages map[string]*dwoPackage // by what they are near to, nil for none

	mu       sync.Mutex
	index    intervals[int] // number of the source unit by code
	sources  []source
	loaded   map[int]*unit
	recent   []int // numbers of loaded units, the last used one last
	stats    Stats
	problems []error
}

// source is where a unit is read from.
type source struct {
	Unit
	split *skeleton
	load  func() (*unit, error)
}

// maxLoaded bounds how many decoded units are kept.
const maxLoaded = 64

// Open reads the index of the debug information of an image. DebugPath is its
// PDB or separate debug file, "" for none; one of another build is a
// [MismatchError]. Split debug information is looked for beside both files, and
// where the compiler put it. An image without debug information is no error.
func Open(img *image.File, imagePath, debugPath string) (*Info, error) {
	i := &Info{img: img, loaded: map[int]*unit{}}
	for _, path := range []string{imagePath, debugPath} {
		if path != "" {
			i.near = append(i.near, path)
		}
	}
	for _, e := range img.Code() {
		i.code = append(i.code, program.Range{Start: uint32(min(e.Start, math.MaxUint32)), End: uint32(min(e.End, math.MaxUint32))})
	}
	var err error
	if img.Kind == image.KindPE {
		if debugPath != "" {
			err = i.openPDB(debugPath)
		}
		i.openDWARF(img)
	} else {
		err = i.openELF(debugPath)
	}
	if err != nil {
		i.Close()
		return nil, err
	}
	i.judgePackages()
	i.index.build()
	return i, nil
}

// openELF takes DWARF from the debug file where there is one.
func (i *Info) openELF(debugPath string) error {
	if debugPath == "" {
		i.openDWARF(i.img)
		return nil
	}
	debug, err := OpenDebugFile(i.img, debugPath)
	if err != nil {
		return err
	}
	defer debug.Close()
	i.openDWARF(debug)
	return nil
}

// Close closes the PDB.
func (i *Info) Close() error {
	if i.pdb == nil {
		return nil
	}
	return i.pdb.Close()
}

// Stats returns what was found so far.
func (i *Info) Stats() Stats {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stats
}

// Problems returns the defects that were met so far.
func (i *Info) Problems() []error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]error(nil), i.problems...)
}

// Unit returns the unit that the code at rva belongs to.
func (i *Info) Unit(rva uint32) (Unit, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n, ok := i.index.at(rva)
	if !ok {
		return Unit{}, false
	}
	if s := &i.sources[n]; s.split != nil && s.Producer == "" {
		i.load(n) // its other part says who made it
	}
	return i.sources[n].Unit, true
}

// Stack returns the function at rva and the calls that were inlined around it,
// the innermost one first; nil where nothing is known.
func (i *Info) Stack(rva uint32) []Frame {
	i.mu.Lock()
	defer i.mu.Unlock()
	u := i.unitAt(rva)
	if u == nil {
		return nil
	}
	return u.stack(rva)
}

// Inlines returns the calls that were inlined into a function.
func (i *Info) Inlines(fn program.Function) []program.Inline {
	i.mu.Lock()
	defer i.mu.Unlock()
	u := i.unitAt(fn.Entry())
	if u == nil {
		return nil
	}
	s := u.procAt(fn.Entry(), fn.Name)
	if s == nil {
		return nil
	}
	return s.inlines(fn.Ranges)
}

// unitAt returns the unit with the code at rva, decoded; nil if there is none.
func (i *Info) unitAt(rva uint32) *unit {
	n, ok := i.index.at(rva)
	if !ok {
		return nil
	}
	return i.load(n)
}

// load decodes a unit, or returns it if it was used recently. One with defects
// is what could be decoded, nil for nothing.
func (i *Info) load(n int) *unit {
	last := len(i.recent) - 1
	if last >= 0 && i.recent[last] == n {
		return i.loaded[n]
	}
	if k := slices.Index(i.recent, n); k >= 0 {
		i.recent = append(slices.Delete(i.recent, k, k+1), n)
		return i.loaded[n]
	}
	u, err := i.sources[n].load()
	if err != nil {
		i.problem(err)
		i.stats.Broken++
		i.sources[n].load = func() (*unit, error) { return u, nil } // once is enough
	}
	if len(i.recent) == maxLoaded {
		delete(i.loaded, i.recent[0])
		i.recent = slices.Delete(i.recent, 0, 1)
	}
	i.loaded[n] = u
	i.recent = append(i.recent, n)
	return u
}

// maxProblems bounds how many defects are kept.
const maxProblems = 32

func (i *Info) problem(err error) {
	if err != nil && len(i.problems) < maxProblems {
		i.problems = append(i.problems, err)
	}
}
