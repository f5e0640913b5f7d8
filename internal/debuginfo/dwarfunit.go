package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
)

// errBackwards says that skipping what is below an entry led to one before it.
// Entries name the one to go on with, and nothing else keeps that from being a
// circle.
var errBackwards = errors.New("an entry whose next sibling stands before it")

// dwarfUnit decodes one unit.
type dwarfUnit struct {
	info    *Info
	cu      *dwarf.Entry // with the lines
	data    *dwarf.Data  // with the functions
	root    dwarf.Offset // of the entry that they are below
	ranges  func(*dwarf.Entry) ([][2]uint64, error)
	name    string // of the source file, without folders
	path    string // of the source file as the compiler was given it
	folder  string // that the compiler worked in
	files   []*dwarf.LineFile
	origins map[dwarf.Offset]origin
	out     *unit
}

// origin is what a description of a function says that others refer to.
type origin struct {
	linkage, name string
	line          uint32
	external      bool
}

// loadDWARF decodes unit n. Of a split one without its other part only lines are
// known.
func (i *Info) loadDWARF(n int, cu *dwarf.Entry, split *skeleton) (*unit, error) {
	u := &dwarfUnit{info: i, cu: cu, data: i.dwarf, root: cu.Offset, ranges: i.dwarf.Ranges, origins: map[dwarf.Offset]origin{}, out: &unit{}}
	described := unitOf(cu)
	u.folder, _ = cu.Val(dwarf.AttrCompDir).(string)
	var missing error
	if split != nil {
		var d *splitData
		if d, missing = i.openSplit(split); d != nil {
			u.data, u.root, u.ranges = d.data, d.cu.Offset, d.rangesOf
			described = unitOf(d.cu)
			if n < len(i.sources) {
				i.sources[n].Unit = described
			}
		}
	}
	u.path, u.name = described.Name, baseName(described.Name)
	err := errors.Join(missing, u.readLines(), u.readScopes())
	u.out.procs.build()
	if err != nil {
		err = fmt.Errorf("DWARF unit %s: %w", u.path, err)
	}
	return u.out, err
}

// readLines reads the line table. Its sequences are pieces of code of their
// own; those of code that was left out are not in the image.
func (u *dwarfUnit) readLines() error {
	if at, ok := u.cu.Val(dwarf.AttrStmtList).(int64); ok {
		if err := checkLineTable(u.info.sections["line"], at, u.info.dwarf.Reader().ByteOrder()); err != nil {
			return err
		}
	}
	lr, err := u.info.dwarf.LineReader(u.cu)
	if err != nil || lr == nil {
		return err
	}
	defer func() {
		u.files = lr.Files()
		u.out.rows = u.out.rows.normalize()
	}()
	var e, last dwarf.LineEntry
	open := false
	for {
		if err := lr.Next(&e); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if r, ok := u.info.codeRange(last.Address, e.Address); ok && open {
			row := Row{Range: r, Line: uint32(last.Line), Discriminator: uint32(last.Discriminator)}
			row.File = u.fileName(last.File)
			u.out.rows = append(u.out.rows, row)
		}
		last, open = e, !e.EndSequence
	}
}

// baseName is the last part of a path of Windows or Unix.
func baseName(p string) string {
	return p[strings.LastIndexAny(p, `/\`)+1:]
}

// file returns the name of a file of the line table.
func (u *dwarfUnit) file(index any) string {
	n, ok := index.(int64)
	if !ok || n < 0 || n >= int64(len(u.files)) {
		return ""
	}
	return u.fileName(u.files[n])
}

// fileName mends what debug/dwarf makes of names in DWARF 5: it puts an
// absolute one behind the working folder, and leaves one in a relative folder
// without it.
func (u *dwarfUnit) fileName(f *dwarf.LineFile) string {
	switch {
	case f == nil:
		return ""
	case isAbsolute(u.path) && f.Name == path.Join(u.folder, u.path):
		return u.path
	case !isAbsolute(f.Name) && !strings.HasPrefix(f.Name, path.Clean(u.folder)+"/"):
		return path.Join(u.folder, f.Name)
	}
	return f.Name
}

// isAbsolute is true for "/x", `\\x` and "c:x".
func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || len(p) > 1 && p[1] == ':'
}

// readScopes walks the tree of the unit and keeps functions and inlined calls
// with code.
func (u *dwarfUnit) readScopes() error {
	r := u.data.Reader()
	r.Seek(u.root)
	var stack []*scope // innermost function or call of each open level, nil outside
	next := dwarf.Offset(0)
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return nil
		}
		if e.Offset != 0 { // the end of a list has none
			if e.Offset < next {
				return errBackwards
			}
			next = e.Offset + 1
		}
		if e.Tag == 0 {
			if n := len(stack); n > 0 {
				if s := stack[n-1]; s != nil && (n == 1 || stack[n-2] != s) {
					s.finish()
				}
				stack = stack[:n-1]
			}
			if len(stack) == 0 {
				return nil
			}
			continue
		}
		var inside *scope
		if len(stack) > 0 {
			inside = stack[len(stack)-1]
		}
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			s, err := u.scope(e)
			if err != nil {
				return err
			}
			switch {
			case e.Tag == dwarf.TagSubprogram:
				// Without code it is a declaration, or the origin of others.
				inside = s
				if s != nil {
					for _, r := range s.ranges {
						u.out.procs.add(r, s)
					}
				}
			case s != nil && inside != nil:
				if s.depth = inside.depth + 1; s.depth > maxInlineDepth {
					return fmt.Errorf("calls are inlined more than %d levels deep", maxInlineDepth)
				}
				inside.children = append(inside.children, s)
				inside = s
			}
		case dwarf.TagArrayType, dwarf.TagSubroutineType, dwarf.TagEnumerationType:
			r.SkipChildren()
			continue
		}
		if e.Children {
			stack = append(stack, inside)
		} else if len(stack) == 0 {
			return nil // a unit of nothing
		}
	}
}

// scope makes the scope of a function or inlined call, nil if it has no code.
func (u *dwarfUnit) scope(e *dwarf.Entry) (*scope, error) {
	if e.Val(dwarf.AttrLowpc) == nil && e.Val(dwarf.AttrRanges) == nil {
		return nil, nil
	}
	list, err := u.ranges(e)
	if err != nil {
		return nil, err
	}
	ranges := u.info.codeOf(list)
	if len(ranges) == 0 {
		return nil, nil
	}
	o, err := u.origin(e, 0)
	if err != nil {
		return nil, err
	}
	s := &scope{name: o.linkage, local: !o.external, unit: u.name, startLine: o.line, ranges: ranges}
	if s.name == "" {
		s.name = o.name
	}
	if e.Tag == dwarf.TagInlinedSubroutine {
		s.callFile = u.file(e.Val(dwarf.AttrCallFile))
		s.callLine = number(e.Val(dwarf.AttrCallLine))
		s.discriminator = number(e.Val(attrGNUDiscriminator))
	}
	return s, nil
}

func number(v any) uint32 {
	n, ok := v.(int64)
	if !ok || n < 0 || n > math.MaxUint32 {
		return 0
	}
	return uint32(n)
}

// maxOrigins bounds how far references from one description to another are
// followed.
const maxOrigins = 16

// origin returns what an entry says of its function, or what the entries say
// that it refers to.
func (u *dwarfUnit) origin(e *dwarf.Entry, depth int) (origin, error) {
	o := origin{line: number(e.Val(dwarf.AttrDeclLine))}
	if o.linkage, _ = e.Val(dwarf.AttrLinkageName).(string); o.linkage == "" {
		o.linkage, _ = e.Val(attrLinkageNameMIPS).(string)
	}
	o.name, _ = e.Val(dwarf.AttrName).(string)
	o.external, _ = e.Val(dwarf.AttrExternal).(bool)
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		ref, ok := e.Val(attr).(dwarf.Offset)
		if !ok || depth == maxOrigins {
			continue
		}
		far, known := u.origins[ref]
		if !known {
			u.origins[ref] = origin{} // of what refers to itself
			r := u.data.Reader()
			r.Seek(ref)
			target, err := r.Next()
			if err != nil {
				return o, err
			}
			if target != nil {
				if far, err = u.origin(target, depth+1); err != nil {
					return o, err
				}
			}
			u.origins[ref] = far
		}
		if o.linkage == "" {
			o.linkage = far.linkage
		}
		if o.name == "" {
			o.name = far.name
		}
		if o.line == 0 {
			o.line = far.line
		}
		o.external = o.external || far.external
	}
	return o, nil
}
