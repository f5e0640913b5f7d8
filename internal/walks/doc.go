// Package walks writes chains down again after they have been added up.
//
// # Problem
//
// A chain is a sequence of tokens, such as the branches of one branch stack.
// Of many chains only two sums are kept: how often each token occurs, and how
// often each token directly follows each other one. Sums of parts add up to
// the sum of all, and they are small: their size is that of the program, not
// that of the recording. [Decompose] turns such sums into records, walks with
// a multiplicity, which have exactly these tokens and pairs. Which chains the
// pairs came from is gone; any walks with the same sums do. They depend on the
// sums alone, so that partial results that are folded later give the same
// bytes as all chains at once.
//
// A record takes 2 bytes, 8 for each token, and 10 if its multiplicity is not
// 1. The aim is few bytes.
//
// # Flow
//
// Add a node, the hub, for the world outside: chains that start at token t are
// an arc hub->t, and chains that end there an arc t->hub. Their numbers follow
// from the sums: starts(t) = visits(t) - pairs into t, and ends(t) = visits(t)
// - pairs out of t. Then the counts are a circulation, flow that is preserved
// at every node, and every way to split it into closed walks that meet the hub
// once is a solution. The number of walks is the number of chains, in every
// solution.
//
// # Algorithm
//
// What a walk of multiplicity m costs is its length, so flow is cheapest in
// high multiplicities. It is taken in layers of falling multiplicity. For
// each m:
//
//   - Divide all flow by m, rounding down. That is no circulation any more;
//     trim makes it one again by lowering it along short paths between the
//     nodes with too much and with too little (as in a maximum flow).
//   - advance lets walks set out from all starts at once and step in turn,
//     each arc being used as often as it has units. They leave at the first
//     end once they are about as long as chains can be expected to be.
//   - splice inserts the cycles that none of them took.
//   - All that counts m times.
//
// The first layers are loops that many chains stand for, the last one (m = 1)
// is what remains of all divisions. Layers that are close together give the
// fewest bytes. Small inputs get several series of layers, of which the best
// is used; see [graph.plans].
//
// Where layers end, cycles may be left at tokens whose starts are used up.
// rest inserts them into finished records. balance then shortens walks that
// are too long: two walks that share a token may exchange their tails.
//
// # Guarantee
//
// Walks have at most maxLen tokens. Visits and pairs are exact whenever no
// walk has to be cut because nothing else shortened it, which is a heuristic
// matter (splitting flow into walks of bounded length is hard), but needs
// chains nearly as long as maxLen: with chains of at most half of it, no cut
// has been seen on the kinds of chains of the tests, among them rings and
// lines seen through windows, single entries, graphs without cycles and
// programs. [Report] tells cuts, and counts that no chains can have, such as
// saturated ones: these are made consistent with the smallest changes that
// are simple, and never are an error.
//
// Work is proportional to the number of transitions times the logarithm of the
// counts, with a constant of some ten; it does not depend on the counts
// otherwise.
package walks
