package etl

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// testTrace describes a small machine: two processes, one of which ends, and
// a kernel. kind is "lbr", "pmc" or "timer".
func testTrace(kind string, ptr, samples int) *Trace {
	kernel, user := uint64(0xfffff80000400000), uint64(0x7ff600000000)
	if ptr == 4 {
		kernel, user = 0x80400000, 0x400000
	}
	guid, err := binfmt.ParseGUID("11223344-5566-7788-99aa-bbccddeeff00")
	if err != nil {
		panic(err)
	}
	t := &Trace{
		PointerSize: ptr, Processors: 2, BufferSize: 4096, Merged: true, Arch: ArchX64,
		Duration: int64(samples)*100 + 1000,
		Sources:  []Interval{{Source: SourceTimer, New: 1221, Old: 10_000, Name: "Timer"}},
		Volumes:  []Volume{{`\Device\HarddiskVolume3\`, `C:\`}},
		Kernel:   []TraceImage{{Path: `\SystemRoot\system32\ntoskrnl.exe`, Base: kernel, Size: 0x800000, TimeDateStamp: 0x5f000000}},
		Processes: []TraceProcess{
			{PID: 4, Name: "System", Threads: []uint32{8}},
			{PID: 1000, ParentPID: 4, Name: "app.exe", CommandLine: "app.exe -x", Threads: []uint32{1004, 1008}, Start: 50, End: int64(samples)*100 + 500,
				Images: []TraceImage{{Path: `\Device\HarddiskVolume3\app\app.exe`, Base: user, Size: 0x20000, TimeDateStamp: 0x60000001, PDB: "app.pdb", PDBGUID: guid, PDBAge: 3}}},
		},
	}
	if kind != "timer" {
		t.Sources = []Interval{{Source: 30, New: 16384, Old: 65536, Name: "BranchInstructionRetired"}}
	}
	t.Samples = func(yield func(TraceSample) bool) {
		for i := range samples {
			s := TraceSample{Time: 200 + 100*int64(i), Processor: i % 2, PID: 1000, TID: uint32(1004 + 4*(i%2)), IP: user + 0x1000 + 16*uint64(i%64)}
			if kind != "timer" {
				s.Source = 30
			}
			if kind == "lbr" {
				for k := range uint64(i % 33) {
					s.Branches = append(s.Branches, Branch{user + 0x1100 + 8*k, user + 0x1000 + 16*k, k})
				}
			} else {
				s.Stack = []uint64{s.IP, user + 0x1800}
				if i%3 == 0 {
					s.IP = kernel + 0x2000 + uint64(i)
					s.Stack = []uint64{s.IP, kernel + 0x3000, user + 0x1800}
				}
			}
			if !yield(s) {
				return
			}
		}
	}
	return t
}

// writeTrace returns the file of a trace.
func writeTrace(t testing.TB, tr *Trace) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteTrace(&out, tr); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func openBytes(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := NewReader(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// samplesOf puts the samples of a file together again from its records.
func samplesOf(t *testing.T, f *File) []TraceSample {
	t.Helper()
	type place struct {
		time int64
		tid  uint32
	}
	var samples []*TraceSample
	at := map[place]*TraceSample{}
	m := NewMerge([]*File{f}, AllClasses)
	type reference struct {
		sample *TraceSample
		user   bool
	}
	keyed := map[uint64][]reference{} // samples that wait for a stack
	for m.Next() {
		r := m.Record()
		if r.Time < f.Header.Time {
			t.Fatalf("time %d before the start", r.Time)
		}
		rel := r.Time - f.Header.Time
		file, buffer := m.Position()
		cpu := int(f.Buffers()[buffer].Processor)
		if file != 0 {
			t.Fatal("a second file")
		}
		fail := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		switch r.Class {
		case ClassSample:
			var s Sample
			fail(DecodeSample(r, &s))
			samples = append(samples, &TraceSample{Time: rel, Processor: cpu, TID: s.TID, IP: s.IP})
			at[place{r.Time, s.TID}] = samples[len(samples)-1]
		case ClassPMC:
			var s PMCSample
			fail(DecodePMCSample(r, &s))
			samples = append(samples, &TraceSample{Time: rel, Processor: cpu, TID: s.TID, IP: s.IP, Source: s.Source})
			at[place{r.Time, s.TID}] = samples[len(samples)-1]
		case ClassLBR:
			var l LBR
			fail(DecodeLBR(r, &l))
			s := at[place{l.Time, l.TID}]
			s.PID, s.Branches, s.LBROption = l.PID, l.Branches, l.Options
		case ClassStack:
			var l Stack
			fail(DecodeStack(r, &l))
			s := at[place{l.Time, l.TID}]
			s.PID, s.Stack = l.PID, append(s.Stack, l.Frames...)
		case ClassStackKey:
			var l StackKey
			fail(DecodeStackKey(r, &l))
			s := at[place{l.Time, l.TID}]
			s.PID = l.PID
			keyed[l.Key] = append(keyed[l.Key], reference{s, l.User})
		case ClassStackDef:
			var l StackDef
			fail(DecodeStackDef(r, &l))
			for _, ref := range keyed[l.Key] {
				if ref.user {
					ref.sample.Stack = append(ref.sample.Stack, l.Frames...)
				} else {
					ref.sample.Stack = append(slices.Clone(l.Frames), ref.sample.Stack...)
				}
			}
		}
	}
	if m.Err() != nil || m.Disordered != 0 {
		t.Errorf("error %v, %d out of order", m.Err(), m.Disordered)
	}
	if m.Damage != (Damage{}) || f.Defect() != nil {
		t.Errorf("damage %v, %v", m.Damage, f.Defect())
	}
	var out []TraceSample
	for _, s := range samples {
		out = append(out, *s)
	}
	return out
}

func collect(seq iter.Seq[TraceSample]) []TraceSample {
	var all []TraceSample
	for s := range seq {
		all = append(all, s)
	}
	return all
}

// TestTraceRoundTrip writes traces of all kinds and reads the samples and the
// side band back.
func TestTraceRoundTrip(t *testing.T) {
	for _, kind := range []string{"lbr", "pmc", "timer"} {
		for _, ptr := range []int{4, 8} {
			for _, compress := range []bool{false, true} {
				for _, keys := range []bool{false, true} {
					for _, atEnd := range []bool{false, true} {
						t.Run(fmt.Sprintf("%s%d compress=%v keys=%v atEnd=%v", kind, 8*ptr, compress, keys, atEnd), func(t *testing.T) {
							tr := testTrace(kind, ptr, 100)
							tr.Compress, tr.StackKeys, tr.EndRundown = compress, keys, atEnd
							f := openBytes(t, writeTrace(t, tr))
							if diff := cmp.Diff(withPID(collect(tr.Samples)), samplesOf(t, f)); diff != "" {
								t.Errorf("samples (-want +got):\n%s", diff)
							}
							checkSideBand(t, tr, f)
						})
					}
				}
			}
		}
	}
}

// withPID clears what cannot be read back: the process of a sample that has
// neither branches nor a stack.
func withPID(samples []TraceSample) []TraceSample {
	for i := range samples {
		if s := &samples[i]; s.Branches == nil && s.Stack == nil {
			s.PID = 0
		}
	}
	return samples
}

// checkSideBand compares the events of one trace, whose processes and images
// are known, with what is read.
func checkSideBand(t *testing.T, tr *Trace, f *File) {
	t.Helper()
	var got []string
	m := NewMerge([]*File{f}, SideBand)
	for m.Next() {
		r := m.Record()
		rel := r.Time - f.Header.Time
		switch r.Class {
		case ClassProcess:
			var p Process
			if err := DecodeProcess(r, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %#04x %d %s %q %v", rel, uint16(r.Hook), p.PID, p.Image, p.CommandLine, p.SID))
		case ClassThread:
			var p Thread
			if err := DecodeThread(r, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %#04x %d %d", rel, uint16(r.Hook), p.PID, p.TID))
		case ClassImage:
			var p Image
			if err := DecodeImage(r, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %#04x %d %#x %#x %s", rel, uint16(r.Hook), p.PID, p.Base, p.Size, p.Name))
		case ClassImageID:
			var p ImageID
			if err := DecodeImageID(r, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d ImageID %d %d %#x %s", rel, p.Opcode, p.PID, p.Base, p.Name))
		case ClassInterval:
			var p Interval
			if err := DecodeInterval(r, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %#04x %d %d %s", rel, uint16(r.Hook), p.Source, p.New, p.Name))
		case ClassSystem:
			if r.Hook == HookCPUConfig {
				var c CPUConfig
				if err := DecodeCPUConfig(r, &c); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%d cpu %v %d %s", rel, c.HasArch, c.Arch, c.Computer))
				continue
			}
			var v Volume
			if err := DecodeVolume(r, &v); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d volume %s %s", rel, v.NTPath, v.DOSPath))
		}
	}
	kernel, app, src := tr.Kernel[0], tr.Processes[1].Images[0], tr.Sources[0]
	end, last := tr.Processes[1].End, tr.Duration
	id := func(at int64) string {
		return fmt.Sprintf("%d ImageID 0 1000 %#x app.exe\n%d ImageID 36 1000 %#x app.pdb\n", at, app.Base, at, app.Base)
	}
	kernelImage := func(at int64, hook int) string {
		return fmt.Sprintf("%d ImageID 0 0 %#x ntoskrnl.exe\n%d ImageID 32 0 %#x \n%d %#04x 0 %#x 0x800000 %s\n", at, kernel.Base, at, kernel.Base, at, hook, kernel.Base, kernel.Path)
	}
	want := "0 cpu true 9 MACHINE\n" + `0 volume \Device\HarddiskVolume3\ C:\` + "\n" + fmt.Sprintf("0 0x0f49 %d %d %s\n", src.Source, src.New, src.Name)
	if !tr.EndRundown {
		want += kernelImage(0, 0x1403) + "0 0x0303 4 System \"\" S-1-5-18\n0 0x0503 4 8\n"
	}
	want += "50 0x0301 1000 app.exe \"app.exe -x\" S-1-5-18\n50 0x0501 1000 1004\n50 0x0501 1000 1008\n" +
		id(50) + fmt.Sprintf("50 0x030a 1000 %#x 0x20000 %s\n", app.Base, app.Path) +
		fmt.Sprintf("%d 0x0302 1000 app.exe \"app.exe -x\" S-1-5-18\n%d 0x0502 1000 1004\n%d 0x0502 1000 1008\n", end, end, end) +
		id(end) + fmt.Sprintf("%d 0x1402 1000 %#x 0x20000 %s\n", end, app.Base, app.Path) +
		fmt.Sprintf("%d 0x0f4a %d %d %s\n", last, src.Source, src.New, src.Name)
	if tr.EndRundown {
		want += kernelImage(last, 0x1404) + fmt.Sprintf("%d 0x0304 4 System \"\" S-1-5-18\n%d 0x0504 4 8\n", last, last)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), trimAll(got)); diff != "" {
		t.Errorf("side band (-want +got):\n%s", diff)
	}
}

func trimAll(lines []string) []string {
	return strings.Split(strings.TrimSpace(strings.Join(lines, "\n")), "\n")
}
