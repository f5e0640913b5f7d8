package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Incompatible shows the identities where samples and SPD do not belong
// together.
type Incompatible struct {
	SPD    Identity   `json:"spd"`
	Inputs []Programs `json:"inputs"` // all SPTs, those that match as well
	// Found are images and PDBs of the image path that have one of the
	// identities.
	Found []FoundIdentity `json:"found"`
}

// Identity names a build.
type Identity struct {
	Name string `json:"name"`
	GUID string `json:"guid"`
	Age  uint32 `json:"age"`
}

func (i Identity) String() string {
	return fmt.Sprintf("%s %s age %d", printable(i.Name), i.GUID, i.Age)
}

// Programs are the program ids of an SPT.
type Programs struct {
	File     string    `json:"file"`
	Matches  bool      `json:"matches"`
	Programs []Program `json:"programs"`
}

// Program is a program id with its samples.
type Program struct {
	Identity
	Samples uint64 `json:"samples"`
	// Relation to the SPD: same, same GUID, same name or none.
	Relation string `json:"relation"`
	Nearest  bool   `json:"nearest"`
}

// rank orders programs for people.
func (p *Program) rank() int {
	if p.Nearest {
		return 0
	}
	return 1
}

// FoundIdentity is a file with an identity.
type FoundIdentity struct {
	File string `json:"file"`
	Identity
	Of string `json:"of"` // spd or spt: whose identity it is
}

// maxPrograms bounds the programs of an SPT that are printed: recordings of
// whole machines hold hundreds.
const maxPrograms = 20

// WriteText prints the identities side by side.
func (x *Incompatible) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	t.line("SPD version incompatible")
	t.line("SPD       : %s", x.SPD)
	for _, in := range x.Inputs {
		verdict := "does not match"
		if in.Matches {
			verdict = "matches"
		}
		t.line("%s: %s", in.File, verdict)
		programs := slices.Clone(in.Programs)
		slices.SortStableFunc(programs, func(a, b Program) int {
			return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Samples, a.Samples))
		})
		rest, others := uint64(0), programs[min(len(programs), maxPrograms):]
		for _, p := range others {
			rest = binfmt.SatAdd(rest, p.Samples)
		}
		for _, p := range programs[:len(programs)-len(others)] {
			nearest := ""
			if p.Nearest {
				nearest = ", nearest"
			}
			t.line("  %s: %s samples (%s%s)", p.Identity, Count(p.Samples), p.Relation, nearest)
		}
		if len(others) > 0 {
			t.line("  %s others: %s samples; --json lists all", Count(uint64(len(others))), Count(rest))
		}
	}
	for _, f := range x.Found {
		whose := "the samples are of this file"
		if f.Of == "spd" {
			whose = "the SPD is of this file"
		}
		t.line("Found     : %s %s age %d: %s", f.File, f.GUID, f.Age, whose)
	}
	t.line("Nothing was written")
	return t.err
}
