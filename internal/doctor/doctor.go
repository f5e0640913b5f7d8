// Package doctor says why a profile is refused or does not help: it compares
// the identities of databases, traces, images and PDBs, judges what the
// samples and the profile are worth, and names the next command.
//
// It opens no files. A caller reads them into a [Case], correlates the samples
// of SPTs with its subject (see [Samples.Correlate]), and calls [Examine].
package doctor

import (
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// Case is what was read of all files, each kind in the order of naming.
type Case struct {
	SPDs   []*SPD
	SPTs   []*Samples
	Traces []*Samples
	Images []*Image
	PDBs   []*PDB
	Failed []*diag.Error // files or parts that could not be read
}

// SPD is a database: a file, or a part of a PDB, object or image.
type SPD struct {
	File  string
	Where string // the part; empty for a file of its own
	// PathLength is the length of the full path in UTF-16 units, which the
	// linker limits.
	PathLength int
	Content    *spd.File
}

// Samples are an SPT or a recording.
type Samples struct {
	File   string
	Format string // "spt", "etl" or "perf.data"
	Arch   string // of the machine; empty where it is not known
	// Programs are the binaries with samples or a program id.
	Programs []Program

	// Fit is what correlation with the subject said; nil without a program
	// that is of the subject's link.
	Fit *Fit
}

// Image is an executable or shared library.
type Image struct {
	File    string
	ID      image.ID
	Source  image.IDSource
	Kind    image.Kind
	Arch    image.Arch
	BuildID []byte // of an ELF
	// PDB is the path that a PE names as its PDB; empty without one.
	PDB  string
	Code []image.Extent
}

// PDB is a program database.
type PDB struct {
	File     string
	Identity pdb.Identity
	Machine  uint16 // as in the COFF header; 0 without DBI stream
}

// Subject is the SPD that everything is compared with: of those that are files
// of their own the one that most other files are of the build of, the first of
// several; else the first that is embedded; nil if there is none.
func (c *Case) Subject() *SPD {
	var best *SPD
	most := -1
	for _, s := range c.SPDs {
		if n := c.followers(s.identity()); s.Where == "" && n > most {
			best, most = s, n
		}
	}
	if best == nil && len(c.SPDs) > 0 {
		return c.SPDs[0]
	}
	return best
}

// followers counts the files with an identity, without SPDs.
func (c *Case) followers(id identity) (n int) {
	for _, i := range c.Images {
		if i.identity().is(id) {
			n++
		}
	}
	for _, p := range c.PDBs {
		if p.identity().is(id) {
			n++
		}
	}
	for _, s := range slices.Concat(c.SPTs, c.Traces) {
		if slices.ContainsFunc(s.Programs, func(p Program) bool { return p.identity().is(id) }) {
			n++
		}
	}
	return n
}

// identity is what files are compared by.
type identity struct {
	Name string // of the binary
	GUID binfmt.GUID
	Age  uint32
}

func (i identity) is(o identity) bool { return !i.GUID.IsZero() && i.GUID == o.GUID && i.Age == o.Age }

// Relation is how near an identity is to that of the subject.
type Relation string

// Relations, nearest first.
const (
	Same     Relation = "same"
	AgeOnly  Relation = "other age"
	Build    Relation = "other build"
	Nameless Relation = "no identity"
	Other    Relation = "other program"
)

var relations = []Relation{Same, AgeOnly, Build, Nameless, Other}

// relation compares an identity with the one wanted.
func relation(want, have identity) Relation {
	sameName := strings.EqualFold(stem(want.Name), stem(have.Name))
	switch {
	case have.is(want):
		return Same
	case have.GUID == want.GUID && !want.GUID.IsZero():
		return AgeOnly
	case sameName && (have.GUID.IsZero() || want.GUID.IsZero()):
		return Nameless
	case sameName:
		return Build
	}
	return Other
}

// extensions are those that files of one program differ by.
var extensions = []string{".exe", ".dll", ".sys", ".pdb", ".so", ".elf", ".spd", ".debug", ".efi"}

// stem is the name of a binary without folders and the extension of a kind of
// file, by which an image, its PDB and its SPD have the same name.
func stem(name string) string {
	base := sample.BaseName(name)
	for _, e := range extensions {
		if n := len(base) - len(e); n > 0 && strings.EqualFold(base[n:], e) {
			return base[:n]
		}
	}
	return base
}

// Fit is how the samples of an SPT suit the code of the subject.
type Fit struct {
	Mode correlate.Mode // that suits the samples; Auto if none does
	Time bool           // the samples are of time, which fit no flow closely
	// Used samples fell into functions of the SPD, Outside into none.
	Used, Outside uint64
	Touched       int // functions with samples
	Doubtful      int // of these, functions whose counts are far from the samples
	DoubtfulHits  uint64
	Hits          uint64 // of all functions touched
	// Factor is how many times more samples are wanted, at least 1.
	Factor float64
	// Wrong is why the samples cannot be used; nil if they can.
	Wrong *correlate.WrongModeError
}
