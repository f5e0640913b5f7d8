package profile

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Blocks of odd functions have oddSize bytes each, in two instructions.
const (
	oddRVA  = 0x1000
	oddSize = 8
)

// oddFile is an SPD of one function, whose blocks have code.
func oddFile(fn *spd.Function) *spd.File {
	fn.Symbol = spd.Symbol{ID: spd.FunctionID("f"), Name: "f", SymbolFlags: spd.SymbolAlways}
	fn.RVA, fn.Length = oddRVA, uint32(oddSize*len(fn.Blocks))
	for k := range fn.Blocks {
		fn.Blocks[k].Instructions = 2
		fn.Blocks[k].Ranges = []spd.Range{{Start: uint32(oddSize * k), Length: oddSize}}
	}
	return &spd.File{Header: spd.Header{Binary: "a.exe"}, Modules: []spd.Module{{Name: "m", Functions: []spd.Function{*fn}}}}
}

// oddCounts correlates samples of all blocks with f: addresses, and branch
// stacks that walk through these blocks in order.
func oddCounts(t testing.TB, f *spd.File, mode correlate.Mode, hits []uint64, walks ...[]int) *correlate.Result {
	t.Helper()
	var b bytes.Buffer
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := spt.NewWriter(&b, []spt.ProgramID{{Name: "a.exe"}}, nil)
	must(err)
	must(w.BeginBinary(0))
	for k, n := range hits {
		if n > 0 {
			must(w.IP(spt.OpRetireInstr, []uint32{uint32(oddRVA + oddSize*k)}, n-1))
		}
	}
	for _, blocks := range walks {
		var pairs []spt.Pair
		for i := len(blocks) - 1; i > 0; i-- {
			pairs = append(pairs, spt.Pair{From: uint32(oddRVA + oddSize*blocks[i-1] + 4), To: uint32(oddRVA + oddSize*blocks[i])})
		}
		must(w.LBR(pairs, 99))
	}
	must(w.Close())
	r, err := spt.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	must(err)
	s := correlate.NewSamples(f)
	_, err = s.Add(r, func(spt.ProgramID) bool { return true }, 1)
	must(err)
	counts, err := correlate.Infer(t.Context(), s, correlate.Options{Mode: mode})
	must(err)
	return counts
}

// checkBalance checks every block of a function.
func checkBalance(t testing.TB, fn *spd.Function) {
	t.Helper()
	n := len(fn.Blocks)
	in, out := make([]uint64, n), make([]uint64, n)
	for k := range fn.Blocks {
		for _, e := range fn.Blocks[k].Edges {
			out[k] = binfmt.SatAdd(out[k], e.Count)
			in[e.To-1] = binfmt.SatAdd(in[e.To-1], e.Count)
		}
	}
	first, last := fn.Blocks[0].Count, fn.Blocks[n-1].Count
	for k := range fn.Blocks {
		x := fn.Blocks[k].Count
		if k > 0 && in[k] != x || k < n-1 && out[k] != x {
			t.Errorf("block %d: count %d, in %d, out %d", k+1, x, in[k], out[k])
		}
	}
	if in[0] > first || out[n-1] > last || max(first, last) < math.MaxUint64 && first-in[0] != last-out[n-1] {
		t.Errorf("entry %d of which %d come back; exit %d of which %d go on", first, in[0], last, out[n-1])
	}
}

// TestAddOddGraphs imports samples of blocks that no flow can pass, without and
// with counts from before, and retires them.
func TestAddOddGraphs(t *testing.T) {
	for _, tc := range []struct {
		name       string
		targets    [][]uint32
		hits       []uint64
		walk       []int
		zero       []int // blocks that no flow passes
		unreached  bool
		trapped    bool
		round      bool // flow goes round in it though it cannot leave
		endless    bool
		deadBlocks []int // whose edges are dead
	}{
		{name: "sound", targets: [][]uint32{{2}, {3}, nil}, hits: []uint64{20, 20, 20}, walk: []int{0, 1, 2}},
		{name: "nothing leads to the block", targets: [][]uint32{{4}, {4}, {4}, nil}, hits: []uint64{0, 0, 50, 0}, walk: []int{2, 2, 2},
			zero: []int{1, 2}, unreached: true},
		{name: "beside a block with flow", targets: [][]uint32{{2}, {4}, {4}, nil}, hits: []uint64{40, 40, 50, 40}, walk: []int{2, 2, 2, 0, 1, 3},
			zero: []int{2}, unreached: true},
		{name: "self loop without a way in", targets: [][]uint32{{3}, {2, 3}, nil}, hits: []uint64{0, 900, 0}, walk: []int{1, 1, 1, 1},
			zero: []int{1}, unreached: true},
		{name: "several", targets: [][]uint32{{6}, {2, 6}, {3, 4}, {6}, {5}, nil}, hits: []uint64{3, 900, 70, 7, 11, 3}, walk: []int{1, 1, 2, 2, 3},
			zero: []int{1, 2, 3, 4}, unreached: true},
		{name: "dead edge to the block", targets: [][]uint32{{2}, {3}, nil}, hits: []uint64{10, 50, 50}, walk: []int{1, 1, 2}, deadBlocks: []int{0},
			zero: []int{0, 1, 2}, unreached: true, trapped: true, endless: true},
		{name: "no way on", targets: [][]uint32{{2, 3}, nil, nil}, hits: []uint64{0, 80, 0}, walk: []int{0, 1, 0},
			zero: []int{1}, trapped: true},
		{name: "no way to the exit", targets: [][]uint32{{2}, {3}, {4}, nil}, hits: []uint64{50, 50, 50, 0}, walk: []int{0, 1, 2}, deadBlocks: []int{2},
			zero: []int{0, 1, 2, 3}, trapped: true, endless: true},
		{name: "into a loop for ever", targets: [][]uint32{{2}, {2}, nil}, hits: []uint64{50, 50, 0}, walk: []int{0, 1, 1, 1},
			zero: []int{0, 2}, trapped: true, round: true, endless: true},
	} {
		for _, mode := range []correlate.Mode{correlate.IP, correlate.LBR} {
			for _, before := range []string{"none", "flow", "odd", "full"} {
				t.Run(tc.name+"/"+mode.String()+"/"+before, func(t *testing.T) {
					fn := chain(tc.targets...)
					for _, k := range tc.deadBlocks {
						fn.Blocks[k].Edges[0].Flags = spd.EdgeDead
					}
					if path := widestPath(fn); before == "flow" && path != nil {
						raise(fn, path, 1001)
					}
					for k := range fn.Blocks {
						switch before {
						case "odd":
							fn.Blocks[k].Count = uint64(100 + 7*k)
						case "full":
							fn.Blocks[k].Count = math.MaxUint64
						}
					}
					f := oddFile(fn)
					r := oddCounts(t, f, mode, tc.hits, tc.walk)
					if got := r.Unreached > 0; got != tc.unreached {
						t.Errorf("not reached %v of the weight", r.Unreached)
					}
					if mode == correlate.IP && (r.Trapped > 0) != tc.trapped {
						t.Errorf("no way on for %v of the weight", r.Trapped)
					}
					if r.Correction < max(r.Unreached, r.Trapped)*(1-1e-9) {
						t.Errorf("correction %v, not reached %v, no way on %v", r.Correction, r.Unreached, r.Trapped)
					}
					got := &f.Modules[0].Functions[0]
					for range 3 {
						a := Add(f, r.Functions)
						checkBalance(t, got)
						if Unwhole(f, r.Functions) != nil {
							t.Error("called no flow")
						}
						if a.Touched != 1 || (a.Endless == 1) != tc.endless {
							t.Errorf("%+v", a)
						}
						for _, k := range tc.zero {
							if x := got.Blocks[k].Count; x != 0 && (k > 0 && k < len(got.Blocks)-1 || tc.endless) {
								t.Errorf("block %d, which no flow can pass, has %d", k+1, x)
							}
						}
						if tc.round && got.Blocks[1].Count == 0 {
							t.Error("the loop has no count")
						}
						Retire(f, 5)
						if before != "full" {
							checkBalance(t, got)
						}
					}
				})
			}
		}
	}
}

// TestUnwhole spoils one count at a time.
func TestUnwhole(t *testing.T) {
	n := []correlate.Function{{Touched: true}}
	fn := chain([]uint32{2, 3}, []uint32{2, 4}, nil, nil)
	raise(fn, widestPath(fn), 50)
	f := oddFile(fn)
	blocks := f.Modules[0].Functions[0].Blocks
	if bad := Unwhole(f, n); bad != nil {
		t.Fatalf("%+v is a flow", bad)
	}
	var all []*uint64
	for k := range blocks {
		all = append(all, &blocks[k].Count)
		for e := range blocks[k].Edges {
			if int(blocks[k].Edges[e].To-1) != k {
				all = append(all, &blocks[k].Edges[e].Count)
			}
		}
	}
	for i, x := range all {
		*x++
		if Unwhole(f, n) != &f.Modules[0].Functions[0] {
			t.Errorf("count %d: not found", i)
		}
		if Unwhole(f, []correlate.Function{{}}) != nil {
			t.Errorf("count %d: found in a function without samples", i)
		}
		*x--
	}
}

// TestWholeEnds has edges back to the first block and on from the last.
func TestWholeEnds(t *testing.T) {
	const top = math.MaxUint64
	for _, tc := range []struct {
		first, back, last, on uint64
		want                  bool
	}{
		{10, 4, 6, 0, true},
		{10, 0, 14, 4, true},
		{10, 4, 10, 4, true},
		{10, 4, 10, 0, false},
		{4, 5, 4, 5, false},
		{top, 4, top, 4, true},
		{top, 4, top - 4, 0, true},
		{top, 4, top - 5, 0, false},
		{top - 4, 0, top, 4, true},
		{top - 5, 0, top, 4, false},
	} {
		// One block in the middle takes what comes and gives what goes.
		fn := chain([]uint32{2}, []uint32{3, 1}, []uint32{2})
		b := fn.Blocks
		b[0].Count, b[0].Edges[0].Count = tc.first, tc.first
		b[1].Count = binfmt.SatAdd(tc.first, tc.on)
		b[1].Edges[0].Count, b[1].Edges[1].Count = tc.last, tc.back
		b[2].Count, b[2].Edges[0].Count = tc.last, tc.on
		if got := whole(fn); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// FuzzAdd imports samples of a function with any graph and any counts from
// before: every block is balanced afterwards, and edges that cannot be taken
// have no new counts.
func FuzzAdd(f *testing.F) {
	for seed := range uint64(24) {
		var data []byte
		for i := range 40 + 8*seed {
			data = append(data, byte((i+1)*(2*seed+37)*(i+seed+11)>>3))
		}
		f.Add(data, byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, amount byte) {
		number := func(n int) int { // below n
			if len(data) == 0 {
				return 0
			}
			x := int(data[0]) % n
			data = data[1:]
			return x
		}
		old := func() uint64 {
			switch number(8) {
			case 0:
				return uint64(number(256)) << (number(8) * 8)
			case 1:
				return math.MaxUint64
			case 2, 3:
				return uint64(number(256))
			}
			return 0
		}
		n := 1 + number(10)
		fn := &spd.Function{Blocks: make([]spd.Block, n)}
		imported, wild := number(2) == 1, number(4) == 0
		hits := make([]uint64, n)
		for k := range fn.Blocks {
			b := &fn.Blocks[k]
			hits[k] = uint64(number(256))
			degree := number(4)
			if k == n-1 && !wild {
				degree = 0
			}
			for range degree {
				e := spd.Edge{To: uint32(1 + number(n))}
				if e.To == 1 && !wild {
					e.To = uint32(n)
				}
				if number(6) == 5 {
					e.Flags = spd.EdgeDead
				}
				if imported {
					e.Count = old()
				}
				b.Edges = append(b.Edges, e)
			}
			if imported {
				b.Count = old()
			}
		}
		var walks [][]int
		for range 1 + number(4) {
			walk := []int{number(n), number(n)}
			for range number(12) {
				walk = append(walk, number(n))
			}
			walks = append(walks, walk)
		}
		hits[number(n)]++ // so that no mode is without samples
		for _, mode := range []correlate.Mode{correlate.IP, correlate.LBR} {
			file := oddFile(&spd.Function{Blocks: slices.Clone(fn.Blocks)})
			got := &file.Modules[0].Functions[0]
			for k := range got.Blocks {
				got.Blocks[k].Edges = slices.Clone(got.Blocks[k].Edges)
			}
			r := oddCounts(t, file, mode, hits, walks...)
			for range 2 {
				Retire(file, int(amount%(MaxRetire+1)))
				if Add(file, r.Functions).Touched > 0 {
					checkBalance(t, got)
					if Unwhole(file, r.Functions) != nil {
						t.Error("called no flow")
					}
				}
			}
			for k := range got.Blocks {
				for e, edge := range got.Blocks[k].Edges {
					if edge.Flags&spd.EdgeDead != 0 && r.Functions[0].Touched && r.Functions[0].Edges[k][e] != 0 {
						t.Errorf("dead edge of block %d has %d", k+1, r.Functions[0].Edges[k][e])
					}
				}
			}
		}
	})
}
