package perfdata

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// sampleEvents has every kind of event in every form that it is stored in.
func sampleEvents() []Event {
	id := ID{0xde, 0xad, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	return []Event{
		&Mmap{Mode: ModeKernel, PID: -1, Addr: 0xffffffff81000000, Len: 0x1000000, PgOff: 0xffffffff81000000, Name: "[kernel.kallsyms]_text"},
		&Mmap{Mode: ModeUser, PID: 4, TID: 5, Addr: 1 << 40, Len: 4096, Data: true, Timeout: true, Name: "1234567"},
		&Mmap{Mode: ModeUser, PID: 4, TID: 5, Addr: 0x400000, Len: 4096, PgOff: 0x1000, V2: true, Major: 8, Minor: 1, Inode: 1 << 33, InodeGeneration: 7, Prot: 5, Flags: 2, Name: "/bin/true"},
		&Mmap{Mode: ModeGuestUser, PID: 4, V2: true, BuildID: id, Prot: 5, Flags: 2, Name: "/usr/lib/libc.so.6"},
		&Mmap{Mode: ModeUser, V2: true, BuildID: id[:8], Name: ""},
		&Comm{PID: 1, TID: 2, Exec: true, Name: "fifteen letters"},
		&Comm{PID: 1, TID: 2},
		&Task{PID: 10, PPID: 1, TID: 11, PTID: 2, Time: 1 << 50},
		&Task{Exit: true, Synthesized: true, PID: 10, PPID: -1, TID: 11, PTID: 2},
		&Switch{Out: true, Preempt: true},
		&Switch{CPUWide: true, PID: 3, TID: 4},
		&Namespaces{PID: 1, TID: 1, Links: []Namespace{{4, 0xf0000000}, {4, 5}}},
		&Cgroup{ID: 77, Path: "/user.slice"},
		&ItraceStart{PID: 8, TID: 9},
		&Lost{ID: 3, Count: 1000},
		&LostSamples{Count: 12},
		&LostSamples{Count: 13, Filtered: true},
		&Throttle{Time: 5, ID: 6, StreamID: 7},
		&Throttle{End: true, Time: 5, ID: 6, StreamID: 7},
		&Read{PID: 1, TID: 2, Values: []uint64{3, 4, 5}},
		&Aux{Offset: 1 << 32, Size: 4096, Flags: AuxTruncated | AuxCollision},
		&AuxOutputHWID{HWID: 9},
		&Ksymbol{Addr: 0xffffffffc0000000, Len: 100, Kind: 1, Unregister: true, Name: "bpf_prog_1"},
		&BPFEvent{Kind: 1, Flags: 0, ID: 5, Tag: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}},
		&TextPoke{Addr: 0xffffffff81000000, Old: []byte{0x90, 0x90}, New: []byte{0xeb, 0x00}},
		&CallchainDeferred{Cookie: 5, IPs: []uint64{1, 2, 3}},
		&EventUpdate{What: UpdateUnit, ID: 5, Data: []byte("Joules\x00\x00")},
		&IDIndex{Entries: []IDEntry{{ID: 1, Index: 0, CPU: -1, TID: 5}, {ID: 2, Index: 1, CPU: 3, TID: -1}}},
		&IDIndex{Entries: []IDEntry{{ID: 1, CPU: 2, TID: -1, MachinePID: 99, VCPU: 4}}},
		&AuxtraceInfo{Kind: AuxArmSPE, Priv: []uint64{8, 1}},
		&AuxtraceError{Kind: 1, Code: 2, CPU: 3, PID: 4, TID: 5, IP: 6, Time: 7, Message: "lost"},
		&ThreadMap{Threads: []Thread{{PID: 12, Name: "init"}, {PID: -1}}},
		&CPUMap{CPUs: []uint32{0, 1, 7}},
		&CPUMap{CPUs: []uint32{0}, Any: true},
		&TimeConv{Shift: 5, Mult: 6, Zero: 7, Cycles: 8, Mask: 9, CapZero: true, CapShort: true},
	}
}

func TestEventRoundTrip(t *testing.T) {
	events := sampleEvents()
	covered := make(map[reflect.Type]bool)
	for _, ev := range events {
		covered[reflect.TypeOf(ev)] = true
	}
	for _, ev := range allEvents() {
		if _, ok := ev.(*Auxtrace); !ok && !covered[reflect.TypeOf(ev)] {
			t.Errorf("no sample of %T", ev)
		}
	}
	for _, all := range []AttrFlags{0, FlagSampleIDAll} {
		a := &Attr{SampleType: SampleIP | trailerMask, Flags: all}
		for name, opts := range variants() {
			opts.Attrs = []*Attr{a}
			wroteIDs := SampleIDs{Fields: trailerMask, PID: 1, TID: -1, Time: 1 << 60, ID: 5, StreamID: 6, CPU: 7}
			f := openBytes(t, writeBytes(t, opts, func(w *Writer) {
				for _, ev := range events {
					if err := w.WriteEvent(ev, wroteIDs); err != nil {
						t.Fatal(err)
					}
				}
			}))
			rs := f.Records()
			i := 0
			for rs.Next() {
				r := rs.Record()
				if r.Type == TypeHeaderAttr || r.Type == TypeHeaderFeature || r.Type == TypeCompressed || r.Type == TypeCompressed2 {
					continue
				}
				got := reflect.New(reflect.TypeOf(events[i]).Elem()).Interface().(Event)
				ids, err := f.Decode(r, got)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if diff := cmp.Diff(events[i], got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: %T (-wrote +read):\n%s", name, got, diff)
				}
				want := SampleIDs{}
				if all != 0 && r.Type < typeFirstUser {
					want = wroteIDs
				}
				if ids != want || f.SampleIDs(r) != want {
					t.Errorf("%s: %T: trailer %+v, want %+v", name, got, ids, want)
				}
				i++
			}
			if i != len(events) || rs.Index().Lost != 1000 || rs.Index().LostSamples != 12 || rs.Index().Filtered != 13 || rs.Index().Throttled() != 1 {
				t.Errorf("%s: %d events of %d; %d lost, %d samples lost, %d filtered, %d throttled", name, i, len(events),
					rs.Index().Lost, rs.Index().LostSamples, rs.Index().Filtered, rs.Index().Throttled())
			}
		}
	}
}

// TestEventForms has the forms that other writers use.
func TestEventForms(t *testing.T) {
	f := openBytes(t, writeBytes(t, WriterOptions{Attrs: []*Attr{{}}}, func(w *Writer) {}))
	le := func(parts ...any) []byte {
		e := newEncoder(false)
		for _, p := range parts {
			switch v := p.(type) {
			case uint8:
				e.u8(v)
			case uint16:
				e.u16(v)
			case uint32:
				e.u32(v)
			case uint64:
				e.u64(v)
			case string:
				e.bytes([]byte(v))
			}
		}
		return e.b
	}
	for _, tt := range []struct {
		name string
		typ  Type
		body []byte
		want Event
	}{
		{"CPU mask of 32-bit words", TypeCPUMap, le(uint16(1), uint16(2), uint16(4), uint32(5), uint32(1<<31)), &CPUMap{CPUs: []uint32{0, 2, 63}}},
		{"CPU mask of 64-bit words", TypeCPUMap, le(uint16(1), uint16(1), uint16(8), uint32(0), uint64(1<<63|1)), &CPUMap{CPUs: []uint32{0, 63}}},
		{"CPU range", TypeCPUMap, le(uint16(2), uint8(1), uint8(0), uint16(3), uint16(5), uint32(0)), &CPUMap{CPUs: []uint32{3, 4, 5}, Any: true}},
		{"empty CPU range", TypeCPUMap, le(uint16(2), uint8(0), uint8(0), uint16(5), uint16(3), uint32(0)), &CPUMap{}},
		{"old time conversion", TypeTimeConv, le(uint64(1), uint64(2), uint64(3)), &TimeConv{Shift: 1, Mult: 2, Zero: 3, CapZero: true}},
		{"name without NUL", TypeComm, le(uint32(1), uint32(2), "abcdefgh"), &Comm{PID: 1, TID: 2, Name: "abcdefgh"}},
		{"old trace error", TypeAuxtraceError, le(uint32(1), uint32(2), uint32(3), uint32(4), uint32(5), uint32(0), uint64(6), "why\x00"),
			&AuxtraceError{Kind: 1, Code: 2, CPU: 3, PID: 4, TID: 5, IP: 6, Message: "why"}},
	} {
		r := Record{Type: tt.typ, Data: append(make([]byte, 8), tt.body...)}
		got := reflect.New(reflect.TypeOf(tt.want).Elem()).Interface().(Event)
		if _, err := f.Decode(&r, got); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestEventDefects cuts the body of every event and checks that the error
// says where.
func TestEventDefects(t *testing.T) {
	f := openBytes(t, writeBytes(t, WriterOptions{Attrs: []*Attr{{}}}, func(w *Writer) {}))
	for _, ev := range sampleEvents() {
		e := newEncoder(false)
		typ, misc := ev.encode(e)
		for n := range len(e.b) {
			r := Record{Type: typ, Misc: misc, Offset: 1000, Data: append(make([]byte, 8), e.b[:n]...)}
			_, err := f.Decode(&r, ev)
			var at *binfmt.Error
			if err != nil && (!errors.As(err, &at) || at.Offset < 1008 || at.Offset > 1008+int64(n) || !errors.Is(err, binfmt.ErrTruncated) ||
				!strings.HasPrefix(at.Part, typ.String())) {
				t.Errorf("%T cut at %d: %v", ev, n, err)
			}
			if n == 0 && err == nil && len(e.b) > 0 {
				if _, ok := ev.(*Read); !ok {
					t.Errorf("%T without body: no error", ev)
				}
			}
		}
	}
	r := Record{Type: TypeComm, Data: make([]byte, 32)}
	if _, err := f.Decode(&r, new(Mmap)); !errors.Is(err, binfmt.ErrUnsupported) {
		t.Errorf("COMM into Mmap: %v", err)
	}
	for _, tt := range []struct {
		typ  Type
		body string
		want error
	}{
		{TypeNamespaces, "12345678\xff\xff\xff\xff\xff\xff\xff\xff", binfmt.ErrTruncated},
		{TypeIDIndex, "\x00\x00\x00\x00\x00\x00\x00\x08", binfmt.ErrTruncated},
		{TypeCallchainDeferred, "12345678\x00\x00\x00\x00\x00\x00\x00\x20", binfmt.ErrTruncated},
		{TypeCPUMap, "\x01\x00\x01\x00\x03\x00abcdefgh", binfmt.ErrCorrupt},
		{TypeCPUMap, "\x09\x00", binfmt.ErrUnsupported},
	} {
		r := Record{Type: tt.typ, Data: []byte("headhead" + tt.body)}
		if errs := decodeAny(f, &r); len(errs) != 1 || !errors.Is(errs[0], tt.want) {
			t.Errorf("%v %q: %v, want %v", tt.typ, tt.body, errs, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{TypeMmap2.String(), "MMAP2"},
		{Type(32770).String(), "32770"},
		{(SampleIP | SampleTID | SampleBranchStack).String(), "IP|TID|BRANCH_STACK"},
		{SampleType(1<<40 | 1).String(), "IP|0x10000000000"},
		{SampleType(0).String(), "0x0"},
		{FeatureSampleTime.String(), "SAMPLE_TIME"},
		{FeatureMetaInfo.String(), "META_INFO"},
		{Feature(200).String(), "200"},
		{(&Attr{}).String(), "cycles"},
		{(&Attr{Config: 4 << 32}).String(), "cycles"},
		{(&Attr{Type: 1}).String(), "cpu-clock"},
		{(&Attr{Type: 4, Config: 0x1c2}).String(), "raw:0x1c2"},
		{(&Attr{Type: 8}).String(), "type8:0x0"},
		{(&Attr{Type: 8, Name: "arm_spe_0//"}).String(), "arm_spe_0//"},
		{DefectBranches.Error(), "perfdata: sample: branch stack too long"},
		{ID{0xab, 1}.String(), "ab01"},
		{fmt.Sprint(ID{1, 2, 0, 0}.Equal(ID{1, 2}), ID{1}.Equal(ID{2})), "true false"},
		{fmt.Sprint(ContextMarker(ContextUser), ContextMarker(ContextGuestUser), ContextMarker(1<<47)), "true true false"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}

func TestAuxKindNames(t *testing.T) {
	for kind, want := range map[AuxKind]string{0: "kind 0", AuxIntelPT: "Intel PT", AuxArmSPE: "Arm SPE", AuxVPADTL: "PowerPC VPA DTL", AuxVPADTL + 1: "kind 8"} {
		if got := kind.String(); got != want {
			t.Errorf("%d: %q, not %q", uint32(kind), got, want)
		}
	}
}
