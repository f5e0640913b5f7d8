package armwalk

import (
	"encoding/binary"
	"io"
	"math/rand/v2"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Options say how a walk is recorded.
type Options struct {
	Path         string // of the program, as the recording names it
	Instructions int    // length of the walk
	Interval     int    // instructions between samples, with jitter of as much as half of it
	Branches     bool   // branch_filter=1: a sample that is no branch is left out
	Previous     bool   // records have previous branch targets (FEAT_SPE_PBT)
	Seed         uint64
	Executed     []uint64 // addresses that a run executed, to record instead of a walk; see ReadLog
}

// Numbers of the recording.
const (
	pid         = 1234
	pmu         = 8
	bias        = 0x400000 // where the program is loaded, above its own addresses
	buffer      = 1 << 20  // bytes of an AUXTRACE record
	recordAlign = 64
)

// Record walks through the program and writes what perf record would.
func (p *Program) Record(w io.WriteSeeker, o Options) (*Counts, error) {
	fields := perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime | perfdata.SampleCPU | perfdata.SampleIdentifier
	config := uint64(1 | 1<<16) // ts_enable, jitter
	if o.Branches {
		config |= 1 << 32
	}
	attrs := []*perfdata.Attr{
		{Type: pmu, Config: config, Config1: 2, SamplePeriod: uint64(o.Interval), SampleType: fields, Flags: perfdata.FlagSampleIDAll, IDs: []uint64{1}, Name: "arm_spe_0//"},
		{Type: 1, Config: 9, SampleType: fields, Flags: perfdata.FlagSampleIDAll | perfdata.FlagMmap2 | perfdata.FlagComm, IDs: []uint64{2}, Name: "dummy:u"},
	}
	out, err := perfdata.NewWriter(w, perfdata.WriterOptions{Attrs: attrs, Features: &perfdata.Features{
		Arch: "aarch64", PMUs: []perfdata.PMU{{Type: 1, Name: "software"}, {Type: pmu, Name: "arm_spe_0"}}}})
	if err != nil {
		return nil, err
	}
	for _, e := range []perfdata.Event{
		&perfdata.TimeConv{Mult: 1}, &perfdata.AuxtraceInfo{Kind: perfdata.AuxArmSPE, Priv: []uint64{pmu, 1}},
		&perfdata.Comm{PID: pid, TID: pid, Name: "walk", Exec: true},
		&perfdata.Mmap{Mode: perfdata.ModeUser, V2: true, Prot: 5, PID: pid, TID: pid, Addr: p.start&^0xfff + bias, Len: uint64(len(p.text)) + p.start&0xfff,
			PgOff: p.fileOffset &^ 0xfff, Name: o.Path},
	} {
		if err := out.WriteEvent(e, perfdata.SampleIDs{ID: 2, Time: 1}); err != nil {
			return nil, err
		}
	}
	random := rand.New(rand.NewPCG(o.Seed, 1))
	interval := func() int { return o.Interval/2 + random.IntN(o.Interval+1) }
	var data []byte
	offset, time, next := uint64(0), uint64(1000), interval()
	var failed error
	flush := func() {
		if err := out.WriteAuxtrace(perfdata.Auxtrace{Offset: offset, TID: -1}, data); err != nil {
			failed = err
		}
		offset += uint64(len(data))
		data = data[:0]
	}
	record := func(s *step) {
		time++
		if next--; next > 0 {
			return
		}
		next = interval()
		if s.kind == plain || s.kind == stop {
			if o.Branches {
				return
			}
		}
		if data = o.append(data, s, time); len(data) >= buffer {
			flush()
		}
	}
	var counts *Counts
	if len(o.Executed) > 0 {
		counts, err = p.replay(o.Executed, record)
	} else {
		counts, err = p.walk(o.Instructions, random, record)
	}
	if err != nil {
		return nil, err
	}
	if len(data) > 0 {
		flush()
	}
	if failed != nil {
		return nil, failed
	}
	return counts, out.Close()
}

// append appends the record of an executed instruction.
func (o *Options) append(b []byte, s *step, time uint64) []byte {
	address := func(header byte, a uint64) {
		b = binary.LittleEndian.AppendUint64(append(b, header), 0x80<<56|a+bias)
	}
	address(0xb0, s.pc)
	b = binary.LittleEndian.AppendUint32(append(b, 0x64), pid)
	const retired, notTaken = 1 << 1, 1 << 6
	events := byte(retired)
	switch s.kind {
	case plain, stop:
		b = append(b, 0x48, 0)
	case conditional:
		if !s.taken {
			events |= notTaken
		}
		b = append(b, 0x4a, 1)
	case indirect:
		b = append(b, 0x4a, 2)
	default:
		b = append(b, 0x4a, 0)
	}
	b = append(b, 0x42, events)
	if s.kind != plain && s.kind != stop {
		address(0xb1, s.target)
	}
	if o.Previous && s.previous != 0 {
		address(0xb4, s.previous)
	}
	const timestamp = 9
	for len(b)%recordAlign != recordAlign-timestamp {
		b = append(b, 0)
	}
	return binary.LittleEndian.AppendUint64(append(b, 0x71), time)
}
