package spd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Ids of the functions of the made files.
var (
	leafID     = StaticID("ebpf_core.obj", "_leaf")
	midID      = FunctionID("mid")
	freePoolID = ImportID("ExFreePoolWithTag")
)

// profiledFile makes a file that has every kind of thing the format has, with
// counts, and that breaks no rule.
func profiledFile() *File {
	leaf := Function{
		Symbol:   Symbol{ID: leafID, Name: "_leaf", Ordinal: 2, SymbolFlags: SymbolAlways | SymbolStatic},
		Checksum: FlowChecksum(nil),
		Blocks: []Block{
			{Count: 400, Edges: []Edge{{To: 2, Count: 400}}},
			{Count: 400, Instructions: 3, Ranges: []Range{{Start: 0, Length: 8}}, Edges: []Edge{{To: 3, Count: 400}}},
			{Count: 400},
		},
	}
	mid := Function{
		Symbol: Symbol{ID: midID, Name: "mid", Ordinal: 4, SymbolFlags: SymbolAlways},
		RVA:    0x1000, Length: 0x20,
		Callees: []Callee{
			{ID: leafID, Kind: CalleeSource, Count: 100, Sites: []uint32{2}},
			{ID: freePoolID, Kind: CalleeSource | CalleeImport, Count: 80, Sites: []uint32{3, 3}},
		},
		Blocks: []Block{
			{Count: 100, Edges: []Edge{{To: 2, Count: 100}}},
			{Count: 100, Instructions: 6, Flags: BlockHammock, Ranges: []Range{{Start: 0, Length: 0x10}},
				Inlinees: []Inlinee{{ID: leafID, Blocks: []InlinedBlock{
					{ID: 2, Instructions: 3, Ranges: []Range{{Start: 4, Length: 8}}},
				}}},
				Edges: []Edge{{To: 4, Count: 60}, {To: 3, Count: 40}}},
			{Count: 40, Instructions: 2, Ranges: []Range{{Start: 0x10, Length: 6}}, Edges: []Edge{{To: 4, Count: 40}}},
			{Count: 100, Instructions: 1, Ranges: []Range{{Start: 0x16, Length: 10}}, Edges: []Edge{{To: 5, Count: 100}}},
			{Count: 100},
		},
		MachineCallees: []MachineCallee{{ID: freePoolID, Kind: CalleeMachine, Count: 80}},
	}
	twin := Function{
		Symbol: Symbol{ID: FunctionID("twin"), Name: "twin", Ordinal: 6, SymbolFlags: SymbolAlways | SymbolFolded, FoldedInto: 0x1000},
		Flags:  FunctionNoInput,
		Blocks: []Block{{Edges: []Edge{{To: 2}}}, {}},
	}
	dispatch := Function{
		Symbol: Symbol{ID: FunctionID("dispatch"), Name: "dispatch", Ordinal: 8, SymbolFlags: SymbolAlways | SymbolAddressTaken},
		Flags:  FunctionIndirectTail,
		RVA:    0x1040, Length: 0x60,
		Callees: []Callee{{ID: midID, Kind: CalleeSource, Count: 300, Sites: []uint32{4}}},
		Blocks: []Block{
			{Count: 1000, Edges: []Edge{{To: 2, Count: 1000}}},
			{Count: 1000, Instructions: 3, Ranges: []Range{{Start: 0, Length: 0x10}}, // a switch
				Edges: []Edge{{To: 3, Count: 500}, {To: 4, Count: 300}, {To: 5, Count: 100}, {To: 6, Count: 100}}},
			{Count: 500, Instructions: 2, Ranges: []Range{{Start: 0x10, Length: 8}},
				Indirect: []IndirectSite{{CallSite: CallSite{Offset: 0x11, Length: 6, Ordinal: 1, Kind: 1}, Hits: 1368,
					Targets: Targets{{ID: midID, Hits: 1295}, {ID: leafID, Hits: 73}}}},
				Edges: []Edge{{To: 7, Count: 500}}},
			{Count: 300, Instructions: 8, Ranges: []Range{{Start: 0x18, Length: 0x18}},
				Inlinees: []Inlinee{{ID: midID, Blocks: []InlinedBlock{
					{ID: 2, Instructions: 6, Ranges: []Range{{Start: 0x1a, Length: 0x10}},
						Inlinees: []Inlinee{{ID: leafID, Blocks: []InlinedBlock{
							{ID: 2, Instructions: 3, Ranges: []Range{{Start: 0x1e, Length: 8}}},
						}}}},
					{ID: 3, Flags: BlockIfConverted},
					{ID: 4, Instructions: 1, Ranges: []Range{{Start: 0x2a, Length: 6}},
						Indirect: []CallSite{{Offset: 0x2a, Length: 6, Ordinal: 1, Kind: 1}}},
				}}},
				Edges: []Edge{{To: 7, Count: 300}}},
			{Count: 800, Instructions: 2, Flags: BlockTripCount, Aux: 8, Ranges: []Range{{Start: 0x30, Length: 8}}, // a loop
				Edges: []Edge{{To: 6, Count: 100}, {To: 5, Count: 700}}},
			{Count: 200, Instructions: 2, Ranges: []Range{{Start: 0x38, Length: 8}}, // a tail jump
				Indirect: []IndirectSite{{CallSite: CallSite{Offset: 0x39, Length: 7, Ordinal: 2, Kind: 1}}},
				Edges:    []Edge{{To: 7, Count: 200}}},
			{Count: 1000, Instructions: 5, Flags: BlockDuplicated, Aux: 2,
				Ranges: []Range{{Start: 0x40, Length: 0x10}, {Start: 0x51, Length: 0xf}},
				Edges:  []Edge{{To: 8, Count: 1000}, {To: 7, Flags: EdgeDead}}},
			{Count: 1000, Instructions: 1, Ranges: []Range{{Start: 0x50, Length: 1}}},
		},
		MachineCallees: []MachineCallee{{ID: FunctionID("memset"), Kind: CalleeMachine | CalleeTail}},
	}
	functions := []Function{leaf, mid, twin, dispatch}
	for k := range 36 { // enough for chains in the hash table and the next number of buckets
		name := fmt.Sprintf("tiny%d", k)
		functions = append(functions, Function{
			Symbol: Symbol{ID: FunctionID(name), Name: name, Ordinal: uint32(10 + 2*k), SymbolFlags: SymbolAlways},
			RVA:    uint32(0x2000 + 16*k), Length: 1,
			Checksum: FlowChecksum([]Tuple{TupleReturn, TupleJump}),
			Blocks: []Block{
				{Count: uint64(k), Edges: []Edge{{To: 2, Count: uint64(k)}}},
				{Count: uint64(k), Instructions: 1, Ranges: []Range{{Start: 0, Length: 1}}, Edges: []Edge{{To: 3, Count: uint64(k)}}},
				{Count: uint64(k)},
			},
		})
	}
	f := &File{
		Header: Header{Flags: HeaderImported, Binary: "made.sys", Age: 3, GUID: binfmt.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
		Modules: []Module{{Name: "* CIL module *", Flags: ModuleImported, Generation: 1,
			HashBuckets: bucketCount(len(functions)), Functions: functions}},
	}
	f.Header.Statistics = f.ComputeStatistics()
	return f
}

// freshFile is profiledFile as a linker would make it: nothing imported.
func freshFile() *File {
	f := profiledFile()
	f.Header.Flags, f.Header.Statistics = HeaderFresh, Statistics{}
	m := &f.Modules[0]
	m.Flags, m.Generation = ModuleFresh, 0
	for k := range m.Functions {
		fn := &m.Functions[k]
		fn.Flags &^= FunctionNoInput
		if len(fn.MachineCallees) > 0 && fn.MachineCallees[0].Kind == CalleeMachine {
			fn.MachineCallees = nil
		}
		for i := range fn.Callees {
			fn.Callees[i].Count = 0
		}
		for i := range fn.Blocks {
			b := &fn.Blocks[i]
			b.Count = 0
			b.Flags &^= BlockHammock
			for e := range b.Edges {
				b.Edges[e].Count = 0
			}
			for s := range b.Indirect {
				b.Indirect[s].Hits, b.Indirect[s].Targets = 0, Targets{}
			}
		}
	}
	return f
}

func encode(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parse(b []byte) (*File, error) {
	r, err := NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return r.Read()
}

// diff compares models; an empty list is as good as none.
func diff(want, got *File) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

// recorded returns the published files with their bytes.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, row := range corpus.Files(t, "spd") {
		b, err := os.ReadFile(row.File)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(row.File)] = b
	}
	if len(files) == 0 {
		t.Fatal("no files")
	}
	return files
}

func smallRecorded(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(corpus.Path(t, "corpus", "spd", "map-9ad16a75.spd"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
