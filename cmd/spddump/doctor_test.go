package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/internal/spdgen"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// TestDoctor runs scripts on two builds of a program with one file or another
// in the wrong place.
func TestDoctor(t *testing.T) {
	files := map[string][]byte{}
	one := makeBuild(t, files, "one", spdgen.Fresh(1, 30, 12))
	makeBuild(t, files, "two", spdgen.Fresh(2, 30, 12))
	makeTroubles(t, files, one)
	demo, err := filepath.Abs("../../testdata/demo")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/doctor",
		Setup: func(env *testscript.Env) error {
			env.Setenv("DEMO", demo)
			env.Setenv("LONG", strings.Repeat("d", 130)+"/"+strings.Repeat("e", 130))
			for name, data := range files {
				path := filepath.Join(env.WorkDir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(path, data, 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// build is a program that was linked and ran.
type build struct {
	fresh []byte
	file  *spd.File
	world *spdgen.World
}

// makeBuild adds the files of a build: the SPD as the linker left it and with a
// profile, image and PDB, and recordings of one workload.
func makeBuild(t *testing.T, files map[string][]byte, dir string, f *spd.File) build {
	b := build{fresh: encode(t, f), file: f, world: spdgen.NewProgram(f).Run(1, 300)}
	h := f.Header
	add := func(name string, data []byte) { files[dir+"/"+name] = data }
	add("app.spd", b.fresh)
	lbr := b.spt(t, spdgen.Sampling{Kind: spdgen.LBR, PerFunction: 200, Depth: 16})
	add("lbr.spt", lbr)
	add("lbr.spt.gz", packed(t, lbr))
	add("thin.spt", b.spt(t, spdgen.Sampling{Kind: spdgen.IP, PerFunction: 1}))
	add("ip.spt", b.spt(t, spdgen.Sampling{Kind: spdgen.IP, PerFunction: 200}))
	add("profiled.spd", imported(t, b.fresh, lbr))
	add("app.exe", peImage{machine: 0x8664, guid: h.GUID, age: h.Age, codeSize: 0x20000}.bytes())
	pdb := msftest.PDB{GUID: h.GUID, Age: h.Age, DBIAge: h.Age, Machine: 0x8664}
	add("app.pdb", pdb.Bytes())
	pdb.Named = []msftest.Stream{{Name: "spgo", Data: b.fresh}}
	add("embed.pdb", pdb.Bytes())
	pdb.Age = 5
	add("indexed.pdb", pdb.Bytes())
	var trace bytes.Buffer
	if err := etl.WriteTrace(&trace, b.world.Trace(spdgen.Sampling{Kind: spdgen.LBR, PerFunction: 10, Depth: 16})); err != nil {
		t.Fatal(err)
	}
	add("run.etl", trace.Bytes())
	return b
}

// makeTroubles adds files that are wrong in one way each.
func makeTroubles(t *testing.T, files map[string][]byte, b build) {
	h := b.file.Header
	files["age2.exe"] = peImage{machine: 0x8664, guid: h.GUID, age: 2, codeSize: 0x20000}.bytes()
	files["arm64/app.exe"] = peImage{machine: 0xaa64, guid: binfmt.GUID{7}, age: 1, codeSize: 0x20000}.bytes()
	files["packed/app.exe"] = peImage{machine: 0x8664, guid: h.GUID, age: h.Age, codeSize: 0x200}.bytes()
	files["nodebug/app.exe"] = peImage{machine: 0x8664, codeSize: 0x20000}.bytes()
	files["age2.spt"] = replaceProgram(t, files["one/lbr.spt"], spt.ProgramID{Name: h.Binary, GUID: h.GUID, Age: 2}, 0)
	files["moved-age2.spt"] = replaceProgram(t, files["one/lbr.spt"], spt.ProgramID{Name: h.Binary, GUID: h.GUID, Age: 2}, 0x100000)
	files["moved.spt"] = replaceProgram(t, files["one/lbr.spt"], spt.ProgramID{Name: h.Binary, GUID: h.GUID, Age: h.Age}, 0x100000)
	files["other.spt"] = replaceProgram(t, files["one/lbr.spt"], spt.ProgramID{Name: "tool.exe", GUID: binfmt.GUID{9}, Age: 1}, 0)
	files["offsets.spt"] = replaceProgram(t, files["one/lbr.spt"], spt.ProgramID{Name: "app.exe (file offsets)", GUID: h.GUID, Age: h.Age}, 0)
	files["someoffsets.spt"] = text(t, `spt 1
program 0 `+h.GUID.String()+` age 1 "app.exe (file offsets)"
program 1 `+h.GUID.String()+` age 1 "app.exe"
binary 0
  RETIRE_INSTR repeat 900 0x1000
binary 1
  RETIRE_INSTR repeat 9 0x1000
`)
	files["copy.exe"] = files["one/app.exe"]
	files["kept-v2.exe"] = files["two/app.exe"]
	machine := read(t, b.fresh)
	machine.Modules[0].Name = spd.ModuleMachine
	files["machine.spd"] = encode(t, machine)
	files["misses.spt"] = text(t, `spt 1
program 0 `+h.GUID.String()+` age 1 "app.exe"
binary 0
  L1_DCACHE_MISS repeat 9 0x1000
`)
	files["empty.spt"] = text(t, "spt 1\n")
	files["unsampled.spt"] = text(t, "spt 1\nprogram 0 "+h.GUID.String()+" age 1 \"app.exe\"\n")
	files["cut.spt"] = files["one/lbr.spt"][:len(files["one/lbr.spt"])-5]
	files["cut.spd"] = files["one/profiled.spd"][:len(b.fresh)-100]
	files["unmerged.etl"] = unmerged(t, b)
	files["run.data"] = recording(t, h.GUID)

	// The next build was linked with /spdin: with counts, with an SPD without
	// counts, and with one that knew other functions.
	next := func(change func(*spd.File)) []byte {
		f := read(t, files["one/profiled.spd"])
		f.Header.GUID[0]++
		for m := range f.Modules {
			f.Modules[m].Generation = 1
		}
		change(f)
		f.Header.Statistics = f.ComputeStatistics()
		return encode(t, f)
	}
	noted := func(f *spd.File) {
		fns := f.Modules[0].Functions
		for i := range fns {
			for _, c := range fns[i].Callees {
				if fns[i].Length > 0 {
					fns[i].MachineCallees = append(fns[i].MachineCallees, spd.MachineCallee{ID: c.ID, Count: 512, Kind: spd.CalleeMachine})
				}
			}
		}
	}
	files["next/empty-input.spd"] = next(func(*spd.File) {})
	files["next/sound.spd"] = next(noted)
	files["next/changed.spd"] = next(func(f *spd.File) {
		noted(f)
		for i := range f.Modules[0].Functions[:10] {
			f.Modules[0].Functions[i].Flags |= spd.FunctionNoInput
		}
	})
	files["next/fresh.spd"] = next(func(f *spd.File) {
		spdgen.Reset(f)
		noted(f)
	})
	files["next/flat.spd"] = next(func(f *spd.File) {
		noted(f)
		setCounts(f, func(int) uint64 { return 512 })
	})
	files["next/excellent.spd"] = next(func(f *spd.File) {
		noted(f)
		setCounts(f, func(fn int) uint64 { return 1 << max(0, 40-4*fn) })
	})
	files["next/rewritten.spd"] = next(func(f *spd.File) {
		spdgen.Reset(f)
		for i := range f.Modules[0].Functions {
			f.Modules[0].Functions[i].Checksum++
		}
	})
	sparse := read(t, files["one/profiled.spd"])
	for i := range sparse.Modules[0].Functions {
		if fn := &sparse.Modules[0].Functions[i]; i%5 > 0 {
			for k := range fn.Blocks {
				fn.Blocks[k].Count = 0
			}
		}
	}
	sparse.Header.Statistics = sparse.ComputeStatistics()
	files["sparse.spd"] = encode(t, sparse)
	zero := read(t, b.fresh)
	zero.Header.Flags = spd.HeaderImported
	files["zero.spd"] = encode(t, zero)
	none := read(t, b.fresh)
	none.Header.GUID = binfmt.GUID{}
	files["noguid.spd"] = encode(t, none)
	files["nofunctions.spd"] = encode(t, &spd.File{Header: h, Modules: []spd.Module{{Name: spd.ModuleCIL, Flags: spd.ModuleFresh}}})
	changed := read(t, b.fresh)
	changed.Modules[0].Functions[3].Checksum++
	files["changed.pdb"] = msftest.PDB{GUID: h.GUID, Age: 1, DBIAge: 1, Machine: 0x8664, Named: []msftest.Stream{{Name: "spgo", Data: encode(t, changed)}}}.Bytes()
	files["counts.pdb"] = msftest.PDB{GUID: h.GUID, Age: 1, DBIAge: 1, Machine: 0x8664, Named: []msftest.Stream{{Name: "spgo", Data: files["one/profiled.spd"]}}}.Bytes()
}

// setCounts gives all blocks of a function the same count.
func setCounts(f *spd.File, count func(fn int) uint64) {
	for i := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[i]
		for k := range fn.Blocks {
			fn.Blocks[k].Count = count(i)
		}
	}
}

func encode(t *testing.T, f *spd.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, data []byte) *spd.File {
	t.Helper()
	r, err := spd.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (b *build) spt(t *testing.T, s spdgen.Sampling) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.world.WriteSPT(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sptReader(t *testing.T, data []byte) *spt.Reader {
	t.Helper()
	r, err := spt.NewReader(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// imported is an SPD with the samples of an SPT.
func imported(t *testing.T, fresh, samples []byte) []byte {
	t.Helper()
	f := read(t, fresh)
	sums := correlate.NewSamples(f)
	if _, err := sums.Add(sptReader(t, samples), func(spt.ProgramID) bool { return true }, 1); err != nil {
		t.Fatal(err)
	}
	counts, err := correlate.Infer(context.Background(), sums, correlate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	profile.Add(f, counts.Functions)
	return encode(t, f)
}

// replaceProgram gives all samples of an SPT another program id, and moves
// their addresses.
func replaceProgram(t *testing.T, data []byte, id spt.ProgramID, by uint32) []byte {
	t.Helper()
	r := sptReader(t, data)
	var out bytes.Buffer
	w, err := spt.NewWriter(&out, []spt.ProgramID{id}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		rec := r.Record()
		pairs := slices.Clone(rec.Pairs)
		for i := range pairs {
			pairs[i].To += by
			pairs[i].From += by
		}
		if err := w.BeginBinary(0); err != nil {
			t.Fatal(err)
		}
		if err := w.LBR(pairs, rec.Repeat); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func text(t *testing.T, s string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := spt.ParseText(&out, strings.NewReader(s)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unmerged is a recording that lacks the identities of images.
func unmerged(t *testing.T, b build) []byte {
	t.Helper()
	trace := b.world.Trace(spdgen.Sampling{Kind: spdgen.LBR, PerFunction: 10, Depth: 16})
	trace.Merged = false
	var out bytes.Buffer
	if err := etl.WriteTrace(&out, trace); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// recording is a recording of perf on an Arm machine.
func recording(t *testing.T, guid binfmt.GUID) []byte {
	t.Helper()
	const instructions = 1
	attr := &perfdata.Attr{Config: instructions, Name: "instructions", SampleType: perfdata.SampleIP | perfdata.SampleTID}
	name := filepath.Join(t.TempDir(), "run.data")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := perfdata.NewWriter(f, perfdata.WriterOptions{Attrs: []*perfdata.Attr{attr}, Features: &perfdata.Features{Arch: "aarch64"}})
	if err != nil {
		t.Fatal(err)
	}
	ids := perfdata.SampleIDs{}
	for _, err := range []error{
		w.WriteEvent(&perfdata.Mmap{V2: true, Mode: perfdata.ModeUser, PID: 1, TID: 1, Addr: 0x400000, Len: 0x30000, Prot: 5, BuildID: guid[:], Name: "/bin/app.exe"}, ids),
		w.WriteSample(&perfdata.Sample{Attr: attr, Fields: attr.SampleType, IP: 0x401000, PID: 1, TID: 1}),
		w.Close(),
		f.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// peImage describes a small PE image with one section of code at RVA 0x1000.
type peImage struct {
	machine  uint16
	guid     binfmt.GUID // zero: no debug directory
	age      uint32
	codeSize uint32
}

func (p peImage) bytes() []byte {
	const headers, rdataRVA, base = 0x400, 0x80000, 0x1_4000_0000
	le := binary.LittleEndian
	b := make([]byte, headers)
	copy(b, "MZ")
	b[0x3c] = 0x40
	copy(b[0x40:], "PE\x00\x00")
	le.PutUint16(b[0x44:], p.machine)
	le.PutUint16(b[0x46:], 2)    // sections
	le.PutUint16(b[0x54:], 0xf0) // size of the optional header
	le.PutUint16(b[0x56:], 0x22) // an executable of 64 bits
	optional := b[0x58:]
	le.PutUint16(optional, 0x20b)
	le.PutUint64(optional[24:], base)
	le.PutUint32(optional[32:], 0x1000)
	le.PutUint32(optional[36:], 0x200)
	le.PutUint32(optional[56:], 0x90000) // size of the image
	le.PutUint32(optional[60:], headers)
	le.PutUint32(optional[108:], 16) // directories
	if !p.guid.IsZero() {
		le.PutUint32(optional[112+6*8:], rdataRVA)
		le.PutUint32(optional[112+6*8+4:], 28)
	}
	section := func(at int, name string, size, rva, offset, flags uint32) {
		copy(b[at:], name)
		for k, v := range []uint32{size, rva, size, offset} {
			le.PutUint32(b[at+8+4*k:], v)
		}
		le.PutUint32(b[at+36:], flags)
	}
	section(0x148, ".text", p.codeSize, 0x1000, headers+0x200, 0x60000020)
	section(0x170, ".rdata", 0x200, rdataRVA, headers, 0x40000040)
	rsds := append([]byte("RSDS"), p.guid[:]...)
	rsds = append(le.AppendUint32(rsds, p.age), "C:\\build\\app.pdb\x00"...)
	rdata := make([]byte, 12, 0x200)
	for _, v := range []uint32{2, uint32(len(rsds)), rdataRVA + 28, headers + 28} {
		rdata = le.AppendUint32(rdata, v)
	}
	rdata = append(rdata, rsds...)
	b = append(append(b, rdata...), make([]byte, 0x200-len(rdata))...)
	return append(b, make([]byte, p.codeSize)...)
}
