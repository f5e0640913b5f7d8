package export

import (
	"bufio"
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// The branch profile of BOLT has a line for each pair of places:
//
//	1 function offset 1 function offset mispredictions count
//
// Offsets are hexadecimal. The first number of a place is 1 for one in a
// function, 0 for unknown code. A way from a block to the next one is a line
// from the block's last instruction.
//
// Source: BOLT's DataReader.h and the output of perf2bolt.

// branch is a pair of places, each a function and an offset.
type branch struct {
	from, to             int // outside for code that is not in the profile
	fromOffset, toOffset uint32
}

// outside stands for code of other binaries.
const outside = -1

func compareBranches(a, b branch) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.fromOffset, b.fromOffset),
		cmp.Compare(a.to, b.to), cmp.Compare(a.toOffset, b.toOffset))
}

// writeBOLT writes the branches of the functions that are in the symbol table.
func (p *program) writeBOLT(w io.Writer) error {
	names, err := p.boltNames()
	if err != nil {
		return err
	}
	kept := p.keptFunctions(names)
	branches := make(map[branch]uint64)
	arrivals := make([]uint64, len(p.functions))
	add := func(b branch, count uint64) {
		if kept[b.from] && names[b.to] != "" {
			branches[b] = binfmt.SatAdd(branches[b], count)
		}
	}
	for k := range p.functions {
		f := &p.functions[k]
		p.ways(f, func(from instruction, to uint32, count uint64) {
			add(branch{k, k, from.rva - f.RVA, to - f.RVA}, count)
		})
		for _, c := range p.calls(f) {
			add(branch{k, c.to, c.from.rva - f.RVA, c.offset}, c.count)
			if c.offset == 0 {
				arrivals[c.to] = binfmt.SatAdd(arrivals[c.to], c.count)
			}
		}
	}
	for k := range p.functions {
		if entries := p.functions[k].EntryCount(); kept[k] && !p.functions[k].part() && entries > arrivals[k] {
			branches[branch{outside, k, 0, 0}] = entries - arrivals[k]
		}
	}
	out := bufio.NewWriter(w)
	for _, b := range keys(branches, compareBranches) {
		count := p.scaled(branches[b])
		if count == 0 {
			continue
		}
		p.report.Records++
		if b.from == outside {
			out.WriteString("0 [unknown] 0")
		} else {
			fmt.Fprintf(out, "1 %s %x", names[b.from], b.fromOffset)
		}
		fmt.Fprintf(out, " 1 %s %x 0 %d\n", names[b.to], b.toOffset, count)
	}
	return out.Flush()
}

// keptFunctions says which functions trimming leaves, and counts those that
// have no symbol.
func (p *program) keptFunctions(names []string) []bool {
	var order []int
	for k := range p.functions {
		f := &p.functions[k]
		switch {
		case f.weight == 0 || f.blocks == nil:
		case names[k] == "":
			p.lose(f, &p.report.WithoutSymbol)
		case f.stub():
			p.report.Stubs++
		default:
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.functions[b].weight, p.functions[a].weight) })
	weights := make([]uint64, len(order))
	for n, k := range order {
		weights[n] = executions(p.functions[k].weight)
	}
	order = order[:p.heaviest(weights)]
	p.report.Exported = len(order)
	kept := make([]bool, len(p.functions))
	for _, k := range order {
		kept[k] = true
	}
	return kept
}

// ways calls do for the edges of a function between blocks with code: from the
// last instruction of the one to the first of the other. Behind a call goes on
// what it returns to, and its exceptions come from the code that unwinds: neither
// is a way from the call.
func (p *program) ways(f *function, do func(from instruction, to uint32, count uint64)) {
	for k := range f.blocks {
		b := &f.blocks[k]
		if len(b.code) == 0 {
			continue
		}
		last := b.code[len(b.code)-1]
		if last.calls() {
			continue
		}
		for _, e := range b.Edges {
			if to := f.blocks[e.To-1].code; len(to) > 0 {
				do(last, to[0].rva, e.Count)
			}
		}
	}
}

// boltNames gives each function the name that BOLT has for it, "" if it has
// none. BOLT numbers local symbols of the same name by address, and names
// stubs of imported functions by these.
func (p *program) boltNames() ([]string, error) {
	names := make([]string, len(p.functions))
	if p.img.Kind != image.KindELF {
		return nil, &binfmt.Error{Part: "image", Want: "an ELF image", Got: "a PE image", Err: binfmt.ErrUnsupported}
	}
	file, err := elf.NewFile(p.img.Reader())
	if err != nil {
		return nil, err
	}
	symbols, err := file.Symbols()
	if err != nil {
		symbols = nil // a stripped image
	}
	slices.SortStableFunc(symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	numbers := make(map[string]int)
	for _, s := range symbols {
		kind, binding := elf.ST_TYPE(s.Info), elf.ST_BIND(s.Info)
		if s.Name == "" || s.Section == elf.SHN_UNDEF || kind == elf.STT_FILE || kind == elf.STT_SECTION || s.Value < p.img.Base {
			continue
		}
		name := s.Name
		if binding != elf.STB_GLOBAL && binding != elf.STB_WEAK {
			numbers[name]++
			name = fmt.Sprintf("%s/%d", name, numbers[name])
		}
		if k, ok := p.start(uint32(s.Value - p.img.Base)); ok && names[k] == "" && kind != elf.STT_OBJECT {
			names[k] = strings.ReplaceAll(name, " ", "\\ ")
		}
	}
	for k := range p.functions {
		if f := &p.functions[k]; f.stub() {
			names[k] = strings.TrimSuffix(f.Name, "@plt") + "@PLT"
		}
	}
	return names, nil
}
