package correlate

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// A layout says what is where in the machine code of a binary.
//
// Code is a copy of a function's source, a body: the function's own code, or
// what became of it where it was inlined. Bodies are nested. Each has a place
// for the copy of each of its blocks, and each byte of code belongs to the
// innermost place around it. Where that changes, a new piece begins.
type layout struct {
	functions []*spd.Function
	machine   []bool // functions of a database made of machine code
	byID      map[spd.ID]int32
	// firstBlock and firstEdge number the blocks and edges of all functions:
	// block b of function f is firstBlock[f]+b, edge e of block number k is
	// firstEdge[k]+e.
	firstBlock, firstEdge []int32
	twins                 [][]int32 // functions of the same shape folded into this one

	bodies []body
	places []place
	pieces []piece
	page   []int32 // the last piece that starts at or before each multiple of 1<<pageBits from base
	bits   uint
	base   uint32

	sites    []site // ascending by rva
	siteHint [1 << 10]uint64
}

// A body is a copy of a function's code.
type body struct {
	function int32 // whose copy it is, -1 if the file has no such function
	root     int32 // the function whose code it is part of
	host     int32 // the place of the block that it was inlined in, -1 if root's own
	depth    int32 // of inlining
	// Its places are places[first:end]. Those of a function's own code are all
	// its blocks; an inlined copy lists only blocks that left some code.
	first, end int32
}

// A place is a copy of a block.
type place struct {
	body  int32
	block int32  // of the body's function, -1 if it has no such block
	own   uint32 // machine instructions that were not inlined into the block
	size  uint32 // bytes of its pieces
	// copies is how many times the block's code is there: own and size are
	// those of all, each execution runs one of them.
	copies uint32
	start  uint32 // RVA of the first byte, inlined code included
	end    uint32 // RVA behind the last byte, 0 if there is no code
	inner  int32  // the place whose code is executed first, where size is 0; else -1
	head   int32  // the piece that begins with the first byte, if that is its own; else -1
}

// instructions is what one execution of the place runs, inlined code left out.
func (p *place) instructions() float64 { return float64(p.own) / float64(p.copies) }

// bytes is the size of the code of one execution of the place.
func (p *place) bytes() float64 { return float64(p.size) / float64(p.copies) }

// A piece is code of one place without interruption.
type piece struct {
	start, end uint32 // RVAs
	place      int32
}

// A site is an indirect call.
type site struct {
	rva      uint32 // of the instruction
	end      uint32 // RVA behind it: the return address
	function int32
	block    int32
	index    int32 // in the block's Indirect
	own      bool  // not inlined
}

func newLayout(f *spd.File) *layout {
	l := &layout{byID: map[spd.ID]int32{}}
	l.number(f)
	var coded []int32
	for i, fn := range l.functions {
		if fn.RVA != 0 {
			coded = append(coded, int32(i))
		}
	}
	slices.SortStableFunc(coded, func(a, b int32) int {
		return cmp.Compare(l.functions[a].RVA, l.functions[b].RVA)
	})
	var code coder
	code.layout = l
	for _, i := range coded {
		code.add(i)
	}
	l.fold(coded)
	l.makePages()
	slices.SortStableFunc(l.sites, func(a, b site) int { return cmp.Compare(a.rva, b.rva) })
	for _, s := range l.sites {
		l.siteHint[s.rva>>6%uint32(len(l.siteHint))] |= 1 << (s.rva % 64)
	}
	return l
}

func (l *layout) number(f *spd.File) {
	var blocks, edges int32
	for m := range f.Modules {
		for k := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[k]
			if _, double := l.byID[fn.ID]; !double {
				l.byID[fn.ID] = int32(len(l.functions))
			}
			l.functions = append(l.functions, fn)
			l.machine = append(l.machine, f.Modules[m].Name == spd.ModuleMachine)
			l.firstBlock = append(l.firstBlock, blocks)
			blocks += int32(len(fn.Blocks))
			for b := range fn.Blocks {
				l.firstEdge = append(l.firstEdge, edges)
				edges += int32(len(fn.Blocks[b].Edges))
			}
		}
	}
	l.firstBlock = append(l.firstBlock, blocks)
	l.firstEdge = append(l.firstEdge, edges)
	l.twins = make([][]int32, len(l.functions))
}

// fold finds the functions that identical code folding replaced by another
// one. Samples of the code that was kept may be theirs: nothing tells them
// apart, so they are credited to all of them. Where the source has another
// flow graph (the same machine code can come of different sources) blocks do
// not correspond, and the function gets nothing.
func (l *layout) fold(coded []int32) {
	for i, fn := range l.functions {
		if fn.FoldedInto == 0 {
			continue
		}
		k, ok := slices.BinarySearchFunc(coded, fn.FoldedInto, func(c int32, rva uint32) int {
			return cmp.Compare(l.functions[c].RVA, rva)
		})
		if ok && int(coded[k]) != i && sameShape(l.functions[coded[k]], fn) {
			l.twins[coded[k]] = append(l.twins[coded[k]], int32(i))
		}
	}
}

func sameShape(a, b *spd.Function) bool {
	return a.Checksum == b.Checksum && slices.EqualFunc(a.Blocks, b.Blocks, func(x, y spd.Block) bool {
		return len(x.Indirect) == len(y.Indirect) && slices.EqualFunc(x.Edges, y.Edges, func(d, e spd.Edge) bool {
			return d.To == e.To && d.Flags == e.Flags
		})
	})
}

// makePages makes the table that find starts from, with about one entry for
// two pieces.
func (l *layout) makePages() {
	if len(l.pieces) == 0 {
		return
	}
	l.base = l.pieces[0].start
	span := uint64(l.pieces[len(l.pieces)-1].end - l.base)
	for span>>l.bits > uint64(len(l.pieces)) {
		l.bits++
	}
	l.page = make([]int32, span>>l.bits+2)
	k := int32(0)
	for i := range l.page {
		for int(k)+1 < len(l.pieces) && uint64(l.pieces[k+1].start-l.base) <= uint64(i)<<l.bits {
			k++
		}
		l.page[i] = k
	}
}

// find returns the number of the piece that an RVA lies in, or -1.
func (l *layout) find(rva uint32) int32 {
	if len(l.pieces) == 0 || rva < l.base || rva >= l.pieces[len(l.pieces)-1].end {
		return -1
	}
	i := (rva - l.base) >> l.bits
	lo, hi := l.page[i], l.page[i+1] // the last piece that starts at or before rva is among these
	for lo < hi {
		if mid := lo + (hi-lo+1)/2; l.pieces[mid].start <= rva {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	if rva < l.pieces[lo].end {
		return lo
	}
	return -1
}

// gap is the most bytes that are taken for padding between two functions.
const gap = 32

// padding says whether an RVA in no piece is between two functions that are
// close together.
func (l *layout) padding(rva uint32) bool {
	k, _ := slices.BinarySearchFunc(l.pieces, rva, func(p piece, rva uint32) int { return cmp.Compare(p.start, rva) })
	return k > 0 && k < len(l.pieces) && l.pieces[k].start-l.pieces[k-1].end < gap
}

// root is the function whose code a piece is part of.
func (l *layout) root(piece int32) int32 { return l.bodies[l.places[l.pieces[piece].place].body].root }

// runs says whether straight code can lead from one RVA to another: both are
// in one function and not against the direction of code.
func (l *layout) runs(from, to uint32) bool {
	if from > to {
		return false
	}
	a := l.find(from)
	if a < 0 {
		return false
	}
	b := l.find(to)
	return b >= 0 && l.root(a) == l.root(b)
}

// placeOf returns the place of a block in a body, or -1.
func (l *layout) placeOf(b int32, block int32) int32 {
	bd := &l.bodies[b]
	if bd.host < 0 {
		if block < bd.end-bd.first {
			return bd.first + block
		}
		return -1
	}
	k, ok := slices.BinarySearchFunc(l.places[bd.first:bd.end], block, func(p place, block int32) int {
		return cmp.Compare(p.block, block)
	})
	if !ok {
		return -1
	}
	return bd.first + int32(k)
}

// function returns the function whose block a place is a copy of, or -1.
func (l *layout) function(p int32) int32 { return l.bodies[l.places[p].body].function }
