package walks_test

import (
	"fmt"

	"github.com/spgo-tools/spgo/internal/walks"
)

// 1000 chains went through a loop of tokens 1 and 2: 0 1 2 1 2 3.
func ExampleDecompose() {
	visits := []uint64{1000, 2000, 2000, 1000}
	transitions := []walks.Transition{
		{From: 0, To: 1, Count: 1000},
		{From: 1, To: 2, Count: 2000},
		{From: 2, To: 1, Count: 1000},
		{From: 2, To: 3, Count: 1000},
	}
	result, err := walks.Decompose(visits, transitions, 255, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for walk, times := range result.All {
		fmt.Println(walk, times)
	}
	fmt.Println(result.Exact(), result.Bytes)
	// Output:
	// [0 1 2 1 2 3] 1000
	// true 60
}
