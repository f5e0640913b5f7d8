package doctor

import (
	"fmt"
	"slices"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// packedSPT is the kind of a compressed SPT, which sptaggregate reads and
// spdconvert does not: it is treated as a recording.
const packedSPT = "packed SPT"

// rows lists all identities.
func (x *examiner) rows() {
	add := func(r Row) {
		r.Known = !r.GUID.IsZero()
		x.Rows = append(x.Rows, r)
	}
	for _, s := range x.SPDs {
		if s == x.subject {
			x.Reference = len(x.Rows)
		}
		add(Row{File: s.File, Where: s.Where, Kind: "SPD", identity: s.identity(), State: state(s.Content)})
	}
	for _, i := range x.Images {
		add(Row{File: i.File, Kind: i.Kind.String(), identity: i.identity(), alias: i.PDB, BuildID: i.BuildID, Arch: string(i.Arch)})
	}
	for _, p := range x.PDBs {
		r := Row{File: p.File, Kind: "PDB", identity: p.identity(), PDBAge: &p.Identity.InfoAge, Arch: machineName(p.Machine)}
		for _, s := range x.SPDs {
			if s.File == p.File {
				r.alias = s.Content.Header.Binary
			}
		}
		add(r)
	}
	for k, list := range [][]*Samples{x.SPTs, x.Traces} {
		for _, s := range list {
			kind := s.Format
			switch {
			case k == 0:
				kind = "SPT"
			case kind == "spt":
				kind = packedSPT
			}
			for i := range s.Programs {
				p := &s.Programs[i]
				add(Row{File: s.File, Kind: kind, identity: p.identity(), Arch: s.Arch, Source: p.Source, Samples: p.Counts, FileOffsets: p.FileOffsets})
			}
			if len(s.Programs) == 0 {
				add(Row{File: s.File, Kind: kind, Arch: s.Arch})
			}
		}
	}
	// Without an SPD, an image or else a PDB can be compared with.
	for _, kinds := range [][]string{{"PE", "ELF"}, {"PDB"}} {
		for i := range x.Rows {
			if x.Reference < 0 && slices.Contains(kinds, x.Rows[i].Kind) {
				x.Reference = i
			}
		}
	}
}

// compare relates all rows to the subject and finds the row of each file that
// is nearest to it.
func (x *examiner) compare() {
	if x.Reference < 0 {
		return
	}
	x.want = x.Rows[x.Reference].identity
	for i := range x.Rows {
		r := &x.Rows[i]
		if i == x.Reference {
			continue
		}
		r.Relation = relation(x.want, r.identity)
		if r.alias != "" && r.Relation == Other {
			r.Relation = relation(x.want, identity{r.alias, r.GUID, r.Age})
		}
	}
	nearest := map[string]int{}
	for i := range x.Rows {
		r := &x.Rows[i]
		if i == x.Reference {
			continue
		}
		// A copy under another name is still of the build that others are of.
		if r.Relation == Other && slices.ContainsFunc(x.Rows, func(o Row) bool { return o.Relation == Build && o.is(r.identity) }) {
			r.Relation = Build
		}
		key := r.Kind + "\x00" + r.File + "\x00" + r.Where
		best, ok := nearest[key]
		if !ok || r.nearer(&x.Rows[best]) {
			nearest[key] = i
		}
	}
	for _, i := range nearest {
		x.Rows[i].Decides = true
	}
}

// nearer says whether a row is nearer to the subject than one before it of the
// same file, where rows come with most samples first.
func (r *Row) nearer(o *Row) bool {
	a, b := slices.Index(relations, r.Relation), slices.Index(relations, o.Relation)
	return a < b || a == b && o.FileOffsets && !r.FileOffsets
}

// identity is that of the image, by the name of its file: the name that traces
// know it by.
func (i *Image) identity() identity { return identity{sample.BaseName(i.File), i.ID.GUID, i.ID.Age} }

func (p *PDB) identity() identity {
	return identity{sample.BaseName(p.File), p.Identity.GUID, p.Identity.Age}
}

// state says in short what profile an SPD has.
func state(f *spd.File) string {
	if f.Header.Flags&spd.HeaderProfiled == 0 {
		return "no profile"
	}
	s := f.Summary()
	return fmt.Sprintf("profile, coverage %.1f %%", 100*s.BlockCoverage())
}

// machineName names the machine of a COFF header as package image does; "" for
// none.
func machineName(machine uint16) string {
	switch machine {
	case 0:
		return ""
	case 0x14c:
		return string(image.ArchX86)
	case 0x8664:
		return string(image.ArchAMD64)
	case 0xaa64:
		return string(image.ArchARM64)
	case 0xa641, 0xa64e:
		return string(image.ArchARM64EC)
	case 0x1c0, 0x1c2, 0x1c4:
		return string(image.ArchARM)
	}
	return fmt.Sprintf("machine 0x%04x", machine)
}

// architecture gives an architecture of a recording the name that package
// image has for it.
func architecture(name string) string {
	switch name {
	case "x86_64", "amd64":
		return string(image.ArchAMD64)
	case "aarch64":
		return string(image.ArchARM64)
	case "i386", "i486", "i586", "i686":
		return string(image.ArchX86)
	}
	return name
}
