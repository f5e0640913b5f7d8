package flow_test

import (
	"context"
	"fmt"

	"github.com/spgo-tools/spgo/internal/flow"
)

// An if-then-else of 4, 3, 0 and 2 instructions that got 40, 21, 0 and 18
// samples. The arm without code gets what the other blocks leave for it.
func ExampleInfer() {
	const unit = 256
	hits := func(samples, instructions uint64) flow.Obs {
		return flow.Obs{Count: samples * unit / instructions, N: float64(instructions)}
	}
	r, err := flow.Infer(context.Background(), &flow.Graph{
		Unit:   unit,
		Blocks: []flow.Obs{hits(40, 4), hits(21, 3), {}, hits(18, 2)},
		Edges:  []flow.Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 3}},
		Entry:  0,
		Exit:   3,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, x := range r.Blocks {
		fmt.Printf("block %d: %.2f\n", v, float64(x)/unit)
	}
	fmt.Printf("overlap %.3f\n", r.Overlap)
	// Output:
	// block 0: 9.60
	// block 1: 7.00
	// block 2: 2.60
	// block 3: 9.60
	// overlap 0.982
}
