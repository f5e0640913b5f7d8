package funcs

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/pdb"
)

// readPDB takes the procedures, separated code and public symbols of a PDB.
// The linkage name is that of the public symbol; a procedure gives the size, and
// its undecorated name where there is no other.
func (f *finder) readPDB(name string) error {
	file, err := debuginfo.OpenPDB(f.img, name)
	if err != nil {
		return err
	}
	defer file.Close()
	modules, err := file.Modules()
	if err != nil {
		return err
	}
	for p, err := range file.Procs() {
		if err != nil {
			f.fail(err)
			break
		}
		pc := piece{name: p.Name, hint: true, local: p.Local(), source: program.PDB, weight: 1}
		if pc.local && p.Module < len(modules) {
			pc.unit = baseName(modules[p.Module].Name)
		}
		f.addPDB(pc, p.Address, p.Length)
	}
	for s, err := range file.SepCodes() {
		if err != nil {
			f.fail(err)
			break
		}
		f.addPDB(piece{source: program.PDB, part: s.Parent.Mapped, parent: s.Parent.RVA, weight: 2}, s.Address, s.Length)
	}
	ends := f.contributionEnds(file)
	for p, err := range file.Publics() {
		if err != nil {
			f.fail(err)
			break
		}
		if p.Flags&(pdb.PublicCode|pdb.PublicFunction) == 0 && (!p.Mapped || program.Containing(f.code, p.RVA) < 0) {
			continue // data
		}
		f.addPDB(piece{name: p.Name, source: program.PDB, label: p.Flags&pdb.PublicFunction == 0}, p.Address, 0)
		if p.Mapped {
			f.limitPublic(ends, p.RVA)
		}
	}
	return nil
}

// addPDB adds a piece at an address, which code that was removed does not have.
func (f *finder) addPDB(p piece, at pdb.Address, size uint32) {
	if !at.Mapped {
		f.report.Pieces[p.source]++
		f.report.skip(p.source, OutsideCode)
		return
	}
	f.add(p, uint64(at.RVA), uint64(size))
}

// contributionEnds returns the pieces of code that modules brought, by
// address.
func (f *finder) contributionEnds(file *pdb.File) []program.Range {
	m, err := file.Addresses()
	if err != nil {
		f.fail(err)
		return nil
	}
	if m.Rearranged() {
		return nil // they tell where the code was before
	}
	var out []program.Range
	for c, err := range file.Contributions() {
		if err != nil {
			f.fail(err)
			break
		}
		rva, ok := m.RVA(c.Section, c.Offset)
		if ok && c.Size > 0 && rva+c.Size > rva && program.Containing(f.code, rva) >= 0 {
			out = append(out, program.Range{Start: rva, End: rva + c.Size})
		}
	}
	slices.SortFunc(out, func(a, b program.Range) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// limitPublic notes where the code around a public symbol ends: a function
// does not go on in the code of another module.
func (f *finder) limitPublic(ends []program.Range, rva uint32) {
	if i := program.Containing(ends, rva); i >= 0 {
		f.limits = append(f.limits, ends[i].End)
	}
}
