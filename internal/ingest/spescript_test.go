package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// speScript is a recording with Arm SPE data. Side has the lines of a script.
// Trace has one line for each AUXTRACE record:
//
//	CPU TID OFFSET [aux=FLAGS@TIME] RECORD; RECORD; ...
//
// where an offset of - follows the line before of the same buffer. A record is
// words: pc=, tgt=, pbt= (hexadecimal, with el1 or el2 behind a colon), ctx=,
// ts=, lat=, ds= (decimal), op=CLASS.BITS, ev=BITS (hexadecimal), hex=BYTES, noend,
// and align=N to fill up with zeros.
type speScript struct {
	side    string
	trace   string
	attr    perfdata.Attr // of the SPE event: Config, Config1 and so on
	conv    *perfdata.TimeConv
	midr    spe.MIDR
	writer  perfdata.WriterOptions
	info    []uint64 // words of AUXTRACE_INFO; nil: version 2 with two CPUs
	noInfo  bool
	kind    perfdata.AuxKind  // 0: Arm SPE
	counts  map[string]uint64 // READ records of further events
	untimed bool              // records have no times
}

const speTestPMU = 8

func (sc speScript) write(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "perf.data")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fields := perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime | perfdata.SampleCPU | perfdata.SampleIdentifier
	if sc.untimed {
		fields &^= perfdata.SampleTime
	}
	a := sc.attr
	a.Type, a.SampleType, a.Flags, a.IDs = speTestPMU, fields, perfdata.FlagSampleIDAll, []uint64{1}
	if a.SamplePeriod == 0 {
		a.SamplePeriod = 4096
	}
	side := &perfdata.Attr{Type: 1, Config: 9, SampleType: fields, Flags: perfdata.FlagSampleIDAll | perfdata.FlagMmap2, Name: "dummy:u", IDs: []uint64{2}}
	o := sc.writer
	o.Attrs = []*perfdata.Attr{&a, side}
	next := uint64(3)
	for _, event := range sortedNames(sc.counts) {
		o.Attrs = append(o.Attrs, &perfdata.Attr{Type: 10, SampleType: fields, Flags: perfdata.FlagSampleIDAll, Name: event, IDs: []uint64{next}})
		next++
	}
	o.Features = &perfdata.Features{Arch: "aarch64", PMUs: []perfdata.PMU{{Type: 1, Name: "software"}, {Type: speTestPMU, Name: "arm_spe_0"}}}
	w, err := perfdata.NewWriter(f, o)
	if err != nil {
		t.Fatal(err)
	}
	ids := perfdata.SampleIDs{ID: 2}
	event := func(e perfdata.Event, ids perfdata.SampleIDs) {
		if err := w.WriteEvent(e, ids); err != nil {
			t.Fatal(err)
		}
	}
	if sc.conv != nil {
		event(sc.conv, ids)
	}
	if sc.info == nil {
		sc.info = []uint64{2, 4, speTestPMU, 2}
		for cpu := range uint64(2) {
			sc.info = append(sc.info, speInfoMagic, cpu, 4, uint64(sc.midr), speTestPMU, 1024, 0xffff)
		}
	}
	if !sc.noInfo {
		event(&perfdata.AuxtraceInfo{Kind: cmp.Or(sc.kind, perfdata.AuxArmSPE), Priv: sc.info}, ids)
	}
	s := &script{t: t, w: w, id: 2}
	for _, line := range strings.Split(sc.side, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		time := number(t, words[0], 10)
		switch words[1] {
		case "switch": // TIME switch CPU out|in PID TID OTHERPID OTHERTID
			x := perfdata.Switch{CPUWide: true, Out: words[3] == "out", PID: pid(t, words[6]), TID: pid(t, words[7])}
			event(&x, perfdata.SampleIDs{Time: time, ID: 2, CPU: uint32(number(t, words[2], 10)), PID: pid(t, words[4]), TID: pid(t, words[5])})
		case "itrace": // TIME itrace CPU PID
			event(&perfdata.ItraceStart{PID: pid(t, words[3]), TID: pid(t, words[3])}, perfdata.SampleIDs{Time: time, ID: 2, CPU: uint32(number(t, words[2], 10))})
		default:
			if err := s.line(words[1], time, words[2:], o.Attrs[1:]); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	offsets := map[string]uint64{}
	for _, line := range strings.Split(goesOn.ReplaceAllString(sc.trace, ";"), "\n") {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if words[0] == "" {
			continue
		}
		key := words[0] + " " + words[1]
		offset := offsets[key]
		if words[2] != "-" {
			offset = number(t, words[2], 10)
		}
		cpu, tid := pid(t, words[0]), pid(t, words[1])
		text := words[3]
		if rest, ok := strings.CutPrefix(text, "aux="); ok {
			flags, more, _ := strings.Cut(rest, " ")
			flags, at, _ := strings.Cut(flags, "@")
			text = more
			data := speBytes(t, text)
			event(&perfdata.Aux{Offset: offset, Size: uint64(len(data)), Flags: number(t, flags, 10)},
				perfdata.SampleIDs{Time: number(t, at, 10), ID: 1, CPU: uint32(max(cpu, 0)), TID: tid})
		}
		data := speBytes(t, text)
		offsets[key] = offset + uint64(len(data))
		for len(data)%8 != 0 {
			data = append(data, 0)
		}
		if err := w.WriteAuxtrace(perfdata.Auxtrace{Offset: offset, CPU: cpu, TID: tid}, data); err != nil {
			t.Fatal(err)
		}
	}
	next = 3
	for _, name := range sortedNames(sc.counts) {
		event(&perfdata.Read{PID: 1, TID: 1, Values: []uint64{sc.counts[name]}}, perfdata.SampleIDs{ID: next})
		next++
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// goesOn is where the records of a piece go on in the next line.
var goesOn = regexp.MustCompile(`;\s*\n`)

// speBytes assembles records.
func speBytes(t testing.TB, text string) []byte {
	t.Helper()
	var b []byte
	for _, record := range strings.Split(text, ";") {
		words := strings.Fields(record)
		end := len(words) > 0
		for _, word := range words {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "pc", "tgt", "pbt":
				addr, level, _ := strings.Cut(value, ":")
				a := number(t, addr, 16)&(1<<56-1) | 1<<63
				if el, ok := strings.CutPrefix(level, "el"); ok {
					a |= number(t, el, 10) << 61
				}
				if level == "secure" {
					a &^= 1 << 63
				}
				b = binary.LittleEndian.AppendUint64(append(b, 0xb0|map[string]byte{"pc": 0, "tgt": 1, "pbt": 4}[name]), a)
			case "ctx":
				b = binary.LittleEndian.AppendUint32(append(b, 0x64), uint32(number(t, value, 10)))
			case "ts":
				b = binary.LittleEndian.AppendUint64(append(b, 0x71), number(t, value, 10))
				end = false
			case "lat":
				b = binary.LittleEndian.AppendUint16(append(b, 0x98), uint16(number(t, value, 10)))
			case "ds":
				b = append(b, 0x43, byte(number(t, value, 10)))
			case "op":
				class, bits, _ := strings.Cut(value, ".")
				b = append(b, 0x48|byte(number(t, class, 10)), byte(number(t, bits, 16)))
			case "ev":
				b = binary.LittleEndian.AppendUint32(append(b, 0x62), uint32(number(t, value, 16)))
			case "hex":
				raw, err := hex.DecodeString(value)
				if err != nil {
					t.Fatal(err)
				}
				b = append(b, raw...)
				end = false
			case "noend":
				end = false
			case "align":
				n, err := strconv.Atoi(value)
				if err != nil {
					t.Fatal(err)
				}
				if end {
					b = append(b, 1)
				}
				for end = false; len(b)%n != 0; {
					b = append(b, 0)
				}
			default:
				t.Fatalf("no word %q", word)
			}
		}
		if end {
			b = append(b, 1)
		}
	}
	return b
}

// run reads the recording and prints what came of it: what the sink was given,
// then the accounts of records and branches and how processes were found.
func (sc speScript) run(t *testing.T, o Options) (string, *Facts) {
	t.Helper()
	o.Workers = max(o.Workers, 1)
	reg := newRegistry()
	j := &journal{registry: reg}
	facts, err := Read(context.Background(), sc.write(t), nil, &o, reg, func() sample.Sink { return j })
	if err != nil {
		t.Fatal(err)
	}
	checkTotals(t, facts)
	lines := append(j.lines, "records: "+account(&facts.Stats.SPERecords))
	if facts.Stats.SPEBranches.Total() > 0 {
		lines = append(lines, "branches: "+account(&facts.Stats.SPEBranches))
	}
	var by []string
	for _, how := range sortedNames(facts.SPE.Attribution) {
		by = append(by, fmt.Sprintf("%s:%d", how, facts.SPE.Attribution[how]))
	}
	return strings.Join(append(lines, "by "+strings.Join(by, ", ")), "\n") + "\n", facts
}
