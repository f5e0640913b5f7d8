package spe_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"math/rand/v2"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// unhex reads bytes in hexadecimal, with blanks.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Two records of real processors, a branch and a load.
const (
	branchRecord = "b0 30 29 e7 6c fd ff 00 80" + // PC
		"99 0b 00" + // issue latency
		"98 0c 00" + // total latency
		"52 42 00" + // retired, not taken
		"4a 01" + // conditional branch
		"b1 34 29 e7 6c fd ff 00 80" + // target
		"00 00 00 00 00 00" +
		"71 ea 86 d8 78 3f 07 00 00" // timestamp
	loadRecord = "b0 d0 c2 a1 ed 66 ba ff c0" + // PC, EL2
		"00 00 00 00 00" +
		"65 80 5f 00 00" + // CONTEXTIDR_EL2
		"49 00" + // load of a general register
		"52 16 00" + // retired, L1D access, TLB access
		"99 04 00" + "98 0c 00" +
		"b2 00 10 20 30 40 ff ff 00" + // data address
		"9a 01 00" + // translation latency
		"00 00 00 00 00 00 00 00 00" +
		"43 00" + // from L1
		"00" +
		"71 01 00 00 00 00 00 00 00"
)

func TestWorkedExamples(t *testing.T) {
	data := unhex(t, branchRecord+loadRecord)
	var d spe.Decoder
	d.Reset(data, 0)
	var got []spe.Record
	for r := (spe.Record{}); d.Next(&r); {
		got = append(got, r)
	}
	want := []spe.Record{
		{Size: 44, Fields: spe.HasPC | spe.HasIssue | spe.HasTotal | spe.HasEvents | spe.HasOperation | spe.HasTarget | spe.HasTimestamp,
			PC: 0x8000fffd6ce72930, Target: 0x8000fffd6ce72934, Issue: 11, Total: 12, Events: spe.EventRetired | spe.EventNotTaken,
			Op: spe.Operation{Class: spe.ClassBranch, Bits: 1}, Timestamp: 0x73f78d886ea},
		{Offset: 44, Size: 63, Fields: spe.HasPC | spe.HasContext2 | spe.HasOperation | spe.HasEvents | spe.HasIssue | spe.HasTotal | spe.HasData |
			spe.HasTranslation | spe.HasDataSource | spe.HasTimestamp,
			PC: 0xc0ffba66eda1c2d0, Context2: 24448, Op: spe.Operation{Class: spe.ClassMemory}, Issue: 4, Total: 12, Data: 0xffff4030201000,
			Translation: 1, Events: spe.EventRetired | spe.EventL1DAccess | spe.EventTLBAccess, Timestamp: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	branch, load := got[0], got[1]
	if branch.PC.Address() != 0xfffd6ce72930 || branch.PC.EL() != 0 || branch.PC.World() != "non-secure" || branch.Taken() ||
		!branch.Op.Conditional() || branch.Op.Indirect() || branch.Op.Link() != spe.LinkUnknown {
		t.Errorf("branch: PC %#x, %v", branch.PC.Address(), branch.Op)
	}
	if load.PC.Address() != 0xffffba66eda1c2d0 || load.PC.EL() != 2 || load.Data.Address() != 0xffffff4030201000 || load.Op.Store() {
		t.Errorf("load: PC %#x, data %#x, %v", load.PC.Address(), load.Data.Address(), load.Op)
	}
	for cpu, want := range map[spe.MIDR]spe.Source{0x410fd0c0: spe.SourceL1, 0xc00fac40: spe.SourcePeer, 0x480fd060: spe.SourcePeer, 0: spe.SourceL1} {
		if s := cpu.Sources().Of(&load); s != want {
			t.Errorf("processor %#x: data come from %v, want %v", uint32(cpu), s, want)
		}
	}
	if s := spe.MIDR(0x410fd0c0).Sources().Of(&branch); s != spe.SourceUnknown {
		t.Errorf("a branch has data from %v", s)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		payload, address uint64
		el               int
		world            string
	}{
		{0x8000000000401000, 0x401000, 0, "non-secure"},
		{0xa0ff800008081234, 0xffff800008081234, 1, "non-secure"},
		{0xc0ff800008081234, 0xffff800008081234, 2, "non-secure"},
		{0xe000000000001000, 0x1000, 3, "non-secure"},
		{0x20ff800008081234, 0xff800008081234, 1, "secure"},
		{0xb000000000001000, 0xff00000000001000, 1, "realm"},
		{0x7000000000001000, 0x1000, 3, "root"},
	} {
		if a := spe.Address(c.payload); a.Address() != c.address || a.EL() != c.el || a.World() != c.world {
			t.Errorf("%#x: address %#x, EL%d, %s", c.payload, a.Address(), a.EL(), a.World())
		}
	}
	if d := spe.DataAddress(0xb4f0000000000010); d.Address() != 0xfff0000000000010 || d.Tag() != 0xb4 {
		t.Errorf("data address %#x, tag %#x", d.Address(), d.Tag())
	}
	if p := spe.PhysicalAddress(0xd300000080001000); p.Address() != 0x80001000 || p.Tag() != 3 || !p.Checked() || !p.NonSecure() || !p.NSE() {
		t.Errorf("physical address %#x, tag %d", p.Address(), p.Tag())
	}
}

func TestOperations(t *testing.T) {
	for _, c := range []struct {
		class spe.Class
		bits  uint8
		form  spe.Form
		text  string
	}{
		{spe.ClassOther, 0x00, spe.FormGeneral, "OTHER INSN-OTHER"},
		{spe.ClassOther, 0x07, spe.FormSIMD, "OTHER ASE FP COND-SELECT"},
		{spe.ClassOther, 0x2e, spe.FormSVE, "SVE-OTHER EVLEN 128 FP PRED"},
		{spe.ClassOther, 0x9e, spe.FormSME, "SME-OTHER ETS 1024 FP"},
		{spe.ClassOther, 0x40, spe.FormReserved, "OTHER RESERVED 0x40"},
		{spe.ClassMemory, 0x00, spe.FormGeneral, "LD GP-REG"},
		{spe.ClassMemory, 0x05, spe.FormSIMD, "ST SIMD-FP"},
		{spe.ClassMemory, 0x11, spe.FormUnspecified, "ST UNSPEC-REG"},
		{spe.ClassMemory, 0x14, spe.FormTag, "LD MTE-TAG"},
		{spe.ClassMemory, 0x30, spe.FormSystem, "LD NV-SYSREG"},
		{spe.ClassMemory, 0x1f, spe.FormExtended, "ST AT EXCL AR"},
		{spe.ClassMemory, 0x9c, spe.FormSVE, "LD SVE-SME-REG EVLEN 64 PRED SG"},
		{spe.ClassMemory, 0x21, spe.FormCopy, "ST MEMCPY"},
		{spe.ClassMemory, 0x25, spe.FormSet, "ST MEMSET"},
		{spe.ClassMemory, 0x44, spe.FormGCS, "LD GCS COMM"},
		{spe.ClassMemory, 0x50, spe.FormReserved, "LD RESERVED 0x50"},
		{spe.ClassBranch, 0x03, spe.FormGeneral, "B COND IND"},
		{spe.ClassBranch, 0x0c, spe.FormGeneral, "B GCS CR-BL"},
		{spe.ClassBranch, 0x12, spe.FormGeneral, "B IND CR-RET"},
		{spe.ClassBranch, 0x18, spe.FormGeneral, "B CR-NON-BL-RET"},
		{spe.ClassReserved, 0x01, spe.FormReserved, "OP-TYPE 0x1 (3)"},
	} {
		o := spe.Operation{Class: c.class, Bits: c.bits}
		if o.Form() != c.form || o.String() != c.text {
			t.Errorf("class %d, %#x: form %d, %q, want %d, %q", c.class, c.bits, o.Form(), o.String(), c.form, c.text)
		}
	}
	a := spe.Operation{Class: spe.ClassMemory, Bits: 0x16}
	if !a.Atomic() || a.Exclusive() || !a.AcquireRelease() || a.Store() || a.GuardedStack() {
		t.Errorf("load-acquire of an atomic: %v", a)
	}
	if b := (spe.Operation{Class: spe.ClassBranch, Bits: 0x04}); !b.GuardedStack() || b.Link() != spe.LinkUnknown {
		t.Errorf("branch with guarded stack: %v", b)
	}
}

// TestStates finds what is wrong with records that cannot be used, and goes on
// behind them.
func TestStates(t *testing.T) {
	const pc = "b0 00 10 40 00 00 00 00 80"
	good := pc + "4a 00" + "01"
	for _, c := range []struct {
		bytes string
		want  []spe.State
	}{
		{good, []spe.State{spe.StateWhole}},
		{"00 00" + good + "00 00" + good, []spe.State{spe.StateWhole, spe.StateWhole}},
		{"4a 00 01" + good, []spe.State{spe.StateNoPC, spe.StateWhole}},
		{pc + good + good, []spe.State{spe.StateRepeated, spe.StateWhole}},
		{pc + "c3 01 01" + good, []spe.State{spe.StateDamaged, spe.StateWhole}}, // a packet of one byte
		{pc + "f3 01 71 01 01 01 01 01 01" + "01" + good, []spe.State{spe.StateDamaged, spe.StateWhole}},
		{pc + "2f b0 01 01 01 01 01 01 01 01" + "01" + good, []spe.State{spe.StateDamaged, spe.StateWhole}},
		{pc + "23 b7 01 01 01 01 01 01 01 01" + "22 98 01 01" + "01", []spe.State{spe.StateWhole}}, // extended, implementation defined
		{pc + "49 00", []spe.State{spe.StateTruncated}},
		{good + "b0 00 10", []spe.State{spe.StateWhole, spe.StateTruncated}},
		{good + "20", []spe.State{spe.StateWhole, spe.StateTruncated}},
		{"23 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" + good, []spe.State{spe.StateWhole}}, // alignment to 16
		{"01", []spe.State{spe.StateNoPC}},
		{"", nil},
	} {
		data := unhex(t, c.bytes)
		var d spe.Decoder
		var r spe.Record
		var got []spe.State
		n := 0
		for d.Reset(data, 0); d.Next(&r); n += r.Size {
			got = append(got, r.State)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.bytes, diff)
		}
		if n+d.Padding() != len(data) {
			t.Errorf("%s: %d bytes in records and %d of padding", c.bytes, n, d.Padding())
		}
	}
}

func TestEventTable(t *testing.T) {
	if e := spe.Event(6); e.Name != "NOT-TAKEN" || e.Filter.String() != "SPEv1p2" {
		t.Errorf("bit 6: %+v", e)
	}
	if e := spe.Event(0); e.Filter != spe.VersionNone {
		t.Errorf("bit 0 can be filtered: %+v", e)
	}
	if s := (spe.EventRetired | spe.EventLatePrefetch | 1<<50).String(); s != "RETIRED IMPDEF:12,50" {
		t.Errorf("events: %s", s)
	}
	p := spe.Packet{Kind: spe.KindEvents, Payload: uint64(spe.EventRetired | spe.EventLatePrefetch)}
	// perf names this one behind those of the architecture.
	p.Payload |= 1<<16 | 1<<13
	if s := string(p.AppendText(nil, 0x414fd0c1)); s != "EV RETIRED TXN LATE-PREFETCH IMPDEF:13" {
		t.Errorf("events of Neoverse N1: %s", s)
	}
}

func TestProcessors(t *testing.T) {
	m := spe.MIDR(0x413fd0c1)
	if m.Name() != "Neoverse N1" || !m.SamplesMicroOps() || m.Part() != 0xd0c || m.Implementer() != 0x41 {
		t.Errorf("%#x is %q", uint32(m), m.Name())
	}
	if m := spe.MIDR(0x510f0000); m.Name() != "" || m.SamplesMicroOps() || m.Sources() != nil {
		t.Errorf("%#x is %q", uint32(m), m.Name())
	}
}

// TestParseTextDefects names the line of what is no text form.
func TestParseTextDefects(t *testing.T) {
	for text, line := range map[string]string{
		"00000001:  00   PAD":                      "line 1",
		"00000000:  00   PAD\n\n00000002:  01 END": "line 3",
		"00000000: PAD":                            "line 1",
		"zero":                                     "line 1",
	} {
		_, err := spe.ParseText(strings.NewReader(text))
		var defect *binfmt.Error
		if !errors.As(err, &defect) || defect.Part != line || !errors.Is(err, binfmt.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestNoAllocation decodes without allocating, whatever the bytes are.
func TestNoAllocation(t *testing.T) {
	random := make([]byte, 1<<16)
	rand.NewChaCha8([32]byte{1}).Read(random)
	for name, data := range map[string][]byte{"real": unhex(t, branchRecord+loadRecord), "random": random} {
		var d spe.Decoder
		var r spe.Record
		var p spe.Packet
		n := testing.AllocsPerRun(10, func() {
			for d.Reset(data, 0); d.Next(&r); {
			}
			for w := spe.NewPackets(data, 0); w.Next(&p); {
			}
			spe.Skim(data, 0)
		})
		if n != 0 {
			t.Errorf("%s bytes: %v allocations", name, n)
		}
	}
}

// TestRandomBytes decodes random bytes; every byte is accounted for, and cuts
// between records change nothing. SPGO_LONG=1 does it to 200 MB.
func TestRandomBytes(t *testing.T) {
	const size = 1 << 20
	rounds := 4
	if os.Getenv("SPGO_LONG") != "" {
		rounds = 200
	}
	source := rand.NewChaCha8([32]byte{2})
	data := make([]byte, size)
	for range rounds {
		source.Read(data)
		checkStream(t, data)
	}
}

// checkStream checks what holds for every sequence of bytes.
func checkStream(t *testing.T, data []byte) {
	var d spe.Decoder
	var r spe.Record
	n, ended, end := 0, 0, 0
	for d.Reset(data, 0); d.Next(&r); n += r.Size {
		if r.Size <= 0 {
			t.Fatalf("a record of %d bytes", r.Size)
		}
		if r.State != spe.StateTruncated {
			ended++
			end = r.Offset + r.Size
		}
	}
	if n+d.Padding() != len(data) {
		t.Fatalf("%d bytes in records and %d of padding, of %d", n, d.Padding(), len(data))
	}
	if e, count := spe.Skim(data, 0); e != end || count != ended {
		t.Fatalf("skimming finds %d records up to %d, decoding %d up to %d", count, e, ended, end)
	}
	// Decoding in two parts, cut where skimming says.
	cut, records := spe.Skim(data[:len(data)/2], 0)
	again := 0
	for d.Reset(data[:cut], 0); d.Next(&r); again++ {
	}
	if again != records {
		t.Fatalf("%d records before the cut, want %d", again, records)
	}
	for d.Reset(data[cut:], uint64(cut)); d.Next(&r); {
		if r.State != spe.StateTruncated {
			again++
		}
	}
	if again != ended {
		t.Fatalf("%d records in two parts, %d in one", again, ended)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(unhex(f, branchRecord+loadRecord))
	for _, s := range rows(f) {
		f.Add(s.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkStream(t, data)
		var b bytes.Buffer
		if err := spe.WriteText(&b, bytes.NewReader(data), 0, 0x410fd0c0); err != nil {
			t.Fatal(err)
		}
		if got, err := spe.ParseText(&b); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("other bytes after printing and reading: %v", err)
		}
	})
}

func FuzzParseText(f *testing.F) {
	f.Add("00000000:  b0 30 29 e7 6c fd ff 00 80   PC 0xfffd6ce72930\n00000009:  4a 01  B COND\n")
	f.Fuzz(func(t *testing.T, text string) {
		data, err := spe.ParseText(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := spe.WriteText(&b, bytes.NewReader(data), 0, 0); err != nil {
			t.Fatal(err)
		}
		if again, err := spe.ParseText(&b); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("other bytes after printing and reading: %v", err)
		}
	})
}
