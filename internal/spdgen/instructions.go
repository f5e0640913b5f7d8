package spdgen

import (
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// cut makes the pieces of a node out of its ranges and says where their
// instructions start: evenly, but for the indirect calls, whose places are
// known.
func (c *coder) cut(node int32, ranges []spd.Range, instructions uint32, indirect []spd.CallSite) []int32 {
	var bytes uint64
	for _, r := range ranges {
		bytes += uint64(r.Length)
	}
	var pieces []int32
	var done, given uint64
	for _, r := range ranges {
		done += uint64(r.Length)
		upTo := (done*uint64(instructions) + bytes/2) / bytes
		n := uint32(max(upTo, given+1) - given)
		given += uint64(n)
		first := int32(len(c.starts))
		c.fill(r, n, indirect)
		pieces = append(pieces, int32(len(c.pieces)))
		c.pieces = append(c.pieces, piece{start: c.rva + r.Start, end: c.rva + r.Start + r.Length,
			first: first, last: int32(len(c.starts)), node: node})
	}
	return pieces
}

// fill appends the starts of about n instructions of a range.
func (c *coder) fill(r spd.Range, n uint32, indirect []spd.CallSite) {
	borders := []uint32{r.Start, r.Start + r.Length}
	calls := 0
	for _, s := range indirect {
		if s.Offset >= r.Start && s.Offset+uint32(s.Length) <= r.Start+r.Length {
			borders = append(borders, s.Offset, s.Offset+uint32(s.Length))
			calls++
		}
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	isCall := func(offset uint32) bool {
		return slices.ContainsFunc(indirect, func(s spd.CallSite) bool { return s.Offset == offset })
	}
	rest := max(int(n)-calls, 1)
	for i := range len(borders) - 1 {
		start, length := borders[i], borders[i+1]-borders[i]
		if isCall(start) {
			c.starts = append(c.starts, c.rva+start)
			continue
		}
		share := uint32(max(1, (rest*int(length)+int(r.Length)/2)/int(r.Length)))
		if calls == 0 {
			share = n
		}
		share = min(share, length)
		for k := range share {
			c.starts = append(c.starts, c.rva+start+k*length/share)
		}
	}
}

// place gives the calls of a node instructions. A call is not the last
// instruction of a piece, since it returns to the next one, unless it is a
// jump that ends the function.
func (c *coder) place(pieces []int32, calls []sourceCall, indirect []spd.CallSite, last bool) {
	used := map[int32]bool{}
	for _, s := range indirect {
		site := c.sites
		c.sites++
		for _, k := range pieces {
			p := &c.pieces[k]
			for i := p.first; i < p.last; i++ {
				if c.starts[i] == c.rva+s.Offset {
					tail := s.Length == 7 && last && i == p.last-1
					if tail || i < p.last-1 {
						p.calls = append(p.calls, call{i, callIndirect, site, tail})
						used[i] = true
					}
				}
			}
		}
	}
	var free []int32
	for _, k := range pieces {
		for i := c.pieces[k].first; i < c.pieces[k].last-1; i++ {
			if !used[i] {
				free = append(free, i)
			}
		}
	}
	for n, source := range calls {
		x := call{kind: callOutside}
		if k, known := c.byID[source.id]; known {
			x.kind, x.target = callDirect, k
		} else if !source.imported {
			x.kind, x.target = callLibrary, int32(source.id%64)*64
		}
		switch {
		case n == len(calls)-1 && last && len(pieces) > 0 && c.jumpsTo(source.id) && !used[c.pieces[pieces[len(pieces)-1]].last-1]:
			x.instruction, x.tail = c.pieces[pieces[len(pieces)-1]].last-1, true
		case n < len(free):
			x.instruction = free[(n+1)*len(free)/(len(calls)+1)]
			for used[x.instruction] {
				x.instruction = free[(slices.Index(free, x.instruction)+1)%len(free)]
			}
		default:
			c.placed.hidden++
			continue
		}
		c.placed.calls++
		used[x.instruction] = true
		for _, k := range pieces {
			if p := &c.pieces[k]; x.instruction >= p.first && x.instruction < p.last {
				p.calls = append(p.calls, x)
			}
		}
	}
	for _, k := range pieces {
		slices.SortFunc(c.pieces[k].calls, func(a, b call) int { return int(a.instruction - b.instruction) })
	}
}

// jumpsTo says whether the function's code has a tail call of this function.
func (c *coder) jumpsTo(id spd.ID) bool {
	return slices.ContainsFunc(c.outer.MachineCallees, func(m spd.MachineCallee) bool {
		return m.ID == id && m.Kind&spd.CalleeTail != 0
	})
}
