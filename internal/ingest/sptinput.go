package ingest

import (
	"context"
	"io"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// readSPTFile reads an SPT in a file. Only one that is not compressed can be
// looked through before it is read.
func readSPTFile(ctx context.Context, in io.ReaderAt, size int64, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) (*Facts, error) {
	head := make([]byte, 4)
	if n, _ := in.ReadAt(head, 0); !hasSPTSignature(head[:n]) {
		return readSPTStream(ctx, io.NewSectionReader(in, 0, size), name, o, reg, newSink)
	}
	r, err := spt.NewReader(in, size, &spt.Options{Tolerate: true})
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	return readSPT(ctx, r, name, o, reg, newSink)
}

// readSPTStream reads an SPT, maybe compressed, from front to back.
func readSPTStream(ctx context.Context, in io.Reader, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) (*Facts, error) {
	plain, closePlain, err := decompress(in)
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	defer closePlain()
	r, err := spt.NewStreamReader(plain, &spt.Options{Tolerate: true})
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	return readSPT(ctx, r, name, o, reg, newSink)
}

// sptProgram is a program id of an input.
type sptProgram struct {
	index int32
	skip  sample.Reason
}

// readSPT gives the counts of an SPT to one sink. Filters other than those of
// binaries cannot be applied: an SPT knows neither times nor processes.
func readSPT(ctx context.Context, r *spt.Reader, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) (*Facts, error) {
	facts := newFacts(name, "spt")
	for _, w := range r.Warnings() {
		facts.warn(diag.New(diag.OddSPT, "%v", w))
	}
	if o.Time != nil || len(o.Processes)+len(o.PIDs) > 0 {
		facts.warn(diag.New(diag.OddSPT, "filters of process and time do not apply to an SPT").
			Because("An SPT holds neither.").Do("Filter when the traces are aggregated."))
	}
	programs := make([]sptProgram, len(r.Programs()))
	for i, p := range r.Programs() {
		b := sample.FromProgram(p.Name, p.GUID, p.Age)
		programs[i].index = reg.Register(b)
		if !o.wantsBinary(&b) {
			programs[i].skip = sample.OtherBinary
		}
	}
	c := &sptCounts{facts: facts, stats: facts.Stats, sink: newSink()}
	for n := 0; r.Next(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return facts, ctx.Err()
		}
		rec := r.Record()
		c.record(rec, programs[rec.Program])
	}
	for _, s := range r.Stats().Skipped {
		facts.Losses[s.Defect.Error()] = s.Times
		if facts.Damage == nil {
			facts.Damage = diag.Of(binfmt.InFile(s.First, name))
			facts.Truncated = facts.Damage.Code == diag.Truncated
		}
	}
	if o.Progress != nil {
		o.Progress(int64(r.Stats().Bytes))
	}
	return facts, binfmt.InFile(r.Err(), name)
}

// sptCounts hands the records of an SPT on and keeps the account. A hit of an
// address stands for a sample; what a sample was cannot be told for branches
// and frames.
type sptCounts struct {
	facts *Facts
	stats *sample.Stats
	sink  sample.Sink
	stack []sample.Branch
}

func (c *sptCounts) record(r *spt.Record, p sptProgram) {
	n := r.Hits()
	items := binfmt.SatMul(uint64(len(r.RVAs)+len(r.Pairs)), n)
	c.facts.Records[r.Op.String()]++
	switch {
	case r.Op == spt.OpLBR:
		c.facts.BranchEntries = binfmt.SatAdd(c.facts.BranchEntries, items)
		c.stats.Branches.Add(p.skip, items)
		c.stats.Kinds[sample.LBR].Add(p.skip, n)
		if p.skip == sample.Used {
			c.stack = c.stack[:0]
			for _, pair := range r.Pairs {
				c.stack = append(c.stack, sample.Branch{To: pair.To, From: pair.From})
			}
			c.sink.Branches(p.index, c.stack, n)
		}
	case r.Op == spt.OpETWCallStack:
		reason := p.skip
		if reason == sample.Used && len(r.RVAs) < 2 {
			reason = sample.SingleFrame
		}
		c.facts.CallchainFrames = binfmt.SatAdd(c.facts.CallchainFrames, items)
		c.stats.Frames.Add(reason, items)
		c.stats.Kinds[sample.Stack].Add(reason, n)
		if reason == sample.Used {
			c.sink.Calls(p.index, r.RVAs, n)
		}
	default:
		kind, _ := addressKind(r.Op)
		c.facts.Samples = binfmt.SatAdd(c.facts.Samples, items)
		c.stats.Samples.Add(p.skip, items)
		c.stats.Kinds[kind].Add(p.skip, items)
		c.stats.Hits[p.index] = binfmt.SatAdd(c.stats.Hits[p.index], items)
		if p.skip == sample.Used {
			for _, rva := range r.RVAs {
				c.sink.IP(p.index, byte(r.Op), rva, n)
			}
		}
	}
}
