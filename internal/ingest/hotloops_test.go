package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/golden"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// counting is a sink that keeps nothing.
type counting struct{ hits, branches, frames int }

func (c *counting) IP(int32, byte, uint32, uint64)                    { c.hits++ }
func (c *counting) Branches(_ int32, stack []sample.Branch, _ uint64) { c.branches += len(stack) }
func (c *counting) Calls(_ int32, frames []uint32, _ uint64)          { c.frames += len(frames) }
func (c *counting) all() int                                          { return c.hits + c.branches + c.frames }

const hotBase, hotSize = 0x400000, 1 << 20

// hotAddress is the kth of some addresses of one program.
func hotAddress(k int) uint64 { return hotBase + uint64(k)*2654435761%hotSize }

// hotPerf writes a recording with n samples of given fields.
func hotPerf(t testing.TB, n int, fields perfdata.SampleType, packing perfdata.Packing) string {
	name := filepath.Join(t.TempDir(), "perf.data")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := &perfdata.Attr{Config: 0, SamplePeriod: 1009, Flags: perfdata.FlagSampleIDAll | perfdata.FlagMmap | perfdata.FlagMmap2 | perfdata.FlagComm,
		SampleType: perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime | fields, IDs: []uint64{7}, Name: "cycles:u"}
	w, err := perfdata.NewWriter(f, perfdata.WriterOptions{Attrs: []*perfdata.Attr{a}, Packing: packing})
	if err != nil {
		t.Fatal(err)
	}
	err = w.WriteEvent(&perfdata.Mmap{V2: true, Mode: perfdata.ModeUser, PID: 100, TID: 100, Addr: hotBase, Len: hotSize, Prot: 5, Name: "/nowhere/app"},
		perfdata.SampleIDs{PID: 100})
	s := perfdata.Sample{PID: 100, TID: 100, Misc: uint16(perfdata.ModeUser), Branches: make([]perfdata.Branch, 16), CallChain: make([]uint64, 8)}
	for i := 0; i < n && err == nil; i++ {
		s.IP, s.Time = hotAddress(i%997), uint64(1000+i)
		for k := range s.Branches {
			s.Branches[k] = perfdata.Branch{From: hotAddress((i + k) % 991), To: hotAddress((i + k) % 983), Flags: 2}
		}
		for k := range s.CallChain {
			s.CallChain[k] = hotAddress((i + k) % 977)
		}
		s.CallChain[0] = uint64(0xfffffffffffffe00) // what follows are user addresses
		err = w.WriteSample(&s)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// hotETL writes a Windows trace with n samples.
func hotETL(t testing.TB, n int, stacks, compress bool) string {
	name := filepath.Join(t.TempDir(), "run.etl")
	image := etl.TraceImage{Path: `\Device\HarddiskVolume3\app\app.exe`, Base: hotBase, Size: hotSize, PDB: "app.pdb", PDBAge: 1, PDBGUID: binfmt.GUID{1}}
	tr := &etl.Trace{Processors: 2, BufferSize: 64 << 10, Compress: compress, Merged: true, Arch: etl.ArchX64, Duration: 100 * int64(n+2),
		Sources:   []etl.Interval{{Source: 30, New: 16384, Old: 65536, Name: "BranchInstructionRetired"}},
		Processes: []etl.TraceProcess{{PID: 4000, Name: "app.exe", Images: []etl.TraceImage{image}, Threads: []uint32{4004}}}}
	branches, frames := make([]etl.Branch, 32), make([]uint64, 8)
	tr.Samples = func(yield func(etl.TraceSample) bool) {
		for i := range n {
			s := etl.TraceSample{Time: 100 * int64(i+1), Processor: i % 2, PID: 4000, TID: 4004, IP: hotAddress(i % 997), Source: 30}
			for k := range branches {
				branches[k] = etl.Branch{From: hotAddress((i + k) % 991), To: hotAddress((i + k) % 983)}
			}
			for k := range frames {
				frames[k] = hotAddress((i + k) % 997)
			}
			if s.Branches = branches; stacks {
				s.Source, s.Branches, s.Stack = etl.SourceTimer, nil, frames
			}
			if !yield(s) {
				return
			}
		}
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	if err := errors.Join(etl.WriteTrace(w, tr), w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// hotSPE writes n Arm SPE records, 500 in each AUXTRACE record.
func hotSPE(t testing.TB, n int) string {
	var trace strings.Builder
	for i := 0; i < n; i++ {
		switch {
		case i == 0:
			trace.WriteString("0 -1 0 ")
		case i%500 == 0:
			trace.WriteString("\n0 -1 - ")
		default:
			trace.WriteString("; ")
		}
		fmt.Fprintf(&trace, "pc=%x tgt=%x op=2.1 ev=2 ctx=100 ts=%d align=64", hotAddress(i%997), hotAddress(i%991), 1000+i)
	}
	attr := perfdata.Attr{Config: 1 | speJitter, Config1: 2}
	return speScript{side: fmt.Sprintf("0 map 100 %x+%x 0 /nowhere/app", hotBase, hotSize), trace: trace.String(), attr: attr}.write(t)
}

var hotCases = []struct {
	name  string
	write func(t testing.TB, n int) string
}{
	{"perf.data, branch stacks", func(t testing.TB, n int) string { return hotPerf(t, n, perfdata.SampleBranchStack, perfdata.PackNone) }},
	{"perf.data, branch stacks, zstd", func(t testing.TB, n int) string { return hotPerf(t, n, perfdata.SampleBranchStack, perfdata.PackZstd) }},
	{"perf.data, call chains", func(t testing.TB, n int) string { return hotPerf(t, n, perfdata.SampleCallChain, perfdata.PackNone) }},
	{"perf.data, addresses", func(t testing.TB, n int) string { return hotPerf(t, n, 0, perfdata.PackNone) }},
	{"ETL, branch stacks", func(t testing.TB, n int) string { return hotETL(t, n, false, false) }},
	{"ETL, branch stacks, XPRESS", func(t testing.TB, n int) string { return hotETL(t, n, false, true) }},
	{"ETL, call stacks", func(t testing.TB, n int) string { return hotETL(t, n, true, false) }},
	{"Arm SPE", hotSPE},
}

// readCounting reads a file with one worker.
func readCounting(t testing.TB, name string) (c counting) {
	ReadAll(context.Background(), []string{name}, nil, &Options{Workers: 1}, newRegistry(), func() sample.Sink { return &c }, func(_ []*Facts, err error) {
		if err != nil {
			t.Fatal(err)
		}
	})
	return c
}

// TestHotLoops counts what goes to the sinks, and the allocations of a whole
// reading for each sample that a longer file has more.
func TestHotLoops(t *testing.T) {
	var table bytes.Buffer
	fmt.Fprintln(&table, "case\tbytes\tsamples\thits\tbranches\tframes\tallocations per sample")
	for _, c := range hotCases {
		const n = 2000
		small, large := c.write(t, n), c.write(t, 3*n)
		of := func(name string) float64 { return testing.AllocsPerRun(3, func() { readCounting(t, name) }) }
		got := readCounting(t, large)
		if got.all() < 3*n {
			t.Errorf("%s: %d hits of %d samples", c.name, got.all(), 3*n)
		}
		info, err := os.Stat(large)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "%s\t%d\t%d\t%d\t%d\t%d\t%.1f\n", c.name, info.Size(), 3*n, got.hits, got.branches, got.frames,
			max(0, of(large)-of(small))/(2*n))
	}
	golden.Check(t, "testdata/hotloops.golden", table.Bytes())
}

// BenchmarkRead reads a file of each kind with one worker into sinks that keep
// nothing.
func BenchmarkRead(b *testing.B) {
	for _, c := range hotCases {
		b.Run(c.name, func(b *testing.B) {
			name := c.write(b, 50_000)
			info, err := os.Stat(name)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				readCounting(b, name)
			}
		})
	}
}
