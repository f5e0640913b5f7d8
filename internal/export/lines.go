package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// place is a place in a function's source: compilers find it again by the
// distance from the function's first line, modulo 2^16, in later versions of
// the file as well.
type place struct {
	offset        uint16
	discriminator uint32
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.discriminator, b.discriminator))
}

// line is what was executed of the code of a place.
type line struct {
	count  uint64 // of the instruction executed most
	calls  map[string]uint64
	others uint64 // calls through pointers to functions that calls has not
}

// site is a call that was inlined.
type site struct {
	place
	callee string
}

func compareSites(a, b site) int {
	return cmp.Or(comparePlaces(a.place, b.place), cmp.Compare(a.callee, b.callee))
}

// lines is the profile of a function, or of an inlined call of one, by source
// lines. Counts are those of the database until scale makes them the profile's.
type lines struct {
	name    string
	total   uint64 // executed bytes of code, inlined calls included
	entries uint64
	body    map[place]*line
	inlined map[site]*lines
}

func newLines(name string) *lines {
	return &lines{name: name, body: make(map[place]*line), inlined: make(map[site]*lines)}
}

// at returns the line at a place.
func (l *lines) at(p place) *line {
	x := l.body[p]
	if x == nil {
		x = &line{calls: make(map[string]uint64)}
		l.body[p] = x
	}
	return x
}

// call returns the profile of an inlined call.
func (l *lines) call(s site) *lines {
	x := l.inlined[s]
	if x == nil {
		x = newLines(s.callee)
		l.inlined[s] = x
	}
	return x
}

// scale makes all counts those of the profile.
func (l *lines) scale(scaled func(uint64) uint64) {
	l.total, l.entries = scaled(l.total), scaled(l.entries)
	for _, x := range l.body {
		x.count = scaled(x.count)
		for name, n := range x.calls {
			if x.calls[name] = scaled(n); x.calls[name] == 0 {
				delete(x.calls, name)
			}
		}
		x.addOthers(scaled(x.others))
	}
	for _, x := range l.inlined {
		x.scale(scaled)
	}
}

// addOthers adds calls to functions that are not known: a database has three
// targets of a call at most, and compilers take those that they are told for all
// there are. They are divided among made-up names, so that none seems to be
// called more often than the known functions, nor often enough to matter by
// itself: LLVM makes a direct call of what has a twentieth.
func (x *line) addOthers(count uint64) {
	if len(x.calls) == 0 {
		return
	}
	most := count
	for _, n := range x.calls {
		most = min(most, n-1)
	}
	most = max(most, count/32+1)
	for k := 1; count > 0; k++ {
		n := min(count, most)
		x.calls[fmt.Sprintf("[other.%d]", k)] = n
		count -= n
	}
}

// places returns the places of the body in order.
func (l *lines) places() []place { return keys(l.body, comparePlaces) }

// sites returns the inlined calls in order.
func (l *lines) sites() []site { return keys(l.inlined, compareSites) }

// records counts the lines, inlined ones included.
func (l *lines) records() int {
	n := len(l.body)
	for _, x := range l.inlined {
		n += x.records()
	}
	return n
}

// target is a called function.
type target struct {
	name  string
	count uint64
}

// targets returns the functions that a line called, the most frequent first.
func (x *line) targets() []target {
	var list []target
	for name, n := range x.calls {
		list = append(list, target{name, n})
	}
	slices.SortFunc(list, func(a, b target) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name)) })
	return list
}

// discriminators says what a compiler keeps in a discriminator: the number of
// the block on its line, and of how many copies of the code this is one.
type discriminators func(producer string, d uint32) (number, copies uint32)

// lineProfile makes the profiles of all functions by source lines, the
// heaviest first.
func (p *program) lineProfile(meaning discriminators) []*lines {
	all := make(map[string]*lines)
	calls, names := p.namedCalls()
	for k := range p.functions {
		f := &p.functions[k]
		if f.weight == 0 || f.blocks == nil {
			continue
		}
		if f.stub() {
			p.report.Stubs++
			continue
		}
		if !p.addLines(all, f, calls[k], names, meaning) {
			p.lose(f, &p.report.WithoutLines)
		}
	}
	var list []*lines
	for _, name := range keys(all, strings.Compare) {
		x := all[name]
		x.scale(p.scaled)
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b *lines) int { return cmp.Compare(b.total, a.total) })
	weights := make([]uint64, len(list))
	for k, x := range list {
		weights[k] = x.total
	}
	list = list[:p.heaviest(weights)]
	p.report.Exported = len(list)
	for _, x := range list {
		p.report.Records += x.records()
	}
	return list
}

// namedCalls returns the calls of each function that its line profile shows,
// and the names of the functions that are called. Names are looked up in the
// order of addresses: that of a function needs the whole unit that it is in.
func (p *program) namedCalls() (calls [][]call, names map[int]string) {
	calls, names = make([][]call, len(p.functions)), make(map[int]string)
	for k := range p.functions {
		for _, c := range p.calls(&p.functions[k]) {
			if to := &p.functions[c.to]; c.offset == 0 && !to.stub() && !to.part() {
				calls[k] = append(calls[k], c)
				names[c.to] = ""
			}
		}
	}
	for _, k := range keys(names, cmp.Compare[int]) {
		names[k] = p.sourceName(&p.functions[k])
	}
	return calls, names
}

// sourceName is the name of a function by its debug information, which has no
// suffixes of copies that a compiler made; else that of the database.
func (p *program) sourceName(f *function) string {
	if stack := p.debug.Stack(f.RVA); len(stack) > 0 && stack[len(stack)-1].Function != "" {
		return stack[len(stack)-1].Function
	}
	return f.Name
}

// addLines adds the code of a function to the profiles. It is false if there
// is no debug information of it.
func (p *program) addLines(all map[string]*lines, f *function, list []call, names map[int]string, meaning discriminators) bool {
	unit, _ := p.debug.Unit(f.RVA)
	calls := make(map[uint32][]call)
	for _, c := range list {
		calls[c.from.rva] = append(calls[c.from.rva], c)
	}
	known := false
	for k := range f.blocks {
		b := &f.blocks[k]
		for _, i := range b.code {
			stack := p.debug.Stack(i.rva)
			if len(stack) == 0 || stack[len(stack)-1].StartLine == 0 {
				continue
			}
			known = true
			count := b.Count
			here, at := p.descend(all, stack, unit.Producer, binfmt.SatMul(count, uint64(i.Len)), meaning)
			_, copies := meaning(unit.Producer, stack[0].Discriminator)
			x := here.at(at)
			x.count = max(x.count, binfmt.SatMul(count, uint64(copies)))
			told := uint64(0)
			for _, c := range calls[i.rva] {
				name := names[c.to]
				x.calls[name] = binfmt.SatAdd(x.calls[name], c.count)
				told = binfmt.SatAdd(told, c.count)
			}
			// The count of each target is rounded down.
			if targets := uint64(len(calls[i.rva])); i.indirect() && targets > 0 && count > binfmt.SatAdd(told, targets) {
				x.others = binfmt.SatAdd(x.others, count-told)
			}
		}
	}
	if known && !f.part() {
		if x := all[p.sourceName(f)]; x != nil {
			x.entries = binfmt.SatAdd(x.entries, f.EntryCount())
		}
	}
	return known
}

// descend goes from the outermost function of a stack through the inlined
// calls to the innermost one, and adds weight to all of them.
func (p *program) descend(all map[string]*lines, stack []debuginfo.Frame, producer string, weight uint64, meaning discriminators) (*lines, place) {
	outer := stack[len(stack)-1].Function
	here := all[outer]
	if here == nil {
		here = newLines(outer)
		all[outer] = here
	}
	for k := len(stack) - 1; ; k-- {
		here.total = binfmt.SatAdd(here.total, weight)
		frame := stack[k]
		number, _ := meaning(producer, frame.Discriminator)
		at := place{uint16(frame.Line - frame.StartLine), number}
		if k == 0 {
			return here, at
		}
		here = here.call(site{at, stack[k-1].Function})
	}
}
