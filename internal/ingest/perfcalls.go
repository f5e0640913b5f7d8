package ingest

import (
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// callChain is the part of a sample's call chain that counts: all of it, but
// for the user's part where that stands in the branch registers too.
func (e *perfEvent) callChain(s *perfdata.Sample) []uint64 {
	if e.stacks == stackCalls && len(s.Branches) > 0 {
		for i, ip := range s.CallChain {
			if ip == perfdata.ContextUser || ip == perfdata.ContextUserDeferred {
				return s.CallChain[:i]
			}
		}
	}
	return s.CallChain
}

// callStack gives the usable pieces of a call stack to the sink. It returns
// the reason of the innermost frame if nothing was usable.
func (w *perfWorker) callStack(s *perfdata.Sample, e *perfEvent, chain []uint64) sample.Reason {
	c := chainBuilder{out: &w.out, countless: e.opcode == 0}
	w.callChain(&c, chain, s.Mode())
	w.stats.Frames.Merge(&c.account)
	if e.stacks == stackCalls && len(s.Branches) > 0 {
		c.account = sample.Account{}
		w.lbrCallStack(&c, s)
		w.stats.Branches.Merge(&c.account)
	}
	return c.finish()
}

// lbrCallStack takes a call stack that was recorded in branch registers: where
// the sample was, then the calls that led there. A frame is written as the
// address behind the call, as return addresses are. The registers hold the
// user's calls alone, so a sample in the kernel begins where the newest call
// led to.
func (w *perfWorker) lbrCallStack(c *chainBuilder, s *perfdata.Sample) {
	top := s.IP
	if s.Mode() == perfdata.ModeKernel {
		top = s.Branches[0].To
	}
	c.extra = 1 // the top is none of the entries
	c.add(w.locate(top, top >= w.trace.kernelLow, 0))
	for i := range s.Branches {
		b := &s.Branches[i]
		if b.From == 0 && b.To == 0 {
			c.add(noPlace(sample.ZeroEntry))
			continue
		}
		c.add(w.locate(b.From+1, b.From >= w.trace.kernelLow, 1))
	}
	c.flush()
}

// callChain takes a call chain that the kernel walked.
func (w *perfWorker) callChain(c *chainBuilder, chain []uint64, mode perfdata.CPUMode) {
	after := uint64(0)
	for _, ip := range chain {
		if perfdata.ContextMarker(ip) {
			c.flush()
			if ip == perfdata.ContextUserDeferred {
				return // the rest is elsewhere; what follows is its number
			}
			mode = chainMode(ip)
			after = 0 // each part begins with an address, not a return address
			continue
		}
		switch mode {
		case perfdata.ModeGuestKernel, perfdata.ModeGuestUser:
			c.add(noPlace(sample.Guest))
		case perfdata.ModeHypervisor:
			c.add(noPlace(sample.Hypervisor))
		default:
			c.add(w.locate(ip, mode == perfdata.ModeKernel || mode == perfdata.ModeUnknown && ip >= w.trace.kernelLow, after))
		}
		after = 1
	}
	c.flush()
}

// chainMode is the mode that a marker of a call chain begins.
func chainMode(marker uint64) perfdata.CPUMode {
	switch marker {
	case perfdata.ContextKernel:
		return perfdata.ModeKernel
	case perfdata.ContextUser, perfdata.ContextUserDeferred:
		return perfdata.ModeUser
	case perfdata.ContextHypervisor:
		return perfdata.ModeHypervisor
	case perfdata.ContextGuest, perfdata.ContextGuestKernel:
		return perfdata.ModeGuestKernel
	case perfdata.ContextGuestUser:
		return perfdata.ModeGuestUser
	}
	return perfdata.ModeUnknown
}

// countFrames is the number of addresses of a call chain.
func countFrames(chain []uint64) (n uint64) {
	for _, ip := range chain {
		switch {
		case ip == perfdata.ContextUserDeferred:
			return n
		case !perfdata.ContextMarker(ip):
			n++
		}
	}
	return n
}
