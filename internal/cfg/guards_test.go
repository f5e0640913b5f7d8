package cfg

import (
	"testing"

	"github.com/spgo-tools/spgo/internal/program"
)

func guard(start, end uint32, pads ...uint32) program.Guard {
	return program.Guard{Range: program.Range{Start: start, End: end}, Pads: pads}
}

func TestGuards(t *testing.T) {
	never := func(kind CallKind, target uint32) bool { return kind == Direct && target == 0x2000 }
	// call 3000; inc edi; ret; padding; call 4000; ret
	const code = "e8fb1f0000 ffc7 c3 0f1f8000000000 e8ec2f0000 c3"
	for _, x := range []struct {
		name, code string
		guards     []program.Guard
		want       string
		throws     int
		unreached  [NumUnreached]int
	}{
		{"none", code, nil, "1000+8/3 >2; 100f+6/2 >2; -; gap 1008+7", 0, [NumUnreached]int{BehindReturn: 1}},
		{"call", code, []program.Guard{guard(0x1000, 0x1005, 0x100f)}, "1000+5/1 >1 >2; 1005+3/2 >3; 100f+6/2 >3; -; gap 1008+7", 1, [NumUnreached]int{}},
		{"code behind the call", code, []program.Guard{guard(0x1000, 0x1007, 0x100f)}, "1000+5/1 >1 >2; 1005+3/2 >3; 100f+6/2 >3; -; gap 1008+7", 1, [NumUnreached]int{}},
		{"no call", code, []program.Guard{guard(0x1005, 0x1007, 0x100f)}, "1000+8/3 >2 >1; 100f+6/2 >2; -; gap 1008+7", 1, [NumUnreached]int{}},
		{"two pads", code, []program.Guard{guard(0x1000, 0x1005, 0x100f, 0x1005)}, "1000+5/1 >1 >2 >1; 1005+3/2 >3; 100f+6/2 >3; -; gap 1008+7", 2, [NumUnreached]int{}},
		{"pad in another part", code, []program.Guard{guard(0x1000, 0x1005, 0x7000)}, "1000+5/1 >1 >3; 1005+3/2 >4; 100f+6/2 >4; - >4; -; gap 1008+7", 1, [NumUnreached]int{BehindReturn: 1}},
		{"of another function", code, []program.Guard{guard(0x900, 0x905, 0x100f)}, "1000+8/3 >2; 100f+6/2 >2; -; gap 1008+7", 0, [NumUnreached]int{BehindReturn: 1}},
		{"call that never returns", "e8fb0f0000 0f1f00 31c0 c3", []program.Guard{guard(0x1000, 0x1005, 0x1008)}, "1000+5/1 >2 >1; 1008+3/2 >2; -; gap 1005+3", 1, [NumUnreached]int{}},
		{"behind a call that never returns", "e8fb0f0000 31c0 c3", nil, "1000+5/1 >2; 1005+3/2 >2; -", 0, [NumUnreached]int{BehindNever: 1}},
		{"behind a stub", "ff25fa0f0000 31c0 c3", nil, "1000+6/1 >2; 1006+3/2 >2; -", 0, [NumUnreached]int{BehindSlot: 1}},
	} {
		m := amd64Code(t, x.code)
		a := Analyzer{Code: m, Never: never}
		g := a.Function(m.ranges(), nil, x.guards)
		check(t, x.name, m.ranges(), g)
		if got := show(g); got != x.want || g.Throws != x.throws || g.Unreached != x.unreached {
			t.Errorf("%s: %d throws, unreached %v, want %d and %v:\n got %s\nwant %s", x.name, g.Throws, g.Unreached, x.throws, x.unreached, got, x.want)
		}
	}
}

// A stub leads to its second half as long as its pointer is not bound.
func TestUnboundStub(t *testing.T) {
	m := amd64Code(t, "ff25fa0f0000 6805000000 e9f0efffff")
	m.pieces[0x2000] = []byte{0x06, 0x10, 0x40, 0, 0, 0, 0, 0}
	a := Analyzer{Code: m}
	g := a.Function(m.ranges(), nil, nil)
	if got, want := show(g), "1000+6/1 >2 >1; 1006+10/2 >2; -"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A function that catches the exception of a call that never returns returns.
func TestThrowingNeverReturns(t *testing.T) {
	m := amd64Code(t, "e8fb0f0000 0f1f00 31c0 c3")
	m.pieces[0x2000] = []byte{0x0f, 0x0b}
	a := Analyzer{Code: m, Never: func(_ CallKind, target uint32) bool { return target == 0x2000 }}
	graphs := []*Graph{
		a.Function(m.ranges(), nil, []program.Guard{guard(0x1000, 0x1005, 0x1008)}),
		a.Function([]program.Range{{Start: 0x2000, End: 0x2002}}, nil, nil),
	}
	never := NeverReturning(graphs, func(c Call) int { return int(c.Target>>12) - 1 })
	if never[0] || !never[1] {
		t.Errorf("got %v, want the caller to return", never)
	}
}
