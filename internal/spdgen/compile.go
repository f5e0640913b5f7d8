package spdgen

import (
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// placed is a block of a body as code.
type placed struct {
	id       uint32
	own      int
	cold     bool
	source   *sourceBlock
	inlined  []*copied
	ranges   []spd.Range
	sites    []spd.CallSite
	withCode uint32 // instructions, with those of inlined calls
}

// copied is a body: a function's own one, or an inlined copy.
type copied struct {
	id     spd.ID
	blocks []*placed // those with code
}

func (s *source) copy(cold bool) *copied {
	c := &copied{id: s.id}
	for i := range s.blocks {
		x := &s.blocks[i]
		p := &placed{id: uint32(i + 1), own: x.own, cold: cold || x.cold, source: x, withCode: uint32(x.own)}
		for _, call := range x.calls {
			if call.inline == nil {
				continue
			}
			in := call.inline.copy(p.cold)
			for _, b := range in.blocks {
				p.withCode += b.withCode
			}
			p.inlined = append(p.inlined, in)
		}
		if p.withCode > 0 || x.flags != 0 {
			c.blocks = append(c.blocks, p)
		}
	}
	return c
}

// codeLayout places code: first what is hot, in the order of the source, then
// what is cold.
type codeLayout struct {
	s     *source
	end   uint32
	cold  bool
	outer []*placed // the block being placed and those around it
}

// compile fills in the flow graph and the callees of f and returns the length
// of its code.
func (s *source) compile(f *spd.Function) uint32 {
	body := s.copy(false)
	l := codeLayout{s: s}
	for _, l.cold = range []bool{false, true} {
		for _, p := range body.blocks {
			l.block(p)
		}
	}
	f.Blocks = make([]spd.Block, len(s.blocks))
	for i := range s.blocks {
		x := &s.blocks[i]
		f.Blocks[i] = spd.Block{Flags: x.flags, Aux: x.aux, Edges: slices.Clone(x.edges)}
		for _, c := range x.calls {
			addCallee(f, c, uint32(i+1))
		}
	}
	for _, p := range body.blocks {
		b := &f.Blocks[p.id-1]
		b.Ranges, b.Instructions, b.Inlinees = p.ranges, p.withCode, inlinees(p.inlined)
		for _, site := range p.sites {
			b.Indirect = append(b.Indirect, spd.IndirectSite{CallSite: site})
			if site.Length == tailJumpBytes {
				f.Flags |= spd.FunctionIndirectTail
			}
		}
	}
	if s.tail {
		last := s.blocks[len(s.blocks)-2].calls
		f.MachineCallees = append(f.MachineCallees, spd.MachineCallee{ID: last[len(last)-1].id, Kind: spd.CalleeMachine | spd.CalleeTail})
	}
	return l.end
}

func addCallee(f *spd.Function, c sourceCallee, block uint32) {
	i := slices.IndexFunc(f.Callees, func(x spd.Callee) bool { return x.ID == c.id })
	if i < 0 {
		i = len(f.Callees)
		f.Callees = append(f.Callees, spd.Callee{ID: c.id, Kind: c.kind})
	}
	f.Callees[i].Sites = append(f.Callees[i].Sites, block)
}

func inlinees(bodies []*copied) []spd.Inlinee {
	var list []spd.Inlinee
	for _, c := range bodies {
		x := spd.Inlinee{ID: c.id}
		for _, p := range c.blocks {
			x.Blocks = append(x.Blocks, spd.InlinedBlock{ID: p.id, Instructions: p.withCode, Flags: p.source.flags, Aux: p.source.aux,
				Ranges: p.ranges, Indirect: p.sites, Inlinees: inlinees(p.inlined)})
		}
		list = append(list, x)
	}
	return list
}

const (
	callBytes     = 6
	tailJumpBytes = 7
)

// block places what of a block belongs to this pass: half of its own
// instructions, its inlined and indirect calls, and the rest.
func (l *codeLayout) block(p *placed) {
	l.outer = append(l.outer, p)
	jump := p.source.tailJump && len(l.outer) == 1
	calls := len(p.source.ordinals)
	plain := p.own - calls
	own := p.cold == l.cold
	if own {
		l.put(plain / 2)
	}
	for _, c := range p.inlined {
		for _, inner := range c.blocks {
			l.block(inner)
		}
	}
	if own {
		l.put(plain - plain/2 - 1)
		for i, ordinal := range p.source.ordinals {
			length := uint8(callBytes)
			if jump && i == calls-1 {
				l.put(1)
				length = tailJumpBytes
			}
			p.sites = append(p.sites, spd.CallSite{Offset: l.end, Length: length, Ordinal: ordinal, Kind: 1})
			l.bytes(uint32(length))
		}
		if plain > 0 && (!jump || calls == 0) {
			l.put(1)
		}
	}
	l.outer = l.outer[:len(l.outer)-1]
}

// put places some instructions of 2 to 6 bytes.
func (l *codeLayout) put(instructions int) {
	if instructions > 0 {
		l.bytes(uint32(2*instructions + l.s.r.IntN(4*instructions)))
	}
}

func (l *codeLayout) bytes(n uint32) {
	for _, p := range l.outer {
		if k := len(p.ranges); k > 0 && p.ranges[k-1].Start+p.ranges[k-1].Length == l.end {
			p.ranges[k-1].Length += n
		} else {
			p.ranges = append(p.ranges, spd.Range{Start: l.end, Length: n})
		}
	}
	l.end += n
}
