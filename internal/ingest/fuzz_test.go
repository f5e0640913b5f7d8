package ingest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// FuzzRead reads any bytes as a recording or an SPT. Whatever they are, every
// sample, branch and frame is accounted for once, the sink has what the
// accounts say, and the number of workers does not matter.
func FuzzRead(f *testing.F) {
	for _, row := range corpus.Files(f, "perf") {
		fi, err := os.Stat(row.File)
		if err != nil {
			f.Fatal(err)
		}
		if fi.Size() > 20000 || strings.HasSuffix(row.File, ".bin") {
			continue
		}
		data, err := os.ReadFile(row.File)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, o := range []perfdata.WriterOptions{{}, {Pipe: true}, {BigEndian: true}, {Pipe: true, Packing: perfdata.PackZstd}} {
		f.Add(scriptBytes(f, recording{writer: o}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		options := Options{PathMap: nowhere, Workers: 1}
		one := readAll("-", bytes.NewReader(data), options)
		if one.err != nil {
			return
		}
		if one.facts.Format == "perf.data" {
			checkTotals(t, one.facts)
			checkSink(t, one.tally, one.facts)
		}
		options.Workers = 3
		three := readAll("-", bytes.NewReader(data), options)
		same(t, "addresses", one.ips, three.ips)
		same(t, "branches", one.arcs, three.arcs)
		same(t, "pairs of branches", one.pairs, three.pairs)
		same(t, "calls", one.calls, three.calls)
		if a, b := printed(t, one.facts), printed(t, three.facts); a != b {
			t.Errorf("one worker: %s\nthree: %s", a, b)
		}
	})
}

// scriptBytes is a recording with a bit of everything.
func scriptBytes(f *testing.F, r recording) []byte {
	path := r.write(f, twoBinaries+processes+`
		0 map -1 ffffffffc0100000+5000 0 [nf_nat] kernel
		1 bpf ffffffffc0300000+100
		2 map 10 140000000+30000 140000000 //anon prot=7
		3 map 10 140000000+1000 0 /t/app.exe prot=7
		4 exit 30
		5 sample 10 140001010 lbr 1050>1010 1030>1040:w 0>0 1020>8024 chain KERNEL ffffffff81000010 ffffffff81000051 USER 1010 1051
		6 sample 10 ffffffff81000010 kernel lbr ffffffff81000010>ffffffff81000020`)
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return data
}
