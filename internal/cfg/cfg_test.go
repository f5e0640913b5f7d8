package cfg

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/internal/program"
)

// memory is an image of a few pieces, linked for address 0x400000.
type memory struct {
	arch   disasm.Arch
	pieces map[uint32][]byte
}

const base = 0x400000

func (m *memory) Arch() disasm.Arch { return m.arch }
func (m *memory) Base() uint64      { return base }

func (m *memory) Bytes(rva uint32, n int) []byte {
	for start, b := range m.pieces {
		if start <= rva && rva < start+uint32(len(b)) {
			b = b[rva-start:]
			return b[:min(n, len(b))]
		}
	}
	return nil
}

func (m *memory) Pointer(rva uint32) (uint32, bool) {
	b := m.Bytes(rva, 8)
	if len(b) < 8 {
		return 0, false
	}
	v := binary.LittleEndian.Uint64(b)
	return uint32(v - base), v >= base && v-base < 1<<32
}

// amd64Code makes an image of x86-64 code at 0x1000 in hexadecimal; blanks do
// not matter.
func amd64Code(t testing.TB, code string) *memory {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return &memory{disasm.AMD64, map[uint32][]byte{0x1000: b}}
}

func arm64Code(words ...uint32) *memory {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return &memory{disasm.ARM64, map[uint32][]byte{0x1000: b}}
}

func (m *memory) ranges() []program.Range {
	return []program.Range{{Start: 0x1000, End: 0x1000 + uint32(len(m.pieces[0x1000]))}}
}

// show prints a graph: for each block its place and size, the number of
// instructions, and the successors, dead ones with "!".
func show(g *Graph) string {
	var s []string
	for _, b := range g.Blocks {
		x := "-"
		if b.Instructions > 0 {
			x = fmt.Sprintf("%x+%d/%d", b.Range.Start, b.Range.Len(), b.Instructions)
		}
		for _, e := range b.Edges {
			x += fmt.Sprintf(" >%d", e.To)
			if e.Dead {
				x += "!"
			}
		}
		s = append(s, x)
	}
	for _, r := range g.Gaps {
		s = append(s, fmt.Sprintf("gap %x+%d", r.Start, r.Len()))
	}
	return strings.Join(s, "; ")
}

func TestNormalForm(t *testing.T) {
	never := func(kind CallKind, target uint32) bool { return kind == Direct && target == 0x2000 }
	for _, x := range []struct{ name, code, want string }{
		{"one block", "31c0 c3", "1000+3/2"},
		{"padding at the end", "31c0 c3 90 cccc", "1000+3/2; gap 1003+3"},
		{"loop at the entry", "ffcf 75fc c3", "- >1; 1000+4/2 >1 >2; 1004+1/1"},
		{"two returns", "85ff 7401 c3 31c0 c3", "1000+4/2 >2 >1; 1004+1/1 >3; 1005+3/2 >3; -"},
		{"return before the end", "85ff 7501 c3 ffc7 ebf7", "- >1; 1000+4/2 >2 >3; 1005+4/2 >1; 1004+1/1"},
		{"no way out", "ebfe", "- >1; 1000+2/1 >1 >2!; -"},
		{"no way out after code", "31c0 ffc0 ebfc", "1000+2/1 >1; 1002+4/2 >1 >2!; -"},
		{"tail call", "31c0 e9f90f0000", "1000+7/2"},
		{"conditional tail call", "85ff 0f84f80f0000 c3", "1000+8/2 >2 >1; 1008+1/1 >3; - >3; -"},
		{"call that never returns", "85ff 7405 e8f70f0000 c3", "1000+4/2 >2 >1; 1004+5/1 >3; 1009+1/1 >3; -"},
		{"call that never returns, and a landing pad", "e8fb0f0000 0f1f00 31c0 c3", "1000+5/1 >2; 1008+3/2 >2; -; gap 1005+3"},
		{"two ways to the next instruction", "7400 c3", "1000+2/1 >1 >1; 1002+1/1"},
		{"jump behind a prefix", "7401 f0480fb111 c3", "1000+2/1 >2 >1; 1002+1/1 >2; 1003+5/2"},
		{"jump into an instruction", "eb01 b8000000c3 c3", "1000+2/1 >1; 1003+5/3; gap 1002+1"},
		{"code that cannot be decoded", "31c0 06 0606", "1000+2/1; gap 1002+3"},
		{"nothing that can be decoded", "0606", "1000+1/1; gap 1001+1"},
		{"call of the next instruction", "e800000000 58 c3", "1000+5/1 >1; 1005+2/2"},
		{"jump through a register", "ffe0", "1000+2/1"},
		{"jump through a slot", "ff25fa0f0000", "1000+6/1"},
	} {
		m := amd64Code(t, x.code)
		a := Analyzer{Code: m, Never: never}
		g := a.Function(m.ranges(), nil, nil)
		check(t, x.name, m.ranges(), g)
		if got := show(g); got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.name, got, x.want)
		}
	}
}

func TestEntries(t *testing.T) {
	m := amd64Code(t, "85ff 7401 c3 31c0 c3")
	a := Analyzer{Code: m}
	g := a.Function(m.ranges(), []uint32{0x1005, 0x9999}, nil)
	check(t, "entries", m.ranges(), g)
	if got, want := show(g), "- >1 >3; 1000+4/2 >3 >2; 1004+1/1 >4; 1005+3/2 >4; -"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestParts has a function whose cold part lies elsewhere.
func TestParts(t *testing.T) {
	m := amd64Code(t, "85ff 0f84f80f0000 c3")
	m.pieces[0x2000] = []byte{0x31, 0xc0, 0xe9, 0x01, 0xf0, 0xff, 0xff} // xor eax, eax; jmp 1008
	ranges := append(m.ranges(), program.Range{Start: 0x2000, End: 0x2007})
	a := Analyzer{Code: m}
	g := a.Function(ranges, nil, nil)
	check(t, "parts", ranges, g)
	if got, want := show(g), "1000+8/2 >1 >2; 2000+7/2 >2; 1008+1/1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCalls(t *testing.T) {
	// call 2000; call [rip -> 3000]; call rax; jmp 2000
	m := amd64Code(t, "e8fb0f0000 ff15f51f0000 ffd0 e9ee0f0000")
	a := Analyzer{Code: m}
	g := a.Function(m.ranges(), nil, nil)
	want := []Call{
		{At: 0x1000, Len: 5, Kind: Direct, Target: 0x2000},
		{At: 0x1005, Len: 6, Kind: Slot, Target: 0x3000},
		{At: 0x100b, Len: 2, Kind: Computed},
		{At: 0x100d, Len: 5, Kind: Direct, Target: 0x2000, Tail: true},
	}
	if len(g.Blocks) != 1 || !slices.Equal(g.Blocks[0].Calls, want) || !slices.Equal(g.Blocks[0].Leaves, []Leave{TailCalls}) {
		t.Errorf("got %+v", g.Blocks)
	}
}

// TestSlots has calls through pointers that are loaded before.
func TestSlots(t *testing.T) {
	for _, x := range []struct {
		name string
		code *memory
		want Call
	}{
		{"mov rax, [rip]; call rax; ret", amd64Code(t, "488b05f91f0000 ffd0 c3"), Call{At: 0x1007, Len: 2, Kind: Slot, Target: 0x3000}},
		{"mov rax, [rdi]; call rax; ret", amd64Code(t, "488b07 ffd0 c3"), Call{At: 0x1003, Len: 2, Kind: Computed}},
		{"adrp x16; ldr x17, [x16, #8]; add x16, x16, #8; br x17", arm64Code(0xb0000010, 0xf9400611, 0x91002210, 0xd61f0220),
			Call{At: 0x100c, Len: 4, Kind: Slot, Target: 0x2008, Tail: true}},
		{"adrp x8; ldr x8, [x8, #16]; blr x8; ret", arm64Code(0xb0000008, 0xf9400908, 0xd63f0100, 0xd65f03c0),
			Call{At: 0x1008, Len: 4, Kind: Slot, Target: 0x2010}},
	} {
		a := Analyzer{Code: x.code}
		g := a.Function(x.code.ranges(), nil, nil)
		check(t, x.name, x.code.ranges(), g)
		if len(g.Blocks[0].Calls) != 1 || g.Blocks[0].Calls[0] != x.want {
			t.Errorf("%s: got %+v, want %+v", x.name, g.Blocks[0].Calls, x.want)
		}
	}
}

func words(v ...int32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func pointers(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func TestTables(t *testing.T) {
	const arms = "b801000000 c3 b802000000 c3 31c0 c3" // two cases and the default
	for _, x := range []struct {
		name string
		code *memory
		data map[uint32][]byte
		want Table
		to   []uint32 // of the jump's edges
	}{
		{
			// cmp edi, 2; ja; mov edi, edi; lea rdx, [rip]; movsxd rax, [rdx+rdi*4]; add rax, rdx; notrack jmp rax
			"position independent", amd64Code(t, "83ff02 771f 89ff 488d15f20f0000 486304ba 4801d0 3effe0"+arms),
			map[uint32][]byte{0x2000: words(0x1018-0x2000, 0x101e-0x2000, 0x1018-0x2000, 0x101e-0x2000)},
			Table{Jump: 0x1015, Start: 0x2000, Entries: 3, Entry: 4}, []uint32{0x1018, 0x101e},
		},
		{
			// The same without a comparison: the table ends where entries do.
			"of unknown size", amd64Code(t, "909090 9090 89ff 488d15f20f0000 486304ba 4801d0 3effe0"+arms),
			map[uint32][]byte{0x2000: words(0x1018-0x2000, 0x101e-0x2000, 0x1018-0x2000, 0, 0x101e-0x2000)},
			Table{Jump: 0x1015, Start: 0x2000, Entries: 3, Entry: 4}, []uint32{0x1018, 0x101e},
		},
		{
			// xor edi, esi makes the comparison one of something else.
			"behind another comparison", amd64Code(t, "83ff01 771f 31f7 488d15f20f0000 486304ba 4801d0 3effe0"+arms),
			map[uint32][]byte{0x2000: words(0x1018-0x2000, 0x101e-0x2000, 0x1018-0x2000, 0, 0x101e-0x2000)},
			Table{Jump: 0x1015, Start: 0x2000, Entries: 3, Entry: 4}, []uint32{0x1018, 0x101e},
		},
		{
			// The base is set before a jump, first to another address: lea rdx, [rip -> 2100]; lea rdx, [rip -> 2000]; jmp;
			// nop; cmp edi, 2; ja; mov edi, edi; movsxd; add; jmp
			"with a base from far", amd64Code(t, "488d15f9100000 488d15f20f0000 eb01 90 83ff02 7718 89ff 486304ba 4801d0 3effe0"+arms),
			map[uint32][]byte{0x2000: words(0x1022-0x2000, 0x1028-0x2000, 0x1022-0x2000), 0x2100: words(0x1028-0x2100, 0x1028-0x2100)},
			Table{Jump: 0x101f, Start: 0x2000, Entries: 3, Entry: 4}, []uint32{0x1022, 0x1028},
		},
		{
			// and edi, 1 in the place of the comparison
			"with a mask", amd64Code(t, "83e701 9090 89ff 488d15f20f0000 486304ba 4801d0 3effe0"+arms),
			map[uint32][]byte{0x2000: words(0x1018-0x2000, 0x101e-0x2000, 0x1018-0x2000)},
			Table{Jump: 0x1015, Start: 0x2000, Entries: 2, Entry: 4}, []uint32{0x1018, 0x101e},
		},
		{
			// without optimization: cmp dword [rbp-4], 1; ja; mov eax, [rbp-4]; lea rdx, [rax*4]; lea rax, [rip];
			// mov eax, [rdx+rax]; cdqe; lea rdx, [rip]; add rax, rdx; jmp rax
			"without optimization", amd64Code(t, "837dfc01 772f 8b45fc 488d148500000000 488d05e80f0000 8b0402 4898 488d15dc0f0000 4801d0 ffe0"+arms),
			map[uint32][]byte{0x2000: words(0x1029-0x2000, 0x102f-0x2000, 0x1029-0x2000)},
			Table{Jump: 0x1027, Start: 0x2000, Entries: 2, Entry: 4}, []uint32{0x1029, 0x102f},
		},
		{
			// cmp edi, 2; ja; mov edi, edi; jmp [rdi*8+0x402000]
			"of pointers", amd64Code(t, "83ff02 7715 89ff ff24fd00204000"+arms),
			map[uint32][]byte{0x2000: pointers(0x40100e, 0x401014, 0x40100e)},
			Table{Jump: 0x1007, Start: 0x2000, Entries: 3, Entry: 8}, []uint32{0x100e, 0x1014},
		},
		{
			// cmp ecx, 4; ja; lea rdx, [rip -> image]; movsxd rax, ecx; movzx eax, byte [rdx+rax+0x2000];
			// mov ecx, [rdx+rax*4+0x2010]; add rcx, rdx; jmp rcx
			"of MSVC", amd64Code(t, "83f904 772a 488d15f4efffff 4863c1 0fb6840200200000 8b8c8210200000 4801d1 ffe1"+arms),
			map[uint32][]byte{0x2000: {0, 1, 1, 0, 1}, 0x2010: words(0x1023, 0x1029, 0x1023)},
			Table{Jump: 0x1021, Start: 0x2010, Entries: 2, Entry: 4}, []uint32{0x1023, 0x1029},
		},
		{
			// cmp w0, #3; b.hi; adrp x1; add x1; ldrb w1, [x1, w0, uxtw]; adr x2; add x1, x2, w1, sxtb #2; br x1
			"of bytes on arm64", arm64Code(0x71000c1f, 0x540001a8, 0xb0000001, 0x91004021, 0x38604821, 0x10000062, 0x8b218841, 0xd61f0020,
				0x52800020, 0xd65f03c0, 0x52800040, 0xd65f03c0, 0x52800060, 0xd65f03c0, 0x52800000, 0xd65f03c0),
			map[uint32][]byte{0x2010: {0, 2, 4, 2, 0xff}},
			Table{Jump: 0x101c, Start: 0x2010, Entries: 4, Entry: 1}, []uint32{0x1020, 0x1028, 0x1030},
		},
		{
			// cmp w0, #3; b.hi; mov w8, w0; adrp x9; add x9; adr x10; ldrh w11, [x9, x8, lsl #1]; add x10, x10, x11, lsl #2; br x10
			"of halfwords on arm64", arm64Code(0x71000c1f, 0x540001c8, 0x2a0003e8, 0xb0000009, 0x91004129, 0x1000008a, 0x7868792b, 0x8b0b094a, 0xd61f0140,
				0x52800020, 0xd65f03c0, 0x52800040, 0xd65f03c0, 0x52800060, 0xd65f03c0, 0x52800000, 0xd65f03c0),
			map[uint32][]byte{0x2010: {0, 0, 2, 0, 4, 0, 0, 0, 0xff, 0xff}},
			Table{Jump: 0x1020, Start: 0x2010, Entries: 4, Entry: 2}, []uint32{0x1024, 0x102c, 0x1034},
		},
	} {
		for rva, b := range x.data {
			x.code.pieces[rva] = b
		}
		a := Analyzer{Code: x.code}
		g := a.Function(x.code.ranges(), nil, nil)
		check(t, x.name, x.code.ranges(), g)
		if len(g.Tables) != 1 || g.Tables[0] != x.want {
			t.Errorf("%s: got tables %+v, want %+v", x.name, g.Tables, x.want)
			continue
		}
		for _, b := range g.Blocks {
			if b.Range.Start <= x.want.Jump && x.want.Jump < b.Range.End {
				var to []uint32
				for _, e := range b.Edges {
					to = append(to, g.Blocks[e.To].Range.Start)
				}
				if !slices.Equal(to, x.to) {
					t.Errorf("%s: the jump leads to %x, want %x", x.name, to, x.to)
				}
			}
		}
	}
}

// TestNoTable has indirect jumps that are none through tables, or through
// tables that are not there.
func TestNoTable(t *testing.T) {
	for _, x := range []struct {
		name, code string
		unresolved int
	}{
		{"table that is not in the file", "83ff02 771f 89ff 488d15f20f0000 486304ba 4801d0 3effe0 c3", 1},
		{"table of functions", "83ff02 7715 ff24fd00304000 c3", 0},
		{"method", "488b07 ff6018", 0},
	} {
		m := amd64Code(t, x.code)
		m.pieces[0x3000] = pointers(0x405000, 0x405010, 0x405020)
		a := Analyzer{Code: m}
		g := a.Function(m.ranges(), nil, nil)
		check(t, x.name, m.ranges(), g)
		if len(g.Tables) > 0 || len(g.Unresolved) != x.unresolved {
			t.Errorf("%s: tables %+v, unresolved %x", x.name, g.Tables, g.Unresolved)
		}
	}
}

// TestUnresolved has a table that is not in the file: the jump may lead to
// the two cases that nothing else leads to.
func TestUnresolved(t *testing.T) {
	m := amd64Code(t, "83ff02 771f 89ff 488d15f20f0000 486304ba 4801d0 3effe0 b801000000 c3 b802000000 c3 31c0 c3")
	a := Analyzer{Code: m}
	g := a.Function(m.ranges(), nil, nil)
	check(t, "unresolved", m.ranges(), g)
	const want = "1000+5/2 >4 >1; 1005+19/5 >2 >3 >5; 1018+6/2 >5; 101e+6/2 >5; 1024+3/2 >5; -"
	if got := show(g); got != want || !slices.Equal(g.Unresolved, []uint32{0x1015}) {
		t.Errorf("got %s, unresolved %x; want %s", got, g.Unresolved, want)
	}
}

// TestSeen has samples that show where a jump led: to a case that something
// else leads to, into the middle of a block, and out of the function.
func TestSeen(t *testing.T) {
	m := amd64Code(t, "83ff02 771f 89ff 488d15f20f0000 486304ba 4801d0 3effe0 b801000000 c3 b802000000 c3 31c0 c3")
	a := Analyzer{Code: m, Seen: func(rva uint32) []uint32 {
		if rva == 0x1015 {
			return []uint32{0x500, 0x1018, 0x1023, 0x1024}
		}
		return nil
	}}
	g := a.Function(m.ranges(), nil, nil)
	check(t, "seen", m.ranges(), g)
	const want = "1000+5/2 >5 >1; 1005+19/5 >2 >4 >5 >3 >6; 1018+6/2 >6; 101e+5/1 >4; 1023+1/1 >6; 1024+3/2 >6; -"
	if got := show(g); got != want || g.Seen != 3 {
		t.Errorf("got %s, %d edges seen; want %s and 3", got, g.Seen, want)
	}
}

func TestNeverReturning(t *testing.T) {
	code := []struct {
		hex   string
		never bool
	}{
		{"e8fb0f0000 c3", true},              // 1000: calls 2000
		{"e8fb0f0000 c3", true},              // 2000: calls 3000
		{"0f0b", true},                       // 3000: ud2
		{"85ff 7405 e8f7dfffff c3", false},   // 4000: may call 2000
		{"e9fbefffff", false},                // 5000: tail call of 4000
		{"e9fbffffff", true},                 // 6000: jumps to itself
		{"e8fbffffff c3", true},              // 7000: always calls itself
		{"e8fbafffff 0f1f00 31c0 c3", false}, // 8000: calls 3000 and has a landing pad that returns
		{"e8fbbfffff e8f67fffff c3", true},   // 9000: calls 5000, which returns, then 1000
	}
	var graphs []*Graph
	for k, x := range code {
		m := amd64Code(t, x.hex)
		start := uint32(k+1) << 12
		m.pieces = map[uint32][]byte{start: m.pieces[0x1000]}
		a := Analyzer{Code: m, Never: func(kind CallKind, target uint32) bool { return start == 0x8000 && target == 0x3000 }}
		graphs = append(graphs, a.Function([]program.Range{{Start: start, End: start + uint32(len(m.pieces[start]))}}, nil, nil))
	}
	got := NeverReturning(graphs, func(c Call) int {
		if c.Never {
			return Never
		}
		return int(c.Target>>12) - 1
	})
	for k, x := range code {
		if got[k] != x.never {
			t.Errorf("function at %d000: never returns is %v, want %v (%s)", k+1, got[k], x.never, show(graphs[k]))
		}
	}
}

// FuzzFunction looks for panics and graphs that are not in normal form.
func FuzzFunction(f *testing.F) {
	f.Add([]byte{0xff, 0xcf, 0x75, 0xfc, 0xc3}, uint16(3), false)
	f.Add([]byte{0x83, 0xff, 0x02, 0x77, 0x15, 0x89, 0xff, 0xff, 0x24, 0xfd, 0x00, 0x10, 0x40, 0x00}, uint16(8), false)
	f.Add([]byte{0x1f, 0x0c, 0, 0x71, 0xa8, 1, 0, 0x54, 1, 0, 0, 0xb0}, uint16(4), true)
	f.Fuzz(func(t *testing.T, code []byte, cut uint16, arm bool) {
		if len(code) < 2 {
			return
		}
		m := &memory{disasm.AMD64, map[uint32][]byte{0x1000: code}}
		if arm {
			m.arch = disasm.ARM64
		}
		all := m.ranges()[0]
		ranges := []program.Range{all}
		if at := all.Start + uint32(cut); at > all.Start && at < all.End {
			// The second half first.
			ranges = []program.Range{{Start: at, End: all.End}, {Start: all.Start, End: at}}
		}
		a := Analyzer{Code: m, Never: func(_ CallKind, target uint32) bool { return target%3 == 0 }}
		// Guards in order, whose pads are anywhere.
		var guards []program.Guard
		for at := all.Start + uint32(cut)%3; at < all.End; at += 5 {
			guards = append(guards, guard(at, min(at+4, all.End), at+uint32(cut)%11, all.Start))
		}
		a.Seen = func(rva uint32) []uint32 { return []uint32{rva - 2, rva + 3} }
		g := a.Function(ranges, []uint32{all.Start + uint32(cut)/2}, guards)
		check(t, "fuzz", ranges, g)
		NeverReturning([]*Graph{g}, func(c Call) int { return int(c.Target%3) - 2 })
	})
}
