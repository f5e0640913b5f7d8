package ingest

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// FuzzSPE reads a recording whose trace is any bytes, in two pieces: every
// record is accounted for, there are as many as in the bytes at once, and the
// result does not depend on the workers.
func FuzzSPE(f *testing.F) {
	head, err := os.ReadFile(speScript{side: app, attr: perfdata.Attr{Config: allOps}, conv: plainConv, writer: perfdata.WriterOptions{Pipe: true}}.write(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, uint16(0))
	f.Add(speBytes(f, "pc=401010 op=2.1 ev=2 tgt=402000 pbt=401000 ctx=100 ts=5; pc=401010 op=1.0 ev=e ctx=100 ds=8 lat=12"), uint16(21))
	f.Add(speBytes(f, "pc=401010 op=2.0 ev=2 hex=2000; pc=1 noend; hex=f30101; pc=401010:el1 op=0.0 ev=2 align=64"), uint16(9))
	f.Fuzz(func(t *testing.T, trace []byte, cut uint16) {
		first := trace[:min(int(cut), len(trace))]
		data := bytes.Clone(head)
		data = appendAuxtrace(data, 0, first)
		data = appendAuxtrace(data, uint64(len(first)), trace[len(first):])
		one := readAll("-", bytes.NewReader(data), Options{PathMap: nowhere})
		if one.err != nil {
			t.Fatal(one.err)
		}
		checkTotals(t, one.facts)
		var d spe.Decoder
		var r spe.Record
		n := uint64(0)
		for d.Reset(trace, 0); d.Next(&r); n++ {
		}
		if s := one.facts.SPE; one.facts.SPERecords-s.Joined != n || s.Bytes != uint64(len(trace)) {
			t.Errorf("%d records in %d bytes, want %d in %d", one.facts.SPERecords-s.Joined, s.Bytes, n, len(trace))
		}
		three := readAll("-", bytes.NewReader(data), Options{PathMap: nowhere, Workers: 3})
		if diff := cmp.Diff(printed(t, one.facts), printed(t, three.facts)); diff != "" {
			t.Errorf("three workers:\n%s", diff)
		}
		same(t, "branches", one.arcs, three.arcs)
		same(t, "pairs of branches", one.pairs, three.pairs)
	})
}

// appendAuxtrace appends an AUXTRACE record of CPU 0 and its trace.
func appendAuxtrace(b []byte, offset uint64, trace []byte) []byte {
	const typ, size, cpu, noThread = 71, 48, 0, 1<<32 - 1
	b = binary.LittleEndian.AppendUint64(b, typ|size<<48)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(trace)))
	b = binary.LittleEndian.AppendUint64(b, offset)
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = binary.LittleEndian.AppendUint64(b, noThread<<32)
	b = binary.LittleEndian.AppendUint64(b, cpu)
	return append(b, trace...)
}
