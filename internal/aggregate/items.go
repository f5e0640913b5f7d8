package aggregate

import (
	"cmp"
	"slices"
	"strings"
)

// kind is what an item counts. The order is that in which a binary is written.
type kind uint8

const (
	kindHits        kind = iota // a is opcode<<32 | RVA
	kindBranchHeads             // a is the arc
	kindBranchLinks             // a is the arc before, b the one that follows
	kindStacks                  // stack is the key of a whole
	kindCallHeads
	kindCallLinks
	kinds
)

// item is one count of a sum in the form in which sums are sorted, written to
// disk and merged.
type item struct {
	binary int32
	kind   kind
	a, b   uint64
	stack  string
	n      uint64
}

func compareItems(x, y *item) int {
	return cmp.Or(cmp.Compare(x.binary, y.binary), cmp.Compare(x.kind, y.kind),
		cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b), strings.Compare(x.stack, y.stack))
}

// itemSource gives items in their order.
type itemSource interface {
	// next returns the next item, nil at the end and after an error. The item
	// is valid until the next call.
	next() (*item, error)
}

// shardItems gives the items of a shard. It sorts one kind of one binary at a
// time, so that it needs little memory of its own.
type shardItems struct {
	shard  *Shard
	binary int
	kind   kind
	list   []item
	at     int
}

func (s *shardItems) next() (*item, error) {
	for s.at == len(s.list) {
		if s.binary == len(s.shard.binaries) {
			return nil, nil
		}
		s.list, s.at = s.list[:0], 0
		if c := s.shard.binaries[s.binary]; c != nil {
			s.list = c.items(s.list, int32(s.binary), s.kind)
			slices.SortFunc(s.list, func(x, y item) int { return compareItems(&x, &y) })
		}
		if s.kind++; s.kind == kinds {
			s.kind = 0
			s.binary++
		}
	}
	s.at++
	return &s.list[s.at-1], nil
}

// items appends all counts of a kind, in no particular order.
func (c *counts) items(list []item, binary int32, k kind) []item {
	heads := func(chains *chains) {
		chains.heads.each(func(arc, n uint64) { list = append(list, item{binary: binary, kind: k, a: arc, n: n}) })
	}
	links := func(chains *chains) {
		chains.links.each(func(before, arc, n uint64) {
			list = append(list, item{binary: binary, kind: k, a: before, b: arc, n: n})
		})
	}
	switch k {
	case kindHits:
		c.hits.each(func(key, n uint64) { list = append(list, item{binary: binary, kind: k, a: key, n: n}) })
	case kindBranchHeads:
		heads(&c.branchSums)
	case kindBranchLinks:
		links(&c.branchSums)
	case kindStacks:
		for stack, n := range c.branchSums.whole {
			list = append(list, item{binary: binary, kind: k, stack: stack, n: n})
		}
	case kindCallHeads:
		heads(&c.callSums)
	case kindCallLinks:
		links(&c.callSums)
	}
	return list
}
