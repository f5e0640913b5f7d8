package spdgen

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// World is an execution of a program with its samples.
type World struct {
	*Program
	Truth
	// Ran is the number of functions with executions.
	Ran  int
	seed uint64
	*probe
}

// Kind is what a sample is.
type Kind uint8

const (
	LBR Kind = iota // a stack of taken branches
	IP              // an instruction address
)

// Sampling chooses samples of a world.
type Sampling struct {
	Kind Kind
	// PerFunction is the number of samples for each function that ran, on
	// average. It is not more than Run was told.
	PerFunction int
	Depth       int // branches of a stack, at most 32
	// Inside leaves out the branches from and to other binaries. Otherwise they
	// have RVA 0 at the end outside.
	Inside bool
}

// Run executes the program, until there are enough samples of each kind for
// perFunction for every function that ran.
func (p *Program) Run(seed uint64, perFunction int) *World {
	w := &World{Program: p, seed: seed, probe: newProbe(rand.New(rand.NewPCG(seed, 2)))}
	m := newMachine(p, rand.New(rand.NewPCG(seed, 1)), w.probe)
	for len(m.roots) > 0 && !w.enough(perFunction) {
		for range 100 {
			m.enter()
		}
		w.Ran = 0
		for k := range m.truth.Functions {
			if m.truth.Functions[k].Blocks[0] > 0 {
				w.Ran++
			}
		}
	}
	m.share()
	w.Truth = *m.truth
	return w
}

// Redraw returns the same execution, of which samplings take other samples.
func (w *World) Redraw(seed uint64) *World {
	again := *w
	again.seed = seed
	return &again
}

func (w *World) enough(perFunction int) bool {
	n := perFunction * w.Ran
	return w.Ran > 0 && len(w.stacks) >= n*maxDepthLBR && len(w.addresses) >= n
}

// choose returns the numbers of n of total samples, ascending.
func (w *World) choose(n, total int) []int {
	r := rand.New(rand.NewPCG(w.seed, uint64(n)))
	list := make([]int, 0, n)
	for k := 0; k < total && len(list) < n; k++ {
		if r.IntN(total-k) < n-len(list) {
			list = append(list, k)
		}
	}
	return list
}

// Stacks returns the branch stacks of a sampling, newest branch first.
func (w *World) Stacks(s Sampling) [][]Branch {
	var list [][]Branch
	for _, k := range w.choose(s.PerFunction*w.Ran, len(w.stacks)/maxDepthLBR) {
		list = append(list, w.stacks[k*maxDepthLBR:][:s.Depth])
	}
	return list
}

// Addresses returns the instruction addresses of a sampling.
func (w *World) Addresses(s Sampling) []uint32 {
	var list []uint32
	for _, k := range w.choose(s.PerFunction*w.Ran, len(w.addresses)) {
		list = append(list, w.addresses[k])
	}
	return list
}

// WriteSPT writes samples as an SPT whose program id is that of the SPD.
func (w *World) WriteSPT(out io.Writer, s Sampling) error {
	h := &w.File.Header
	file, err := spt.NewWriter(out, []spt.ProgramID{{GUID: h.GUID, Age: h.Age, Name: h.Binary}}, nil)
	if err == nil {
		err = file.BeginBinary(0)
	}
	if err != nil {
		return err
	}
	if s.Kind == LBR {
		err = writeStacks(file, w.Stacks(s), s.Inside)
	} else {
		err = writeAddresses(file, w.Addresses(s))
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// writeStacks cuts stacks where a branch is left out, and writes equal pieces
// once.
func writeStacks(file *spt.Writer, stacks [][]Branch, inside bool) error {
	counts := map[string]uint64{}
	var key []byte
	end := func() {
		if len(key) > 0 {
			counts[string(key)]++
		}
		key = key[:0]
	}
	for _, stack := range stacks {
		for _, b := range stack {
			if inside && (b.From == Outside || b.To == Outside) {
				end()
				continue
			}
			key = binary.BigEndian.AppendUint32(key, endOf(b.To))
			key = binary.BigEndian.AppendUint32(key, endOf(b.From))
		}
		end()
	}
	var pairs []spt.Pair
	for _, x := range byCount(counts) {
		pairs = pairs[:0]
		for k := 0; k < len(x.key); k += 8 {
			pairs = append(pairs, spt.Pair{To: word(x.key[k:]), From: word(x.key[k+4:])})
		}
		if err := file.LBR(pairs, x.count-1); err != nil {
			return err
		}
	}
	return nil
}

// endOf is an end of a branch in an SPT, where 0 means outside.
func endOf(rva uint32) uint32 {
	if rva == Outside {
		return 0
	}
	return rva
}

// writeAddresses writes addresses of the same count together.
func writeAddresses(file *spt.Writer, addresses []uint32) error {
	counts := map[string]uint64{}
	for _, a := range addresses {
		counts[string(binary.BigEndian.AppendUint32(nil, a))]++
	}
	list := byCount(counts)
	for len(list) > 0 {
		count := list[0].count
		var rvas []uint32
		for len(list) > 0 && list[0].count == count {
			rvas = append(rvas, word(list[0].key))
			list = list[1:]
		}
		if err := file.IP(spt.OpRetireInstr, rvas, count-1); err != nil {
			return err
		}
	}
	return nil
}

type counted struct {
	key   string
	count uint64
}

// byCount sorts the most frequent first.
func byCount(counts map[string]uint64) []counted {
	var list []counted
	for k, n := range counts {
		list = append(list, counted{k, n})
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.key, b.key))
	})
	return list
}

func word(s string) uint32 { return binary.BigEndian.Uint32([]byte(s[:4])) }

// WriteTruth writes what happened, one block or edge a line.
func (w *World) WriteTruth(out io.Writer) error {
	b := bufio.NewWriter(out)
	fmt.Fprintln(b, "function\tname\tblock\tto\texecutions")
	for k := range w.Functions {
		f, x := &w.functions[k], &w.Functions[k]
		for i := range x.Blocks {
			fmt.Fprintf(b, "%v\t%s\t%d\t\t%d\n", f.ID, f.Name, i+1, x.Blocks[i])
			for e, n := range x.Edges[i] {
				fmt.Fprintf(b, "%v\t%s\t%d\t%d\t%d\n", f.ID, f.Name, i+1, f.Blocks[i].Edges[e].To, n)
			}
		}
	}
	return b.Flush()
}

// Reset takes all counts out of an SPD, so that it is as the linker left it.
func Reset(f *spd.File) {
	f.Header.Flags, f.Header.Statistics = spd.HeaderFresh, spd.Statistics{}
	for m := range f.Modules {
		f.Modules[m].Flags = spd.ModuleFresh
		for k := range f.Modules[m].Functions {
			resetFunction(&f.Modules[m].Functions[k])
		}
	}
}

func resetFunction(f *spd.Function) {
	for i := range f.Callees {
		f.Callees[i].Count = 0
	}
	f.MachineCallees = slices.DeleteFunc(f.MachineCallees, func(c spd.MachineCallee) bool { return c.Kind&spd.CalleeTail == 0 })
	for i := range f.MachineCallees {
		f.MachineCallees[i].Count = 0
	}
	for i := range f.Blocks {
		b := &f.Blocks[i]
		b.Count = 0
		b.Flags &^= spd.BlockHammock
		for e := range b.Edges {
			b.Edges[e].Count = 0
		}
		for s := range b.Indirect {
			b.Indirect[s].Hits, b.Indirect[s].Targets = 0, spd.Targets{}
		}
	}
}
