package spd

import (
	"bytes"
	"io"
	"testing"
)

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
