// Command testreport reads the output of go test -json, prints a line for each
// package and the output of each test that failed, and counts what was skipped.
//
//	go test -json ./... | go run ./scripts/testreport
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

func main() {
	failed, err := report(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// report says whether anything failed.
func report(r io.Reader, w io.Writer) (failed bool, err error) {
	var passes, fails, skips, missing int
	output := map[string]*strings.Builder{} // of tests that are not finished, by package and test
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(w, line) // what go itself prints, such as build errors
		}
		key := e.Package + " " + e.Test
		switch {
		case e.Action == "output" || e.Action == "build-output":
			if output[key] == nil {
				output[key] = &strings.Builder{}
			}
			output[key].WriteString(e.Output)
		case e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
			text := ""
			if b := output[key]; b != nil {
				text = b.String()
			}
			delete(output, key)
			switch {
			case e.Action == "fail":
				fmt.Fprint(w, text)
				failed = true
			case e.Action == "skip" && strings.Contains(text, "corpus: "):
				missing++
				fmt.Fprint(w, text)
			}
			if strings.Contains(e.Test, "/") {
				break // subtests are part of their test
			}
			switch e.Action {
			case "pass":
				passes++
			case "fail":
				fails++
			case "skip":
				skips++
			}
		case e.Action == "pass":
			fmt.Fprintf(w, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
		case e.Action == "fail", e.Action == "build-fail":
			failed = true
			if b := output[key]; b != nil {
				fmt.Fprint(w, b.String())
			}
			fmt.Fprintf(w, "FAIL\t%s\n", e.Package)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return failed, err
		}
	}
	fmt.Fprintf(w, "corpus tests skipped: %d\n%d passed, %d failed, %d skipped\n", missing, passes, fails, skips)
	return failed, nil
}
