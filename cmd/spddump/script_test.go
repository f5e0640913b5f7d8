package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

func TestMain(m *testing.M) {
	if os.Getenv("SPDDUMP") != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"spddump": main})
}

// TestScripts runs the scripts that need no recordings.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: makeFiles})
}

// makeFiles puts databases into the folder of a script that a text cannot give:
// two in one file, whole and cut, and one with a damaged function.
func makeFiles(env *testscript.Env) error {
	var all []byte
	for _, binary := range []string{"one.exe", "two.exe"} {
		var b bytes.Buffer
		if err := spd.Write(&b, database(binary)); err != nil {
			return err
		}
		all = append(all, b.Bytes()...)
		damaged := bytes.Clone(b.Bytes())
		last := bytes.LastIndex(damaged, binfmt.AppendU64(nil, uint64(spd.FunctionID("last"))))
		damaged[last+0x10]++ // the size of the record
		for name, data := range map[string][]byte{binary + ".spd": b.Bytes(), "both.spd": all, "cut.spd": all[:len(all)-4], "damaged.spd": damaged} {
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// database makes a profile of two functions.
func database(binary string) *spd.File {
	f := &spd.File{Header: spd.Header{Flags: spd.HeaderImported, Binary: binary}, Modules: []spd.Module{{Name: "* CIL module *", Flags: spd.ModuleImported}}}
	for k, name := range []string{"first", "last"} {
		f.Modules[0].Functions = append(f.Modules[0].Functions, spd.Function{
			Symbol: spd.Symbol{ID: spd.FunctionID(name), Name: name, Ordinal: uint32(2*k + 2), SymbolFlags: spd.SymbolAlways},
			RVA:    uint32(0x1000 * (k + 1)), Length: 8, Checksum: spd.Checksum(len(binary) + k),
			Blocks: []spd.Block{
				{Count: 7, Edges: []spd.Edge{{To: 2, Count: 7}}},
				{Count: 7, Instructions: 3, Ranges: []spd.Range{{Length: 8}}, Edges: []spd.Edge{{To: 3, Count: 7}}},
				{Count: 7},
			},
		})
	}
	f.Header.Statistics = f.ComputeStatistics()
	return f
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
