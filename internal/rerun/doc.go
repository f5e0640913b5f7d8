// Package rerun helps tests that need many recordings of one run: it has
// valgrind print every instruction that a program executes, and samples this
// run as often as wanted, each time at other moments. So it shows how much of a
// figure is chance.
package rerun
