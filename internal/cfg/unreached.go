package cfg

// Unreached is why no known edge leads to a block of code.
type Unreached uint8

// Reasons, by what is in front of the code.
const (
	BehindNever  Unreached = iota // a call that never returns: compilers leave dead code there
	BehindSlot                    // a jump through a pointer: the half of a stub that binds it
	BehindReturn                  // a return, trap or other jump
	NumUnreached
)

var unreachedNames = [NumUnreached]string{"behind calls that never return", "behind jumps of stubs", "behind other ends"}

// String says the reason in words.
func (u Unreached) String() string { return unreachedNames[u] }

// tellUnreached counts the blocks of code that are not reached. One that is
// reached from others of them has the reason of the first of these.
func (g *Graph) tellUnreached() {
	done := make([]bool, len(g.Blocks))
	for k := range g.Blocks {
		done[k] = g.Blocks[k].Reached || g.Blocks[k].Instructions == 0
	}
	entered := make([]bool, len(g.Blocks))
	for k := range g.Blocks {
		if !done[k] {
			for _, e := range g.Blocks[k].Edges {
				if e.To != exit && e.To != k {
					entered[e.To] = true
				}
			}
		}
	}
	var work []int
	count := func(from int) {
		why := g.behind(from)
		for work = append(work, from); len(work) > 0; {
			k := work[len(work)-1]
			work = work[:len(work)-1]
			if done[k] {
				continue
			}
			done[k] = true
			g.Unreached[why]++
			for _, e := range g.Blocks[k].Edges {
				if e.To != exit {
					work = append(work, e.To)
				}
			}
		}
	}
	for k := range g.Blocks {
		if !entered[k] {
			count(k)
		}
	}
	for k := range g.Blocks { // loops that lead to each other
		count(k)
	}
}

// behind tells what is in front of a block, by the one before it: they are in
// the order of their addresses.
func (g *Graph) behind(k int) Unreached {
	if k == 0 {
		return BehindReturn
	}
	calls := g.Blocks[k-1].Calls
	if n := len(calls); n > 0 {
		switch c := calls[n-1]; {
		case c.Never:
			return BehindNever
		case c.Tail && c.Kind == Slot:
			return BehindSlot
		}
	}
	return BehindReturn
}
