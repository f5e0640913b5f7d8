// Package aggregate adds hits up and writes them as an SPT.
//
// The state is a pure sum: for each binary the hits of every (opcode, RVA),
// the traversals of every branch, and how often a branch directly followed
// another on a stack without a gap; for call stacks the same with call arcs
// in the place of branches. So the order of the input, the number of workers
// and any folding of partial results cannot change it, and memory depends on
// the number of distinct keys alone. Counts stay at their maximum instead of
// wrapping.
//
// Writing is a pure function of that sum: stacks are put together again from
// branches and pairs by package walks, such that a reader finds exactly the
// same branches and pairs.
package aggregate
