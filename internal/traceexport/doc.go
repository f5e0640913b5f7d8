// Package traceexport turns the records of one binary in an SPT into what
// other profile tools read: branch stacks as text of perf script, sums of
// ranges and branches for llvm-profgen and perf2bolt, folded stacks for flame
// graphs, and pprof.
package traceexport
