// Package program describes a native binary as the toolkit sees it: its
// functions, where their code lies, and what was inlined into them.
//
// It is the vocabulary between the packages that find functions (by symbols,
// unwind tables, debug information), the one that makes flow graphs, and the
// one that puts a profile database together. It does nothing itself.
package program

// Range is a half open interval of relative virtual addresses.
type Range struct{ Start, End uint32 }

// Contains says whether the byte at rva is in the range.
func (r Range) Contains(rva uint32) bool { return r.Start <= rva && rva < r.End }

// Len is the number of bytes.
func (r Range) Len() uint32 { return r.End - r.Start }

// Source tells how the bounds of a function were found.
type Source uint8

// Sources of functions, the most trusted one first.
const (
	PDB     Source = iota + 1 // procedure records of a PDB
	Symtab                    // ELF .symtab
	COFF                      // COFF symbols of a PE
	Pclntab                   // function table of the Go runtime
	Dynsym                    // ELF .dynsym, or the export table of a PE
	PLT                       // stubs for calls into other binaries, named by relocations
	Pdata                     // unwind table of a PE
	EHFrame                   // unwind table of an ELF
)

var sourceNames = [...]string{"unknown", "pdb", "symtab", "coff", "pclntab", "dynsym", "plt", "pdata", "eh-frame"}

// String returns the name as reports print it, such as "eh-frame".
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return sourceNames[0]
}

// Function is a function of a binary and its code. No two functions share a
// byte of code.
type Function struct {
	Name    string   // linkage name, "" if unknown
	Aliases []string // further linkage names at the same address (folded or aliased), sorted

	Local bool   // a file-local symbol, such as a static function of C
	Unit  string // source or object file name of a local symbol, "" if unknown

	// Ranges are the function's code: first the one that starts with its
	// entry, then separated (cold) parts by address. None is empty.
	Ranges []Range

	Source   Source
	NoReturn bool // known not to return

	// Guards are the code whose exceptions the function itself handles, by
	// address, disjoint.
	Guards []Guard
}

// Guard is code with the places where control goes on after an exception in
// it: landing pads, to catch it or to clean up.
type Guard struct {
	Range
	Pads []uint32 // the innermost first, at least one
}

// Entry is the address of the first instruction.
func (f *Function) Entry() uint32 { return f.Ranges[0].Start }

// Inline is a call that was inlined: a node of the tree below a function.
type Inline struct {
	Name  string // linkage name of the inlined function
	Local bool   // as in Function
	Unit  string

	// Ranges ascend, do not touch, and lie in the ranges of the node or
	// function around it.
	Ranges []Range

	// Where the call stood: the line counts from 1, 0 if unknown.
	CallFile      string
	CallLine      uint32
	Discriminator uint32

	Children []Inline // calls inlined into this one, by first address
}
