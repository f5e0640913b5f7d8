package correlate

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// A walker executes the functions of an SPD at random, with branch
// probabilities of its own, and keeps the truth. It knows code only as an
// owner for each byte.
type walker struct {
	r     *rand.Rand
	file  *spd.File
	byID  map[spd.ID]int
	funcs []*spd.Function
	codes []*code // per function, nil without code
	probs [][][]float64
	dist  [][]int // edges to the exit, -1 if there is no way

	block [][]uint64 // truth
	edge  [][][]uint64

	branches []spt.Pair // newest last
	at       uint32     // RVA behind the last instruction
	last     uint32     // and of it
	executed map[*node]uint64
}

// A code has the innermost node of each byte of a function.
type code struct {
	rva   uint32
	owner []*node
	block []*node
}

// A node is a copy of a block.
type node struct {
	function, block int
	own             int
	bytes           []uint32 // RVAs of its own bytes
	ranges          []spd.Range
	calls           []call
}

type call struct {
	function int
	nodes    map[int]*node
}

func newWalker(f *spd.File, seed uint64) *walker {
	w := &walker{r: rand.New(rand.NewPCG(seed, 99)), file: f, byID: map[spd.ID]int{}, executed: map[*node]uint64{}}
	for m := range f.Modules {
		for k := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[k]
			w.byID[fn.ID] = len(w.funcs)
			w.funcs = append(w.funcs, fn)
		}
	}
	for i, fn := range w.funcs {
		w.probs = append(w.probs, nil)
		w.edge = append(w.edge, nil)
		w.block = append(w.block, make([]uint64, len(fn.Blocks)))
		for b := range fn.Blocks {
			var p []float64
			for range fn.Blocks[b].Edges {
				p = append(p, math.Pow(w.r.Float64(), 3)+.01)
			}
			w.probs[i] = append(w.probs[i], p)
			w.edge[i] = append(w.edge[i], make([]uint64, len(fn.Blocks[b].Edges)))
		}
		w.dist = append(w.dist, distances(fn))
		w.codes = append(w.codes, w.code(i))
	}
	return w
}

func distances(fn *spd.Function) []int {
	d := make([]int, len(fn.Blocks))
	for b := range d {
		d[b] = -1
	}
	d[len(d)-1] = 0
	for changed := true; changed; {
		changed = false
		for b := range fn.Blocks {
			for _, e := range fn.Blocks[b].Edges {
				if to := d[e.To-1]; e.Flags&spd.EdgeDead == 0 && to >= 0 && (d[b] < 0 || to+1 < d[b]) {
					d[b], changed = to+1, true
				}
			}
		}
	}
	return d
}

func (w *walker) code(i int) *code {
	fn := w.funcs[i]
	if fn.RVA == 0 {
		return nil
	}
	c := &code{rva: fn.RVA, owner: make([]*node, fn.Length)}
	var inline func(list []spd.Inlinee) []call
	fill := func(n *node) {
		for _, r := range n.ranges {
			for k := range r.Length {
				c.owner[r.Start+k] = n
			}
		}
	}
	inline = func(list []spd.Inlinee) (calls []call) {
		for _, in := range list {
			x := call{w.byID[in.ID], map[int]*node{}}
			for k := range in.Blocks {
				b := &in.Blocks[k]
				n := &node{function: x.function, block: int(b.ID) - 1, ranges: b.Ranges, own: int(b.Instructions)}
				for _, nested := range b.Inlinees {
					for _, nb := range nested.Blocks {
						n.own -= int(nb.Instructions)
					}
				}
				fill(n)
				n.calls = inline(b.Inlinees)
				x.nodes[n.block] = n
			}
			calls = append(calls, x)
		}
		return calls
	}
	for b := range fn.Blocks {
		bl := &fn.Blocks[b]
		n := &node{function: i, block: b, ranges: bl.Ranges, own: int(bl.OwnInstructions())}
		fill(n)
		n.calls = inline(bl.Inlinees)
		c.block = append(c.block, n)
	}
	for k, n := range c.owner {
		n.bytes = append(n.bytes, fn.RVA+uint32(k))
	}
	return c
}

// next chooses a successor; tired walks go straight to the exit.
func (w *walker) next(i, b int, tired bool) (edge, to int) {
	fn := w.funcs[i]
	sum := 0.0
	usable := func(e spd.Edge) bool {
		d := w.dist[i][e.To-1]
		return e.Flags&spd.EdgeDead == 0 && d >= 0 && (!tired || d < w.dist[i][b])
	}
	for k, e := range fn.Blocks[b].Edges {
		if usable(e) {
			sum += w.probs[i][b][k]
		}
	}
	x := w.r.Float64() * sum
	for k, e := range fn.Blocks[b].Edges {
		if usable(e) {
			if x -= w.probs[i][b][k]; x <= 0 {
				return k, int(e.To) - 1
			}
		}
	}
	panic("no way to the exit")
}

const patience = 300 // blocks of one call before a walk is tired

// call executes function i once.
func (w *walker) call(i int) {
	fn := w.funcs[i]
	if w.dist[i][0] < 0 {
		return
	}
	w.at, w.last = 0, 0x10 // called from outside
	steps := 0
	for b := 0; ; {
		w.execute(w.codes[i], w.codes[i].block[b])
		w.block[i][b]++
		if b == len(fn.Blocks)-1 {
			break
		}
		k, to := w.next(i, b, steps > patience)
		w.edge[i][b][k]++
		b = to
		steps++
	}
	w.jump(w.last, 0x15)
}

// execute executes a block with what was inlined into it, of which each block
// runs once at most.
func (w *walker) execute(c *code, n *node) {
	chosen := map[*node]bool{n: true}
	var choose func(calls []call)
	choose = func(calls []call) {
		for _, x := range calls {
			if w.dist[x.function][0] < 0 {
				continue
			}
			for b := 0; ; {
				w.block[x.function][b]++
				if in := x.nodes[b]; in != nil {
					chosen[in] = true
					choose(in.calls)
				}
				if w.dist[x.function][b] == 0 {
					break
				}
				k, to := w.next(x.function, b, true)
				w.edge[x.function][b][k]++
				b = to
			}
		}
	}
	choose(n.calls)
	for x := range chosen {
		w.executed[x]++
	}
	for _, r := range n.ranges {
		for k := r.Start; k < r.Start+r.Length; k++ {
			if chosen[c.owner[k]] {
				w.step(c.rva+k, k == r.Start || c.owner[k-1] != c.owner[k])
			}
		}
	}
}

// step executes a byte; start says that an instruction must begin here.
func (w *walker) step(rva uint32, start bool) {
	if w.at != rva {
		w.jump(w.last, rva)
	}
	if w.at++; start || rva-w.last >= 4 {
		w.last = rva
	}
}

func (w *walker) jump(from, to uint32) {
	w.branches = append(w.branches, spt.Pair{To: to, From: from})
	w.at, w.last = to, to
}

// stacks returns an SPT of windows of the last depth branches.
func (w *walker) stacks(t testing.TB, windows, depth int) []byte {
	return writeSPT(t, func(out *spt.Writer) error {
		for range windows {
			end := depth + w.r.IntN(len(w.branches)-depth)
			pairs := make([]spt.Pair, 0, depth)
			for k := range depth {
				pairs = append(pairs, w.branches[end-1-k])
			}
			if err := out.LBR(pairs, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// addresses returns an SPT of about n sampled addresses.
func (w *walker) addresses(t testing.TB, n float64) []byte {
	total := 0.0
	for x, count := range w.executed {
		if len(x.bytes) > 0 {
			total += float64(count) * float64(x.own)
		}
	}
	return writeSPT(t, func(out *spt.Writer) error {
		for _, c := range w.codes {
			if c == nil {
				continue
			}
			for k, x := range c.owner {
				if k > 0 && c.owner[k-1] == x || x.bytes[0] != c.rva+uint32(k) {
					continue
				}
				hits := w.poisson(n * float64(w.executed[x]) * float64(x.own) / total)
				for range hits {
					if err := out.IP(spt.OpRetireInstr, []uint32{x.bytes[w.r.IntN(len(x.bytes))]}, 0); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

func (w *walker) poisson(mean float64) int {
	if mean > 200 {
		return max(0, int(mean+math.Sqrt(mean)*w.r.NormFloat64()+.5))
	}
	k, p, limit := 0, w.r.Float64(), math.Exp(-mean)
	for p > limit {
		p *= w.r.Float64()
		k++
	}
	return k
}

func writeSPT(t testing.TB, do func(*spt.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := spt.NewWriter(&b, []spt.ProgramID{{Name: "a.exe"}}, nil)
	if err == nil {
		err = w.BeginBinary(0)
	}
	if err == nil {
		err = do(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// overlap is the sum over all items of the lesser of the shares that truth and
// counts give it.
func overlap(truth, counts []float64) float64 {
	var a, b, sum float64
	for k := range truth {
		a += truth[k]
		b += counts[k]
	}
	if a == 0 || b == 0 {
		return 0
	}
	for k := range truth {
		sum += min(truth[k]/a, counts[k]/b)
	}
	return 100 * sum
}
