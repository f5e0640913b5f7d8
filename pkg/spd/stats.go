package spd

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Statistics are the numbers in the file header. They are all zero while
// nothing was imported.
type Statistics struct {
	// HotThreshold is the weight of the function that completes 99 % of
	// DynamicInstructions in descending order of weight. Functions of at least
	// this weight are compiled for speed.
	HotThreshold uint64 `json:"hot_threshold"`
	// DynamicInstructions estimates the instructions executed: the sum of the
	// weights of all functions.
	DynamicInstructions uint64 `json:"dynamic_instructions"`
	// StaticInstructions is the number of instructions of all blocks, each
	// charged to the function that it stems from.
	StaticInstructions uint32 `json:"static_instructions"`
}

// OwnInstructions is the number of machine instructions of a block that are
// not inlined from other functions, but at least 1 if there are any.
func (b *Block) OwnInstructions() uint32 { return ownInstructions(b.Instructions, b.Inlinees) }

// OwnInstructions is [Block.OwnInstructions] of the copy of a block: what is
// inlined further does not count.
func (b *InlinedBlock) OwnInstructions() uint32 { return ownInstructions(b.Instructions, b.Inlinees) }

func ownInstructions(all uint32, inlinees []Inlinee) uint32 {
	if all == 0 {
		return 0
	}
	var inlined uint64
	for _, f := range inlinees {
		for k := range f.Blocks {
			inlined += uint64(f.Blocks[k].Instructions)
		}
	}
	return uint32(max(1, int64(all)-int64(min(inlined, math.MaxInt64))))
}

// Weight estimates the instructions that were executed in a function: the sum
// of count times own instructions of its blocks. Like all sums of counts it
// stays at the maximum instead of wrapping.
func (f *Function) Weight() uint64 {
	var w uint64
	for k := range f.Blocks {
		if b := &f.Blocks[k]; b.Count != 0 {
			w = binfmt.SatAdd(w, binfmt.SatMul(b.Count, uint64(b.OwnInstructions())))
		}
	}
	return w
}

// RankedFunction is a function with its weight.
type RankedFunction struct {
	*Function
	Weight uint64
}

// Ranking returns all functions by descending weight, those of equal weight
// in file order.
func (f *File) Ranking() []RankedFunction {
	var ranking []RankedFunction
	for m := range f.Modules {
		for k := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[k]
			ranking = append(ranking, RankedFunction{fn, fn.Weight()})
		}
	}
	slices.SortStableFunc(ranking, func(a, b RankedFunction) int { return cmp.Compare(b.Weight, a.Weight) })
	return ranking
}

// ComputeStatistics computes the header statistics from the counts.
func (f *File) ComputeStatistics() Statistics {
	var s Statistics
	if f.Header.Flags&HeaderProfiled == 0 {
		return s
	}
	ranking := f.Ranking()
	var static uint64
	for _, fn := range ranking {
		s.DynamicInstructions = binfmt.SatAdd(s.DynamicInstructions, fn.Weight)
		for k := range fn.Blocks {
			static += uint64(fn.Blocks[k].OwnInstructions())
		}
	}
	s.StaticInstructions = uint32(min(static, math.MaxUint32))
	var sum uint64
	for _, fn := range ranking {
		if completes(sum, s.DynamicInstructions) {
			break
		}
		sum = binfmt.SatAdd(sum, fn.Weight)
		s.HotThreshold = fn.Weight
	}
	return s
}

// completes says whether sum is at least 99 % of total.
func completes(sum, total uint64) bool {
	sumHigh, sumLow := bits.Mul64(sum, 100)
	totalHigh, totalLow := bits.Mul64(total, 99)
	return sumHigh > totalHigh || sumHigh == totalHigh && sumLow >= totalLow
}

// Summary counts what a module or file has. A block is covered if its count
// is not zero; a code block is one that has instructions.
type Summary struct {
	Functions         int `json:"functions"`
	CodeFunctions     int `json:"code_functions"`     // with code of their own
	FoldedFunctions   int `json:"folded_functions"`   // replaced by identical code
	ProfiledFunctions int `json:"profiled_functions"` // with a covered block
	Blocks            int `json:"blocks"`
	CoveredBlocks     int `json:"covered_blocks"`
	CodeBlocks        int `json:"code_blocks"`
	CoveredCodeBlocks int `json:"covered_code_blocks"`
	Edges             int `json:"edges"`
	DeadEdges         int `json:"dead_edges"`
	Callees           int `json:"callees"`
	CallSites         int `json:"call_sites"` // of all callees
	MachineCallees    int `json:"machine_callees"`
	Inlinees          int `json:"inlinees"` // nested ones included
	IndirectSites     int `json:"indirect_sites"`
	HitIndirectSites  int `json:"hit_indirect_sites"` // with a hit
	CodeBytes         int `json:"code_bytes"`
}

// BlockCoverage is the share of covered blocks, from 0 to 1.
func (s *Summary) BlockCoverage() float64 { return share(s.CoveredBlocks, s.Blocks) }

// CodeBlockCoverage is the share of covered blocks among those with code.
func (s *Summary) CodeBlockCoverage() float64 { return share(s.CoveredCodeBlocks, s.CodeBlocks) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// OfMachineCode says whether the file was made of an image by its machine code,
// and not by the linker.
func (f *File) OfMachineCode() bool {
	return len(f.Modules) > 0 && f.Modules[0].Name == ModuleMachine
}

// Summary counts over all modules.
func (f *File) Summary() Summary {
	var s Summary
	for k := range f.Modules {
		s.add(&f.Modules[k])
	}
	return s
}

// Summary counts over the functions of a module.
func (m *Module) Summary() Summary {
	var s Summary
	s.add(m)
	return s
}

func (s *Summary) add(m *Module) {
	for k := range m.Functions {
		s.Add(&m.Functions[k])
	}
}

// Add counts a function.
func (s *Summary) Add(f *Function) {
	s.Functions++
	s.CodeFunctions += one(f.RVA != 0)
	s.FoldedFunctions += one(f.FoldedInto != 0)
	s.ProfiledFunctions += one(f.Covered() > 0)
	s.Callees += len(f.Callees)
	for i := range f.Callees {
		s.CallSites += len(f.Callees[i].Sites)
	}
	s.MachineCallees += len(f.MachineCallees)
	s.CodeBytes += int(f.Length)
	for i := range f.Blocks {
		s.addBlock(&f.Blocks[i])
	}
}

// Covered is the number of covered blocks.
func (f *Function) Covered() (n int) {
	for k := range f.Blocks {
		n += one(f.Blocks[k].Count != 0)
	}
	return n
}

func (s *Summary) addBlock(b *Block) {
	covered, code := b.Count != 0, b.Instructions != 0
	s.Blocks++
	s.CoveredBlocks += one(covered)
	s.CodeBlocks += one(code)
	s.CoveredCodeBlocks += one(covered && code)
	s.Edges += len(b.Edges)
	for _, e := range b.Edges {
		s.DeadEdges += one(e.Flags&EdgeDead != 0)
	}
	s.IndirectSites += len(b.Indirect)
	for i := range b.Indirect {
		s.HitIndirectSites += one(b.Indirect[i].Hits != 0)
	}
	s.Inlinees += totalInlinees(b.Inlinees)
}

func totalInlinees(inlinees []Inlinee) int {
	n := len(inlinees)
	for i := range inlinees {
		for k := range inlinees[i].Blocks {
			n += totalInlinees(inlinees[i].Blocks[k].Inlinees)
		}
	}
	return n
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
