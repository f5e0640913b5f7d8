// Command spdworld makes a program with a recording of it, for the
// demonstration and for tests: an SPD as the linker leaves it, a Windows trace
// with branch stacks, the same samples as SPT, and what really happened.
//
//	go run ./scripts/spdworld -seed 1 -functions 60 -o dir
//
// It writes app.spd, run.etl, run.spt, ip.spt (instruction addresses) and
// truth.tsv. With -spd the program is that of an SPD, whose counts app.spd
// lacks. For benchmarks, with -arcs it writes app.spd and arcs.spt alone: so
// many different branches, once each; with -parts so many SPTs instead of a
// recording, each of other samples of one run.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spgo-tools/spgo/internal/spdgen"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/spd"
)

func main() {
	seed := flag.Uint64("seed", 1, "of all that is random")
	functions := flag.Int("functions", 60, "functions of the program")
	blocks := flag.Int("blocks", 25, "blocks of a function, on average")
	samples := flag.Int("samples", 100, "samples of each kind for every function that runs, on average")
	depth := flag.Int("depth", 32, "branches of a stack, at most 32")
	arcs := flag.Int("arcs", 0, "write so many different branches instead of a recording")
	parts := flag.Int("parts", 0, "write so many SPTs with branch stacks, 0001.spt and so on")
	from := flag.String("spd", "", "an SPD whose program to execute")
	dir := flag.String("o", ".", "folder to write to")
	flag.Parse()
	if flag.NArg() != 0 || *depth < 2 || *depth > 32 || *functions < 1 || *blocks < 1 || *samples < 1 {
		flag.Usage()
		os.Exit(2)
	}
	f := spdgen.Fresh(*seed, *functions, *blocks)
	if *from != "" {
		var err error
		if f, err = spd.ReadFile(*from); err != nil {
			fail(err)
		}
		spdgen.Reset(f)
	}
	if err := os.MkdirAll(*dir, 0o777); err != nil {
		fail(err)
	}
	write(*dir, "app.spd", func(w io.Writer) error { return spd.Write(w, f) })
	p := spdgen.NewProgram(f)
	if *arcs > 0 {
		write(*dir, "arcs.spt", func(w io.Writer) error { return p.WriteArcs(w, *seed, *arcs) })
		return
	}
	if *parts > 0 {
		world := p.Run(*seed, 8**samples)
		part := spdgen.Sampling{Kind: spdgen.LBR, PerFunction: *samples, Depth: *depth}
		for k := range *parts {
			write(*dir, fmt.Sprintf("%04d.spt", k+1), func(w io.Writer) error { return world.Redraw(*seed+uint64(k)).WriteSPT(w, part) })
		}
		return
	}
	world := p.Run(*seed, *samples)
	lbr := spdgen.Sampling{Kind: spdgen.LBR, PerFunction: *samples, Depth: *depth}
	ip := spdgen.Sampling{Kind: spdgen.IP, PerFunction: *samples}
	write(*dir, "run.etl", func(w io.Writer) error { return etl.WriteTrace(w, world.Trace(lbr)) })
	write(*dir, "run.spt", func(w io.Writer) error { return world.WriteSPT(w, lbr) })
	write(*dir, "ip.spt", func(w io.Writer) error { return world.WriteSPT(w, ip) })
	write(*dir, "truth.tsv", world.WriteTruth)
	fmt.Printf("%d of %d functions ran, %d instructions\n", world.Ran, len(world.Functions), world.Instructions)
}

func write(dir, name string, content func(io.Writer) error) {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		fail(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	err = content(out)
	if err == nil {
		err = out.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "spdworld:", err)
	os.Exit(1)
}
