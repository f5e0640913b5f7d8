// Package collect samples running programs by the kernel's perf events and
// hands the records to a [Sink], which stores them as a perf.data file or as
// pieces of one that are aggregated while the sampling goes on. It works on
// Linux; elsewhere [Run] says what records there.
//
// What is sampled is user code, since that is what a profile of a binary can
// use: taken branches with branch stacks where the processor has them, else
// retired instructions or cycles with call chains, else the clock.
package collect
