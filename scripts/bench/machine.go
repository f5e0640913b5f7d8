package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// printMachine prints what the figures depend on.
func printMachine(w io.Writer, s *settings) {
	fmt.Fprintf(w, "%s; %d processors, %s; %s/%s, %s; %d rounds in turn, page cache, medians.\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(),
		processor(), runtime.GOOS, runtime.GOARCH, runtime.Version(), s.rounds)
	fmt.Fprint(w, "Peers:")
	separator := " "
	for _, p := range []struct{ name, option, line string }{
		{"perf", "--version", "version"}, {"llvm-profgen", "--version", "version"}, {"perf2bolt", "--version", "version"}, {"create_llvm_prof", "--version", ""},
	} {
		fmt.Fprintf(w, "%s%s %s", separator, p.name, version(p.name, p.option, p.line))
		separator = "; "
	}
	fmt.Fprintln(w, ".")
	if own := ownPeak(); own > 0 {
		fmt.Fprintf(w, "Memory of a command is shown as %s MB, that of this program, where it is less.\n", resident(own))
	}
}

// processor is the name of the first processor, where the system tells it.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// version is the line of what a program says of itself that has a word.
func version(name, option, word string) string {
	path, err := peerPath(name)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	out, err := exec.Command(path, option).CombinedOutput()
	if err != nil {
		return "(" + err.Error() + ")"
	}
	for _, line := range strings.Split(string(out), "\n") {
		if at := strings.Index(line, word+" "); at >= 0 && word != "" {
			return strings.TrimSpace(line[at+len(word):])
		}
	}
	return "(which does not tell its version)"
}
