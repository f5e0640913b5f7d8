package correlate

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// siteCalls collects which functions indirect calls went to.
type siteCalls struct {
	*layout
	list     []siteCall
	byReturn []site // ascending by end; made when first needed
}

// A siteCall is a number of calls from a site.
type siteCall struct {
	function, block, index int32 // of the site
	target                 int32 // function, -1 if it is not known
	relayed                bool  // the hits are among those of unknown target
	hits                   uint64
}

func (c *siteCalls) add(s site, target int32, relayed bool, hits uint64) {
	c.list = append(c.list, siteCall{s.function, s.block, s.index, target, relayed, hits})
	if s.own {
		for _, twin := range c.twins[s.function] {
			c.list = append(c.list, siteCall{twin, s.block, s.index, target, relayed, hits})
		}
	}
}

// from adds calls of the instruction at an RVA.
func (c *siteCalls) from(rva uint32, target int32, hits uint64) {
	for _, s := range c.sitesAt(rva) {
		c.add(s, target, false, hits)
	}
}

// relays adds the targets of calls through code of no function: the call
// instruction, and where the next branch arrived.
func (c *siteCalls) relays(list []tally) {
	for _, t := range list {
		for _, s := range c.sitesAt(uint32(t.key >> 32)) {
			c.add(s, c.entryAt(uint32(t.key)), true, t.hits)
		}
	}
}

// returnsTo adds calls that return to an RVA.
func (c *siteCalls) returnsTo(rva uint32, target int32, hits uint64) {
	if c.byReturn == nil {
		c.byReturn = slices.Clone(c.sites)
		slices.SortStableFunc(c.byReturn, func(a, b site) int { return cmp.Compare(a.end, b.end) })
	}
	k, _ := slices.BinarySearchFunc(c.byReturn, rva, func(s site, rva uint32) int { return cmp.Compare(s.end, rva) })
	for ; k < len(c.byReturn) && c.byReturn[k].end == rva; k++ {
		c.add(c.byReturn[k], target, false, hits)
	}
}

// relayed says of two neighbouring branches that the first is an indirect call
// into code of no function that passes it on with the second: the dispatch of
// control flow guard, as a rule.
func (l *layout) relayed(older, younger spt.Pair) bool {
	return l.maybeSite(older.From) && l.find(older.To) < 0 &&
		younger.From >= older.To && younger.From-older.To < maxRelay &&
		l.entryAt(younger.To) >= 0
}

// maxRelay is the most bytes that such code runs through.
const maxRelay = 64

// entryAt returns the function whose first byte is at an RVA, or -1.
func (l *layout) entryAt(rva uint32) int32 {
	k := l.find(rva)
	if k < 0 || l.functions[l.root(k)].RVA != rva {
		return -1
	}
	return l.root(k)
}

// result returns the sites of all functions that were hit, in whole hits.
func (c *siteCalls) result(scale uint64) map[int32][][]SiteHits {
	slices.SortFunc(c.list, func(a, b siteCall) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.block, b.block),
			cmp.Compare(a.index, b.index), cmp.Compare(a.target, b.target))
	})
	result := map[int32][][]SiteHits{}
	for at := 0; at < len(c.list); {
		first := c.list[at]
		var total uint64
		var targets []spd.Target
		target := int32(-1)
		for ; at < len(c.list); at++ {
			s := c.list[at]
			if s.function != first.function || s.block != first.block || s.index != first.index {
				break
			}
			if !s.relayed {
				total = binfmt.SatAdd(total, s.hits)
			}
			if s.target < 0 {
				continue
			}
			if s.target != target {
				target = s.target
				targets = append(targets, spd.Target{ID: c.functions[target].ID})
			}
			t := &targets[len(targets)-1]
			t.Hits = binfmt.SatAdd(t.Hits, s.hits)
		}
		list := result[first.function]
		if list == nil {
			blocks := c.functions[first.function].Blocks
			list = make([][]SiteHits, len(blocks))
			for b := range blocks {
				if n := len(blocks[b].Indirect); n > 0 {
					list[b] = make([]SiteHits, n)
				}
			}
			result[first.function] = list
		}
		list[first.block][first.index] = siteHits(total, targets, scale)
	}
	return result
}

// siteHits chooses the most frequent targets.
func siteHits(total uint64, targets []spd.Target, scale uint64) SiteHits {
	slices.SortFunc(targets, func(a, b spd.Target) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.ID, b.ID))
	})
	h := SiteHits{Hits: whole(total, scale)}
	for k := range min(len(targets), len(h.Targets)) {
		t := spd.Target{ID: targets[k].ID, Hits: whole(targets[k].Hits, scale)}
		if t.Hits > 0 {
			h.Targets[k] = t
		}
	}
	// Each rounded up may be more than the sum is.
	h.Hits = max(h.Hits, binfmt.SatAdd(binfmt.SatAdd(h.Targets[0].Hits, h.Targets[1].Hits), h.Targets[2].Hits))
	return h
}

// whole returns weight / scale, rounded.
func whole(weight, scale uint64) uint64 {
	q, r := weight/scale, weight%scale
	if r >= scale-scale/2 && scale > 1 {
		q = binfmt.SatAdd(q, 1)
	}
	return q
}
