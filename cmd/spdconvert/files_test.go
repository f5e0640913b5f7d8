package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Identities of the builds that the scripts know as {1}, {2} and so on.
const guidOfApp = "{11223344-5566-7788-99AA-BBCCDDEEFF00}"

// app makes the SPD of a program of three functions:
//
//	main    0x1000  blocks 2 (0x00, 4 instructions), 3 (0x10, 2), 4 (0x18, 2);
//	                2 goes to 4 or falls through to 3, 3 goes to 4
//	helper  0x1040  block 2 (0x00, 2 instructions)
//	forever 0x1060  block 2 (0x00, 2 instructions), which goes to itself alone
func app() *spd.File {
	guid, err := binfmt.ParseGUID(guidOfApp)
	if err != nil {
		panic(err)
	}
	block := func(instructions uint32, start, length uint32, to ...uint32) spd.Block {
		b := spd.Block{Instructions: instructions}
		if length > 0 {
			b.Ranges = []spd.Range{{Start: start, Length: length}}
		}
		for _, t := range to {
			b.Edges = append(b.Edges, spd.Edge{To: t})
		}
		return b
	}
	function := func(name string, ordinal, rva, length uint32, blocks ...spd.Block) spd.Function {
		return spd.Function{Symbol: spd.Symbol{ID: spd.FunctionID(name), Name: name, SymbolFlags: spd.SymbolAlways, Ordinal: ordinal},
			Checksum: spd.Checksum(ordinal), RVA: rva, Length: length, Blocks: blocks}
	}
	forever := function("forever", 4, 0x1060, 0x10, block(0, 0, 0, 2), block(2, 0, 0x10, 2, 3), block(0, 0, 0))
	forever.Blocks[1].Edges[1].Flags = spd.EdgeDead
	main := function("main", 2, 0x1000, 0x30, block(0, 0, 0, 2), block(4, 0, 0x10, 4, 3), block(2, 0x10, 8, 4), block(2, 0x18, 0x18, 5), block(0, 0, 0))
	main.Callees = []spd.Callee{{ID: spd.FunctionID("helper"), Kind: spd.CalleeSource, Sites: []uint32{3}}}
	return &spd.File{
		Header: spd.Header{Flags: spd.HeaderFresh, Binary: "app.exe", GUID: guid, Age: 3},
		Modules: []spd.Module{{Name: "* CIL module *", Flags: spd.ModuleFresh, Generation: 1, Functions: []spd.Function{
			function("helper", 0, 0x1040, 0x10, block(0, 0, 0, 2), block(2, 0, 0x10, 3), block(0, 0, 0)), main, forever,
		}}},
	}
}

// commands of the scripts.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"app":      makeApp,
	"assemble": assemble,
	"counts":   checkCounts,
	"valid":    checkValid,
	"cut":      cutFile,
	"utf16":    writeUTF16,
}

// makeApp FILE [KEY=VALUE ...] writes the SPD of app, with another identity, checksum of
// main or count of its entry.
func makeApp(ts *testscript.TestScript, neg bool, args []string) {
	f := app()
	main := &f.Modules[0].Functions[1]
	for _, a := range args[1:] {
		key, value, _ := bytes.Cut([]byte(a), []byte("="))
		n, err := strconv.ParseUint(string(value), 0, 64)
		ts.Check(err)
		switch string(key) {
		case "age":
			f.Header.Age = uint32(n)
		case "guid":
			f.Header.GUID = binfmt.GUID{byte(n)}
		case "checksum":
			main.Checksum = spd.Checksum(n)
		case "lost": // nothing leads to this block of forever any more
			f.Modules[0].Functions[2].Blocks[0].Edges[0].To = uint32(n) + 1
		case "count":
			f.Header.Flags, f.Modules[0].Flags = spd.HeaderImported, spd.ModuleImported
			for _, k := range []int{0, 1, 3, 4} {
				main.Blocks[k].Count = n
				if len(main.Blocks[k].Edges) > 0 {
					main.Blocks[k].Edges[0].Count = n
				}
			}
		default:
			ts.Fatalf("app: %s?", key)
		}
	}
	f.Header.Statistics = f.ComputeStatistics()
	var b bytes.Buffer
	ts.Check(spd.Write(&b, f))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}

// assemble FILE.txt FILE.spt makes an SPT from its text form; GUID stands for
// the GUID of app.
func assemble(ts *testscript.TestScript, neg bool, args []string) {
	text := bytes.ReplaceAll([]byte(ts.ReadFile(args[0])), []byte("GUID"), []byte(guidOfApp))
	var b bytes.Buffer
	ts.Check(spt.ParseText(&b, bytes.NewReader(text)))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

// cut FILE BYTES takes bytes off the end of a file.
func cutFile(ts *testscript.TestScript, neg bool, args []string) {
	name := ts.MkAbs(args[0])
	fi, err := os.Stat(name)
	ts.Check(err)
	n, err := strconv.ParseInt(args[1], 0, 64)
	ts.Check(err)
	ts.Check(os.Truncate(name, fi.Size()-n))
}

// counts FILE FUNCTION N... checks the counts of a function's blocks.
func checkCounts(ts *testscript.TestScript, neg bool, args []string) {
	f, err := spd.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	for i := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[i]
		if fn.Name != args[1] {
			continue
		}
		var got []string
		for k := range fn.Blocks {
			got = append(got, strconv.FormatUint(fn.Blocks[k].Count, 10))
		}
		for k, want := range args[2:] {
			if (got[k] == want) == neg {
				ts.Fatalf("counts of %s are %v, want %v (or not: %v)", fn.Name, got, args[2:], neg)
			}
		}
		return
	}
	ts.Fatalf("no function %s", args[1])
}

// valid FILE checks all rules.
func checkValid(ts *testscript.TestScript, neg bool, args []string) {
	f, err := spd.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	for v := range f.Violations() {
		ts.Fatalf("%v", v)
	}
}

// utf16 FROM TO writes a text as Notepad does: in UTF-16 with byte order mark
// and carriage returns.
func writeUTF16(ts *testscript.TestScript, neg bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "\n", "\r\n")
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}
