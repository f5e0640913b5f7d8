package spd

import (
	"cmp"
	"fmt"
	"slices"
)

func compareRanges(a, b Range) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Length, b.Length))
}

func (v *validator) checkBlock(f *Function, b *Block) {
	v.checkFlags(b.Flags, b.Aux)
	v.checkRanges(b.Ranges, b.Instructions)
	var inlined uint64
	for i := range b.Inlinees {
		for k := range b.Inlinees[i].Blocks {
			inlined += uint64(b.Inlinees[i].Blocks[k].Instructions)
		}
	}
	if inlined > uint64(b.Instructions) {
		v.report(RuleInstructions, fmt.Sprintf("at least %d", inlined), b.Instructions)
	}
	for i := range b.Indirect {
		s := &b.Indirect[i]
		v.checkCallSite(f, s.CallSite, b.Ranges)
		sum := s.Targets[0].Hits
		for t, x := range s.Targets[1:] {
			if x.Hits > s.Targets[t].Hits {
				v.report(RuleIndirectHits, fmt.Sprintf("at most %d for target %d", s.Targets[t].Hits, t+2), x.Hits)
			}
			sum += x.Hits
		}
		if sum > s.Hits {
			v.report(RuleIndirectHits, fmt.Sprintf("at least %d", sum), s.Hits)
		}
	}
	v.checkInlinedCalls(b)
	v.checkInlinees(f, b.Inlinees, b.Ranges)
}

// checkFlags knows the combinations of block flags that were seen.
func (v *validator) checkFlags(flags, aux uint16) {
	switch flags {
	case BlockTripCount, BlockDuplicated:
		if aux == 0 {
			v.report(RuleBlockFlags, fmt.Sprintf("a number with flags %#x", flags), "0")
		}
	case 0, BlockIfConverted, BlockHammock, BlockIfConverted | BlockHammock,
		BlockUnknown08, BlockUnknown10, BlockUnknown08 | BlockUnknown10:
		if aux != 0 {
			v.report(RuleBlockFlags, fmt.Sprintf("no number with flags %#x", flags), aux)
		}
	default:
		v.report(RuleBlockFlags, "a known combination", fmt.Sprintf("%#x", flags))
	}
}

func (v *validator) checkRanges(ranges []Range, instructions uint32) {
	if (instructions == 0) != (len(ranges) == 0) {
		v.report(RuleBlockCode, "ranges if and only if there are instructions",
			fmt.Sprintf("%d ranges, %d instructions", len(ranges), instructions))
	}
	for i, r := range ranges {
		if r.Cold {
			v.report(RuleCold, "no cold range", fmt.Sprintf("%#x", r.Start))
		}
		if i > 0 && uint64(ranges[i-1].Start)+uint64(ranges[i-1].Length) >= uint64(r.Start) {
			v.report(RuleRangeOrder, fmt.Sprintf("a start behind %#x+%#x", ranges[i-1].Start, ranges[i-1].Length), fmt.Sprintf("%#x", r.Start))
		}
	}
}

// inside returns the end of that one of some ascending ranges that has
// [start, start+length) in it.
func inside(ranges []Range, start, length uint32) (end uint64, ok bool) {
	i, exact := slices.BinarySearchFunc(ranges, start, func(r Range, s uint32) int { return cmp.Compare(r.Start, s) })
	if !exact {
		i--
	}
	if i < 0 {
		return 0, false
	}
	end = uint64(ranges[i].Start) + uint64(ranges[i].Length)
	return end, uint64(start)+uint64(length) <= end
}

func (v *validator) checkCallSite(f *Function, s CallSite, ranges []Range) {
	end, ok := inside(ranges, s.Offset, uint32(s.Length))
	if !ok {
		v.report(RuleIndirectPlace, "an instruction in the block's code", fmt.Sprintf("%#x+%d", s.Offset, s.Length))
	}
	if v.module.Name == ModuleMachine {
		if s.Kind != 1 || s.Length < 2 {
			v.report(RuleIndirectKind, "kind 1 of at least 2 bytes", fmt.Sprintf("kind %d of %d bytes", s.Kind, s.Length))
		}
		return
	}
	if s.Kind != 1 || s.Length != 6 && s.Length != 7 {
		v.report(RuleIndirectKind, "kind 1 of 6 or 7 bytes", fmt.Sprintf("kind %d of %d bytes", s.Kind, s.Length))
	}
	if s.Length == 7 {
		if ok && uint64(s.Offset)+7 != end {
			v.report(RuleIndirectTail, fmt.Sprintf("an end at %#x, where the range ends", end), fmt.Sprintf("%#x+7", s.Offset))
		}
		if f.Flags&FunctionIndirectTail == 0 {
			v.report(RuleIndirectTail, fmt.Sprintf("function flag %#x", FunctionIndirectTail), fmt.Sprintf("%#x", f.Flags))
		}
	}
}

// checkInlinedCalls checks that every inlined call is among the call sites.
func (v *validator) checkInlinedCalls(b *Block) {
	if len(b.Inlinees) == 0 {
		return
	}
	calls := make(map[ID]int)
	for i := range b.Inlinees {
		id := b.Inlinees[i].ID
		calls[id]++
		if sites := v.sites[callSiteKey{id, v.block}]; calls[id] == sites+1 {
			v.report(RuleInlineeCallees, fmt.Sprintf("at most %d inlined calls of %v", sites, id), calls[id])
		}
	}
}

func (v *validator) checkInlinees(f *Function, inlinees []Inlinee, outer []Range) {
	for i := range inlinees {
		x := &inlinees[i]
		if x.Reserved08 != 0 {
			v.report(RuleReserved, "inlinee field 0x08 0", fmt.Sprintf("%#x", x.Reserved08))
		}
		callee := v.byID[x.ID]
		if callee == nil {
			v.report(RuleInlineeKnown, "a function of the module", x.ID)
		}
		for k := range x.Blocks {
			b := &x.Blocks[k]
			if k > 0 && b.ID <= x.Blocks[k-1].ID {
				v.report(RuleInlineeBlocks, fmt.Sprintf("a block above %d of %v", x.Blocks[k-1].ID, x.ID), b.ID)
			}
			if callee != nil && (b.ID == 0 || uint64(b.ID) > uint64(len(callee.Blocks))) {
				v.report(RuleInlineeBlocks, fmt.Sprintf("a block from 1 to %d of %v", len(callee.Blocks), x.ID), b.ID)
			}
			v.checkFlags(b.Flags, b.Aux)
			v.checkRanges(b.Ranges, b.Instructions)
			for _, r := range b.Ranges {
				if _, ok := inside(outer, r.Start, r.Length); !ok {
					v.report(RuleInlineeRange, "a range inside the code around it", fmt.Sprintf("%#x+%#x", r.Start, r.Length))
				}
			}
			for _, s := range b.Indirect {
				v.checkCallSite(f, s, b.Ranges)
			}
			v.checkInlinees(f, b.Inlinees, b.Ranges)
		}
	}
}
