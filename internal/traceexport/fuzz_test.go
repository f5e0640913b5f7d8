package traceexport

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// FuzzExports writes SPTs of any records in every format. A format gives the
// same bytes twice, as many lines as its account says, and pprof a profile that
// its own package takes.
func FuzzExports(f *testing.F) {
	trace := func(records func(w *spt.Writer) error) []byte {
		var b bytes.Buffer
		w, err := spt.NewWriter(&b, []spt.ProgramID{{Name: "app.exe", Age: 1}}, nil)
		if err != nil {
			f.Fatal(err)
		}
		if err := w.BeginBinary(0); err != nil {
			f.Fatal(err)
		}
		if err := records(w); err != nil {
			f.Fatal(err)
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	// The tables before the data stream are large and always the same.
	tables := trace(func(*spt.Writer) error { return nil })
	seed := func(records func(w *spt.Writer) error) { f.Add(trace(records)[len(tables):], uint64(0x140000000)) }
	seed(func(w *spt.Writer) error {
		return w.LBR([]spt.Pair{{To: 0x1000, From: 0x1040}, {To: 0x1010, From: 0x1020}, {To: 0, From: 0x1018}, {To: 0x1000, From: 0}}, 7)
	})
	seed(func(w *spt.Writer) error { return w.CallStack([]uint32{0x1004, 0x2000, 0x2000, 0xFFFFFFFF}, 1<<63) })
	seed(func(w *spt.Writer) error { return w.IP(spt.OpRetireInstr, []uint32{0x1004, 0x1004, 0}, 3) })
	frames := func(rva uint32) []debuginfo.Frame {
		return []debuginfo.Frame{{Function: "in;\nlined", File: "a.c", Line: rva % 9}, {Function: "f", File: "a.c", StartLine: 3}}[rva%3%2:]
	}
	f.Fuzz(func(t *testing.T, stream []byte, base uint64) {
		data := slices.Concat(tables, stream)
		source := &Source{Base: base, Open: func() (*spt.Reader, error) {
			return spt.NewReader(bytes.NewReader(data), int64(len(data)), &spt.Options{Tolerate: true})
		}}
		for _, format := range []struct {
			name  string
			lines int // of a record; 0 for a form that is not lines
			write func(w io.Writer) (Stats, error)
		}{
			{"perfscript", 0, func(w io.Writer) (Stats, error) { return PerfScript(w, source) }},
			{"llvm-unsymbolized", 0, func(w io.Writer) (Stats, error) { return Unsymbolized(w, source, 0x1000) }},
			{"bolt-preagg", 1, func(w io.Writer) (Stats, error) { return PreAggregated(w, source) }},
			{"folded", 1, func(w io.Writer) (Stats, error) { return Folded(w, source, "app.exe") }},
			{"pprof", 0, func(w io.Writer) (Stats, error) { return PProf(w, source, profile.Mapping{File: "app.exe"}) }},
		} {
			for _, names := range []func(uint32) []debuginfo.Frame{nil, frames} {
				source.Name = names
				var first, second bytes.Buffer
				stats, err := format.write(&first)
				if err != nil {
					t.Fatalf("%s of a tolerant reader: %v", format.name, err)
				}
				if again, err := format.write(&second); err != nil || again != stats || !bytes.Equal(first.Bytes(), second.Bytes()) {
					t.Fatalf("%s differs the second time: %+v and %+v, %v", format.name, stats, again, err)
				}
				if lines := uint64(bytes.Count(first.Bytes(), []byte("\n"))); format.lines > 0 && lines != stats.Records {
					t.Fatalf("%s: %d lines, %d records", format.name, lines, stats.Records)
				}
				if format.name != "pprof" {
					continue
				}
				p, err := profile.ParseData(first.Bytes())
				if err != nil {
					t.Fatalf("pprof does not take its profile: %v", err)
				}
				if uint64(len(p.Sample)) != stats.Records {
					t.Fatalf("pprof has %d samples, %d records", len(p.Sample), stats.Records)
				}
			}
		}
	})
}
