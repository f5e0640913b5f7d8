package export

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// FuzzExport exports databases that are not what the image is: whatever they
// say, each format is written, twice the same.
func FuzzExport(f *testing.F) {
	path := filepath.Join(corpus.Dir(), "programs", "minivm.elf")
	if _, err := os.Stat(path); err != nil {
		corpus.Unavailable(f, "recordings missing: %v (set SPGO_SHARED)", err)
	}
	img, err := image.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	info, err := debuginfo.Open(img, "", "")
	if err != nil {
		f.Fatal(err)
	}
	seed := &spd.File{Header: spd.Header{Flags: spd.HeaderImported, Binary: "minivm.elf"}}
	edges := []spd.Edge{{To: 2, Count: 9 << 8}, {To: 3, Count: 1 << 60}}
	site := spd.IndirectSite{CallSite: spd.CallSite{Offset: 0x335, Length: 7, Ordinal: 1, Kind: 1}, Hits: 1 << 63, Targets: spd.Targets{{ID: spd.FunctionID("a"), Hits: 7}}}
	for k, name := range []string{"a", "b@plt", "c.cold"} {
		seed.Modules = append(seed.Modules[:0], spd.Module{Name: spd.ModuleMachine, Flags: spd.ModuleImported})
		for rva := range uint32(k + 1) {
			seed.Modules[0].Functions = append(seed.Modules[0].Functions, spd.Function{
				Symbol: spd.Symbol{ID: spd.FunctionID(name) + spd.ID(rva), Name: name}, RVA: 0x1170 + 0x80*rva, Length: 0x460,
				Blocks: []spd.Block{
					{Count: 1<<64 - 1, Instructions: 300, Ranges: []spd.Range{{Start: 0, Length: 0x400}}, Indirect: []spd.IndirectSite{site}, Edges: edges},
					{Count: 5 << 8, Instructions: 9, Ranges: []spd.Range{{Start: 0x400, Length: 0x60}}, Edges: []spd.Edge{{To: 3}}},
					{},
				},
			})
		}
		var b bytes.Buffer
		if err := spd.Write(&b, seed); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), float64(40*k))
	}
	f.Fuzz(func(t *testing.T, data []byte, trim float64) {
		r, err := spd.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		profile, err := r.Read()
		if err != nil {
			return
		}
		for _, format := range Formats {
			var first, second bytes.Buffer
			in := Input{Profile: profile, Image: img, Debug: info, Trim: trim}
			if _, err := Write(&first, format, in); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if _, err := Write(io.Writer(&second), format, in); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Fatalf("%s: not the same twice (%v)", format, err)
			}
		}
	})
}
