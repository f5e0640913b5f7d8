// Package debias corrects what branch stacks over-count when their trigger is
// not a taken branch.
//
// A sample is taken every N units of an event: instructions, branches of all
// kinds, cycles. The unit at which the counter is full lies in some stretch of
// straight code, from the target of the newest branch of the stack (the
// window) on, and a stretch of many units holds it more often than a short
// one. So windows that end in long stretches are seen too often, and with them
// the branches that lead there. Only events that count taken branches alone
// pick all windows alike: each branch is one unit.
//
// Weights undo that. Let g(t) be the mean duration, in units of the event, of
// the straight code that starts at t. A window whose newest target is T counts
// 1/g(T). The durations are observed in the windows themselves, all stretches
// but the one with the trigger being whole; since windows are seen unevenly, g
// is their weighted mean, and weights and means are found in turn. A target
// with few observations leans on the mean of all: half a stretch of average
// duration is added to each. One weight for the whole window keeps neighbours
// neighbours.
package debias
