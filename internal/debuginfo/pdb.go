package debuginfo

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/pdb"
)

// openPDB opens the PDB and notes where the code of each module lies.
func (i *Info) openPDB(path string) error {
	file, err := OpenPDB(i.img, path)
	if err != nil {
		return err
	}
	i.pdb = file
	modules, err := file.Modules()
	if err != nil {
		return err
	}
	addresses, err := file.Addresses()
	if err != nil {
		return err
	}
	number := make([]int, len(modules)) // of the source
	for m := range modules {
		number[m] = -1
		if modules[m].Stream < 0 {
			continue
		}
		number[m] = len(i.sources)
		u := Unit{Name: modules[m].Name}
		if c, ok, err := file.ModuleCompiler(m); err != nil {
			i.problem(err)
		} else if ok {
			u.Producer = c.Name
			u.Language = languages[c.Language]
		}
		i.sources = append(i.sources, source{u, nil, func() (*unit, error) { return i.loadModule(m) }})
	}
	code := make([][]program.Range, len(modules))
	for c, err := range file.Contributions() {
		if err != nil {
			i.problem(err)
			break
		}
		if c.Module >= len(modules) || number[c.Module] < 0 || c.Size == 0 {
			continue
		}
		if rva, ok := addresses.RVA(c.Section, c.Offset); ok && program.Containing(i.code, rva) >= 0 && rva <= math.MaxUint32-c.Size {
			code[c.Module] = append(code[c.Module], program.Range{Start: rva, End: rva + c.Size})
		}
	}
	for m, ranges := range code {
		for _, r := range program.Union(ranges) {
			i.index.add(r, number[m])
		}
		if len(ranges) > 0 {
			i.stats.Units++
		}
	}
	return nil
}

// languages are the DW_LANG numbers of CodeView's languages: C, C++, Fortran,
// assembler, D, Swift, Rust.
var languages = map[uint8]int64{0: 0x0c, 1: 0x1a, 2: 0x0e, 3: 0x8001, 'D': 0x13, 'S': 0x1e, 0x15: 0x1c}

// pdbNames finds linkage names. The records of functions and inlined calls
// have undecorated ones.
type pdbNames struct {
	public map[uint32]string     // by RVA
	procs  map[string]procNaming // by undecorated name
	static map[staticName]bool
}

type procNaming struct {
	linkage   string
	ambiguous bool // functions of this name have different linkage names
}

type staticName struct {
	module int
	name   string
}

// loadNames reads the names of all public symbols and functions.
func (i *Info) loadNames() {
	n := &i.names
	if n.public != nil {
		return
	}
	n.public, n.procs, n.static = map[uint32]string{}, map[string]procNaming{}, map[staticName]bool{}
	for p, err := range i.pdb.Publics() {
		if err != nil {
			i.problem(err)
			break
		}
		if old, ok := n.public[p.RVA]; p.Mapped && (!ok || p.Name < old) {
			n.public[p.RVA] = p.Name
		}
	}
	for p, err := range i.pdb.Procs() {
		if err != nil {
			i.problem(err)
			break
		}
		if !p.Mapped {
			continue
		}
		if p.Local() {
			n.static[staticName{p.Module, p.Name}] = true
			continue
		}
		linkage := n.public[p.RVA]
		if linkage == "" {
			continue
		}
		old, known := n.procs[p.Name]
		n.procs[p.Name] = procNaming{linkage, known && (old.ambiguous || old.linkage != linkage)}
	}
}

// loadModule decodes a module.
func (i *Info) loadModule(m int) (*unit, error) {
	i.loadNames()
	modules, err := i.pdb.Modules()
	if err != nil {
		return nil, err
	}
	object := baseName(modules[m].Name)
	u := &unit{}
	for l, err := range i.pdb.ModuleLines(m) {
		if err != nil {
			return nil, err
		}
		if l.Mapped && l.RVA <= math.MaxUint32-l.Length {
			u.rows = append(u.rows, lineRow(l.RVA, l.Length, l.File, l.Line))
		}
	}
	u.rows = u.rows.normalize()
	var leaves rows
	for p, err := range i.pdb.ModuleInlines(m) {
		if err != nil {
			return nil, err
		}
		if !p.Mapped || p.Length == 0 || p.RVA > math.MaxUint32-p.Length {
			continue
		}
		code := program.Range{Start: p.RVA, End: p.RVA + p.Length}
		fn := &scope{name: i.names.public[p.RVA], local: p.Local(), unit: object, ranges: []program.Range{code}, rows: u.rows.within(code)}
		if fn.name == "" {
			fn.name = p.Name
		}
		if len(fn.rows) > 0 {
			fn.startLine = fn.rows[0].Line
		}
		leaf, err := i.addSites(fn, p.Sites, m, object)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, leaf...)
		u.procs.add(code, fn)
	}
	u.procs.build()
	u.rows = u.rows.overlay(leaves.normalize())
	return u, nil
}

// lineRow makes a row; the line numbers that stand for no source become 0.
func lineRow(rva, length uint32, file string, line uint32) Row {
	if line == pdb.LineAlwaysStepInto || line == pdb.LineNeverStepInto {
		line = 0
	}
	return Row{Range: program.Range{Start: rva, End: rva + length}, File: file, Line: line}
}

// addSites puts the inlined calls below a function and returns the rows of the
// innermost ones. A call stands on the line that the function or call around it
// has for the first byte.
func (i *Info) addSites(fn *scope, sites []pdb.InlineSite, module int, object string) (leaf rows, err error) {
	outermost := &level{scope: fn}
	open := []*level{outermost} // by depth
	tooDeep := false
	for _, site := range sites {
		s := &scope{startLine: site.Line, unit: object}
		undecorated, err := i.pdb.IDName(site.Inlinee)
		if err != nil {
			return nil, err
		}
		s.name, s.local = i.names.inlinee(undecorated, module)
		for _, r := range site.Ranges {
			if r.Chunk != 0 {
				i.stats.Unplaced++
			}
			if !r.Mapped || r.Length == 0 || r.RVA > math.MaxUint32-r.Length {
				continue
			}
			row := lineRow(r.RVA, r.Length, r.File, r.Line)
			s.rows = append(s.rows, row)
			s.ranges = append(s.ranges, row.Range)
		}
		s.rows, s.ranges = s.rows.normalize(), program.Union(s.ranges)
		tooDeep = tooDeep || site.Depth > maxInlineDepth
		depth := min(max(site.Depth, 1), len(open), maxInlineDepth)
		parent := open[depth-1]
		this := &level{scope: s}
		open = append(open[:depth], this)
		parent.inner = append(parent.inner, this)
		if len(s.ranges) == 0 {
			continue
		}
		if call, ok := parent.scope.rows.at(s.ranges[0].Start); ok {
			s.callFile, s.callLine = call.File, call.Line
		}
		parent.scope.children = append(parent.scope.children, s)
	}
	if tooDeep {
		i.problem(fmt.Errorf("PDB module %s: %s has calls inlined more than %d levels deep", object, fn.name, maxInlineDepth))
	}
	finishTree(fn)
	return outermost.leaf(), nil
}

// level is a function or an inlined call with the calls right inside of it,
// those without code included.
type level struct {
	scope *scope
	inner []*level
}

// leaf returns the rows of the innermost calls at each place.
func (l *level) leaf() rows {
	var inner rows
	for _, c := range l.inner {
		inner = append(inner, c.leaf()...)
	}
	if len(inner) == 0 {
		return l.scope.rows
	}
	return l.scope.rows.overlay(inner.normalize())
}

func finishTree(s *scope) {
	slices.SortStableFunc(s.children, func(a, b *scope) int { return cmp.Compare(a.ranges[0].Start, b.ranges[0].Start) })
	s.finish()
	for _, c := range s.children {
		finishTree(c)
	}
}

// inlinee returns the linkage name of an inlined function: that of the function
// itself where its code is in the image as well, else the undecorated name.
func (n *pdbNames) inlinee(undecorated string, module int) (name string, local bool) {
	if n.static[staticName{module, undecorated}] {
		return undecorated, true
	}
	if p, ok := n.procs[undecorated]; ok && !p.ambiguous {
		return p.linkage, false
	}
	return undecorated, false
}
