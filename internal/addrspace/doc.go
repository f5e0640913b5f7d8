// Package addrspace answers what was mapped at an address of a process at a
// time.
//
// The history of every process is built once, from events in the order of
// time; then many workers look addresses up in it at once. A version of an
// address space is the root of a persistent balanced tree of regions that do
// not overlap. A change copies only the path to the region that it touches,
// so a fork costs nothing and n changes cost O(n log n) time and memory,
// however they overlap. Changes at one time stamp make one version.
package addrspace
