package ingest

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// A script is a recording as text, one record a line, in the order of the
// file. Words in braces are optional:
//
//	TIME map PID ADDR+LEN OFFSET NAME {flag...}   executable MMAP2; flags: v1,
//	                                  data, prot=N, id=HEX, kernel, guest, nomode
//	TIME comm PID NAME {exec} {tid=N}
//	TIME fork PID PARENT {thread} {synth}
//	TIME exit PID
//	TIME bpf ADDR+LEN
//	TIME sample PID IP {flag...} {lbr FROM>TO{:flag}...} {chain IP...}
//
// Names have ~ for a blank. Flags of samples: the mode kernel, guest,
// guestkernel, hv or nomode, tid=N, period=N and event=N, the number of the
// event. Flags of a branch: w wrong path, n not taken. A chain can hold the
// markers KERNEL, USER, GUEST, HV and DEFERRED. Numbers are hexadecimal, but
// for those of processes, times, periods and events.
type script struct {
	t  testing.TB
	w  *perfdata.Writer
	id uint64 // of the event that records without one belong to
}

// recording says how a script is written.
type recording struct {
	attrs    []*perfdata.Attr
	features perfdata.Features
	writer   perfdata.WriterOptions
}

// everything is what samples of scripts have by default.
const everything = perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime | perfdata.SamplePeriod |
	perfdata.SampleCallChain | perfdata.SampleBranchStack

// cycles is the default event.
func cycles() *perfdata.Attr {
	return &perfdata.Attr{SampleType: everything, SamplePeriod: 1000, BranchSampleType: 1 << 3,
		Flags: perfdata.FlagSampleIDAll | perfdata.FlagMmap2, Name: "cycles"}
}

// write writes a script to a new file.
func (r recording) write(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "perf.data")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := r.writer
	if o.Attrs = r.attrs; o.Attrs == nil {
		o.Attrs = []*perfdata.Attr{cycles()}
	}
	o.Features = &r.features
	w, err := perfdata.NewWriter(f, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, w: w}
	if ids := o.Attrs[0].IDs; len(ids) > 0 {
		s.id = ids[0]
	}
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			if err := s.line(words[1], number(t, words[0], 10), words[2:], o.Attrs); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func number(t testing.TB, word string, base int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(word, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func pid(t testing.TB, word string) int32 {
	t.Helper()
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

func (s *script) line(verb string, time uint64, args []string, attrs []*perfdata.Attr) error {
	ids := perfdata.SampleIDs{Time: time, ID: s.id}
	has := func(flag string) bool { return slices.Contains(args, flag) }
	value := func(name string) string {
		for _, a := range args {
			if v, ok := strings.CutPrefix(a, name+"="); ok {
				return v
			}
		}
		return ""
	}
	span := func(word string) (addr, size uint64) {
		a, n, _ := strings.Cut(word, "+")
		return number(s.t, a, 16), number(s.t, n, 16)
	}
	switch verb {
	case "map":
		m := &perfdata.Mmap{Mode: perfdata.ModeUser, V2: !has("v1"), Data: has("data"), Prot: 5, PID: pid(s.t, args[0]),
			PgOff: number(s.t, args[2], 16), Name: strings.ReplaceAll(args[3], "~", " ")}
		m.TID = m.PID
		m.Addr, m.Len = span(args[1])
		switch {
		case has("kernel"):
			m.Mode = perfdata.ModeKernel
		case has("guest"):
			m.Mode = perfdata.ModeGuestKernel
		case has("nomode"):
			m.Mode = perfdata.ModeUnknown
		}
		if v := value("prot"); v != "" {
			m.Prot = uint32(number(s.t, v, 10))
		}
		if v := value("id"); v != "" {
			m.BuildID, _ = hex.DecodeString(v)
		}
		return s.w.WriteEvent(m, ids)
	case "comm":
		c := &perfdata.Comm{PID: pid(s.t, args[0]), Name: args[1], Exec: has("exec")}
		if c.TID = c.PID; value("tid") != "" {
			c.TID = pid(s.t, value("tid"))
		}
		return s.w.WriteEvent(c, ids)
	case "fork":
		f := &perfdata.Task{PID: pid(s.t, args[0]), PPID: pid(s.t, args[1]), Time: time, Synthesized: has("synth")}
		f.TID, f.PTID = f.PID, f.PPID
		if has("thread") {
			f.PID = f.PPID
		}
		return s.w.WriteEvent(f, ids)
	case "exit":
		p := pid(s.t, args[0])
		return s.w.WriteEvent(&perfdata.Task{Exit: true, PID: p, TID: p, Time: time}, ids)
	case "bpf":
		k := &perfdata.Ksymbol{Kind: ksymbolBPF, Name: "bpf_prog"}
		addr, size := span(args[0])
		k.Addr, k.Len = addr, uint32(size)
		return s.w.WriteEvent(k, ids)
	case "sample":
		return s.w.WriteSample(s.sample(time, args, value, attrs))
	}
	return fmt.Errorf("no record %q", verb)
}

func (s *script) sample(time uint64, args []string, value func(string) string, attrs []*perfdata.Attr) *perfdata.Sample {
	x := &perfdata.Sample{Time: time, PID: pid(s.t, args[0]), IP: number(s.t, args[1], 16), Misc: uint16(perfdata.ModeUser), Period: 1000}
	x.TID = x.PID
	if v := value("tid"); v != "" {
		x.TID = pid(s.t, v)
	}
	if v := value("period"); v != "" {
		x.Period = number(s.t, v, 10)
	}
	if x.Attr = attrs[0]; value("event") != "" {
		x.Attr = attrs[number(s.t, value("event"), 10)]
	}
	if len(x.Attr.IDs) > 0 {
		x.ID = x.Attr.IDs[0]
	}
	modes := map[string]perfdata.CPUMode{"kernel": perfdata.ModeKernel, "guest": perfdata.ModeGuestUser,
		"guestkernel": perfdata.ModeGuestKernel, "hv": perfdata.ModeHypervisor, "nomode": perfdata.ModeUnknown}
	markers := map[string]uint64{"KERNEL": perfdata.ContextKernel, "USER": perfdata.ContextUser, "GUEST": perfdata.ContextGuest,
		"HV": perfdata.ContextHypervisor, "DEFERRED": perfdata.ContextUserDeferred}
	part := ""
	for _, a := range args[2:] {
		mode, isMode := modes[a]
		switch {
		case a == "lbr", a == "chain":
			part = a
		case part == "lbr":
			from, to, _ := strings.Cut(a, ">")
			to, flags, _ := strings.Cut(to, ":")
			b := perfdata.Branch{From: number(s.t, from, 16), To: number(s.t, to, 16)}
			if strings.Contains(flags, "w") {
				b.Flags |= perfdata.SpecWrongPath << 24
			}
			if strings.Contains(flags, "n") {
				b.Flags |= 1 << 33
			}
			x.Branches = append(x.Branches, b)
		case part == "chain":
			ip, ok := markers[a]
			if !ok {
				ip = number(s.t, a, 16)
			}
			x.CallChain = append(x.CallChain, ip)
		case isMode:
			x.Misc = uint16(mode)
		}
	}
	return x
}

// scenario is a script and what has to come of it.
type scenario struct {
	name    string
	script  string
	want    string // lines of the journal; then accounts, see outcome
	options Options
	recording
}

func (sc scenario) run(t *testing.T) {
	t.Run(sc.name, func(t *testing.T) {
		path := sc.write(t, sc.script)
		got, _, _ := outcome(t, path, sc.options)
		var want strings.Builder
		for _, line := range strings.Split(strings.TrimSpace(sc.want), "\n") {
			want.WriteString(strings.TrimSpace(line) + "\n")
		}
		if diff := cmp.Diff(want.String(), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// outcome reads a recording with one worker and prints what came of it: what
// the sink was given, then the accounts "samples: used:1 jit:2", and
// "branches:" and "frames:" where there are any.
func outcome(t *testing.T, path string, o Options) (string, *Facts, *registry) {
	t.Helper()
	o.Workers = 1
	reg := newRegistry()
	j := &journal{registry: reg}
	facts, err := Read(context.Background(), path, nil, &o, reg, func() sample.Sink { return j })
	if err != nil {
		t.Fatal(err)
	}
	checkTotals(t, facts)
	lines := append(j.lines, "samples: "+account(&facts.Stats.Samples))
	if facts.BranchEntries > 0 {
		lines = append(lines, "branches: "+account(&facts.Stats.Branches))
	}
	if facts.CallchainFrames > 0 {
		lines = append(lines, "frames: "+account(&facts.Stats.Frames))
	}
	return strings.Join(lines, "\n") + "\n", facts, reg
}

// checkTotals checks that every sample, branch and frame is accounted for
// once.
func checkTotals(t *testing.T, f *Facts) {
	t.Helper()
	var records, branches uint64 // of Arm SPE
	if f.SPE != nil {
		records, branches = f.SPERecords-f.SPE.Joined, f.SPE.group("branch")
	}
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"samples", f.Stats.Samples.Total(), f.Samples},
		{"SPE records", f.Stats.SPERecords.Total(), records},
		{"SPE branches", f.Stats.SPEBranches.Total(), branches},
		{"branches", f.Stats.Branches.Total(), f.BranchEntries},
		{"frames", f.Stats.Frames.Total(), f.CallchainFrames},
	} {
		if c.got != c.want {
			t.Errorf("%d %s are accounted for, want %d", c.got, c.what, c.want)
		}
	}
}
