// Command etltrace makes a large Windows recording for benchmarks: what xperf
// records of a program with counter samples and branch stacks, of about the
// wanted size.
//
//	go run ./scripts/etltrace [-compress] [-stacks] out.etl 500000000
//
// The program is a random graph of blocks through which samples walk, a few
// loops most of the time. With -stacks there are timer samples with call
// stacks in the place of branches.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
)

func main() {
	compress := flag.Bool("compress", false, "pack the buffers with XPRESS; the size counts before")
	stacks := flag.Bool("stacks", false, "timer samples with call stacks")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: etltrace [-compress] [-stacks] OUT BYTES")
		os.Exit(2)
	}
	size, err := strconv.ParseInt(flag.Arg(1), 10, 64)
	if err == nil {
		err = write(flag.Arg(0), size, *compress, *stacks)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "etltrace:", err)
		os.Exit(1)
	}
}

const (
	processors = 8
	depth      = 32 // branches of a record, frames of a stack
	lbrBytes   = 32 + 40 + 24*depth
	stackBytes = 32 + 32 + 8*depth
	source     = 30
)

func write(name string, size int64, compress, stacks bool) error {
	each := int64(lbrBytes)
	if stacks {
		each = stackBytes
	}
	samples := size / each
	images := []etl.TraceImage{
		{Path: `\Device\HarddiskVolume3\app\app.exe`, Base: 0x7ff700000000, Size: 0x800000},
		{Path: `\Device\HarddiskVolume3\app\lib.dll`, Base: 0x7ff800000000, Size: 0x200000},
		{Path: `\Device\HarddiskVolume3\Windows\System32\ntdll.dll`, Base: 0x7ff900000000, Size: 0x200000},
	}
	kernel := etl.TraceImage{Path: `\SystemRoot\system32\ntoskrnl.exe`, Base: 0xfffff80000000000, Size: 0x1000000}
	for i := range images {
		images[i].PDB, images[i].PDBAge, images[i].PDBGUID = "x.pdb", 1, binfmt.GUID{15: byte(i + 1)}
	}
	p := newProgram(images[0].Base, images[1].Base, kernel.Base)
	trace := &etl.Trace{
		Processors: processors, BufferSize: 4 << 20, Compress: compress, Merged: true, Arch: etl.ArchX64, Duration: 100 * (samples + 2),
		Sources: []etl.Interval{{Source: source, New: 16384, Old: 65536, Name: "BranchInstructionRetired"}},
		Kernel:  []etl.TraceImage{kernel},
		Samples: func(yield func(etl.TraceSample) bool) {
			for i := range samples {
				s := p.sample(stacks)
				s.Time, s.Processor = 100*(i+1), int(i%processors)
				s.PID, s.TID = 4000, uint32(4004+4*(i%processors))
				if !yield(s) {
					return
				}
			}
		},
	}
	process := etl.TraceProcess{PID: 4000, Name: "app.exe", Images: images}
	for i := range uint32(processors) {
		process.Threads = append(process.Threads, 4004+4*i)
	}
	trace.Processes = []etl.TraceProcess{process}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	if err := etl.WriteTrace(out, trace); err != nil {
		f.Close()
		return err
	}
	if err := out.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// block is a piece of code that ends with a branch to one of two blocks.
type block struct {
	start, branch uint64
	next          [2]int
}

// program is a graph of blocks and the walk through it.
type program struct {
	rng    *rand.Rand
	blocks []block
	at     int
	stack  []etl.Branch
	frames []uint64
}

func newProgram(app, lib, kernel uint64) *program {
	p := &program{rng: rand.New(rand.NewPCG(1, 1)), stack: make([]etl.Branch, depth), frames: make([]uint64, depth)}
	const blocks = 6000
	for i := range blocks {
		base := app
		switch {
		case i >= blocks*95/100:
			base = kernel
		case i >= blocks*80/100:
			base = lib
		}
		start := base + 0x1000 + uint64(i)*64
		near := max(0, min(blocks-1, i-20+p.rng.IntN(40)))
		far := p.rng.IntN(blocks)
		if p.rng.IntN(10) > 0 {
			far = min(blocks-1, i+1)
		}
		p.blocks = append(p.blocks, block{start, start + 8 + uint64(p.rng.IntN(40)), [2]int{near, far}})
	}
	return p
}

// sample walks on and tells the last branches, or makes up a call stack of
// their sources.
func (p *program) sample(stacks bool) etl.TraceSample {
	if p.rng.IntN(50) == 0 {
		p.at = p.rng.IntN(len(p.blocks))
	}
	for i := range depth {
		b := &p.blocks[p.at]
		way := 0
		if p.rng.IntN(8) == 0 {
			way = 1
		}
		p.at = b.next[way]
		p.stack[depth-1-i] = etl.Branch{From: b.branch, To: p.blocks[p.at].start, Info: uint64(p.rng.IntN(64))}
	}
	ip := p.blocks[p.at].start + 4
	if !stacks {
		return etl.TraceSample{IP: ip, Source: source, Branches: p.stack}
	}
	p.frames = append(p.frames[:0], ip)
	for _, b := range p.stack[:depth-1] {
		if (b.From>>63 != 0) == (ip>>63 != 0) {
			p.frames = append(p.frames, b.From)
		}
	}
	return etl.TraceSample{IP: ip, Source: etl.SourceTimer, Stack: p.frames}
}
