package rerun

import (
	"io"
	"math/rand/v2"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Trigger is the event that samples are taken by.
type Trigger int

// Triggers.
const (
	// TakenBranches takes branch stacks.
	TakenBranches Trigger = iota
	// Instructions takes branch stacks that are biased: see package debias.
	Instructions
	// Addresses takes no stacks, but the address of an instruction.
	Addresses
)

// Numbers of the recording.
const (
	pid   = 1234
	page  = 1 << 12
	depth = 32 // branches of a stack

	branchUser, branchAny = 1 << 0, 1 << 3 // kinds of branches that are recorded
)

// Record writes the recording that perf would make of the run with one sample
// in period events, with jitter of a quarter to either side. Every seed has
// other moments.
func (r *Run) Record(w io.WriteSeeker, trigger Trigger, period int, seed uint64) error {
	attr := &perfdata.Attr{
		SamplePeriod: uint64(period), SampleType: perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime,
		Flags: perfdata.FlagExcludeKernel | perfdata.FlagMmap | perfdata.FlagComm | perfdata.FlagSampleIDAll | perfdata.FlagMmap2,
		Type:  0, Config: 1, Name: "instructions:u",
	}
	if trigger == TakenBranches {
		attr.Type, attr.Config, attr.Name = 4, 0x20c4, "br_inst_retired.near_taken:u"
	}
	if trigger != Addresses {
		attr.SampleType |= perfdata.SampleBranchStack
		attr.BranchSampleType = branchUser | branchAny
	}
	out, err := perfdata.NewWriter(w, perfdata.WriterOptions{Attrs: []*perfdata.Attr{attr}})
	if err != nil {
		return err
	}
	events := []perfdata.Event{&perfdata.Comm{PID: pid, TID: pid, Name: r.name[:min(len(r.name), 15)], Exec: true}}
	for _, s := range r.code {
		skip := s.VAddr % page
		events = append(events, &perfdata.Mmap{
			Mode: perfdata.ModeUser, V2: true, Prot: 5, Flags: 2, PID: pid, TID: pid, Addr: s.VAddr - skip,
			Len: (skip + s.MemSize + page - 1) / page * page, PgOff: s.Offset - skip, Name: r.name, BuildID: r.id,
		})
	}
	for _, e := range events {
		if err := out.WriteEvent(e, perfdata.SampleIDs{PID: pid, TID: pid, Time: 1}); err != nil {
			return err
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	step := func() int { return period + random.IntN(period/2+1) - period/4 }
	stack := make([]perfdata.Branch, 0, depth)
	branched := 0 // jumps before and at the moment
	for next := step(); ; next += step() {
		at := next // the instruction that is next to be executed
		if trigger == TakenBranches {
			if next >= len(r.jumps) {
				break
			}
			at = int(r.jumps[next])
		}
		if at >= len(r.order) {
			break
		}
		for branched < len(r.jumps) && int(r.jumps[branched]) <= at {
			branched++
		}
		stack = stack[:0]
		for k := branched - 1; k >= 0 && len(stack) < depth && trigger != Addresses; k-- {
			stack = append(stack, perfdata.Branch{From: r.address(r.jumps[k] - 1), To: r.address(r.jumps[k])})
		}
		sample := perfdata.Sample{IP: r.address(uint32(at)), PID: pid, TID: pid, Time: uint64(at) + 2, Branches: stack}
		sample.Misc = uint16(perfdata.ModeUser)
		if err := out.WriteSample(&sample); err != nil {
			return err
		}
	}
	return out.Close()
}

func (r *Run) address(k uint32) uint64 { return r.insts[r.order[k]].Address }
