// Package correlate finds for each sample the function and block of an SPD in
// whose code it lies, and makes consistent execution counts of them.
package correlate
