package ingest

import (
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// weightedSink counts every hit several times.
type weightedSink struct {
	sink   sample.Sink
	weight uint64
}

func (w *weightedSink) IP(binary int32, opcode byte, rva uint32, n uint64) {
	w.sink.IP(binary, opcode, rva, binfmt.SatMul(n, w.weight))
}

func (w *weightedSink) Branches(binary int32, stack []sample.Branch, n uint64) {
	w.sink.Branches(binary, stack, binfmt.SatMul(n, w.weight))
}

func (w *weightedSink) Calls(binary int32, frames []uint32, n uint64) {
	w.sink.Calls(binary, frames, binfmt.SatMul(n, w.weight))
}
