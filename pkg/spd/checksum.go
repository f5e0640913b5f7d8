package spd

import (
	"fmt"
	"math/bits"
)

// Checksum is computed by the compiler over the control flow of a function's
// source. It stays the same while that is unchanged, whatever code comes out,
// and so decides whether an old profile still fits.
type Checksum uint32

// Tuple is an element of control flow in the order of the source.
type Tuple uint8

// The tuples that are known. The tuple of a switch is not known.
const (
	TupleCall   Tuple = 0x0e // direct or indirect
	TupleReturn Tuple = 0x0f // the value of a return statement
	TupleJump   Tuple = 0x11 // conditional or not
	TupleLabel  Tuple = 0x1a
)

// FlowChecksum is the checksum of a sequence of tuples. A function without
// control flow has 0xffffffff.
func FlowChecksum(tuples []Tuple) Checksum {
	var h uint32
	for _, t := range tuples {
		h = bits.RotateLeft32(h, 5) ^ uint32(t)
	}
	if h == 0 {
		return 0xffffffff
	}
	return Checksum(h)
}

// String prints the checksum as "0x" and 8 digits.
func (c Checksum) String() string { return fmt.Sprintf("0x%08x", uint32(c)) }

// MarshalText is String.
func (c Checksum) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads "0x" and up to 8 hexadecimal digits.
func (c *Checksum) UnmarshalText(b []byte) error {
	v, err := parseHex(string(b), 32)
	*c = Checksum(v)
	return err
}

// FlowTuples reconstructs the control flow from the flow graph and the call
// sites. Whether the function returns a value leaves no trace in the graph,
// so the caller says. The second result is false if the graph cannot tell: it
// has a switch, whose tuple is not known, or dead edges, whose loops have
// labels that leave no trace. Otherwise the checksum equals the compiler's
// for 97 of 100 functions; the rest has labels of that kind, too.
func (f *Function) FlowTuples(returnsValue bool) ([]Tuple, bool) {
	n := uint32(len(f.Blocks))
	calls := make([]int, n+1)
	for _, c := range f.Callees {
		for _, s := range c.Sites {
			if s > n {
				return nil, false
			}
			calls[s]++
		}
	}
	reached := make([]bool, n+1)
	for _, b := range f.Blocks {
		for _, e := range b.Edges {
			if e.To > n || e.Flags&EdgeDead != 0 || len(b.Edges) > 2 {
				return nil, false
			}
			reached[e.To] = true
		}
	}

	// Every return leads to the last block but one. Its label counts only if
	// the source itself goes there: by a condition, or by a jump around an
	// else. A jump over code that nothing reaches is a return statement.
	returns := n - 1
	labelled := make([]bool, n+1)
	for k := range f.Blocks {
		next := uint32(k + 2)
		edges := f.Blocks[k].Edges
		for _, e := range jumps(edges, next) {
			isReturn := returnsValue || len(edges) == 1 && !(next <= n && reached[next])
			labelled[e.To] = labelled[e.To] || e.To != returns || !isReturn
		}
	}

	var tuples []Tuple
	for k, b := range f.Blocks {
		if labelled[k+1] {
			tuples = append(tuples, TupleLabel)
		}
		for range calls[k+1] + len(b.Indirect) {
			tuples = append(tuples, TupleCall)
		}
		jump := jumps(b.Edges, uint32(k+2))
		if len(b.Edges) == 1 && len(jump) == 1 && jump[0].To == returns && returnsValue {
			tuples = append(tuples, TupleReturn)
		}
		if len(b.Edges) == 2 || len(jump) > 0 {
			tuples = append(tuples, TupleJump)
		}
	}
	return tuples, true
}

// jumps returns those of a block's one or two edges that are not the fall
// through to the next block.
func jumps(edges []Edge, next uint32) []Edge {
	switch {
	case len(edges) == 1 && edges[0].To == next:
		return nil
	case len(edges) == 2 && edges[0].To == next && edges[1].To < next:
		return edges[1:] // a loop condition at the bottom
	case len(edges) == 2 && edges[1].To == next:
		return edges[:1]
	}
	return edges
}
