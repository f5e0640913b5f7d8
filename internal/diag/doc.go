// Package diag is the one place of exit codes and error codes.
//
// Every failure and warning that a command reports carries a stable code
// (SPT0112). The table in codes.go gives the exit code that it leads to, its
// probable cause and the next step; docs/errors.md lists the same table, and a
// test keeps them equal.
package diag

// Exit is the exit status of a command.
type Exit int

// Exit codes, the same for all commands.
const (
	OK       Exit = 0 // done
	Failed   Exit = 1 // failed
	Usage    Exit = 2 // wrong usage
	Mismatch Exit = 3 // identity mismatch
	Nothing  Exit = 4 // nothing usable in the input
	Gate     Exit = 5 // quality gate failed
	Damaged  Exit = 6 // input damaged or partial; what could be saved was
)

// Exits lists the codes with their meaning, in order, for help texts.
var Exits = []struct {
	Code    Exit
	Meaning string
}{
	{OK, "done"},
	{Failed, "failed"},
	{Usage, "wrong usage"},
	{Mismatch, "identity mismatch"},
	{Nothing, "nothing usable in the input"},
	{Gate, "quality gate failed"},
	{Damaged, "input damaged or partial; what could be saved was"},
}

// Worst is the exit code of a run that met both a and b. A failure that left
// no result counts more than one that left a partial result.
func Worst(a, b Exit) Exit {
	rank := [...]int{OK: 0, Damaged: 1, Gate: 2, Nothing: 3, Mismatch: 4, Failed: 5, Usage: 6}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
