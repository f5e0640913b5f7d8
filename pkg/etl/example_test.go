package etl_test

import (
	"bytes"
	"fmt"
	"log"
	"slices"

	"github.com/spgo-tools/spgo/pkg/etl"
)

// A recording is written from a description, opened, and its last branch
// records are decoded buffer by buffer.
func Example() {
	const app = 0x7ff600000000
	trace := &etl.Trace{
		Duration: 10_000,
		Sources:  []etl.Interval{{Source: 30, New: 16384, Old: 65536, Name: "BranchInstructionRetired"}},
		Processes: []etl.TraceProcess{{PID: 1000, Name: "app.exe", Threads: []uint32{1004}, Start: 10,
			Images: []etl.TraceImage{{Path: `\Device\HarddiskVolume3\app.exe`, Base: app, Size: 0x20000}}}},
		Samples: slices.Values([]etl.TraceSample{{Time: 100, PID: 1000, TID: 1004, IP: app + 0x1020, Source: 30,
			Branches: []etl.Branch{{From: app + 0x1040, To: app + 0x1010}, {From: app + 0x1004, To: app + 0x1030}}}}),
	}
	var file bytes.Buffer
	if err := etl.WriteTrace(&file, trace); err != nil {
		log.Fatal(err)
	}

	f, err := etl.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("session:", f.Header.Session)

	// What has to be seen in time order comes from a merge.
	side := etl.NewMerge([]*etl.File{f}, etl.ClassImage)
	for side.Next() {
		var m etl.Image
		if err := etl.DecodeImage(side.Record(), &m); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("image: %#x %s\n", m.Base, m.Name)
	}
	if side.Err() != nil {
		log.Fatal(side.Err())
	}

	// Samples are decoded buffer by buffer; several goroutines could do it.
	dec := f.NewDecoder(etl.ClassLBR)
	var lbr etl.LBR
	for i := range f.Buffers() {
		it := dec.Buffer(i)
		for it.Next() {
			if err := etl.DecodeLBR(it.Record(), &lbr); err != nil {
				log.Fatal(err)
			}
			for _, b := range lbr.Branches {
				fmt.Printf("branch: %#x -> %#x\n", b.From-app, b.To-app)
			}
		}
		if err := it.Err(); err != nil && !etl.IsDamage(err) {
			log.Fatal(err)
		}
	}
	for reason, n := range dec.Damage.All() {
		fmt.Println("lost:", reason, n)
	}
	// Output:
	// session: NT Kernel Logger
	// image: 0x7ff600000000 \Device\HarddiskVolume3\app.exe
	// branch: 0x1040 -> 0x1010
	// branch: 0x1004 -> 0x1030
}
