// Command bench measures the speed and memory of our commands on large inputs,
// beside the peers that are installed, and prints tables in Markdown.
//
//	make bench
//	go run ./scripts/bench [options]
//
// Inputs are made once, from the recordings of the folder that SPGO_SHARED
// names or else of the demonstration, and kept; remove the folder after a
// change of what makes them. All commands that read an input run in turn, from
// the page cache, three times. The same bytes are read by all commands whose
// speeds are compared; what slow peers read is smaller.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// settings are what the user chooses.
type settings struct {
	bytes   int64 // of the standard input, by which all others are measured
	rounds  int
	limit   time.Duration // of one command
	only    *regexp.Regexp
	largest bool
	dir     string
	shared  string
}

func main() {
	s := settings{shared: environment("SPGO_SHARED", filepath.Join("..", "shared"))}
	bytes, err := strconv.ParseInt(environment("BENCH_BYTES", "1000000000"), 10, 64)
	if err != nil {
		fail(fmt.Errorf("BENCH_BYTES: %w", err))
	}
	flag.Int64Var(&s.bytes, "bytes", bytes, "size of the standard input, by which all others are measured; also BENCH_BYTES")
	flag.StringVar(&s.dir, "dir", environment("BENCH_DIR", filepath.Join(os.TempDir(), "spgo-bench")), "where the inputs are kept, 9 GB; also BENCH_DIR")
	flag.IntVar(&s.rounds, "rounds", 3, "runs of each command, of which the median counts")
	flag.DurationVar(&s.limit, "limit", 2*time.Minute, "after which a command is ended and counts as failed")
	only := flag.String("run", "", "a regular expression: the contests to run")
	flag.BoolVar(&s.largest, "largest", true, "with the input of four times the standard size")
	list := flag.Bool("list", false, "print the names of the contests and end")
	flag.Parse()
	if s.only, err = regexp.Compile(*only); err != nil || flag.NArg() != 0 || s.bytes < 1<<20 || s.rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		fail(err)
	}
	var chosen []*contest
	for _, c := range contests(&s) {
		if s.only.MatchString(c.name) {
			chosen = append(chosen, c)
		}
	}
	if *list {
		for _, c := range chosen {
			fmt.Printf("%-26s %s\n", c.name, c.input.title)
		}
		return
	}
	for _, folder := range []string{s.dir, s.output("")} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			fail(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := time.Now()
	complete := true
	for _, c := range chosen {
		complete = c.run(ctx, &s) && complete
		if ctx.Err() != nil {
			fail(ctx.Err())
		}
	}
	printMachine(os.Stdout, &s)
	printSpeed(os.Stdout, chosen)
	printRatios(os.Stdout, chosen, s.rounds)
	printGrowth(os.Stdout, chosen)
	printWorkers(os.Stdout, chosen)
	fmt.Fprintf(os.Stderr, "bench: %s\n", time.Since(start).Round(time.Second))
	if !complete {
		fail(fmt.Errorf("some of our commands failed, see the tables"))
	}
}

// output returns the path of a file that a command writes.
func (s *settings) output(name string) string { return filepath.Join(s.dir, "output", name) }

func environment(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}
