package funcs

import "github.com/spgo-tools/spgo/internal/program"

// numSources is the number of program.Source values, the unknown one included.
const numSources = int(program.EHFrame) + 1

// Reason says why a piece of code that a source names is no function of the
// result.
type Reason uint8

// Reasons.
const (
	OutsideCode    Reason = iota // starts outside of the executable sections
	BeyondRange                  // starts at 4 GB or beyond
	InsideFunction               // starts inside of a function of a better source
	LabelInside                  // a mark without size inside of a function
	Covered                      // all of its code is in functions of better sources
	EmptyPart                    // a separated part without code
	PartOfNothing                // a separated part of a function that is not there
	AtHeaders                    // starts at RVA 0, where an image has its headers
	NumReasons
)

var reasonNames = [NumReasons]string{"outside of code", "beyond 4 GB", "inside of a better known function",
	"label inside of a function", "covered by better known functions", "separated part without code", "part of an unknown function", "at the image's headers"}

// String returns the text as reports print it.
func (r Reason) String() string {
	if r < NumReasons {
		return reasonNames[r]
	}
	return "unknown"
}

// Report counts what was found and what became of it.
type Report struct {
	// Indexed by [program.Source]: the pieces of code that the source names;
	// those that became a function; those that were joined to a function, as
	// a further name, a confirmation or a separated part; and the rest by
	// reason. Pieces is the sum of the others.
	Pieces    [numSources]int
	Functions [numSources]int
	Joined    [numSources]int
	Skipped   [numSources][NumReasons]int
	// Cut counts the pieces whose end was moved, because they reached beyond
	// their section or into another function.
	Cut [numSources]int
	// Orphans counts the separated parts whose function was not found by
	// name, so that they are functions of their own.
	Orphans int
	// Code and Covered are bytes of executable sections, and of those the
	// ones in functions.
	Code, Covered uint64
	// Exceptions is what tables of exceptions hold.
	Exceptions Exceptions
	// Problems are the defects of sources that were read in part or not at
	// all.
	Problems []error
}

func (r *Report) skip(s program.Source, why Reason) { r.Skipped[s][why]++ }
func (r *Report) cut(s program.Source)              { r.Cut[s]++ }

// Exceptions counts tables of exceptions and what they say.
type Exceptions struct {
	Tables  int // that were read
	Sites   int // pieces of code with a landing pad in a function
	Outside int // more of those that are, or whose pad is, in no known function
	Nested  int // more of those that are in too many others
	// Elsewhere counts the functions whose handlers are functions of their
	// own (catch blocks of Microsoft's C++): where these go on is not in a table.
	Elsewhere int
	Unknown   int // tables of an unknown kind, such as of other languages
}
