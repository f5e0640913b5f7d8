// Package armwalk helps tests that need a profile of an AArch64 program with
// exact counts beside it: it walks through the code of an ELF file, deciding
// each conditional branch by a probability of its own, and records the walk as
// Arm SPE would, one instruction in so many. The walk knows how often each
// instruction ran and each branch was taken.
//
// Instead of a walk, the log of a run under an emulator can be recorded; it
// knows the same, of an execution that was real.
//
// The walk looks at branches only; it computes nothing. Programs must not jump
// through tables or pointers (clang -fno-jump-tables).
package armwalk
