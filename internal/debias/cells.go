package debias

import "math/bits"

// cell is what windows with one newest target show of one start. One without
// runs is an empty place of a table.
type cell struct {
	newest, start Target
	runs          uint64
	duration      float64
}

// cells is an open-addressing table of cells: one look-up for each run is most
// of what a window takes.
type cells struct {
	places []cell
	used   int
}

func (t Target) bits() uint64 { return uint64(uint32(t.Binary))<<32 | uint64(t.RVA) }

// place returns the place of a cell, which is empty if there is none yet.
func (c *cells) place(newest, start Target) *cell {
	h := newest.bits()*0xff51afd7ed558ccd ^ start.bits()
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15
	mask := uint64(len(c.places) - 1)
	for i := h >> (64 - bits.Len64(mask)); ; i = (i + 1) & mask {
		if p := &c.places[i]; p.runs == 0 || p.newest == newest && p.start == start {
			return p
		}
	}
}

// add adds runs of one cell.
func (c *cells) add(newest, start Target, runs uint64, duration float64) {
	if c.used*4 >= len(c.places)*3 {
		old := c.places
		c.places = make([]cell, max(64, 2*len(old)))
		for _, p := range old {
			if p.runs > 0 {
				*c.place(p.newest, p.start) = p
			}
		}
	}
	p := c.place(newest, start)
	if p.runs == 0 {
		p.newest, p.start = newest, start
		c.used++
	}
	p.runs += runs
	p.duration += duration
}

// each calls f for all cells, in no particular order.
func (c *cells) each(f func(*cell)) {
	for i := range c.places {
		if p := &c.places[i]; p.runs > 0 {
			f(p)
		}
	}
}
