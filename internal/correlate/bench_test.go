package correlate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// bigFile returns an SPD of about so many blocks: functions of 5 to 60 blocks
// of 4 to 40 bytes, with branches forward and loops, each function with one
// copy of another one inlined.
func bigFile(blocks int) *spd.File {
	r := rand.New(rand.NewPCG(1, 2))
	f := &spd.File{Modules: make([]spd.Module, 1)}
	rva := uint32(0x1000)
	for id := spd.ID(1); blocks > 0; id++ {
		n := 5 + r.IntN(56)
		blocks -= n
		fn := spd.Function{Symbol: spd.Symbol{ID: id}, RVA: rva, Blocks: make([]spd.Block, n)}
		for b := range fn.Blocks {
			bl := &fn.Blocks[b]
			size := 4 + uint32(r.IntN(37))
			bl.Ranges = []spd.Range{{Start: fn.Length, Length: size}}
			bl.Instructions = max(1, size/4)
			if b == n/2 && id > 1 {
				bl.Inlinees = []spd.Inlinee{{ID: id - 1, Blocks: []spd.InlinedBlock{{
					ID: 2, Instructions: 1, Ranges: []spd.Range{{Start: fn.Length, Length: 3}},
				}}}}
			}
			fn.Length += size
			if b == n-1 {
				break
			}
			bl.Edges = []spd.Edge{{To: uint32(b + 2)}}
			switch far := uint32(b + 2 + r.IntN(n-b-1)); {
			case r.IntN(4) == 0 && b > 0:
				bl.Edges = append(bl.Edges, spd.Edge{To: uint32(2 + r.IntN(b))})
			case far != uint32(b+2):
				bl.Edges = []spd.Edge{{To: far}, {To: uint32(b + 2)}}
			}
		}
		rva += (fn.Length + 15) &^ 15
		f.Modules[0].Functions = append(f.Modules[0].Functions, fn)
	}
	return f
}

// bigTrace returns an SPT of branch stacks with about so many distinct
// branches. Two in three follow an edge; the rest go anywhere in the code.
func bigTrace(tb testing.TB, f *spd.File, branches int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var out bytes.Buffer
	w, err := spt.NewWriter(&out, []spt.ProgramID{{GUID: binfmt.GUID{1}, Name: "a.exe"}}, nil)
	if err == nil {
		err = w.BeginBinary(0)
	}
	if err != nil {
		tb.Fatal(err)
	}
	functions := f.Modules[0].Functions
	last := &functions[len(functions)-1]
	size := last.RVA + last.Length - 0x1000
	var pairs []spt.Pair
	for n := 0; n < branches; n++ {
		p := spt.Pair{From: 0x1000 + uint32(r.IntN(int(size))), To: 0x1000 + uint32(r.IntN(int(size)))}
		if n%3 > 0 {
			fn := &functions[r.IntN(len(functions))]
			b := &fn.Blocks[r.IntN(len(fn.Blocks)-1)]
			to := fn.Blocks[b.Edges[0].To-1].Ranges[0]
			p.From = fn.RVA + b.Ranges[0].Start + b.Ranges[0].Length - 1 - uint32(r.IntN(4))
			p.To = fn.RVA + to.Start
		}
		if pairs = append(pairs, p); len(pairs) == 32 {
			if err := w.LBR(pairs, uint64(r.IntN(100))); err != nil {
				tb.Fatal(err)
			}
			pairs = pairs[:0]
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// BenchmarkImport imports 10 million branches into an SPD of 250,000 blocks,
// and as many sampled addresses.
func BenchmarkImport(b *testing.B) {
	const blocks, branches = 250_000, 10_000_000
	f := bigFile(blocks)
	trace := bigTrace(b, f, branches)
	b.Run(fmt.Sprintf("LBR/%d", branches), func(b *testing.B) { benchmarkImport(b, f, trace) })
	r := rand.New(rand.NewPCG(5, 6))
	rvas := make([]uint32, branches)
	functions := f.Modules[0].Functions
	for k := range rvas {
		fn := &functions[r.IntN(1+r.IntN(len(functions)))]
		rvas[k] = fn.RVA + uint32(r.IntN(int(fn.Length)))
	}
	trace = writeSPT(b, func(w *spt.Writer) error { return w.IP(spt.OpRetireInstr, rvas, 0) })
	b.Run(fmt.Sprintf("IP/%d", branches), func(b *testing.B) { benchmarkImport(b, f, trace) })
}

func benchmarkImport(b *testing.B, f *spd.File, trace []byte) {
	b.SetBytes(int64(len(trace)))
	b.ReportAllocs()
	for b.Loop() {
		s := NewSamples(f)
		add(b, s, trace, 1)
		r := infer(b, s, Options{Jobs: runtime.NumCPU()})
		if r.Used == 0 {
			b.Fatal("nothing used")
		}
	}
	if peak := peakMemory(); peak > 0 {
		b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	}
}

// peakMemory is the most memory that this process has had, where the system
// says so.
func peakMemory() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, _ := strconv.ParseUint(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}
