//go:build linux

package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spgo-tools/spgo/internal/corpus"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sptcollect": main, "burn": burn})
}

// burn is a workload: it computes for as long as its argument says and ends
// with the status that a second one gives.
func burn() {
	spin(os.Args[1])
	if len(os.Args) > 2 {
		os.Exit(int(os.Args[2][0] - '0'))
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Condition: func(name string) (bool, error) {
			if name == "sampling" {
				return corpus.CanSample(), nil
			}
			return false, nil
		},
	})
}

// spin computes for a time such as 200ms.
func spin(arg string) {
	d, err := time.ParseDuration(arg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	x := uint64(1)
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 10_000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	fmt.Println("spun", x != 0)
}
