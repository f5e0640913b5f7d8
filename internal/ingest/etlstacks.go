package ingest

import (
	"cmp"
	"slices"
	"sort"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// stackTable holds the stacks that keys stand for.
type stackTable []stamped[etl.StackDef] // by key, then in the order of the recording

// newStackTable makes a table of definitions in any order.
func newStackTable(definitions []stamped[etl.StackDef]) stackTable {
	slices.SortFunc(definitions, func(a, b stamped[etl.StackDef]) int {
		return cmp.Or(cmp.Compare(a.event.Key, b.event.Key), a.order(b.time, b.file, b.buffer, b.offset))
	})
	return definitions
}

// find returns the stack of a reference to a key: the first definition that
// follows it. The kernel gives a key to another stack once it has written what
// the key stood for.
func (t stackTable) find(key uint64, time uint64, file, buffer, offset int32) (frames []uint64, ok bool) {
	i := sort.Search(len(t), func(i int) bool {
		return cmp.Or(cmp.Compare(t[i].event.Key, key), t[i].order(time, file, buffer, offset)) > 0
	})
	if i == len(t) || t[i].event.Key != key {
		return nil, false
	}
	return t[i].event.Frames, true
}

// callStack gives the usable pieces of a part of a call stack to the sink. A
// part is the kernel's or the user's side; old systems mix both. Frames behind
// the first of a side are return addresses.
func (w *etlWorker) callStack(class etl.Class, time int64, pid, tid uint32, frames []uint64) {
	slot, src, reason := w.join(class, time, tid, pid)
	if slot == nil || len(frames) == 0 {
		return
	}
	w.tally.frames += uint64(len(frames))
	if reason != sample.Used {
		w.tally.stats.Frames.Add(reason, uint64(len(frames)))
		slot.note(stateStack, reason)
		return
	}
	c := chainBuilder{out: &w.out, countless: src.opcode == 0}
	kernel := frames[0] >= w.trace.kernelLow
	after := uint64(0)
	for _, addr := range frames {
		if side := addr >= w.trace.kernelLow; side != kernel {
			c.flush()
			kernel, after = side, 0
		}
		c.add(w.locate(addr, after))
		after = 1
	}
	reason = c.finish()
	w.tally.stats.Frames.Merge(&c.account)
	slot.note(stateStack, reason)
}

// Kinds of last branch records: with a filter that leaves kinds of branches
// out, neighbours tell nothing.
const lbrFiltered = etl.LBRNoConditional | etl.LBRNoCall | etl.LBRNoIndirectCall | etl.LBRNoReturn |
	etl.LBRNoIndirectJump | etl.LBRNoJump | etl.LBRNoFar

// lastBranches gives the usable pieces of a last branch record to the sink.
func (w *etlWorker) lastBranches(l *etl.LBR) {
	slot, src, reason := w.join(etl.ClassLBR, l.Time, l.TID, l.PID)
	if slot == nil {
		return
	}
	if l.Trailing > 0 {
		w.tally.losses["lbr_trailing_bytes"] += uint64(l.Trailing)
	}
	n := uint64(len(l.Branches))
	if n == 0 {
		return
	}
	w.tally.branches += n
	part := stateLBR
	if l.Options&etl.LBRCallStack != 0 {
		part = stateStack
	}
	switch {
	case reason != sample.Used:
		w.tally.stats.Branches.Add(reason, n)
	case part == stateStack:
		reason = w.lbrCallStack(src, l.Branches)
	default:
		reason = w.branchStack(l)
	}
	slot.note(part, reason)
}

// branchStack takes a branch stack that is one. It returns the reason of the
// newest entry if nothing was usable.
func (w *etlWorker) branchStack(l *etl.LBR) sample.Reason {
	runs := branchBuilder{out: &w.out, singles: l.Options&lbrFiltered != 0}
	// Most branches stay in the region of the one before: what holds for that
	// one need not be found out again.
	var near vicinity
	var stayed uint64
	for i := range l.Branches {
		b := &l.Branches[i]
		if near.holds(b.From) && near.holds(b.To) {
			runs.stay(sample.Branch{To: near.rva(b.To), From: near.rva(b.From)})
			stayed++
			continue
		}
		from, to, reason := w.branch(b)
		w.tally.stats.Branches.Add(runs.add(from, to, reason), 1)
		near = vicinity{}
		if reason == sample.Used {
			near = w.addresses.around(canonical(b.From), w.trace.kernelLow)
		}
	}
	w.tally.stats.Branches.Add(sample.Used, stayed)
	return runs.finish()
}

// branch resolves one entry.
func (w *etlWorker) branch(b *etl.Branch) (from, to place, reason sample.Reason) {
	if b.From == 0 && b.To == 0 {
		return noPlace(sample.ZeroEntry), noPlace(sample.ZeroEntry), sample.ZeroEntry
	}
	from, to = w.locate(canonical(b.From), 0), w.locate(canonical(b.To), 0)
	return from, to, from.to(to)
}

// lbrCallStack takes a call stack that was recorded in branch registers: where
// the newest call led to, then the addresses behind the calls, as return
// addresses are.
func (w *etlWorker) lbrCallStack(src *profileSource, branches []etl.Branch) sample.Reason {
	c := chainBuilder{out: &w.out, countless: src.opcode == 0, extra: 1}
	c.add(w.locate(canonical(branches[0].To), 0))
	for i := range branches {
		if b := &branches[i]; b.From == 0 && b.To == 0 {
			c.add(noPlace(sample.ZeroEntry))
		} else {
			c.add(w.locate(canonical(b.From)+1, 1))
		}
	}
	reason := c.finish()
	w.tally.stats.Branches.Merge(&c.account)
	return reason
}

// canonical undoes what old processors do to the upper bits of a recorded
// address: they keep flags in some of them. Addresses of 57 bits are left as
// they are.
func canonical(addr uint64) uint64 {
	if top := int64(addr) >> 56; top == 0 || top == -1 {
		return addr
	}
	return uint64(int64(addr<<16) >> 16)
}
