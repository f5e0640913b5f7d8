package correlate

import (
	"cmp"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// A coder adds functions to a layout, ascending by RVA.
type coder struct {
	*layout
	floor   uint64               // end of the code so far
	lists   [][]spd.InlinedBlock // of the function's bodies but its own one
	extents []extent
	open    []extent
}

// An extent is a range of a place, inlined code included.
type extent struct {
	start, end uint64 // RVAs
	place      int32
	depth      int32
}

// add adds the code of function i. Files that contradict themselves do no
// harm: what reaches outside of the block around it is cut there.
func (c *coder) add(i int32) {
	fn := c.functions[i]
	root := int32(len(c.bodies))
	c.lists, c.extents = c.lists[:0], c.extents[:0]
	c.bodies = append(c.bodies, body{function: i, root: i, host: -1, first: int32(len(c.places))})
	for b := range fn.Blocks {
		bl := &fn.Blocks[b]
		p := c.place(root, int32(b), bl.OwnInstructions(), copies(bl.Flags, bl.Aux, bl.Ranges), bl.Ranges)
		for k := range bl.Indirect {
			c.site(fn, bl.Indirect[k].CallSite, i, int32(b))
		}
		c.inline(bl.Inlinees, root, p)
	}
	c.bodies[root].end = int32(len(c.places))
	// Bodies are numbered level by level, so that the places of each are in a
	// row.
	for next := root + 1; int(next) < len(c.bodies); next++ {
		c.inlined(fn, next, c.lists[next-root-1])
	}
	c.cut(i)
	for b := int32(len(c.bodies)) - 1; b >= root; b-- {
		c.findInner(b)
	}
}

// place adds the place of a block and notes its ranges.
func (c *coder) place(b, block int32, own, copies uint32, ranges []spd.Range) int32 {
	p := int32(len(c.places))
	c.places = append(c.places, place{body: b, block: block, own: own, copies: copies, inner: -1, head: -1})
	rva := uint64(c.functions[c.bodies[b].root].RVA)
	for _, r := range ranges {
		if r.Length > 0 && !r.Cold {
			start := rva + uint64(r.Start)
			c.extents = append(c.extents, extent{start, start + uint64(r.Length), p, c.bodies[b].depth})
		}
	}
	return p
}

// copies is how many copies of its code a block has: one, unless it was
// tail-duplicated and each of its ranges is a copy.
func copies(flags, aux uint16, ranges []spd.Range) uint32 {
	if n := int(aux) + 1; flags&spd.BlockDuplicated != 0 && n == len(ranges) {
		return uint32(n)
	}
	return 1
}

// inline adds the bodies that were inlined into a place of body b; their places
// follow later.
func (c *coder) inline(inlinees []spd.Inlinee, b, host int32) {
	for k := range inlinees {
		in := &inlinees[k]
		i, ok := c.byID[in.ID]
		if !ok {
			i = -1
		}
		c.bodies = append(c.bodies, body{function: i, root: c.bodies[b].root, host: host, depth: c.bodies[b].depth + 1})
		c.lists = append(c.lists, in.Blocks)
	}
}

// inlined adds the places of an inlined body.
func (c *coder) inlined(fn *spd.Function, b int32, blocks []spd.InlinedBlock) {
	c.bodies[b].first = int32(len(c.places))
	i := c.bodies[b].function
	last := int32(-1)
	for k := range blocks {
		bl := &blocks[k]
		// Blocks ascend, or else are not taken for what they say.
		block := int32(-1)
		if i >= 0 && bl.ID >= 1 && uint64(bl.ID) <= uint64(len(c.functions[i].Blocks)) && int32(bl.ID)-1 > last {
			block = int32(bl.ID) - 1
			last = block
		}
		p := c.place(b, block, bl.OwnInstructions(), copies(bl.Flags, bl.Aux, bl.Ranges), bl.Ranges)
		if block >= 0 {
			for _, s := range bl.Indirect {
				c.site(fn, s, i, block)
			}
		}
		c.inline(bl.Inlinees, b, p)
	}
	c.bodies[b].end = int32(len(c.places))
}

// site adds the indirect call s in the code of fn. It is that of the same
// ordinal in the record of function i, whose block it is in by the file.
func (c *coder) site(fn *spd.Function, s spd.CallSite, i, block int32) {
	rva := uint64(fn.RVA) + uint64(s.Offset)
	if rva > math.MaxUint32-16 {
		return
	}
	add := func(b, k int) {
		c.sites = append(c.sites, site{
			rva: uint32(rva), end: uint32(rva) + uint32(s.Length),
			function: i, block: int32(b), index: int32(k), own: c.functions[i] == fn,
		})
	}
	blocks := c.functions[i].Blocks
	same := func(x spd.IndirectSite) bool { return x.Ordinal == s.Ordinal }
	if k := slices.IndexFunc(blocks[block].Indirect, same); k >= 0 {
		add(int(block), k)
		return
	}
	for b := range blocks {
		if k := slices.IndexFunc(blocks[b].Indirect, same); k >= 0 {
			add(b, k)
			return
		}
	}
}

// cut makes the pieces of function i of its extents.
func (c *coder) cut(i int32) {
	fn := c.functions[i]
	limit := min(uint64(fn.RVA)+uint64(fn.Length), math.MaxUint32)
	slices.SortStableFunc(c.extents, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.depth, b.depth))
	})
	c.open = c.open[:0]
	at := c.floor
	emit := func(end uint64) {
		top := c.open[len(c.open)-1]
		if at >= end {
			return
		}
		p := &c.places[top.place]
		p.size += uint32(end - at)
		if n := len(c.pieces); n > 0 && c.pieces[n-1].place == top.place && uint64(c.pieces[n-1].end) == at {
			c.pieces[n-1].end = uint32(end)
		} else {
			if uint64(p.start) == at {
				p.head = int32(len(c.pieces))
			}
			c.pieces = append(c.pieces, piece{uint32(at), uint32(end), top.place})
		}
		at = end
	}
	for _, x := range c.extents {
		x.end = min(x.end, limit)
		for len(c.open) > 0 && c.open[len(c.open)-1].end <= x.start {
			emit(c.open[len(c.open)-1].end)
			c.open = c.open[:len(c.open)-1]
		}
		if len(c.open) > 0 {
			emit(x.start)
			x.end = min(x.end, c.open[len(c.open)-1].end)
		} else {
			at = max(at, x.start)
		}
		if x.start = max(x.start, at); x.start >= x.end {
			continue
		}
		p := &c.places[x.place]
		if p.end == 0 {
			p.start = uint32(x.start)
		}
		p.end = max(p.end, uint32(x.end))
		c.open = append(c.open, x)
	}
	for len(c.open) > 0 {
		emit(c.open[len(c.open)-1].end)
		c.open = c.open[:len(c.open)-1]
	}
	c.floor = max(c.floor, at)
}

// findInner finds what is executed first in the block that body b was inlined
// in, if all code of that block is inlined: the first block of the first
// inlined body that has code. Bodies come last first.
func (c *coder) findInner(b int32) {
	host := c.bodies[b].host
	if host < 0 || c.places[host].size > 0 {
		return
	}
	for p := c.bodies[b].first; p < c.bodies[b].end; p++ {
		if c.places[p].size > 0 {
			c.places[host].inner = p
			return
		}
		if c.places[p].inner >= 0 {
			c.places[host].inner = c.places[p].inner
			return
		}
	}
}

// maybeSite says whether an indirect call can be at an RVA. It is quick and
// mostly right.
func (l *layout) maybeSite(rva uint32) bool {
	return l.siteHint[rva>>6%uint32(len(l.siteHint))]&(1<<(rva%64)) != 0
}

// sitesAt returns the indirect calls at an RVA.
func (l *layout) sitesAt(rva uint32) []site {
	k, _ := slices.BinarySearchFunc(l.sites, rva, func(s site, rva uint32) int { return cmp.Compare(s.rva, rva) })
	end := k
	for end < len(l.sites) && l.sites[end].rva == rva {
		end++
	}
	return l.sites[k:end]
}
