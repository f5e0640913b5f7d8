package correlate

import (
	"fmt"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// nested is a function that has another one inlined, which has a third one
// inlined, and a fourth record for code behind it:
//
//	1000 block 1     1010 block 2: 1 own, 2 of 2's block 2, 2 of 3's block 1
//	1030 block 3
func nested() *spd.File {
	inner := spd.Inlinee{ID: 3, Blocks: []spd.InlinedBlock{copied(1, ranges(0x18, 0x20))}}
	outer := spd.Inlinee{ID: 2, Blocks: []spd.InlinedBlock{copied(2, ranges(0x14, 0x24), inner)}}
	return file(
		function(1, 0x1000,
			block(ranges(0, 0x10), 2),
			calling(block(ranges(0x10, 0x30), 3), outer),
			block(ranges(0x30, 0x34))),
		function(2, 0, block(nil, 2), block(ranges(0, 0x10), 3), block(nil)),
		function(3, 0, block(ranges(0, 8), 2), block(nil)),
		function(4, 0x1044, block(ranges(0, 8))),
		function(5, 0x2000, block(ranges(0, 8))),
	)
}

func TestFind(t *testing.T) {
	l := newLayout(nested())
	for _, c := range []struct {
		rva  uint32
		want string // function and block; own instructions
	}{
		{0xFFF, "none"},
		{0x1000, "1 1 4"},
		{0x100F, "1 1 4"},
		{0x1010, "1 2 4"},
		{0x1013, "1 2 4"},
		{0x1014, "2 2 2"},
		{0x1017, "2 2 2"},
		{0x1018, "3 1 2"},
		{0x101F, "3 1 2"},
		{0x1020, "2 2 2"},
		{0x1024, "1 2 4"},
		{0x102F, "1 2 4"},
		{0x1030, "1 3 1"},
		{0x1033, "1 3 1"},
		{0x1034, "padding"},
		{0x1043, "padding"},
		{0x1044, "4 1 2"},
		{0x104C, "none"},
		{0x1FFF, "none"},
		{0x2007, "5 1 2"},
		{0x2008, "none"},
		{0, "none"},
		{0xFFFFFFFF, "none"},
	} {
		got := "none"
		if k := l.find(c.rva); k >= 0 {
			p := l.pieces[k].place
			got = fmt.Sprint(uint64(l.functions[l.function(p)].ID), l.places[p].block+1, l.places[p].own)
			if l.root(k) != 0 && c.rva < 0x1034 {
				t.Errorf("%#x: part of function number %d, want 0", c.rva, l.root(k))
			}
		} else if l.padding(c.rva) {
			got = "padding"
		}
		if got != c.want {
			t.Errorf("%#x: got %s, want %s", c.rva, got, c.want)
		}
	}
}

// TestContradictions lays out records that no linker writes: all that counts
// is that pieces ascend and do not overlap.
func TestContradictions(t *testing.T) {
	wild := spd.Inlinee{ID: 99, Blocks: []spd.InlinedBlock{
		copied(7, ranges(0, 0xFFFFFF)), copied(3, ranges(0x8, 0x4, 0x2, 0x6)), copied(0, ranges(1, 2)),
	}}
	self := spd.Inlinee{ID: 1, Blocks: []spd.InlinedBlock{
		copied(2, ranges(4, 20)), copied(1, ranges(6, 30)), copied(0xFFFFFFFF, ranges(5, 6)),
	}}
	far := function(3, 0xFFFFFFF0, block(ranges(0, 0x7FFFFFFF)), block(ranges(8, 9)))
	f := file(
		function(1, 0x1000, calling(block(ranges(0, 0x10), 2), wild, self), calling(block(ranges(8, 0x18), 9, 0, 1), self)),
		function(2, 0x1008, block(ranges(0, 0x100)), block(ranges(2, 4))),
		function(2, 0x1008, block(ranges(0, 4))),
		far,
		function(4, 0x3000),
	)
	l := newLayout(f)
	end := uint32(0)
	for _, p := range l.pieces {
		if p.start < end || p.start >= p.end {
			t.Errorf("piece %#x to %#x behind %#x", p.start, p.end, end)
		}
		end = p.end
	}
	for _, p := range l.places {
		if p.size > p.end-p.start {
			t.Errorf("%d bytes of a place from %#x to %#x", p.size, p.start, p.end)
		}
	}
	for rva := uint32(0xFF0); rva < 0x1120; rva++ {
		want := int32(-1)
		for k, p := range l.pieces {
			if p.start <= rva && rva < p.end {
				want = int32(k)
			}
		}
		if got := l.find(rva); got != want {
			t.Errorf("%#x: piece %d, want %d", rva, got, want)
		}
	}
	s := NewSamples(f)
	add(t, s, newTrace(t).stack(1, 0x1007, 0x1000, 0x1017, 0x1008, 0x1017, 0x1000).ip(0x41, 1, 0x1009).bytes(), 1)
	if _, err := Infer(t.Context(), s, Options{}); err == nil {
		t.Error("an edge to a block that does not exist passes")
	}
}
