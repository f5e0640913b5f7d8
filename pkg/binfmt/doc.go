// Package binfmt is what every binary codec of this module shares: a cursor
// over a byte slice, helpers that append fields, the error type that says
// where a file is wrong, and the kinds of defect that callers act on.
//
// Stance on hostile input: a Cursor never panics and never allocates by a
// size that was read from the input. After the first defect every read
// returns zero and the first error is kept, so a decoder tests once per
// record.
package binfmt
