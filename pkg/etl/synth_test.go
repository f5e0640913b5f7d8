package etl

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestMadeRecordings reads the recordings that the reference's generator made
// and compares every payload with what it put in.
func TestMadeRecordings(t *testing.T) {
	for _, tc := range []struct {
		file  string
		ptr   int
		extra bool
	}{
		{"k64.etl", 8, false}, {"k64_extra.etl", 8, true}, {"k64_packed.etl", 8, false},
		{"k64_circular.etl", 8, false}, {"k32.etl", 4, false}, {"k32_packed_extra.etl", 4, true},
	} {
		t.Run(tc.file, func(t *testing.T) {
			f := openFile(t, corpus.Path(t, "corpus", "etl", tc.file))
			m := NewMerge([]*File{f}, AllClasses)
			var got []string
			for m.Next() {
				got = append(got, describe(t, m.Record()))
			}
			if m.Err() != nil || m.Disordered != 0 {
				t.Errorf("error %v, %d out of order", m.Err(), m.Disordered)
			}
			if diff := cmp.Diff(madeEvents(tc.ptr, tc.extra), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// describe decodes a record into text.
func describe(t *testing.T, r *Record) string {
	t.Helper()
	var v any
	var err error
	switch r.Class {
	case ClassProcess:
		p := new(Process)
		v, err = p, DecodeProcess(r, p)
		if err == nil {
			return fmt.Sprintf("%d process %d parent %d session %d exit %#x user %v %q %q", r.Time, p.PID, p.ParentPID, p.SessionID, p.ExitStatus, p.SID, p.Image, p.CommandLine)
		}
	case ClassThread:
		p := new(Thread)
		v, err = p, DecodeThread(r, p)
		if err == nil {
			return fmt.Sprintf("%d thread %d of %d, opcode %d, teb %d, priority %d", r.Time, p.TID, p.PID, r.Opcode, p.TEB, p.BasePriority)
		}
	case ClassImage:
		p := new(Image)
		v, err = p, DecodeImage(r, p)
		if err == nil {
			return fmt.Sprintf("%d image %#x+%#x of %d, hook %#04x, stamp %#x, %q", r.Time, p.Base, p.Size, p.PID, uint16(r.Hook), p.TimeDateStamp, p.Name)
		}
	case ClassImageID:
		p := new(ImageID)
		v, err = p, DecodeImageID(r, p)
		if err == nil {
			return fmt.Sprintf("%d ImageID %d %#x+%#x of %d, stamp %#x, %v age %d %q", r.Time, p.Opcode, p.Base, p.Size, p.PID, p.TimeDateStamp, p.GUID, p.Age, p.Name)
		}
	case ClassInterval:
		if r.Hook == HookCounterNames {
			names, err := DecodeCounterNames(r)
			return fmt.Sprintf("%d counters %q %v", r.Time, names, err)
		}
		p := new(Interval)
		v, err = *p, DecodeInterval(r, p)
		v = *p
	case ClassSample:
		p := new(Sample)
		err = DecodeSample(r, p)
		v = *p
	case ClassPMC:
		p := new(PMCSample)
		err = DecodePMCSample(r, p)
		pebs, _ := r.PEBSIndex()
		v = fmt.Sprintf("%+v counters %d pebs %#x", *p, r.Counters(nil), pebs)
	case ClassLBR:
		p := new(LBR)
		err = DecodeLBR(r, p)
		v = fmt.Sprintf("%+v", *p)
	case ClassStack:
		p := new(Stack)
		err = DecodeStack(r, p)
		v = fmt.Sprintf("%+v", *p)
	case ClassLogFile:
		return fmt.Sprintf("%d log file", r.Time)
	default:
		return fmt.Sprintf("%v hook %#04x tid %d pid %d version %d payload %x", r.Type, uint16(r.Hook), r.TID, r.PID, r.Version, r.Payload)
	}
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%d %T %+v", r.Time, v, v)
}

// madeEvents is what the generator describes, in global time order.
func madeEvents(ptr int, extra bool) []string {
	const t0 = 5_000_000
	kbase, ubase := uint64(0xfffff80000400000), uint64(0x7ff600000000)
	if ptr == 4 {
		kbase, ubase = 0x80400000, 0x400000
	}
	var want []string
	add := func(format string, args ...any) { want = append(want, fmt.Sprintf(format, args...)) }
	value := func(time int64, v any) { add("%d %T %+v", time, v, v) }
	add("%d log file", t0)
	add("%d image %#x+0x800000 of 0, hook 0x1403, stamp 0x5f000000, %q", t0+10, kbase, `\SystemRoot\system32\ntoskrnl.exe`)
	add("%d process 1000 parent 4 session 1 exit 0x103 user S-1-5-18 %q %q", t0+20, "app.exe", "app.exe -x")
	add("%d thread 1004 of 1000, opcode 1, teb 7, priority 8", t0+30)
	add("%d ImageID 0 %#x+0x20000 of 1000, stamp 0x60000001, {00000000-0000-0000-0000-000000000000} age 0 %q", t0+40, ubase, "app.exe")
	add("%d ImageID 36 %#x+0x0 of 1000, stamp 0x0, {11223344-5566-7788-99AA-BBCCDDEEFF00} age 3 %q", t0+40, ubase, "app.pdb")
	add("%d image %#x+0x20000 of 1000, hook 0x030a, stamp 0x5f000000, %q", t0+40, ubase, `\Device\HarddiskVolume3\app\app.exe`)
	add("%d counters %q <nil>", t0+50, []string{"BranchInstructionRetired", "InstructionRetired"})
	interval := Interval{Source: 30, New: 16384, Old: 65536, Name: "BranchInstructionRetired"}
	value(t0+60, interval)
	if extra {
		compact, instance := HeaderCompact64, HeaderInstance64
		if ptr == 4 {
			compact, instance = HeaderCompact32, HeaderInstance32
		}
		add("%v hook 0x0524 tid 1004 pid 1000 version 2 payload "+"ec03000000000000"+"0800000000000002"+"0000000000000000", compact)
		add("%v hook 0xffff tid 1004 pid 1000 version 1 payload 61626364", instance)
		add("MESSAGE hook 0xffff tid 1004 pid 1000 version 0 payload 01000000")
		add("ERROR hook 0xffff tid 4294967295 pid 4294967295 version 0 payload 00000000000000000000000000000000")
	}
	for i := range 40 {
		at := int64(t0 + 1000 + 100*i)
		ip := ubase + 0x1000 + 16*uint64(i)
		if i%4 == 0 {
			ip = kbase + 0x2000 + 8*uint64(i)
		}
		if i%5 == 0 {
			value(at, Sample{IP: ip, TID: 1004, Count: 1, Flags: 0x40})
		} else {
			var counters []uint64
			if i%3 == 0 {
				counters = []uint64{123456 + uint64(i), 7}
			}
			pebs := uint64(0)
			if i == 7 {
				pebs = ip + 1
			}
			value(at, fmt.Sprintf("%+v counters %d pebs %#x", PMCSample{IP: ip, TID: 1004, Source: 30}, counters, pebs))
			l := LBR{Time: at, PID: 1000, TID: 1004, Options: 5}
			for k := range uint64(i % 33) {
				l.Branches = append(l.Branches, Branch{ubase + 0x1100 + 8*k, ubase + 0x1000 + 16*k, k + 1})
			}
			value(at+3, fmt.Sprintf("%+v", l))
		}
		if i%4 == 1 {
			value(at+5, fmt.Sprintf("%+v", Stack{Time: at, PID: 1000, TID: 1004, Frames: []uint64{ip, ubase + 0x1800, ubase + 0x1900}}))
		}
	}
	value(t0+9000, interval)
	add("%d thread 1004 of 1000, opcode 2, teb 7, priority 8", t0+9100)
	return want
}
