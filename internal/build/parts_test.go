package build

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// open opens an image and finds its functions.
func open(t testing.TB, name string) (*image.File, []program.Function) {
	t.Helper()
	img, err := image.Open(corpus.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	list, _, err := funcs.Find(img, funcs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return img, list
}

func find(t testing.TB, f *spd.File, name string) *spd.Function {
	t.Helper()
	for k := range f.Modules[0].Functions {
		if fn := &f.Modules[0].Functions[k]; fn.Name == name {
			return fn
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

// TestParts cuts the main function of a program into three parts.
func TestParts(t *testing.T) {
	img, list := open(t, "programs/minivm.elf")
	for k := range list {
		if list[k].Name == "main" {
			r := list[k].Ranges[0]
			list[k].Ranges = []program.Range{{Start: r.Start, End: 0x13e0}, {Start: 0x13e0, End: 0x15be}, {Start: 0x15be, End: r.End}}
		}
	}
	f, r, err := Build(img, list, Options{Name: "minivm.elf"})
	if err != nil {
		t.Fatal(err)
	}
	for v := range f.Violations() {
		t.Error(v)
	}
	if r.Parts != 2 {
		t.Errorf("%d parts, want 2", r.Parts)
	}
	hot, cold := find(t, f, "main"), find(t, f, "main.cold")
	if hot.RVA != 0x1170 || cold.RVA != 0x13e0 || cold.Length != 0x1de || find(t, f, "main.cold.2").RVA != 0x15be {
		t.Errorf("parts at %#x and %#x", hot.RVA, cold.RVA)
	}
	// The last part jumps back into the first one, at 12ef among others.
	var starts []uint32
	for _, e := range hot.Blocks[0].Edges {
		b := &hot.Blocks[e.To-1]
		starts = append(starts, hot.RVA+b.Ranges[0].Start)
	}
	if len(hot.Blocks[0].Ranges) > 0 || !slices.Contains(starts, 0x1170) || !slices.Contains(starts, 0x12ef) {
		t.Errorf("main is entered at %x", starts)
	}
	if !slices.ContainsFunc(hot.MachineCallees, func(c spd.MachineCallee) bool { return c.ID == cold.ID }) {
		t.Error("main does not call its cold part")
	}
}

// TestHiddenTable takes a program's only jump table away. The cases of the
// switch must still be reached.
func TestHiddenTable(t *testing.T) {
	data, err := os.ReadFile(corpus.Path(t, "programs/minivm.elf"))
	if err != nil {
		t.Fatal(err)
	}
	for k := range 9 * 4 { // entries, in .rodata at RVA and file offset 0x2004
		data[0x2004+k] = 0xff
	}
	img, err := image.NewFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	whole, list := open(t, "programs/minivm.elf")
	f, r, err := Build(img, list, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tables != 0 || r.Unresolved != 1 {
		t.Errorf("%d tables, %d unresolved jumps", r.Tables, r.Unresolved)
	}
	for v := range f.Violations() {
		t.Error(v)
	}
	g, _, err := Build(whole, list, Options{})
	if err != nil {
		t.Fatal(err)
	}
	hidden, known := switchOf(find(t, f, "main")), switchOf(find(t, g, "main"))
	for _, rva := range known {
		if !slices.Contains(hidden, rva) {
			t.Errorf("the case at %#x is not reached", rva)
		}
	}
	if len(known) != 9 {
		t.Errorf("%d cases, want 9", len(known))
	}
}

// switchOf returns the addresses that the switch of a function leads to.
func switchOf(fn *spd.Function) (list []uint32) {
	for _, b := range fn.Blocks {
		if len(b.Edges) > 2 {
			for _, e := range b.Edges {
				if r := fn.Blocks[e.To-1].Ranges; len(r) > 0 {
					list = append(list, fn.RVA+r[0].Start)
				}
			}
		}
	}
	return list
}

// TestJobs builds with one and several functions at a time.
func TestJobs(t *testing.T) {
	img, list := open(t, "programs/pe/minivm.exe")
	var first []byte
	for _, jobs := range []int{0, 1, 5} {
		f, _, err := Build(img, list, Options{Name: "minivm.exe", Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := spd.Write(&b, f); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Errorf("another file with %d jobs", jobs)
		}
	}
}

func TestImports(t *testing.T) {
	img, list := open(t, "programs/wordstat.elf")
	f, _, err := Build(img, list, Options{})
	if err != nil {
		t.Fatal(err)
	}
	stub := find(t, f, "strlen@plt")
	tail := spd.MachineCallee{ID: spd.ImportID("strlen"), Kind: spd.CalleeMachine | spd.CalleeTail}
	if !slices.Contains(stub.MachineCallees, tail) || stub.Flags&spd.FunctionIndirectTail == 0 {
		t.Errorf("strlen@plt: flags %#x, %+v", stub.Flags, stub.MachineCallees)
	}
	if !calls(find(t, f, "main"), stub.ID) {
		t.Error("main does not call strlen@plt")
	}

	img, list = open(t, "programs/pe/wordstat.exe")
	c, err := load(img)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range c.imports {
		names = append(names, n)
	}
	for _, n := range []string{"strlen", "__getmainargs"} {
		if !slices.Contains(names, n) {
			t.Errorf("%s is not among the imports", n)
		}
	}
	// The stubs that jump to imports are no functions by the unwind table.
	if f, _, err = Build(img, list, Options{}); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(f.Modules[0].Functions, func(fn spd.Function) bool { return calls(&fn, spd.ImportID("strlen")) }) {
		t.Error("nothing calls strlen")
	}
}

func calls(fn *spd.Function, id spd.ID) bool {
	return slices.ContainsFunc(fn.Callees, func(c spd.Callee) bool { return c.ID == id })
}

func TestNames(t *testing.T) {
	n := names{taken: make(map[spd.ID]bool)}
	for _, x := range []struct {
		name, unit string
		local      bool
		want       string
		id         spd.ID
	}{
		{"f", "", false, "f", spd.FunctionID("f")},
		{"f", "a.c", true, "f", spd.StaticID("a.c", "f")},
		{"f", "b.c", true, "f", spd.StaticID("b.c", "f")},
		{"f", "a.c", true, "f#2", spd.StaticID("a.c", "f#2")},
		{"f", "a.c", true, "f#3", spd.StaticID("a.c", "f#3")},
		{"f", "", false, "f#2", spd.FunctionID("f#2")},
		{"a.cf", "", false, "a.cf#4", spd.FunctionID("a.cf#4")}, // the ids of f, f#2 and f#3 in a.c
	} {
		s := n.symbol(x.name, x.unit, x.local)
		if s.Name != x.want || s.ID != x.id || (s.SymbolFlags&spd.SymbolStatic != 0) != x.local {
			t.Errorf("%s in %q: got %+v, want %s", x.name, x.unit, s, x.want)
		}
	}
	if n.numbered != 4 {
		t.Errorf("%d are numbered, want 4", n.numbered)
	}
}

// TestChecksum checks that the checksum follows the flow graph and not the
// place of the code.
func TestChecksum(t *testing.T) {
	f := func() *spd.Function {
		return &spd.Function{RVA: 0x1000, Blocks: []spd.Block{
			{Instructions: 3, Edges: []spd.Edge{{To: 3}, {To: 2}}},
			{Instructions: 1, Edges: []spd.Edge{{To: 3}}},
			{Instructions: 2},
		}}
	}
	want := checksum(f())
	for _, x := range []struct {
		name   string
		change func(*spd.Function)
		same   bool
	}{
		{"moved", func(f *spd.Function) { f.RVA = 0x2000 }, true},
		{"other code", func(f *spd.Function) { f.Blocks[0].Instructions = 9 }, true},
		{"other edge", func(f *spd.Function) { f.Blocks[0].Edges[0].To = 2 }, false},
		{"dead edge", func(f *spd.Function) { f.Blocks[0].Edges[0].Flags = spd.EdgeDead }, false},
		{"no code", func(f *spd.Function) { f.Blocks[1].Instructions = 0 }, false},
		{"another block", func(f *spd.Function) { f.Blocks = append(f.Blocks, spd.Block{}) }, false},
	} {
		g := f()
		x.change(g)
		if (checksum(g) == want) != x.same {
			t.Errorf("%s: the checksum is the same: %v", x.name, !x.same)
		}
	}
}
