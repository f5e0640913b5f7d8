package aggregate

import (
	"sync"

	"github.com/spgo-tools/spgo/internal/walks"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// lookAhead gives the sums of binaries in the order in which they are written,
// and finds the records of some of those to come meanwhile.
type lookAhead struct {
	profile *Profile
	totals  []Total
	gate    walks.Gate
	ready   []chan *found // by binary; nil: its records are found when it is its turn
	begun   int
	waiting int // binaries begun but not given out
	at      int
	group   sync.WaitGroup
}

// mostAhead bounds the binaries that are begun before their turn, in arcs and
// pairs: each may take some hundred bytes.
const mostAhead = 1 << 18

func (p *Profile) lookAhead(totals []Total, gate walks.Gate) *lookAhead {
	return &lookAhead{profile: p, totals: totals, gate: gate, ready: make([]chan *found, len(totals))}
}

// next returns the sums of the next binary.
func (l *lookAhead) next() (binarySums, error) {
	for ; l.begun < len(l.totals) && l.waiting < l.profile.Workers; l.begun++ {
		l.begin(l.begun)
	}
	t := &l.totals[l.at]
	ready := l.ready[l.at]
	l.ready[l.at] = nil
	l.at++
	l.begun = max(l.begun, l.at)
	if ready == nil {
		return l.profile.sumsOf(t)
	}
	l.waiting--
	return <-ready, nil
}

// begin has the records of a binary found, unless memory is scarce.
func (l *lookAhead) begin(i int) {
	p := l.profile
	if p.limit > 0 || len(p.runs) > 0 || p.depth < spt.MaxEntries {
		return
	}
	c := p.idle[0].binaries[l.totals[i].number]
	if c.size() > mostAhead {
		return
	}
	l.waiting++
	ready := make(chan *found, 1)
	l.ready[i] = ready
	l.group.Go(func() {
		f := &found{counts: c}
		f.branchRecords, f.branchErr = c.branches(l.gate)
		f.callRecords, f.callErr = c.callStacks(l.gate)
		ready <- f
	})
}

// close waits for what was begun.
func (l *lookAhead) close() { l.group.Wait() }

// found is the sum of a binary whose records were found.
type found struct {
	*counts
	branchRecords, callRecords *records
	branchErr, callErr         error
}

func (f *found) branches(walks.Gate) (*records, error)   { return f.branchRecords, f.branchErr }
func (f *found) callStacks(walks.Gate) (*records, error) { return f.callRecords, f.callErr }

// size is the number of arcs and pairs.
func (c *counts) size() int {
	return c.branchSums.heads.len() + c.branchSums.links.used + c.callSums.heads.len() + c.callSums.links.used
}
