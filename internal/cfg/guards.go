package cfg

import (
	"slices"

	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
)

// guarded is code whose exceptions lead to landing pads.
type guarded struct {
	program.Guard
	calls bool // it has calls: nothing else in it is taken to throw
}

// catch queues the landing pads of guards.
func (a *Analyzer) catch(guards []program.Guard) {
	for _, g := range guards {
		if _, ok := a.pos(uint64(g.Start)); !ok {
			continue // of another part
		}
		a.guards = append(a.guards, guarded{Guard: g})
		for _, pad := range g.Pads {
			if pos, ok := a.pos(uint64(pad)); ok {
				a.lead(pos)
			}
		}
	}
}

// invoke ends blocks behind guarded calls, as blocks of compilers do: what
// follows is executed less often than the call where that throws.
func (a *Analyzer) invoke() {
	for k := range a.guards {
		g := &a.guards[k]
		pos, _ := a.pos(uint64(g.Start))
		p := a.partOf(pos)
		end := min(p.end, pos+int(g.Len()))
		for pos < end {
			n := int(a.marks[pos] & lengthMask)
			if n == 0 {
				pos++
				continue
			}
			next := pos + n
			if next <= end && calls(a.again(pos)) {
				g.calls = true
				if next < p.end {
					a.mark(next, leader)
				}
			}
			pos = next
		}
	}
}

func calls(in disasm.Inst) bool { return in.Kind == disasm.Call || in.Kind == disasm.IndirectCall }

// throw adds the edges of a block to the landing pads of its last instruction,
// a call, or of any where guarded code has no call. Pads in other parts of
// the function are reached as those are by jumps.
func (b *builder) throw(k, pos int, in disasm.Inst) {
	code := b.g.Blocks[k].Range
	last := b.rva(pos) + uint32(in.Len) - 1
	i, _ := slices.BinarySearchFunc(b.guards, code.Start, func(g guarded, rva uint32) int {
		if g.End <= rva {
			return -1
		}
		return 1
	})
	first := len(b.g.Blocks[k].Edges)
	var seen []uint32
	for ; i < len(b.guards) && b.guards[i].Start < code.End; i++ {
		g := &b.guards[i]
		if g.calls && !(calls(in) && g.Contains(last)) {
			continue
		}
		for _, pad := range g.Pads {
			if slices.Contains(seen, pad) || len(seen) == maxThrows {
				continue
			}
			seen = append(seen, pad)
			to, here := b.pos(uint64(pad))
			index, ok := b.index[to]
			switch {
			case here && ok:
			case here:
				continue // into an instruction
			default:
				index = len(b.g.Blocks)
				var only Block
				b.tail(&only, Call{At: b.rva(pos), Len: in.Len, Target: pad})
				b.g.Blocks = append(b.g.Blocks, only)
			}
			block := &b.g.Blocks[k]
			block.Edges = append(block.Edges, Edge{To: index, Throws: true})
		}
	}
	b.g.Throws += len(b.g.Blocks[k].Edges) - first
}

// maxThrows bounds the landing pads of one block.
const maxThrows = 64
