// Command spetrace writes a perf.data recording of Arm SPE records, as large as
// asked for: two processors that run a program of 64 Ki instructions, with
// branches, loads and other operations.
//
//	go run ./scripts/spetrace [-branches] FILE BYTES
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

func main() {
	log.SetFlags(0)
	branches := flag.Bool("branches", false, "as recorded with branch_filter=1: branches alone")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: spetrace [-branches] FILE BYTES")
	}
	size, err := strconv.ParseInt(flag.Arg(1), 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	if err := write(flag.Arg(0), size, *branches); err != nil {
		log.Fatal(err)
	}
}

const (
	cpus      = 2
	pmu       = 8
	pid       = 4321
	base      = 0xaaaad0000000
	codeBytes = 256 << 10
	chunk     = 1 << 20 // bytes of an AUXTRACE record
	record    = 64      // bytes, as the hardware aligns them
	interval  = 1024
)

func write(name string, size int64, branches bool) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	config := uint64(1 | 1<<16) // ts_enable, jitter
	if branches {
		config |= 1 << 32 // branch_filter
	}
	fields := perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime | perfdata.SampleCPU | perfdata.SampleIdentifier
	spe := &perfdata.Attr{Type: pmu, Config: config, Config1: 2, SamplePeriod: interval, SampleType: fields, Flags: perfdata.FlagSampleIDAll,
		Name: "arm_spe_0//", IDs: []uint64{1}}
	side := &perfdata.Attr{Type: 1, Config: 9, SampleType: fields, Name: "dummy:u", IDs: []uint64{2},
		Flags: perfdata.FlagSampleIDAll | perfdata.FlagMmap | perfdata.FlagMmap2 | perfdata.FlagComm | perfdata.FlagTask}
	w, err := perfdata.NewWriter(f, perfdata.WriterOptions{Attrs: []*perfdata.Attr{spe, side}, Features: &perfdata.Features{
		Arch: "aarch64", CPUID: "0x00000000410fd490", PMUs: []perfdata.PMU{{Type: 1, Name: "software"}, {Type: pmu, Name: "arm_spe_0"}}}})
	if err != nil {
		return err
	}
	ids := perfdata.SampleIDs{PID: pid, TID: pid, Time: 1, ID: 2}
	// The first layout of this record, which every perf reads.
	info := perfdata.AuxtraceInfo{Kind: perfdata.AuxArmSPE, Priv: []uint64{pmu, 1}}
	for _, e := range []perfdata.Event{
		&perfdata.TimeConv{Mult: 1}, &info,
		&perfdata.Comm{PID: pid, TID: pid, Name: "app", Exec: true},
		&perfdata.Mmap{Mode: perfdata.ModeUser, V2: true, Prot: 5, PID: pid, TID: pid, Addr: base, Len: codeBytes, Name: "/usr/bin/app",
			BuildID: perfdata.ID("0123456789abcdefghij")},
	} {
		if err := w.WriteEvent(e, ids); err != nil {
			return err
		}
	}
	g := &generator{random: rand.New(rand.NewPCG(1, 2)), branches: branches, time: 1000}
	data := make([]byte, 0, chunk)
	for done, cpu := int64(0), int32(0); done < size; done += chunk {
		data = data[:0]
		for len(data) < chunk {
			data = g.record(data)
		}
		offset := uint64(done / (cpus * chunk) * chunk)
		ids.ID, ids.Time, ids.CPU = 1, g.time, uint32(cpu)
		if err := w.WriteEvent(&perfdata.Aux{Offset: offset, Size: chunk}, ids); err != nil {
			return err
		}
		if err := w.WriteAuxtrace(perfdata.Auxtrace{Offset: offset, Index: uint32(cpu), TID: -1, CPU: cpu}, data); err != nil {
			return err
		}
		cpu = (cpu + 1) % cpus
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Println(name)
	return f.Close()
}

type generator struct {
	random   *rand.Rand
	branches bool
	time     uint64
}

// record appends one record: addresses of a few hot places, and of others.
func (g *generator) record(b []byte) []byte {
	start := len(b)
	place := uint64(g.random.ExpFloat64()*2048) * 4 % codeBytes
	address := func(header byte, a uint64) {
		b = binary.LittleEndian.AppendUint64(append(b, header), 0x80<<56|base+a)
	}
	address(0xb0, place)
	b = binary.LittleEndian.AppendUint32(append(b, 0x64), pid)
	latency := uint16(4 + g.random.Uint32N(30))
	counters := func() {
		b = binary.LittleEndian.AppendUint16(append(b, 0x99), latency/2)
		b = binary.LittleEndian.AppendUint16(append(b, 0x98), latency)
	}
	switch kind := g.random.Uint32N(10); {
	case g.branches || kind < 2:
		taken := g.random.Uint32N(3) > 0
		events, target := uint16(2), (place*7+64)%codeBytes&^3
		if !taken {
			events, target = 2|1<<6, place+4
		}
		b = append(b, 0x4a, 1)
		b = binary.LittleEndian.AppendUint16(append(b, 0x52), events)
		counters()
		address(0xb1, target)
	case kind < 6:
		b = append(b, 0x49, 0)
		b = binary.LittleEndian.AppendUint16(append(b, 0x52), 0x16)
		counters()
		b = binary.LittleEndian.AppendUint64(append(b, 0xb2), 0xffff00000000|uint64(g.random.Uint32()))
		b = append(b, 0x9a, 1, 0, 0x43, 0)
	default:
		b = append(b, 0x48, 0)
		b = binary.LittleEndian.AppendUint16(append(b, 0x52), 2)
		counters()
	}
	const timestamp = 9
	for len(b) < start+record-timestamp {
		b = append(b, 0)
	}
	g.time += interval / 2
	return binary.LittleEndian.AppendUint64(append(b, 0x71), g.time)
}
