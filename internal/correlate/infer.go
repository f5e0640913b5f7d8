package correlate

import (
	"context"

	"github.com/spgo-tools/spgo/internal/flow"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

const defaultUnit = 256

// callRounds is how often entries are compared with what calls say of them.
const callRounds = 2

// executionOpcodes are the opcodes of address samples that can stand for
// executions, the best first. What follows cycles or a timer counts slow code
// more often.
var executionOpcodes = []spt.Opcode{spt.OpRetireInstr, spt.OpUnhaltCycle, spt.OpETWInstr, spt.OpETWCallStack}

// timeMisfit is how much of a function's weight may be elsewhere than its
// samples before the function is doubted, where they are of time. Instructions
// that take long have more samples than executions, and code that runs quickly
// hardly any, so that flow has much to correct in sound profiles: in 557
// functions of CPython, SQLite, gzip and small programs, sampled by the clock,
// up to .56 of the weight beyond noise. Flow graphs of other builds lose .2 to
// .8, so that no limit tells all of them.
const timeMisfit = .6

// Infer turns samples into consistent counts of the functions of the SPD that
// s was made for. The result depends on the SPD, the sums and the options
// alone. It fails with *WrongModeError, *MixedKindsError or the error of ctx.
func Infer(ctx context.Context, s *Samples, o Options) (*Result, error) {
	if o.Unit == 0 {
		o.Unit = defaultUnit
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	mode, event, err := s.choose(o)
	if err != nil {
		return nil, err
	}
	single := o.Mode == Auto && mode == IP && s.branches > 0
	r := &Result{Mode: mode, IPEvent: event, SingleBranches: single, Functions: make([]Function, len(s.layout.functions))}
	e := newEvidence(s.layout)
	if mode == LBR {
		s.weighBranches(e)
		if o.Consume { // branches and runs are the greater part of all memory
			s.arcs, s.runs = sums{}, sums{}
		}
	} else {
		s.weighAddresses(e, r, o.Scale)
	}
	for reason, hits := range e.dropped {
		if hits > 0 {
			r.Dropped = append(r.Dropped, Loss{Reason(reason), whole(hits, o.Scale)})
		}
	}
	for kind, hits := range e.kinds {
		if hits > 0 {
			r.Branches = append(r.Branches, BranchCount{BranchKind(kind), whole(hits, o.Scale)})
		}
	}
	r.Used = whole(e.used, o.Scale)
	if err := r.infer(ctx, newSurvey(e, mode, o.Unit, o.Scale), max(1, o.Jobs)); err != nil {
		return nil, err
	}
	for f, sites := range e.calls.result(o.Scale) {
		if r.Functions[f].Touched {
			r.Functions[f].Indirect = sites
		}
	}
	r.Density = density(s.layout.functions, r.Functions)
	return r, nil
}

// choose decides what is counted.
func (s *Samples) choose(o Options) (Mode, spt.Opcode, error) {
	var counts [256]OpcodeCount
	var mixed MixedKindsError
	for i, in := range s.inputs {
		addresses := false
		for _, c := range in.Chosen {
			sum := &counts[c.Op]
			sum.Records += c.Records
			sum.Hits = binfmt.SatAdd(sum.Hits, c.Hits)
			addresses = addresses || c.Op != spt.OpLBR
		}
		if find(in.Chosen, spt.OpLBR).Records > 0 {
			mixed.LBR = append(mixed.LBR, i)
		} else if addresses {
			mixed.IP = append(mixed.IP, i)
		}
	}
	wrong := &WrongModeError{Mode: o.Mode, IPEvent: o.IPEvent, Has: present(&counts)}
	mode := o.Mode
	if mode == Auto {
		if mode = KindsOf(s.inputs).Mode(); mode == LBR && len(mixed.IP) > 0 {
			return 0, 0, &mixed
		}
	}
	if mode == LBR {
		if len(mixed.LBR) == 0 {
			return 0, 0, wrong
		}
		return LBR, 0, nil
	}
	if o.IPEvent != 0 {
		if counts[o.IPEvent].Records == 0 || o.IPEvent == spt.OpETWCallStack && !s.framesCounted {
			return 0, 0, wrong
		}
		return IP, o.IPEvent, nil
	}
	for _, op := range executionOpcodes {
		if counts[op].Records > 0 && (op != spt.OpETWCallStack || s.framesCounted) {
			return IP, op, nil
		}
	}
	return 0, 0, wrong
}

// weighBranches adds what branches say to e.
func (s *Samples) weighBranches(e *evidence) {
	arrivals, departures := newBitmap(s.layout), newBitmap(s.layout)
	s.runs.begin()
	e.takeBranches(s.arcs.settle(), arrivals, departures)
	s.arcs.release()
	e.calls.relays(s.relays.settle())
	if s.followed > 0 {
		e.share = float64(s.followed) / float64(s.inner)
	}
	if s.stretches > 0 {
		e.takeRuns(s.runs.settle(), arrivals, departures)
		s.runs.release()
		e.findShare(e.share)
		e.takeEnds(s.arcs.settle(), arrivals, departures)
	}
	for op := range s.ip {
		e.drop(OtherMode, total(s.ip[op].settle()))
	}
	e.drop(OtherMode, total(s.first.settle()))
}

// weighAddresses adds what addresses and call stacks say to e.
func (s *Samples) weighAddresses(e *evidence, r *Result, one uint64) {
	frames := &s.first
	calls := s.calls.settle()
	r.StacksReversed = s.layout.outermostFirst(calls)
	if r.StacksReversed {
		frames = &s.last
	}
	for op := range s.ip {
		switch {
		case spt.Opcode(op) == r.IPEvent:
			e.addresses(s.ip[op].settle(), r.IPEvent == spt.OpRetireBrInstr)
		default:
			e.drop(OtherEvent, total(s.ip[op].settle()))
		}
	}
	// Windows takes call stacks with the timer that ETW_INSTR stands for.
	if r.IPEvent == spt.OpETWCallStack || r.IPEvent == spt.OpETWInstr {
		e.addresses(frames.settle(), false)
	} else {
		e.drop(OtherEvent, total(frames.settle()))
	}
	e.stacks(calls, r.StacksReversed, one)
	e.drop(OtherMode, s.branches)
}

func total(list []tally) uint64 {
	var sum uint64
	for _, t := range list {
		sum = binfmt.SatAdd(sum, t.hits)
	}
	return sum
}

// infer makes the counts of all functions with hits.
func (r *Result) infer(ctx context.Context, s *survey, jobs int) error {
	var chosen []int32
	var graphs []*flow.Graph
	place := map[int32]int{}
	for f := range s.functions {
		if len(s.bodiesOf(int32(f))) == 0 || len(s.functions[f].Blocks) == 0 {
			continue
		}
		place[int32(f)] = len(chosen)
		chosen = append(chosen, int32(f))
		graphs = append(graphs, s.graph(int32(f)))
	}
	var calls []flow.Call
	if s.mode == IP {
		for i, f := range chosen {
			calls = s.appendCalls(calls, i, f, place)
		}
	}
	results, err := flow.InferCalls(ctx, graphs, calls, callRounds, jobs)
	if err != nil {
		return err
	}
	var changed, observed, unreached, trapped float64
	for i, f := range chosen {
		res := results[i]
		r.Functions[f] = s.counts(f, graphs[i], res)
		changed += float64(res.Correction * res.Observed)
		observed += res.Observed
		if res.FellBack && (!r.SampledTime() || 1-res.Overlap > timeMisfit+2*res.Noise) {
			r.FellBack = append(r.FellBack, int(f))
		}
		unreached += res.Unreached
		trapped += res.Unexplained - res.Unreached
	}
	if observed > 0 {
		r.Correction = changed / observed
		r.Unreached, r.Trapped = unreached/observed, trapped/observed
	}
	return nil
}

// appendCalls appends the direct calls of function f, which has number i among
// the chosen ones, of functions whose calls are all known.
func (s *survey) appendCalls(calls []flow.Call, i int, f int32, place map[int32]int) []flow.Call {
	fn := s.functions[f]
	for k := range fn.Callees {
		c := &fn.Callees[k]
		g, ok := s.byID[c.ID]
		if !ok {
			continue
		}
		j, ok := place[g]
		if !ok {
			continue
		}
		for _, site := range c.Sites {
			if site >= 1 && int(site) <= len(fn.Blocks) {
				calls = append(calls, flow.Call{Caller: i, Block: int(site) - 1, Callee: j})
			}
		}
	}
	return calls
}

// counts brings the counts of function f in the shape of its record.
func (s *survey) counts(f int32, g *flow.Graph, r *flow.Result) Function {
	fn, full := s.functions[f], r.Full()
	c := Function{
		Touched: true,
		Hits:    s.seen(f, g),
		Blocks:  full.Blocks,
		Edges:   make([][]uint64, len(fn.Blocks)),
		Quality: r.Quality,
	}
	edges := full.Edges
	for b := range c.Edges {
		n := len(fn.Blocks[b].Edges)
		c.Edges[b], edges = edges[:n:n], edges[n:]
	}
	return c
}

// SampledTime says that counts were made from samples of time: cycles, or a
// timer. These say how long code took rather than how often it ran.
func (r *Result) SampledTime() bool {
	return r.Mode == IP && (r.IPEvent == spt.OpUnhaltCycle || r.IPEvent == spt.OpETWInstr || r.IPEvent == spt.OpETWCallStack)
}

// executes says whether samples of an opcode can stand for executions.
func executes(op spt.Opcode) bool {
	for _, x := range executionOpcodes {
		if op == x {
			return true
		}
	}
	return false
}
