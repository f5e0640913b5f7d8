package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
	"github.com/spgo-tools/spgo/pkg/spd"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"spdconvert": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: makeFiles, Cmds: commands})
}

// makeFiles puts files that carry SPDs into the folder of a script.
func makeFiles(env *testscript.Env) error {
	one, err := database("one.exe")
	if err != nil {
		return err
	}
	two, err := database("two.exe")
	if err != nil {
		return err
	}
	demo, err := filepath.Abs("../../testdata/demo")
	if err != nil {
		return err
	}
	env.Setenv("DEMO", demo)
	rebuilt, err := os.ReadFile(filepath.Join(demo, "collatz"))
	if err != nil {
		return err
	}
	id := bytes.Index(rebuilt, []byte("GNU\x00\x82\x88\x81\x0c")) // its build id
	rebuilt[id+4]++
	newer := bytes.Clone(one)
	binary.LittleEndian.PutUint32(newer[4:], 0x100d)
	stream := func(name string, data []byte) msftest.Stream { return msftest.Stream{Name: name, Data: data} }
	pdb := func(streams ...msftest.Stream) []byte { return msftest.PDB{Named: streams}.Bytes() }
	for name, data := range map[string][]byte{
		"one.expected":    one,
		"two.expected":    two,
		"one.pdb":         pdb(stream("spd", one)),
		"several.pdb":     pdb(stream("first", one), stream("second", two)),
		"plain.pdb":       pdb(),
		"newer.pdb":       pdb(stream("spd", newer)),
		"cut.pdb":         pdb(stream("spd", one[:len(one)-4])),
		"one.obj":         object(one, 0),
		"damaged.obj":     object(one, 1<<20),
		"header.obj":      object(append(append(bytes.Clone(one[:0x18]), 1, 2, 3, 4), one[0x1c:]...), 0),
		"rebuilt/collatz": rebuilt,
		"notes.txt":       []byte("keep me\n"),
		"old/one.spd":     two,
		"builds/app.pdb":  msftest.PDB{GUID: app().Header.GUID, Age: 9, DBIAge: 4}.Bytes(),
		"old/other.txt":   []byte("keep me\n"),
	} {
		name = filepath.Join(env.WorkDir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// database makes an SPD without functions.
func database(binary string) ([]byte, error) {
	guid, err := binfmt.ParseGUID("{11223344-5566-7788-99AA-BBCCDDEEFF00}")
	if err != nil {
		return nil, err
	}
	f := &spd.File{
		Header: spd.Header{Flags: spd.HeaderFresh, Binary: binary, GUID: guid, Age: 3},
		Modules: []spd.Module{{Name: "* CIL module *", Flags: spd.ModuleFresh, Functions: []spd.Function{{
			Symbol: spd.Symbol{ID: spd.FunctionID("main"), Name: "main", SymbolFlags: spd.SymbolAlways},
			RVA:    0x1000, Length: 6,
			Blocks: []spd.Block{{Edges: []spd.Edge{{To: 2}}}, {Instructions: 2, Ranges: []spd.Range{{Length: 6}}, Edges: []spd.Edge{{To: 3}}}, {}},
		}}}},
	}
	var b bytes.Buffer
	err = spd.Write(&b, f)
	return b.Bytes(), err
}

// object makes a COFF object with the data in its first section, and a second
// section that has as many bytes as missing but no data.
func object(data []byte, missing uint32) []byte {
	const headers = 20 + 2*40
	b := append([]byte{0x64, 0x86, 2, 0}, make([]byte, 16)...)
	for _, s := range []struct {
		name     string
		size, at uint32
	}{{".spgo", uint32(len(data)), headers}, {".rest", missing, uint32(headers + len(data))}} {
		b = append(append(b, s.name...), make([]byte, 16-len(s.name))...)
		b = binfmt.AppendU32(binfmt.AppendU32(b, s.size), s.at)
		b = append(b, make([]byte, 16)...)
	}
	return append(b, data...)
}
