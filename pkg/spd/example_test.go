package spd_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// A program that changes counts works on the model and writes it.
func Example() {
	file := &spd.File{
		Header: spd.Header{Flags: spd.HeaderFresh, Binary: "hello.exe", Age: 1},
		Modules: []spd.Module{{
			Name:  "* CIL module *",
			Flags: spd.ModuleFresh,
			Functions: []spd.Function{{
				Symbol: spd.Symbol{ID: spd.FunctionID("main"), Name: "main", SymbolFlags: spd.SymbolAlways},
				RVA:    0x1000, Length: 6,
				Blocks: []spd.Block{
					{Edges: []spd.Edge{{To: 2}}},
					{Instructions: 2, Ranges: []spd.Range{{Start: 0, Length: 6}}, Edges: []spd.Edge{{To: 3}}},
					{},
				},
			}},
		}},
	}

	main := &file.Modules[0].Functions[0]
	for i := range main.Blocks {
		b := &main.Blocks[i]
		b.Count = 256
		for e := range b.Edges {
			b.Edges[e].Count = 256
		}
	}
	file.Header.Flags, file.Modules[0].Flags = spd.HeaderImported, spd.ModuleImported
	file.Header.Statistics = file.ComputeStatistics()
	for v := range file.Violations() {
		fmt.Println(v)
	}

	var out bytes.Buffer
	if err := spd.Write(&out, file); err != nil {
		fmt.Println(err)
	}
	r, err := spd.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	h := r.Header()
	fmt.Printf("%s: %d dynamic instructions\n", h.Binary, h.DynamicInstructions)
	// Output:
	// hello.exe: 512 dynamic instructions
}

func ExampleWriteText() {
	file := &spd.File{
		Header:  spd.Header{Binary: "a.sys"},
		Modules: []spd.Module{{Name: "m", Functions: []spd.Function{{Symbol: spd.Symbol{ID: 1, Name: "f"}}}}},
	}
	if err := spd.WriteText(os.Stdout, file); err != nil {
		fmt.Println(err)
	}
	// Output:
	// spd version=0x100c binary="a.sys" flags=0x0 guid={00000000-0000-0000-0000-000000000000} age=0 hot_threshold=0 dynamic_instructions=0 static_instructions=0
	// module name="m" flags=0x0 generation=0 hash_buckets=0
	// function id=0x0000000000000001 name="f" ordinal=0 symbol_flags=0x0 flags=0x0 checksum=0x00000000 rva=0x0 length=0x0
}
