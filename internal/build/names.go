package build

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// names gives out ids. Those that are taken already get a number behind the
// name, in the order in which they are asked for.
type names struct {
	taken    map[spd.ID]bool
	numbered int
}

// symbol returns the symbol of a name with an id of its own.
func (n *names) symbol(name, unit string, local bool) spd.Symbol {
	s := spd.Symbol{SymbolFlags: spd.SymbolAlways}
	if local {
		s.SymbolFlags |= spd.SymbolStatic
	}
	for k := 1; ; k++ {
		s.Name = name
		if k > 1 {
			s.Name = fmt.Sprintf("%s#%d", name, k)
		}
		s.ID = spd.FunctionID(s.Name)
		if local {
			s.ID = spd.StaticID(unit, s.Name)
		}
		if !n.taken[s.ID] && s.ID != 0 {
			break
		}
		if k == 1 {
			n.numbered++
		}
	}
	n.taken[s.ID] = true
	return s
}

// name gives every part its name and id.
func (b *builder) name() {
	n := names{taken: make(map[spd.ID]bool, len(b.parts))}
	for k := range b.parts {
		p := &b.parts[k]
		name := p.Name
		if name == "" {
			name = fmt.Sprintf("sub_%x", p.Entry())
			b.report.Unnamed++
		}
		if p.number > 0 {
			name += ".cold"
			b.report.Parts++
		}
		if p.number > 1 {
			name = fmt.Sprintf("%s.%d", name, p.number)
		}
		p.symbol = n.symbol(name, p.Unit, p.Local)
	}
	b.report.Numbered = n.numbered
	b.names = n
}

// alias is a further name of a part.
type alias struct {
	symbol spd.Symbol
	of     int
}

// aliases returns the records of further names, in the order of the code.
func (b *builder) aliases() []alias {
	var list []alias
	for k := range b.parts {
		p := &b.parts[k]
		if p.number > 0 {
			continue
		}
		for _, name := range slices.SortedFunc(slices.Values(p.Aliases), cmp.Compare[string]) {
			s := b.names.symbol(name, p.Unit, p.Local)
			s.SymbolFlags |= spd.SymbolFolded
			s.FoldedInto = p.code.Start
			list = append(list, alias{s, k})
		}
	}
	return list
}
