package correlate

import (
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Samples are the sums of the samples of one binary over all inputs. They do
// not depend on the order of the inputs. Sums stay at the greatest uint64
// instead of wrapping. Memory is about 16 to 24 bytes for each distinct
// address, branch, pair of neighbouring branches and call arc.
type Samples struct {
	layout *layout
	inputs []InputStats

	ip [maxIPOpcode + 1]sums // by opcode, of RVAs

	arcs sums // branches: From, To
	// runs are the straight pieces between neighbouring branches: To of the
	// older and From of the younger.
	runs sums
	// relays are indirect calls through code of no function, such as the
	// dispatch of control flow guard, with the target of the next branch:
	// From of the first, To of the second.
	relays        sums
	branches      uint64
	stretches     uint64 // hits of runs
	inner         uint64 // of the branches, those with both ends in the binary
	followed      uint64 // of these, those with the run that they lead to
	calls         sums   // neighbouring frames of call stacks as in the file: k, k+1
	first, last   sums   // frames of call stacks of inputs without addresses
	framesCounted bool   // first and last hold something
}

const maxIPOpcode = spt.OpETWInstr

// OpcodeCount counts the records of one opcode.
type OpcodeCount struct {
	Op      spt.Opcode
	Records uint64
	// Hits are addresses, branches or call stacks, REPEATs included, without
	// weight.
	Hits uint64
}

// InputStats says what an input holds, each list ascending by opcode.
type InputStats struct {
	Chosen []OpcodeCount // of the program ids that were asked for
	Other  []OpcodeCount // of all others
	// Neighbours are the hits of the chosen branches that are in stacks of two
	// or more.
	Neighbours uint64
	// Reversed says that the branch stacks had the oldest branch first.
	Reversed bool
}

// NewSamples returns empty sums for the binary of an SPD. f must not change as
// long as the sums are in use, except for its counts.
func NewSamples(f *spd.File) *Samples { return &Samples{layout: newLayout(f)} }

// Add reads an input to its end and adds the records of the program ids for
// which program returns true, each hit with the given weight. What is damaged
// is left to the options of r; the error is that of r.Err, and what was read
// before it is added.
//
// Weights are whole numbers. To weigh by fractions give every input a multiple
// and say in Options.Scale of what.
func (s *Samples) Add(r *spt.Reader, program func(spt.ProgramID) bool, weight uint64) (InputStats, error) {
	in := input{Samples: s, weight: weight}
	stats, err := scan(r, program, in.record)
	stats.Reversed = in.finish(stats.Chosen)
	s.inputs = append(s.inputs, stats)
	return stats, err
}

// Survey counts what Add would add; it leaves Reversed open.
func Survey(r *spt.Reader, program func(spt.ProgramID) bool) (InputStats, error) {
	return scan(r, program, func(*spt.Record) {})
}

// scan calls do for all records of the chosen program ids and counts the
// records.
func scan(r *spt.Reader, program func(spt.ProgramID) bool, do func(*spt.Record)) (InputStats, error) {
	chosen := make([]bool, len(r.Programs()))
	for i, id := range r.Programs() {
		chosen[i] = program(id)
	}
	var counts [2][256]OpcodeCount
	var neighbours uint64
	for r.Next() {
		rec := r.Record()
		side := 1
		if chosen[rec.Program] {
			side = 0
			do(rec)
		}
		c := &counts[side][rec.Op]
		c.Records++
		c.Hits = binfmt.SatAdd(c.Hits, rec.Samples())
		if side == 0 && len(rec.Pairs) > 1 {
			neighbours = binfmt.SatAdd(neighbours, rec.Samples())
		}
	}
	return InputStats{Chosen: present(&counts[0]), Other: present(&counts[1]), Neighbours: neighbours}, r.Err()
}

func present(counts *[256]OpcodeCount) []OpcodeCount {
	var list []OpcodeCount
	for op, c := range counts {
		if c.Records > 0 {
			c.Op = spt.Opcode(op)
			list = append(list, c)
		}
	}
	return list
}

// find returns the count of an opcode.
func find(counts []OpcodeCount, op spt.Opcode) OpcodeCount {
	for _, c := range counts {
		if c.Op == op {
			return c
		}
	}
	return OpcodeCount{Op: op}
}

// An input adds the records of one file. The order of the branches in its
// stacks shows only after a number of them, which wait until then.
type input struct {
	*Samples
	weight      uint64
	first, last sums // frames of call stacks
	order       order
	waiting     []stack
}

// A stack is a branch stack that waits.
type stack struct {
	pairs []spt.Pair
	hits  uint64
}

func (in *input) record(rec *spt.Record) {
	hits := binfmt.SatMul(rec.Hits(), in.weight)
	switch {
	case rec.Op == spt.OpLBR:
		in.stack(rec.Pairs, hits)
	case rec.Op == spt.OpETWCallStack:
		n := len(rec.RVAs)
		in.first.add(uint64(rec.RVAs[0]), hits)
		in.last.add(uint64(rec.RVAs[n-1]), hits)
		for k := range n - 1 {
			in.calls.add(pairKey(rec.RVAs[k], rec.RVAs[k+1]), hits)
		}
	case rec.Op.IsIP():
		for _, rva := range rec.RVAs {
			in.ip[rec.Op].add(uint64(rva), hits)
		}
	}
}

func (in *input) stack(pairs []spt.Pair, hits uint64) {
	inner := 0
	for _, p := range pairs {
		in.arcs.add(pairKey(p.From, p.To), hits)
		if inside(p) {
			inner++
		}
	}
	in.branches = binfmt.SatAdd(in.branches, binfmt.SatMul(uint64(len(pairs)), hits))
	in.inner = binfmt.SatAdd(in.inner, binfmt.SatMul(uint64(inner), hits))
	if len(pairs) == 1 {
		return
	}
	if in.order.known {
		in.chain(pairs, hits)
		return
	}
	in.order.judge(in.layout, pairs)
	in.waiting = append(in.waiting, stack{append([]spt.Pair(nil), pairs...), hits})
	if in.order.known {
		in.resume()
	}
}

// resume adds the stacks that waited.
func (in *input) resume() {
	for _, st := range in.waiting {
		in.chain(st.pairs, st.hits)
	}
	in.waiting = nil
}

// outside is the RVA of an end of a branch that is not in the binary or not
// known.
const outside = 0

func inside(p spt.Pair) bool { return p.From != outside && p.To != outside }

// chain adds what the neighbours of a stack say.
func (in *input) chain(pairs []spt.Pair, hits uint64) {
	runs, followed := 0, 0
	for k := range len(pairs) - 1 {
		younger, older := pairs[k], pairs[k+1]
		if in.order.reversed() {
			younger, older = older, younger
		}
		if older.To == outside || younger.From == outside {
			continue
		}
		runs++
		if inside(older) {
			followed++
		}
		in.runs.add(pairKey(older.To, younger.From), hits)
		if in.layout.relayed(older, younger) {
			in.relays.add(pairKey(older.From, younger.To), hits)
		}
	}
	in.stretches = binfmt.SatAdd(in.stretches, binfmt.SatMul(uint64(runs), hits))
	in.followed = binfmt.SatAdd(in.followed, binfmt.SatMul(uint64(followed), hits))
}

// finish ends the input and returns whether its stacks were in the other
// order. chosen says what records there were.
func (in *input) finish(chosen []OpcodeCount) (reversed bool) {
	in.resume()
	addresses := false
	for _, c := range chosen {
		addresses = addresses || c.Op.IsIP()
	}
	if !addresses && len(in.first.settle()) > 0 {
		in.Samples.first.addAll(&in.first)
		in.Samples.last.addAll(&in.last)
		in.framesCounted = true
	}
	return in.order.reversed()
}

// An order finds out which end of a branch stack is the younger one. A SPT is
// meant to have the youngest branch first, but nothing in it says so. Read the
// right way round, the code from where one branch arrives to where the next
// one starts runs forward in one function.
type order struct {
	stacks      int
	forth, back int // neighbours that fit this way alone
	known       bool
}

// Neighbours of so many stacks decide, unless so many neighbours do before.
const (
	orderStacks = 1 << 14
	orderSure   = 1 << 12
)

func (o *order) judge(l *layout, pairs []spt.Pair) {
	for k := range len(pairs) - 1 {
		forth := l.runs(pairs[k+1].To, pairs[k].From)
		back := l.runs(pairs[k].To, pairs[k+1].From)
		switch {
		case forth && !back:
			o.forth++
		case back && !forth:
			o.back++
		}
	}
	o.stacks++
	o.known = o.stacks == orderStacks || o.forth+o.back >= orderSure
}

func (o *order) reversed() bool { return o.back > o.forth }
