package profile

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// MaxRetire is the amount that retires everything: counts are retired in
// sixteenths.
const MaxRetire = 16

// DefaultRetire is the amount where none is asked for, as documented for
// Microsoft's tool.
const DefaultRetire = 8

// Retire drops amount/16 of every count, 0 <= amount <= MaxRetire. A count c
// becomes the whole number below or above c*(16-amount)/16, the one below
// wherever the flow of the function can be kept so. Hits of indirect calls
// become the number below. Header flags, machine callees and the block flags
// stay; the statistics follow the counts.
func Retire(f *spd.File, amount int) {
	if amount != 0 {
		r := newRetirement(amount)
		for m := range f.Modules {
			for i := range f.Modules[m].Functions {
				r.function(&f.Modules[m].Functions[i])
			}
		}
	}
	f.Header.Statistics = f.ComputeStatistics()
}

// retirement keeps some sixteenths of counts.
type retirement struct {
	keep uint64
	rounding
}

func newRetirement(amount int) *retirement {
	return &retirement{keep: uint64(MaxRetire - amount)}
}

// scale splits keep sixteenths of a count into the whole number and the
// sixteenths that are left.
func (r *retirement) scale(count uint64) (whole uint64, rest uint8) {
	low := count % 16 * r.keep
	return count/16*r.keep + low/16, uint8(low % 16)
}

// function retires the counts of one function. What remains is a flow of
// sixteenths, consistent wherever the counts were; it is rounded such that it
// still is.
func (r *retirement) function(f *spd.Function) {
	n := len(f.Blocks)
	if n == 0 {
		return
	}
	r.reset(2*n + 1)
	for k := range f.Blocks {
		b := &f.Blocks[k]
		r.count(into(k), outOf(k), &b.Count, true)
		for e := range b.Edges {
			r.count(outOf(k), into(int(b.Edges[e].To-1)), &b.Edges[e].Count, false)
		}
		r.indirect(b.Indirect)
	}
	r.balance(into(0), outOf(n-1), 2*n)
	r.settle()
	sumCallees(f)
}

// Nodes of the network: a block is an arc, so that its count can be bounded.
func into(block int) int  { return 2 * block }
func outOf(block int) int { return 2*block + 1 }

// count retires the count of an arc and leaves the rest to be rounded.
func (r *retirement) count(from, to int, count *uint64, block bool) {
	if *count == 0 {
		return
	}
	r.excess[from] -= *count
	r.excess[to] += *count
	whole, rest := r.scale(*count)
	*count = whole
	r.add(arc{from: int32(from), to: int32(to), rest: rest, block: block, count: count})
}

// balance adds the arcs by which flow leaves the function and enters it again:
// one from exit to entry where they agree, and for every node that the counts
// did not balance, one that carries the difference to the ground. Differences
// wrap around, which their sixteenths survive.
func (r *retirement) balance(entry, exit, ground int) {
	if r.excess[exit] == -r.excess[entry] {
		_, rest := r.scale(r.excess[exit])
		r.add(arc{from: int32(exit), to: int32(entry), rest: rest})
		r.excess[entry], r.excess[exit] = 0, 0
	}
	for v, x := range r.excess[:ground] {
		if x != 0 {
			_, rest := r.scale(x)
			r.add(arc{from: int32(v), to: int32(ground), rest: rest})
		}
	}
}

// indirect retires hits. They are no flow. A target without hits is unused.
func (r *retirement) indirect(sites []spd.IndirectSite) {
	for i := range sites {
		s := &sites[i]
		s.Hits, _ = r.scale(s.Hits)
		for t := range s.Targets {
			x := &s.Targets[t]
			if x.Hits, _ = r.scale(x.Hits); x.Hits == 0 {
				*x = spd.Target{}
			}
		}
	}
}

// sumCallees makes the counts of the callees follow those of the blocks.
func sumCallees(f *spd.Function) {
	for k := range f.Callees {
		c := &f.Callees[k]
		c.Count = 0
		for _, site := range c.Sites {
			if site != 0 && uint64(site) <= uint64(len(f.Blocks)) {
				c.Count = binfmt.SatAdd(c.Count, f.Blocks[site-1].Count)
			}
		}
	}
}
