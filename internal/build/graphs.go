package build

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spgo-tools/spgo/internal/cfg"
	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
)

// analyze makes the graphs of all parts. It goes over the code twice, since
// which functions never return, and where parts jump into each other, shows
// only when all graphs are there; the second time, only what that changes is
// done.
func (b *builder) analyze() {
	all := make([]int, len(b.parts))
	for k := range all {
		all[k] = k
	}
	b.graphs(all, b.namedNever)
	graphs := make([]*cfg.Graph, len(b.parts))
	for k := range b.parts {
		graphs[k] = b.parts[k].graph
	}
	b.never = cfg.NeverReturning(graphs, b.callee)
	b.graphs(b.changed(), b.knownNever)
	for _, never := range b.never {
		if never {
			b.report.NeverReturn++
		}
	}
}

// graphs makes the graphs of some parts.
func (b *builder) graphs(parts []int, never func(cfg.CallKind, uint32) bool) {
	b.each(len(parts), func() func(int) {
		a := cfg.Analyzer{Code: b.code, Never: never, Entry: func(rva uint32) bool { return b.entry(rva) >= 0 }, Seen: b.seen}
		return func(k int) {
			p := &b.parts[parts[k]]
			p.graph = a.Function([]program.Range{p.code}, p.entries, p.Guards)
		}
	})
}

// each has the numbers from 0 to n-1 worked on, several at a time, each by one
// of the functions that worker returns.
func (b *builder) each(n int, worker func() func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(max(b.opts.Jobs, 1), n) {
		wg.Go(func() {
			work := worker()
			for k := next.Add(1) - 1; k < int64(n); k = next.Add(1) - 1 {
				work(int(k))
			}
		})
	}
	wg.Wait()
}

// entry returns the index of the part that is entered at rva, or -1.
func (b *builder) entry(rva uint32) int {
	if k := b.at(rva); k >= 0 && b.parts[k].code.Start == rva {
		return k
	}
	return -1
}

// namedNever says whether a call does not return by what its target is called
// or marked as.
func (b *builder) namedNever(kind cfg.CallKind, target uint32) bool {
	if kind == cfg.Slot {
		return program.NeverReturns(b.imports[target])
	}
	if k := b.at(target); k >= 0 {
		return b.parts[k].never && b.parts[k].code.Start == target
	}
	return program.NeverReturns(b.imports[b.stub(target)])
}

// stub returns the slot through which the code at rva jumps at once, or 0.
// Linkers make such stubs for imports; unwind tables do not list them.
func (c *code) stub(rva uint32) uint32 {
	in, ok := c.arch.Decode(c.Bytes(rva, disasm.MaxLen), uint64(rva))
	if !ok || in.Kind != disasm.IndirectJump || !in.InMemory || in.Target > 0xffffffff {
		return 0
	}
	return uint32(in.Target)
}

// knownNever is namedNever with what the graphs show.
func (b *builder) knownNever(kind cfg.CallKind, target uint32) bool {
	if b.namedNever(kind, target) {
		return true
	}
	if kind != cfg.Direct {
		return false
	}
	k := b.at(target)
	return k >= 0 && b.parts[k].code.Start == target && b.never[k]
}

// callee tells what a call leads to.
func (b *builder) callee(c cfg.Call) int {
	if c.Never || c.Kind != cfg.Computed && b.namedNever(c.Kind, c.Target) {
		return cfg.Never
	}
	if c.Kind == cfg.Direct {
		if k := b.at(c.Target); k >= 0 {
			return k
		}
	}
	return cfg.Returning
}

// changed returns the parts whose graph changes by the knowledge of all
// others, and notes where they are entered.
func (b *builder) changed() []int {
	redo := make([]bool, len(b.parts))
	for k := range b.parts {
		for _, block := range b.parts[k].graph.Blocks {
			for _, c := range block.Calls {
				if c.Kind != cfg.Direct {
					continue
				}
				to := b.at(c.Target)
				switch {
				case to < 0:
				case !c.Tail && !c.Never && b.never[to] && b.parts[to].code.Start == c.Target:
					redo[k] = true
				case c.Tail && to != k && b.parts[to].code.Start != c.Target:
					b.parts[to].entries = append(b.parts[to].entries, c.Target)
					redo[to] = true
				}
			}
		}
	}
	var list []int
	for k := range b.parts {
		if redo[k] {
			slices.Sort(b.parts[k].entries)
			b.parts[k].entries = slices.Compact(b.parts[k].entries)
			list = append(list, k)
		}
	}
	return list
}
