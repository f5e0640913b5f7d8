// Package correlate finds for each sample the function and block of an SPD in
// whose code it lies, and makes consistent execution counts of them.
//
// [Samples] adds up the records of any number of SPTs. [Infer] makes counts of
// the sums, in four steps:
//
//   - A layout cuts the machine code in pieces, each of one block, or of one
//     copy of a block where functions were inlined (layout.go, code.go).
//   - An evidence says which pieces, edges and entries the samples show
//     (evidence.go for addresses, branches.go, runs.go and ends.go for
//     branches, sites.go for indirect calls).
//   - A survey puts the evidence of all copies of a function together: a flow
//     graph with what was observed of each block and edge, and how sure that
//     is (observe.go).
//   - Package flow makes the counts of each graph consistent, and in mode IP
//     those of functions that call each other.
//
// # What counts as what
//
// A sampled address counts for the innermost block around it. The count of a
// block is its hits divided by its instructions, without those that were
// inlined into it; those count for the inlined function's own record. A block
// all of whose code is inlined is as frequent as the first code in it.
//
// Of branches, two things are used. A branch from the last instruction of one
// block to the first of another takes the edge between them, or all edges of
// the only way that leads through blocks without code; where there are several
// such ways, inference decides. And between where one branch arrives and the
// next one starts all code ran: a block is as frequent as the mean over its
// bytes, and a run that crosses from one block into the next takes that edge.
// The oldest and the newest branch of a stack have no such run on one side, but
// show the code next to them (ends.go).
// An edge that was not seen is not known, rather than known to be 0, unless
// those that were seen account for its block. An arrival at a function's first
// byte that is no edge is a call of it.
//
// The code that identical code folding kept stands for all functions that were
// folded into it, as far as they have the same flow graph: nothing tells their
// executions apart, and each gets all of them. Where the flow graph is another
// one, the function gets none.
//
// # Contradictions
//
// Where edges contradict their block by more than chance allows they are left
// out: the compiler interleaved the code of several blocks. If stacks are cut
// at other binaries, runs are missing, and what they show has less weight than
// arrivals. Functions whose counts still do not fit are named in
// Result.FellBack: the samples are of other code than the SPD. Samples of time
// never fit closely, since slow code has more of them, so that only a gross
// misfit counts there.
package correlate
