package build

import (
	"fmt"

	"github.com/spgo-tools/spgo/internal/program"
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
		// Only the image itself calls its linkage stubs.
		p.symbol = n.symbol(name, p.Unit, p.Local || p.Source == program.PLT)
		if p.taken {
			p.symbol.SymbolFlags |= spd.SymbolAddressTaken
		}
	}
	b.report.Numbered = n.numbered
	b.names = n
}

// aliases returns symbols for the further names of functions, in the order of
// the code.
func (b *builder) aliases() []spd.Symbol {
	var list []spd.Symbol
	for k := range b.parts {
		p := &b.parts[k]
		if p.number > 0 {
			continue
		}
		for _, name := range p.Aliases {
			s := b.names.symbol(name, p.Unit, p.Local)
			s.SymbolFlags |= spd.SymbolFolded
			s.FoldedInto = p.code.Start
			list = append(list, s)
		}
	}
	return list
}

// inlinedOnly returns symbols for the inlined functions that have no code of
// their own, in the order of the code.
func (b *builder) inlinedOnly() []spd.Symbol {
	var list []spd.Symbol
	for k := range b.parts {
		for _, n := range b.parts[k].used {
			if !b.names.taken[n.id()] {
				list = append(list, b.names.symbol(n.name, n.unit, n.local))
			}
		}
	}
	return list
}
