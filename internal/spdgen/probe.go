package spdgen

import "math/rand/v2"

const (
	maxDepthLBR  = 32
	branchPeriod = 67  // taken branches from one branch stack to the next, on average
	ipPeriod     = 397 // instructions from one address to the next, on average
	maxSkid      = 2   // instructions executed between an event and the address that is reported
)

// probe is the sampling hardware. It records branch stacks at a period with
// jitter, and instruction addresses at random times, which makes their numbers
// Poisson distributed.
type probe struct {
	r *rand.Rand

	ring       [maxDepthLBR]Branch
	branches   uint64
	nextStack  int      // branches
	stacks     []Branch // maxDepthLBR for each, the newest first
	nextSample float64  // instructions
	skidding   []int    // instructions until each sample that is due is reported
	addresses  []uint32
}

func newProbe(r *rand.Rand) *probe {
	return &probe{r: r, nextStack: maxDepthLBR + r.IntN(branchPeriod), nextSample: ipPeriod * r.ExpFloat64()}
}

func (p *probe) branch(from, to uint32) {
	p.ring[p.branches%maxDepthLBR] = Branch{from, to}
	p.branches++
	p.nextStack--
	if p.nextStack > 0 {
		return
	}
	p.nextStack = branchPeriod*3/4 + p.r.IntN(branchPeriod/2+1)
	for k := range uint64(maxDepthLBR) {
		p.stacks = append(p.stacks, p.ring[(p.branches-1-k)%maxDepthLBR])
	}
}

// instructions executes instructions that follow each other.
func (p *probe) instructions(starts []uint32) {
	n := len(starts)
	due := p.skidding
	p.skidding = p.skidding[:0]
	for _, k := range due {
		p.report(starts, k)
	}
	for p.nextSample < float64(n) {
		p.report(starts, int(p.nextSample)+p.r.IntN(maxSkid+1))
		p.nextSample += ipPeriod * p.r.ExpFloat64()
	}
	p.nextSample -= float64(n)
}

func (p *probe) report(starts []uint32, k int) {
	if k < len(starts) {
		p.addresses = append(p.addresses, starts[k])
	} else {
		p.skidding = append(p.skidding, k-len(starts))
	}
}
