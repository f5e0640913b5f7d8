package perfdata_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Example writes a recording to a pipe, and reads the mappings in a first
// pass and the samples in a second.
func Example() {
	var pipe bytes.Buffer
	w, err := perfdata.NewWriter(&pipe, perfdata.WriterOptions{
		Pipe: true,
		Attrs: []*perfdata.Attr{{
			SampleType: perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleBranchStack,
			Name:       "cycles:u",
			IDs:        []uint64{1},
		}},
		Features: &perfdata.Features{Hostname: "build-7"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	w.WriteEvent(&perfdata.Mmap{PID: 10, TID: 10, Addr: 0x400000, Len: 0x1000, Name: "/bin/app"}, perfdata.SampleIDs{})
	w.WriteSample(&perfdata.Sample{IP: 0x400123, PID: 10, TID: 10, Branches: []perfdata.Branch{{From: 0x400110, To: 0x400120}}})
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	f, err := perfdata.OpenStream(&pipe, &perfdata.Options{SpoolDir: os.TempDir()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(f.Features.Hostname, f.Attrs[0])

	rs := f.Records()
	for rs.Next() {
		r := rs.Record()
		var m perfdata.Mmap
		if r.Type == perfdata.TypeMmap {
			if _, err := f.Decode(r, &m); err == nil {
				fmt.Printf("%d maps %s at %#x\n", m.PID, m.Name, m.Addr)
			}
		}
	}
	if err := rs.Err(); err != nil {
		fmt.Println(err)
	}

	src := f.Chunks(rs.Index())
	dec := f.NewDecoder(perfdata.SampleIP | perfdata.SampleBranchStack)
	var c perfdata.Chunk
	for src.Next(&c) {
		for dec.Reset(&c); dec.Next(); {
			s := dec.Sample()
			fmt.Printf("at %#x, came by %#x -> %#x\n", s.IP, s.Branches[0].From, s.Branches[0].To)
		}
	}
	fmt.Println(rs.Index().Counts.Of(perfdata.TypeSample), "samples,", len(rs.Index().Stops), "stops")
	// Output:
	// build-7 cycles:u
	// 10 maps /bin/app at 0x400000
	// at 0x400123, came by 0x400110 -> 0x400120
	// 1 samples, 0 stops
}
