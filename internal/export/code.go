package export

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// program is the database laid over the code of the image.
type program struct {
	img       *image.File
	binary    string // its name
	debug     *debuginfo.Info
	arch      disasm.Arch
	trim      float64
	functions []function // with code, by address
	ids       map[spd.ID]int
	report    Report
}

// function is a function with the instructions of its blocks.
type function struct {
	*spd.Function
	blocks []block
	weight uint64 // instructions executed, in counts
}

// block is a block with its instructions in the order of its ranges.
type block struct {
	*spd.Block
	code []instruction
}

// instruction is a machine instruction at an RVA.
type instruction struct {
	rva uint32
	disasm.Inst
}

// direct returns where a direct branch or call leads to.
func (i instruction) direct() (uint32, bool) {
	switch i.Kind {
	case disasm.Jump, disasm.CondJump, disasm.Call:
		return uint32(i.Target), true
	}
	return 0, false
}

func (i instruction) calls() bool { return i.Kind == disasm.Call || i.Kind == disasm.IndirectCall }

// indirect says whether the instruction jumps to, or calls, where a register or
// memory says.
func (i instruction) indirect() bool {
	return i.Kind == disasm.IndirectCall || i.Kind == disasm.IndirectJump
}

// load decodes the code of all functions with counts.
func load(in Input) (*program, error) {
	p := &program{img: in.Image, binary: in.Profile.Header.Binary, debug: in.Debug, trim: in.Trim, ids: make(map[spd.ID]int)}
	switch in.Image.Arch {
	case image.ArchAMD64:
		p.arch = disasm.AMD64
	case image.ArchARM64:
		p.arch = disasm.ARM64
	default:
		return nil, &binfmt.Error{Part: "machine", Want: "x86-64 or arm64", Got: string(in.Image.Arch), Err: binfmt.ErrUnsupported}
	}
	for m := range in.Profile.Modules {
		list := in.Profile.Modules[m].Functions
		for k := range list {
			if list[k].Length > 0 {
				p.functions = append(p.functions, function{Function: &list[k]})
			}
		}
	}
	slices.SortStableFunc(p.functions, func(a, b function) int { return cmp.Compare(a.RVA, b.RVA) })
	for k := range p.functions {
		f := &p.functions[k]
		p.ids[f.ID] = k
		if f.Covered() == 0 {
			continue
		}
		p.report.Functions++
		if !p.decode(f) {
			p.lose(f, &p.report.WithoutCode)
			f.blocks = nil
		}
		p.report.Weight = binfmt.SatAdd(p.report.Weight, executions(f.weight))
	}
	p.chooseScale()
	return p, nil
}

// lose counts a function that cannot be exported.
func (p *program) lose(f *function, reason *int) {
	*reason++
	p.report.LostWeight = binfmt.SatAdd(p.report.LostWeight, executions(f.weight))
}

// decode finds the instructions of a function's blocks. It is false if some
// code is not in the image. A block's ranges end with padding or data, so it
// has as many instructions as the database says, or fewer where the bytes are
// none.
func (p *program) decode(f *function) bool {
	_, held, _ := p.img.FileOffset(uint64(f.RVA))
	if held < uint64(f.Length) {
		f.weight = f.Weight()
		return false
	}
	code := make([]byte, f.Length)
	if _, err := p.img.ReadAtRVA(code, uint64(f.RVA)); err != nil {
		f.weight = f.Weight()
		return false
	}
	f.blocks = make([]block, len(f.Blocks))
	for k := range f.Blocks {
		b := &f.blocks[k]
		b.Block = &f.Blocks[k]
		for _, r := range b.Ranges {
			if r.Start > f.Length || r.Length > f.Length-r.Start {
				continue // of a part elsewhere
			}
			for at := r.Start; at < r.Start+r.Length && len(b.code) < int(b.Instructions); {
				i, ok := p.arch.Decode(code[at:r.Start+r.Length], uint64(f.RVA+at))
				if !ok {
					break
				}
				b.code = append(b.code, instruction{f.RVA + at, i})
				at += uint32(i.Len)
			}
		}
		f.weight = binfmt.SatAdd(f.weight, binfmt.SatMul(b.Count, uint64(len(b.code))))
	}
	return true
}

// at returns the function whose code contains an address.
func (p *program) at(rva uint32) (int, bool) {
	k, found := slices.BinarySearchFunc(p.functions, rva, func(f function, r uint32) int { return cmp.Compare(f.RVA, r) })
	if !found {
		k--
	}
	if k < 0 || rva-p.functions[k].RVA >= p.functions[k].Length {
		return 0, false
	}
	return k, true
}

// start returns the function that begins at an address.
func (p *program) start(rva uint32) (int, bool) {
	k, ok := p.at(rva)
	return k, ok && p.functions[k].RVA == rva
}

// stub says whether a function only leads to one of another binary.
func (f *function) stub() bool { return strings.HasSuffix(f.Name, "@plt") }

// part says whether a record is a separated part of a function.
func (f *function) part() bool {
	return strings.HasSuffix(f.Name, ".cold") || strings.Contains(f.Name, ".cold.")
}

// call is a call, or jump to another function, with its target and how often
// it was done, as a count.
type call struct {
	block  int
	from   instruction
	to     int // index of the function
	offset uint32
	count  uint64
}

// calls returns the calls of a function that lead into functions of the
// database, in the order of its blocks.
func (p *program) calls(f *function) []call {
	var list []call
	for k := range f.blocks {
		b := &f.blocks[k]
		for n, i := range b.code {
			last := n == len(b.code)-1
			if to, ok := i.direct(); ok {
				target, known := p.at(to)
				if !known || i.Kind != disasm.Call && (p.functions[target].RVA == f.RVA || !last) {
					continue
				}
				count := b.Count
				if i.Kind != disasm.Call {
					count = b.leaving(i)
				}
				list = append(list, call{k, i, target, to - p.functions[target].RVA, count})
				continue
			}
			if !i.indirect() {
				continue
			}
			for s := range b.Indirect {
				if b.Indirect[s].Offset != i.rva-f.RVA {
					continue
				}
				for _, t := range b.Indirect[s].Targets {
					if target, known := p.ids[t.ID]; known && t.Hits > 0 {
						list = append(list, call{k, i, target, 0, part(b.Count, t.Hits, b.Indirect[s].Hits)})
					}
				}
			}
		}
	}
	return list
}

// part is the share of a count that some of all hits have: hits of call sites
// are samples, which imports do not make consistent with the flow.
func part(count, some, all uint64) uint64 {
	if some >= all {
		return count
	}
	hi, lo := bits.Mul64(count, some)
	q, _ := bits.Div64(hi, lo, all)
	return q
}

// leaving is how often the branch at the end of a block left the function.
func (b *block) leaving(i instruction) uint64 {
	if i.Kind == disasm.CondJump && len(b.Edges) == 2 {
		return b.Edges[0].Count
	}
	return b.Count
}
