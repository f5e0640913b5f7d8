package debuginfo

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/program"
)

// unit is a decoded compile unit or module.
type unit struct {
	rows  rows // of the innermost functions
	procs intervals[*scope]
}

// maxInlineDepth bounds how deep calls that were inlined into each other are
// followed. Compilers stop far earlier, and the tree is walked by recursion.
const maxInlineDepth = 1000

// scope is a function, or a call that was inlined into one.
type scope struct {
	name      string // linkage name, or the plain one
	local     bool
	unit      string // source or object file of a local one
	startLine uint32
	depth     int             // of a DWARF call, from 1; 0 for a function
	ranges    []program.Range // sorted, disjoint

	// Where an inlined call stands.
	callFile      string
	callLine      uint32
	discriminator uint32

	// rows are the lines of the code as this function sees it, which has the
	// line of the call for code of calls inside of it. Only PDBs have them.
	rows rows

	children []*scope
	inner    intervals[*scope] // children by code
}

// finish sorts what a scope has below it.
func (s *scope) finish() {
	for _, c := range s.children {
		for _, r := range c.ranges {
			s.inner.add(r, c)
		}
	}
	s.inner.build()
}

// rows are sorted and disjoint.
type rows []Row

// at returns the row at an address.
func (r rows) at(rva uint32) (Row, bool) {
	i, found := slices.BinarySearchFunc(r, rva, func(v Row, rva uint32) int { return cmp.Compare(v.Start, rva) })
	if !found {
		i--
	}
	if i < 0 || !r[i].Contains(rva) {
		return Row{}, false
	}
	return r[i], true
}

// within returns the rows of a piece of code, cut to it.
func (r rows) within(in program.Range) []Row {
	i, _ := slices.BinarySearchFunc(r, in.Start, func(v Row, rva uint32) int {
		if v.End <= rva {
			return -1
		}
		return 1
	})
	var out []Row
	for ; i < len(r) && r[i].Start < in.End; i++ {
		row := r[i]
		row.Start, row.End = max(row.Start, in.Start), min(row.End, in.End)
		out = append(out, row)
	}
	return out
}

// normalize sorts rows by address and makes them disjoint: each one ends where
// the next begins. Of rows with the same start the last one stays.
func (r rows) normalize() rows {
	slices.SortStableFunc(r, func(a, b Row) int { return cmp.Compare(a.Start, b.Start) })
	var out rows
	for _, row := range r {
		if row.End <= row.Start {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Start == row.Start {
			out[n-1] = row
			continue
		} else if n > 0 && out[n-1].End > row.Start {
			out[n-1].End = row.Start
		}
		out = append(out, row)
	}
	return out
}

// overlay replaces the rows where top has others. Both are normalized.
func (r rows) overlay(top rows) rows {
	var out rows
	k := 0
	for _, row := range r {
		for k < len(top) && top[k].End <= row.Start {
			k++
		}
		for m := k; m < len(top) && top[m].Start < row.End; m++ {
			if top[m].Start > row.Start {
				before := row
				before.End = top[m].Start
				out = append(out, before)
			}
			row.Start = min(top[m].End, row.End)
		}
		if row.Start < row.End {
			out = append(out, row)
		}
	}
	out = append(out, top...)
	slices.SortFunc(out, func(a, b Row) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// procAt returns the function at an address. Where the linker folded several
// into one, the one of the given name is preferred.
func (u *unit) procAt(rva uint32, name string) *scope {
	best, ok := u.procs.at(rva)
	if !ok {
		return nil
	}
	if best.name != name {
		for _, s := range u.procs.all(rva) {
			if s.name == name {
				return s
			}
		}
	}
	return best
}

// stack returns the frames at an address, the innermost one first.
func (u *unit) stack(rva uint32) []Frame {
	row, known := u.rows.at(rva)
	s, ok := u.procs.at(rva)
	if !ok {
		if !known {
			return nil
		}
		return []Frame{{File: row.File, Line: row.Line, Discriminator: row.Discriminator}}
	}
	var out []Frame
	for ok {
		f := Frame{Function: s.name, StartLine: s.startLine, File: row.File, Line: row.Line, Discriminator: row.Discriminator}
		if own, has := s.rows.at(rva); has {
			f.File, f.Line, f.Discriminator = own.File, own.Line, own.Discriminator
		}
		inner, found := s.inner.at(rva)
		if found && s.rows == nil {
			f.File, f.Line, f.Discriminator = inner.callFile, inner.callLine, inner.discriminator
		}
		out = append(out, f)
		s, ok = inner, found
	}
	slices.Reverse(out)
	return out
}

// inlines returns the calls below a scope whose code is in the given ranges.
func (s *scope) inlines(within []program.Range) []program.Inline {
	var out []program.Inline
	for _, c := range s.children {
		n := program.Inline{Name: c.name, Local: c.local, CallFile: c.callFile, CallLine: c.callLine, Discriminator: c.discriminator,
			Ranges: program.Intersect(c.ranges, within)}
		if c.local {
			n.Unit = c.unit
		}
		if len(n.Ranges) == 0 {
			continue
		}
		n.Children = c.inlines(n.Ranges)
		out = append(out, n)
	}
	slices.SortStableFunc(out, func(a, b program.Inline) int { return cmp.Compare(a.Ranges[0].Start, b.Ranges[0].Start) })
	return out
}
