package correlate

import (
	"testing"

	"github.com/spgo-tools/spgo/pkg/spt"
)

// TestAutoMode checks what is counted where nothing was asked for.
func TestAutoMode(t *testing.T) {
	single := func(n uint64) *trace { return newTrace(t).stack(n, 0x102C, 0x1010) }
	for _, c := range []struct {
		name  string
		trace *trace
		want  Mode
	}{
		{"addresses", newTrace(t).ip(spt.OpRetireInstr, 9, 0x1000), IP},
		{"branches", single(9), LBR},
		{"single branches and instructions", single(9).ip(spt.OpRetireBrInstr, 10, 0x102C).ip(spt.OpRetireInstr, 20, 0x1010), IP},
		{"too few instructions", single(9).ip(spt.OpRetireBrInstr, 10, 0x102C).ip(spt.OpRetireInstr, 19, 0x1010), LBR},
		{"branch instructions alone", single(9).ip(spt.OpRetireBrInstr, 40, 0x102C).ip(spt.OpRetireInstr, 40, 0x102C), LBR},
		{"time", single(9).ip(spt.OpUnhaltCycle, 99, 0x1010), LBR},
		{"stacks and instructions", single(9).stack(1, 0x102C, 0x1010, 0x102C, 0x1010).ip(spt.OpRetireInstr, 99, 0x1010), LBR},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSamples(loops())
			add(t, s, c.trace.bytes(), 1)
			if r := infer(t, s, Options{}); r.Mode != c.want || KindsOf(s.inputs).Mode() != c.want {
				t.Errorf("mode %v, want %v", r.Mode, c.want)
			}
		})
	}
}
