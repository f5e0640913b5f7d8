package aggregate

import (
	"cmp"
	"sync"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Shard is the sum of one worker. It implements [sample.Sink].
type Shard struct {
	binaries []*counts // by registered binary; nil: no hits
	depth    int       // most branches of a record
	cut      uint64    // pairs separated because of depth
	stack    []uint64
	scratch  []byte

	profile    *Profile
	calls      int   // of the sink
	stackBytes int64 // size of the whole stacks
}

// counts is the sum of one binary.
type counts struct {
	hits       counter // opcode in the high half, RVA in the low one
	branchSums chains
	callSums   chains
}

func (s *Shard) of(binary int32) *counts {
	for int(binary) >= len(s.binaries) {
		s.binaries = append(s.binaries, nil)
	}
	if s.binaries[binary] == nil {
		// A sample may count for several opcodes: one access to memory for all.
		s.binaries[binary] = &counts{hits: counter{aside: 0xff << 32}}
		if s.depth < spt.MaxEntries {
			s.binaries[binary].branchSums.whole = whole{}
		}
	}
	return s.binaries[binary]
}

// IP implements [sample.Sink].
func (s *Shard) IP(binary int32, opcode byte, rva uint32, n uint64) {
	if n > 0 {
		s.of(binary).hits.add(uint64(opcode)<<32|uint64(rva), n)
		s.grown()
	}
}

// Branches implements [sample.Sink].
func (s *Shard) Branches(binary int32, stack []sample.Branch, n uint64) {
	if n == 0 {
		return
	}
	c := &s.of(binary).branchSums
	if c.whole != nil {
		s.wholeStack(c, stack, n)
	}
	if len(stack) == 0 {
		return
	}
	before := arc(stack[0].To, stack[0].From)
	c.heads.add(before, n)
	for _, b := range stack[1:] {
		next := arc(b.To, b.From)
		c.links.add(before, next, n)
		before = next
	}
	s.grown()
}

// wholeStack keeps a stack as it is, in pieces of at most the depth.
func (s *Shard) wholeStack(c *chains, stack []sample.Branch, n uint64) {
	for len(stack) > 0 {
		piece := stack[:min(len(stack), s.depth)]
		s.stack = s.stack[:0]
		for _, b := range piece {
			s.stack = append(s.stack, arc(b.To, b.From))
		}
		before := len(c.whole)
		s.scratch = c.whole.add(s.stack, s.scratch, n)
		if len(c.whole) > before {
			s.stackBytes += int64(len(s.scratch)) + wholeOverhead
		}
		if stack = stack[len(piece):]; len(stack) > 0 {
			s.cut = binfmt.SatAdd(s.cut, n)
		}
	}
}

// A record of a call stack holds at most 254 arcs. A longer stack is cut into
// pieces of half that length, each of which begins with the frame that the one
// before it ends with, so that no arc is lost.
const (
	maxArcs   = spt.MaxEntries - 1
	arcsOfCut = maxArcs / 2
)

// Calls implements [sample.Sink].
func (s *Shard) Calls(binary int32, frames []uint32, n uint64) {
	if n == 0 {
		return
	}
	for len(frames) > maxArcs+1 {
		s.callStack(binary, frames[:arcsOfCut+1], n)
		frames = frames[arcsOfCut:]
	}
	s.callStack(binary, frames, n)
}

func (s *Shard) callStack(binary int32, frames []uint32, n uint64) {
	c := &s.of(binary).callSums
	if len(frames) < 2 {
		return
	}
	before := arc(frames[0], frames[1])
	c.heads.add(before, n)
	for i := 2; i < len(frames); i++ {
		next := arc(frames[i-1], frames[i])
		c.links.add(before, next, n)
		before = next
	}
	s.grown()
}

// merge adds another shard.
func (s *Shard) merge(o *Shard) {
	s.cut = binfmt.SatAdd(s.cut, o.cut)
	for i, c := range o.binaries {
		if c == nil {
			continue
		}
		into := s.of(int32(i))
		c.hits.each(into.hits.add)
		into.branchSums.merge(&c.branchSums)
		into.callSums.merge(&c.callSums)
	}
}

// Profile is the sum of everything. It implements [sample.Registry].
type Profile struct {
	// Workers is how many goroutines Write uses; 0 or less is one.
	Workers int

	mu       sync.Mutex
	binaries []sample.Binary
	byKey    map[sample.Key]int32
	depth    int
	idle     []*Shard // sums that no worker holds
	totals   []Total  // of all sums; nil: they changed

	// What was spilled, see Limit.
	limit  int64 // of a shard in bytes; 0: none
	dir    string
	failed func(error)
	runs   []*run
	cut    uint64 // pairs separated, of the runs
	err    error
}

// New returns an empty profile whose records will hold at most depth branches,
// 1 to 255.
func New(depth int) *Profile {
	return &Profile{byKey: map[sample.Key]int32{}, depth: depth}
}

// NewShard returns a sum for one worker, which hands it back by Merge.
func (p *Profile) NewShard() *Shard {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals = nil
	if last := len(p.idle) - 1; last >= 0 {
		s := p.idle[last]
		p.idle = p.idle[:last]
		return s
	}
	return &Shard{depth: p.depth, profile: p}
}

// Register implements [sample.Registry]. Of several names, paths and origins of
// one identity the least are kept, so that the order of the inputs has no
// effect; a trace knows more than an SPT.
func (p *Profile) Register(b sample.Binary) int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := b.Key()
	i, ok := p.byKey[key]
	if !ok {
		i = int32(len(p.binaries))
		p.byKey[key] = i
		p.binaries = append(p.binaries, b)
		return i
	}
	have := &p.binaries[i]
	origin := func(b *sample.Binary) int {
		if b.Identity == sample.IdentitySPT {
			return 1
		}
		return 0
	}
	if cmp.Or(cmp.Compare(origin(&b), origin(have)), cmp.Compare(b.Path, have.Path), cmp.Compare(b.Identity, have.Identity)) < 0 {
		have.Identity, have.Path = b.Identity, b.Path
	}
	have.Name = min(have.Name, b.Name)
	have.Kernel = have.Kernel || b.Kernel
	return i
}

// Binary returns the binary of an index.
func (p *Profile) Binary(i int32) sample.Binary {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.binaries[i]
}

// Merge takes the sum of a worker back, which must not be used any more.
func (p *Profile) Merge(s *Shard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals = nil
	p.idle = append(p.idle, s)
}
