package etl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// record makes a record as a decoder yields it.
func record(t testing.TB, r Record) *Record {
	t.Helper()
	b, err := AppendRecord(make([]byte, bufferHeaderSize), &r)
	if err != nil {
		t.Fatal(err)
	}
	f := &File{pointerSize: 8, buffers: []Buffer{{}}}
	it := Records{dec: f.NewDecoder(AllClasses), data: b, pos: bufferHeaderSize, want: AllClasses}
	if !it.Next() {
		t.Fatal(it.Err())
	}
	return it.Record()
}

// layoutSizes are the bytes that real or described payloads of fixed content
// have: the tables against the specification.
func TestLayoutSizes(t *testing.T) {
	const name = "a.exe"
	p := &Process{Image: name, SID: systemSID, DefunctTime: 1}
	th := &Thread{}
	im := &Image{Name: name}
	const wide = 2 * (len(name) + 1)
	sid := func(ptr int) int { return 2*ptr + 12 }
	for _, tc := range []struct {
		what string
		got  []byte
		want int
	}{
		{"process v0 32", AppendProcess(nil, p, 0, 4), 8 + sid(4) + 6},
		{"process v1 32", AppendProcess(nil, p, 1, 4), 20 + sid(4) + 6},
		{"process v2 32", AppendProcess(nil, p, 2, 4), 20 + sid(4) + 6 + 2},
		{"process v3 32", AppendProcess(nil, p, 3, 4), 24 + sid(4) + 6 + 2},
		{"process v3 64", AppendProcess(nil, p, 3, 8), 32 + sid(8) + 6 + 2},
		{"process v4 64", AppendProcess(nil, p, 4, 8), 36 + sid(8) + 6 + 6},
		{"process v5 64", AppendProcess(nil, p, 5, 8), 36 + sid(8) + 6 + 6 + 8},
		{"process without SID", AppendProcess(nil, &Process{}, 4, 8), 36 + 4 + 1 + 6},
		{"thread v0", AppendThread(nil, th, 0, 8), 8},
		{"thread v1 32", AppendThread(nil, th, 1, 4), 8 + 24 + 1},
		{"thread v2 64", AppendThread(nil, th, 2, 8), 8 + 56 + 4},
		{"thread v3 64", AppendThread(nil, th, 3, 8), 72 + 2},
		{"image v0 32", AppendImage(nil, im, 0, 4), 8 + wide},
		{"image v0 64", AppendImage(nil, im, 0, 8), 12 + wide},
		{"image v1 64", AppendImage(nil, im, 1, 8), 20 + wide},
		{"image v2 32", AppendImage(nil, im, 2, 4), 44 + wide},
		{"image v3 64", AppendImage(nil, im, 3, 8), 56 + wide},
		{"CPU configuration v2 64", AppendCPUConfig(nil, &CPUConfig{}, 2, 8), 808},
		{"CPU configuration v3 64", AppendCPUConfig(nil, &CPUConfig{}, 3, 8), 828},
		{"log file header 64", logFileLayout.append(nil, &LogFile{PointerSize: 8}, 0, 8), 280 + 4},
		{"log file header 32", logFileLayout.append(nil, &LogFile{PointerSize: 4}, 0, 4), 272 + 4},
		{"sample 64", AppendSample(nil, &Sample{}, 8), 16},
		{"sample 32", AppendSample(nil, &Sample{}, 4), 12},
		{"PMC sample 64", AppendPMCSample(nil, &PMCSample{}, 8), 16},
		{"LBR 64", AppendLBR(nil, &LBR{Branches: make([]Branch, 2)}, 8), 24 + 48},
		{"LBR 32", AppendLBR(nil, &LBR{Branches: make([]Branch, 2)}, 4), 20 + 24},
		{"RSDS 64", AppendImageID(nil, &ImageID{Opcode: ImageIDRSDS}, 8), 32 + 1},
		{"module v2", AppendCLRModule(nil, &CLRModule{}, 2), 24 + 4 + 2 + 2*(16+4+2)},
	} {
		if len(tc.got) != tc.want {
			t.Errorf("%s: %d bytes, want %d", tc.what, len(tc.got), tc.want)
		}
	}
}

// everyPayload yields one record of each event, version and pointer size,
// with a function that decodes it and encodes it again.
func everyPayload(t testing.TB) map[string]struct {
	rec    Record
	recode func(*Record) ([]byte, error)
} {
	guid := mustGUID("11223344-5566-7788-99aa-bbccddeeff00")
	all := map[string]struct {
		rec    Record
		recode func(*Record) ([]byte, error)
	}{}
	add := func(name string, rec Record, recode func(*Record) ([]byte, error)) {
		all[name] = struct {
			rec    Record
			recode func(*Record) ([]byte, error)
		}{rec, recode}
	}
	for _, ptr := range []int{4, 8} {
		system, perf, full, event := HeaderSystem64, HeaderPerfInfo64, HeaderFull64, HeaderEvent64
		if ptr == 4 {
			system, perf, full, event = HeaderSystem32, HeaderPerfInfo32, HeaderFull32, HeaderEvent32
		}
		kernel := func(name string, typ HeaderType, hook Hook, versions int, encode func(version uint16) []byte, recode func(r *Record, version uint16) ([]byte, error)) {
			for v := range uint16(versions + 1) {
				add(fmt.Sprintf("%s v%d %d", name, v, 8*ptr), Record{Type: typ, Hook: hook, Version: v, Payload: encode(v)},
					func(r *Record) ([]byte, error) { return recode(r, v) })
			}
		}
		process := &Process{Key: 0xffff0000, PID: 1000, ParentPID: 4, SessionID: 1, ExitStatus: -5, DirectoryTableBase: 0x1ad000, Flags: 3,
			SID: systemSID, Image: "app.exe", CommandLine: "app.exe -x", Package: "p", Application: "a", DefunctTime: 7}
		kernel("process", system, HookProcessDefunct, 5, func(v uint16) []byte { return AppendProcess(nil, process, v, ptr) },
			func(r *Record, v uint16) ([]byte, error) {
				var p Process
				err := DecodeProcess(r, &p)
				return AppendProcess(nil, &p, v, ptr), err
			})
		thread := &Thread{PID: 1, TID: 2, StackBase: 3, StackLimit: 4, UserStackBase: 5, UserStackLimit: 6, StartAddress: 7, Win32StartAddress: 8,
			TEB: 9, SubProcessTag: 10, BasePriority: 11, PagePriority: 12, IOPriority: 13, Flags: 14, WaitMode: 15, Name: "worker"}
		kernel("thread", system, HookThreadStart, 4, func(v uint16) []byte { return AppendThread(nil, thread, v, ptr) },
			func(r *Record, v uint16) ([]byte, error) {
				var p Thread
				err := DecodeThread(r, &p)
				return AppendThread(nil, &p, v, ptr), err
			})
		image := &Image{Base: 0x400000, Size: 0x20000, PID: 1000, Checksum: 1, TimeDateStamp: 2, SignatureLevel: 3, SignatureType: 4, DefaultBase: 5, Name: `\a\b.dll`}
		kernel("image", perf, HookImageLoad, 3, func(v uint16) []byte { return AppendImage(nil, image, v, ptr) },
			func(r *Record, v uint16) ([]byte, error) {
				var p Image
				err := DecodeImage(r, &p)
				return AppendImage(nil, &p, v, ptr), err
			})
		kernel("interval", perf, HookIntervalSet, 3, func(v uint16) []byte { return AppendInterval(nil, &Interval{1, 2, 3, "Timer"}, v, ptr) },
			func(r *Record, v uint16) ([]byte, error) {
				var p Interval
				err := DecodeInterval(r, &p)
				return AppendInterval(nil, &p, v, ptr), err
			})
		cpu := &CPUConfig{MHz: 1, Processors: 2, MemoryMiB: 3, PageSize: 4, AllocationGranularity: 5, Computer: "MACHINE", Domain: "d", HyperThreading: 6,
			HasArch: true, HighestUserAddress: 7, Arch: ArchARM64, Level: 8, Revision: 9, PAE: 1, NX: 1, MemorySpeed: 10}
		kernel("CPU", system, HookCPUConfig, 3, func(v uint16) []byte { return AppendCPUConfig(nil, cpu, v, ptr) },
			func(r *Record, v uint16) ([]byte, error) {
				var p CPUConfig
				err := DecodeCPUConfig(r, &p)
				return AppendCPUConfig(nil, &p, v, ptr), err
			})
		one := func(name string, hook Hook, payload []byte, recode func(*Record) ([]byte, error)) {
			add(fmt.Sprintf("%s %d", name, 8*ptr), Record{Type: perf, Hook: hook, Version: 2, Payload: payload}, recode)
		}
		one("sample", HookSampleNMI, AppendSample(nil, &Sample{1, 2, 3, 4, 5}, ptr), func(r *Record) ([]byte, error) {
			var p Sample
			err := DecodeSample(r, &p)
			return AppendSample(nil, &p, ptr), err
		})
		one("sample cache", HookSampleCache, AppendSampleCache(nil, []Sample{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, ptr), func(r *Record) ([]byte, error) {
			p, err := DecodeSampleCache(r, nil)
			return AppendSampleCache(nil, p, ptr), err
		})
		one("PMC", HookPMCSample, AppendPMCSample(nil, &PMCSample{1, 2, 3}, ptr), func(r *Record) ([]byte, error) {
			var p PMCSample
			err := DecodePMCSample(r, &p)
			return AppendPMCSample(nil, &p, ptr), err
		})
		one("stack", HookStackWalk, AppendStack(nil, &Stack{1, 2, 3, []uint64{4, 5}}, ptr), func(r *Record) ([]byte, error) {
			var p Stack
			err := DecodeStack(r, &p)
			return AppendStack(nil, &p, ptr), err
		})
		one("stack key", HookStackKeyUser, AppendStackKey(nil, &StackKey{1, 2, 3, 4, true}, ptr), func(r *Record) ([]byte, error) {
			var p StackKey
			err := DecodeStackKey(r, &p)
			return AppendStackKey(nil, &p, ptr), err
		})
		one("stack definition", HookStackKeyDelete, AppendStackDef(nil, &StackDef{1, []uint64{4, 5}}, ptr), func(r *Record) ([]byte, error) {
			var p StackDef
			err := DecodeStackDef(r, &p)
			return AppendStackDef(nil, &p, ptr), err
		})
		lbr := AppendLBR(nil, &LBR{Time: 1, PID: 2, TID: 3, Options: LBRNoKernel, Branches: []Branch{{4, 5, 6}, {7, 8, 9}}}, ptr)
		recodeLBR := func(r *Record) ([]byte, error) {
			var p LBR
			err := DecodeLBR(r, &p)
			return AppendLBR(nil, &p, ptr), err
		}
		one("LBR", HookLBR, lbr, recodeLBR)
		add(fmt.Sprintf("LBR by GUID %d", 8*ptr), Record{Type: full, GUID: mustGUID("99134383-5248-43fc-834b-529454e75df3"), Opcode: 32, Version: 2, Payload: lbr}, recodeLBR)
		one("counter names", HookCounterNames, AppendCounterNames(nil, []string{"a", "bc"}), func(r *Record) ([]byte, error) {
			p, err := DecodeCounterNames(r)
			return AppendCounterNames(nil, p), err
		})
		for _, opcode := range []uint8{ImageIDInfo, ImageIDNone, ImageIDMisc, ImageIDRSDS, ImageIDManagedRSDS, ImageIDDebugEntry, ImageIDEmbedded, ImageIDRepro, ImageIDFailure} {
			id := &ImageID{Opcode: opcode, Base: 1, Size: 2, PID: 3, TimeDateStamp: 4, Checksum: 5, GUID: guid, Age: 6, Name: "n", Major: 7, Minor: 8}
			add(fmt.Sprintf("ImageID %d %d", opcode, 8*ptr), Record{Type: full, GUID: ImageIDGUID, Opcode: opcode, Version: 2, Payload: AppendImageID(nil, id, ptr)},
				func(r *Record) ([]byte, error) {
					var p ImageID
					err := DecodeImageID(r, &p)
					return AppendImageID(nil, &p, ptr), err
				})
		}
		version := &FileVersion{Size: 1, TimeDateStamp: 2, OriginalName: "a", Description: "b", Version: "c", BinaryVersion: "d", Language: "e", Product: "f", Company: "g", ProductVersion: "h", FileID: "i", ProgramID: "j"}
		add(fmt.Sprintf("file version %d", 8*ptr), Record{Type: full, GUID: ImageIDGUID, Opcode: ImageIDVersion, Payload: AppendFileVersion(nil, version, ptr)},
			func(r *Record) ([]byte, error) {
				var p FileVersion
				err := DecodeFileVersion(r, &p)
				return AppendFileVersion(nil, &p, ptr), err
			})
		add(fmt.Sprintf("volume %d", 8*ptr), Record{Type: full, GUID: SystemConfigGUID, Opcode: volumeMapping, Payload: AppendVolume(nil, &Volume{`\Device\V\`, `C:\`})},
			func(r *Record) ([]byte, error) {
				var p Volume
				err := DecodeVolume(r, &p)
				return AppendVolume(nil, &p), err
			})
		for v := range uint16(3) {
			method := &CLRMethod{MethodID: 1, ModuleID: 2, Start: 3, Size: 4, Token: 5, Flags: CLRMethodJitted, Namespace: "N.C", Name: "M", Signature: "void ()", Instance: 6, ReJITID: 7}
			for _, id := range []uint16{141, 142, 143, 144} {
				verbose := id >= clrVerbose
				add(fmt.Sprintf("CLR method %d v%d %d", id, v, 8*ptr), Record{Type: event, GUID: CLRRuntimeGUID, ID: id, Version: v, Payload: AppendCLRMethod(nil, method, v, verbose)},
					func(r *Record) ([]byte, error) {
						var p CLRMethod
						err := DecodeCLRMethod(r, &p)
						return AppendCLRMethod(nil, &p, v, verbose), err
					})
			}
			module := &CLRModule{ModuleID: 1, AssemblyID: 2, Flags: CLRModuleNative, ILPath: "a.dll", NativePath: "a.ni.dll", Instance: 3, ManagedGUID: guid, ManagedAge: 4, ManagedPDB: "a.pdb", NativeGUID: guid, NativeAge: 5, NativePDB: "a.ni.pdb"}
			add(fmt.Sprintf("CLR module v%d %d", v, 8*ptr), Record{Type: event, GUID: CLRRundownGUID, ID: 154, Version: v, Payload: AppendCLRModule(nil, module, v)},
				func(r *Record) ([]byte, error) {
					var p CLRModule
					err := DecodeCLRModule(r, &p)
					return AppendCLRModule(nil, &p, v), err
				})
		}
	}
	return all
}

// TestPayloadRoundTrip writes and reads an event of every kind, and cuts each
// payload everywhere: an error of a known kind, or the fields that are there.
func TestPayloadRoundTrip(t *testing.T) {
	for name, tc := range everyPayload(t) {
		r := record(t, tc.rec)
		if rest, err := decodeAny(r); rest != 0 || err != nil {
			t.Errorf("%s: left %d bytes, %v", name, rest, err)
		}
		got, err := tc.recode(r)
		if err != nil || !bytes.Equal(got, tc.rec.Payload) {
			t.Errorf("%s: %v\nwrote %x\nread  %x", name, err, tc.rec.Payload, got)
		}
		for n := range len(tc.rec.Payload) {
			cut := *r
			cut.Payload = r.Payload[:n]
			if _, err := decodeAny(&cut); err != nil && !errors.Is(err, binfmt.ErrTruncated) {
				t.Errorf("%s cut to %d bytes: %v", name, n, err)
			}
		}
	}
}

// TestWrongClass gives every decoder a record of every other class.
func TestWrongClass(t *testing.T) {
	all := everyPayload(t)
	for name, tc := range all {
		for otherName, other := range all {
			r := record(t, other.rec)
			if r.Class == record(t, tc.rec).Class {
				continue
			}
			if _, err := tc.recode(r); !errors.Is(err, binfmt.ErrUnsupported) {
				t.Fatalf("%s as %s: %v", otherName, name, err)
			}
		}
	}
}

// TestCLRActions names what each event of the two providers means.
func TestCLRActions(t *testing.T) {
	for _, tc := range []struct {
		provider binfmt.GUID
		id       uint16
		method   bool
		want     CLRAction
	}{
		{CLRRuntimeGUID, 141, true, CLRLoad}, {CLRRuntimeGUID, 142, true, CLRUnload}, {CLRRuntimeGUID, 143, true, CLRLoad}, {CLRRuntimeGUID, 144, true, CLRUnload},
		{CLRRundownGUID, 141, true, CLRDCStart}, {CLRRundownGUID, 142, true, CLRDCEnd}, {CLRRundownGUID, 143, true, CLRDCStart}, {CLRRundownGUID, 144, true, CLRDCEnd},
		{CLRRuntimeGUID, 152, false, CLRLoad}, {CLRRuntimeGUID, 153, false, CLRUnload}, {CLRRundownGUID, 153, false, CLRDCStart}, {CLRRundownGUID, 154, false, CLRDCEnd},
	} {
		rec := Record{Type: HeaderEvent64, GUID: tc.provider, ID: tc.id}
		var got CLRAction
		var err error
		if tc.method {
			var m CLRMethod
			rec.Payload = AppendCLRMethod(nil, &m, 0, tc.id >= clrVerbose)
			err = DecodeCLRMethod(record(t, rec), &m)
			got = m.Action
		} else {
			var m CLRModule
			rec.Payload = AppendCLRModule(nil, &m, 0)
			err = DecodeCLRModule(record(t, rec), &m)
			got = m.Action
		}
		if got != tc.want || err != nil {
			t.Errorf("%v %d: %v, %v; want %v", tc.provider, tc.id, got, err, tc.want)
		}
	}
	for _, tc := range []struct {
		provider binfmt.GUID
		id       uint16
	}{{CLRRuntimeGUID, 154}, {CLRRundownGUID, 152}, {CLRRuntimeGUID, 140}, {CLRRuntimeGUID, 145}, {ImageIDGUID, 143}} {
		if r := record(t, Record{Type: HeaderEvent64, GUID: tc.provider, ID: tc.id}); r.Class != ClassOther {
			t.Errorf("%v %d: class %#x", tc.provider, tc.id, r.Class)
		}
	}
}

// TestHeaderTypes writes a record of each type and reads its fields back.
func TestHeaderTypes(t *testing.T) {
	guid := mustGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c")
	counters := make([]byte, 24)
	for i := range 3 {
		binary.LittleEndian.PutUint64(counters[8*i:], uint64(10+i))
	}
	items := []byte{16, 0, 12, 0, 1, 0, 5, 0, 'a', 'b', 'c', 'd', 'e', 0, 0, 0}
	items = append(items, 16, 0, 1, 0, 0, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	for _, want := range []Record{
		{Type: HeaderSystem32, PointerSize: 4, Time: 5, TID: 6, PID: 7, Hook: 0x0505, Opcode: 5, Version: 3, Flags: 3},
		{Type: HeaderSystem64, PointerSize: 8, Time: 5, TID: 6, PID: 7, Hook: 0x0505, Opcode: 5, Version: 3, Flags: 3 | 2<<8, Extra: counters[:16]},
		{Type: HeaderCompact32, PointerSize: 4, Time: 5, TID: 6, PID: 7, Hook: 0x0505, Opcode: 5, Version: 3, Flags: 3 | 0x8000, Extra: counters[:8]},
		{Type: HeaderCompact64, PointerSize: 8, Time: 5, TID: 6, PID: 7, Hook: 0x0505, Opcode: 5, Version: 3, Flags: 3},
		{Type: HeaderPerfInfo32, PointerSize: 4, Time: 5, TID: NoThread, PID: NoThread, Hook: 0xFF01, Opcode: 1, Version: 2, Flags: 2},
		{Type: HeaderPerfInfo64, PointerSize: 8, Time: 5, TID: NoThread, PID: NoThread, Hook: 0x0F01, Opcode: 1, Version: 2, Flags: 2 | 0x8000 | 2<<8, Extra: counters},
		{Type: HeaderFull32, PointerSize: 4, Time: 5, TID: 6, PID: 7, Hook: 0x0505, GUID: guid, Opcode: 5, Level: 4, Version: 0x203},
		{Type: HeaderFull64, PointerSize: 8, Time: 5, TID: 6, PID: 7, Hook: NoHook, GUID: LostEventGUID, Opcode: 32, Version: 1, Class: ClassLost},
		{Type: HeaderInstance32, PointerSize: 4, Time: 5, TID: 6, PID: 7, Hook: NoHook, GUID: guid, Opcode: 5, Level: 4, Version: 3, Extra: make([]byte, 24)},
		{Type: HeaderInstance64, PointerSize: 8, Time: 5, TID: 6, PID: 7, Hook: NoHook, GUID: guid, Opcode: 5, Level: 4, Version: 3, Extra: make([]byte, 24)},
		{Type: HeaderEvent32, PointerSize: 4, Time: 5, TID: 6, PID: 7, Hook: NoHook, GUID: guid, ID: 8, Opcode: 5, Level: 4, Version: 3, Flags: 0x20},
		{Type: HeaderEvent64, PointerSize: 8, Time: 5, TID: 6, PID: 7, Hook: NoHook, GUID: guid, ID: 8, Opcode: 5, Level: 4, Version: 3, Flags: 0x41, Extra: items},
	} {
		want.Payload = []byte{1, 2, 3}
		want.Offset = bufferHeaderSize
		if want.Class == 0 {
			want.Class = ClassOther
		}
		got := *record(t, want)
		if got.Extra == nil {
			got.Extra = want.Extra
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Record{})); diff != "" {
			t.Errorf("%v (-want +got):\n%s", want.Type, diff)
		}
	}

	r := record(t, Record{Type: HeaderPerfInfo64, Hook: HookPMCSample, Flags: 0x8000 | 2<<8, Extra: counters})
	index, ok := r.PEBSIndex()
	if got := r.Counters(nil); !ok || index != 10 || len(got) != 2 || got[0] != 11 || got[1] != 12 {
		t.Errorf("PEBS index %d %v, counters %d", index, ok, got)
	}
	r = record(t, Record{Type: HeaderEvent64, Flags: eventItems, Extra: items})
	var got []string
	for typ, data := range r.Items() {
		got = append(got, fmt.Sprintf("%d %q", typ, data))
	}
	if fmt.Sprint(got) != `[12 "abcde" 1 "\x01\x02\x03\x04\x05\x06\a\b"]` {
		t.Errorf("items %v", got)
	}
	if _, ok := r.PEBSIndex(); ok || r.Counters(nil) != nil {
		t.Error("an EVENT record has counters")
	}
}

func TestSIDText(t *testing.T) {
	for want, sid := range map[string]SID{"": nil, "S-1-5-18": systemSID, "S-1-1-0": {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
		"S-1-5-21-1-4294967295": {1, 3, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255}} {
		if got := sid.String(); got != want {
			t.Errorf("%x: %s, want %s", []byte(sid), got, want)
		}
	}
}

func TestClocks(t *testing.T) {
	const start = 133_500_000_000_000_000
	for _, tc := range []struct {
		h           LogFile
		ticks, want int64
	}{
		{LogFile{Clock: ClockQPC, PerfFreq: 10_000_000, StartTime: start, Time: 500}, 700, start + 200},
		{LogFile{Clock: ClockRaw, PerfFreq: 2_500_000, StartTime: start, Time: 500}, 400, start - 400},
		{LogFile{Clock: ClockQPC, PerfFreq: 3_000_000_000, StartTime: start}, 1 << 55, start + 120_095_990_063_213},
		{LogFile{Clock: ClockSystem, StartTime: start, Time: 5}, start + 9, start + 9},
		{LogFile{Clock: ClockCycles, CPUMHz: 2000, StartTime: start, Time: 5}, 2005, start + 10},
		{LogFile{Clock: ClockQPC}, 1 << 62, math.MaxInt64}, // no frequency: as late as can be
	} {
		got := tc.h.FileTime(tc.ticks)
		if got != tc.want {
			t.Errorf("%+v: %d is %d, want %d", tc.h, tc.ticks, got, tc.want)
		}
		back := tc.h.Ticks(got)
		if step := max(tc.h.PerfFreq/10_000_000, 1); tc.want != math.MaxInt64 && (back > tc.ticks || back < tc.ticks-step) {
			t.Errorf("%+v: back to %d, want %d", tc.h, back, tc.ticks)
		}
	}
	if got := WallTime(start).Format("2006-01-02T15:04:05.000"); got != "2024-01-17T21:20:00.000" {
		t.Errorf("wall time %s", got)
	}
}
