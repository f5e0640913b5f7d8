package correlate

import (
	"math"
	"slices"

	"github.com/spgo-tools/spgo/internal/flow"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// A survey turns evidence of code into observations of functions.
type survey struct {
	*evidence
	mode  Mode
	unit  float64 // count of one execution seen
	scale uint64  // weight of one hit

	firstCopy []int32 // copies[firstCopy[f]:firstCopy[f+1]] are the bodies that speak of function f
	copies    []int32
	touched   []bool // bodies with hits
}

func newSurvey(e *evidence, mode Mode, unit, scale uint64) *survey {
	s := &survey{evidence: e, mode: mode, unit: float64(unit), scale: scale}
	s.touched = make([]bool, len(e.bodies))
	s.firstCopy = make([]int32, len(e.functions)+1)
	for b := range e.bodies {
		bd := &e.bodies[b]
		for p := bd.first; p < bd.end; p++ {
			if q := e.shows(p); e.hits[q] > 0 || e.passed != nil && e.passed[q] > 0 {
				s.touched[b] = true
				s.each(bd, func(f int32) { s.firstCopy[f+1]++ })
				break
			}
		}
	}
	for f := range e.functions {
		s.firstCopy[f+1] += s.firstCopy[f]
	}
	s.copies = make([]int32, s.firstCopy[len(e.functions)])
	next := append([]int32(nil), s.firstCopy...)
	for b := range e.bodies {
		if s.touched[b] {
			s.each(&e.bodies[b], func(f int32) {
				s.copies[next[f]] = int32(b)
				next[f]++
			})
		}
	}
	return s
}

// each calls do for the functions that a body is a copy of: one, or none, or
// also those folded into it.
func (s *survey) each(b *body, do func(f int32)) {
	if b.function < 0 {
		return
	}
	do(b.function)
	if b.host < 0 {
		for _, twin := range s.twins[b.function] {
			do(twin)
		}
	}
}

// bodiesOf returns the bodies with hits that are copies of function f.
func (s *survey) bodiesOf(f int32) []int32 { return s.copies[s.firstCopy[f]:s.firstCopy[f+1]] }

// shows returns the place whose code shows how often place p was executed: p
// itself, or the first code inlined into it if it has no other.
func (l *layout) shows(p int32) int32 {
	if q := l.places[p].inner; q >= 0 {
		return q
	}
	return p
}

// innerTrust is the confidence in the first code inlined into a block that has
// no other code, when branches show its count. That code may be executed less
// often than the block, and its neighbours know better.
const innerTrust = 1.0 / 4

// cutTrust is the confidence in counts of runs where stacks are cut.
const cutTrust = 1.0 / 16

// measure returns how often place p was executed, in executions, and what
// that is worth; n is 0 if p has no code.
func (s *survey) measure(p int32) (c, n float64) {
	trust := 1.0
	if q := s.shows(p); q != p {
		p, trust = q, innerTrust
	}
	if s.places[p].size == 0 || s.places[p].own == 0 {
		return 0, 0
	}
	if s.mode == IP {
		n = s.places[p].instructions()
		return float64(s.hits[p]) / float64(s.scale) / n, n
	}
	if s.passed == nil {
		return 0, 0
	}
	c = s.passed[p] / float64(s.scale) / s.places[p].bytes()
	if s.cut {
		trust *= cutTrust
	}
	// Who arrives at a block executes it, even if the run from there is lost.
	if k := s.places[p].head; k >= 0 {
		head := s.branchesOf(s.arrived[k]) + float64(s.crossed[k])/float64(s.scale)
		if head > c*(1+doubtful)+float64(doubtfulSigma*math.Sqrt(head)) {
			return head, 1
		}
	}
	return c, trust
}

// intensity is how often a body was executed, as a mean over its code.
func (s *survey) intensity(b int32) float64 {
	var hits, size float64
	for p := s.bodies[b].first; p < s.bodies[b].end; p++ {
		p := s.shows(p)
		pl := &s.places[p]
		if pl.size == 0 || pl.own == 0 {
			continue
		}
		if s.mode == IP {
			hits += float64(s.hits[p])
			size += pl.instructions()
		} else if s.passed != nil {
			hits += s.passed[p]
			size += pl.bytes()
		}
	}
	if size == 0 {
		return 0
	}
	return hits / size
}

// graph returns the flow graph of function f with what was observed of it.
//
// A block's count is the sum over all copies of the function. Its confidence
// is that of a sum of Poisson variables: count / variance, where each part
// has the variance count / n, and is taken for at least half a sample. Copies
// in which nothing is left of the block cannot say how often it was executed;
// it is taken to be as much of their intensity as in the other copies, and the
// confidence is less accordingly.
func (s *survey) graph(f int32) *flow.Graph {
	fn := s.functions[f]
	g := &flow.Graph{
		Blocks: make([]flow.Obs, len(fn.Blocks)),
		Exit:   len(fn.Blocks) - 1,
		Unit:   s.unit,
	}
	bodies := s.bodiesOf(f)
	intensity := make([]float64, len(bodies))
	all := 0.0
	for k, b := range bodies {
		intensity[k] = s.intensity(b)
		all += intensity[k]
	}
	for b := range fn.Blocks {
		var count, sure, variance, known float64
		for k, bd := range bodies {
			p := s.placeOf(bd, int32(b))
			if p < 0 {
				continue
			}
			c, n := s.measure(p)
			if n == 0 {
				continue
			}
			known += intensity[k]
			count += c
			sure += c + .5/n
			variance += float64((c + .5/n) / n)
		}
		switch {
		case variance == 0 || known == 0 && all > 0:
		case known < all:
			x := known / all
			g.Blocks[b] = flow.Obs{Count: s.count(count / x), N: sure / variance * (x * x * x * x)}
		default:
			g.Blocks[b] = flow.Obs{Count: s.count(count), N: sure / variance}
		}
	}
	alone := s.aloneIn(bodies)
	s.edges(g, f, alone || s.passed == nil)
	if s.entered[f] > 0 && alone {
		seen := flow.Obs{Count: s.count(s.branchesOf(s.entered[f])), N: 1}
		if k := s.firstByte(f); k >= 0 {
			g.Edges[k].Obs = seen
		} else {
			g.EntryObs = seen
		}
	}
	g.CallsKnown = fn.SymbolFlags&(spd.SymbolStatic|spd.SymbolAddressTaken) == spd.SymbolStatic
	return g
}

// firstByte returns which edge of the entry leads to the first byte of a
// function that other parts of it also jump into the middle of: arrivals at the
// first byte are only some of its entries then. It is -1 where they are all.
func (s *survey) firstByte(f int32) int {
	fn := s.functions[f]
	if !s.machine[f] || fn.Blocks[0].Instructions > 0 || len(fn.Blocks[0].Edges) < 2 {
		return -1
	}
	return slices.IndexFunc(fn.Blocks[0].Edges, func(e spd.Edge) bool {
		to := int(e.To) - 1
		return to >= 0 && to < len(fn.Blocks) && len(fn.Blocks[to].Ranges) > 0 && fn.Blocks[to].Ranges[0].Start == 0
	})
}

// edges adds the edges of function f to g. What branches and runs show of
// them are counts if observed says so: where the function is inlined some way
// of its flow leads through code around it, and edges are seen too rarely. An
// edge that was not seen has not been shown not to be taken, unless those that
// were seen account for all executions of its block.
func (s *survey) edges(g *flow.Graph, f int32, observed bool) {
	fn := s.functions[f]
	for b := range fn.Blocks {
		first := s.firstEdge[s.firstBlock[f]+int32(b)]
		start := len(g.Edges)
		sum := 0.0
		for k, e := range fn.Blocks[b].Edges {
			d := first + int32(k)
			edge := flow.Edge{From: b, To: int(e.To) - 1, Dead: e.Flags&spd.EdgeDead != 0}
			if n := s.taken[d] | s.fallen[d]; observed && n > 0 && s.unsure[d] == 0 {
				x := s.branchesOf(s.taken[d]) + float64(s.fallen[d])/float64(s.scale)
				edge.Obs = flow.Obs{Count: s.count(x), N: edgeTrust}
				if s.cut && s.taken[d] == 0 {
					edge.Obs.N = cutTrust
				}
				sum += x
			}
			g.Edges = append(g.Edges, edge)
		}
		block := g.Blocks[b]
		if c := float64(block.Count) / s.unit; !block.Known() || sum == 0 || sum < c-math.Sqrt(c) {
			continue
		}
		for k := start; k < len(g.Edges); k++ {
			if e := &g.Edges[k]; !e.Obs.Known() && !e.Dead {
				e.Obs.N = 1
			}
		}
	}
	if observed && s.passed != nil {
		s.doubt(g)
	}
}

// doubt takes edges for not observed where they contradict the block that they
// leave or reach: the code of several blocks is interleaved there, so that it
// runs from one into another again and again without any of their edges, or
// a way leads round the code that would show it.
func (s *survey) doubt(g *flow.Graph) {
	out, in := make([]sides, len(g.Blocks)), make([]sides, len(g.Blocks))
	for _, e := range g.Edges {
		if !e.Dead && e.To >= 0 && e.To < len(in) {
			out[e.From].add(e.Obs)
			in[e.To].add(e.Obs)
		}
	}
	for b, o := range g.Blocks {
		out[b].judge(o, s.unit)
		in[b].judge(o, s.unit)
	}
	for k := range g.Edges {
		if e := &g.Edges[k]; !e.Dead && e.To >= 0 && e.To < len(in) && (out[e.From].wrong || in[e.To].wrong) {
			e.Obs = flow.Obs{}
		}
	}
}

// sides are the edges on one side of a block.
type sides struct {
	sum     float64 // of those observed
	unknown bool    // some were not
	wrong   bool    // they contradict the block
}

func (d *sides) add(o flow.Obs) {
	d.sum += float64(o.Count)
	d.unknown = d.unknown || !o.Known()
}

// doubtful is by how much the sum of edges may differ from their block, beyond
// doubtfulSigma standard deviations.
const (
	doubtful      = .12
	doubtfulSigma = 3
)

func (d *sides) judge(block flow.Obs, unit float64) {
	if !block.Known() || d.sum == 0 {
		return
	}
	c := float64(block.Count)
	noise := doubtfulSigma * math.Sqrt(max(c, d.sum)*unit)
	d.wrong = d.sum > c*(1+doubtful)+noise || !d.unknown && d.sum < c*(1-doubtful)-noise
}

// edgeTrust is the confidence in a count of an edge, compared with that of a
// block, which is a mean over all of its code. Of the powers of two it gives
// the best blocks, edges and entries over the worlds of docs/accuracy.md.
const edgeTrust = 1.0 / 4

// branchesOf returns the executions that a weight of branches stands for.
func (s *survey) branchesOf(weight uint64) float64 {
	return float64(weight) / float64(s.scale) * s.share
}

// aloneIn says whether a function was executed nowhere but in its own code.
func (s *survey) aloneIn(bodies []int32) bool {
	for _, b := range bodies {
		if s.bodies[b].host >= 0 {
			return false
		}
	}
	return true
}

// count returns a number of executions as a count.
func (s *survey) count(executions float64) uint64 {
	x := math.Round(executions * s.unit)
	if x >= 1<<63 {
		return 1 << 63
	}
	return uint64(x)
}

// seen returns the hits that speak of the blocks of function f, see
// Function.Hits.
func (s *survey) seen(f int32, g *flow.Graph) uint64 {
	var hits uint64
	if s.mode == LBR && s.passed != nil {
		for _, o := range g.Blocks {
			hits = binfmt.SatAdd(hits, o.Count)
		}
		if n := uint64(math.Round(float64(hits) / s.unit)); n > 0 {
			return n
		}
		// Hardly any code between branches was seen here: stacks were too short.
		hits = 0
	}
	for _, b := range s.bodiesOf(f) {
		for p := s.bodies[b].first; p < s.bodies[b].end; p++ {
			hits = binfmt.SatAdd(hits, s.hits[s.shows(p)])
		}
	}
	return whole(hits, s.scale)
}
