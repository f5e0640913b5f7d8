package ingest

import (
	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/sample"
)

// place is an address in an object. Several objects can be one binary: a file
// of which only some maps have a build id, or that has several paths.
type place struct {
	object int32 // -1: none
	binary int32 // as registered
	rva    uint32
	reason sample.Reason // why the address is not used
}

// noPlace is the place of an address that is in no object.
func noPlace(r sample.Reason) place { return place{object: -1, reason: r} }

// resolver turns the addresses of one worker into places.
type resolver struct {
	user    *addrspace.View
	kernel  *addrspace.View
	objects []*object
}

// find resolves an address, of the kernel or of the current process, and says
// whether it is mapped. After is 1 for a return address, which may be the end
// of its region.
func (r *resolver) find(addr uint64, kernel bool, after uint64) (p place, mapped bool) {
	view := r.user
	if kernel {
		view = r.kernel
	}
	region := view.Find(addr - after)
	if region == nil && !kernel {
		region = view.FindSoon(addr - after)
	}
	if region == nil {
		return place{}, false
	}
	return r.at(region, addr), true
}

// at is the place of an address in a region.
func (r *resolver) at(region *addrspace.Region, addr uint64) place {
	if region.Owner < 0 {
		return noPlace(sample.Reason(-region.Owner))
	}
	rva := addr + region.Bias
	if rva>>32 != 0 {
		return place{object: region.Owner, binary: r.objects[region.Owner].index, reason: sample.FarAddress}
	}
	o := r.objects[region.Owner]
	return place{region.Owner, o.index, uint32(rva), o.skip}
}

// vicinity is a range of addresses of one binary in which the RVA rises with the
// address and fits into 32 bits. The zero vicinity holds nothing.
type vicinity struct{ start, size, bias uint64 }

// around returns the part of the region of a usable address that lies on the
// same side of low, the lowest kernel address.
func (r *resolver) around(addr, low uint64) vicinity {
	view, start, end := r.user, uint64(0), low
	if addr >= low {
		view, start, end = r.kernel, low, addrspace.Forever
	}
	region := view.Find(addr)
	if region == nil || region.Owner < 0 {
		return vicinity{}
	}
	start, end = max(start, region.Start), min(end, region.End)
	if (start+region.Bias)>>32 != 0 || (end-1+region.Bias)>>32 != 0 {
		return vicinity{}
	}
	return vicinity{start, end - start, region.Bias}
}

func (s *vicinity) holds(addr uint64) bool { return addr-s.start < s.size }

func (s *vicinity) rva(addr uint64) uint32 { return uint32(addr + s.bias) }

// usable says whether hits at this place are wanted.
func (p place) usable() bool { return p.object >= 0 && p.reason == sample.Used }

// to says why a branch from a place that leads to another one is not used.
func (p place) to(target place) sample.Reason {
	switch {
	case p.object < 0 || p.reason != sample.Used && p.reason != sample.OtherBinary:
		return p.reason // it would not be used wherever it leads
	case target.object < 0:
		return target.reason
	case target.binary != p.binary:
		return sample.CrossBinary
	case target.reason != sample.Used:
		return target.reason
	}
	return p.reason
}

// pieces gives the usable pieces of stacks to a sink.
type pieces struct {
	sink   sample.Sink
	inside bool   // branches with one end outside the binary are left out
	weight uint64 // of the stack at hand; a stack of weight 0 is left out
	stack  []sample.Branch
	calls  []uint32
}

// branchBuilder cuts a branch stack into runs of entries of one and the same
// binary, with nothing dropped between them. A branch from one binary into
// another ends a run of the one and begins a run of the other: in each, its
// other end is outside.
type branchBuilder struct {
	out     *pieces
	singles bool // neighbours in the stack tell nothing
	binary  int32
	first   sample.Reason // that an entry was dropped for
	used    bool
}

// add adds an entry, newest first, and returns what became of it.
func (b *branchBuilder) add(from, to place, reason sample.Reason) sample.Reason {
	if reason == sample.Used {
		b.entry(from.binary, sample.Branch{To: to.rva, From: from.rva})
		return sample.Used
	}
	comes := to.usable() && from.reason != sample.NoAddress && !b.out.inside
	leaves := from.usable() && to.reason != sample.NoAddress && !b.out.inside
	if comes {
		b.entry(to.binary, sample.Branch{To: to.rva, From: sample.Outside})
	}
	b.flush()
	if leaves {
		b.entry(from.binary, sample.Branch{To: sample.Outside, From: from.rva})
	}
	if comes || leaves {
		return sample.Used
	}
	if b.first == sample.Used {
		b.first = reason
	}
	return reason
}

// entry adds a branch of a binary.
func (b *branchBuilder) entry(binary int32, branch sample.Branch) {
	b.used = true
	if binary != b.binary || b.singles {
		b.flush()
		b.binary = binary
	}
	b.out.stack = append(b.out.stack, branch)
}

// stay adds an entry in the binary of the one before, which was usable.
func (b *branchBuilder) stay(branch sample.Branch) {
	if b.singles {
		b.flush()
	}
	b.out.stack = append(b.out.stack, branch)
}

// flush ends a run.
func (b *branchBuilder) flush() {
	o := b.out
	if len(o.stack) > 0 && o.weight > 0 {
		o.sink.Branches(b.binary, o.stack, o.weight)
	}
	o.stack = o.stack[:0]
}

// finish ends the stack. It returns the reason of the newest entry if nothing
// was usable.
func (b *branchBuilder) finish() sample.Reason {
	b.flush()
	if b.used {
		return sample.Used
	}
	return b.first
}

// chainBuilder cuts a call chain into pieces inside one binary.
type chainBuilder struct {
	out       *pieces
	countless bool // of an event that stands for no cost: it says nothing about calls
	binary    int32
	account   sample.Account
	extra     uint64        // frames to come that the account leaves out
	first     sample.Reason // that a frame was dropped for
	used      bool
}

// add adds a frame, innermost first.
func (c *chainBuilder) add(p place) {
	if c.countless && p.reason == sample.Used {
		p.reason = sample.UnknownEvent
	}
	if p.reason != sample.Used {
		c.flush()
		c.drop(p.reason)
		return
	}
	if len(c.out.calls) > 0 && p.binary != c.binary {
		c.flush()
	}
	c.binary = p.binary
	c.out.calls = append(c.out.calls, p.rva)
}

func (c *chainBuilder) drop(r sample.Reason) {
	c.count(r, 1)
	if c.first == sample.Used {
		c.first = r
	}
}

func (c *chainBuilder) count(r sample.Reason, n uint64) {
	left := min(n, c.extra)
	c.extra -= left
	c.account.Add(r, n-left)
}

// flush ends a piece.
func (c *chainBuilder) flush() {
	o := c.out
	switch len(o.calls) {
	case 0:
	case 1:
		c.drop(sample.SingleFrame)
	default:
		c.used = true
		c.count(sample.Used, uint64(len(o.calls)))
		o.sink.Calls(c.binary, o.calls, o.weight)
	}
	o.calls = o.calls[:0]
}

// finish ends the chain. It returns the reason of the innermost frame if
// nothing was usable.
func (c *chainBuilder) finish() sample.Reason {
	c.flush()
	if c.used {
		return sample.Used
	}
	return c.first
}
