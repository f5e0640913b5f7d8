package ingest

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// An etlScript is a Windows recording as text, one record a line, in the order
// of the file:
//
//	TIME process WHAT PID NAME {key=N}
//	TIME thread WHAT TID PID
//	TIME image WHAT PID BASE+SIZE PATH {stamp=N}
//	TIME id PID BASE {rsds=N age=N} {stamp=N} {managed}
//	TIME volume NTPATH DOSPATH
//	TIME interval SOURCE LENGTH NAME
//	TIME timer TID IP {count=N} {dpc}
//	TIME cache TID:IP...
//	TIME nmi TID IP
//	TIME pmc TID IP SOURCE
//	TIME lbr EVENT TID PID OPTIONS FROM>TO...
//	TIME stack EVENT TID PID ADDR...
//	TIME key EVENT TID PID user|kernel KEY
//	TIME define KEY ADDR...
//	TIME method WHAT PID START+SIZE MODULE NAME FLAGS {rejit=N}
//	TIME module WHAT PID MODULE IL {native=PATH}
//	TIME masks MASK0 MASK1
//	TIME cpu COMPUTER HIGHEST
//	TIME lost
//
// WHAT is start, end, there (rundown at the start) or still (rundown at the
// end). Addresses, sizes, masks and flags are hexadecimal, other numbers
// decimal. A first line "32" makes a recording of a 32-bit kernel.
type etlScript struct {
	t    *testing.T
	w    *etl.Writer
	ptr  int
	args []string
}

const scriptEpoch = 1000 // time stamp of the log file header

// writeScript writes a script to a file; header may change what the log file
// header says.
func writeScript(t *testing.T, name, text string, header func(*etl.LogFile)) string {
	t.Helper()
	h := etl.LogFile{BufferSize: 64 << 10, Version: [4]uint8{10, 0, 1, 5}, Build: 19045, Processors: 2, Mode: etl.ModeSequential, PointerSize: 8,
		PerfFreq: 100, Clock: etl.ClockQPC, StartTime: 133_500_000_000_000_000, EndTime: 133_500_001_000_000_000, Time: scriptEpoch, CPUMHz: 3000}
	text, narrow := strings.CutPrefix(strings.TrimSpace(text), "32\n")
	s := &etlScript{t: t, ptr: 8}
	if narrow {
		s.ptr, h.PointerSize = 4, 4
	}
	if header != nil {
		header(&h)
	}
	var b bytes.Buffer
	var err error
	if s.w, err = etl.NewWriter(&b, &etl.WriterOptions{Header: h}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			s.args = words[2:]
			s.line(int64(number(t, words[0], 10)), words[1])
		}
	}
	if err := s.w.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, name, b.Bytes())
}

func (s *etlScript) dec(i int) uint32 { return uint32(number(s.t, s.args[i], 10)) }
func (s *etlScript) hex(i int) uint64 { return number(s.t, s.args[i], 16) }

// span reads ADDR+SIZE.
func (s *etlScript) span(i int) (addr, size uint64) {
	a, n, _ := strings.Cut(s.args[i], "+")
	return number(s.t, a, 16), number(s.t, n, 16)
}

// named returns the value of a word NAME=VALUE.
func (s *etlScript) named(name string) string {
	for _, a := range s.args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
	}
	return ""
}

func (s *etlScript) number(name string) uint32 {
	n, _ := strconv.ParseUint(s.named(name), 10, 32)
	return uint32(n)
}

func (s *etlScript) has(word string) bool {
	return strings.Contains(" "+strings.Join(s.args, " ")+" ", " "+word+" ")
}

// addrs reads the addresses from argument i on.
func (s *etlScript) addrs(i int) (list []uint64) {
	for ; i < len(s.args); i++ {
		list = append(list, s.hex(i))
	}
	return list
}

// ofKind chooses by WHAT, which is argument 0.
func ofKind[T any](s *etlScript, start, end, there, still T) T {
	switch s.args[0] {
	case "start":
		return start
	case "end":
		return end
	case "there":
		return there
	case "still":
		return still
	}
	s.t.Fatalf("no such thing: %s", s.args[0])
	panic("unreachable")
}

// rsds is the GUID that a number in a script stands for.
func rsds(n uint32) binfmt.GUID { return binfmt.GUID{0: 0x22, 14: byte(n >> 8), 15: byte(n)} }

func (s *etlScript) line(time int64, verb string) {
	perf, system, full, event := etl.HeaderPerfInfo64, etl.HeaderSystem64, etl.HeaderFull64, etl.HeaderEvent64
	if s.ptr == 4 {
		perf, system, full, event = etl.HeaderPerfInfo32, etl.HeaderSystem32, etl.HeaderFull32, etl.HeaderEvent32
	}
	r := etl.Record{Type: perf, Version: 2, Time: time + scriptEpoch, TID: etl.NoThread, PID: etl.NoThread}
	at := func(i int) int64 { return int64(s.dec(i)) + scriptEpoch } // time of an event
	switch verb {
	case "process":
		r.Type, r.Version = system, 4
		r.Hook = ofKind(s, etl.HookProcessStart, etl.HookProcessEnd, etl.HookProcessDCStart, etl.HookProcessDCEnd)
		r.Payload = etl.AppendProcess(nil, &etl.Process{Key: uint64(s.number("key")), PID: s.dec(1), Image: s.args[2]}, 4, s.ptr)
	case "thread":
		r.Type, r.Version = system, 3
		r.Hook = ofKind(s, etl.HookThreadStart, etl.HookThreadEnd, etl.HookThreadDCStart, etl.HookThreadDCEnd)
		r.Payload = etl.AppendThread(nil, &etl.Thread{TID: s.dec(1), PID: s.dec(2)}, 3, s.ptr)
	case "image":
		base, size := s.span(2)
		r.Hook = ofKind(s, etl.HookImageLoad, etl.HookImageUnload, etl.HookImageDCStart, etl.HookImageDCEnd)
		r.Version = 3
		r.Payload = etl.AppendImage(nil, &etl.Image{Base: base, Size: size, PID: s.dec(1), TimeDateStamp: s.number("stamp"), Name: s.args[3]}, 3, s.ptr)
	case "id":
		id := etl.ImageID{Opcode: etl.ImageIDInfo, PID: s.dec(0), Base: s.hex(1), TimeDateStamp: s.number("stamp"), Name: "x"}
		if s.named("rsds") != "" {
			id.Opcode, id.GUID, id.Age = etl.ImageIDRSDS, rsds(s.number("rsds")), s.number("age")
		}
		if s.has("managed") {
			id.Opcode = etl.ImageIDManagedRSDS
		}
		r.Type, r.GUID, r.Opcode, r.PID = full, etl.ImageIDGUID, id.Opcode, id.PID
		r.Payload = etl.AppendImageID(nil, &id, s.ptr)
	case "volume":
		r.Type, r.GUID, r.Opcode = full, etl.SystemConfigGUID, 35
		r.Payload = etl.AppendVolume(nil, &etl.Volume{NTPath: s.args[0], DOSPath: s.args[1]})
	case "interval":
		r.Hook, r.Version = etl.HookIntervalSet, 3
		r.Payload = etl.AppendInterval(nil, &etl.Interval{Source: s.dec(0), New: s.dec(1), Name: s.args[2]}, 3, s.ptr)
	case "timer", "nmi":
		x := etl.Sample{TID: s.dec(0), IP: s.hex(1), Count: 1}
		if n := s.number("count"); n > 0 {
			x.Count = uint16(n)
		}
		if s.has("dpc") {
			x.Flags = etl.SampleDPC
		}
		if r.Hook = etl.HookSample; verb == "nmi" {
			r.Hook = etl.HookSampleNMI
		}
		r.Payload = etl.AppendSample(nil, &x, s.ptr)
	case "cache":
		var list []etl.Sample
		for _, a := range s.args {
			tid, ip, _ := strings.Cut(a, ":")
			list = append(list, etl.Sample{TID: uint32(number(s.t, tid, 10)), IP: number(s.t, ip, 16), Count: 1})
		}
		r.Hook, r.Payload = etl.HookSampleCache, etl.AppendSampleCache(nil, list, s.ptr)
	case "pmc":
		r.Hook = etl.HookPMCSample
		r.Payload = etl.AppendPMCSample(nil, &etl.PMCSample{TID: s.dec(0), IP: s.hex(1), Source: uint16(s.dec(2))}, s.ptr)
	case "lbr":
		l := etl.LBR{Time: at(0), TID: s.dec(1), PID: s.dec(2), Options: uint32(s.hex(3))}
		for _, a := range s.args[4:] {
			from, to, _ := strings.Cut(a, ">")
			l.Branches = append(l.Branches, etl.Branch{From: number(s.t, from, 16), To: number(s.t, to, 16)})
		}
		r.Hook, r.Payload = etl.HookLBR, etl.AppendLBR(nil, &l, s.ptr)
	case "stack":
		r.Hook = etl.HookStackWalk
		r.Payload = etl.AppendStack(nil, &etl.Stack{Time: at(0), TID: s.dec(1), PID: s.dec(2), Frames: s.addrs(3)}, s.ptr)
	case "key":
		if r.Hook = etl.HookStackKeyKernel; s.args[3] == "user" {
			r.Hook = etl.HookStackKeyUser
		}
		r.Payload = etl.AppendStackKey(nil, &etl.StackKey{Time: at(0), TID: s.dec(1), PID: s.dec(2), Key: s.hex(4)}, s.ptr)
	case "define":
		r.Hook, r.Payload = etl.HookStackKeyDelete, etl.AppendStackDef(nil, &etl.StackDef{Key: s.hex(0), Frames: s.addrs(1)}, s.ptr)
	case "method":
		start, size := s.span(2)
		r.Type, r.PID = event, s.dec(1)
		r.GUID = ofKind(s, etl.CLRRuntimeGUID, etl.CLRRuntimeGUID, etl.CLRRundownGUID, etl.CLRRundownGUID)
		r.ID = ofKind[uint16](s, 143, 144, 143, 144)
		r.Payload = etl.AppendCLRMethod(nil, &etl.CLRMethod{MethodID: start + 1, ModuleID: uint64(s.dec(3)), Start: start, Size: uint32(size),
			Namespace: "N", Name: s.args[4], Signature: "int32  (int32)", Flags: uint32(s.hex(5)), ReJITID: uint64(s.number("rejit"))}, 2, true)
	case "module":
		r.Type, r.PID = event, s.dec(1)
		r.GUID = ofKind(s, etl.CLRRuntimeGUID, etl.CLRRuntimeGUID, etl.CLRRundownGUID, etl.CLRRundownGUID)
		r.ID = ofKind[uint16](s, 152, 153, 153, 154)
		r.Payload = etl.AppendCLRModule(nil, &etl.CLRModule{ModuleID: uint64(s.dec(2)), ILPath: s.args[3], NativePath: s.named("native")}, 2)
	case "masks":
		r.Type, r.Hook = system, hookMasksStart
		for i := range 9 {
			word := uint64(0)
			if i < len(s.args) {
				word = s.hex(i)
			}
			r.Payload = binfmt.AppendU32(r.Payload, uint32(word))
		}
	case "cpu":
		r.Type, r.Hook, r.Version = system, etl.HookCPUConfig, 3
		r.Payload = etl.AppendCPUConfig(nil, &etl.CPUConfig{MHz: 3000, Computer: s.args[0], HasArch: true, HighestUserAddress: s.hex(1)}, 3, s.ptr)
	case "lost":
		r.Type, r.GUID, r.Opcode = full, etl.LostEventGUID, 32
	default:
		s.t.Fatalf("no record %q", verb)
	}
	if err := s.w.Write(0, &r); err != nil {
		s.t.Fatal(err)
	}
}

// etlScenario is a script and what has to come of it: the lines of the journal,
// then the accounts as outcome prints them.
type etlScenario struct {
	name    string
	script  string
	want    string
	options Options
}

// machineLines begin most scripts: a kernel, two programs with a library and
// their threads.
const machineLines = `
0 process there 0 Idle
0 process there 4 System
0 process there 100 app.exe
0 process there 200 tool.exe
0 thread there 104 100
0 thread there 204 200
0 image there 0 fffff80000000000+10000 \SystemRoot\system32\ntoskrnl.exe
0 image there 100 400000+1000 \Device\HarddiskVolume3\app\app.exe
0 image there 100 410000+1000 \Device\HarddiskVolume3\app\lib.dll
0 image there 200 400000+2000 \Device\HarddiskVolume3\app\tool.exe
`

func (sc etlScenario) run(t *testing.T) {
	t.Run(sc.name, func(t *testing.T) {
		path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), sc.script, nil)
		got, _, _ := logOutcome(t, sc.options, path)
		var want strings.Builder
		for _, line := range strings.Split(strings.TrimSpace(sc.want), "\n") {
			want.WriteString(strings.TrimSpace(line) + "\n")
		}
		if diff := cmp.Diff(want.String(), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// logOutcome reads log files with one worker and prints what came of them.
func logOutcome(t *testing.T, o Options, paths ...string) (string, []*Facts, *registry) {
	t.Helper()
	o.Workers = 1
	reg := newRegistry()
	j := &journal{registry: reg}
	var all []*Facts
	total := sample.NewStats()
	ReadAll(context.Background(), paths, nil, &o, reg, func() sample.Sink { return j }, func(facts []*Facts, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			checkTotals(t, f)
			total.Merge(f.Stats)
			all = append(all, f)
		}
	})
	lines := append(j.lines, "samples: "+account(&total.Samples))
	if total.Branches.Total() > 0 {
		lines = append(lines, "branches: "+account(&total.Branches))
	}
	if total.Frames.Total() > 0 {
		lines = append(lines, "frames: "+account(&total.Frames))
	}
	return strings.Join(lines, "\n") + "\n", all, reg
}
