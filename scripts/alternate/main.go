// Command alternate measures builds of one program against each other:
//
//	go run ./scripts/alternate [-n 15] 'plain=./plain 3000' 'with a profile=./faster 3000'
//
// All builds run in turn, n times, so that other work on the machine slows them
// alike, after one turn that is not counted. Their outputs have to be the same.
// The table is in Markdown: processor time in user mode, with quartiles as its
// spread; elapsed time; and how many turns a build won against the first one.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A build is a program to be measured.
type build struct {
	label      string
	command    []string
	output     []byte
	user, wall []time.Duration
}

func main() {
	n := flag.Int("n", 15, "turns")
	flag.Parse()
	var builds []*build
	for _, arg := range flag.Args() {
		label, command, ok := strings.Cut(arg, "=")
		if !ok || len(strings.Fields(command)) == 0 {
			usage()
		}
		builds = append(builds, &build{label: label, command: strings.Fields(command)})
	}
	if len(builds) == 0 || *n < 1 {
		usage()
	}
	if err := measure(builds, *n); err != nil {
		fmt.Fprintln(os.Stderr, "alternate:", err)
		os.Exit(1)
	}
	print(builds)
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: alternate [-n TURNS] LABEL=COMMAND...")
	os.Exit(2)
}

// measure runs all builds in turn.
func measure(builds []*build, turns int) error {
	for turn := range turns + 1 {
		for _, b := range builds {
			c := exec.Command(b.command[0], b.command[1:]...)
			start := time.Now()
			out, err := c.Output()
			if err != nil {
				return fmt.Errorf("%s: %w", b.label, err)
			}
			wall := time.Since(start)
			if b.output = out; !bytes.Equal(out, builds[0].output) {
				return fmt.Errorf("%s prints something else than %s:\n%s\n%s", b.label, builds[0].label, out, builds[0].output)
			}
			if turn > 0 {
				b.user = append(b.user, c.ProcessState.UserTime())
				b.wall = append(b.wall, wall)
			}
		}
	}
	return nil
}

func print(builds []*build) {
	fmt.Println("| build | user s, median | quartiles | least | less time | turns won | elapsed s, median |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|")
	base := builds[0]
	for k, b := range builds {
		less, won := "", ""
		if k > 0 {
			less = fmt.Sprintf("%.0f %%", 100-100*quantile(b.user, 2)/quantile(base.user, 2))
			won = fmt.Sprintf("%d of %d", wins(b.user, base.user), len(b.user))
		}
		fmt.Printf("| %s | %.3f | %.3f–%.3f | %.3f | %s | %s | %.3f |\n", b.label, quantile(b.user, 2),
			quantile(b.user, 1), quantile(b.user, 3), quantile(b.user, 0), less, won, quantile(b.wall, 2))
	}
}

// quantile returns the least time in seconds that is not less than so many
// quarters of all.
func quantile(times []time.Duration, quarters int) float64 {
	sorted := slices.SortedFunc(slices.Values(times), cmp.Compare[time.Duration])
	return sorted[(len(sorted)-1)*quarters/4].Seconds()
}

// wins counts the turns in which a build took less time than another.
func wins(times, others []time.Duration) int {
	n := 0
	for k := range times {
		if times[k] < others[k] {
			n++
		}
	}
	return n
}
