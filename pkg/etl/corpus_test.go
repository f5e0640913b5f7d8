package etl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// openFile opens one recording without its siblings.
func openFile(t testing.TB, path string) *File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(f, fi.Size(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// histogram counts records by kind, in the words of the reference decoder.
func histogram(t testing.TB, f *File) map[string]int {
	t.Helper()
	counts := map[string]int{}
	dec := f.NewDecoder(AllClasses)
	for i := range f.Buffers() {
		it := dec.Buffer(i)
		for it.Next() {
			counts[recordKey(it.Record())]++
		}
		if it.Err() != nil {
			t.Error(it.Err())
		}
	}
	for reason, n := range dec.Damage.All() {
		if reason != UnknownType {
			t.Errorf("%v: %+v", reason, n)
		}
	}
	return counts
}

func recordKey(r *Record) string {
	switch r.Type {
	case HeaderSystem32, HeaderSystem64, HeaderCompact32, HeaderCompact64, HeaderPerfInfo32, HeaderPerfInfo64:
		return fmt.Sprintf("%v %#04x v%d", r.Type, uint16(r.Hook), r.Version)
	case HeaderFull32, HeaderFull64, HeaderInstance32, HeaderInstance64:
		return fmt.Sprintf("%v %v/%d v%d", r.Type, r.GUID, r.Opcode, r.Version)
	case HeaderEvent32, HeaderEvent64:
		return fmt.Sprintf("%v %v/%d/%d v%d", r.Type, r.GUID, r.ID, r.Opcode, r.Version)
	case HeaderMessage:
		return fmt.Sprintf("%v %v", r.Type, r.GUID)
	}
	return r.Type.String()
}

// referenceCounts is the program that makes the same counts with the
// reference decoder, and prints a few facts of each log file header with it.
const referenceCounts = `
import sys, os, json
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import etlref as E
from collections import Counter
def guid(s): return '{%s}' % s.upper() if s else '{00000000-0000-0000-0000-000000000000}'
def key(e):
    n = E.HT_NAMES.get(e.ht, 'type %d' % e.ht)
    if e.ht in (1, 2, 3, 4, 16, 17): return '%s %#06x v%d' % (n, e.group << 8 | e.opcode, e.version)
    if e.ht in (10, 20, 11, 21): return '%s %s/%d v%d' % (n, guid(e.guid), e.opcode, e.version)
    if e.ht in (18, 19): return '%s %s/%d/%d v%d' % (n, guid(e.guid), e.evid, e.opcode, e.version)
    if e.ht == 15: return '%s %s' % (n, guid(e.guid))
    return n
for path in sys.argv[2:]:
    problems, counts, header, digest, times = Counter(), Counter(), None, 0, 0
    for b in E.parse_buffers(open(path, 'rb').read(), problems):
        o = 0
        while o + 8 <= len(b.body) and E.U32(b.body, o) not in (0, 0xffffffff):
            e, size = E.parse_event(b.body, o, 8)
            if header is None:
                header = E.dec_logfile(e)
            counts[key(e)] += 1
            digest = (digest * 31 + len(e.payload)) & 0xffffffff
            times = (times + (e.ts or 0)) & 0xffffffffffffffff
            o = (o + size + 7) & ~7
    assert not problems, problems
    print(json.dumps({'path': path, 'counts': counts, 'digest': digest, 'times': str(times),
        'header': {k: header[k] for k in ('bufsize', 'build', 'cpus', 'mode', 'ptr', 'boot', 'freq', 'start', 'endtime', 'clock', 'session', 'file', 'bias')}}))
`

type reference struct {
	Path   string
	Counts map[string]int
	Digest uint32 // of the payload sizes, in order
	Times  string // sum of all time stamps, modulo 2^64
	Header struct {
		Bufsize, Build, CPUs, Mode, Ptr, Clock uint32
		Boot, Freq, Start, Endtime             int64
		Session, File                          string
		Bias                                   int32
	}
}

// runReference reads the files with the reference decoder, in two processes.
func runReference(t *testing.T, files []string) []reference {
	t.Helper()
	python := corpus.Tool(t, "python3")
	oracle := corpus.Path(t, "oracle")
	sort.Slice(files, func(i, j int) bool { return fileSize(files[i]) < fileSize(files[j]) })
	var halves [2][]string
	for i, f := range files {
		halves[i%2] = append(halves[i%2], f)
	}
	var refs []reference
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, half := range halves {
		wg.Go(func() {
			out, err := exec.Command(python, append([]string{"-c", referenceCounts, oracle}, half...)...).Output()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("reference decoder: %v", err)
				return
			}
			dec := json.NewDecoder(bytes.NewReader(out))
			for dec.More() {
				var r reference
				if err := dec.Decode(&r); err != nil {
					t.Error(err)
					return
				}
				refs = append(refs, r)
			}
		})
	}
	wg.Wait()
	return refs
}

func fileSize(path string) int64 {
	fi, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return fi.Size()
}

func TestCorpusEqualsReference(t *testing.T) {
	var files []string
	for _, row := range corpus.Files(t, "etl") {
		files = append(files, row.File)
	}
	refs := runReference(t, files)
	if len(refs) != len(files) {
		t.Fatalf("%d of %d files", len(refs), len(files))
	}
	for _, ref := range refs {
		f := openFile(t, ref.Path)
		name := filepath.Base(ref.Path)
		if diff := cmp.Diff(ref.Counts, histogram(t, f)); diff != "" {
			t.Errorf("%s (-reference +got):\n%s", name, diff)
		}
		var digest uint32
		var times uint64
		dec := f.NewDecoder(AllClasses)
		for i := range f.Buffers() {
			for it := dec.Buffer(i); it.Next(); {
				digest = digest*31 + uint32(len(it.Record().Payload))
				if it.Record().Type != HeaderError { // it has no time of its own
					times += uint64(it.Record().Time)
				}
			}
		}
		if digest != ref.Digest || fmt.Sprint(times) != ref.Times {
			t.Errorf("%s: payload sizes or times differ", name)
		}
		h := ref.Header
		want := LogFile{BufferSize: h.Bufsize, Build: h.Build, Processors: h.CPUs, Mode: h.Mode, PointerSize: h.Ptr, Clock: Clock(h.Clock),
			BootTime: h.Boot, PerfFreq: h.Freq, StartTime: h.Start, EndTime: h.Endtime, Session: h.Session, FileName: h.File, Bias: h.Bias}
		got := f.Header
		got.Version, got.TimerResolution, got.MaximumFileSize, got.BuffersWritten, got.StartBuffers, got.CPUMHz, got.Time = [4]uint8{}, 0, 0, 0, 0, 0, 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-reference +got):\n%s", name, diff)
		}
		if f.Defect() != nil || f.Damage != (Damage{}) {
			t.Errorf("%s: %v, %v", name, f.Defect(), f.Damage)
		}
	}
}

// TestCorpusPayloads decodes every record that has a decoder. None may fail,
// and none may leave bytes over.
func TestCorpusPayloads(t *testing.T) {
	for _, row := range corpus.Files(t, "etl") {
		f := openFile(t, row.File)
		dec := f.NewDecoder(AllClasses)
		bad := map[string]int{}
		for i := range f.Buffers() {
			for it := dec.Buffer(i); it.Next(); {
				if rest, err := decodeAny(it.Record()); err != nil || rest != 0 {
					bad[fmt.Sprintf("%s: left %d: %v", recordKey(it.Record()), rest, err)]++
				}
			}
		}
		for k, n := range bad {
			t.Errorf("%s: %d times %s", filepath.Base(row.File), n, k)
		}
	}
}

// decodeAny reads a record with the decoder for its class and says how many
// bytes of the payload that left over.
func decodeAny(r *Record) (rest int, err error) {
	full := len(r.Payload)
	ptr := int(r.PointerSize)
	switch r.Class {
	case ClassLogFile:
		return logFileLayout.decode(r, ptr, new(LogFile))
	case ClassProcess:
		return decodeEither(&processLayout, r, ClassProcess, new(Process))
	case ClassThread:
		return decodeEither(&threadLayout, r, ClassThread, new(Thread))
	case ClassImage:
		return decodeEither(&imageLayout, r, ClassImage, new(Image))
	case ClassSample:
		if r.Hook == HookSampleCache {
			s, err := DecodeSampleCache(r, nil)
			return full - ptr - len(s)*(ptr+sampleTail), err
		}
		return full - ptr - sampleTail, DecodeSample(r, new(Sample))
	case ClassPMC:
		return full - ptr - sampleTail, DecodePMCSample(r, new(PMCSample))
	case ClassInterval:
		if r.Hook == HookCounterNames {
			names, err := DecodeCounterNames(r)
			return full - len(AppendCounterNames(nil, names)), err
		}
		if err := DecodeInterval(r, new(Interval)); err != nil {
			return 0, err
		}
		return intervalLayout.decode(r, ptr, new(Interval))
	case ClassStack:
		var s Stack
		err := DecodeStack(r, &s)
		return full - stackHeader - len(s.Frames)*ptr, err
	case ClassStackKey:
		return full - stackHeader - ptr, DecodeStackKey(r, new(StackKey))
	case ClassStackDef:
		var s StackDef
		err := DecodeStackDef(r, &s)
		return full - ptr - len(s.Frames)*ptr, err
	case ClassLBR:
		var l LBR
		err := DecodeLBR(r, &l)
		return l.Trailing, err
	case ClassImageID:
		if r.Opcode == ImageIDVersion {
			if err := DecodeFileVersion(r, new(FileVersion)); err != nil {
				return 0, err
			}
			return fileVersionLayout.decode(r, ptr, new(FileVersion))
		}
		return decodeImageID(r, new(ImageID))
	case ClassSystem:
		if r.Hook == HookCPUConfig {
			if err := DecodeCPUConfig(r, new(CPUConfig)); err != nil {
				return 0, err
			}
			return cpuConfigLayout.decode(r, ptr, new(CPUConfig))
		}
		if err := DecodeVolume(r, new(Volume)); err != nil {
			return 0, err
		}
		return volumeLayout.decode(r, ptr, new(Volume))
	case ClassCLR:
		if IsCLRMethod(r) {
			return decodeCLRMethod(r, new(CLRMethod))
		}
		return decodeCLRModule(r, new(CLRModule))
	}
	return 0, nil
}

// baselineNames are the names that Microsoft's reader gives to kinds of
// records.
var baselineNames = map[Hook]string{
	0x0F2E: "PerfInfo/Sample", 0x0F49: "PerfInfo/CollectionStart", 0x0F4A: "PerfInfo/CollectionEnd",
	0x0301: "Process/Start", 0x0302: "Process/Stop", 0x0303: "Process/DCStart", 0x0304: "Process/DCStop", 0x0327: "Process/Defunct",
	0x0320: "Process/PerfCtr", 0x0321: "Process/PerfCtrRundown",
	0x030A: "Image/Load", 0x1402: "Image/Unload", 0x1403: "Image/DCStart", 0x1404: "Image/DCStop",
	0x0501: "Thread/Start", 0x0502: "Thread/Stop",
	0x0000: "EventTrace", 0x0005: "EventTrace/Extension", 0x0020: "EventTrace/EndExtension", 0x0008: "EventTrace/RundownComplete",
	0x010A: "DiskIO/Read", 0x010B: "DiskIO/Write", 0x010C: "DiskIO/ReadInit", 0x010D: "DiskIO/WriteInit", 0x010E: "DiskIO/FlushBuffers",
	0x010F: "DiskIO/FlushInit", 0x0220: "Memory/HardFault", 0x0B0A: "SystemConfig/CPU", 0x0B0F: "SystemConfig/Services",
	0x0B16: "SystemConfig/PnP", 0x061A: "TcpIp/SendIPV6", 0x061B: "TcpIp/RecvIPV6", 0x080B: "UdpIp/Recv", 0x081B: "UdpIp/RecvIPV6",
	0x080A: "UdpIp/Send", 0x081A: "UdpIp/SendIPV6",
}

var baselineImageIDs = map[uint8]string{0: "ImageID", 32: "ImageID/None", 36: "ImageID/DbgID_RSDS", 37: "ImageID/DbgID_ILRSDS", 64: "ImageID/FileVersion"}

var baselineCLR = map[CLRAction][2]string{
	CLRLoad:    {"Method/LoadVerbose", "Loader/ModuleLoad"},
	CLRUnload:  {"Method/UnloadVerbose", "Loader/ModuleUnload"},
	CLRDCStart: {"Method/DCStartVerbose", "Loader/ModuleDCStart"},
	CLRDCEnd:   {"Method/DCStopVerbose", "Loader/ModuleDCStop"},
}

// TestMicrosoftBaseline compares the counts with those that Microsoft's own
// reader printed for the same file. It leaves idle samples out.
func TestMicrosoftBaseline(t *testing.T) {
	const name = "microsoft_perfview__net.4.5.2.x64"
	text, err := os.ReadFile(corpus.Path(t, "corpus", "etl", "baselines", name+".baseline.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n") {
		kind, n, ok := cutLast(strings.TrimPrefix(line, "COUNT "), ":")
		if !ok || !strings.HasPrefix(line, "COUNT ") {
			continue
		}
		kind = strings.TrimPrefix(strings.TrimPrefix(kind, "Windows Kernel/"), "KernelTraceControl/")
		var count int
		if _, err := fmt.Sscan(n, &count); err != nil {
			t.Fatal(line, err)
		}
		want[kind] = count
	}

	got := map[string]int{}
	idle := 0
	f := openFile(t, corpus.Path(t, "corpus", "etl", name+"__net.4.5.2.x64.etl"))
	dec := f.NewDecoder(AllClasses)
	for i := range f.Buffers() {
		for it := dec.Buffer(i); it.Next(); {
			r := it.Record()
			switch r.Class {
			case ClassSample:
				var s Sample
				if err := DecodeSample(r, &s); err != nil {
					t.Fatal(err)
				}
				if s.Idle() {
					idle++
					continue
				}
			case ClassImageID:
				got[baselineImageIDs[r.Opcode]]++
				continue
			case ClassCLR:
				provider := "Microsoft-Windows-DotNETRuntime"
				if r.GUID == CLRRundownGUID {
					provider += "Rundown"
				}
				var method CLRMethod
				var module CLRModule
				if IsCLRMethod(r) {
					if err := DecodeCLRMethod(r, &method); err != nil {
						t.Fatal(err)
					}
					got[provider+"/"+baselineCLR[method.Action][0]]++
				} else {
					if err := DecodeCLRModule(r, &module); err != nil {
						t.Fatal(err)
					}
					got[provider+"/"+baselineCLR[module.Action][1]]++
				}
				continue
			}
			if n := baselineNames[r.Hook]; n != "" && r.Type != HeaderEvent32 && r.Type != HeaderEvent64 {
				got[n]++
			}
		}
	}
	kinds := 0
	for _, names := range []map[string]int{want, got} {
		for kind := range names {
			if got[kind] == 0 && !namedInBaseline(kind) {
				continue
			}
			if strings.HasSuffix(kind, "Method/DCStopVerbose") {
				continue // Microsoft's reader uses these up itself and prints none
			}
			if got[kind] != want[kind] {
				t.Errorf("%s: got %d, baseline %d", kind, got[kind], want[kind])
			}
		}
	}
	for kind := range got {
		if !strings.HasPrefix(kind, "Microsoft-") {
			kinds++
		}
	}
	if kinds != 41 || got["PerfInfo/Sample"] != 6320 || idle != 73208 {
		t.Errorf("%d kinds, %d samples and %d idle ones; want 41, 6320, 73208", kinds, got["PerfInfo/Sample"], idle)
	}
}

func namedInBaseline(kind string) bool {
	for _, n := range baselineNames {
		if n == kind {
			return true
		}
	}
	for _, n := range baselineImageIDs {
		if n == kind {
			return true
		}
	}
	return false
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
