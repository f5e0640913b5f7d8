package spd

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/spgo-tools/spgo/internal/golden"
)

// TestReadAllocations: the records of a file share chunks of memory, so that a
// function has one allocation of its own, its name.
func TestReadAllocations(t *testing.T) {
	var table bytes.Buffer
	fmt.Fprintln(&table, "functions\tbytes\tallocations per function")
	allocs := func(f *File) float64 {
		data := encode(t, f)
		return testing.AllocsPerRun(5, func() { decode(t, data) })
	}
	base := profiledFile()
	few, many := manyFunctions(base, 1000), manyFunctions(base, 3000)
	fmt.Fprintf(&table, "%d\t%d\t%.1f\n", 3000, len(encode(t, many)), (allocs(many)-allocs(few))/2000)
	golden.Check(t, "testdata/read.golden", table.Bytes())
}

// manyFunctions returns a file with copies of the functions of another.
func manyFunctions(f *File, count int) *File {
	templates := f.Modules[0].Functions
	functions := make([]Function, count)
	for k := range functions {
		functions[k] = templates[k%len(templates)]
		fn := &functions[k]
		fn.Name = fmt.Sprintf("function%06d", k)
		fn.ID, fn.Ordinal, fn.FoldedInto = FunctionID(fn.Name), uint32(2+2*k), 0
		fn.SymbolFlags &^= SymbolFolded
	}
	g := *f
	m := f.Modules[0]
	m.Functions, m.HashBuckets = functions, bucketCount(count)
	g.Modules = []Module{m}
	g.Header.Statistics = g.ComputeStatistics()
	return &g
}

// benchmarkFiles runs a benchmark over the smallest and the largest recorded
// file.
func benchmarkFiles(b *testing.B, run func(b *testing.B, data []byte)) {
	files := recorded(b)
	for _, name := range []string{"map-9ad16a75.spd", "EbpfCore-3349d0ac.spd"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(files[name])))
			b.ReportAllocs()
			run(b, files[name])
		})
	}
}

func BenchmarkRead(b *testing.B) {
	benchmarkFiles(b, func(b *testing.B, data []byte) {
		for b.Loop() {
			decode(b, data)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	benchmarkFiles(b, func(b *testing.B, data []byte) {
		for b.Loop() {
			if _, err := NewReader(bytes.NewReader(data), int64(len(data))); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// benchmarkWriter measures what takes a file to bytes; the speed is in bytes
// of the SPD.
func benchmarkWriter(b *testing.B, write func(io.Writer, *File) error) {
	benchmarkFiles(b, func(b *testing.B, data []byte) {
		f := decode(b, data)
		for b.Loop() {
			if err := write(io.Discard, f); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B)     { benchmarkWriter(b, Write) }
func BenchmarkWriteText(b *testing.B) { benchmarkWriter(b, WriteText) }
func BenchmarkWriteJSON(b *testing.B) {
	benchmarkWriter(b, func(w io.Writer, f *File) error { return WriteJSON(w, f, JSONOptions{}) })
}

func BenchmarkViolations(b *testing.B) {
	benchmarkFiles(b, func(b *testing.B, data []byte) {
		f := decode(b, data)
		for b.Loop() {
			for range f.Violations() {
			}
		}
	})
}
