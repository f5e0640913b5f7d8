// Package cli is the process shell of every command: options in both
// spellings, streams, help, exit codes, the frame of text and JSON results,
// progress, and output files that appear whole or not at all.
package cli
