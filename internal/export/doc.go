// Package export makes profiles for other tools of a sample profile database
// (SPD): sample profiles of LLVM and GCC, pprof profiles for Go, and branch
// profiles for BOLT.
//
// All begin with the same step: the blocks of the database are laid over the
// machine code of the image, so that each instruction has the count of its
// block. Line profiles take from that what each source line and each inlined
// call was worth; branch profiles take the edges.
//
// Counts of a database are 256 for each execution seen. Profiles hold
// executions, rounded, or where that would cost too much the counts as they are.
//
// Output is a function of the database, the image and its debug information:
// it does not depend on the order in which anything is found.
package export

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// Format is a kind of profile.
type Format string

// Formats.
const (
	LLVM       Format = "llvm"        // sample profile as text
	LLVMBinary Format = "llvm-binary" // sample profile in the extensible binary form
	Pprof      Format = "pprof"       // call stacks for go build -pgo and go tool pprof
	GCOV       Format = "gcov"        // AutoFDO profile for gcc -fauto-profile
	BOLT       Format = "bolt"        // branches (fdata) for llvm-bolt -data
)

// Formats lists all of them.
var Formats = []Format{LLVM, LLVMBinary, Pprof, GCOV, BOLT}

// NeedsLines says whether the format is about source lines.
func (f Format) NeedsLines() bool { return f != BOLT }

// Input is what a profile is made from.
type Input struct {
	Profile *spd.File
	Image   *image.File
	Debug   *debuginfo.Info // not needed for BOLT
	// Trim is the percentage of the weight that is kept, with the heaviest
	// functions, or stacks for Pprof. 0 and 100 keep all.
	Trim float64
}

// Report says what became of the functions that have counts. The weight of a
// function is the number of instructions executed in it.
type Report struct {
	Functions int // of the database that have code and counts
	Exported  int // functions in the profile, of Pprof those in stacks
	Records   int // lines of inlined and other functions; stacks; or branches

	// WithoutLines counts functions without debug information, WithoutSymbol
	// those that BOLT has no name for, WithoutCode those whose code is not in
	// the image.
	WithoutLines, WithoutSymbol, WithoutCode int
	// LostWeight is the weight of these.
	LostWeight uint64
	// Stubs counts functions that only lead to imported ones. Profiles do not
	// hold them, but for the stacks of Pprof.
	Stubs int

	// Scale is what one execution counts in the profile: 1, or 256 for one of
	// so few samples that rounding would change it. For Pprof it is 1.
	Scale uint64

	Weight     uint64 // of all functions
	Exportable uint64 // what the profile would hold without trimming, in its own unit
	Kept       uint64 // of it, what it holds
	Trimmed    int    // functions or stacks left out by trimming
}

// Write makes a profile. It fails if the image is of a machine without
// disassembler or w fails.
func Write(w io.Writer, format Format, in Input) (*Report, error) {
	p, err := load(in)
	if err != nil {
		return nil, err
	}
	switch format {
	case LLVM:
		err = p.writeLLVM(w)
	case LLVMBinary:
		err = p.writeLLVMBinary(w)
	case GCOV:
		err = p.writeGCOV(w)
	case Pprof:
		err = p.writePprof(w)
	case BOLT:
		err = p.writeBOLT(w)
	default:
		return nil, fmt.Errorf("unknown format %q", format)
	}
	return &p.report, err
}

// unit is the count of one execution in a database.
const unit = 256

// executions rounds a count.
func executions(count uint64) uint64 {
	n := count / unit
	if count%unit >= unit/2 {
		n++
	}
	return n
}

// maxRounding is the greatest share of all counts that rounding may change.
const maxRounding = .005

// chooseScale decides whether counts are rounded to executions. Samples of
// addresses say of most blocks that they were executed a fraction of a time.
func (p *program) chooseScale() {
	var all, changed float64
	for k := range p.functions {
		for _, b := range p.functions[k].blocks {
			n := float64(len(b.code))
			all += n * float64(b.Count)
			changed += n * math.Abs(float64(executions(b.Count))*unit-float64(b.Count))
		}
	}
	p.report.Scale = 1
	if changed > maxRounding*all {
		p.report.Scale = unit
	}
}

// scaled makes a count of the database one of the profile.
func (p *program) scaled(count uint64) uint64 {
	if p.report.Scale == unit {
		return count
	}
	return executions(count)
}

// heaviest returns how many elements of a list of descending weights are kept
// such that they have at least the share of the weight that is asked for.
func (p *program) heaviest(weights []uint64) int {
	total := 0.0
	for _, w := range weights {
		p.report.Exportable += w
		total += float64(w)
	}
	sum := 0.0
	for k, w := range weights {
		if p.trim > 0 && p.trim < 100 && sum >= total*p.trim/100 {
			p.report.Trimmed = len(weights) - k
			return k
		}
		sum += float64(w)
		p.report.Kept += w
	}
	return len(weights)
}

// keys returns the keys of a map in order.
func keys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	list := make([]K, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.SortFunc(list, compare)
	return list
}
