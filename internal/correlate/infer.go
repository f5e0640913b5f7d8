package correlate

import (
	"context"

	"github.com/spgo-tools/spgo/pkg/spt"
)

func infer(ctx context.Context, s *Samples, o Options) (*Result, error) { return &Result{}, nil }

// executes says whether samples of an opcode can stand for executions.
func executes(op spt.Opcode) bool {
	switch op {
	case spt.OpRetireInstr, spt.OpUnhaltCycle, spt.OpETWInstr, spt.OpETWCallStack:
		return true
	}
	return false
}
