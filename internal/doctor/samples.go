package doctor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Program is a binary with its samples.
type Program struct {
	Name        string
	GUID        binfmt.GUID
	Age         uint32
	FileOffsets bool   // addresses are file offsets, which belong to no SPD
	Source      string // how a trace's identity was found; empty in an SPT
	Counts      []Count
}

// Count is the number of samples of an opcode: addresses, branches, or frames
// that have a caller.
type Count struct {
	Op   spt.Opcode
	Hits uint64
}

// Hits is the number of samples of all kinds.
func (p *Program) Hits() (n uint64) {
	for _, c := range p.Counts {
		n = binfmt.SatAdd(n, c.Hits)
	}
	return n
}

// Mode is the mode of an import that suits the samples; Auto if none does.
func (p *Program) Mode() correlate.Mode {
	e := correlate.WrongModeError{}
	for _, c := range p.Counts {
		if c.Hits > 0 {
			e.Has = append(e.Has, correlate.OpcodeCount{Op: c.Op, Hits: c.Hits})
		}
	}
	return e.HasMode()
}

func (p *Program) identity() identity { return identity{p.Name, p.GUID, p.Age} }

// bySamples orders programs by samples, then by what they are.
func bySamples(a, b Program) int {
	return cmp.Or(-cmp.Compare(a.Hits(), b.Hits()), cmp.Compare(a.Name, b.Name), slices.Compare(a.GUID[:], b.GUID[:]), cmp.Compare(a.Age, b.Age))
}

// ReadSPT counts the samples of an SPT. The error is that of the SPT; what was
// read before it is in the result.
func ReadSPT(file string, r *spt.Reader) (*Samples, error) {
	s := &Samples{File: file, Format: "spt", Programs: []Program{}}
	programs := r.Programs()
	counts := make([]hits, len(programs))
	for r.Next() {
		rec := r.Record()
		counts[rec.Program].add(rec.Op, rec.Samples())
	}
	damage := r.Err()
	for _, skipped := range r.Stats().Skipped {
		damage = errors.Join(damage, skipped.First)
	}
	for i, id := range programs {
		b := sample.FromProgram(id.Name, id.GUID, id.Age)
		s.Programs = append(s.Programs, Program{Name: b.Name, GUID: id.GUID, Age: id.Age, FileOffsets: b.FileOffsets, Counts: counts[i].list()})
	}
	slices.SortStableFunc(s.Programs, bySamples)
	return s, damage
}

// opcodes are those of samples.
var opcodes = [...]spt.Opcode{spt.OpUnhaltCycle, spt.OpRetireInstr, spt.OpRetireBrInstr, spt.OpL1ICacheMiss, spt.OpL1DCacheMiss,
	spt.OpLBR, spt.OpETWInstr, spt.OpETWCallStack}

// hits are sums by opcode.
type hits [len(opcodes)]uint64

func (h *hits) add(op spt.Opcode, n uint64) {
	if i := slices.Index(opcodes[:], op); i >= 0 {
		h[i] = binfmt.SatAdd(h[i], n)
	}
}

// list gives the sums that are not zero in the order of the opcodes.
func (h *hits) list() []Count {
	all := []Count{}
	for i, n := range h {
		if n > 0 {
			all = append(all, Count{opcodes[i], n})
		}
	}
	return all
}

// Correlate puts the samples of the subject's link into its functions, and
// keeps in s.Fit how they suit. Those of another age count where there is none
// of the same: whether they fit says whether the code is the same. The reader
// is a new one of the SPT; its defects were met when samples were counted.
func (s *Samples) Correlate(ctx context.Context, r *spt.Reader, subject *SPD) error {
	fit, err := correlated(ctx, r, subject)
	s.Fit = fit
	return err
}

func correlated(ctx context.Context, r *spt.Reader, subject *SPD) (*Fit, error) {
	want := subject.identity()
	related := func(id spt.ProgramID) Relation {
		b := sample.FromProgram(id.Name, id.GUID, id.Age)
		if b.FileOffsets {
			return Other // the addresses say nothing of the code
		}
		return relation(want, identity{b.Name, id.GUID, id.Age})
	}
	best := Other
	for _, id := range r.Programs() {
		rel := related(id)
		if (rel == Same || rel == AgeOnly) && slices.Index(relations, rel) < slices.Index(relations, best) {
			best = rel
		}
	}
	if best == Other {
		return nil, nil
	}
	sums := correlate.NewSamples(subject.Content)
	uses := func(id spt.ProgramID) bool { return related(id) == best }
	if _, err := sums.Add(r, uses, 1); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result, err := correlate.Infer(ctx, sums, correlate.Options{})
	var wrong *correlate.WrongModeError
	switch {
	case errors.As(err, &wrong):
		return &Fit{Mode: wrong.HasMode(), Wrong: wrong, Factor: 1}, nil
	case err != nil:
		return nil, err
	}
	fit := &Fit{Mode: result.Mode, Time: result.SampledTime(), Used: result.Used, Factor: max(result.Density.Factor, 1)}
	for _, l := range result.Dropped {
		if l.Reason == correlate.OutsideFunctions || l.Reason == correlate.InPadding {
			fit.Outside = binfmt.SatAdd(fit.Outside, l.Hits)
		}
	}
	for _, f := range result.Functions {
		if f.Touched {
			fit.Touched++
			fit.Hits = binfmt.SatAdd(fit.Hits, f.Hits)
		}
	}
	for _, i := range result.FellBack {
		fit.Doubtful++
		fit.DoubtfulHits = binfmt.SatAdd(fit.DoubtfulHits, result.Functions[i].Hits)
	}
	return fit, nil
}

func (s *SPD) identity() identity {
	return identity{s.Content.Header.Binary, s.Content.Header.GUID, s.Content.Header.Age}
}

// Tally counts the samples of a recording by binary. It is the registry of
// package ingest, and makes its sinks.
type Tally struct {
	mu       sync.Mutex
	byKey    map[sample.Key]int32
	binaries []sample.Binary
	sinks    []*sink
}

// NewTally returns an empty tally.
func NewTally() *Tally { return &Tally{byKey: map[sample.Key]int32{}} }

// Register returns the index of the binary with b's key.
func (t *Tally) Register(b sample.Binary) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.byKey[b.Key()]
	if !ok {
		i = int32(len(t.binaries))
		t.byKey[b.Key()] = i
		t.binaries = append(t.binaries, b)
	}
	return i
}

// NewSink returns a sink for one worker.
func (t *Tally) NewSink() sample.Sink {
	s := &sink{}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sinks = append(t.sinks, s)
	return s
}

// Take returns the binaries with their samples, most first, and begins anew.
// No sink may be in use any more.
func (t *Tally) Take() []Program {
	t.mu.Lock()
	defer t.mu.Unlock()
	programs := []Program{}
	for i, b := range t.binaries {
		var sum hits
		for _, s := range t.sinks {
			if i < len(s.counts) {
				for k, n := range s.counts[i] {
					sum[k] = binfmt.SatAdd(sum[k], n)
				}
			}
		}
		programs = append(programs, Program{Name: b.Name, GUID: b.GUID, Age: b.Age, FileOffsets: b.FileOffsets, Source: b.Identity, Counts: sum.list()})
	}
	slices.SortStableFunc(programs, bySamples)
	t.byKey, t.binaries, t.sinks = map[sample.Key]int32{}, nil, nil
	return programs
}

// sink counts hits by binary and opcode.
type sink struct{ counts []hits }

func (s *sink) add(binary int32, op spt.Opcode, items int, n uint64) {
	for int(binary) >= len(s.counts) {
		s.counts = append(s.counts, hits{})
	}
	s.counts[binary].add(op, binfmt.SatMul(uint64(items), n))
}

func (s *sink) IP(binary int32, opcode byte, _ uint32, n uint64) {
	s.add(binary, spt.Opcode(opcode), 1, n)
}

func (s *sink) Branches(binary int32, stack []sample.Branch, n uint64) {
	s.add(binary, spt.OpLBR, len(stack), n)
}

func (s *sink) Calls(binary int32, _ []uint32, n uint64) { s.add(binary, spt.OpETWCallStack, 1, n) }
