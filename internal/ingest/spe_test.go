package ingest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// plainConv converts time stamps to the same number of nanoseconds.
var plainConv = &perfdata.TimeConv{Mult: 1}

// app maps /bin/app of process 100 and /lib/so; both keep file offsets, since
// the files are not there.
const app = `
	1 comm 100 app exec
	2 map 100 400000+10000 0 /no/app
	2 map 100 500000+10000 0 /no/lib.so
`

// Bits of the configuration.
const (
	onlyBranches = 1 | speBranchFilter | speJitter
	allOps       = 1 | speJitter
)

// want removes the indentation of expected lines.
func want(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func TestSPESamples(t *testing.T) {
	recorded := perfdata.Attr{Config: allOps, Config1: 2}
	for _, c := range []struct {
		name    string
		script  speScript
		options Options
		want    string
	}{
		{"every operation that retired is an instruction, a branch also a branch",
			speScript{side: app, attr: recorded, trace: `0 -1 0 pc=401000 op=0.0 ev=2 ctx=100;
				pc=401010 op=2.0 ev=2 tgt=402000 ctx=100; pc=401020 op=1.0 ev=e ctx=100`},
			Options{}, `
			ip app+1000 op=02
			ip app+1010 op=02
			ip app+1010 op=03
			lbr app 1010>2000
			ip app+1020 op=02
			ip app+1020 op=05
			records: used:3
			branches: used:1
			by context packet:3`},
		{"records of branches alone are no instructions",
			speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, trace: `0 -1 0 pc=401010 op=2.0 ev=2 tgt=402000 ctx=100;
				pc=401020 op=1.0 ev=6 ctx=100`},
			Options{}, `
			ip app+1010 op=03
			lbr app 1010>2000
			records: used:1 event_filter:1
			branches: used:1
			by context packet:2`},
		{"a branch not taken is no arc, nor is a conditional one to the next instruction",
			speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, trace: `0 -1 0 pc=401010 op=2.1 ev=42 tgt=401014 ctx=100;
				pc=401020 op=2.1 ev=2 tgt=401024 ctx=100; pc=401030 op=2.0 ev=2 tgt=401034 ctx=100`},
			Options{}, `
			ip app+1010 op=03
			ip app+1020 op=03
			ip app+1030 op=03
			lbr app 1030>1034
			records: used:3
			branches: used:1 not_taken:2
			by context packet:3`},
		{"a previous branch target is a straight range up to a branch taken, from one of the branches to it",
			speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, trace: `0 -1 0 pc=401010 op=2.1 ev=2 tgt=402000 pbt=401000 ctx=100;
				pc=401010 op=2.1 ev=42 tgt=401014 pbt=401004 ctx=100; pc=401018 op=1.0 ev=2 pbt=401004 ctx=100;
				pc=401010 op=2.0 ev=2 tgt=402000 pbt=500000 ctx=100; pc=401010 op=2.0 ev=2 tgt=402000 pbt=401014 ctx=100;
				pc=402020 op=2.0 ev=2 tgt=401000 pbt=402000 ctx=100; pc=402020 op=2.0 ev=2 tgt=401000 pbt=402000 ctx=100;
				pc=402030 op=2.0 ev=2 tgt=401000 pbt=402000 ctx=100; pc=401010 op=2.1 ev=2 tgt=402000 pbt=401000 ctx=100`},
			Options{}, `
			ip app+1010 op=03
			ip app+1010 op=03
			ip app+1010 op=03
			lbr app 1010>2000
			ip app+1010 op=03
			lbr app 1010>2000
			ip app+2020 op=03
			ip app+2020 op=03
			ip app+2030 op=03
			ip app+1010 op=03
			lbr app 1010>2000 2020>1000
			lbr app 1010>2000 2030>1000
			lbr app 2020>1000 1010>2000 x2
			lbr app 2030>1000 1010>2000
			records: used:8 event_filter:1
			branches: used:7 not_taken:1
			by context packet:9`},
		{"a branch into another binary is in both",
			speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, trace: `0 -1 0 pc=401010 op=2.0 ev=2 tgt=500040 pbt=401000 ctx=100;
				pc=500050 op=2.0 ev=2 tgt=401014 pbt=500040 ctx=100`},
			Options{}, `
			ip app+1010 op=03
			lbr lib.so 0>40
			ip lib.so+50 op=03
			lbr app 0>1014
			lbr app 1010>0 0>1000
			lbr lib.so 50>0 0>40
			records: used:2
			branches: used:2
			by context packet:2`},
		{"what did not retire, raised an exception or has no target is no arc",
			speScript{side: app, attr: perfdata.Attr{Config: onlyBranches}, trace: `0 -1 0 pc=401010 op=2.0 ev=80 tgt=402000 ctx=100;
				pc=401010 op=2.0 ev=3 tgt=402000 ctx=100; pc=401010 op=2.0 ev=2 ctx=100`},
			Options{}, `
			ip app+1010 op=03
			ip app+1010 op=03
			records: used:2 speculative:1
			branches: exception:1 no_address:1 speculative:1
			by context packet:2`},
		{"broken records are left out",
			speScript{side: app, attr: recorded, trace: `0 -1 0 pc=401010 op=0.0 ev=2 ctx=100 hex=c30101; pc=401020 op=0.0 ev=2 ctx=100;
				op=0.0 ev=2; pc=401030 noend`},
			Options{}, `
			ip app+1020 op=02
			records: used:1 malformed:3
			by context packet:1`},
		{"kinds can be chosen, and mapped to opcodes",
			speScript{side: app, attr: recorded, trace: `0 -1 0 pc=401010 op=1.0 ev=20e ctx=100; pc=401020 op=1.0 ev=422 ctx=100`},
			Options{SPEKinds: 1<<speLLCMiss | 1<<speTLBMiss, Events: events(t, "arm_spe/llc-miss/=0x05")}, `
			ip app+1010 op=05
			records: used:1 unknown_event:1
			by context packet:2`},
		{"one in so many",
			speScript{side: app, attr: recorded, trace: `0 -1 0 pc=401010 op=0.0 ev=2 ctx=100; pc=401014 op=0.0 ev=2 ctx=100; pc=401018 op=0.0 ev=2 ctx=100;
				pc=40101c op=0.0 ev=2 ctx=100; pc=401020 op=0.0 ev=2 ctx=100`},
			Options{SPEPeriod: 2}, `
			ip app+1014 op=02
			ip app+101c op=02
			records: used:2 spe_period:3
			by context packet:2`},
		{"weights are intervals",
			speScript{side: app, attr: recorded, trace: `0 -1 0 pc=401010 op=0.0 ev=2 ctx=100`},
			Options{WeighByPeriod: true}, `
			ip app+1010 op=02 x4096
			records: used:1
			by context packet:1`},
		{"secure code is not looked at, kernel code needs no process",
			speScript{side: `1 map -1 ffff800000000000+10000 ffff800000000000 [kernel.kallsyms]_text kernel`, attr: recorded,
				trace: `0 -1 0 pc=401010:secure op=0.0 ev=2; pc=800000000040:el1 op=0.0 ev=2; pc=ff800000000050:el2 op=0.0 ev=2; pc=1000:el3 op=0.0 ev=2`},
			Options{}, `
			ip [kernel.kallsyms]+50 op=02
			records: used:1 hypervisor:2 kernel_unmapped:1
			by kernel:2`},
		{"filters apply",
			speScript{side: app + "3 comm 200 other exec\n3 map 200 400000+1000 0 /no/other", attr: recorded, conv: plainConv,
				trace: `0 -1 0 pc=400010 op=0.0 ev=2 ctx=100 ts=1000; pc=400020 op=0.0 ev=2 ctx=200 ts=2000; pc=400030 op=0.0 ev=2 ctx=100 ts=1000001000`},
			Options{PIDs: []uint32{100}, Time: &TimeRange{To: 0.5}}, `
			ip app+10 op=02
			records: used:1 process_filter:1 time_filter:1
			by context packet:3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := c.script.run(t, c.options)
			if diff := cmp.Diff(want(c.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			big := c.script
			big.writer.BigEndian = true
			if again, _ := big.run(t, c.options); again != got {
				t.Errorf("of a big-endian recording:\n%s", cmp.Diff(got, again))
			}
			pipe := c.script
			pipe.writer.Pipe = true
			if again, _ := pipe.run(t, c.options); again != got {
				t.Errorf("of a pipe:\n%s", cmp.Diff(got, again))
			}
		})
	}
}

func events(t *testing.T, settings ...string) *EventMap {
	t.Helper()
	m, err := NewEventMap(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSPEAttribution finds the process of a record in each of the ways that
// there are.
func TestSPEAttribution(t *testing.T) {
	two := app + `
		1 comm 200 other exec
		2 map 200 400000+10000 0 /no/other
		2 map 200 700000+10000 0 /no/lone
	`
	for _, c := range []struct {
		name   string
		script speScript
		want   string
	}{
		{"a context packet has a thread, of a process at a time",
			speScript{side: two + "3 comm 100 worker tid=101\n600 comm 200 again tid=101", conv: plainConv,
				trace: `0 -1 0 pc=400010 op=0.0 ev=2 ctx=101 ts=500; pc=400010 op=0.0 ev=2 ctx=101 ts=700`},
			`ip app+10 op=02
			ip other+10 op=02
			records: used:2
			by context packet:2`},
		{"context switches tell where context packets do not",
			speScript{side: two + "100 switch 0 out 100 100 200 200\n300 switch 0 in 100 100 200 200", conv: plainConv,
				trace: `0 -1 0 pc=400010 op=0.0 ev=2 ts=150 ctx=999; pc=400020 op=0.0 ev=2 ts=350`},
			`ip other+10 op=02
			ip app+20 op=02
			records: used:2
			by context switches:2`},
		{"the buffer of a thread",
			speScript{side: two, conv: plainConv, trace: `-1 200 0 pc=400010 op=0.0 ev=2 ts=150`},
			`ip other+10 op=02
			records: used:1
			by thread of the buffer:1`},
		{"the trace of the CPU began with it",
			speScript{side: two + "5 itrace 0 100\n5 itrace 1 200", conv: plainConv, trace: "0 -1 0 pc=400010 op=0.0 ev=2 ts=150\n1 -1 0 pc=400010 op=0.0 ev=2 ts=150"},
			`ip app+10 op=02
			ip other+10 op=02
			records: used:2
			by start of the trace:2`},
		{"only one process has the address",
			speScript{side: two, conv: plainConv, trace: "0 -1 0 pc=700010 op=0.0 ev=2 ts=150; pc=400010 op=0.0 ev=2 ts=150"},
			`ip lone+10 op=02
			records: used:1 unknown_process:1
			by only process with the address:1, unknown:1`},
		{"without time stamps the time is that of the AUX record",
			speScript{side: two + "100 switch 0 out 100 100 200 200\n300 switch 0 out 200 200 100 100",
				trace: "0 -1 0 aux=0@200 pc=400010 op=0.0 ev=2\n0 -1 - aux=0@400 pc=400020 op=0.0 ev=2"},
			`ip other+10 op=02
			ip app+20 op=02
			records: used:2
			by context switches:2`},
		{"recordings without any time",
			speScript{side: two, untimed: true, trace: "0 -1 0 pc=400010 op=0.0 ev=2 ctx=200"},
			`ip other+10 op=02
			records: used:1
			by context packet:1`},
		{"old information, of two words",
			speScript{side: two, info: []uint64{speTestPMU, 1}, trace: "0 -1 0 pc=400010 op=0.0 ev=2 ctx=200"},
			`ip other+10 op=02
			records: used:1
			by context packet:1`},
		{"no information",
			speScript{side: two, noInfo: true, trace: "0 -1 0 pc=400010 op=0.0 ev=2 ctx=200"},
			`ip other+10 op=02
			records: used:1
			by context packet:1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.script.attr = perfdata.Attr{Config: allOps, Config1: 2}
			got, _ := c.script.run(t, Options{})
			if diff := cmp.Diff(want(c.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSPEChunks puts records together that stand in several AUXTRACE records,
// cut anywhere, and no others.
func TestSPEChunks(t *testing.T) {
	records := "pc=401000 op=2.0 ev=2 tgt=402000 ctx=100 lat=7 align=64; pc=401010 op=2.0 ev=2 tgt=402000 ctx=100 align=64; pc=401020 op=2.0 ev=2 tgt=402000 ctx=100"
	data := speBytes(t, records)
	whole := speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, trace: "0 -1 0 " + records}
	want, _ := whole.run(t, Options{})
	var ranges [][2]int
	var d spe.Decoder
	var r spe.Record
	for d.Reset(data, 0); d.Next(&r); {
		ranges = append(ranges, [2]int{r.Offset, r.Offset + r.Size})
	}
	for cut := 1; cut < len(data); cut++ {
		sc := whole
		sc.trace = fmt.Sprintf("0 -1 0 hex=%x\n0 -1 - hex=%x", data[:cut], data[cut:])
		got, facts := sc.run(t, Options{})
		if got != want {
			t.Fatalf("cut at %d:\n%s", cut, cmp.Diff(want, got))
		}
		joined := uint64(0) // zeros between two records are of neither
		for _, r := range ranges {
			if r[0] < cut && cut < r[1] {
				joined = 1
			}
		}
		if facts.SPE.Joined != joined || facts.SPERecords != 3+joined {
			t.Errorf("cut at %d: %d records, %d joined, want %d", cut, facts.SPERecords, facts.SPE.Joined, joined)
		}
	}
	// A gap between the pieces: what is on either side stays apart.
	sc := whole
	sc.trace = fmt.Sprintf("0 -1 0 hex=%x\n0 -1 4096 hex=%x", data[:20], data[64:])
	got, facts := sc.run(t, Options{})
	if facts.SPE.Joined != 0 || facts.SPE.Damaged["truncated"] != 1 || facts.SPERecords != 3 || !strings.Contains(got, "used:2") {
		t.Errorf("with a gap: %s%v", got, facts.SPE.Damaged)
	}
}

// TestSPESnapshots takes what overlapping snapshots have twice once, and finds
// the first record of a ring that was written over.
func TestSPESnapshots(t *testing.T) {
	one := func(n int) string { return fmt.Sprintf("pc=4010%02x op=2.0 ev=2 tgt=402000 ctx=100 align=64", 16*n) }
	sc := speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2},
		trace: "0 -1 0 aux=2@100 " + one(0) + ";" + one(1) + "\n0 -1 64 aux=2@200 " + one(1) + ";" + one(2)}
	got, facts := sc.run(t, Options{})
	if facts.SPE.Again != 64 || facts.SPERecords != 3 || strings.Count(got, "lbr") != 3 || facts.SPE.Written.Snapshot != 2 {
		t.Errorf("overlap: %d bytes again, %d records\n%s", facts.SPE.Again, facts.SPERecords, got)
	}
	// The rest of a record whose beginning was written over can look like
	// anything: here like a packet that hides the next record.
	sc.trace = "0 -1 640 aux=2@100 hex=" + strings.Repeat("63", 59) + "f3636363f3 ;" + one(0) + ";" + one(1)
	got, facts = sc.run(t, Options{})
	if strings.Count(got, "lbr") != 2 || len(facts.SPE.Damaged) != 1 {
		t.Errorf("a ring that was written over: %v\n%s", facts.SPE.Damaged, got)
	}
}

// TestSPEWorkers reads a long stream with different numbers of workers, with
// records that no block can be cut at evenly, from several buffers.
func TestSPEWorkers(t *testing.T) {
	var trace strings.Builder
	for cpu := range 3 {
		var b []byte
		for i := 0; len(b) < 900_000; i++ {
			b = append(b, speBytes(t, fmt.Sprintf("pc=%x op=2.0 ev=2 tgt=402000 ctx=100 ts=%d", 0x401000+i%4000*4+cpu*4, i))...)
		}
		for i, piece := range slices.Collect(slices.Chunk(b, 123_457)) {
			offset := "-"
			if i == 0 {
				offset = "0"
			}
			fmt.Fprintf(&trace, "%d -1 %s hex=%x\n", cpu, offset, piece)
		}
	}
	sc := speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, conv: plainConv, trace: trace.String()}
	name := sc.write(t)
	one := readAll(name, nil, Options{SPEPeriod: 3})
	if one.err != nil {
		t.Fatal(one.err)
	}
	for _, workers := range []int{2, 8} {
		many := readAll(name, nil, Options{SPEPeriod: 3, Workers: workers})
		same(t, "addresses", one.ips, many.ips)
		same(t, "branches", one.arcs, many.arcs)
		if diff := cmp.Diff(printed(t, one.facts), printed(t, many.facts)); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
	// As many records as one decoder finds in the whole stream.
	var d spe.Decoder
	var r spe.Record
	n := uint64(0)
	for _, q := range strings.Split(trace.String(), "-1 0 ")[1:] {
		var data []byte
		for _, line := range strings.Split(q, "\n") {
			if _, text, ok := strings.Cut(line, "hex="); ok {
				data = append(data, speBytes(t, "hex="+text)...)
			}
		}
		for d.Reset(data, 0); d.Next(&r); n++ {
		}
	}
	if one.facts.SPERecords-one.facts.SPE.Joined != n {
		t.Errorf("%d records, want %d", one.facts.SPERecords-one.facts.SPE.Joined, n)
	}
}

// TestSPEBlocks reads one long piece with padding and damage between its
// records, of which one worker decodes each block before it asks for the next,
// while several skim them: both find the records that one decoder does.
func TestSPEBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var stream []byte
	for i := 0; len(stream) < 1_500_000; i++ {
		stream = append(stream, speBytes(t, fmt.Sprintf("pc=%x op=2.0 ev=2 tgt=402000 ctx=100 ts=%d", 0x401000+i%4000*4, i))...)
		switch rng.IntN(8) {
		case 0:
			stream = append(stream, make([]byte, rng.IntN(200))...)
		case 1:
			stream = append(stream, speBytes(t, "hex=f301")...)
		case 2:
			stream = append(stream, speBytes(t, "pc=401010 op=1.0 noend")...)
		}
	}
	stream = append(stream, speBytes(t, "pc=401010 noend")...)
	sc := speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, conv: plainConv, trace: fmt.Sprintf("0 -1 0 hex=%x\n", stream)}
	name := sc.write(t)
	var d spe.Decoder
	var r spe.Record
	n := uint64(0)
	for d.Reset(stream, 0); d.Next(&r); n++ {
	}
	one := readAll(name, nil, Options{SPEPeriod: 2})
	if one.err != nil {
		t.Fatal(one.err)
	}
	if s := one.facts.SPE; one.facts.SPERecords-s.Joined != n || s.Padding < uint64(d.Padding()) || s.Padding > uint64(d.Padding())+7 || s.Damaged["truncated"] != 1 {
		t.Errorf("%d records, %d bytes of padding, damaged %v, want %d, %d", one.facts.SPERecords-s.Joined, s.Padding, s.Damaged, n, d.Padding())
	}
	for _, workers := range []int{2, 8} {
		many := readAll(name, nil, Options{SPEPeriod: 2, Workers: workers})
		same(t, "addresses", one.ips, many.ips)
		same(t, "branches", one.arcs, many.arcs)
		if diff := cmp.Diff(printed(t, one.facts), printed(t, many.facts)); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
}

// TestSPETimes converts time stamps.
func TestSPETimes(t *testing.T) {
	for _, c := range []struct {
		conv        perfdata.TimeConv
		ticks, want uint64
	}{
		{perfdata.TimeConv{Mult: 1}, 1234, 1234},
		{perfdata.TimeConv{Shift: 10, Mult: 10240, Zero: 5}, 7, 75},
		{perfdata.TimeConv{Shift: 10, Mult: 10240, Zero: 5}, 1<<60 + 3, 5 + (1<<60+3)*10},
		{perfdata.TimeConv{Mult: 1, Cycles: 0x1234_0000_0010, Mask: 0xffff_ffff, CapShort: true}, 0x20, 0x1234_0000_0020},
		{perfdata.TimeConv{Mult: 1, Cycles: 0x1234_ffff_fff0, Mask: 0xffff_ffff, CapShort: true}, 0x20, 0x1235_0000_0020},
	} {
		s := &speTrace{trace: &perfTrace{timeConv: &c.conv}}
		if got := s.nanoseconds(c.ticks); got != c.want {
			t.Errorf("%+v: %d ticks are at %d, want %d", c.conv, c.ticks, got, c.want)
		}
	}
}

// TestSPEAdvice warns of each way of recording that suits a profile badly.
func TestSPEAdvice(t *testing.T) {
	const record = "0 -1 0 pc=401010 op=2.0 ev=2 tgt=402000 ctx=100"
	good := perfdata.Attr{Config: onlyBranches, Config1: 2, Name: "arm_spe_0/branch_filter=1/u"}
	for _, c := range []struct {
		name   string
		change func(*speScript)
		code   diag.Code
		text   string
	}{
		{"nothing", func(*speScript) {}, "", ""},
		{"loads", func(s *speScript) { s.attr.Config = 1 | speLoadFilter | speJitter }, diag.SPEFiltered, "filtered to loads"},
		{"branches that are loads", func(s *speScript) { s.attr.Config |= 1<<36 | speLoadFilter | 1<<37 }, diag.SPEFiltered, "filtered to loads"},
		{"events", func(s *speScript) { s.attr.Config1 = 0x82 }, diag.SPEEventFilter, "MISPRED"},
		{"left out", func(s *speScript) { s.attr.Config1, s.attr.Config3 = 2, 0x80 }, diag.SPEEventFilter, "no operations with MISPRED"},
		{"latency", func(s *speScript) { s.attr.Config2 = 30 }, diag.SPELatency, "at least 30 cycles"},
		{"discard", func(s *speScript) { s.attr.Config |= speDiscard }, diag.SPEDiscard, "discard"},
		{"collisions", func(s *speScript) { s.trace = strings.Replace(record, "0 -1 0 ", "0 -1 0 aux=8@9 ", 1) }, diag.SPECollisions, "1 of 1 pieces"},
		{"counted collisions", func(s *speScript) { s.counts = map[string]uint64{"sample_pop": 1000, "sample_collision": 200} }, diag.SPECollisions, "200 collisions"},
		{"no jitter", func(s *speScript) { s.attr.Config &^= speJitter }, diag.SPENoJitter, "without jitter"},
		{"micro-operations", func(s *speScript) { s.attr.Config, s.midr = allOps, 0x410fd0c0 }, diag.SPEMicroOps, "Neoverse N1"},
		{"contradiction", func(s *speScript) { s.attr.Config3 = 2 }, diag.SPEContradiction, "RETIRED"},
		{"speculative", func(s *speScript) { s.trace += "; pc=401020 op=2.0 ev=0 ctx=100" }, diag.SPESpeculative, "50.0 %"},
		{"kernel", func(s *speScript) { s.trace = "0 -1 0 pc=ff800000000000:el1 op=2.0 ev=2 ctx=100" }, diag.SPEKernelOnly, "kernel"},
		{"no context", func(s *speScript) { s.trace = strings.TrimSuffix(record, " ctx=100") }, diag.SPENoContext, "guesses"},
		{"damaged", func(s *speScript) { s.trace += "; op=2.0 ev=2" }, diag.SPEDamaged, "1 no PC"},
		{"lost", func(s *speScript) { s.trace = strings.Replace(record, "0 -1 0 ", "0 -1 0 aux=1@9 ", 1) }, diag.SPELost, "1 truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := speScript{side: app, attr: good, trace: record, midr: 0x410fd490}
			c.change(&sc)
			_, facts := sc.run(t, Options{})
			var found *diag.Error
			for _, w := range facts.Warnings {
				if w.Code >= diag.SPEFiltered && w.Code <= diag.SPELost {
					if found != nil {
						t.Errorf("%s: %s", w.Code, w.Message)
					}
					found = w
				}
			}
			switch {
			case c.code == "" && found != nil:
				t.Errorf("%s: %s", found.Code, found.Message)
			case c.code == "":
			case found == nil || found.Code != c.code || !strings.Contains(found.Message, c.text):
				t.Errorf("%v, want %s with %q", found, c.code, c.text)
			case !strings.Contains(found.Next, "perf record") || !strings.Contains(found.Next, "arm_spe/branch_filter=1,event_filter=2,jitter=1/u"):
				t.Errorf("the next step is %q", found.Next)
			}
		})
	}
}

// TestSPELarge tells of a trace that is larger than a profile needs.
func TestSPELarge(t *testing.T) {
	sc := speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, trace: "0 -1 0 pc=401010 op=2.0 ev=2 ctx=100"}
	_, facts := sc.run(t, Options{})
	trace := &perfTrace{facts: facts, spe: &speTrace{}}
	facts.Warnings, facts.SPE.Bytes = nil, 3<<30
	trace.adviseSPE(facts.SPE)
	if len(facts.Warnings) != 1 || facts.Warnings[0].Code != diag.SPELarge || !strings.HasSuffix(facts.Warnings[0].Next, "-c 49152") {
		t.Errorf("%v", facts.Warnings)
	}
}

// TestSPESettings names the settings of an event and what they need.
func TestSPESettings(t *testing.T) {
	sc := speScript{side: app, trace: "0 -1 0 pc=401010 op=2.0 ev=2 tgt=402000 ctx=100", midr: 0x410fd4f0,
		attr: perfdata.Attr{Config: 0x7ff<<32 | 1<<16 | 7, Config1: 1<<1 | 1<<6 | 1<<9, Config2: 20, Config3: 1<<7 | 1<<23 | 1<<50, Config4: 0x3}}
	_, facts := sc.run(t, Options{})
	var got []string
	for _, s := range facts.SPE.Configs[0].Settings {
		got = append(got, s.Name+"="+s.Value+" "+s.Needs)
	}
	wanted := []string{"ts_enable=1 SPE", "pa_enable=1 SPE", "pct_enable=1 SPE", "jitter=1 SPE", "branch_filter=1 SPE", "load_filter=1 SPE",
		"store_filter=1 SPE", "discard=1 SPEv1p2", "branch_filter_mask=1 FEAT_SPE_EFT", "load_filter_mask=1 FEAT_SPE_EFT",
		"store_filter_mask=1 FEAT_SPE_EFT", "simd_filter=1 FEAT_SPE_EFT", "simd_filter_mask=1 FEAT_SPE_EFT", "float_filter=1 FEAT_SPE_EFT",
		"float_filter_mask=1 FEAT_SPE_EFT", "event_filter=RETIRED (bit 1) SPE", "event_filter=NOT-TAKEN (bit 6) SPEv1p2",
		"event_filter=LLC-REFILL (bit 9) SPEv1p4", "inv_event_filter=MISPRED (bit 7) SPEv1p2", "inv_event_filter=SNOOPED (bit 23) SPEv1p4",
		"inv_event_filter=bit 50 implementation defined", "min_latency=20 SPE", "inv_data_src_filter=0x3 FEAT_SPE_FDS"}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := facts.SPE.Configs[0]; c.Interval != 4096 || c.MinInterval != 1024 || facts.SPE.CPUs[0] != "Neoverse V2" {
		t.Errorf("%+v, %v", c, facts.SPE.CPUs)
	}
}

// TestSPELatencies sums latencies up.
func TestSPELatencies(t *testing.T) {
	var l latencies
	for i := range 100 {
		l.add(&spe.Record{Fields: spe.HasTotal, Total: uint16(i + 1)})
	}
	l.add(&spe.Record{})
	if got := l.latency(); got != (Latency{Mean: 50.5, Median: 50, P90: 90, P99: 99, Worst: 100}) || l.records != 101 {
		t.Errorf("%+v of %d", got, l.records)
	}
	l = latencies{}
	l.add(&spe.Record{Fields: spe.HasTotal, Total: 0xffff})
	if got := l.latency(); got.Worst != 0xffff || got.Median != 0xfff0 || got.Mean != 0xffff {
		t.Errorf("%+v", got)
	}
	if (&latencies{}).latency() != (Latency{}) {
		t.Error("latencies of nothing")
	}
}

// TestSPETruncated cuts a recording anywhere: nothing fails but the reading of
// its end, and what is there is counted.
func TestSPETruncated(t *testing.T) {
	sc := speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, conv: plainConv, writer: perfdata.WriterOptions{Pipe: true},
		trace: "0 -1 0 " + strings.Repeat("pc=401010 op=2.0 ev=2 tgt=402000 ctx=100 ts=5;", 20)}
	data, err := os.ReadFile(sc.write(t))
	if err != nil {
		t.Fatal(err)
	}
	most := uint64(0)
	for n := len(data) - 1; n > 200; n -= 7 {
		r := readAll("-", bytes.NewReader(data[:n]), Options{})
		if r.err != nil {
			continue // not even the header is there
		}
		checkTotals(t, r.facts)
		most = max(most, r.facts.SPERecords)
	}
	if most < 19 {
		t.Errorf("at most %d records", most)
	}
}

// TestSPEManyBuffers reads as many buffers as a damaged file may claim: the
// time must not grow with their square.
func TestSPEManyBuffers(t *testing.T) {
	const buffers = 60_000
	var trace strings.Builder
	for i := range buffers {
		fmt.Fprintf(&trace, "-1 %d 0 pc=401010 op=2.0 ev=2\n", i+1)
	}
	sc := speScript{side: app, attr: perfdata.Attr{Config: onlyBranches, Config1: 2}, trace: trace.String()}
	if _, facts := sc.run(t, Options{Workers: 2}); facts.SPE.Records != buffers {
		t.Errorf("%d records", facts.SPE.Records)
	}
}

// TestOtherTraces says which hardware trace a recording has that is not read.
func TestOtherTraces(t *testing.T) {
	for kind, name := range map[perfdata.AuxKind]string{perfdata.AuxIntelPT: "Intel PT", perfdata.AuxCoreSightETM: "CoreSight ETM", 4711: "kind 4711"} {
		sc := speScript{side: app, kind: kind, trace: "0 -1 0 pc=401010 op=2.0 ev=2"}
		facts, err := Read(context.Background(), sc.write(t), nil, &Options{Workers: 1}, newRegistry(), func() sample.Sink { return &journal{} })
		if err != nil || facts.SPE != nil {
			t.Fatalf("%s: %v, read as %+v", name, err, facts.SPE)
		}
		n := 0
		for _, w := range facts.Warnings {
			if w.Code == diag.OtherTrace && strings.Contains(w.Error(), name) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %v", name, facts.Warnings)
		}
	}
}
