// Package build makes a sample profile database (SPD) of a native binary: what
// Microsoft's linker writes for the binaries that it links itself, with all
// counts zero.
//
// Functions are given, with the ranges of their code; flow graphs come from
// package cfg. A function whose code lies in several places becomes as many
// records, since the format has no known way to say so: the separated parts
// are named NAME.cold, NAME.cold.2 and so on, and where code jumps from one to
// the middle of the other, the entry of the latter has an edge to that place.
//
// Padding and data between the blocks of a function are a block of their own,
// which nothing leads to and which is never executed.
//
// # What differs from the linker's files
//
// The name of the module is [spd.ModuleMachine]. Checksums cover the flow graph as it is
// in the machine code, since the compiler's cover its intermediate language:
// link.exe takes only databases that it made itself. Lengths of indirect call
// instructions are the real ones.
package build

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spgo-tools/spgo/internal/cfg"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// Options say what is known beside the functions.
type Options struct {
	// Name is the file name of the binary, which the header states.
	Name string

	// Inlines returns the calls that were inlined into a function; nil stands
	// for none. It is called for several functions at a time.
	Inlines func(program.Function) []program.Inline

	// Branches are branches that were seen, by source and target; they stand for
	// jump tables that are not found.
	Branches []Branch

	// Jobs is the number of functions analyzed at a time; 0 means 1. It has no
	// influence on the result.
	Jobs int
}

// Branch is a branch from one RVA to another.
type Branch struct{ From, To uint32 }

// Report counts what was found.
type Report struct {
	Functions int // records with code
	Parts     int // of them, separated parts of functions
	Folded    int // records of further names of the same code
	Inlined   int // records of functions without code of their own

	Unnamed  int // functions that are named by their address
	Numbered int // functions whose name was already taken

	InlinedCalls int

	Blocks, CodelessBlocks int
	Throws                 int                   // edges to landing pads
	Unreached              [cfg.NumUnreached]int // blocks with code that no way of edges leads to
	Instructions           int
	Bytes                  int // of code, padding included
	Undecoded              int // of them, neither instruction nor known table
	Overlaps               int // branches into the middle of an instruction

	Tables, TableEntries int // jump tables
	Unresolved           int // indirect jumps with unknown targets inside the function
	Seen                 int // edges of these that samples show

	Calls         int // direct calls of functions
	ImportCalls   int
	IndirectCalls int
	TailCalls     int // of all kinds
	NeverReturn   int // functions that never return
	UnknownCalls  int // direct calls of no known function

	// Problems are defects of the image that cost something.
	Problems []error
}

// Build makes the database of an image with the given functions. It fails for
// machines other than x86-64 and arm64, for objects that are not linked, and
// where there is no function.
func Build(img *image.File, functions []program.Function, opts Options) (*spd.File, Report, error) {
	c, err := load(img)
	if err != nil {
		return nil, Report{}, err
	}
	b := &builder{code: c, opts: opts}
	slices.SortFunc(b.opts.Branches, compareBranches)
	b.opts.Branches = slices.Compact(b.opts.Branches)
	b.split(c.inFile(functions))
	if len(b.parts) == 0 {
		return nil, Report{}, fmt.Errorf("the image has no function with code")
	}
	b.analyze()
	b.findTaken()
	if opts.Inlines != nil {
		b.each(len(b.parts), func() func(int) {
			return func(k int) { b.parts[k].inlined, b.parts[k].used = b.inlinedIn(&b.parts[k]) }
		})
	}
	b.name()
	f := b.file()
	b.report.Problems = c.problems
	return f, b.report, nil
}

func compareBranches(x, y Branch) int {
	return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
}

// seen returns where the branch at an RVA was seen to lead.
func (b *builder) seen(rva uint32) (list []uint32) {
	k, _ := slices.BinarySearchFunc(b.opts.Branches, Branch{From: rva}, compareBranches)
	for ; k < len(b.opts.Branches) && b.opts.Branches[k].From == rva; k++ {
		list = append(list, b.opts.Branches[k].To)
	}
	return list
}

// builder holds what becomes the database.
type builder struct {
	*code
	opts   Options
	parts  []part // by address
	never  []bool // parts that never return
	names  names
	report Report
}

// part is a function, or a separated part of one, with what becomes its record.
type part struct {
	*program.Function
	code    program.Range
	number  int  // 0 for the part with the entry
	never   bool // it never returns by what it is called or marked as
	graph   *cfg.Graph
	entries []uint32 // where other parts jump to, apart from the start
	inlined []inlined
	used    []inlinedName
	taken   bool // its address is known to the program
	symbol  spd.Symbol
}

// split makes the list of parts.
func (b *builder) split(functions []program.Function) {
	for k := range functions {
		f := &functions[k]
		never := f.NoReturn || !f.Local && program.NeverReturns(f.Name)
		for i, r := range f.Ranges {
			if r.Start < r.End {
				b.parts = append(b.parts, part{Function: f, code: r, number: i, never: never && i == 0})
			}
		}
	}
	slices.SortStableFunc(b.parts, func(x, y part) int {
		return cmp.Or(cmp.Compare(x.code.Start, y.code.Start), cmp.Compare(x.code.End, y.code.End))
	})
}

// at returns the index of the part whose code contains rva, or -1.
func (b *builder) at(rva uint32) int {
	k, found := slices.BinarySearchFunc(b.parts, rva, func(p part, r uint32) int { return cmp.Compare(p.code.Start, r) })
	if !found {
		k--
	}
	if k < 0 || !b.parts[k].code.Contains(rva) {
		return -1
	}
	return k
}
