// Package sample is the vocabulary between the readers of traces and the
// aggregation of their samples: binaries, the sink that takes hits, and the
// account of what was read, used and dropped. It does no I/O.
//
// Units: one hit is one sample, or its period where samples are weighed. An
// RVA is an address relative to the lowest load address of its binary.
package sample
