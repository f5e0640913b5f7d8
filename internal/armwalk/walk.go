package armwalk

import (
	"fmt"
	"math/rand/v2"
)

// Arc is a taken branch, as addresses.
type Arc struct{ From, To uint64 }

// Counts is what a walk did.
type Counts struct {
	Instructions map[uint64]uint64 // by address
	Taken        map[Arc]uint64
	NotTaken     map[uint64]uint64 // conditional branches by address
	Runs         map[Arc]uint64    // straight runs: from the target of a taken branch to the next one; To is the start
}

func newCounts() *Counts {
	return &Counts{Instructions: map[uint64]uint64{}, Taken: map[Arc]uint64{}, NotTaken: map[uint64]uint64{}, Runs: map[Arc]uint64{}}
}

// count adds an executed instruction.
func (c *Counts) count(s *step) {
	c.Instructions[s.pc]++
	switch {
	case s.taken:
		c.Taken[Arc{s.pc, s.target}]++
		if s.previous != 0 {
			c.Runs[Arc{s.pc, s.previous}]++
		}
	case s.kind == conditional:
		c.NotTaken[s.pc]++
	}
}

// step is one executed instruction.
type step struct {
	pc, target uint64
	previous   uint64 // target of the last branch taken before; 0: none yet
	kind       kind
	taken      bool
}

// maxDepth bounds calls, so that a recursive program ends.
const maxDepth = 200

// walk executes n instructions, from the entry again where the program ends,
// and calls f for each.
func (p *Program) walk(n int, random *rand.Rand, f func(*step)) (*Counts, error) {
	c := newCounts()
	odds := map[uint64]float64{} // of a conditional branch to be taken
	var stack []uint64
	pc, previous := p.Entry, uint64(0)
	for range n {
		k, target, err := p.decode(pc)
		if err != nil {
			return nil, err
		}
		s := step{pc: pc, kind: k, previous: previous, target: pc + 4}
		switch k {
		case jump:
			s.target, s.taken = target, true
		case conditional:
			p, ok := odds[pc]
			if !ok {
				p = 0.05 + 0.9*random.Float64()
				odds[pc] = p
			}
			if s.taken = random.Float64() < p; s.taken {
				s.target = target
			}
		case call:
			if len(stack) == maxDepth {
				return nil, fmt.Errorf("calls nest more than %d deep", maxDepth)
			}
			stack = append(stack, pc+4)
			s.target, s.taken = target, true
		case ret:
			if len(stack) == 0 {
				return nil, fmt.Errorf("a return at %#x without a call", pc)
			}
			s.target, s.taken = stack[len(stack)-1], true
			stack = stack[:len(stack)-1]
		case indirect:
			return nil, fmt.Errorf("an indirect branch at %#x", pc)
		}
		c.count(&s)
		f(&s)
		switch {
		case k == stop:
			pc, previous, stack = p.Entry, 0, stack[:0]
		default:
			if s.taken {
				previous = s.target
			}
			pc = s.target
		}
	}
	return c, nil
}
