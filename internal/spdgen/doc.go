// Package spdgen makes worlds in which the truth is known: it executes the
// program that an SPD describes, counts every block and edge exactly, and
// samples the execution as hardware would. What a profile made from the samples
// says can then be compared with what happened.
//
// It is for tests, benchmarks and the demonstration, and shares no code with
// the steps that are measured with it.
//
//   - [NewProgram] turns an SPD into machine code: where each instruction
//     starts, which block it stems from, where the calls are.
//   - [Program.Run] walks the flow graphs with random branch probabilities,
//     through calls, indirect calls and inlined code, and gives a [World]: exact
//     counts for each function record, and samples.
//   - [World.WriteSPT] and [World.Trace] write the samples as SPT, or describe
//     them as a Windows trace.
//   - [Fresh] makes an SPD as a linker leaves it, from a seed.
//
// # What is modelled
//
// An inlined call runs inside the ranges of the block that has it, a folded
// function in the code of the one that was kept. A record counts the executions
// of its stand-alone code and of all inlined copies. Blocks without code run
// unseen. Code that the compiler's scheduler interleaved runs in the order of
// addresses. The import table and what it leads to is outside of the binary.
//
// # What is not
//
// Every instruction takes the same time. The hidden code between blocks, such as
// a call's thunk or what saves registers, has no instructions of its own.
// A block is executed whole, if-converted or not; of a block that was duplicated
// into those before it, one copy.
//
// All choices come from the seed: the same seed gives the same world on every
// machine.
package spdgen
