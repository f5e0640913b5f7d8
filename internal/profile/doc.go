// Package profile combines execution counts: it ages those of an SPD, adds new
// ones, merges databases and takes all counts away. It works on the model of
// pkg/spd and changes counts, flags and statistics alone, so that everything
// else is written as it was read.
//
// The counts of a sound function are a flow: what enters a block leaves it.
// Every operation keeps that. Where a function that was given violates it, the
// result may do so at the same places and at no others.
package profile
