package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spgo-tools/spgo/internal/corpus"
)

func TestMain(m *testing.M) {
	if os.Getenv("SPDDUMP") != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"spddump": main})
}

// TestScripts runs the scripts that need no recordings.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

// TestRealFiles runs scripts on published databases.
func TestRealFiles(t *testing.T) {
	dir, err := filepath.Abs(corpus.Path(t, "corpus", "spd"))
	if err != nil {
		t.Fatal(err)
	}
	oracle, _ := filepath.Abs(filepath.Join(corpus.Dir(), "oracle"))
	testscript.Run(t, testscript.Params{
		Dir: "testdata/real",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SPD", dir)
			env.Setenv("ORACLE", oracle)
			env.Setenv("PATH", os.Getenv("PATH"))
			return nil
		},
	})
}
